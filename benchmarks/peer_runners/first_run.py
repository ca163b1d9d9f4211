"""What the contenders of first_run share: one script with 20 parallel calls, the first time, and then many times.

A child says how long the first result took from when the agent was made; the parent knows how long from the start of the process.
Then, when asked, the child runs it again and says how long each took.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from time import perf_counter

CALLS = 20
EXPECTED = str(sum(range(CALLS)))
Once = Callable[[], Awaitable[str]]


def javascript(call: str, end: str = "") -> str:
    made = f"const all = await Promise.all(Array.from({{ length: {CALLS} }}, (_, n) => {call}));"
    return f"{made}\n{end}all.reduce((a, b) => a + b)"


def python(call: str, *, value: str = "one", end: str = "") -> str:
    made = f"import asyncio\nresults = await asyncio.gather(*[{call} for n in range({CALLS})])"
    return f"{made}\n{end}sum([{value} for one in results])"


async def same(n: int) -> int:
    """Give n back."""
    return n


def main(make: Callable[[], AbstractAsyncContextManager[Once]]) -> None:
    asyncio.run(_main(make))


async def _main(make: Callable[[], AbstractAsyncContextManager[Once]]) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a peer that prints must not break the lines
    began = perf_counter()
    async with make() as once:
        await _timed(once)
        print(json.dumps({"made_to_first": perf_counter() - began}), file=out, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            times = [await _timed(once) for _ in range(int(line))]
            print(json.dumps({"seconds": times}), file=out, flush=True)


async def _timed(once: Once) -> float:
    began = perf_counter()
    text = await once()
    took = perf_counter() - began
    assert EXPECTED in text, text
    return took
