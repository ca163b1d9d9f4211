"""The SQL stores for the contract of the stores: a file on `tmp_path`, and a database of its own on a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.store.sql import SqlStore
from tests.postgres import server


@asynccontextmanager
async def sqlite_store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with opened(f"sqlite:///{tmp_path}/sessions.db") as store:
        yield store


@asynccontextmanager
async def postgresql_store() -> AsyncIterator[SqlStore]:
    with server().database() as url:
        async with opened(url) as store:
            yield store


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[SqlStore]:
    store = await SqlStore.open(url, reconnect_seconds=5)
    try:
        yield store
    finally:
        await store.close()
