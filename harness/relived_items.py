"""What a record says of the texts that were shown, before a session lives through it: references lead to lines that are there.

A record may be forged. Two texts that stand for each other's lines twice, ten times over, are more lines than any memory holds.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from harness.compose import ShownItem
from harness.store.lines import BadLine

LINES_MAX: Final = 1_000_000  # behind one text, with the lines that its references stand for


class RelivedItems:
    """Of one session, turn by turn."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}  # by handle: how many, with those behind references

    def take(self, turn: int, items: Sequence[ShownItem]) -> None:
        """BadLine."""
        self._count(f"turn {turn}", items)
        for item in items:
            rows = _rows(item)
            for index, reference in item.references:
                known = self._lines.get(reference.handle, 0)
                if not (0 <= index < rows and 1 <= reference.first <= reference.last <= known):
                    raise BadLine(f"turn {turn}: {item.handle!r} refers to lines of {reference.handle!r} that are not there")
            if any(first < 0 or count < 1 or first + count > rows or origin.first < 0 for first, count, origin in item.placed):
                raise BadLine(f"turn {turn}: {item.handle!r} places lines that it does not have")

    def mended(self, items: Iterable[ShownItem]) -> None:
        """Texts that got lines back: what is shown later may refer to those. BadLine."""
        self._count("mended", items)

    def _count(self, where: str, items: Iterable[ShownItem]) -> None:
        for item in items:
            lines = _rows(item) + sum(reference.last - reference.first for _, reference in item.references)
            if lines > LINES_MAX:
                raise BadLine(f"{where}: {item.handle!r} stands for more than {LINES_MAX:,} lines")
            self._lines[item.handle] = max(lines, self._lines.get(item.handle, 0))


def _rows(item: ShownItem) -> int:
    return item.text.count("\n") + 1
