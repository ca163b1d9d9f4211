"""Sessions as files of JSON lines, one folder a day: greppable, appended to only, safe against a kill and a power cut.

`JsonlStore` finds, lists and loads them; `jsonl_writer.py` appends, `jsonl_names.py` says where files stand, `blob_file.py` keeps
the big values beside. Reading takes no lock and repairs nothing: it stops before what a crash has torn.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import anyio.to_thread

from harness.store import By, NoSession, Query, SessionBusy, SessionRow, StoreFailed, Sums
from harness.store.given_files import open_given
from harness.store.jsonl_disk import Disk, sync_folder
from harness.store.jsonl_listing import row_of_file
from harness.store.jsonl_names import SessionFile, beside, blobs_of, check_no_link, checked_id, file_of, found_file, session_files
from harness.store.jsonl_reading import FileLines
from harness.store.jsonl_single import read_single, write_single
from harness.store.jsonl_writer import JsonlWriter
from harness.store.lines import BadLine, Kept
from harness.store.scanning import added_up, found_in, row_fits, sums_of

__all__ = ["Durability", "JsonlStore", "JsonlWriter", "read_single", "write_single"]

Durability: TypeAlias = Literal["fsync", "flush"]
_DAY = 86_400.0
_PAGES = 8
_T = TypeVar("_T")


class JsonlStore:
    """`durability`: "fsync" survives a power cut; "flush" only the end of the process, and is faster.

    `repairs` tells what was cut off from files that a crash had torn, `problems` which files lists had to leave out.
    """

    def __init__(self, folder: str | Path, *, durability: Durability = "fsync", disk: Disk = os) -> None:
        self.folder = Path(folder)
        self.repairs: list[str] = []
        self.problems: list[str] = []
        self._sync = durability == "fsync"
        self._disk = disk
        self._paths: dict[str, Path] = {}  # of sessions, as far as they were looked for
        self._writers: set[JsonlWriter] = set()
        self._broken: set[Path] = set()
        self._pages: dict[Path, FileLines] = {}  # where the next page of a session would go on

    async def write(self, session: str, *, at: float) -> JsonlWriter:
        return await anyio.to_thread.run_sync(self._write, session, at)

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        with _told(session):
            return await _reading(lambda: list(self._load(session, after, most)))

    async def sessions(self, query: Query = Query()) -> Sequence[SessionRow]:  # noqa: B008 - frozen
        stop = None if query.most is None else query.skip + query.most
        with self._listing():
            return await _reading(lambda: [row for _, row in islice(self._found(query), query.skip, stop)])

    async def sums(self, by: By, query: Query = Query()) -> Sequence[Sums]:  # noqa: B008 - frozen
        with self._listing():
            return await _reading(lambda: self._sums(by, query))

    async def remove(self, session: str) -> None:
        with _told(session):
            await anyio.to_thread.run_sync(self._remove, session)

    async def close(self) -> None:
        """With all its writers."""
        for writer in tuple(self._writers):
            await writer.close()

    # ------------------------------------------------------------ in a thread

    def _write(self, session: str, at: float) -> JsonlWriter:
        checked_id(session)
        try:
            _make_folder(self.folder, sync=self._sync)
            with _alone(self.folder):  # or two processes begin the same session under two names
                path = self._path(session) or file_of(self.folder, session, at)
                if path in self._broken:
                    raise StoreFailed(
                        f"{path} failed to be written before: copy session {session} to another disk, and go on there"
                    )
                check_no_link(self.folder, path)
                _make_folder(path.parent, sync=self._sync)
                writer = JsonlWriter(session, path, disk=self._disk, sync=self._sync, on_close=self._closed)
        except OSError as error:
            raise StoreFailed(
                f"session {session} cannot be opened in {self.folder}: {error}; give a folder that can be written"
            ) from error
        self._paths[session] = path
        self._writers.add(writer)
        if writer.repaired:
            self.repairs.append(writer.repaired)
        return writer

    def _closed(self, writer: JsonlWriter) -> None:
        self._writers.discard(writer)
        if writer.broken:
            self._broken.add(writer.path)
        if writer.last is None and writer.path.exists():  # a session that never began leaves nothing behind
            with _alone(self.folder):
                for one in (writer.path, blobs_of(writer.path)):
                    one.unlink(missing_ok=True)

    def _load(self, session: str, after: int, most: int | None) -> Iterator[Kept]:
        path = self._there(session)
        file = self._pages.pop(path, None)
        if file is None or not file.goes_on(after):
            file = FileLines(path)
        if not file.end:
            raise NoSession(f"no session {session} is kept in {self.folder}: {path} holds no whole line")
        yield from islice(file.lines(after), most)
        if most is not None:
            self._pages[path] = file
            while len(self._pages) > _PAGES:
                del self._pages[next(iter(self._pages))]

    def _remove(self, session: str) -> None:
        path = self._there(session)
        with _alone(self.folder):
            fd = open_given(path, os.O_RDWR)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()  # first: values without lines are garbage, lines without values are damage
                for one in beside(path):
                    one.unlink(missing_ok=True)
                if self._sync:
                    sync_folder(str(path.parent))
            except BlockingIOError:
                raise SessionBusy(f"session {session} is being written ({path}); close it before it is removed") from None
            finally:
                os.close(fd)
        self._paths.pop(session, None)
        self._pages.pop(path, None)

    def _there(self, session: str) -> Path:
        path = self._path(checked_id(session))
        if path is None or not path.stat().st_size:
            raise NoSession(f"no session {session} is kept in {self.folder}")
        return path

    def _path(self, session: str) -> Path | None:
        known = self._paths.get(session)
        if known is None or not known.exists():
            known = found_file(self.folder, session)
        if known is not None:
            self._paths[session] = known
        return known

    # ------------------------------------------------------------ lists

    @contextmanager
    def _listing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            told = f"sessions in {self.folder} cannot be listed: {error.strerror}: {error.filename}"
            raise StoreFailed(f"{told}; make it readable for you, or give another store") from error

    def _found(self, query: Query) -> Iterator[tuple[SessionFile, SessionRow]]:
        """The newest first. A second of the clock is the grain of the names; within it the rows tell."""
        deep = bool(query.text or query.tool or query.path)
        for _, files in groupby(session_files(self.folder), key=lambda file: file.stamp):
            rows = [(file, row) for file in files if _near(file, query) and (row := self._row(file)) and row_fits(row, query)]
            for file, row in sorted(rows, key=lambda pair: (pair[1].opened, pair[1].session), reverse=True):
                if not deep or self._tells(file, query):
                    yield file, row

    def _row(self, file: SessionFile) -> SessionRow | None:
        return self._spared(file, lambda: row_of_file(file))

    def _tells(self, file: SessionFile, query: Query) -> bool:
        return bool(self._spared(file, lambda: found_in(FileLines(file.path).lines(query=query), query, file.session)))

    def _sums(self, by: By, query: Query) -> list[Sums]:
        files = [file for file, _ in self._found(query)]
        return added_up(one for file in files for one in self._spared(file, partial(_sums_of_file, file.path, by)) or ())

    def _spared(self, file: SessionFile, read: Callable[[], _T]) -> _T | None:
        """One file that cannot be read does not spoil a list."""
        try:
            return read()
        except FileNotFoundError:  # removed in the meantime
            return None
        except (BadLine, OSError) as error:
            problem = f"{file.path} is left out of lists: {error}; put a whole copy there, or move it away"
            if problem not in self.problems:
                self.problems.append(problem)
            return None


def _sums_of_file(path: Path, by: By) -> list[Sums]:
    return sums_of(list(FileLines(path).lines()), by)


def _near(file: SessionFile, query: Query) -> bool:
    """By its name alone, with a day to spare: a file may be begun a while before its first line."""
    return (query.since is None or file.second >= query.since - _DAY) and (
        query.until is None or file.second < query.until + _DAY
    )


def _make_folder(folder: Path, *, sync: bool) -> None:
    """Private: sessions hold what people and programs said."""
    if folder.is_dir():
        return
    _make_folder(folder.parent, sync=sync)
    folder.mkdir(mode=0o700, exist_ok=True)
    if sync:
        sync_folder(str(folder.parent))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process begins or removes a session here meanwhile."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@contextmanager
def _told(session: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NoSession(f"session {session} was removed in the meantime") from error
    except OSError as error:
        raise StoreFailed(f"session {session}: {error}; nothing was changed, try again when its files can be read") from error


async def _reading(read: Callable[[], _T]) -> _T:
    """Nobody waits for a reader whose caller has gone."""
    return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
