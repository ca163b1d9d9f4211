"""Results on disk, across sessions and processes: values under the sha256 of their JSON, small records under the key of the call.

Files appear whole (written beside, renamed) and are checked by digest when read; what does not fit is removed and is a miss. Any
file may vanish between two steps, since any process may prune. No trouble with the disk fails a call: `problem` says it.
"""

import errno
import hashlib
import os
import secrets
import stat
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson

from harness.cache.pruning import pruned, remove
from harness.cache.records import Kept, State

_LAYOUT = "results-1"  # another layout gets another name
_SMALL_BYTES = 512  # below, compressing saves nothing
_LEVEL = 1
_SHARE = 16  # others write too: look at the folder anew after having written this part of the room
_ATTEMPTS = 3
_HEX = 64  # digits of a sha256
_PLAIN, _PACKED = b"p", b"z"

Checked = TypeVar("Checked")


class DiskCache:
    def __init__(self, folder: Path, *, most_bytes: int, clock_ns: Callable[[], int] = time.time_ns) -> None:
        """Touches nothing yet: the folder is made by the first `put`."""
        self._folder = folder / _LAYOUT
        self._most = most_bytes
        self._clock_ns = clock_ns
        self._lock = threading.Lock()
        self._unlooked = -1  # bytes that may be written before the folder is looked at; the first put looks
        self._problem = ""
        self._told = False

    @property
    def problem(self) -> str:
        """Why nothing is written any more; empty while all is well. What is there is still read."""
        return self._problem

    def news(self) -> list[str]:
        """The problem, told once."""
        if not self._problem or self._told:
            return []
        self._told = True
        return [f"results are no longer kept on disk: {self._problem}"]

    def get(self, key: str) -> Kept | None:
        if not self._is_ours():
            return None
        place = self._place("keys", _name(key))
        record = _checked(place, lambda stored: _record_of(stored, key))
        if record is None:
            return None
        value_place = self._place("values", record.value)
        data = _checked(value_place, lambda stored: _unpacked(stored, record))
        if data is None:
            remove(place)  # without its value it is of no use
            return None
        self._used(place)
        self._used(value_place)
        return Kept(orjson.loads(data), record.size, record.reads, record.state, record.label)

    def put(self, key: str, kept: Kept) -> None:
        """Quietly nothing for what JSON cannot say, what is larger than half the room, or what was read without a known state."""
        if self._problem or (kept.reads and kept.state is None):
            return
        try:
            data = orjson.dumps(kept.value)
            record = _Record(_name(key), _hash(data), len(data), kept.reads, kept.state, kept.label)
            told = record.to_bytes()
        except TypeError:  # half a surrogate pair, a number beyond 64 bits
            return
        value = _packed(data)
        if len(value) + len(told) > self._most // 2:
            return
        try:
            self._write(self._place("keys", record.key), told, self._place("values", record.value), value)
        except OSError as error:
            self._problem = (
                f"results are no longer kept in {self._folder}: {error.strerror or error}; "
                "calls go on without; free some space there, or set another cache folder"
            )

    def _write(self, place: Path, record: bytes, value_place: Path, value: bytes) -> None:
        for left in reversed(range(_ATTEMPTS)):
            try:
                if value_place.exists():
                    self._used(value_place)
                else:
                    self._store(value_place, value)
                self._store(place, record)
                self._prune(len(value) + len(record))
                return
            except FileNotFoundError:  # somebody removes the folder while we write
                if not left:
                    raise

    def _place(self, kind: str, name: str) -> Path:
        return self._folder / kind / name[:2] / name

    def _store(self, path: Path, data: bytes) -> None:
        temporary = self._folder / "new" / f"{os.getpid()}-{secrets.token_hex(8)}"
        self._folders(temporary.parent, path.parent)
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                now = self._clock_ns()
                os.utime(fd, ns=(now, now))
            finally:
                os.close(fd)
            temporary.replace(path)
        except OSError:
            remove(temporary)
            raise

    def _folders(self, *wanted: Path) -> None:
        """Ours alone: results may hold private text, and nobody else may put some there."""
        if self._unlooked < 0 or not all(folder.is_dir() for folder in wanted):
            self._folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.mkdir(exist_ok=True, mode=0o700)
            if not self._is_ours():
                raise PermissionError(errno.EPERM, "it belongs to another user, or is no folder")
            self._folder.chmod(0o700)
            for folder in wanted:
                folder.parent.mkdir(exist_ok=True, mode=0o700)  # `parents=True` would make these readable by others
                folder.mkdir(exist_ok=True, mode=0o700)

    def _is_ours(self) -> bool:
        try:
            facts = self._folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()

    def _used(self, path: Path) -> None:
        now = self._clock_ns()
        try:
            os.utime(path, ns=(now, now))
        except OSError:
            pass  # it went, or nothing can be written: then its age does not matter

    def _prune(self, written: int) -> None:
        with self._lock:
            self._unlooked -= written
            if self._unlooked >= 0:
                return
            free = pruned(self._folder, self._most, self._clock_ns())
            self._unlooked = min(self._most // _SHARE, self._most if free is None else free)


@dataclass(frozen=True, slots=True)
class _Record:
    key: str  # digest of the key of the call
    value: str  # digest of the value
    size: int
    reads: tuple[str, ...]
    state: State | None
    label: str

    def to_bytes(self) -> bytes:
        state = None if self.state is None else self.state.to_json()
        data = orjson.dumps([self.key, self.value, self.size, self.reads, state, self.label])
        return _hash(data).encode() + data


def _record_of(stored: bytes, key: str) -> _Record:
    digest, data = stored[:_HEX], stored[_HEX:]
    if _hash(data).encode() != digest:
        raise ValueError("the record does not fit its digest")
    name, value, size, reads, state, label = orjson.loads(data)
    if name != _name(key):
        raise ValueError("the record is of another call")
    return _Record(name, value, size, tuple(reads), None if state is None else State.from_json(state), label)


def _checked(place: Path, read: Callable[[bytes], Checked]) -> Checked | None:
    """What a file holds; None for one that is not there or is damaged, which is removed."""
    try:
        return read(place.read_bytes())
    except OSError:
        return None
    except (ValueError, KeyError, TypeError, zlib.error):
        remove(place)
        return None


def _packed(data: bytes) -> bytes:
    if len(data) < _SMALL_BYTES:
        return _PLAIN + data
    return _PACKED + zlib.compress(data, _LEVEL)


def _unpacked(stored: bytes, record: _Record) -> bytes:
    # Not more than was written: damaged bytes could unpack to gigabytes.
    data = stored[1:] if stored[:1] == _PLAIN else zlib.decompressobj().decompress(stored[1:], record.size + 1)
    if _hash(data) != record.value:
        raise ValueError("the value does not fit its digest")
    return data


def _name(key: str) -> str:
    return _hash(key.encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
