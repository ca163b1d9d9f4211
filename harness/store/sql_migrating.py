"""The schema of a database brought to the newest one, by the migrations beside this file.

Processes may open the same database at once: one migrates, in one transaction under a lock, and the others wait for it. A
database that a newer turnscript has migrated is refused: its columns may mean what this one does not know.
"""

from functools import cache
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from harness.store import StoreError
from harness.store.sql_engine import VERSION_TABLE, no_store, reading, shown_address, writing

LOCK_MIGRATING: Final = 0x7475726E_0001  # of PostgreSQL, for the length of a transaction
_FOLDER = Path(__file__).parent / "migrations"


def migrate(engine: Engine) -> None:
    """To the newest schema; nothing is done, and no lock taken, where the database has it."""
    with reading(engine) as connection:
        if not _steps(connection):
            return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_MIGRATING})
        if _steps(connection):
            command.upgrade(_config(connection), "head")


def require_store(engine: Engine) -> None:
    """NoStore where there is no schema at all."""
    with reading(engine) as connection:
        if _current(connection) is None:
            raise no_store(engine.url)


def require_newest(engine: Engine) -> None:
    """StoreError where the schema is an older one, or there is none."""
    with reading(engine) as connection:
        current, steps = _current(connection), _steps(connection)
    if steps:
        stands = f"has schema {current}" if current else "has no schema of turnscript"
        raise StoreError(
            f"the database {stands}, and {_scripts().get_current_head()} is needed; somebody who may write it brings it there: "
            f"turnscript session migrate --schema {shown_address(engine.url)}"
        )


def _steps(connection: Connection) -> bool:
    """Whether migrations are to be run."""
    current, scripts = _current(connection), _scripts()
    newest = scripts.get_current_head()
    if current is not None and not _known(scripts, current):
        raise StoreError(
            f"the database has schema {current}, of a newer turnscript; this one knows up to {newest}: install a newer turnscript"
        )
    return current != newest


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def _known(scripts: ScriptDirectory, revision: str) -> bool:
    try:
        return scripts.get_revision(revision) is not None
    except CommandError:
        return False


@cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(_FOLDER))


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection, "version_table": VERSION_TABLE})
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config
