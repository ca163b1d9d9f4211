"""Appending to one session of a database: lines, big values and rows to search, in one transaction.

Nobody locks a session while it is open. Each append says which line it follows; where that is not the newest one any more,
another writer was faster: SessionBusy, and nothing is kept. When a transaction fails, or the answer to a commit is lost, the
database is asked for its newest line. So a line that was reported as failed is not there later, and one that is there was not
reported as failed; only while nobody answers is that open, and then the writer takes no more.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, bindparam, func, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from harness.entries import Entry
from harness.store import SessionBusy, StoreFailed
from harness.store.appending import copied, encoded
from harness.store.lines import Kept, Line
from harness.store.sql_engine import FAILURES, Failure, insert_into, lost, told, writing
from harness.store.sql_rows import Batch, Head, batch_of
from harness.store.sql_schema import CALLS, ENTRIES, PATHS, SESSIONS, TEXTS, TURNS
from harness.store.sql_values import insert_values

LOCK_VALUES: Final = 0x7475726E_0002  # of PostgreSQL: shared by who adds values, alone for who removes those that nobody uses
_PAUSE_SECONDS: Final = 0.2
_Over = TypeVar("_Over", SessionBusy, StoreFailed)


class SqlWriter:
    def __init__(
        self,
        engine: Engine,
        session: str,
        *,
        head: Head | None,
        last: Line | None,
        limiter: anyio.CapacityLimiter,
        reconnect_seconds: float,
        closed: "Callable[[SqlWriter], None]",
    ) -> None:
        self._engine = engine
        self.session = session
        self._head = head
        self._last = last
        self._limiter = limiter
        self._reconnect_seconds = reconnect_seconds
        self._closed = closed
        self._one_at_a_time = anyio.Lock()
        self._over: SessionBusy | StoreFailed | None = None  # why it takes no more

    @property
    def last(self) -> Line | None:
        return self._last

    async def append(self, *entries: Entry) -> None:
        async with self._one_at_a_time:
            await anyio.to_thread.run_sync(self._append, entries, limiter=self._limiter)

    async def copy(self, kept: Sequence[Kept]) -> None:
        async with self._one_at_a_time:
            await anyio.to_thread.run_sync(self._copy, kept, limiter=self._limiter)

    async def close(self) -> None:
        self._over = self._over or StoreFailed(f"this writer of session {self.session} is closed; open another one")
        self._closed(self)

    # ---------------------------------------------------------------- in a thread

    def _append(self, entries: Sequence[Entry]) -> None:
        lines, blobs = encoded(entries, self._last)
        self._keep(list(zip(lines, entries, strict=True)), blobs)

    def _copy(self, kept: Sequence[Kept]) -> None:
        lines, blobs = copied(kept, self._last)
        self._keep([(line, one.entry(self.session)) for line, one in zip(lines, kept, strict=True)], blobs)

    def _keep(self, lines: list[tuple[Line, Entry]], blobs: dict[str, bytes]) -> None:
        if self._over is not None:
            raise type(self._over)(*self._over.args)
        if not lines:
            return
        batch = batch_of(self._head, self.session, lines)
        error = self._try(batch, blobs)
        if error is not None and lost(error):
            error = self._try(batch, blobs)  # the server is back, and has told that nothing is kept: once more
        if error is not None:
            failed = f"session {self.session}: line {lines[0][0].seq} ({lines[0][0].type}) failed: {told(error)}"
            raise StoreFailed(f"{failed}. {self._safe()}, and nothing behind; append again when the cause is gone") from error
        self._head, self._last = batch.head, lines[-1][0]

    def _try(self, batch: Batch, blobs: dict[str, bytes]) -> Failure | None:
        """None when it is kept; the error when nothing of it is."""
        try:
            with writing(self._engine) as connection:
                if not _claim(connection, self._head, batch.head):
                    raise self._ended(self._taken(_newest(connection, self.session)))
                _insert(connection, self.session, batch, blobs)
        except FAILURES as error:
            kept, newest = self._look(batch, error)
            if kept:
                return None
            if newest == _Newest.of(self._head):
                return error
            raise self._ended(self._taken(newest)) from error
        return None

    def _look(self, batch: Batch, error: Failure) -> "tuple[bool, _Newest | None]":
        """What became of an append that failed, or whose answer was lost. A server that restarts is waited for."""
        until = time.monotonic() + self._reconnect_seconds
        while True:
            try:
                return _settled(self._engine, batch)
            except FAILURES as silence:
                if time.monotonic() > until:
                    raise self._ended(self._unknown(error, silence)) from error
                time.sleep(_PAUSE_SECONDS)

    def _unknown(self, error: Failure, silence: Failure) -> StoreFailed:
        line = 1 if self._last is None else self._last.seq + 1
        return StoreFailed(
            f"session {self.session}: line {line} failed: {told(error)}. The database does not answer: {told(silence)}. "
            f"{self._safe()}; whether line {line} is, shows when the session is opened again"
        )

    def _safe(self) -> str:
        return "Nothing was kept before" if self._last is None else f"Everything up to line {self._last.seq} is kept"

    def _taken(self, newest: "_Newest | None") -> SessionBusy:
        since = "since it was opened here" if self._last is None else f"since line {self._last.seq} was written here"
        if newest is None:
            return SessionBusy(f"session {self.session} was removed {since}; nothing of this append is kept: begin another")
        return SessionBusy(
            f"another writer has appended line {newest.lines} of session {self.session} {since}; nothing of this append is "
            "kept: close this writer, and open the session again to go on behind that line"
        )

    def _ended(self, error: _Over) -> _Over:
        self._over = error
        return error


# ---------------------------------------------------------------- statements


class _Newest(NamedTuple):
    """The newest line of a session, as its row has it."""

    lines: int
    digest: str

    @classmethod
    def of(cls, head: Head | None) -> "_Newest | None":
        return None if head is None else cls(head.row.lines, head.row.digest)


def _claim(connection: Connection, before: Head | None, after: Head) -> bool:
    """The row of the session carried on, and locked until the end; False where the newest line is not the one before."""
    if before is None:
        return _begin(connection, after)
    follows = (SESSIONS.c.session == after.row.session) & (SESSIONS.c.lines == before.row.lines)
    follows &= SESSIONS.c.digest == before.row.digest
    return connection.execute(update(SESSIONS).where(follows).values(after.as_row())).rowcount == 1


def _begin(connection: Connection, head: Head) -> bool:
    """The row of a new session; False where there is one."""
    row = insert_into(connection, SESSIONS).values(head.as_row()).on_conflict_do_nothing()
    return connection.execute(row, execution_options={"preserve_rowcount": True}).rowcount == 1


def _insert(connection: Connection, session: str, batch: Batch, blobs: dict[str, bytes]) -> None:
    if blobs:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": LOCK_VALUES})
        insert_values(connection, session, blobs)
    connection.execute(insert(ENTRIES), batch.entries)
    for table, rows in ((CALLS, batch.calls), (TEXTS, batch.texts)):
        if rows:
            connection.execute(insert(table), rows)
    if batch.paths:
        connection.execute(insert_into(connection, PATHS).on_conflict_do_nothing(), batch.paths)
    if batch.turns:
        connection.execute(_add_turns(connection), batch.turns)


def _add_turns(connection: Connection) -> sqlite.Insert | postgresql.Insert:
    rows = insert_into(connection, TURNS)
    new, old = rows.excluded, TURNS.c
    told_once = {name: func.coalesce(old[name], new[name]) for name in ("began", "ended", "how", "script_sha256")}
    counted = {name: old[name] + new[name] for name in ("calls", "result_bytes")}
    return rows.on_conflict_do_update(index_elements=[old.session, old.number], set_=told_once | counted)


def _newest(connection: Connection, session: str) -> _Newest | None:
    row = connection.execute(_NEWEST, {"session": session}).one_or_none()
    return None if row is None else _Newest(row.lines, row.digest)


def _settled(engine: Engine, batch: Batch) -> tuple[bool, _Newest | None]:
    """Whether the append is kept, and the newest line. Waits for a transaction under way: it has the row, or the place for it."""
    last = batch.entries[-1]
    body = select(ENTRIES.c.body).where(ENTRIES.c.session == last["session"], ENTRIES.c.seq == last["seq"])
    with writing(engine) as connection:
        begun = _begin(connection, batch.head)
        newest = None if begun else _newest(connection, last["session"])
        kept = connection.scalar(body) == last["body"]  # another writer may have gone on behind it since
        connection.rollback()
    return kept, newest


_NEWEST: Final = select(SESSIONS.c.lines, SESSIONS.c.digest).where(SESSIONS.c.session == bindparam("session")).with_for_update()
