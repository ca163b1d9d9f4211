"""The block of code around a line, by indentation alone, so that it works for every language. Pure.

A block is bounded by lines that are indented less than, or as little as, the line it hangs from. A tab is 4 columns; a blank
line is indented like the one before it. Lines that open, close or continue a block (`{`, `}`, `end`, `else:`) belong to it.
"""

import re
from collections.abc import Sequence

_TAB = 4
_CONTINUES = re.compile(r"[)\]}{]|(?:end|else|elif|elsif|elseif|except|finally|catch|rescue|ensure|fi|done|esac)\b")
_ABOVE = re.compile(r"#|//|--|/\*|\*|@")  # comments and decorators: a header above the first line of a block


def block_around(lines: Sequence[str], anchor: int, *, levels: int, siblings: bool, header: bool, limit: int) -> tuple[int, int]:
    """First and last index of the block around `anchor` (indexes from 0), at most `limit` lines.

    levels: how many enclosing blocks to go out; 0 is the whole file. siblings: also the blocks beside it, at the same
    indentation. header: also comments and decorators right above.
    """
    if levels == 0:
        return _window(0, len(lines) - 1, anchor, limit)
    indents = _indents(lines)
    least = _outward(lines, indents, anchor, levels)
    if siblings:
        first, last = anchor, anchor
        while first > 0 and indents[first - 1] >= least:
            first -= 1
        while last + 1 < len(lines) and indents[last + 1] >= least:
            last += 1
    else:
        first = _up(lines, indents, anchor, least)
        last = _down(lines, indents, anchor, least)
    if header:
        while first > 0 and indents[first - 1] == indents[first] and _ABOVE.match(lines[first - 1].lstrip()):
            first -= 1
    while first < anchor and not lines[first].strip():
        first += 1
    while last > anchor and not lines[last].strip():
        last -= 1
    return _window(first, last, anchor, limit)


def _indents(lines: Sequence[str]) -> list[int]:
    found, previous = [], 0
    for line in lines:
        bare = line.lstrip()
        if bare:
            blank = line[: len(line) - len(bare)]
            previous = len(blank.expandtabs(_TAB)) if "\t" in blank else len(blank)
        found.append(previous)
    return found


def _outward(lines: Sequence[str], indents: list[int], anchor: int, levels: int) -> int:
    """The indentation of the line that the block hangs from: `levels` steps out, or as far as it goes."""
    least, at = indents[anchor], anchor
    for _ in range(levels):
        while at >= 0 and (indents[at] >= least or not lines[at].strip()):
            at -= 1
        if at < 0:
            break
        least = indents[at]
    return least


def _up(lines: Sequence[str], indents: list[int], anchor: int, least: int) -> int:
    """The line that the block hangs from: the first so little indented that neither closes nor continues something."""
    at = anchor
    while at > 0:
        if indents[at] <= least and lines[at].strip() and not _CONTINUES.match(lines[at].lstrip()):
            break
        if indents[at - 1] < least:
            break
        at -= 1
    return at


def _down(lines: Sequence[str], indents: list[int], anchor: int, least: int) -> int:
    at = anchor
    while at + 1 < len(lines):
        below = lines[at + 1]
        if indents[at + 1] < least or (indents[at + 1] == least and below.strip() and not _CONTINUES.match(below.lstrip())):
            break
        at += 1
    return at


def _window(first: int, last: int, anchor: int, limit: int) -> tuple[int, int]:
    """At most `limit` lines, the anchor in the middle where there is room on both sides."""
    if last - first < limit:
        return first, last
    start = min(max(first, anchor - limit // 2), last - limit + 1)
    return start, start + limit - 1
