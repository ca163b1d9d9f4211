"""Who is compared. One class a contender, one module a product, imported only in the child that runs it.

A contender runs one script after another, each isolated from the last the way its own documents say.
`CONTENDERS` is the order of the table's rows. `cold` is what `python -c` runs for the cold start.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Literal, Protocol, Self

from benchmarks.sandbox_cells import Script

WORKERS = 2
TASKS = 4  # scripts in flight: enough to keep two workers busy; monty gains nothing from more


class Contender(Protocol):
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def run(self, script: Script) -> object:
        """One script in a sandbox of its own; its value."""

    async def run_many(self, script: Script, *, count: int) -> None:
        """`count` such scripts, `TASKS` in flight, on `WORKERS` workers."""


async def run_on_lanes(run: Callable[[Script, int], Awaitable[object]], script: Script, *, count: int, lanes: int) -> None:
    """`lanes` tasks that each take the next script as soon as they are free."""
    numbers = iter(range(count))

    async def work(lane: int) -> None:
        for _ in numbers:
            await run(script, lane)

    await asyncio.gather(*(work(lane) for lane in range(lanes)))


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    role: Literal["ours", "floor", "peer"]
    class_path: str  # "module:Class" below benchmarks.contenders
    distribution: str | None  # what must be installed; None needs nothing
    cold: str | None
    isolation: str

    def installed_version(self) -> str | None:
        """None means that the distribution is not installed."""
        if self.distribution is None:
            return ""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None

    def load(self) -> Contender:
        module, name = self.class_path.split(":")
        contender: Contender = getattr(importlib.import_module(f"benchmarks.contenders.{module}"), name)()
        return contender


OURS_COLD = """
import asyncio
from sandbox import Pool, Start
async def main():
    async with Pool(workers=1, reuse={reuse}) as pool:
        async with pool.sandbox(session="cold") as box:
            events = await box.send(Start(source="1+1"))
            print(events[-1].value, flush=True)
asyncio.run(main())
"""
MACHINE_COLD = """
from sandbox import Machine, Start
events = Machine().send(Start(source="1+1"))
print(events[-1].value, flush=True)
"""
ENGINE_COLD = "import _quickjs; print(_quickjs.Context().eval('1+1'), flush=True)"
MONTY_ASYNC_COLD = """
import asyncio
from pydantic_monty import AsyncMonty
async def main():
    async with AsyncMonty() as pool:
        async with pool.checkout() as session:
            print(await session.feed_run("1+1"), flush=True)
asyncio.run(main())
"""
MONTY_SYNC_COLD = """
from pydantic_monty import Monty
with Monty() as pool:
    with pool.checkout() as session:
        print(session.feed_run("1+1"), flush=True)
"""
QUICKJS_RS_COLD = """
import asyncio
from quickjs_rs import Runtime
async def main():
    with Runtime() as runtime, runtime.new_context() as context:
        print(await context.eval_async("1+1"), flush=True)
asyncio.run(main())
"""
SMOLAGENTS_COLD = """
from smolagents.local_python_executor import LocalPythonExecutor
executor = LocalPythonExecutor([])
executor.send_tools({})
print(executor("1+1").output, flush=True)
"""

CONTENDERS: tuple[Entry, ...] = (
    Entry("ours, fresh process", "ours", "ours:Fresh", "quickjs-ng", OURS_COLD.format(reuse=False), "process a script"),
    Entry("ours, reused", "ours", "ours:Reused", "quickjs-ng", OURS_COLD.format(reuse=True), "process a session"),
    Entry("floor: our Machine", "floor", "ours:InProcess", "quickjs-ng", MACHINE_COLD, "none: in process"),
    Entry("floor: bare engine", "floor", "floors:BareEngine", "quickjs-ng", ENGINE_COLD, "none: in process, no limits"),
    Entry("floor: socketpair", "floor", "floors:BlockingSocket", None, "print(2, flush=True)", "runs no script"),
    Entry("floor: socketpair, asyncio", "floor", "floors:AsyncSocket", None, None, "runs no script"),
    Entry("monty, async host", "peer", "monty:AsyncHost", "pydantic-monty", MONTY_ASYNC_COLD, "reused process"),
    Entry("monty, sync host", "peer", "monty:SyncHost", "pydantic-monty", MONTY_SYNC_COLD, "reused process"),
    Entry("quickjs-rs", "peer", "wasm_quickjs:QuickJsRs", "quickjs-rs", QUICKJS_RS_COLD, "wasm in process"),
    Entry("smolagents local", "peer", "smol:LocalPython", "smolagents", SMOLAGENTS_COLD, "none: in process"),
)
