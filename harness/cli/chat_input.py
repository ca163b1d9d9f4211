"""Where a person types: one line at a time, with the arrow keys and the questions before, where Python has readline."""

import importlib
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from typing import Final

_PROMPT: Final = "› "
_BOLD: Final = ("\001\033[1;36m\002", "\001\033[0m\002")  # marked as without width, for readline


class Line:
    """`before`: questions that the arrow keys lead to. `colour`: of the prompt."""

    def __init__(self, *, before: Iterable[str] = (), colour: bool = True) -> None:
        on, off = _BOLD if colour and find_spec("readline") else ("", "")
        self._prompt = f"{on}{_PROMPT}{off}"
        if find_spec("readline"):
            readline = importlib.import_module("readline")  # from here on input() uses it
            for text in before:
                with suppress(ValueError):  # a zero, half a character, one that this terminal has not: it came by a pipe
                    readline.add_history(" ".join(text.split()))

    def read(self) -> str | None:
        """None at the end: Ctrl-D, or Ctrl-C."""
        try:
            return input(self._prompt)
        except (EOFError, KeyboardInterrupt):
            return None
