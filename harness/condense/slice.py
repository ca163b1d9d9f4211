"""Lines of files: what `files.read` gives, several of them, or a text whose place in a file is known.

Lines are never changed. When not all can stay: those with what the script looked for, the begin, then as much as has room; each
gap says what stands in it, by an outline with line numbers. A file up to the small-file limits is shown whole, once a turn.
Of several slices each has the cap of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from harness.condense.file_parts import Parts, Stretch, stretches_of
from harness.condense.fit import wished
from harness.condense.marks import lines_told
from harness.condense.outline import Symbol, outline, told
from harness.condense.page import Caps, Interval, Page, Placed, Room, Rows, size_of
from harness.condense.record import Item
from harness.condense.relevance import around, lines_with_terms
from harness.condense.worth import caps_for
from harness.limits import ShownLimits

_CONTEXT = 4  # lines on each side of a line with a term
_BEGIN = 12  # lines: what a file imports and says about itself
_GAPS = 6
_OUTLINE_BYTES = 320  # in one mark
_LINE_BYTES = 2_000


def slice_page(item: Item, limits: ShownLimits) -> Page:
    parts = stretches_of(item)
    lines: list[str] = []
    placed: list[Placed] = []
    headings: list[int] = []
    for stretch in parts.stretches:
        if len(parts.stretches) > 1:
            headings.append(len(lines))
            lines.append(stretch.heading())
        if stretch.lines:
            placed.append((len(lines), len(stretch.lines), stretch.origin))
        lines += stretch.lines
    one = Caps(limits.shown_value_lines, limits.shown_value_bytes)
    small = Caps(limits.small_file_lines, limits.small_file_bytes)
    caps, exception = _caps(parts, one, small)
    gaps = _Gaps([stretch for stretch in parts.stretches if stretch.lines], placed, parts.total)
    return Page(
        lines=lines,
        produced=sum(stretch.produced for stretch in parts.stretches),
        caps=caps,
        exception=exception,
        choose=partial(_choose, lines, item.terms, placed, headings),
        gap=gaps,
        gap_bytes=gaps.most_bytes,
        head=parts.head,
        placed=tuple(placed),
        ours=frozenset(headings),
        line_bytes=_LINE_BYTES,
    )


@dataclass(frozen=True, slots=True)
class _File:
    """What a file takes with all its stretches and their headings, and what it may take."""

    size: Caps
    cap: Caps
    small: Caps

    @property
    def more(self) -> Caps:
        """What showing it whole would add, if it is small enough for that."""
        if self.size != self.size.within(self.small):
            return Caps(0, 0)
        return Caps(max(0, self.size.lines - self.cap.lines), max(0, self.size.bytes - self.cap.bytes))


def _files(parts: Parts, one: Caps, small: Caps) -> list[_File]:
    by_path: dict[str, list[Stretch]] = {}
    for stretch in parts.stretches:
        by_path.setdefault(stretch.origin.path, []).append(stretch)
    found: list[_File] = []
    for path, own in by_path.items():
        widest = max(own, key=lambda stretch: len(stretch.lines))
        headings = sum(size_of(stretch.heading()) + 1 for stretch in own)
        size = Caps(sum(len(stretch.lines) for stretch in own), headings + sum(stretch.size for stretch in own))
        found.append(_File(size, *(caps_for(caps, path, widest.lines, widest.size) for caps in (one, small))))
    return found


def _caps(parts: Parts, one: Caps, small: Caps) -> tuple[Caps, Caps]:
    """A cap for each file; and the same with the largest file that is small enough shown whole."""
    files = _files(parts, one, small)
    if len(parts.stretches) < 2:
        return files[0].cap, files[0].small
    kept = [file.size.within(file.cap) for file in files]
    head = sum(size_of(line) + 1 for line in parts.head)
    together = Caps(sum(file.lines for file in kept), head + sum(file.bytes for file in kept))
    more = max((file.more for file in files), key=lambda caps: caps.bytes)
    return together, Caps(together.lines + more.lines, together.bytes + more.bytes)


@dataclass(slots=True)
class _Gaps:
    """What hidden lines are. The outline is made when the first mark needs it."""

    stretches: Sequence[Stretch]
    placed: Sequence[Placed]
    total: int
    _symbols: dict[int, list[Symbol]] | None = None

    @property
    def most_bytes(self) -> int:
        if len(self.stretches) == 1:
            high = max(self.total, self.stretches[0].last)  # the longest number
            return len(lines_told(high, high + 1, high)) + len(" cut ()") + _OUTLINE_BYTES
        return 3 * max((len(stretch.heading().encode()) + 2 for stretch in self.stretches), default=0) + 24 + _OUTLINE_BYTES

    def __call__(self, first: int, last: int) -> str:
        hidden: list[tuple[int, int, int]] = []  # the stretch, and its hidden lines by their numbers in the file
        for at, (start, count, origin) in enumerate(self.placed):
            low, high = max(first, start), min(last, start + count - 1)
            if low <= high:
                hidden.append((at, origin.first + low - start, origin.first + high - start))
        if not hidden:
            return f"{last - first + 1} lines cut"
        names = self._names(hidden)
        return f"{self._which(hidden)} cut{f' ({names})' if names else ''}"

    def _which(self, hidden: list[tuple[int, int, int]]) -> str:
        if len(self.stretches) == 1:
            return lines_told(*hidden[0][1:], self.total)
        told_ones = [f"{self.stretches[at].name()} {low}-{high}" for at, low, high in hidden[:3]]
        return ", ".join(told_ones) + (f" and {len(hidden) - 3} more" if len(hidden) > 3 else "")

    def _names(self, hidden: list[tuple[int, int, int]]) -> str:
        if len(hidden) > 1:
            return ""
        at, low, high = hidden[0]
        if self._symbols is None:
            self._symbols = {}
        if at not in self._symbols:
            stretch = self.stretches[at]
            self._symbols[at] = outline(stretch.lines, stretch.origin.path, first=stretch.origin.first)
        return told([symbol for symbol in self._symbols[at] if low <= symbol.line <= high], _OUTLINE_BYTES)


def _choose(
    lines: Sequence[str], terms: tuple[str, ...], placed: Sequence[Placed], headings: Sequence[int], rows: Rows, room: Room
) -> list[Interval]:  # fmt: skip
    """The order of what stays. References first: they are short, and what they stand for has no other place in the text."""
    begins = [(rows.row_of(start), rows.row_of(start + count - 1) + 1) for start, count, _ in placed]
    share = room.bytes // max(1, len(placed))
    wishes: list[Interval] = [(rows.row_of(line), rows.row_of(line) + 1) for line in headings]
    wishes += [(row, row + 1) for row in rows.references]
    wishes += around((rows.row_of(line) for line in lines_with_terms(lines, terms)), _CONTEXT, len(rows))
    wishes += [(first, min(last, first + _BEGIN)) for first, last in begins]
    wishes += [(first, _up_to(rows, first, last, share)) for first, last in begins]
    wishes.append((0, len(rows)))
    return wished(rows, room, wishes, gaps=max(_GAPS, len(placed) + 1))


def _up_to(rows: Rows, first: int, last: int, share: int) -> int:
    while last > first and rows.size(first, last) > share:
        last = first + (last - first) * 3 // 4
    return last
