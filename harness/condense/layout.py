"""From a page to the text: runs in view become references, what has no room becomes marks. Pure.

Rule: a text never takes more bytes than its caps. Whatever a shape chooses, what is too long is chosen again with less room, and
in the end only a mark is left.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from harness.condense.in_view import Span, collapse, reference_text
from harness.condense.marks import clipped, gap, rows_cut, shortest, sketched
from harness.condense.page import Caps, Interval, Laid, Page, Placed, Room, Rows, size_of, size_of_lines
from harness.condense.record import Reference
from harness.seen import Seen

_HEAD_SHARE = 2  # lines of ours in front take at most one half of the room
_TRIES = 3


def rows_of(page: Page, view: Seen | None, *, handle: str, least: int) -> Rows:
    """The page's lines, runs in view collapsed, then what only says that all is well; without a view, as they are."""
    lines = page.lines
    origin = page.placed[0][2] if len(page.placed) == 1 and page.placed[0][:2] == (0, len(lines)) else None
    spans = collapse(lines, view, own=handle, origin=origin, least=least) if view is not None and lines else [Span(0, len(lines))]
    asides = {span.first: _asides(page, span, handle=handle) for span in spans if span.reference is None}
    if not any(span.reference for span in spans) and not any(asides.values()):
        return Rows(lines, range(len(lines) + 1), _offsets(lines), {})
    texts: list[str] = []
    starts: list[int] = []
    references: dict[int, Reference] = {}
    cut: set[int] = set()
    for span in spans:
        if span.reference is not None:
            references[len(texts)] = span.reference
            texts.append(reference_text(span.reference))
            starts.append(span.first)
            continue
        done = span.first
        for first, last, mark in [*asides[span.first], (span.last, span.last, "")]:
            texts += lines[done:first]
            starts += range(done, first)
            if mark:
                cut.add(len(texts))
                texts.append(mark)
                starts.append(first)
            done = last
    starts.append(len(lines))
    return Rows(texts, starts, _offsets(texts), references, frozenset(cut))


def _asides(page: Page, span: Span, *, handle: str) -> list[tuple[int, int, str]]:
    """Lines of the page and the mark in place of them; what is no longer than its mark stays."""
    found: list[tuple[int, int, str]] = []
    for run in page.aside(page.lines[span.first : span.last]) if page.aside is not None else ():
        first, last = span.first + run.first, span.first + run.last
        mark = gap(f"{page.gap(first, last - 1)} ({run.told})", handle=handle)
        if size_of(mark) < size_of_lines(page.lines[first:last]):
            found.append((first, last, mark))
    return found


def fits(page: Page, rows: Rows, caps: Caps) -> bool:
    """References are one line each, so what is in view does not count against the cap."""
    if page.before.lines:
        return False
    if len(rows) - len(page.ours) > caps.lines:
        return False
    size = rows.offsets[-1] + size_of_lines(page.head) + bool(page.head) - (1 if len(rows) else bool(page.head))
    return size <= caps.bytes


def lay_whole(page: Page, rows: Rows) -> Laid:
    laid = _assembled(page, rows, page.head, [(0, len(rows))] if len(rows) else [], {})
    return replace(laid, whole=not rows.cut)


def lay_cut(page: Page, rows: Rows, caps: Caps, *, handle: str) -> Laid:
    """As much as the caps allow, each gap with its mark."""
    if page.sketch is not None:
        return _sketched(page, caps, handle=handle)
    head = _head(page, caps.bytes // _HEAD_SHARE, handle=handle)
    if not len(rows):
        return _least(page, head, caps, handle=handle)
    spare = caps.bytes - sum(size_of(line) + 1 for line in head)
    short = _short_rows(page, rows, min(page.line_bytes, max(16, spare // 3)), handle=handle)
    spare += 1  # the last line has no line end
    mark = _mark_bytes(page, rows, handle)
    for part in range(_TRIES, 0, -1):
        room = Room(caps.lines, spare * part // _TRIES - (mark if page.quiet else 0), 0 if page.quiet else mark)
        kept = page.choose(short, room) if room.bytes > 0 else []
        laid = _assembled(page, short, head, kept, _marks(page, short, kept, handle=handle))
        if page.quiet:
            laid.lines.append(_closing(page, short, kept, handle=handle))
        elif kept == [(0, len(rows))] and not short.cut:
            break  # only the lines in front had no room: nothing would say that they are missing
        if size_of_lines(laid.lines) <= caps.bytes:
            return replace(laid, whole=False)
    return _least(page, head, caps, handle=handle)


def _closing(page: Page, rows: Rows, kept: list[Interval], *, handle: str) -> str:
    missing = len(rows) - sum(last - first for first, last in kept)
    before = page.before.lines
    return rows_cut(missing + len(rows.cut) + before, len(rows) + before, handle=handle)


def _least(page: Page, head: tuple[str, ...], caps: Caps, *, handle: str) -> Laid:
    mark = gap(page.gap(0, len(page.lines) - 1), handle=handle) if page.lines else shortest(handle, caps.bytes)
    for lines in ([*head, mark], [mark], [shortest(handle, caps.bytes)]):
        if size_of_lines(lines) <= caps.bytes:
            return Laid([line for line in lines if line], whole=False)
    return Laid([], whole=False)


def _sketched(page: Page, caps: Caps, *, handle: str) -> Laid:
    assert page.sketch is not None
    mark = sketched(page.produced, handle=handle)
    room = caps.bytes - size_of(mark) - 1
    lines = page.sketch(Caps(caps.lines, room)) if room > 0 else ()
    text = [*lines, mark]
    if lines and size_of_lines(text) <= caps.bytes:
        return Laid(text, whole=False)
    return _least(replace(page, lines=()), (), caps, handle=handle)


def _head(page: Page, room: int, *, handle: str) -> tuple[str, ...]:
    """The lines in front that have room, the first ones first."""
    kept: list[str] = []
    for line in page.head_when_cut or page.head:
        size = size_of(line) + 1
        if size > room:
            if room >= 64:
                kept.append(clipped(line, room - 1, handle=handle))
            break
        kept.append(line)
        room -= size
    return tuple(line for line in kept if line)


def _short_rows(page: Page, rows: Rows, limit: int, *, handle: str) -> Rows:
    """Rows longer than the limit, cut inside."""
    offsets = rows.offsets
    if all(offsets[at + 1] - offsets[at] <= limit + 1 for at in range(len(rows))):
        return rows
    texts = list(rows.texts)
    cut = set(rows.cut)
    for at, text in enumerate(texts):
        if offsets[at + 1] - offsets[at] > limit + 1 and at not in rows.references and at not in rows.cut:
            keep = page.clip(text, limit) if page.clip is not None else None
            texts[at] = clipped(text, limit, handle=handle, keep=keep)
            cut.add(at)
    return Rows(texts, rows.starts, _offsets(texts), rows.references, frozenset(cut))


def _mark_bytes(page: Page, rows: Rows, handle: str) -> int:
    """Of one mark with its line end; of a quiet page the one at the end."""
    count = len(rows) + page.before.lines
    mark = rows_cut(count, count, handle=handle) if page.quiet else gap("", handle=handle)
    return len(mark.encode()) + 1 + (0 if page.quiet else page.gap_bytes)


def _marks(page: Page, rows: Rows, kept: list[Interval], *, handle: str) -> dict[int, str]:
    """For each gap, by the row it begins with, its mark."""
    if page.quiet:
        return {}
    marks: dict[int, str] = {}
    at = 0
    for first, last in [*kept, (len(rows), len(rows))]:
        if at < first:
            marks[at] = gap(page.gap(rows.starts[at], rows.starts[first] - 1), handle=handle)
        at = last
    return marks


def _assembled(page: Page, rows: Rows, head: Iterable[str], kept: list[Interval], marks: dict[int, str]) -> Laid:
    lines = list(head)
    references: list[tuple[int, Reference]] = []
    shift: list[tuple[Interval, int]] = []  # rows, and the line of the text the first of them is
    replaced = at = 0
    for first, last in kept:
        if at in marks and at < first:
            lines.append(marks[at])
        shift.append(((first, last), len(lines)))
        lines += rows.texts[first:last]
        at = last
    if at in marks and at < len(rows):
        lines.append(marks[at])
    for row, reference in rows.references.items():
        for (first, last), where in shift:
            if first <= row < last:
                references.append((where + row - first, reference))
                replaced += _lines_size(page, rows, row) - size_of(rows.texts[row])
    return Laid(lines, tuple(references), _placed(page, rows, shift), replaced)


def _lines_size(page: Page, rows: Rows, row: int) -> int:
    return size_of_lines(page.lines[rows.starts[row] : rows.starts[row + 1]])


def _placed(page: Page, rows: Rows, shift: list[tuple[Interval, int]]) -> tuple[Placed, ...]:
    """Where the lines of the text stand in their files: runs of rows that are lines, neither references nor cut."""
    found: list[Placed] = []
    broken = sorted(set(rows.references) | rows.cut)
    for (first, last), where in shift if page.placed else ():
        begin = first
        for stop in [*(row for row in broken if first <= row < last), last]:
            found += _in_files(page, rows, begin, stop, where + begin - first)
            begin = stop + 1
    return tuple(found)


def _in_files(page: Page, rows: Rows, begin: int, stop: int, where: int) -> Iterable[Placed]:
    if begin >= stop:
        return
    line, end = rows.starts[begin], rows.starts[begin] + stop - begin
    for start, count, origin in page.placed:
        low, high = max(line, start), min(end, start + count)
        if low < high:
            yield where + low - line, high - low, replace(origin, first=origin.first + low - start)


def _offsets(texts: Iterable[str]) -> list[int]:
    return list(accumulate((size_of(text) + 1 for text in texts), initial=0))
