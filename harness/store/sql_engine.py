"""How the databases are reached: addresses, connections, and when a transaction takes its locks.

SQLite: WAL, every commit synced, foreign keys on; a transaction that writes takes the write lock at its start, so it waits for
others there and never fails half-way. A file that may only be read is opened so, and nothing is put beside it. PostgreSQL: a
commit is on disk when it is answered, whatever the server's default is.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from harness.store import NoStore, StoreError

BUSY_SECONDS: Final = 60  # a writer of SQLite waits this long for the others
CONNECT_SECONDS: Final = 10
VERSION_TABLE: Final = "turnscript_schema"  # says which schema a database has; without it there is no store
Access: TypeAlias = Literal["make", "write", "read"]  # make: a file that is not there; read: nothing is changed or put beside it
Failure: TypeAlias = DBAPIError | PoolTimeoutError
FAILURES: Final = (DBAPIError, PoolTimeoutError)  # of the database; all else that SQLAlchemy raises is our mistake
_T = TypeVar("_T")
_SILENT_MS: Final = 30_000  # a server that acknowledges nothing for so long is gone
_ADDRESSES: Final = "write sqlite:FILE or postgresql://user@host/name"
_DRIVERS: Final = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

_STEPS: Final = (  # the driver's words, and what to do
    ("disk I/O error", "check that the disk has room, and how big files may grow here (ulimit -f)"),
    ("is full", "make room on the disk"),
    ("not a database", "give a file of SQLite, or a name that is free"),
    ("already exists", "tables of somebody else are there: give another database"),
    ("readonly database", "it may only be read here: give a store that you may write"),
    ("is locked", "another process holds it: try again when it is done"),
)


def parse_address(address: str) -> URL:
    """An SQLAlchemy URL with the driver we use. StoreError says what is wrong."""
    scheme, _, rest = address.partition(":")
    if scheme == "sqlite":
        return URL.create("sqlite+pysqlite", database=_file_of(rest))
    try:
        url = make_url(address)
    except ArgumentError:
        raise StoreError(f"{address!r} is no address of a database; {_ADDRESSES}") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise StoreError(f"no store for {url.drivername}; {_ADDRESSES}")
    return url.set(drivername=driver)


def _file_of(told: str) -> str:
    """As it stands behind `sqlite:`. With slashes as in a URL it is absolute, as it is for file:///; SQLAlchemy wants four."""
    if told.startswith("//") and told != "//" and not told.startswith("///"):
        raise StoreError(f"sqlite:{told} names a host; write sqlite:FILE, relative or absolute")
    path = "/" + told.lstrip("/") if told.startswith("/") else told
    if path in ("", "/") or path.endswith(":memory:"):
        raise StoreError("SQLite needs a file: sqlite:FILE; for sessions in memory write memory:")
    return path


def shown_address(url: URL) -> str:
    """As people write it, without the password."""
    if url.get_backend_name() == "sqlite":
        return f"sqlite:{url.database}"
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def access_to(url: URL, *, create: bool) -> Access:
    """How a store may be opened. Without `create`, NoStore for a file that is none: it is looked at before anything could
    change it."""
    if create or url.get_backend_name() != "sqlite":
        return "make" if create else "write"
    path = Path(url.database or "")
    if path.is_dir():
        raise StoreError(f"{path} is a folder, and SQLite needs a file; for sessions as files write jsonl:{path}")
    if not path.exists() or not _has_schema(path):
        raise no_store(url)
    return "write" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "read"


def no_store(url: URL) -> NoStore:
    address = shown_address(url)
    return NoStore(f"there is no store at {address}; check the address, or begin one: turnscript run --store {address} …")


def connected_engine(url: URL, *, pool_size: int, access: Access = "make") -> Engine:
    """Nothing is opened yet."""
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, pool_size, access)
    return _postgresql(url, pool_size)


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: committed at the end, or rolled back."""
    with engine.connect().execution_options(turnscript_begin="BEGIN IMMEDIATE") as connection, connection.begin():
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Everything read inside is of one moment on SQLite, statement by statement on PostgreSQL."""
    with engine.connect() as connection, connection.begin():
        yield connection


def read(engine: Engine, work: Callable[[Connection], _T]) -> _T:
    """What `work` finds. Once more where the connection was lost: after a restart of the server the pool is full of dead ones."""
    try:
        with reading(engine) as connection:
            return work(connection)
    except DBAPIError as error:
        if not lost(error):
            raise
    with reading(engine) as connection:
        return work(connection)


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ON CONFLICT."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def lost(error: Failure) -> bool:
    """Whether it was the connection that failed, not a statement."""
    return isinstance(error, DBAPIError) and (error.connection_invalidated or error.statement is None)


def next_step(said: str) -> str:
    """For words of a driver that tell what to do; "" for others."""
    return next((step for words, step in _STEPS if words in said), "")


def told(error: Failure) -> str:
    """The driver's own words, one line."""
    said = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return " ".join(str(said).split()) or type(said).__name__


def _sqlite(url: URL, pool_size: int, access: Access) -> Engine:
    path = Path(url.database or "")
    if access == "make":
        _create_private(path)
    pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": BUSY_SECONDS}
    if access == "read":
        engine = create_engine(url, creator=lambda: _only_read(path), **pool)
    else:
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **pool)
        event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _create_private(path: Path) -> None:
    """Sessions hold private data; the files SQLite puts beside get the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"cannot open {path}: {error.strerror}; check the path and who may write there") from None


def _has_schema(path: Path) -> bool:
    """True also where that cannot be told: whoever opens it then is told why."""
    try:
        with closing(_only_read(path)) as connection:
            return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (VERSION_TABLE,)).fetchone())
    except sqlite3.Error:
        return True


def _only_read(path: Path) -> sqlite3.Connection:
    """Without a write-ahead log nobody has it open, and SQLite need not put files beside it that say who reads."""
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{alone}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)


def _prepare_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions of its own; `_begin_sqlite` does
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("turnscript_begin", "BEGIN"))


def _postgresql(url: URL, pool_size: int) -> Engine:
    arguments = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": _SILENT_MS, "application_name": "turnscript"}
    engine = create_engine(
        url, pool_size=pool_size, max_overflow=0, pool_timeout=BUSY_SECONDS,
        connect_args={name: value for name, value in arguments.items() if name not in url.query},
    )  # fmt: skip
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_postgresql(connection: Any, _: Any) -> None:
    connection.autocommit = True  # one round trip instead of three
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
    connection.autocommit = False
