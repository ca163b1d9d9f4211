"""Sessions in SQLite or PostgreSQL, for many of them, many writers at once, and search.

The text of every line is kept as it was written; tables beside it are for search and sums. Two writers of one session are told
apart when they append (`sql_writing.py`), those of one store already when they open. Values beside lines are fetched when an
entry is read. Blocking calls are made in threads; there is no more than one that writes where the database is SQLite.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, bindparam, delete, select, text
from sqlalchemy.exc import IntegrityError

from harness.store import By, NoSession, Query, SessionBusy, SessionRow, StoreError, StoreFailed, Sums
from harness.store.lines import BadLine, Kept, Line, read_line
from harness.store.sql_engine import (
    FAILURES,
    access_to,
    connected_engine,
    insert_into,
    next_step,
    parse_address,
    read,
    reading,
    shown_address,
    told,
    writing,
)
from harness.store.sql_migrating import migrate, require_newest, require_store
from harness.store.sql_queries import find_head, find_sessions, sum_sessions
from harness.store.sql_rows import Head
from harness.store.sql_schema import BIG_VALUES, ENTRIES, SESSION_VALUES, SESSIONS, TURN_VERSIONS
from harness.store.sql_values import BigValues
from harness.store.sql_writing import LOCK_VALUES, SqlWriter

POOL_SIZE: Final = 8  # connections of one store; more callers wait their turn
RECONNECT_SECONDS: Final = 15.0  # a server that restarts is back by then
_PAGE: Final = 500  # lines
_AGAIN: Final = "try again when the database answers"
_ID_CHARS: Final = 128
Level: TypeAlias = Literal["R", "S", "C", "T"]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnVersion:
    """One turn as a history shows it at one level."""

    turn: int
    level: Level
    content: str
    tokens: int
    at: float
    by: str = ""


class SqlStore:
    def __init__(self, engine: Engine, *, pool_size: int, indexed: bool, reconnect_seconds: float) -> None:
        self._engine = engine
        self._indexed = indexed
        self._reconnect_seconds = reconnect_seconds
        self._values = BigValues(engine)
        self._writing: dict[str, SqlWriter | None] = {}
        self._threads = anyio.CapacityLimiter(pool_size)
        alone = engine.dialect.name == "sqlite"  # SQLite has one writer at a time: ours queue here, in order
        self._writers = anyio.CapacityLimiter(1) if alone else self._threads

    @classmethod
    async def open(
        cls, url: str, *, pool_size: int = POOL_SIZE, upgrade: bool = True, create: bool = True,
        reconnect_seconds: float = RECONNECT_SECONDS,
    ) -> "SqlStore":  # fmt: skip
        """Where there is no schema, or an older one, it is made new; with upgrade=False that is a StoreError. With create=False
        an older one is made new, and where there is none that is NoStore. A file that may only be read is opened for that."""
        address = parse_address(url)

        def opened() -> SqlStore:
            access = access_to(address, create=create)
            engine = connected_engine(address, pool_size=pool_size, access=access)
            try:
                if not create:
                    require_store(engine)
                (migrate if upgrade and access != "read" else require_newest)(engine)
                indexed = _has_trigrams(engine)
            except BaseException:
                engine.dispose()
                raise
            return cls(engine, pool_size=pool_size, indexed=indexed, reconnect_seconds=reconnect_seconds)

        return await anyio.to_thread.run_sync(
            _told_as_failure,
            f"cannot open {shown_address(address)}",
            "check the address, and who may open it",
            opened,
        )

    async def write(self, session: str, *, at: float) -> SqlWriter:
        _check_id(session)
        if session in self._writing:
            raise SessionBusy(f"session {session} is being written already; close that one first, or take another id")
        self._writing[session] = None  # taken, before anything waits
        try:
            head, last = await self._read(f"session {session} cannot be opened", partial(_newest, session=session))
        except BaseException:
            del self._writing[session]
            raise
        writer = SqlWriter(
            self._engine, session, head=head, last=last, limiter=self._writers, reconnect_seconds=self._reconnect_seconds,
            closed=self._closed,
        )  # fmt: skip
        self._writing[session] = writer
        return writer

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        load = partial(self._load, session=session, after=after, most=most)
        return await self._read(f"session {session} cannot be read", load)

    async def sessions(self, query: Query = Query()) -> Sequence[SessionRow]:  # noqa: B008 - frozen
        return await self._read("sessions cannot be listed", partial(find_sessions, query=query, indexed=self._indexed))

    async def sums(self, by: By, query: Query = Query()) -> Sequence[Sums]:  # noqa: B008 - frozen
        return await self._read("sessions cannot be summed", partial(sum_sessions, by=by, query=query, indexed=self._indexed))

    async def remove(self, session: str) -> None:
        if session in self._writing:
            raise SessionBusy(f"session {session} is being written; close it before it is removed")
        await self._write(f"session {session} cannot be removed", partial(_remove, session=session))

    async def put_version(
        self, session: str, turn: int, level: Level, content: str, tokens: int, at: float, by: str = ""
    ) -> None:
        """In the place of an earlier one. NoSession."""
        row = {
            "session": session, "turn": turn, "level": level, "content": content, "tokens": tokens, "made_at": at, "made_by": by,
        }  # fmt: skip
        await self._write(f"a version of turn {turn} cannot be kept", partial(_put_version, row=row))

    async def versions(self, session: str, turn: int | None = None, level: Level | None = None) -> Sequence[TurnVersion]:
        """By turn and level."""
        return await self._read("versions cannot be read", partial(_versions, session=session, turn=turn, level=level))

    async def close(self) -> None:
        await anyio.to_thread.run_sync(self._engine.dispose)

    # ---------------------------------------------------------------- in threads

    async def _read(self, failing: str, work: Callable[[Connection], _T]) -> _T:
        found = partial(read, self._engine, work)
        return await anyio.to_thread.run_sync(_told_as_failure, failing, _AGAIN, found, limiter=self._threads)

    async def _write(self, failing: str, work: Callable[[Connection], None]) -> None:
        def done() -> None:
            with writing(self._engine) as connection:
                work(connection)

        await anyio.to_thread.run_sync(_told_as_failure, failing, _AGAIN, done, limiter=self._writers)

    def _closed(self, writer: SqlWriter) -> None:
        """Of a session that was opened again since, the newer writer stays."""
        if self._writing.get(writer.session) is writer:
            del self._writing[writer.session]

    def _load(self, connection: Connection, *, session: str, after: int, most: int | None) -> list[Kept]:
        if connection.scalar(select(SESSIONS.c.lines).where(SESSIONS.c.session == session)) is None:
            raise NoSession(f"no session {session} is kept here")
        kept: list[Kept] = []
        while most is None or len(kept) < most:
            size = _PAGE if most is None else min(_PAGE, most - len(kept))
            page = connection.execute(_LINES, {"id": session, "after": after, "size": size}).all()
            kept.extend(Kept(_line(session, row.seq, row.body), self._values.blob) for row in page)
            if len(page) < size:
                break
            after = page[-1].seq
        return kept


def _told_as_failure(failing: str, step: str, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except FAILURES as error:
        raise StoreFailed(f"{failing}: {told(error)}; {next_step(told(error)) or step}") from error


def _check_id(session: str) -> None:
    if not session or len(session) > _ID_CHARS or not session.isascii() or not session.isprintable():
        raise StoreError(f"{session[:_ID_CHARS]!r} is no id of a session; use up to {_ID_CHARS} letters, digits, - _ and .")


def _has_trigrams(engine: Engine) -> bool:
    if engine.dialect.name != "sqlite":
        return False
    with reading(engine) as connection:
        return connection.scalar(text("SELECT 1 FROM sqlite_master WHERE name = 'texts_index'")) is not None


def _newest(connection: Connection, session: str) -> tuple[Head | None, Line | None]:
    head = find_head(connection, session)
    if head is None:
        return None, None
    row = connection.execute(_LINES, {"id": session, "after": head.row.lines - 1, "size": 1}).first()
    if row is None:
        raise StoreError(f"session {session} should have a line {head.row.lines}, and it is not there; take another id")
    return head, _line(session, row.seq, row.body)


def _line(session: str, seq: int, body: str) -> Line:
    try:
        line = read_line(body.encode("utf-8", "surrogatepass"))
        if line.seq != seq:  # whoever reads page by page would never come to an end
            raise BadLine(f"its seq is {line.seq}")
        return line
    except BadLine as error:
        raise BadLine(f"session {session}, line {seq}: {error}") from None


def _remove(connection: Connection, session: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_VALUES})
    shas = connection.scalars(select(SESSION_VALUES.c.sha256).where(SESSION_VALUES.c.session == session)).all()
    if connection.execute(delete(SESSIONS).where(SESSIONS.c.session == session)).rowcount == 0:
        raise NoSession(f"no session {session} is kept here")
    if shas:
        connection.execute(_UNUSED, [{"sha": sha} for sha in shas])


def _put_version(connection: Connection, row: dict[str, Any]) -> None:
    rows = insert_into(connection, TURN_VERSIONS)
    news = {name: rows.excluded[name] for name in ("content", "tokens", "made_at", "made_by")}
    try:
        connection.execute(rows.on_conflict_do_update(index_elements=["session", "turn", "level"], set_=news), row)
    except IntegrityError:
        raise NoSession(f"no session {row['session']} is kept here") from None


def _versions(connection: Connection, session: str, turn: int | None, level: Level | None) -> list[TurnVersion]:
    columns = TURN_VERSIONS.c
    found = select(TURN_VERSIONS).where(columns.session == session).order_by(columns.turn, columns.level)
    if turn is not None:
        found = found.where(columns.turn == turn)
    if level is not None:
        found = found.where(columns.level == level)
    return [
        TurnVersion(turn=row.turn, level=row.level, content=row.content, tokens=row.tokens, at=row.made_at, by=row.made_by)
        for row in connection.execute(found)
    ]


_LINES: Final = (
    select(ENTRIES.c.seq, ENTRIES.c.body)
    .where(ENTRIES.c.session == bindparam("id"), ENTRIES.c.seq > bindparam("after"))
    .order_by(ENTRIES.c.seq)
    .limit(bindparam("size"))
)
_UNUSED: Final = delete(BIG_VALUES).where(
    BIG_VALUES.c.sha256 == bindparam("sha"),
    ~select(SESSION_VALUES.c.sha256).where(SESSION_VALUES.c.sha256 == BIG_VALUES.c.sha256).exists(),
)
