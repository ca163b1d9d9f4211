"""The same tasks as plain JSON tool calls and as scripts, in the same framework: requests, bytes sent to the model, time.

    python -m benchmarks.swap [--rounds 9] [--json PATH]

The functions of our packs `files` and `search` are the plain tools on one side; on the other the tool layer is swapped in. Models
are scripted and answer at once, so the time is that of tools and framework alone. A request counts with everything in it: tool
definitions and all messages so far, as Chat Completions have them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table

from benchmarks import swap_langchain, swap_pydantic_ai
from benchmarks.peers import ROOT
from benchmarks.swap_tasks import Calls, Task, lay_out, tasks
from catalog import Host, Toolbox, choose, load_pack, open_toolbox
from harness import Harness

RESULTS = ROOT / "benchmarks" / "results"
PACKS = ("files", "search")
World = tuple[Harness, Toolbox]


class Ran(Protocol):
    requests: list[int]
    last: str


@dataclass(frozen=True, slots=True)
class Row:
    framework: str
    task: str
    side: str
    requests: int
    bytes_total: int  # of all requests
    bytes_end: int  # of the last one
    p50_ms: float
    best_ms: float
    rounds_ms: list[float]


@dataclass(slots=True)
class Cell:
    framework: str
    task: Task
    side: str
    run: Callable[[], Awaitable[Ran]]
    ran: Ran | None = None
    seconds: list[float] | None = None


def cells(everything: World, alone: World) -> list[Cell]:
    frameworks: dict[str, Any] = {"pydantic-ai": swap_pydantic_ai, "LangChain": swap_langchain}
    made = []
    for name, module in frameworks.items():
        for task in tasks():
            harness, toolbox = alone if task.alone else everything
            made.append(Cell(name, task, "plain", _plain(module, task, toolbox)))
            made.append(Cell(name, task, "scripts", _swapped(module, task, harness)))
    return made


def _plain(module: Any, task: Task, toolbox: Toolbox) -> Callable[[], Awaitable[Ran]]:
    async def run() -> Ran:
        ran: Ran = await module.plain(list(task.plain), toolbox)
        return ran

    return run


def _swapped(module: Any, task: Task, harness: Harness) -> Callable[[], Awaitable[Ran]]:
    replies: list[Calls] = [(("run_script", {"script": script}),) for script in task.scripts]

    async def run() -> Ran:
        async with harness.session() as session:  # a conversation of its own: nothing is in view, nothing is cached
            ran: Ran = await module.swapped(replies, session)
        assert task.proof in ran.last, f"{task.name}: {ran.last[:500]}"
        return ran

    return run


@asynccontextmanager
async def world(root: Path, tools: tuple[str, ...] | None = None) -> AsyncIterator[World]:
    offer = choose([load_pack(name) for name in PACKS], tools=tools)
    async with Harness(offer=offer, root=root) as harness, open_toolbox(offer, host=Host(root=root)) as toolbox:
        yield harness, toolbox


async def measure(root: Path, rounds: int) -> list[Row]:
    lay_out(root)
    async with world(root) as everything, world(root, ("files.read",)) as alone:
        made = cells(everything, alone)
        for at in range(rounds + 1):  # the first warms up
            for cell in made:
                began = time.perf_counter()
                cell.ran = await cell.run()
                cell.seconds = [*(cell.seconds or []), time.perf_counter() - began] if at else []
    return [_row(cell) for cell in made]


def _row(cell: Cell) -> Row:
    assert cell.ran is not None and cell.seconds
    sizes, times = cell.ran.requests, [round(1000 * one, 3) for one in cell.seconds]
    return Row(
        cell.framework, cell.task.name, cell.side, len(sizes), sum(sizes), sizes[-1], round(median(times), 3), min(times), times
    )


def show(rows: list[Row]) -> None:
    table = Table(title="plain tool calls, and scripts: the same framework, the same tools")
    for name in ("framework", "task", "requests", "bytes in all", "bytes at the end", "p50 ms", "best ms"):
        table.add_column(name, justify="left" if name in ("framework", "task") else "right")
    for plain, scripts in zip(rows[::2], rows[1::2], strict=True):
        table.add_row(
            plain.framework, plain.task, f"{plain.requests} → {scripts.requests}",
            f"{plain.bytes_total:,} → {scripts.bytes_total:,}",
            f"{plain.bytes_end:,} → {scripts.bytes_end:,}", f"{plain.p50_ms:.1f} → {scripts.p50_ms:.1f}",
            f"{plain.best_ms:.1f} → {scripts.best_ms:.1f}",
        )  # fmt: skip
    Console(width=130).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.swap", description=str(__doc__).split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, default=RESULTS / "swap.json", metavar="PATH")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(Path(folder), options.rounds))
    show(rows)
    about = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "rounds": options.rounds,
        "load_after": os.getloadavg()[0],
        "versions": {name: version(name) for name in ("pydantic-ai-slim", "langchain", "langchain-core")},
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"about": about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    print(f"Saved: {options.json}")


if __name__ == "__main__":
    main()
