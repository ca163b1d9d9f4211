"""Which whole numbers are covered, and by how many intervals: lines of one version of one file that are in view.

Disjoint segments with a count each, sorted, found by bisection; in blocks, so that putting one in does not move all others.
Taking an interval away leaves what another one covers.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

BLOCK: Final = 4_096  # lines


class Cover:
    """Intervals have both ends included. `remove` takes what `add` was given; anything else is a mistake of the caller."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, first: int, last: int) -> None:
        for block, a, b in _parts(first, last):
            self._blocks.setdefault(block, _Block()).change(a, b, 1)

    def remove(self, first: int, last: int) -> None:
        for block, a, b in _parts(first, last):
            self._blocks.setdefault(block, _Block()).change(a, b, -1)
            if not self._blocks[block]:
                del self._blocks[block]

    def within(self, first: int, last: int) -> list[tuple[int, int]]:
        """What is covered of first to last: disjoint, in order, as few as possible."""
        blocks = range(first // BLOCK, last // BLOCK + 1)
        known = blocks if len(blocks) <= len(self._blocks) else sorted(self._blocks)
        found: list[tuple[int, int]] = []
        for block in known:
            for a, b in self._blocks[block].within(first, last) if block in self._blocks else ():
                if found and found[-1][1] == a - 1:
                    found[-1] = (found[-1][0], b)
                else:
                    found.append((a, b))
        return found


class _Block:
    __slots__ = ("_counts", "_starts")

    def __init__(self) -> None:
        # Segment i is starts[i] to starts[i + 1] - 1 and covered counts[i] times; before the first and from the last on: 0.
        self._starts: list[int] = []
        self._counts: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._starts)

    def change(self, first: int, last: int, by: int) -> None:
        low, high = self._split(first), self._split(last + 1)
        for index in range(low, high):
            self._counts[index] += by
            if self._counts[index] < 0:
                raise ValueError(f"lines {first}-{last} are taken away but were never added")
        self._join(high)
        self._join(low)

    def within(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        index = max(0, bisect_right(self._starts, first) - 1)
        while index < len(self._starts) - 1 and self._starts[index] <= last:
            a, b = max(first, self._starts[index]), min(last, self._starts[index + 1] - 1)
            if self._counts[index] and a <= b:
                yield a, b
            index += 1

    def _split(self, at: int) -> int:
        """The index of the segment that starts at `at`, made if there is none."""
        index = bisect_right(self._starts, at)
        if index and self._starts[index - 1] == at:
            return index - 1
        self._starts.insert(index, at)
        self._counts.insert(index, self._counts[index - 1] if index else 0)
        return index

    def _join(self, index: int) -> None:
        """Drop the border at `index` if both sides have the same count."""
        if self._counts[index] == (self._counts[index - 1] if index else 0):
            del self._starts[index], self._counts[index]


def _parts(first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """The interval cut at the borders of blocks."""
    for block in range(first // BLOCK, last // BLOCK + 1):
        yield block, max(first, block * BLOCK), min(last, (block + 1) * BLOCK - 1)
