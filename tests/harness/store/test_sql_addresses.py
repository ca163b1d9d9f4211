"""Where a SQL store is opened: addresses that lead nowhere are told, a new file is private, ids fit every store."""

import stat
from pathlib import Path

import pytest

from harness.store import StoreError, StoreFailed
from harness.store.sql import SqlStore
from tests.contracts.sql_stores import opened

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://host/db", "no store for mysql; write sqlite:FILE or postgresql://user@host/name"),
        ("nonsense", "'nonsense' is no address of a database; write sqlite:FILE or postgresql://user@host/name"),
        ("sqlite://", "SQLite needs a file: sqlite:FILE; for sessions in memory write memory:"),
        ("sqlite:///:memory:", "SQLite needs a file: sqlite:FILE; for sessions in memory write memory:"),
    ],
)
async def test_an_address_that_leads_nowhere_is_told(address: str, message: str) -> None:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(address)
    assert str(caught.value) == message


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("not a database, but a long enough text " * 10)
    with pytest.raises(StoreFailed, match=r"^cannot open sqlite:/.*a\.db: file is not a database; give a file of SQLite"):
        await SqlStore.open(f"sqlite:{tmp_path}/a.db")


async def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match=r"^cannot open postgresql.*No such file or directory.*check the address") as caught:
        await SqlStore.open(f"postgresql://ada:secret@/db?host={tmp_path}")
    assert "secret" not in str(caught.value)


async def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    async with opened(f"sqlite:{tmp_path}/new/sessions.db") as store:
        await store.write("s", at=0.0)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes == {"sessions.db": 0o600, "sessions.db-wal": 0o600, "sessions.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


async def test_an_id_that_not_every_store_takes_is_refused(tmp_path: Path) -> None:
    async with opened(f"sqlite:{tmp_path}/a.db") as store:
        for session in ("", "a\0b", "x" * 129, "ä"):
            with pytest.raises(StoreError, match="is no id of a session; use up to 128"):
                await store.write(session, at=0.0)
