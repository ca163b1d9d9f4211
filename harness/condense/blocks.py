"""JSON whose main content is texts of several lines: the texts are shown as lines, not as escaped JSON. Pure.

First the value with each long text named where it stood, then every text below its pointer, verbatim, so that what is in view can
become a reference and an edit can copy from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from harness.condense.fit import wished
from harness.condense.marks import lines_told
from harness.condense.page import Caps, Interval, Page, Room, Rows
from harness.condense.record import Json
from harness.condense.text import encodable, lines_of
from harness.limits import ShownLimits

_LINES_MIN = 4  # of a text that is shown as lines
_SHARE_MIN = 0.5  # of the value's bytes that such texts must have together
_DEPTH_MAX = 4
_BLOCKS_MAX = 40
_BEGIN = 6  # lines of every text that come first


@dataclass(frozen=True, slots=True)
class Block:
    pointer: str
    lines: list[str]
    first: int  # its first line on the page


def texts_in(value: Json, size: int) -> dict[str, str]:
    """Texts of several lines by their pointers; none, when they are not what the value is about."""
    found: dict[str, str] = {}
    _collect(value, "", 0, found)
    return found if found and sum(map(len, found.values())) >= size * _SHARE_MIN else {}


def without(value: Json, texts: dict[str, str], pointer: str = "") -> Json:
    """The value with each of those texts named in place of it."""
    if pointer in texts and isinstance(value, str):
        return f"[{len(lines_of(value))} lines: below]"
    if isinstance(value, dict):
        return {name: without(one, texts, f"{pointer}/{name}") for name, one in value.items()}
    if isinstance(value, list):
        return [without(one, texts, f"{pointer}/{at}") for at, one in enumerate(value)]
    return value


def blocks_page(rest: Sequence[str], texts: dict[str, str], produced: int, limits: ShownLimits) -> Page:
    lines = list(rest)
    blocks: list[Block] = []
    for pointer, text in texts.items():
        body = lines_of(encodable(text))
        lines.append(f"[{encodable(pointer)[:120]}, {len(body)} lines]".replace("\n", "\\n"))
        blocks.append(Block(pointer, body, len(lines)))
        lines += body
    width = len(lines_told(len(lines), len(lines), len(lines))) + 160
    return Page(
        lines=lines, produced=produced, caps=Caps(limits.shown_value_lines, limits.shown_value_bytes), gap=partial(_gap, blocks),
        gap_bytes=width, choose=partial(_choose, len(rest), blocks),
    )  # fmt: skip


def _collect(value: Json, pointer: str, depth: int, found: dict[str, str]) -> None:
    if len(found) >= _BLOCKS_MAX or depth > _DEPTH_MAX:
        return
    if isinstance(value, str):
        if value.count("\n") >= _LINES_MIN - 1 and pointer:
            found[pointer] = value
    elif isinstance(value, dict):
        for name, one in value.items():
            _collect(one, f"{pointer}/{name}", depth + 1, found)
    elif isinstance(value, list):
        for at, one in enumerate(value[:_BLOCKS_MAX]):
            _collect(one, f"{pointer}/{at}", depth + 1, found)


def _gap(blocks: Sequence[Block], first: int, last: int) -> str:
    for block in blocks:
        low, high = max(first, block.first), min(last, block.first + len(block.lines) - 1)
        if low <= high and (low, high) == (first, last):
            told = lines_told(low - block.first + 1, high - block.first + 1, len(block.lines))
            return f"{told} of {encodable(block.pointer)[:30]} cut".replace("\n", "\\n")
    return f"{last - first + 1:,} lines cut"


def _choose(rest: int, blocks: Sequence[Block], rows: Rows, room: Room) -> list[Interval]:
    starts = [rows.row_of(block.first - 1) for block in blocks]
    ends = [*starts[1:], len(rows)]
    share = room.bytes // (len(blocks) + 1)
    wishes: list[Interval] = [(0, rows.row_of(max(0, rest - 1)) + 1)] if rest else []
    wishes += [(row, row + 1) for row in rows.references]
    wishes += [(start, min(end, start + _BEGIN)) for start, end in zip(starts, ends, strict=True)]
    for start, end in zip(starts, ends, strict=True):
        while end > start and rows.size(start, end) > share:
            end = start + (end - start) * 3 // 4
        wishes.append((start, end))
    return wished(rows, room, [*wishes, (0, len(rows))], gaps=len(blocks) + 2)
