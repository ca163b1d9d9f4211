"""Any text: its first and last lines. Lines that repeat are told once with their number, runs of blank lines become one.

`folded` is for every text that is not a file's: a file's lines are never changed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from harness.condense.fit import ends
from harness.condense.marks import lines_told
from harness.condense.page import Caps, Choose, Page, Placed, size_of
from harness.condense.record import Item
from harness.condense.terminal import settled
from harness.limits import ShownLimits

_REPEATS = 3  # identical lines from which on they are counted instead of shown; blank ones from which on one is left
_RULER = re.compile(r"([^\w\s])\1{39,}")


@dataclass(frozen=True, slots=True)
class Folded:
    """Lines, and which lines of the source each of them stands for."""

    lines: Sequence[str]
    numbers: Sequence[int]
    lasts: Sequence[int]
    total: int

    def gap(self, first: int, last: int) -> str:
        return f"{lines_told(self.numbers[first], self.lasts[last], self.total)} cut"

    @property
    def gap_bytes(self) -> int:
        return len(lines_told(self.total, self.total + 1, self.total)) + len(" cut")


def text_page(item: Item, limits: ShownLimits) -> Page:
    text = encodable(item.value)
    caps = Caps(limits.shown_value_lines, limits.shown_value_bytes)
    if item.origin is None:
        return page_of(folded(settled(text)), size_of(text), caps)
    lines = lines_of(text)
    return page_of(plain(lines), size_of(text), caps, placed=((0, len(lines), item.origin),) if lines else ())


def page_of(
    folded: Folded, produced: int, caps: Caps, *, head: tuple[str, ...] = (), placed: tuple[Placed, ...] = (),
    choose: Choose = ends,
) -> Page:  # fmt: skip
    return Page(
        lines=folded.lines, gap=folded.gap, gap_bytes=folded.gap_bytes, produced=produced, caps=caps,
        choose=choose, head=head, placed=placed,
    )  # fmt: skip


def lines_of(text: str) -> list[str]:
    """A line ends with "\\n"; what follows the last one is a line only if something is there."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def plain(lines: Sequence[str], *, first: int = 1) -> Folded:
    numbers = range(first, first + len(lines))
    return Folded(lines, numbers, numbers, len(lines))


def folded(text: str) -> Folded:
    """A line that stands there three times or more is followed by `… ×N`; of blank lines one is left.

    A ruler, forty and more of one sign, is four of them and their number.
    """
    lines = lines_of(_RULER.sub(_short_ruler, text))
    if not _repeats(lines):
        return plain(lines)
    kept: list[str] = []
    numbers: list[int] = []
    lasts: list[int] = []
    at = 1
    for line, run in groupby(lines):
        count = sum(1 for _ in run)
        if count >= _REPEATS and (not line or line.isspace()):
            rows = [line]
        elif count >= _REPEATS:
            rows = [line, f"… ×{count}"]
        else:
            rows = [line] * count
        kept += rows
        numbers += range(at, at + len(rows))
        lasts += range(at, at + len(rows))
        at += count
        lasts[-1] = at - 1
    return Folded(kept, numbers, lasts, len(lines))


def _short_ruler(found: re.Match[str]) -> str:
    return f"{found[1] * 4} ×{len(found[0])}"


def _repeats(lines: Sequence[str]) -> bool:
    return any(a == b for a, b in pairwise(lines))


def encodable(text: str) -> str:
    """A lone surrogate has no UTF-8; it is written as its escape."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
