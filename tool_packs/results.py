"""Read back what was too much to show: whole values behind handles, in parts, by pointer or by search.

A text is read by lines, a list by items, an object by members; `pointer` goes inside first, as /files/0/path or files[0].path.
"""

from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, Results, ToolProblem, tool
from tool_packs.linear_regex import matching_lines
from tool_packs.value_parts import Kind, kind_of, leaves, lines_of, reach, sketch

LIMIT_MAX = 100_000
CHARS_MAX = 4 * 1024 * 1024  # of one read: a result into a script may have 16 MiB
HITS_MAX = 1_000
CONTEXT_MAX = 20
LINE_CHARS_MAX = 2_000  # of a hit's line


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Kind
    value: Any = Field(description="lines as one text, items as a list, members as an object, or the value itself")
    offset: int = Field(description="the first line, item or member given, from 1")
    count: int = Field(description="how many are given")
    total: int = Field(description="how many there are")
    more: bool = Field(description="go on with offset + count")


class Match(BaseModel):
    model_config = ConfigDict(frozen=True)

    pointer: str = Field(description="where in a JSON value; empty for a text")
    line: int
    text: str
    before: list[str]
    after: list[str]


class Matches(BaseModel):
    model_config = ConfigDict(frozen=True)

    matches: list[Match]
    total: int = Field(description="matching lines in all")
    more: bool


class Description(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Kind
    bytes: int = Field(description="as JSON")
    total: int = Field(description="lines of a text, items of a list, members of an object; 1 for the rest")
    shape: str = Field(description="a sketch of what is inside")


async def open(settings: None, host: Host) -> Results:
    return host.results


@tool(effect="reads", reads=["result:{handle}"])
async def read(results: Results, handle: str, *, offset: int = 1, limit: int = 2_000, pointer: str | None = None) -> Part:
    """Read a kept value or a part of it: lines of a text, items of a list, members of an object.

    Args:
        handle: as it was given where something was cut.
        offset: the first line, item or member, from 1.
        limit: how many.
        pointer: the part inside a JSON value, as /files/0/path or files[0].path.
    """
    if offset < 1 or not 1 <= limit <= LIMIT_MAX:
        raise ToolProblem(
            "bad_argument", f"offset is {offset} and limit {limit}", hint=f"offset is at least 1, limit from 1 to {LIMIT_MAX:,}"
        )
    value = reach(results.get(handle), pointer)
    kind = kind_of(value)
    if kind not in ("text", "list", "object"):
        return Part(kind=kind, value=value, offset=1, count=1, total=1, more=False)
    whole: list[Any] = lines_of(value) if isinstance(value, str) else list(value.items()) if isinstance(value, dict) else value
    if offset > max(1, len(whole)):
        what = {"text": "lines", "list": "items", "object": "members"}[kind]
        raise ToolProblem(
            "past_the_end", f"offset is {offset:,}, but there are {len(whole):,} {what}", hint="give a smaller offset"
        )
    part = _within(whole[offset - 1 : offset - 1 + limit], CHARS_MAX)
    made: Any = "\n".join(part) if isinstance(value, str) else dict(part) if isinstance(value, dict) else part
    return Part(kind=kind, value=made, offset=offset, count=len(part), total=len(whole), more=offset - 1 + len(part) < len(whole))


@tool(effect="reads", reads=["result:{handle}"], shape="hits")
async def search(
    results: Results,
    handle: str,
    pattern: str,
    *,
    pointer: str | None = None,
    literal: bool = False,
    ignore_case: bool = False,
    context: int = 0,
    limit: int = 100,
) -> Matches:
    """Find the lines of a kept value that match a regular expression; in JSON, its texts and numbers as key: value.

    Args:
        handle: as it was given where something was cut.
        pattern: a regular expression as ripgrep takes it: no look-around, no back-references.
        pointer: search only this part of a JSON value.
        literal: pattern is plain text.
        ignore_case: A matches a.
        context: how many lines before and after each match, up to 20; for texts only.
        limit: the most matches to give, up to 1,000.
    """
    if not pattern or not 0 <= context <= CONTEXT_MAX or not 1 <= limit <= HITS_MAX:
        raise ToolProblem(
            "bad_argument",
            f"pattern has {len(pattern)} characters, context is {context}, limit {limit}",
            hint=f"give a pattern, context from 0 to {CONTEXT_MAX}, limit from 1 to {HITS_MAX:,}",
        )
    value = reach(results.get(handle), pointer)
    if isinstance(value, str):
        rows = [("", number, line) for number, line in enumerate(lines_of(value), 1)]
    else:
        rows, context = leaves(value), 0
    found = await matching_lines([text for _, _, text in rows], pattern, literal=literal, ignore_case=ignore_case)
    matches = [
        Match(
            pointer=rows[at][0],
            line=rows[at][1],
            text=_short(rows[at][2]),
            before=[_short(row[2]) for row in rows[max(0, at - context) : at]],
            after=[_short(row[2]) for row in rows[at + 1 : at + 1 + context]],
        )
        for at in found[:limit]
    ]
    return Matches(matches=matches, total=len(found), more=len(found) > limit)


@tool(effect="reads", reads=["result:{handle}"])
async def describe(results: Results, handle: str) -> Description:
    """Say what a kept value is: its kind, its size, and a sketch of what is inside.

    Args:
        handle: as it was given where something was cut.
    """
    value = results.get(handle)
    total = len(lines_of(value)) if isinstance(value, str) else len(value) if isinstance(value, list | dict) else 1
    return Description(kind=kind_of(value), bytes=len(orjson.dumps(value)), total=total, shape=sketch(value))


def _within(part: list[Any], chars: int) -> list[Any]:
    """As many as have room together, and at least one."""
    size = 0
    for count, one in enumerate(part):
        size += len(one) + 1 if isinstance(one, str) else len(orjson.dumps(one))
        if size > chars and count:
            return part[:count]
    return part


def _short(line: str) -> str:
    return line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}… ({len(line):,} characters)"
