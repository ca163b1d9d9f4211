"""The three system calls that a writer of files trusts, and a disk that fails at a chosen one of them.

`os` itself is the real disk. `FailingDisk` ships beside it: whoever tests what happens to a session on a full or broken disk
takes it.
"""

import errno
import os
from typing import Protocol


class Disk(Protocol):
    def write(self, fd: int, data: bytes, /) -> int:
        """How many bytes were taken; it may be fewer."""

    def fdatasync(self, fd: int, /) -> None: ...

    def ftruncate(self, fd: int, length: int, /) -> None: ...


class FailingDisk:
    """A real disk but for one call. `at` counts writes and syncs from 0; from then on `error`, once half a write before it."""

    def __init__(self, *, at: int, error: int = errno.ENOSPC, short: bool = False, lasting: bool = True) -> None:
        self.calls = 0
        self._at = at
        self._error = error
        self._short = short
        self._lasting = lasting

    def write(self, fd: int, data: bytes, /) -> int:
        if self._fails():
            if not self._short:
                raise OSError(self._error, os.strerror(self._error))
            self._short = False
            return os.write(fd, data[: max(1, len(data) // 2)])
        return os.write(fd, data)

    def fdatasync(self, fd: int, /) -> None:
        if self._fails():
            raise OSError(self._error, os.strerror(self._error))
        os.fdatasync(fd)

    def ftruncate(self, fd: int, length: int, /) -> None:
        os.ftruncate(fd, length)

    def _fails(self) -> bool:
        self.calls += 1
        return self.calls - 1 >= self._at if self._lasting else self.calls - 1 == self._at


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """A disk that takes a part is given the rest: it then says what is wrong."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, bytes(view) if len(view) < len(data) else data) :]


def sync_folder(folder: str) -> None:
    """So that a new name in it is still there after a power cut."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
