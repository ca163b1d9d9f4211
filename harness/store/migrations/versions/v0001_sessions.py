"""The first schema: sessions, their entries and big values, and what is searched and summed of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

revision = "v0001"
down_revision = None
branch_labels = None
depends_on = None

_SESSION = sa.String(128)
_SHA256 = sa.String(64)
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")

_FTS = """
CREATE VIRTUAL TABLE texts_index USING fts5(
    folded, content='texts', content_rowid='id', tokenize='trigram case_sensitive 1', detail=none)
"""
_FTS_INSERT = """
CREATE TRIGGER texts_inserted AFTER INSERT ON texts BEGIN
    INSERT INTO texts_index(rowid, folded) VALUES (new.id, new.folded);
END
"""
_FTS_DELETE = """
CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN
    INSERT INTO texts_index(texts_index, rowid, folded) VALUES ('delete', old.id, old.folded);
END
"""


def upgrade() -> None:
    _create_sessions()
    _create_entries()
    _create_search()
    _create_values()
    if op.get_bind().dialect.name == "sqlite":
        _index_by_fts5()
    else:
        _index_by_trigrams()


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session", _SESSION, primary_key=True),
        sa.Column("opened", sa.Double, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("last", sa.Double, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
        sa.Column("turns", sa.BigInteger, nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("digest", _SHA256, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.Column("produced", sa.BigInteger, nullable=False),
        sa.Column("shown", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_opened", "sessions", ["opened"])
    op.create_table(
        "turns",
        _of_session(),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("began", sa.Double),
        sa.Column("ended", sa.Double),
        sa.Column("how", sa.String(16)),
        sa.Column("script_sha256", _SHA256),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.Column("result_bytes", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "turn_versions",
        _of_session(),
        sa.Column("turn", sa.BigInteger, primary_key=True),
        sa.Column("level", sa.String(1), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.CheckConstraint("level IN ('R', 'S', 'C', 'T')", name="turn_versions_level"),
    )


def _create_entries() -> None:
    op.create_table(
        "entries",
        _of_session(),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("type", sa.String(64), nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )


def _create_search() -> None:
    op.create_table(
        "calls",
        sa.Column("session", _SESSION, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("result_bytes", sa.BigInteger, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        _of_entry(),
    )
    op.create_index("calls_tool", "calls", ["tool", "session"])
    op.create_table(
        "paths",
        _of_session(),
        sa.Column("sha256", _SHA256, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
    )
    op.create_index("paths_name", "paths", ["name"])
    op.create_table(
        "texts",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("session", _SESSION, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        _of_entry(),
    )
    op.create_index("texts_session", "texts", ["session", "seq"])


def _create_values() -> None:
    op.create_table(
        "big_values",
        sa.Column("sha256", _SHA256, primary_key=True),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "session_values",
        _of_session(),
        sa.Column("sha256", _SHA256, sa.ForeignKey("big_values.sha256"), primary_key=True),
    )
    op.create_index("session_values_sha256", "session_values", ["sha256"])


def _of_session() -> sa.Column[str]:
    return sa.Column("session", _SESSION, sa.ForeignKey("sessions.session", ondelete="CASCADE"), primary_key=True)


def _of_entry() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["session", "seq"], ["entries.session", "entries.seq"], ondelete="CASCADE")


def _index_by_fts5() -> None:
    """Only where this SQLite has it: texts are searched one by one otherwise."""
    try:
        op.execute(_FTS)
    except DBAPIError:
        return
    op.execute(_FTS_INSERT)
    op.execute(_FTS_DELETE)


def _index_by_trigrams() -> None:
    """Only where the extension is there and this user may create it: texts are searched one by one otherwise."""
    try:
        with op.get_bind().begin_nested():
            op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            op.execute("CREATE INDEX texts_folded_trigrams ON texts USING gin (folded gin_trgm_ops)")
    except DBAPIError:
        return
