"""From the bytes of a file to its records, one after the other: JSON values, and what is no JSON as text.

A line is a record, but several values glued on one line are several, and a value laid out over many lines is one. A file is
read as a stream unless it is one such value. What would not come back from a store as it was (NaN, a number beyond 64 bits,
nesting beyond 200) is kept as text too.
"""

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

import orjson
import zstandard

from harness.rollouts.errors import NotARollout, RolloutError
from harness.store.given_files import reading
from sandbox.limits import MIB

VALUE_BYTES_MAX: Final = 256 * MIB  # one record, and one document: read at once, it takes some times as much memory
_HEAD_LINES = 20  # of which one must be JSON, else the file is taken for one value laid out over lines
_BOM = b"\xef\xbb\xbf"
_DEEP = 200
_MANY_DIGITS = re.compile(rb"\d{19}")
_SPACE = re.compile(r"[\s\x00]*")  # a disk that lost power leaves NULs
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNPACKED_BYTES = 64 * MIB  # up to here nobody asks how small a file was
_UNPACKED_TIMES = 200  # sessions shrink to a tenth, at most to a fiftieth

Unread: TypeAlias = Literal["", "text", "bytes"]
UNREAD: Final = ("text", "bytes")  # as kinds of items


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """`unread`: why there is a text instead of a value: it is no JSON, or (as Latin-1) not even UTF-8."""

    line: int  # where it begins, from 1
    done: int  # bytes of the file that are read by then
    value: Any = None
    text: str | None = None
    unread: Unread = ""


def records_of(path: Path, *, value_bytes_max: int = VALUE_BYTES_MAX) -> Iterator[Record]:
    """RolloutError for an empty file, one of bytes, one that breaks off inside its compression, and a record above the limit."""
    with _opened(path) as (stream, file):
        lines = _lines(stream, file, path, value_bytes_max)
        head: list[_Line] = []
        for line in lines:
            head.append(line)
            if len(head) == _HEAD_LINES or _is_json(line.data):
                break
        if not head:
            raise NotARollout(f"{path}: the file is empty")
        if b"\0" in head[0].data[:512] and not _is_json(head[0].data):
            raise NotARollout(f"{path}: a file of bytes, not of text")
        if not _is_json(head[-1].data):
            whole = _whole(head, lines, path, value_bytes_max)
            found = list(_values(whole))
            if found[0].unread == "":
                yield from found
                return
            lines = iter(_split(whole))
            head = []
        for line in head:
            yield from _values(line)
        for line in lines:
            yield from _values(line)


def content_digest(path: Path) -> str:
    """The sha256 of what stands in a file, however it is compressed."""
    digest = hashlib.sha256()
    with _opened(path) as (stream, _):
        while data := stream.read(MIB):
            digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    data: bytes
    done: int


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The bytes, and the file behind them, whose position tells how far they are."""
    with reading(path, links=True) as file:
        magic = file.read(4)
        file.seek(0)
        try:
            if magic.startswith(_GZIP):
                yield io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=file), file, path)), file
            elif magic == _ZSTD:
                unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
                yield io.BufferedReader(_Unpacked(unpacked, file, path)), file
            else:
                yield file, file
        except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            raise RolloutError(
                f"{path}: the compressed file is damaged or breaks off: {error}; unpack what can be saved"
            ) from None


class _Unpacked(io.RawIOBase):
    """What a compressed file holds, as long as it is not made of next to nothing."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, file: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._file = file
        self._path = path
        self._bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._bytes += len(data)
        if self._bytes > max(_UNPACKED_BYTES, _UNPACKED_TIMES * self._file.tell()):
            raise RolloutError(
                f"{self._path}: it unpacks to more than {_UNPACKED_TIMES} times its size; unpack it first if you trust it"
            )
        buffer[: len(data)] = data
        return len(data)


def _lines(stream: IO[bytes], file: IO[bytes], path: Path, most: int) -> Iterator[_Line]:
    """Without empty ones, and without their ends."""
    number = 0
    while data := stream.readline(most + 1):
        number += 1
        if len(data) > most and not data.endswith(b"\n"):
            raise RolloutError(f"{path}, line {number}: a record above {most:,} bytes; raise value_bytes_max to read it")
        data = data.removeprefix(_BOM) if number == 1 else data
        if not data.isspace() and data:
            yield _Line(number, data.rstrip(b"\r\n"), file.tell())


def _whole(head: list[_Line], rest: Iterator[_Line], path: Path, most: int) -> _Line:
    parts, size, done = [], 0, 0
    for line in [*head, *rest]:
        parts.append(line.data)
        size += len(line.data) + 1
        done = line.done
        if size > most:
            raise RolloutError(f"{path}: no line is JSON by itself, and as one value it is above {most:,} bytes")
    return _Line(head[0].number, b"\n".join(parts), done)


def _split(whole: _Line) -> Iterator[_Line]:
    for number, data in enumerate(whole.data.split(b"\n"), whole.number):
        yield _Line(number, data, whole.done)


def _is_json(data: bytes) -> bool:
    """An object or a list by itself, or several glued."""
    try:
        return isinstance(orjson.loads(data), dict | list)
    except ValueError:
        pass
    first = next(_values(_Line(0, data, 0)))
    return isinstance(first.value, dict | list)


def _values(line: _Line) -> Iterator[Record]:
    """All that stands in these bytes: values as long as there are, and the rest as text."""
    value = _quick(line.data)
    if value is not _NONE:
        yield Record(line=line.number, done=line.done, value=value)
        return
    try:
        text = line.data.decode()
    except UnicodeDecodeError:
        yield Record(line=line.number, done=line.done, text=line.data.decode("latin-1"), unread="bytes")
        return
    start = _behind_space(text, 0)
    while start < len(text):
        value, end = _decoded(text, start)
        if value is _NONE:
            yield Record(line=line.number, done=line.done, text=text[start:end], unread="text")
        else:
            yield Record(line=line.number, done=line.done, value=value)
        start = _behind_space(text, end)


def _behind_space(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """An object or a list that stands here, and where it ends; what is none goes to the end of the text."""
    if text[start] not in "{[":
        return _NONE, len(text)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _NONE, len(text)
    return (value if _comes_back(value) else _NONE), end


_NONE: Final = object()


def _quick(data: bytes) -> Any:
    """Nearly every line. orjson reads a number beyond 64 bits as a float, and writes nothing that is nested too deep."""
    if _MANY_DIGITS.search(data):
        return _NONE
    try:
        value = orjson.loads(data)
        orjson.dumps({"payload": {"raw": [value]}})
    except (ValueError, TypeError):
        return _NONE
    return value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _finite(word: str) -> float:
    number = float(word)
    return number if abs(number) != float("inf") else _no_number(word)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def _comes_back(value: Any) -> bool:
    waiting = [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, dict):
            if any(not name.isascii() and not _encodes(name) for name in one):
                return False
            waiting += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            waiting += [(inner, depth + 1) for inner in one]
        elif isinstance(one, int) and not -(2**63) <= one < 2**64:
            return False
        if depth > _DEEP:
            return False
    return True


def _encodes(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
