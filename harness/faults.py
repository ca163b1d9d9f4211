"""Faults on demand: a rule in one line of English says which calls of a session do not go well, so that scripts can be tried
against it.

    files.read fails twice · shell.* times out · web.fetch fails once after 2 · patch.apply is denied on line 4

Every rule counts the calls that it fits, in the order in which the script made them; of the rules that are due the first decides.
The counts are a function of the calls alone. What a call ends in is made by `harness/guards/fault.py`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, Literal, TypeAlias, get_args

from catalog.nearest import nearest
from harness.call import Outcome

How: TypeAlias = Literal["fails", "times out", "is denied", "is refused"]

_HOWS: Final[tuple[How, ...]] = get_args(How)
_RIGHT = "right are: shell.* times out; files.read fails twice after 3 with not_found: no such file"
_WORDS = (*(word for how in _HOWS for word in how.split()), "once", "twice", "always", "after", "on", "line", "with")
_TIMES = {1: " once", 2: " twice"}
_TOOL = re.compile(r"[\w.*?\[\]!-]+")
_WITH = re.compile(r"(?:^|\s+)with(?:\s+|$)")
_PROBLEM = re.compile(r"([A-Za-z_][\w.-]*)\s*:\s*(\S.*)", re.DOTALL)
_CLAUSE = re.compile(r"(?:(?P<times>once|twice|always|\d{1,9} times?)|after (?P<after>\d{1,9})|on line (?P<line>\d{1,9}))(?!\S)")
_COUNTS: dict[str, int | None] = {"once": 1, "twice": 2, "always": None}


class BadFault(ValueError):
    """A rule that was not understood: what of it, and how it would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`times`: None for always. `after`: so many calls go well first. `line`: only calls from there; 0 for any."""

    tool: str  # a name or a pattern: shell.*
    how: How
    times: int | None = None
    after: int = 0
    line: int = 0
    code: str = ""  # of the problem, with its message; "" for what the real thing would give
    message: str = ""

    def fits(self, tool: str, line: int) -> bool:
        return fnmatchcase(tool, self.tool) and self.line in (0, line)

    def __str__(self) -> str:
        """As `parse_fault` reads it."""
        times = "" if self.times is None else _TIMES.get(self.times, f" {self.times} times")
        after = f" after {self.after}" if self.after else ""
        line = f" on line {self.line}" if self.line else ""
        problem = f" with {self.code}: {self.message}" if self.code else ""
        return f"{self.tool} {self.how}{times}{after}{line}{problem}"


# ---------------------------------------------------------------- reading a rule


def parse_fault(text: str) -> Fault:
    """BadFault names what was not understood."""
    head, given, problem = _parted(text)
    tool, _, rest = head.strip().partition(" ")
    if not _TOOL.fullmatch(tool):
        raise _bad(text, f"{tool!r} names no tool" if tool else "it begins with the name of a tool, or a pattern such as shell.*")
    rest = " ".join(rest.split())
    how = next((how for how in _HOWS if rest == how or rest.startswith(how + " ")), None)
    if how is None:
        said = f"what becomes of {tool} is not said; {_one_of(_HOWS)}"
        raise _bad(text, _unknown(" ".join(rest.split()[:2])) + f"; {_one_of(_HOWS)}" if rest else said)
    fault = _with_clauses(text, Fault(tool=tool, how=how), rest.removeprefix(how).strip())
    if not given:
        return fault
    found = _PROBLEM.fullmatch(problem.strip())
    if found is None:
        raise _bad(text, f"after `with` come a code, a colon and a message, not {problem.strip()!r}")
    return replace(fault, code=found[1], message=found[2])


def _parted(text: str) -> tuple[str, bool, str]:
    """Before `with`, whether it is there, and behind it: a message may hold any words."""
    found = _WITH.search(text)
    return (text, False, "") if found is None else (text[: found.start()], True, text[found.end() :])


def _with_clauses(text: str, fault: Fault, rest: str) -> Fault:
    """In any order, each once."""
    said: dict[str, str] = {}
    while rest:
        found = _CLAUSE.match(rest)
        if found is None or found.lastgroup is None:
            raise _bad(text, _unknown(rest))
        if found.lastgroup in said:
            raise _bad(text, f"{found[0]!r} is too much: it says {said[found.lastgroup]!r} already")
        if re.search(r"\b0+\b", found[0]) and found.lastgroup != "after":
            raise _bad(text, f"{found[0]!r} is never: times and lines count from 1")
        said[found.lastgroup] = found[0]
        rest = rest[found.end() :].strip()
    times = said.get("times", "always").partition(" ")[0]
    return replace(
        fault,
        times=_COUNTS[times] if times in _COUNTS else int(times),
        after=int(said.get("after", "after 0").split()[-1]),
        line=int(said.get("line", "on line 0").split()[-1]),
    )


def _unknown(rest: str) -> str:
    """The first word that has no meaning here, with the one that was probably meant."""
    words = rest.split()
    wrong = next((word for word in words if word not in _WORDS), "")
    near = nearest(wrong, _WORDS) if wrong else None
    return f"{rest!r} is not understood" + (f" (did you mean {near} for {wrong}?)" if near else "")


def _one_of(words: Iterable[str]) -> str:
    return f"say one of: {', '.join(words)}"


def _bad(text: str, what: str) -> BadFault:
    return BadFault(f"the fault rule {text.strip()!r}: {what}; {_RIGHT}")


# ---------------------------------------------------------------- which call it hits


class FaultCounts:
    """The rules of a session, and what they have counted so far. `twice` means twice in the session."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._rows = [_Row(fault) for fault in faults]

    def due(self, tool: str, line: int) -> Fault | None:
        """Counts this call, the next of the script. The rule that it falls to, or None."""
        taken = None
        for row in self._rows:
            if not row.fault.fits(tool, line):
                continue
            row.seen += 1
            if taken is None and row.is_due:
                taken = row
        if taken is None:
            return None
        taken.taken += 1
        return taken.fault

    def lived(self, tool: str, line: int, rule: str) -> None:
        """Counts a call whose outcome is on record; `rule`: the one that it fell to then, or ""."""
        for row in self._rows:
            if row.fault.fits(tool, line):
                row.seen += 1
                row.taken += str(row.fault) == rule


@dataclass(slots=True)
class _Row:
    fault: Fault
    seen: int = 0  # calls that it fits
    taken: int = 0  # those that fell to it

    @property
    def is_due(self) -> bool:
        return self.seen > self.fault.after and (self.fault.times is None or self.taken < self.fault.times)


# ---------------------------------------------------------------- what is told

_ENDED = {
    "failed": ("failed", "failed"),
    "timed_out": ("timed out", "timed out"),
    "denied": ("was denied", "were denied"),
    "refused": ("was refused", "were refused"),
}


def fault_notices(outcomes: Iterable[Outcome]) -> list[str]:
    """One line a rule: `2 calls failed by a fault rule: files.read fails twice`. Of a replay too: the outcome has it."""
    hit = Counter((outcome.status, outcome.fault) for outcome in outcomes if outcome.fault)
    return [
        f"{number} call{'' if number == 1 else 's'} {_ENDED[status][number > 1]} by a fault rule: {rule}"
        for (status, rule), number in hit.items()
    ]
