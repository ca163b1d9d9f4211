"""Big values in a database: each is kept once for all sessions, compressed, and read when somebody asks for it."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

import zstandard
from sqlalchemy import Connection, Engine, bindparam, select

from harness.store import StoreFailed
from harness.store.lines import MissingValue
from harness.store.sql_engine import FAILURES, insert_into, read, told
from harness.store.sql_schema import BIG_VALUES, SESSION_VALUES

_LEVEL: Final = 3
_PAGE: Final = 500  # a statement does not take parameters without end
_CACHED_BYTES: Final = 32 * 1024 * 1024  # of values that were read lately


_VALUE_BYTES_MAX: Final = 512 * 1024 * 1024
_DATA: Final = select(BIG_VALUES.c.data, BIG_VALUES.c.bytes).where(BIG_VALUES.c.sha256 == bindparam("sha"))


def insert_values(connection: Connection, session: str, blobs: Mapping[str, bytes]) -> None:
    """Those that are there already stay as they are. In one order everywhere, so that no two writers wait for each other."""
    shas = sorted(blobs)
    known = _known(connection, shas)
    rows = [{"sha256": sha, "bytes": len(blobs[sha]), "data": _compressed(blobs[sha])} for sha in shas if sha not in known]
    if rows:
        connection.execute(insert_into(connection, BIG_VALUES).on_conflict_do_nothing(), rows)
    connection.execute(
        insert_into(connection, SESSION_VALUES).on_conflict_do_nothing(), [{"session": session, "sha256": sha} for sha in shas]
    )


def _known(connection: Connection, shas: Sequence[str]) -> set[str]:
    """Of these, the ones that need not be compressed and sent."""
    pages = (shas[at : at + _PAGE] for at in range(0, len(shas), _PAGE))
    return {sha for page in pages for sha in connection.scalars(select(BIG_VALUES.c.sha256).where(BIG_VALUES.c.sha256.in_(page)))}


def _compressed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


class BigValues:
    """Reads them, from any thread; the newest ones stay at hand."""

    def __init__(self, engine: Engine, *, cached_bytes: int = _CACHED_BYTES) -> None:
        self._engine = engine
        self._most = cached_bytes
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def blob(self, sha: str) -> bytes:
        with self._lock:
            data = self._cached.get(sha)
            if data is not None:
                self._cached.move_to_end(sha)
                return data
        data = self._read(sha)
        self._remember(sha, data)
        return data

    def _read(self, sha: str) -> bytes:
        try:
            found = read(self._engine, lambda connection: connection.execute(_DATA, {"sha": sha}).first())
        except FAILURES as error:
            raise StoreFailed(
                f"the value {sha[:12]}… cannot be read: {told(error)}; try again when the database answers"
            ) from error
        if found is None:
            raise MissingValue(f"the value {sha[:12]}… is not in the database")
        try:
            size = zstandard.frame_content_size(found.data)  # a frame holds no more than it says
            if size != found.bytes or size > _VALUE_BYTES_MAX:
                raise MissingValue(f"the value {sha[:12]}… is damaged: it is not of the size that was kept")
            return zstandard.ZstdDecompressor().decompress(found.data)
        except zstandard.ZstdError as error:
            raise MissingValue(f"the value {sha[:12]}… is damaged: {error}") from None

    def _remember(self, sha: str, data: bytes) -> None:
        with self._lock:
            if sha in self._cached or len(data) > self._most:
                return
            self._cached[sha] = data
            self._bytes += len(data)
            while self._bytes > self._most:
                _, gone = self._cached.popitem(last=False)
                self._bytes -= len(gone)
