"""Which rows stay when not all can: the ends, or what is wished for in an order. Pure arithmetic on sizes.

Rule: the rows and one mark for each gap never take more than the room.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

from harness.condense.page import Interval, Room, Rows

HEAD_SHARE = 0.4  # of the room; the end of an output tells more than its begin


def ends(rows: Rows, room: Room, *, head_share: float = HEAD_SHARE) -> list[Interval]:
    """The first and the last rows."""
    count, offsets = len(rows), rows.offsets
    spare, lines = room.bytes - room.mark, room.lines
    if spare <= 0 or lines <= 0:
        return []
    head = _taken(rows, 0, int(spare * head_share), round(lines * head_share))
    tail = count
    limit = offsets[count] - (spare - offsets[head])
    tail = max(head, bisect_left(offsets, limit, head, count), count - (lines - head))
    head = max(head, _taken(rows, head, spare - (offsets[count] - offsets[tail]) - offsets[head], lines - head - (count - tail)))
    return [part for part in ((0, min(head, tail)), (tail, count)) if part[0] < part[1]]


def tail(rows: Rows, room: Room) -> list[Interval]:
    return ends(rows, room, head_share=0.0)


def wished(rows: Rows, room: Room, wishes: Iterable[Interval], *, gaps: int = 12) -> list[Interval]:
    """The wishes in their order while there is room; of the first that has none, the begin.

    A gap that costs no more than its mark is filled. At most so many gaps, because each costs a line of text.
    """
    kept: list[Interval] = []
    for first, last in wishes:
        more = _joined(kept, (max(0, first), min(len(rows), last)), rows, room)
        if more == kept:
            continue
        if _fits(more, rows, room, gaps):
            kept = more
            continue
        part = _begin_that_fits(kept, (max(0, first), min(len(rows), last)), rows, room, gaps)
        if part is not None:
            kept = part
        if _cost(kept, rows, room) > room.bytes - room.mark:
            break
    return kept


def _taken(rows: Rows, first: int, spare: int, lines: int) -> int:
    """The row up to which there is room, from a first one on."""
    return max(first, min(bisect_right(rows.offsets, rows.offsets[first] + max(0, spare)) - 1, first + max(0, lines), len(rows)))


def _joined(kept: list[Interval], new: Interval, rows: Rows, room: Room) -> list[Interval]:
    if new[0] >= new[1]:
        return kept
    more = list(kept)
    insort(more, new)
    merged: list[Interval] = []
    for first, last in more:
        if merged and (first <= merged[-1][1] or rows.size(merged[-1][1], first) <= room.mark):
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    count = len(rows)
    if merged[0][0] and rows.size(0, merged[0][0]) <= room.mark:
        merged[0] = (0, merged[0][1])
    if merged[-1][1] < count and rows.size(merged[-1][1], count) <= room.mark:
        merged[-1] = (merged[-1][0], count)
    return merged


def _cost(kept: list[Interval], rows: Rows, room: Room) -> int:
    return sum(rows.size(first, last) for first, last in kept) + room.mark * _gaps(kept, rows)


def _gaps(kept: list[Interval], rows: Rows) -> int:
    if not kept:
        return 1
    return len(kept) - 1 + (kept[0][0] > 0) + (kept[-1][1] < len(rows))


def _fits(kept: list[Interval], rows: Rows, room: Room, gaps: int) -> bool:
    if _gaps(kept, rows) > gaps or _cost(kept, rows, room) > room.bytes:
        return False
    return sum(last - first for first, last in kept) <= room.lines


def _begin_that_fits(kept: list[Interval], wish: Interval, rows: Rows, room: Room, gaps: int) -> list[Interval] | None:
    """As many first rows of the wish as fit, by bisection: cost grows with the rows."""
    low, high = wish[0], wish[1]
    best: list[Interval] | None = None
    while low < high:
        middle = (low + high + 1) // 2
        more = _joined(kept, (wish[0], middle), rows, room)
        if _fits(more, rows, room, gaps):
            best, low = more, middle
        else:
            high = middle - 1
    return best


def in_order(rows: Rows, room: Room, order: Iterable[int]) -> list[Interval]:
    """Rows in an order, each while there is room for it; gaps cost nothing."""
    kept: set[int] = set()
    spare, offsets = room.bytes, rows.offsets
    for row in order:
        size = offsets[row + 1] - offsets[row]
        if row not in kept and size <= spare:
            kept.add(row)
            spare -= size
            if spare < 2 or len(kept) >= room.lines:  # a row has at least a character and its line end
                break
    intervals: list[Interval] = []
    for row in sorted(kept):
        if intervals and intervals[-1][1] == row:
            intervals[-1] = (intervals[-1][0], row + 1)
        else:
            intervals.append((row, row + 1))
    return intervals
