"""One text as it stands in view: its lines in layers that can be compared, the count of its lines, where they stand in files.

A reference in the text is no line that is in view. The lines behind it are counted, so that the number of a line stays true when
they are put back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from harness.line_numbers import Stretch, stretches

if TYPE_CHECKING:  # `harness.condense` imports this file
    from harness.condense.record import Origin, Reference

Placed: TypeAlias = "Iterable[tuple[int, int, Origin]]"  # index of the first line from 0, how many, where they stand in a file
References: TypeAlias = "Iterable[tuple[int, Reference]]"  # index of the line from 0
Line: TypeAlias = "str | None"  # None: a reference stands there

WINDOW: Final = 5  # lines: the shortest run that is found


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Lines that can be compared: those of a text as they are, or those of a numbered stretch of it without the numbers."""

    start: int
    lines: Sequence[Line]
    stretch: Stretch | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Viewed:
    """A text in view. `at` are the indices of its references, `behind` how many lines stand behind them up to there."""

    turn: int
    handle: str
    text: str
    layers: list[Layer]
    at: list[int]
    behind: list[int]
    placed: list[tuple[int, int, Origin]]

    def number(self, index: int) -> int:
        """The number of a line, from 1, with every reference counted as the lines behind it."""
        passed = bisect_left(self.at, index)
        return index + 1 + (self.behind[passed - 1] - passed if passed else 0)

    def origin(self, index: int, count: int) -> Origin | None:
        """Where these lines stand in a file, if all of them do."""
        row = bisect_right(self.placed, index, key=lambda row: row[0]) - 1
        if row < 0:
            return None
        first, length, origin = self.placed[row]
        return replace(origin, first=origin.first + index - first) if index + count <= first + length else None


def viewed(turn: int, handle: str, text: str, *, placed: Placed, references: References) -> Viewed:
    lines: list[Line] = list(text.split("\n"))
    rows = sorted(references, key=lambda row: row[0])
    for index, _ in rows:
        lines[index] = None
    behind = list(accumulate(reference.last - reference.first + 1 for _, reference in rows))
    stand = sorted((row for row in placed if row[1] > 0), key=lambda row: row[0])
    return Viewed(turn, handle, text, layers(lines), [index for index, _ in rows], behind, stand)


def layers(lines: Sequence[Line]) -> list[Layer]:
    """The lines as they are come first."""
    numbered = stretches(["" if line is None else line for line in lines], least=WINDOW)
    return [Layer(0, lines), *(Layer(stretch.start, stretch.bodies, stretch) for stretch in numbered)]


def is_trivial(lines: Sequence[Line], offset: int, count: int) -> bool:
    """Fewer than two different lines that are not blank."""
    first = None
    for index in range(offset, offset + count):
        line = lines[index]
        if line is not None and line != first and line.strip():
            if first is not None:
                return False
            first = line
    return True
