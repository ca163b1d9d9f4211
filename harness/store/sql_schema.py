"""The tables of the SQL store, the same for SQLite and PostgreSQL. `migrations/` makes them; a test compares the two.

`entries.body` is the line exactly as `Line.to_bytes` wrote it: JSON columns would change numbers and the order of members. All
else can be computed from the entries: it is there to be searched and summed.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

_NUL = "\ufdd0"  # no character; stands for NUL, which PostgreSQL keeps in no text
_HALVES = 0x10F800 - 0xD800  # half a surrogate pair has no UTF-8; it is kept as a private character of the last plane
_TO = {0: _NUL, **{half: chr(half + _HALVES) for half in range(0xD800, 0xE000)}}
_FROM = {ord(other): one for one, other in _TO.items()}


def storable(text: str) -> str:
    """The text with what no database takes replaced; of equal length, so what is part of it stays part of it."""
    return text if text.isascii() and "\0" not in text else text.translate(_TO)


class AnyText(TypeDecorator[str]):
    """Text from outside: every Python string goes in and comes back."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value if value is None or value.isascii() else value.translate(_FROM)


METADATA = MetaData()
SESSION = String(128)
SHA256 = String(64)
_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only a column that is an INTEGER to the letter


def _of_session(**options: Any) -> Column[str]:
    return Column("session", SESSION, ForeignKey("sessions.session", ondelete="CASCADE"), nullable=False, **options)


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("session", SESSION, primary_key=True),
    Column("opened", Double, nullable=False),
    Column("day", String(10), nullable=False),  # of `opened`, UTC
    Column("last", Double, nullable=False),
    Column("lines", BigInteger, nullable=False),
    Column("turns", BigInteger, nullable=False),
    Column("root", AnyText, nullable=False),
    Column("model", AnyText, nullable=False),
    Column("branch", AnyText, nullable=False),
    Column("format", AnyText, nullable=False),
    Column("title", AnyText, nullable=False),
    Column("digest", SHA256, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("produced", BigInteger, nullable=False),
    Column("shown", BigInteger, nullable=False),
    Index("sessions_opened", "opened"),
)

TURNS = Table(
    "turns",
    METADATA,
    _of_session(primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("began", Double),
    Column("ended", Double),
    Column("how", String(16)),
    Column("script_sha256", SHA256),
    Column("calls", BigInteger, nullable=False),
    Column("result_bytes", BigInteger, nullable=False),
)

TURN_VERSIONS = Table(
    "turn_versions",
    METADATA,
    _of_session(primary_key=True),
    Column("turn", BigInteger, primary_key=True),
    Column("level", String(1), primary_key=True),
    Column("content", AnyText, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("made_by", AnyText, nullable=False),
    CheckConstraint("level IN ('R', 'S', 'C', 'T')", name="turn_versions_level"),
)

ENTRIES = Table(
    "entries",
    METADATA,
    _of_session(primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("at", Double, nullable=False),
    Column("type", String(64), nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)

CALLS = Table(
    "calls",
    METADATA,
    Column("session", SESSION, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("place", Integer, primary_key=True),  # a record of another agent may hold several calls
    Column("turn", BigInteger, nullable=False),
    Column("calls", Integer, nullable=False),  # 1; 0 for an output that stands in a line of its own
    Column("call_id", AnyText, nullable=False),  # by which such an output finds its call
    Column("tool", AnyText, nullable=False),
    Column("status", String(32), nullable=False),
    Column("result_bytes", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    ForeignKeyConstraint(["session", "seq"], ["entries.session", "entries.seq"], ondelete="CASCADE"),
    Index("calls_tool", "tool", "session"),
)

PATHS = Table(
    "paths",
    METADATA,
    _of_session(primary_key=True),
    Column("sha256", SHA256, primary_key=True),  # of the path: a path itself may be longer than an index takes
    Column("name", AnyText, nullable=False),  # its last part
    Column("path", AnyText, nullable=False),
    Index("paths_name", "name"),
)

TEXTS = Table(
    "texts",
    METADATA,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("session", SESSION, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("folded", Text, nullable=False),  # `storable`, with case folded
    ForeignKeyConstraint(["session", "seq"], ["entries.session", "entries.seq"], ondelete="CASCADE"),
    Index("texts_session", "session", "seq"),
)

BIG_VALUES = Table(
    "big_values",
    METADATA,
    Column("sha256", SHA256, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # zstd
)

SESSION_VALUES = Table(
    "session_values",
    METADATA,
    _of_session(primary_key=True),
    Column("sha256", SHA256, ForeignKey("big_values.sha256"), primary_key=True),
    Index("session_values_sha256", "sha256"),
)
