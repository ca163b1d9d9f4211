"""Where things stand in a text after stretches of it were replaced: offsets, and the sites of calls in a script. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Self

from sandbox import Site

_LINE_ENDS = re.compile("\r\n|\n|\r|\u2028|\u2029")  # those that the engine counts


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `end` became `size` others."""

    start: int
    end: int
    size: int


class Edits:
    """Of one text at once: disjoint, in order."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = tuple(edits)
        self._ends = [edit.end for edit in self._edits]
        self._grown = [0, *accumulate(edit.size - (edit.end - edit.start) for edit in self._edits)]

    def moved(self, at: int) -> int:
        """A place inside a stretch that was replaced becomes its start."""
        behind = bisect_right(self._ends, at)  # edits that end at or before it
        inside = behind < len(self._edits) and self._edits[behind].start < at
        return (self._edits[behind].start if inside else at) + self._grown[behind]

    def __bool__(self) -> bool:
        return bool(self._edits)


NO_EDITS: Final = Edits(())


def substituted(text: str, found: re.Pattern[str], instead: Callable[[re.Match[str]], str]) -> tuple[str, Edits]:
    """As `re.sub`, but for empty matches; and what it did."""
    parts: list[str] = []
    edits: list[Edit] = []
    at = 0
    for one in found.finditer(text):
        if one[0]:
            new = instead(one)
            parts += (text[at : one.start()], new)
            edits.append(Edit(one.start(), one.end(), len(new)))
            at = one.end()
    return ("".join((*parts, text[at:])), Edits(edits)) if edits else (text, NO_EDITS)


@dataclass(frozen=True, slots=True)
class Moves:
    """From a script before to the script after, by any number of rounds of edits."""

    before: str
    after: str
    rounds: tuple[Edits, ...]
    lines_before: tuple[int, ...]  # where they start
    lines_after: tuple[int, ...]

    @classmethod
    def of(cls, before: str, after: str, rounds: Iterable[Edits]) -> Self:
        return cls(before, after, tuple(edits for edits in rounds if edits), _starts(before), _starts(after))

    def site(self, site: Site) -> Site:
        """Line 0 is no place, and what lies outside of the script stays."""
        if not self.rounds or not 1 <= site.line <= len(self.lines_before):
            return site
        at = min(self.lines_before[site.line - 1] + site.column - 1, len(self.before))
        for edits in self.rounds:
            at = edits.moved(at)
        row = bisect_right(self.lines_after, at) - 1
        return replace(site, line=row + 1, column=at - self.lines_after[row] + 1)


def _starts(text: str) -> tuple[int, ...]:
    return (0, *(found.end() for found in _LINE_ENDS.finditer(text)))
