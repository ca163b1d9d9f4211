"""Our sandbox: a fresh locked-down process a script, one reused within a session, and the machine in process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from benchmarks.contenders import TASKS, WORKERS, run_on_lanes
from benchmarks.sandbox_cells import Script, echo, page
from sandbox import Called, Exceeded, Failed, Finished, Limits, Machine, Pool, Resolve, Start

# The default of 256 calls would refuse the thousand-call cells; every other limit is the default.
LIMITS = Limits(calls=2_000)
TOOLS: dict[str, Callable[..., Awaitable[object]]] = {"bench.echo": echo, "bench.page": page}


def start(script: Script) -> Start:
    return Start(
        source=script.js("tools.bench."),
        tools=tuple(TOOLS),
        context={},
        limits=LIMITS,
        now=1_700_000_000_000.0,
        seed=1,
    )


async def resolve(call: Called) -> Resolve:
    return Resolve(call_id=call.call_id, value=await TOOLS[call.tool](*call.args))


async def answer(calls: Sequence[Called]) -> Sequence[Resolve]:
    """Calls that arrive together run together, as in a turn; one alone needs no task."""
    if len(calls) == 1:
        return [await resolve(calls[0])]
    return await asyncio.gather(*map(resolve, calls))


async def drive(send: Callable[..., Awaitable[Sequence[object]]], script: Script) -> object:
    events = await send(start(script))
    while True:
        last = events[-1]
        if isinstance(last, Finished):
            return last.value
        if isinstance(last, (Failed, Exceeded)):
            raise RuntimeError(last.error.text)
        events = await send(*await answer([event for event in events if isinstance(event, Called)]))


class Pooled:
    """A session a lane: scripts of one session follow each other, as turns do."""

    reuse: bool
    lanes: int

    async def __aenter__(self) -> Self:
        self.pool = await Pool(workers=WORKERS, reuse=self.reuse).__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.pool.__aexit__(kind, error, trace)

    async def run(self, script: Script, lane: int = 0) -> object:
        async with self.pool.sandbox(session=f"lane-{lane}") as box:
            return await drive(box.send, script)

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=self.lanes)


class Fresh(Pooled):
    reuse = False
    lanes = TASKS


class Reused(Pooled):
    reuse = True
    lanes = WORKERS  # a worker belongs to one session, so two workers are two sessions


class InProcess:
    """A new `Machine` for every script: what the engine, the prelude and the messages cost without a process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        return None

    async def run(self, script: Script, lane: int = 0) -> object:
        machine = Machine()

        async def send(*commands: Start | Resolve) -> Sequence[object]:
            return machine.send(*commands)

        return await drive(send, script)

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=1)
