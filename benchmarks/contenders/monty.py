"""pydantic-monty: a Python subset in a pool of native worker processes.

Used as its README shows for many scripts: one pool for all, `checkout()` a script. Its workers are reused
between checkouts, which is its default (`max_checkouts_per_worker=None`) and its fastest way. Limits like
ours are set because a tool layer would set them; `max_suspensions` must be raised for a thousand calls.
"""

from __future__ import annotations

import asyncio
from typing import Self

from pydantic_monty import AsyncMonty, Monty, ResourceLimits

from benchmarks.contenders import TASKS, WORKERS, run_on_lanes
from benchmarks.sandbox_cells import Script, echo, page, plain_echo, plain_page

LIMITS = ResourceLimits(max_feed_duration_secs=10.0, max_memory=96 << 20, max_suspensions=5_000)
ASYNC_TOOLS = {"echo": echo, "page": page}
PLAIN_TOOLS = {"echo": plain_echo, "page": plain_page}


class AsyncHost:
    async def __aenter__(self) -> Self:
        self.pool = await AsyncMonty(min_processes=WORKERS, max_processes=WORKERS).__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.pool.__aexit__(*exception)

    async def run(self, script: Script, lane: int = 0) -> object:
        async with self.pool.checkout(limits=LIMITS) as session:
            return await session.feed_run(script.python_async, external_lookup=ASYNC_TOOLS)

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=TASKS)


class SyncHost:
    async def __aenter__(self) -> Self:
        self.pool = Monty(min_processes=WORKERS, max_processes=WORKERS).__enter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.pool.__exit__(*exception)

    def run_blocking(self, script: Script) -> object:
        with self.pool.checkout(limits=LIMITS) as session:
            return session.feed_run(script.python_plain, external_lookup=PLAIN_TOOLS)

    async def run(self, script: Script) -> object:
        return self.run_blocking(script)

    async def run_many(self, script: Script, *, count: int) -> None:
        """A thread a worker: the session releases the interpreter's lock while the worker runs."""

        def work() -> None:
            for _ in range(count // WORKERS):
                self.run_blocking(script)

        await asyncio.gather(*(asyncio.to_thread(work) for _ in range(WORKERS)))
