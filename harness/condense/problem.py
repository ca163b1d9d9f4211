"""An error as a value: its name and message, where it happened and the next step stand first; its data is sketched below. Pure."""

from functools import partial

from harness.condense.fit import wished
from harness.condense.json_sketch import encoded, sketch
from harness.condense.page import Caps, Interval, Page, Room, Rows, size_of
from harness.condense.record import Item, Json
from harness.condense.text import encodable, lines_of, page_of, plain
from harness.limits import ShownLimits

_NAMES = ("code", "name")
_KNOWN = frozenset({
    "code", "name", "message", "hint", "data", "line", "column", "excerpt", "frames", "stack", "retryable", "phase", "origin",
    "cause", "tool", "call",
})  # fmt: skip
_DATA_BYTES = 2_048


def is_problem(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("message"), str)
        and any(isinstance(value.get(name), str) for name in _NAMES)
        and set(value) <= _KNOWN
    )


def problem_page(item: Item, limits: ShownLimits) -> Page:
    value = item.value
    lines = lines_of(encodable(f"{next(value[name] for name in _NAMES if isinstance(value.get(name), str))}: {value['message']}"))
    if type(value.get("line")) is int and value["line"] > 0:
        lines.append(f"at line {value['line']}" + (f", column {value['column']}" if type(value.get("column")) is int else ""))
    if isinstance(value.get("excerpt"), str):
        lines += lines_of(encodable(value["excerpt"]))
    if isinstance(value.get("hint"), str) and value["hint"]:
        lines += lines_of(encodable(f"next: {value['hint']}"))
    first = len(lines)
    for name, one in value.items():
        if name not in {*_NAMES, "message", "line", "column", "excerpt", "hint"} and one not in (None, "", [], {}):
            lines += _told(name, one)
    caps = Caps(limits.shown_value_lines, limits.shown_value_bytes)
    return page_of(plain(lines), size_of(encoded(value)), caps, choose=partial(_first, first))


def _told(name: str, value: Json) -> list[str]:
    if isinstance(value, str):
        return lines_of(encodable(f"{name}: {value}"))
    compact = encoded(value)
    if len(compact) <= _DATA_BYTES:
        return [f"{name}: {compact}"]
    return [f"{name}, sketched:", *sketch(value, _DATA_BYTES)]


def _first(count: int, rows: Rows, room: Room) -> list[Interval]:
    """The begin before all; then as much as has room."""
    return wished(rows, room, [(0, 1), (0, min(count, len(rows))), (0, len(rows))])
