"""The schema of a database: made by the migrations alone, once, whoever comes first; a newer one is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, text

from harness.store import NoStore, StoreError, StoreFailed
from harness.store.sql import SqlStore
from harness.store.sql_engine import VERSION_TABLE, connected_engine, parse_address, reading, shown_address, writing
from harness.store.sql_migrating import migrate
from harness.store.sql_schema import METADATA
from tests.postgres import server

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Of an empty database."""
    if request.param == "sqlite":
        made = connected_engine(parse_address(f"sqlite:///{tmp_path}/sessions.db"), pool_size=2)
        yield made
        made.dispose()
        return
    with server().database(migrated=False) as url:
        made = connected_engine(parse_address(url), pool_size=2)
        yield made
        made.dispose()


def address(engine: Engine) -> str:
    return engine.url.set(drivername=engine.dialect.name).render_as_string(hide_password=False)


def execute(engine: Engine, statement: str) -> None:
    with writing(engine) as connection:
        connection.execute(text(statement))


def test_the_migrations_make_the_tables_that_the_code_uses(engine: Engine) -> None:
    migrate(engine)
    options = {
        "version_table": VERSION_TABLE,
        "include_name": lambda name, kind, _: kind != "table" or not name.startswith("texts_index"),
    }
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []


async def test_an_old_schema_is_refused_where_nobody_asked_for_a_new_one(engine: Engine) -> None:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(address(engine), upgrade=False)
    assert str(caught.value) == (
        "the database has no schema of turnscript, and v0001 is needed; somebody who may write it brings it there: "
        f"turnscript session migrate --schema {shown_address(engine.url)}"
    )
    migrate(engine)
    await (await SqlStore.open(address(engine), upgrade=False)).close()


async def test_no_tables_are_made_for_who_only_reads(engine: Engine) -> None:
    with pytest.raises(NoStore) as caught:
        await SqlStore.open(address(engine), create=False)
    told = shown_address(engine.url)
    assert str(caught.value) == (f"there is no store at {told}; check the address, or begin one: turnscript run --store {told} …")
    with reading(engine) as connection:
        assert inspect(connection).get_table_names() == []
    migrate(engine)
    await (await SqlStore.open(address(engine), create=False)).close()


@pytest.mark.parametrize("upgrade", [True, False])
async def test_a_database_of_a_newer_turnscript_is_refused(engine: Engine, upgrade: bool) -> None:
    migrate(engine)
    execute(engine, f"UPDATE {VERSION_TABLE} SET version_num = 'v0099'")
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(address(engine), upgrade=upgrade)
    assert str(caught.value) == (
        "the database has schema v0099, of a newer turnscript; this one knows up to v0001: install a newer turnscript"
    )


async def test_a_database_of_somebody_else_is_left_as_it_is(engine: Engine) -> None:
    execute(engine, "CREATE TABLE turns (owner TEXT)")
    with pytest.raises(
        StoreFailed, match=r"\"?turns\"? already exists; tables of somebody else are there: give another database$"
    ):
        await SqlStore.open(address(engine))
    with pytest.raises(StoreError, match=r"^the database has no schema of turnscript, and v0001 is needed"):
        await SqlStore.open(address(engine), upgrade=False)
    execute(engine, "INSERT INTO turns VALUES ('somebody else')")
