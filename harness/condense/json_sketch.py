"""A JSON value: whole when it fits, one item a line; else a sketch that keeps its shape. Pure.

The sketch has keys, kinds and counts, the first items, those that differ from the others, ranges of numbers, how often values
stand there; long texts are cut and say how long they are. It is made with less and less detail until it fits.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import orjson

from harness.condense.blocks import blocks_page, texts_in, without
from harness.condense.fit import ends
from harness.condense.json_shape import different, facts
from harness.condense.page import Caps, Page, size_of, size_of_lines
from harness.condense.record import Item, Json
from harness.condense.text import encodable
from harness.limits import ShownLimits

_WIDTH = 120  # characters of a line that holds a whole value
_LARGE = 262_144  # bytes above which a value is sketched at once
_DEEPEST = 40  # levels that are broken into lines
_FACTS_FROM = 12  # items


@dataclass(frozen=True, slots=True)
class Detail:
    items: int  # of a list; twice as many members of an object
    characters: int  # of a text
    depth: int


_DETAILS = (
    Detail(40, 400, 6), Detail(20, 200, 5), Detail(10, 120, 5), Detail(6, 80, 4), Detail(4, 60, 4), Detail(3, 40, 3),
    Detail(2, 30, 3), Detail(1, 20, 2), Detail(1, 10, 1),
)  # fmt: skip


def json_page(item: Item, limits: ShownLimits) -> Page:
    compact = encoded(item.value)
    produced = size_of(compact)
    texts = texts_in(item.value, len(compact))
    if texts:
        return blocks_page(list(_pretty(without(item.value, texts), 0, "")), texts, produced, limits)
    lines = [compact] if produced <= _WIDTH or produced > _LARGE else list(_pretty(item.value, 0, ""))
    return Page(
        lines=lines, gap=_gap, gap_bytes=40, produced=produced, choose=ends, sketch=partial(sketch, item.value),
        caps=Caps(limits.shown_value_lines, limits.shown_value_bytes),
    )  # fmt: skip


def encoded(value: Json) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits, more depth than it takes, lone surrogates
        return encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def sketch(value: Json, caps: Caps) -> tuple[str, ...]:
    for detail in _DETAILS:
        lines = tuple(_sketched(value, 0, "", detail))
        if size_of_lines(lines) <= caps.bytes and len(lines) <= caps.lines:
            return lines
    return ()


def _gap(first: int, last: int) -> str:
    return f"{last - first + 1:,} lines of JSON cut"


def _pretty(value: Json, depth: int, key: str, *, comma: str = "") -> Iterator[str]:
    indent = "  " * depth
    compact = encoded(value)
    if (
        len(compact) + len(indent) + len(key) + len(comma) <= _WIDTH
        or not value
        or not isinstance(value, list | dict)
        or depth > _DEEPEST
    ):
        yield f"{indent}{key}{compact}{comma}"
        return
    opened, closed = "[]" if isinstance(value, list) else "{}"
    yield f"{indent}{key}{opened}"
    members = [("", one) for one in value] if isinstance(value, list) else [(f"{encoded(name)}: ", value[name]) for name in value]
    for at, (name, one) in enumerate(members, 1):
        yield from _pretty(one, depth + 1, name, comma="," if at < len(members) else "")
    yield f"{indent}{closed}{comma}"


def _sketched(value: Json, level: int, key: str, detail: Detail) -> Iterator[str]:
    indent = "  " * level
    if isinstance(value, str):
        yield f"{indent}{key}{_string(value, detail.characters)}"
    elif not isinstance(value, list | dict) or not value:
        yield f"{indent}{key}{encoded(value)[: max(20, detail.characters)]}"
    elif (compact := _small(value, detail.characters)) is not None:
        yield f"{indent}{key}{compact}"
    elif isinstance(value, dict):
        yield f"{indent}{key}{{{len(value)} keys}}"
        if level < detail.depth:
            yield from _members(value, level + 1, detail)
    else:
        yield f"{indent}{key}[{len(value)} items]"
        if level < detail.depth:
            yield from _items(value, level + 1, detail)


def _members(value: dict[str, Json], level: int, detail: Detail) -> Iterator[str]:
    most = detail.items * 2
    inner = Detail(max(1, detail.items // 2), detail.characters, detail.depth)
    for name, one in list(value.items())[:most]:
        yield from _sketched(one, level, f"{_string(name, 60)}: ", inner)
    if len(value) > most:
        names = ", ".join(encodable(name)[:30] for name in list(value)[most : most + detail.items])
        yield f"{'  ' * level}… {len(value) - most:,} more: {names}".replace("\n", "\\n")


def _items(value: list[Json], level: int, detail: Detail) -> Iterator[str]:
    indent = "  " * level
    inner = Detail(max(1, detail.items // 2), detail.characters, detail.depth)
    first = value[: detail.items]
    if any(isinstance(one, list | dict | str) for one in first):
        for one in first:
            yield from _sketched(one, level, "", inner)
    else:
        yield f"{indent}{', '.join(map(encoded, first))}"
    if len(value) <= detail.items:
        return
    yield f"{indent}… {len(value) - detail.items:,} more"
    for at in different(value):
        if at >= detail.items:
            yield from _sketched(value[at], level, f"differs, item {at}: ", inner)
    if len(value) >= _FACTS_FROM and detail.depth > 1:
        yield from (f"{indent}{encodable(fact)}".replace("\n", "\\n") for fact in facts(value))


def _small(value: Json, characters: int) -> str | None:
    """The whole of it when it is short; a large one is not encoded to find that out."""
    if len(value) > characters // 2:
        return None
    compact = encoded(value) if all(not isinstance(one, list | dict) or len(one) < 8 for one in _values(value)) else ""
    return compact if compact and len(compact) <= characters else None


def _values(value: Json) -> Iterator[Json]:
    yield from value.values() if isinstance(value, dict) else value


def _string(value: str, characters: int) -> str:
    if len(value) <= characters:
        return encoded(value)
    return f"{encoded(value[:characters])}… ({len(value):,} characters)"
