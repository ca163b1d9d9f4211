"""The child that runs one contender, so that no product's imports, threads or heap weigh on another's numbers.

Started by benchmarks/sandbox.py, one a contender. Reads one request a line on stdin, answers one line on stdout;
sleeps in between. A contender's trouble is an answer with "error", never the end of the benchmark.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Sequence

from benchmarks.contenders import CONTENDERS, Contender
from benchmarks.processes import descendants, pss_bytes, read_process
from benchmarks.sandbox_cells import CELLS, Cell

SECONDS_PER_CELL = 3.0  # a slow contender gives fewer samples rather than making all others wait
MB = 1_000_000


def percentile(samples: Sequence[float], percent: int) -> float:
    return sorted(samples)[min(len(samples) - 1, len(samples) * percent // 100)]


async def checked_run(contender: Contender, cell: Cell) -> float:
    began = time.perf_counter()
    value = await contender.run(cell.script)
    elapsed = time.perf_counter() - began
    if value != cell.script.expected:
        raise RuntimeError(f"wrong result in {cell.name}: {str(value)[:80]}")
    return elapsed


async def measure_latency(contender: Contender, cell: Cell, *, count: int) -> list[float]:
    await checked_run(contender, cell)
    samples: list[float] = []
    deadline = time.monotonic() + SECONDS_PER_CELL
    while len(samples) < count and (not samples or time.monotonic() < deadline):
        if cell.gap_seconds:
            await asyncio.sleep(cell.gap_seconds)
        samples.append(1000 * await checked_run(contender, cell))
    return samples


async def measure_rate(contender: Contender, cell: Cell, *, count: int) -> list[float]:
    await checked_run(contender, cell)
    began = time.perf_counter()
    await contender.run_many(cell.script, count=count)
    return [count / (time.perf_counter() - began)]


def worker_memory(cell: Cell) -> list[float]:
    """The median worker, in MB; a contender without workers is measured as this whole process."""
    workers = [process.pid for process in descendants(os.getpid())] or [os.getpid()]
    if cell.name == "worker_pss":
        sizes = [size for pid in workers if (size := pss_bytes(pid)) is not None]
    else:
        sizes = [process.rss_bytes for pid in workers if (process := read_process(pid))]
    return [statistics.median(sizes) / MB] if sizes else []


async def measure(contender: Contender, cell: Cell, *, count: int) -> list[float]:
    match cell.kind:
        case "latency":
            return await measure_latency(contender, cell, count=count)
        case "rate":
            return await measure_rate(contender, cell, count=count)
        case "memory":
            return worker_memory(cell)
        case "cold":
            raise ValueError("the cold start is measured from outside")


async def answer(contender: Contender, request: dict[str, object]) -> dict[str, object]:
    cell = next(cell for cell in CELLS if cell.name == request["cell"])
    try:
        samples = await measure(contender, cell, count=int(str(request["count"])))
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    if not samples:
        return {"error": "not readable"}
    return {"p50": statistics.median(samples), "p99": percentile(samples, 99), "samples": len(samples)}


def say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


async def serve(contender: Contender) -> None:
    async with contender:
        say({"ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            say(await answer(contender, json.loads(line)))


def main() -> None:
    entry = next(entry for entry in CONTENDERS if entry.name == sys.argv[1])
    try:
        asyncio.run(serve(entry.load()))
    except Exception as error:
        traceback.print_exc()
        say({"error": f"{type(error).__name__}: {error}"[:200]})


if __name__ == "__main__":
    main()
