"""How a tool fails: one exception, whose parts a script reads as an error it can catch.

The script sees an `Error` whose `name` is the code; `message` says what happened with the numbers, `hint` the next
step, `data` the facts. Anything else that a tool raises reaches the script as `tool_failed`.
"""

from typing import Any


class ToolProblem(Exception):
    def __init__(self, code: str, message: str, *, hint: str = "", data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.data = data

    def __repr__(self) -> str:
        return f"ToolProblem({self.code!r}, {self.message!r}, hint={self.hint!r})"


class BadPack(ValueError):
    """A pack or a tool that is not as it must be: one line for its author, with the place and what would be right."""
