"""A session's lines as a file has them: where the good ones end, and where the big values stand that a line brought.

Behind the digest a line may say {"values": {sha256: [frame, end, offset, bytes]}}: places in the file beside it. Neither the
digest nor another store knows them.

What a crash leaves: a last line that is not whole, and, after a power cut, holes of NUL bytes in what was not yet synced. That is
never more than `SYNC_BYTES` and one line. All else that cannot be read is damage, and is never cut off or skipped.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from harness.store.blob_file import Place
from harness.store.given_files import LINE_BYTES_MAX, lines_of, reading
from harness.store.lines import BadLine, Line, read_line

SYNC_BYTES: Final = 64 * 1024  # a writer syncs at least this often within one append
_DIGEST: Final = b',"digest":"'
_BEHIND: Final = len(_DIGEST) + 64 + 1
_VALUES: Final = b',"values":'
_START = re.compile(rb'\{"v":\d+,"seq":(\d{1,16}),"timestamp":"[^"]*","type":"([a-z_]+)"(?:,"turn":(\d{1,10}))?,"payload":')
_BEGINS: Final = b'{"v":'
_PIECE: Final = 1024 * 1024
_PLACE_MAX: Final = 2**53


class Start(NamedTuple):
    """What the beginning of a line tells without reading it all."""

    seq: int
    type: str
    turn: int


def start_of(raw: bytes) -> Start:
    """BadLine for what is no line."""
    match = _START.match(raw)
    if match is None:  # somebody has laid it out differently
        line = read_line(raw)
        return Start(line.seq, line.type, line.turn)
    return Start(int(match[1]), match[2].decode(), int(match[3] or 0))


def written(line: Line, places: Mapping[str, Place]) -> bytes:
    """With its line end."""
    raw = line.to_bytes()
    return (
        raw + b"\n"
        if not places
        else raw[:-1] + _VALUES + orjson.dumps({sha: list(place) for sha, place in places.items()}) + b"}\n"
    )


def places_in(raw: bytes) -> dict[str, Place]:
    """Of the values that this line brought."""
    raw = raw.rstrip()
    behind = raw[raw.rfind(_DIGEST) + _BEHIND :]
    if behind == b"}":
        return {}
    try:
        told = orjson.loads(behind[len(_VALUES) : -1] if behind.startswith(_VALUES) else raw)
        values = told if behind.startswith(_VALUES) else told.get("values", {})
        places = {sha: Place(*(int(number) for number in place)) for sha, place in values.items()}
        return {sha: place for sha, place in places.items() if min(place) >= 0 and max(place) < _PLACE_MAX}
    except (ValueError, TypeError, AttributeError, OverflowError):
        return {}  # the values are then missing where they are asked for


# ---------------------------------------------------------------- the end of a file


@dataclass(frozen=True, slots=True)
class Tail:
    end: int  # of the last good line
    size: int  # of the file
    lines: tuple[bytes, ...]  # some of the last good lines, without line ends; all of them when `start` is 0
    start: int  # where they begin


def tail_of(fd: int) -> Tail:
    """Reads from the end, as little as tells it for certain. BadLine where no line ends in all that one could take."""
    size = os.fstat(fd).st_size
    top = _before_hole(fd, size)
    take = 2 * SYNC_BYTES
    while True:
        start = max(0, top - take)
        data = _read(fd, start, top)
        first = 0 if start == 0 else data.find(b"\n") + 1  # the first whole line in it
        end = _good_end(data, first)
        last = data.rfind(b"\n", 0, max(0, len(data) - 1)) + 1  # where the last piece begins, whole or not
        if start == 0 or (first and last - first >= SYNC_BYTES and end > first):
            lines = data[first:end].split(b"\n")[:-1]
            whole = start + len(data) if top == size else size
            return Tail(end=start + end, size=whole, lines=tuple(lines), start=start + first)
        if take > LINE_BYTES_MAX:
            raise BadLine(f"no whole line in its last {take:,} bytes")
        take *= 4
        if not first:  # looked for without being kept: only then is it read
            take = max(take, top - _line_end_before(fd, start) + SYNC_BYTES)


def _before_hole(fd: int, size: int) -> int:
    """Where the NUL bytes begin that the file ends in; the first of them counts as its end."""
    position = size
    while position > 0:
        start = max(0, position - _PIECE)
        data = _read(fd, start, position).rstrip(b"\0")
        if data:
            return min(size, start + len(data) + 1)
        if size - start > LINE_BYTES_MAX:
            raise BadLine(f"it ends in more than {LINE_BYTES_MAX:,} NUL bytes")
        position = start
    return min(size, 1)


def _line_end_before(fd: int, position: int) -> int:
    """0 where there is none."""
    top = position
    while position > 0:
        start = max(0, position - _PIECE)
        found = _read(fd, start, position).rfind(b"\n")
        if found >= 0:
            return start + found
        if top - start > LINE_BYTES_MAX:
            raise BadLine(f"no line ends in {LINE_BYTES_MAX:,} bytes")
        position = start
    return 0


def is_begun(fd: int) -> bool:
    """Whether the file begins as a session does, be its first line torn. Nothing is cut off from another one."""
    head = os.pread(fd, len(_BEGINS), 0).rstrip(b"\0")
    return _BEGINS.startswith(head)


def _good_end(data: bytes, first: int) -> int:
    hole = data.find(b"\0", first)
    if hole >= 0:
        return data.rfind(b"\n", 0, hole) + 1
    end = data.rfind(b"\n") + 1
    if end < len(data):
        return end
    last = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    return end if _whole(data[last:end]) else last


def _whole(raw: bytes) -> bool:
    """JSON that is no line, or one of a newer format, was not torn: whoever reads it says what is wrong."""
    try:
        orjson.loads(raw)
    except ValueError:
        try:
            json.loads(raw)
        except ValueError:
            return False
        except RecursionError:
            return True
    return True


def _read(fd: int, start: int, end: int) -> bytes:
    parts = []
    while start < end and (part := os.pread(fd, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


# ---------------------------------------------------------------- from the beginning


def raw_lines(path: Path, end: int) -> Iterator[bytes]:
    """Up to this place, with their line ends."""
    with reading(path) as file:
        for raw in lines_of(file) if end > 0 else ():
            yield raw
            end -= len(raw)
            if end <= 0:
                return
