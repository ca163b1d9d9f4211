"""An error as a value: its name and message, where it happened and the next step stand first; long data is sketched. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.condense.json_sketch import encoded, sketch
from harness.condense.marks import clipped
from harness.condense.page import Caps, Page, size_of
from harness.condense.record import Item, Json
from harness.condense.text import encodable, lines_of, page_of, plain
from harness.limits import ShownLimits

_NAMES = ("code", "name")
_KNOWN = frozenset({
    "code", "name", "message", "hint", "data", "line", "column", "excerpt", "frames", "stack", "retryable", "phase", "origin",
    "cause", "tool", "call",
})  # fmt: skip
_TOLD_FIRST = frozenset({"code", "name", "message", "line", "column", "excerpt", "hint"})
_LINE_BYTES = 2_000


def is_problem(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("message"), str)
        and any(isinstance(value.get(name), str) for name in _NAMES)
        and set(value) <= _KNOWN
    )


def problem_page(item: Item, limits: ShownLimits) -> Page:
    value = item.value
    core = _core(value)
    rest = {name: one for name, one in value.items() if name not in _TOLD_FIRST and one not in (None, "", [], {})}
    lines = [*core, *(line for name, one in rest.items() for line in _told(name, one))]
    page = page_of(plain(lines), size_of(encoded(value)), Caps(limits.shown_value_lines, limits.shown_value_bytes))
    return replace(page, sketch=partial(_shortened, core, rest, item.handle))


def _core(value: Json) -> list[str]:
    name = next(value[name] for name in _NAMES if isinstance(value.get(name), str))
    lines = lines_of(encodable(f"{name}: {value['message']}"))
    if type(value.get("line")) is int and value["line"] > 0:
        lines.append(f"at line {value['line']}" + (f", column {value['column']}" if type(value.get("column")) is int else ""))
    if isinstance(value.get("excerpt"), str):
        lines += lines_of(encodable(value["excerpt"]))
    if isinstance(value.get("hint"), str) and value["hint"]:
        lines += lines_of(encodable(f"next: {value['hint']}"))
    return lines


def _told(name: str, value: Json) -> list[str]:
    return lines_of(encodable(f"{name}: {value}")) if isinstance(value, str) else [f"{name}: {encoded(value)}"]


def _shortened(core: Sequence[str], rest: dict[str, Json], handle: str, caps: Caps) -> tuple[str, ...]:
    """The core line by line while there is room, then a sketch of the rest in what is left."""
    kept: list[str] = []
    room = caps.bytes
    for line in core[: caps.lines]:
        line = clipped(line, min(room - 1, _LINE_BYTES), handle=handle)
        if not line or size_of(line) + 1 > room:
            return tuple(kept)
        kept.append(line)
        room -= size_of(line) + 1
    return (*kept, *(sketch(rest, Caps(caps.lines - len(kept), room - 1)) if rest else ()))
