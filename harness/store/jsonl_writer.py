"""Appends to one session's file: big values first, then the lines, synced, and only then it is acknowledged.

The writer holds an exclusive lock on the file. After an error of the disk the file is cut back to the last acknowledged line and
the writer takes no more, so what was reported as failed never turns up later.
"""

import errno
import fcntl
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from harness.entries import Entry
from harness.store import SessionBusy, StoreFailed
from harness.store.appending import copied, encoded
from harness.store.blob_file import BlobFile, Place
from harness.store.given_files import open_given
from harness.store.jsonl_disk import Disk, sync_folder, write_all
from harness.store.jsonl_lines import SYNC_BYTES, Tail, is_begun, places_in, raw_lines, tail_of, written
from harness.store.jsonl_names import blobs_of, torn_of
from harness.store.lines import BadLine, Kept, Line, read_line

_NEXT = {
    errno.ENOSPC: "make room on the disk, then open the session again",
    errno.EDQUOT: "the quota of this user is used up: make room, then open the session again",
    errno.EFBIG: "a file of this process may not grow further (ulimit -f): raise that, then open the session again",
}
_BROKEN = "the disk may be broken: copy the session to another disk before going on"


class JsonlWriter:
    """Made by `JsonlStore.write`. `repaired` says what was cut off when it was opened; "" when nothing was."""

    def __init__(self, session: str, path: Path, *, disk: Disk, sync: bool, on_close: Callable[["JsonlWriter"], None]) -> None:
        """OSError, SessionBusy, BadLine."""
        self.path = path
        self.repaired = ""
        self.broken = False  # the disk did worse than being full: what it says of this file cannot be trusted any more
        self._session = session
        self._disk = disk
        self._sync = sync
        self._on_close = on_close
        self._over = ""  # why it takes no more
        self._appending = anyio.Lock()
        self._fd = _locked(path, session, sync=sync)
        try:
            if not is_begun(self._fd):
                raise BadLine(f"{path} is no session: it does not begin as one; nothing was changed")
            tail = tail_of(self._fd)
            if tail.end < tail.size:
                self.repaired = self._cut(tail)
            self._good = tail.end
            self._last = _last_line(path, tail)
        except BaseException:
            os.close(self._fd)
            raise
        self._blobs = BlobFile(blobs_of(path), disk=disk, sync=sync)
        self._known: set[str] | None = None if tail.end else set()  # sha256 of the values that are there; read when first needed

    @property
    def last(self) -> Line | None:
        return self._last

    async def append(self, *entries: Entry) -> None:
        await self._in_turn(lambda: self._write(*encoded(entries, self._last)))

    async def copy(self, kept: Sequence[Kept]) -> None:
        await self._in_turn(lambda: self._write(*copied(kept, self._last)))

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._appending:
                if self._fd >= 0:
                    await anyio.to_thread.run_sync(self._release)

    def _release(self) -> None:
        self._over = self._over or f"session {self._session}: this writer is closed; open the session again with write()"
        self._blobs.close()
        self._on_close(self)
        os.close(self._fd)
        self._fd = -1

    async def _in_turn(self, write: Callable[[], None]) -> None:
        """A thread that has begun is waited for even when the caller is cancelled: `last` then says what is on record."""
        async with self._appending:
            if self._over:
                raise StoreFailed(self._over)
            await anyio.to_thread.run_sync(write)

    # ------------------------------------------------------------ in a thread

    def _write(self, lines: Sequence[Line], blobs: Mapping[str, bytes]) -> None:
        if not lines:
            return
        try:
            places = self._values_kept(blobs)
            size = self._lines_kept([written(line, own) for line, own in _brought(lines, blobs, places)])
        except OSError as error:
            self.broken = error.errno not in _NEXT
            self._over = self._failed(error)
            raise StoreFailed(self._over) from error
        self._good += size
        self._last = lines[-1]
        if self._known is not None:
            self._known |= places.keys()

    def _values_kept(self, blobs: Mapping[str, bytes]) -> dict[str, Place]:
        if blobs and self._known is None:
            self._known = {sha for raw in raw_lines(self.path, self._good) for sha in places_in(raw)}
        new = {sha: content for sha, content in blobs.items() if sha not in (self._known or ())}
        return self._blobs.add(new) if new else {}

    def _lines_kept(self, lines: Iterable[bytes]) -> int:
        size = unsynced = 0
        for raw in lines:
            write_all(self._disk, self._fd, raw)
            size += len(raw)
            unsynced += len(raw)
            if unsynced >= SYNC_BYTES:
                self._synced()
                unsynced = 0
        if unsynced:
            self._synced()
        return size

    def _synced(self) -> None:
        if self._sync:
            self._disk.fdatasync(self._fd)

    def _failed(self, error: OSError) -> str:
        kept = "nothing was kept yet" if self._last is None else f"everything up to line {self._last.seq} is kept"
        rest = "what came after it is not"
        try:
            self._disk.ftruncate(self._fd, self._good)
            if self._sync:
                os.fdatasync(self._fd)  # the cut too; a disk that is full still takes this
        except OSError as worse:
            rest = f"what came after it could not be cut off ({worse.strerror}) and may be read later"
        todo = _NEXT.get(error.errno or 0, _BROKEN)
        return f"session {self._session}: writing {self.path} failed: {error.strerror}; {kept}, {rest}; {todo}"

    def _cut(self, tail: Tail) -> str:
        """Behind the last good line stands what nobody was told is kept: it goes to a file of its own."""
        aside = torn_of(self.path)
        torn = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            position = tail.end
            while part := os.pread(self._fd, 1 << 20, position):
                write_all(self._disk, torn, part)
                position += len(part)
            if self._sync:
                self._disk.fdatasync(torn)
        finally:
            os.close(torn)
        if self._sync:
            sync_folder(str(aside.parent))
        self._disk.ftruncate(self._fd, tail.end)
        if self._sync:
            self._disk.fdatasync(self._fd)
        return f"{self.path} ended in {tail.size - tail.end:,} bytes that were never acknowledged; they are now in {aside.name}"


def _brought(
    lines: Sequence[Line], blobs: Mapping[str, bytes], places: Mapping[str, Place]
) -> Iterable[tuple[Line, Mapping[str, Place]]]:
    """Each line with the places of the new values that it is the first to need."""
    left = dict(places)
    for number, line in enumerate(lines, 1):
        if not left or number == len(lines):
            yield line, left
            continue
        own = {sha: left.pop(sha) for sha in Kept(line, blobs.__getitem__).blobs() if sha in left}
        yield line, own


def _locked(path: Path, session: str, *, sync: bool) -> int:
    new = not path.exists()
    fd = open_given(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if new and sync:
            sync_folder(str(path.parent))
    except BlockingIOError:
        by = _holder(fd)
        os.close(fd)
        raise SessionBusy(
            f"session {session} is being written{by}, which has {path} locked; close that one first, or take another id"
        ) from None
    except BaseException:
        os.close(fd)
        raise
    return fd


def _holder(fd: int) -> str:
    """Who has the lock, where the system tells."""
    try:
        told = Path("/proc/locks").read_text()
    except OSError:
        return " by another process"
    found = re.search(rf"FLOCK\s+ADVISORY\s+WRITE\s+(\d+)\s+\S+:{os.fstat(fd).st_ino}\s", told)
    if found is None:
        return " by another process"
    return " by this process" if int(found[1]) == os.getpid() else f" by process {found[1]}"


def _last_line(path: Path, tail: Tail) -> Line | None:
    if not tail.lines:
        return None
    try:
        return read_line(tail.lines[-1])
    except BadLine as error:
        raise BadLine(f"{path}, last line: {error}") from None
