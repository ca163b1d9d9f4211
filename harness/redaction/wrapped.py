"""Lines that belong together because long base64 or hex was wrapped: joined into one text that knows where each piece stood.

Understands indents, diff and quote marks, line numbers, string literals and line breaks written as `\\n`. Cheap on other text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_LINE_LENGTH = 40  # shorter lines are not what wrapping leaves
_TAIL = 24  # characters without a blank at the end of a wrapped line
_WRITTEN_BREAK = re.compile(r"(?:\\r)?\\n")
_INDENT = re.compile(r"[ \t]*+[\"']?+")
_MARKS = re.compile(r"[ \t]*+(?:[0-9]{1,7}(?:[ \t]*+[:|→-]|[ \t])[ \t]*+)?+[+-]?+(?:[>|#*][ \t]*+)*+[ \t]*+[\"']?+")
_NOISE_AFTER = re.compile(r"(?:[\"'][ \t]*[+,;\\]?|[\\,;])?[ \t\r]*\Z")
_BODY_END = re.compile(r"[A-Za-z0-9+/_=%-]{24}\Z")


@dataclass(frozen=True, slots=True)
class Block:
    text: str
    pieces: tuple[tuple[int, int], ...]  # where they stand in the whole text

    def places(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where characters `start` to `end` of this block stand in the whole text, piece by piece."""
        begins = [0, *accumulate(last - first for first, last in self.pieces)]
        at = bisect_right(begins, start) - 1
        while at < len(self.pieces) and begins[at] < end:
            first, last = self.pieces[at]
            begin, stop = first + max(0, start - begins[at]), min(last, first + end - begins[at])
            if begin < stop:
                yield begin, stop
            at += 1


def joined_blocks(text: str) -> Iterator[Block]:
    marked: list[tuple[int, int]] = []  # line numbers and marks of diffs are not part of the body
    plain: list[tuple[int, int]] = []  # they are: 9, + and - are characters of base64 too
    goes_on = False
    for start, end in _lines(text):
        if not goes_on and (end - start < _LINE_LENGTH or " " in text[end - _TAIL : end - 4]):
            continue
        after = _NOISE_AFTER.search(text, max(start, end - 8), end)
        stop = after.start() if after else end
        if goes_on:
            marked.append((_after(_MARKS, text, (start, stop)), stop))
            plain.append((_after(_INDENT, text, (start, stop)), stop))
        went_on = goes_on
        goes_on = stop - start >= _LINE_LENGTH and _BODY_END.search(text, max(start, stop - _TAIL), stop) is not None
        if went_on and not goes_on:
            yield from _blocks(text, marked, plain)
        elif goes_on and not went_on:
            marked, plain = [(start, stop)], [(start, stop)]
    if goes_on and len(marked) > 1:
        yield from _blocks(text, marked, plain)


def _after(noise: re.Pattern[str], text: str, line: tuple[int, int]) -> int:
    found = noise.match(text, *line)
    return found.end() if found else line[0]


def _blocks(text: str, marked: list[tuple[int, int]], plain: list[tuple[int, int]]) -> Iterator[Block]:
    for pieces in [marked] if marked == plain else [marked, plain]:
        yield Block("".join(text[first:last] for first, last in pieces), tuple(pieces))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    written = "\\n" in text
    for line in text.split("\n"):
        end = at + len(line)
        if written and len(line) > _LINE_LENGTH and "\\n" in line:
            for found in _WRITTEN_BREAK.finditer(text, at, end):
                yield at, found.start()
                at = found.end()
        yield at, end
        at = end + 1
