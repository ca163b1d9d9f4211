"""What a command printed: its first and last lines, the exit code in front when it is not 0.

The value is the text, or what the shell pack gives: `{output, stderr, exit_code, …}`.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import partial

import orjson

from harness.condense.diff import diff_page, is_diff
from harness.condense.fit import wished
from harness.condense.json_sketch import json_page
from harness.condense.page import LINE_BYTES, UNLIMITED, Caps, Choose, Interval, Page, Room, Rows, size_of
from harness.condense.record import Item, Json
from harness.condense.relevance import lines_that_tell
from harness.condense.terminal import settled
from harness.condense.text import encodable, folded, page_of
from harness.limits import ShownLimits

_TOLD_SHARE = 0.25  # of the room, for lines between the ends that tell of trouble or hold what was looked for


@dataclass(frozen=True, slots=True)
class Printed:
    """A command's output, from either form of the value."""

    text: str
    produced: int
    exit_code: int | None
    remarks: tuple[str, ...]


def output_page(item: Item, limits: ShownLimits) -> Page:
    printed = printed_of(item)
    text = settled(printed.text)
    if is_diff(text):
        return diff_page(text, printed.produced, limits, head=head_of(printed))
    value = _as_json(text)
    if value is not None:  # one line of JSON, cut inside, tells little
        page = json_page(replace(item, value=value), limits)
        return replace(page, produced=printed.produced, caps=Caps(UNLIMITED, limits.output_bytes), head=head_of(printed))
    return page_of(
        folded(text), printed.produced, Caps(UNLIMITED, limits.output_bytes), head=head_of(printed),
        choose=ends_and_telling(item.terms),
    )  # fmt: skip


def _as_json(text: str) -> Json:
    """A list or an object that a command printed on one line too long to be read; else None."""
    if len(text) <= LINE_BYTES or text[:1] not in "[{" or "\n" in text.rstrip():
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def is_printed(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("output"), str))


def printed_of(item: Item) -> Printed:
    value = item.value
    if isinstance(value, str):
        text = encodable(value)
        return Printed(text, size_of(text), item.exit_code, ())
    output, stderr = _text(value.get("output")), _text(value.get("stderr"))
    text = f"{output}{_line_end(output)}stderr:\n{stderr}" if stderr else output
    code = value.get("exit_code", item.exit_code)
    return Printed(text, size_of(output) + size_of(stderr), code if isinstance(code, int) else None, _remarks(value))


def head_of(printed: Printed) -> tuple[str, ...]:
    code = () if printed.exit_code in (0, None) else (f"exit code {printed.exit_code}",)
    told = (*code, *printed.remarks)
    return (", ".join(told),) if told else ()


def _remarks(value: Json) -> tuple[str, ...]:
    told: list[str] = []
    if value.get("timed_out") is True:
        told.append("timed out")
    if isinstance(value.get("signal"), str):
        told.append(f"ended by {encodable(value['signal'])}")
    if value.get("running") is True:
        told.append("still running" + (f", id {encodable(value['id'])}" if isinstance(value.get("id"), str) else ""))
    dropped = value.get("dropped_bytes")
    if isinstance(dropped, int) and dropped > 0:
        told.append(f"{dropped:,} bytes before this are lost")
    if isinstance(value.get("notice"), str) and value["notice"]:
        told.append(encodable(value["notice"]))
    if isinstance(value.get("handle"), str):
        told.append(f"all of it: recall({encodable(value['handle'])})")
    return tuple(part.replace("\n", " ") for part in told)


def ends_and_telling(terms: tuple[str, ...]) -> Choose:
    return partial(_ends_and_telling, terms)


def _ends_and_telling(terms: tuple[str, ...], rows: Rows, room: Room) -> list[Interval]:
    """The ends first, then what tells between them, then more of the ends."""
    told = lines_that_tell(rows.texts, terms)
    share = _TOLD_SHARE if told else 0.0
    return wished(rows, room, _wishes(rows, room, told, share))


def _wishes(rows: Rows, room: Room, told: list[int], share: float) -> list[Interval]:
    lines, spare = room.lines, room.bytes - room.mark
    ends_lines = lines - int(lines * share)
    head = _count(rows, int(spare * (1 - share) * 0.4), int(ends_lines * 0.4))
    tail = _count_back(rows, int(spare * (1 - share) * 0.6), int(ends_lines * 0.6))
    between = [(row, row + 1) for row in told if head <= row < tail]
    return [(0, head), (tail, len(rows)), *between, (_count_back(rows, spare, lines), len(rows)), (0, _count(rows, spare, lines))]


def _count(rows: Rows, spare: int, lines: int) -> int:
    """How many first rows have room."""
    return max(0, min(lines, len(rows), bisect_right(rows.offsets, max(0, spare)) - 1))


def _count_back(rows: Rows, spare: int, lines: int) -> int:
    """From which row on the last ones have room."""
    return min(len(rows), max(0, len(rows) - lines, bisect_left(rows.offsets, rows.offsets[-1] - max(0, spare))))


def _text(value: Json) -> str:
    return encodable(value) if isinstance(value, str) else ""


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"
