"""Pages that were fetched before: in memory, or in a folder that several processes share. A cache never fails a fetch.

In the folder, `urls/<sha256 of the key>` names the sha256 of the content, `bodies/<sha256>` holds it. Files appear whole (written
aside, then renamed); whatever does not match its digest, cannot be read or is too old is a miss.
"""

import hashlib
import os
import tempfile
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import anyio.to_thread
import orjson
from pydantic import TypeAdapter, ValidationError

MEMORY_BYTES_MAX = 32 * 1024 * 1024
FOLDER_BYTES_MAX = 256 * 1024 * 1024  # some thousands of pages
_STALE_SECONDS = 3_600  # a file written aside and never renamed: its process died


@dataclass(frozen=True, slots=True)
class Kept:
    """One successful GET."""

    url: str
    final_url: str
    status: int
    media_type: str
    title: str
    source: str
    text: str
    bytes: int
    fetched_at: float


_READ = TypeAdapter(Kept)


class WebCache(Protocol):
    async def get(self, key: str) -> Kept | None: ...

    async def put(self, key: str, page: Kept) -> None: ...


class MemoryCache:
    def __init__(self, *, bytes_max: int = MEMORY_BYTES_MAX) -> None:
        self._most = bytes_max
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._chars = 0

    async def get(self, key: str) -> Kept | None:
        page = self._kept.get(key)
        if page is not None:
            self._kept.move_to_end(key)
        return page

    async def put(self, key: str, page: Kept) -> None:
        before = self._kept.pop(key, None)
        self._chars -= _chars(before) if before else 0
        self._kept[key] = page
        self._chars += _chars(page)
        while self._chars > self._most and self._kept:
            self._chars -= _chars(self._kept.popitem(last=False)[1])


class FolderCache:
    def __init__(self, folder: Path, *, bytes_max: int = FOLDER_BYTES_MAX) -> None:
        self._urls = folder / "urls"
        self._bodies = folder / "bodies"
        self._most = bytes_max

    async def get(self, key: str) -> Kept | None:
        return await anyio.to_thread.run_sync(self._get, key)

    async def put(self, key: str, page: Kept) -> None:
        await anyio.to_thread.run_sync(self._put, key, page)

    def _get(self, key: str) -> Kept | None:
        try:
            digest = (self._urls / _digest(key.encode())).read_text(encoding="ascii")
            if len(digest) != 64 or not digest.isalnum():
                return None
            data = (self._bodies / digest).read_bytes()
            if _digest(data) != digest:
                return None
            page = _READ.validate_json(data)
        except (OSError, ValueError, ValidationError):
            return None
        return page

    def _put(self, key: str, page: Kept) -> None:
        data = orjson.dumps(asdict(page))
        if len(data) > self._most // 4:
            return
        try:
            for folder in (self._urls, self._bodies):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(self._bodies / _digest(data), data)
            _write(self._urls / _digest(key.encode()), _digest(data).encode())
            self._prune()
        except OSError:
            return  # a full or read-only disk: the page was fetched all the same

    def _prune(self) -> None:
        """The oldest files go until three quarters are left; a name whose content went is a miss."""
        found: list[tuple[float, int, Path]] = []
        for folder in (self._urls, self._bodies):
            with os.scandir(folder) as entries:
                for entry in entries:
                    try:
                        facts = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # another process was faster
                    found.append((facts.st_mtime, facts.st_size + 512, Path(entry.path)))
        newest = max((when for when, _, _ in found), default=0.0)
        for when, _, path in found:
            if path.name.startswith("aside-") and when < newest - _STALE_SECONDS:
                path.unlink(missing_ok=True)
        total = sum(size for _, size, _ in found)
        if total <= self._most:
            return
        for _, size, path in sorted(found):
            if total <= self._most * 3 // 4:
                return
            path.unlink(missing_ok=True)
            total -= size


def _write(path: Path, data: bytes) -> None:
    handle, aside = tempfile.mkstemp(prefix="aside-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(aside).replace(path)
    except OSError:
        Path(aside).unlink(missing_ok=True)
        raise


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _chars(page: Kept) -> int:
    """About the bytes in memory; source and text are often one string."""
    return len(page.source) + (0 if page.text is page.source else len(page.text)) + 500
