"""Ours, bare or swapped into an agent: first_run's script. The only runner in our own environment: `first_ours bare`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from benchmarks.peer_runners.first_run import Once, javascript, main, same
from catalog import tool
from harness import Harness, Session

SCRIPT = javascript("tools.x.same({ n })", end="return ")


@asynccontextmanager
async def opened() -> AsyncIterator[Session]:
    """The tool reads something that no cache can look at, so every call runs, and calls run at the same time."""
    tools = {"x.same": tool(reads=["clock:now"])(same)}
    async with Harness(tools=tools) as harness, harness.session() as session:
        yield session
        assert session.ledger.cache_hits == session.ledger.shared == 0


@asynccontextmanager
async def bare() -> AsyncIterator[Once]:
    async with opened() as session:

        async def once() -> str:
            return (await session.run(SCRIPT)).text

        yield once


if __name__ == "__main__":
    kind = sys.argv[1]
    main(bare if kind == "bare" else import_module(f"benchmarks.peer_runners.first_ours_{kind}").made)
