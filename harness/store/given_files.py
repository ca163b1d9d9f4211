"""Files that somebody else may have put there: only regular ones are opened, and lines are read up to a bound.

A pipe or a device would hold the reader for ever, a link would lead out of the store, and a file with a hole in it can have a
line of a terabyte.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from harness.store.lines import BadLine

LINE_BYTES_MAX: Final = 512 * 1024 * 1024  # an imported record of 256 MiB that is no UTF-8 takes as much
_PIECE: Final = 1024 * 1024


def open_given(path: Path, flags: int = os.O_RDONLY, *, links: bool = False) -> int:
    """A descriptor. OSError for what is no regular file; `links`: a link to one is followed."""
    follow = 0 if links else os.O_NOFOLLOW
    try:
        fd = os.open(path, flags | follow | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)  # a pipe without a writer would be waited for
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, and links are not followed here; put the file itself there", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return fd


def reading(path: Path, *, links: bool = False) -> IO[bytes]:
    """To be closed by the caller."""
    return os.fdopen(open_given(path, links=links), "rb")


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """From where the file stands, with their line ends. BadLine for one that is too long, or has NULs in place of its end."""
    while raw := file.readline(_PIECE):
        yield raw if len(raw) < _PIECE or raw.endswith(b"\n") else _long_line(raw, file)


def _long_line(raw: bytes, file: IO[bytes]) -> bytes:
    parts, size = [raw], len(raw)
    while not parts[-1].endswith(b"\n"):
        if b"\0" in parts[-1]:
            raise BadLine("NUL bytes, and no end of the line: the file has a hole")
        if size > LINE_BYTES_MAX:
            raise BadLine(f"a line above {LINE_BYTES_MAX:,} bytes")
        part = file.readline(_PIECE)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
