"""A value as lines, before anything is left out, and what its shape says about leaving out. Records only.

A shape makes a `Page`; `layout.py` collapses what is in view, asks `choose` which rows stay, and puts the marks.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.condense.passing import Passing
from harness.condense.record import Origin, Reference

Interval: TypeAlias = tuple[int, int]  # rows, from 0, the end not included
Placed: TypeAlias = tuple[int, int, Origin]

LINE_BYTES = 1_000  # of one line, where lines are left out anyway: one minified line must not take the room of fifty
UNLIMITED = 1 << 40


@dataclass(frozen=True, slots=True)
class Caps:
    lines: int
    bytes: int

    def within(self, other: "Caps") -> "Caps":
        return Caps(min(self.lines, other.lines), min(self.bytes, other.bytes))


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines after collapsing: a row is a line, or one reference for many."""

    texts: Sequence[str]
    starts: Sequence[int]  # index of the page's line that a row begins with; one more at the end
    offsets: Sequence[int]  # bytes of all rows before a row, each with its line end; one more at the end
    references: dict[int, Reference]  # by row
    cut: frozenset[int] = frozenset()  # rows whose text lacks a part

    def __len__(self) -> int:
        return len(self.texts)

    def size(self, first: int, last: int) -> int:
        return self.offsets[last] - self.offsets[first]

    def row_of(self, line: int) -> int:
        """The row that holds a line of the page."""
        return max(0, bisect_right(self.starts, line, 0, len(self.texts)) - 1)


@dataclass(frozen=True, slots=True)
class Room:
    """What the chosen rows may take. `mark`: bytes to reckon for each gap, its line end included."""

    lines: int
    bytes: int
    mark: int


Choose: TypeAlias = Callable[[Rows, Room], list[Interval]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`head`: lines of ours in front; shown first, cut last.

    `gap`: what the mark says of the lines from one index to another (both included) that are left out, in at most `gap_bytes`.
    """

    lines: Sequence[str]
    produced: int
    caps: Caps
    choose: Choose
    gap: Callable[[int, int], str]
    gap_bytes: int
    head: tuple[str, ...] = ()
    head_when_cut: tuple[str, ...] = ()  # instead, when lines are left out
    placed: tuple[Placed, ...] = ()
    ours: frozenset[int] = frozenset()  # lines that are not the source's: headings between parts; they do not count as lines
    quiet: bool = False  # gaps are not marked one by one; the last line tells how many rows are missing
    before: Caps = Caps(0, 0)  # rows, and their bytes, that were left out because no choice could show them
    exception: Caps | None = None  # the small file, once a turn
    line_bytes: int = LINE_BYTES
    aside: Callable[[Sequence[str]], Sequence[Passing]] | None = None  # runs of lines that are told by their number, room or not
    clip: Callable[[str, int], tuple[int, int] | None] | None = None  # which characters of a long line must stay
    sketch: Callable[[Caps], tuple[str, ...]] | None = None  # of a value that is no sequence of lines


@dataclass(frozen=True, slots=True)
class Laid:
    """A page as text, with where everything went."""

    lines: list[str]
    references: tuple[tuple[int, Reference], ...] = ()
    placed: tuple[Placed, ...] = ()
    replaced: int = 0  # bytes that references took the place of, less their own
    whole: bool = True


def size_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def size_of_lines(lines: Sequence[str]) -> int:
    """Bytes of the lines with one line end between two."""
    return sum(map(size_of, lines)) + max(0, len(lines) - 1)
