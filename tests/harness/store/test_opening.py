"""A store from its address."""

import builtins
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.store import NoStore, StoreError
from harness.store.jsonl import JsonlStore
from harness.store.memory import MemoryStore
from harness.store.opening import open_store
from harness.store.sql import SqlStore

pytestmark = pytest.mark.anyio


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


async def test_each_address_opens_its_store(tmp_path: Path) -> None:
    assert isinstance(await open_store("memory:"), MemoryStore)
    for address in (str(tmp_path / "a"), f"jsonl:{tmp_path}/a", f"jsonl://{tmp_path}/a"):
        store = await open_store(address)
        assert isinstance(store, JsonlStore) and store.folder == tmp_path / "a"
    for number, slashes in enumerate(("", "//", "///")):  # before one that the path begins with
        sql = await open_store(f"sqlite:{slashes}{tmp_path}/{number}.db")
        assert isinstance(sql, SqlStore)
        await sql.close()
    assert files_in(tmp_path) == ["0.db", "1.db", "2.db"]


async def test_a_path_behind_sqlite_is_relative_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("sqlite:a.db", "sqlite:in/b?c=%41 d.db"):
        await (await open_store(address)).close()
    assert files_in(tmp_path) == ["a.db", "in/b?c=%41 d.db"]
    with pytest.raises(StoreError, match=r"^sqlite://a\.db names a host; write sqlite:FILE, relative or absolute$"):
        await open_store("sqlite://a.db")


@pytest.mark.parametrize(
    "address", ["{}/none", "jsonl:{}/none", "sqlite:{}/none.db", "sqlite:{}/none/s.db", "sqlite:{}/empty.db"]
)
async def test_nothing_is_made_for_who_only_reads(tmp_path: Path, address: str) -> None:
    (tmp_path / "empty.db").touch()
    told = address.format(tmp_path)
    place = told.removeprefix("jsonl:")
    with pytest.raises(NoStore) as caught:
        await open_store(told, create=False)
    step = f"check the address, or begin one: turnscript run --store {place} …"
    assert str(caught.value) == f"there is no store at {place}; {step}"
    assert files_in(tmp_path) == ["empty.db"] and (tmp_path / "empty.db").stat().st_size == 0
    await (await open_store(told)).close()
    if address.startswith("sqlite:"):
        await (await open_store(told, create=False)).close()


async def test_a_database_of_somebody_else_is_not_touched_by_who_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE sessions (id)")
    before = path.read_bytes()
    with pytest.raises(NoStore):
        await open_store(f"sqlite:{path}", create=False)
    assert path.read_bytes() == before and files_in(tmp_path) == ["other.db"]
    with pytest.raises(
        StoreError, match=r"table sessions already exists; tables of somebody else are there: give another database$"
    ):
        await open_store(f"sqlite:{path}")


async def test_a_file_is_no_folder_of_sessions(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("return 1")
    with pytest.raises(StoreError, match=r"a\.js is no folder; sessions are files in a folder: give that, or sqlite:FILE"):
        await open_store(f"{tmp_path}/a.js", create=False)
    with pytest.raises(StoreError, match=r"is a folder, and SQLite needs a file; for sessions as files write jsonl:/"):
        await open_store(f"sqlite:{tmp_path}", create=False)
    with pytest.raises(StoreError, match=r"^cannot open /.*: Is a directory; check the path and who may write there$"):
        await open_store(f"sqlite:{tmp_path}")


@pytest.mark.parametrize("address", ["", "mysql://x", "jsonl:", "sqlite:", "memori:"])
async def test_an_unknown_address_is_refused_with_the_choices(address: str) -> None:
    choices = r"give one of: memory:, a folder, jsonl:FOLDER, sqlite:FILE, postgresql://user@host/database"
    with pytest.raises(StoreError, match=choices):
        await open_store(address)


async def test_sql_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith(("harness.store.sql", "sqlalchemy"))]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "sqlalchemy":
            raise ModuleNotFoundError("No module named 'sqlalchemy'", name="sqlalchemy")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StoreError, match=r"^sessions in SQL need: pip install 'turnscript\[sql\]'$"):
        await open_store(f"sqlite:///{tmp_path}/s.db")
