"""Lines of a text as a result: which were asked for, which there are, their exact text. Pure.

A `Slice` is one shape for every reading: `text` has the lines whole, "\\n" between them and none at the end; `lines` says which
they are, one [first, last] for each unbroken run; `parts` has the runs one by one when there are several, else it is empty.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from catalog import ToolProblem
from tool_packs.decode import Newline

Range: TypeAlias = tuple[int, int]

_RANGES_MOST = 1_000


class Part(BaseModel):
    """One unbroken run of lines."""

    model_config = ConfigDict(frozen=True)

    first: int
    last: int
    text: str


class Slice(BaseModel):
    """Lines of a file. `text` has "\\n" between lines whatever the file has; `newline` says what that is."""

    model_config = ConfigDict(frozen=True)

    path: str
    lines: list[Range]
    total_lines: int
    text: str
    more: bool  # are there lines after the last one given?
    parts: list[Part] = []
    oid: str  # git's id of the whole content
    bytes: int  # of the whole file
    encoding: str
    guessed: bool = False  # the encoding is a guess
    newline: Newline
    final_newline: bool
    kind: Literal["slice"] = "slice"


def split_lines(text: str) -> list[str]:
    """A line ends with "\\n"; what follows the last one is a line only if something is there."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def page(offset: int, limit: int) -> list[Range]:
    _at_least_one("offset", offset)
    _at_least_one("limit", limit)
    return [(offset, offset + limit - 1)]


def merged(ranges: Sequence[Range]) -> list[Range]:
    """Reversed ones turned round, sorted, those that touch or overlap made one."""
    if not ranges:
        raise ToolProblem("bad_range", "ranges is an empty list", hint="give [[first, last], …], or leave it out")
    if len(ranges) > _RANGES_MOST:
        said = f"ranges has {len(ranges):,} ranges; {_RANGES_MOST:,} is the most"
        raise ToolProblem("bad_range", said, hint="read the whole file and pick lines from its text")
    found: list[Range] = []
    for first, last in sorted((min(pair), max(pair)) for pair in ranges):
        _at_least_one("a range's first line", first)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def clamped(ranges: Sequence[Range], total: int, path: str) -> list[Range]:
    """Within the file. A whole file that is empty has no lines; a range that begins past the end is a mistake worth telling."""
    if total == 0 and ranges[0][0] == 1:
        return []
    for first, _ in ranges:
        if first > total:
            raise past_end(first, total, path)
    return [(first, min(last, total)) for first, last in ranges]


def past_end(line: int, total: int, path: str) -> ToolProblem:
    has = "is empty" if total == 0 else f"has {total:,} line{'s' if total > 1 else ''}"
    hint = "there is nothing to read" if total == 0 else f"ask for lines 1 to {total:,}"
    return ToolProblem("past_end", f"{path} {has}; line {line:,} is past the end", hint=hint, data={"total_lines": total})


def parts_of(lines: Sequence[str], ranges: Sequence[Range]) -> list[Part]:
    return [Part(first=first, last=last, text="\n".join(lines[first - 1 : last])) for first, last in ranges]


def text_too_large(size: int, most: int, path: str) -> ToolProblem:
    said = f"these lines of {path} hold {size:,} bytes; {most:,} is the most in one result"
    return ToolProblem("too_large", said, hint="ask for fewer lines at a time", data={"bytes": size, "most_bytes": most})


def _at_least_one(what: str, given: int) -> None:
    if given < 1:
        raise ToolProblem("bad_range", f"{what} is {given:,}; 1 is the least", hint="lines are counted from 1")
