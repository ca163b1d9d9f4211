"""Big values of one session in one file beside its lines: zstd frames, one behind the other, only ever appended to.

A frame is one compressed stream over many values, flushed after every append, so later values are told by what they share with
earlier ones. Where a value stands (`Place`) is written in the line that brought it: nothing but lines leads here, and bytes that
a crash left behind are never read. A new frame begins after `FRAME_BYTES` and at every reopen. A frame is decoded only as far
as a place says, so one that would decode to a terabyte is not.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import zstandard

from harness.store.given_files import open_given, reading
from harness.store.jsonl_disk import Disk, sync_folder, write_all
from harness.store.lines import MissingValue

FRAME_BYTES: Final = 1024 * 1024  # of content; what has to be decoded for one value
CACHE_BYTES: Final = 8 * 1024 * 1024  # of decoded frames that a reader keeps
_VALUE_BYTES_MAX: Final = 512 * 1024 * 1024
_PIECE: Final = 1024  # of a frame, decoded at once: four bytes of zstd can stand for 128 KiB
_LEVEL: Final = 3


class Place(NamedTuple):
    frame: int  # where its frame begins in the file
    end: int  # up to where the file is needed
    offset: int  # in what the frame decodes to
    bytes: int


class BlobFile:
    """For the writer of a session. After an OSError it must not be used again: what was written in vain is cut off."""

    def __init__(self, path: Path, *, disk: Disk, sync: bool) -> None:
        self._path = path
        self._disk = disk
        self._sync = sync
        self._fd = -1
        self._size = 0
        self._frame = 0
        self._raw = 0
        self._stream: zstandard.ZstdCompressionObj | None = None

    def add(self, values: Mapping[str, bytes]) -> dict[str, Place]:
        """When it returns they are kept; a line may refer to them."""
        if self._fd < 0:
            self._open()
        where: dict[str, tuple[int, int, int]] = {}
        data = bytearray()
        ends: dict[int, int] = {}  # of frames, as far as they go now
        for sha, content in values.items():
            if len(content) >= FRAME_BYTES:
                data += self._finished()  # so that nobody decodes a big one for the sake of a small one
            stream = self._streaming(self._size + len(data))
            where[sha] = (self._frame, self._raw, len(content))
            data += stream.compress(content)
            self._raw += len(content)
            if self._raw >= FRAME_BYTES:
                data += self._finished()
            ends[self._frame] = self._size + len(data)
        if self._stream is not None:
            data += self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            ends[self._frame] = self._size + len(data)
        self._write(bytes(data))
        return {sha: Place(frame, ends[frame], offset, size) for sha, (frame, offset, size) in where.items()}

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        new = not self._path.exists()
        self._fd = open_given(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._size = os.fstat(self._fd).st_size
        if new and self._sync:
            sync_folder(str(self._path.parent))

    def _streaming(self, position: int) -> "zstandard.ZstdCompressionObj":  # known to its types only
        if self._stream is None:
            self._stream = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
            self._frame, self._raw = position, 0
        return self._stream

    def _finished(self) -> bytes:
        stream, self._stream = self._stream, None
        return b"" if stream is None else stream.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)

    def _write(self, data: bytes) -> None:
        try:
            write_all(self._disk, self._fd, data)
            if self._sync:
                self._disk.fdatasync(self._fd)
        except OSError:
            self._disk.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)


class BlobReader:
    """Content by sha256, for `Kept`. Holds no file open; `places` may grow while lines are read."""

    def __init__(self, path: Path, places: Mapping[str, Place]) -> None:
        self._path = path
        self._places = places
        self._frames: dict[int, _Frame] = {}  # the one used last at the end
        self._lock = threading.Lock()

    def __call__(self, sha: str) -> bytes:
        place = self._places.get(sha)
        if place is None:
            raise MissingValue(f"the value {sha[:12]}… is not in {self._path}: no line says where")
        if place.offset >= FRAME_BYTES or place.bytes > _VALUE_BYTES_MAX:
            raise MissingValue(f"the value {sha[:12]}… cannot stand where its line says: nothing is written there")
        with self._lock:
            frame = self._frames.pop(place.frame, None) or _Frame(place.frame)
            self._frames[place.frame] = frame
            frame.decode(self._path, place)
            content = bytes(frame.content[place.offset : place.offset + place.bytes])
            while len(self._frames) > 1 and sum(len(one.content) for one in self._frames.values()) > CACHE_BYTES:
                del self._frames[next(iter(self._frames))]
        if len(content) != place.bytes:
            raise MissingValue(f"the value {sha[:12]}… is not whole in {self._path}")
        return content


class _Frame:
    """One frame, decoded as far as it was needed."""

    def __init__(self, start: int) -> None:
        self.content = bytearray()
        self._read = start
        self._stream = zstandard.ZstdDecompressor().decompressobj()

    def decode(self, path: Path, place: Place) -> None:
        needed = place.offset + place.bytes
        if len(self.content) >= needed:
            return
        try:
            with reading(path) as file:
                file.seek(self._read)
                while len(self.content) < needed and not self._stream.eof:
                    data = file.read(max(0, min(_PIECE, place.end - self._read)))
                    if not data:
                        return
                    self._read += len(data)
                    self.content += self._stream.decompress(data)
        except (OSError, zstandard.ZstdError) as error:
            raise MissingValue(f"big values of this session cannot be read from {path}: {error}") from None
