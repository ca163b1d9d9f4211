"""Content-addressed chunks of a text: whole lines, 4 to 8 KB, cut where the content says: an edit changes only nearby ones.

Every line end has a hash of the lines before it. The ends whose hash is the least within 4 KB on both sides are borders wherever
the chunk before them began; on the way to one that is too far, the least hash within reach is the border.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Final
from zlib import crc32

LEAST_BYTES: Final = 4_096
MOST_BYTES: Final = 8_192
ID_BYTES: Final = 16
FILES_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `first_line` to `last_line` (from 1, both included), `bytes` long with their line ends.

    Shorter than 4 KB: the last one, or one before a line that does not fit. Longer than 8 KB: a single line.
    """

    id: str
    first_line: int
    last_line: int
    bytes: int


def chunks_of(text: str) -> tuple[Chunk, ...]:
    lines = _lines(text)
    ends = list(accumulate(map(len, lines)))
    borders = [0, *_borders(lines, ends), len(lines)] if lines else [0]
    return tuple(_chunk(lines, first, last) for first, last in pairwise(borders))


class FileChunks:
    """The chunk ids of lines of files, made when asked for. `text_of` gives a version's text; None: it is not known."""

    def __init__(self, text_of: Callable[[str, str], str | None]) -> None:
        self._text_of = text_of
        self._made: OrderedDict[tuple[str, str], tuple[Chunk, ...]] = OrderedDict()

    def __call__(self, path: str, oid: str, first: int, last: int) -> tuple[str, ...]:
        key = (path, oid)
        if key not in self._made:
            text = self._text_of(path, oid)
            if text is None:
                return ()
            self._made[key] = chunks_of(text)
        self._made.move_to_end(key)
        if len(self._made) > FILES_KEPT:
            self._made.popitem(last=False)
        return _ids(self._made[key], first, last)


def _lines(text: str) -> list[bytes]:
    lines = [line + b"\n" for line in text.encode("utf-8", "surrogatepass").split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _chunk(lines: Sequence[bytes], first: int, last: int) -> Chunk:
    content = b"".join(lines[first:last])
    return Chunk(blake2b(content, digest_size=ID_BYTES).hexdigest(), first + 1, last, len(content))


def _ids(chunks: Sequence[Chunk], first: int, last: int) -> tuple[str, ...]:
    start = bisect_left(chunks, first, key=lambda chunk: chunk.last_line)
    end = bisect_right(chunks, last, key=lambda chunk: chunk.first_line)
    return tuple(chunk.id for chunk in chunks[start:end])


def _borders(lines: Sequence[bytes], ends: Sequence[int]) -> list[int]:
    """How many lines stand before each border. `ends[i]` is the offset behind line i."""
    # Two lines make a hash, as single ones repeat often.
    sums = [crc32(line) for line in lines]
    hashes = [crc32(line, before) for before, line in zip([0, *sums], lines, strict=False)]
    anchors = [ends[at] for at in _least_around(hashes, ends)]
    borders: list[int] = []
    first = start = 0
    while ends[-1] - start > MOST_BYTES:
        at = bisect_left(anchors, start + LEAST_BYTES)
        goal = anchors[at] if at < len(anchors) else ends[-1]
        first = _next_border(first, start, goal=goal, hashes=hashes, ends=ends)
        if first == len(lines):
            break
        borders.append(first)
        start = ends[first - 1]
    return borders


def _next_border(first: int, start: int, *, goal: int, hashes: Sequence[int], ends: Sequence[int]) -> int:
    """At the goal if it is near enough, else so that the rest up to the goal is not too short, else where the sizes allow it."""
    low = bisect_left(ends, start + LEAST_BYTES, first)
    if goal <= start + MOST_BYTES:
        return bisect_left(ends, goal, low) + 1
    for limit in (min(start + MOST_BYTES, goal - LEAST_BYTES), start + MOST_BYTES):
        high = bisect_right(ends, limit, first)
        if low < high:
            return min(range(low, high), key=hashes.__getitem__) + 1
    # The next line does not fit: it begins the next chunk, or is this one.
    return max(low, first + 1)


def _least_around(hashes: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The line ends whose hash is less than all before and not more than all behind, within LEAST_BYTES. No two are nearer."""
    before = [-LEAST_BYTES] * len(ends)  # the nearest end before that has not a greater hash,
    behind = [ends[-1] + LEAST_BYTES] * len(ends)  # and the nearest behind that has a lesser one
    rising: list[int] = []
    for at, value in enumerate(hashes):
        while rising and hashes[rising[-1]] > value:
            behind[rising.pop()] = ends[at]
        if rising:
            before[at] = ends[rising[-1]]
        rising.append(at)
    return [at for at, end in enumerate(ends) if before[at] + LEAST_BYTES <= end <= behind[at] - LEAST_BYTES]
