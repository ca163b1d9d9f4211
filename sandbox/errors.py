"""What can go wrong, in two kinds.

    SandboxError                  raised: our side, or the caller's
     ├─ Misuse                    a command that does not fit the state (unknown call, second Start, …)
     ├─ Unavailable               no worker can be had as locked down as asked for
     └─ WireError                 the peer sent what it must not; ends that worker

A script's own failure is never raised: it is a `ScriptError` value inside `Failed` or `Exceeded`.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal


class SandboxError(Exception):
    pass


class Misuse(SandboxError):
    pass


class Unavailable(SandboxError):
    pass


class WireError(SandboxError):
    pass


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a stack, in the author's script."""

    function: str
    line: int
    column: int

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}"
        return f"{self.function} ({place})" if self.function else place


@dataclass(frozen=True, slots=True)
class ScriptError:
    """A script's failure, for a reader: what, where (1-based; 0 when there is no place), the line with a caret, why.

    `origin` is "sandbox" for what the sandbox itself found (syntax, deadlock, a limit, a lost worker) and "script" for what the
    script threw; decide on that and on the event, never on the name.
    """

    name: str
    message: str
    line: int = 0
    column: int = 0
    excerpt: str = ""
    frames: tuple[Frame, ...] = ()
    hint: str = ""
    data: Any = None
    cause: "ScriptError | None" = None
    others: tuple["ScriptError", ...] = ()
    origin: Literal["script", "sandbox"] = "script"  # who says so: a script may give its errors any name

    @property
    def text(self) -> str:
        """The report, as the model reads it."""
        head = f"{self.name}: {self.message}" if self.name and self.message else self.name or self.message
        rows = [head]
        if self.line:
            inside = f", in {self.frames[0].function}" if self.frames and self.frames[0].function else ""
            rows[0] += f"  (line {self.line}, column {self.column}{inside})"
        if self.excerpt:
            rows.append(self.excerpt)
        for frame, again in groupby(self.frames[1:]):
            times = len(list(again))
            rows.append(f"  called from {frame}" + (f", {times} times" if times > 1 else ""))
        if self.hint:
            rows.append(f"  hint: {self.hint}")
        for other in self.others:
            label = "also" if self.origin == "sandbox" else "one of them"
            rows.append(f"  {label}: " + other.text.replace("\n", "\n  "))
        if self.cause is not None:
            rows.append("caused by " + self.cause.text)
        return "\n".join(rows)
