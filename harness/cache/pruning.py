"""Keeping a folder of results within its bytes: the least recently used files go, and what a writer that died left behind.

Records and values are files alike, each with the time of its last use; a record without its value is a miss, a value without a
record grows old. So there is nothing to keep in step, and one process prunes while others read and write.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

_LEFT_OVER_NS = 600 * 10**9  # a temporary file of this age has no writer any more
_FILE_BYTES = 512  # what a file costs beside its content
_KEPT_PERCENT = 80  # pruning goes down to this, so that it is rare


@dataclass(frozen=True, slots=True, order=True)
class _File:
    used_ns: int
    path: str
    bytes: int


def pruned(folder: Path, most_bytes: int, now_ns: int) -> int | None:
    """Gives the bytes that are free then; None when another process is at it."""
    fd = os.open(folder / "prune.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with its process, however that ends
        except BlockingIOError:
            return None
        for file in _files(folder / "new"):
            if file.used_ns < now_ns - _LEFT_OVER_NS:
                remove(Path(file.path))
        files = [file for kind in ("keys", "values") for part in _folders(folder / kind) for file in _files(part)]
        total = sum(file.bytes for file in files)
        if total > most_bytes:
            for file in sorted(files):
                if total <= most_bytes * _KEPT_PERCENT // 100:
                    break
                remove(Path(file.path))
                total -= file.bytes
        return max(0, most_bytes - total)
    finally:
        os.close(fd)


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []


def _files(folder: Path) -> list[_File]:
    found = list[_File]()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since it was listed
                found.append(_File(facts.st_mtime_ns, entry.path, facts.st_size + _FILE_BYTES))
    except FileNotFoundError:
        pass
    return found


def remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass  # gone already; or it stays, and is found again
