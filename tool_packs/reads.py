"""Which lines of a command's output are which lines of a file. Pure. Rule: a line number is told only when it is certain.

Several files in a row are told apart by what echo or printf put between them, by the numbers on the lines, or by their counts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from tool_packs.read_parts import Part, Stretch, parts_of
from tool_packs.read_ranges import Range

_NUMBER = re.compile(r"\s*(\d+)(?:\t|: ?|\s{2}|→| \| ?)")


class FileRead(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str = Field(description="as the command names it, from the folder that shell.run was called in")
    first: int | None = Field(description="the number of the first of these lines in the file; null when that is not certain")
    at: int = Field(description="where they stand: from this line of the output on, counted from 0")
    lines: int = Field(description="how many; when it is not certain, the lines of other files are among them")
    numbered: bool = Field(description="each line has its number in front")


def reads_of(command: str | Sequence[str], output: str) -> list[FileRead]:
    """Where lines of files stand in the output of the command."""
    parts = parts_of(command)
    lines = output.split("\n")
    if lines[-1] == "":
        lines.pop()
    found: list[FileRead] = []
    for group, start, end in _groups(parts, lines):
        found += _placed(group, lines, start, end)
    return found


def _groups(parts: Sequence[Part], lines: list[str]) -> Iterator[tuple[list[Stretch], int, int]]:
    """The stretches between two separators, and the lines of the output that are theirs.

    A separator is found when the rest of the output has as many of it as the rest of the command; else the rest is one group."""
    group: list[Stretch] = []
    start = 0
    for index, part in enumerate(parts):
        if isinstance(part, Stretch):
            group.append(part)
            continue
        size = len(part.lines)
        places = [at for at in range(start, len(lines) - size + 1) if tuple(lines[at : at + size]) == part.lines]
        if len(places) != parts[index:].count(part):
            yield [*group, *(replace(rest, range=None) for rest in parts[index:] if isinstance(rest, Stretch))], start, len(lines)
            return
        yield group, start, places[0]
        group, start = [], places[0] + size
    yield group, start, len(lines)


def _placed(group: list[Stretch], lines: list[str], start: int, end: int) -> Iterator[FileRead]:
    counts = _counts(group, end - start)
    if not counts and end > start:
        yield from (
            FileRead(path=stretch.path, first=None, at=start, lines=end - start, numbered=stretch.numbered) for stretch in group
        )
    at = start
    for stretch, count in zip(group, counts, strict=False):
        if stretch.numbered and (found := list(_numbered(stretch, lines, at, at + count))):
            yield from found
        elif count:
            first = None if stretch.range is None or stretch.numbered else stretch.range.first
            yield FileRead(path=stretch.path, first=first, at=at, lines=count, numbered=stretch.numbered)
        at += count


def _counts(group: list[Stretch], total: int) -> list[int]:
    """How many lines each stretch printed; nothing when that is not certain. Of several files only that all came whole is."""
    if len(group) == 1:
        return [total]
    ranges = [stretch.range for stretch in group if stretch.range is not None]
    if not group or len(ranges) < len(group):
        return []
    if len({stretch.path for stretch in group}) > 1:
        sizes = [part.size or 0 for part in ranges]
        return sizes if all(part.last is not None for part in ranges) and sum(sizes) == total else []
    # Each count rises with the file's length, so only one split has this sum.
    length = bisect_left(range(max(part.first for part in ranges) + total), total, key=lambda end: sum(_upto(ranges, end)))
    return counts if sum(counts := _upto(ranges, length)) == total else []


def _upto(ranges: list[Range], end: int) -> list[int]:
    """How many lines of each range a file of so many lines has."""
    return [max(min(end, end if part.last is None else part.last) - part.first + 1, 0) for part in ranges]


def _numbered(stretch: Stretch, lines: list[str], start: int, end: int) -> Iterator[FileRead]:
    """The numbers on the lines say it better than the command."""
    at = start
    while at < end:
        found = _NUMBER.match(lines[at])
        if found is None:
            return
        first, begin = int(found[1]), at
        while at < end and (found := _NUMBER.match(lines[at])) is not None and int(found[1]) == first + at - begin:
            at += 1
        yield FileRead(path=stretch.path, first=first, at=begin, lines=at - begin, numbered=True)
