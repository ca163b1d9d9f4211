"""What runs at once, and what waits: calls in one `Promise.all` beside the same calls one after the other.

    python -m benchmarks.races [--calls 16] [--wait-ms 20] [--rounds 5] [--json PATH]

Run it as a module from the repository's root. The first rows wait and do nothing else, so that their ratio shows the order alone;
the others use the packs on files of a temporary folder. The cache is off. Each time is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from catalog import tool
from harness import Harness, Session, Setup
from harness.approval import Policy, allowing
from harness.limits import TurnLimits
from harness.setup import Flags
from sandbox import Pool

PACKS = ("files", "patch", "search", "shell")
LINES = 2_000


@dataclass(frozen=True, slots=True)
class Work:
    """`call` is JavaScript in which `n` is the number of the call and `r` the number of the round."""

    name: str
    call: str
    expected: str


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    calls: int
    serial_ms: float
    parallel_ms: float
    ratio: float
    expected: str


WRITE = "tools.patch.write({ path: %s, text: `round ${r} call ${n}\\n`, overwrite: true })"
WORKS = (
    Work("waits, reads apart", "tools.x.read(`f${n}`)", "8 at once"),
    Work("waits, reads of one file", 'tools.x.read("f", n)', "8 at once"),
    Work("waits, writes apart", "tools.x.write(`f${n}`)", "8 at once"),
    Work("waits, writes of one file", 'tools.x.write("f")', "one by one"),
    Work("waits, effects unknown", "tools.x.unknown(n)", "one by one"),
    Work("files.read apart", "tools.files.read(`r${n}.txt`)", "8 at once"),
    Work("search.grep", 'tools.search.grep("line 1" + n)', "8 at once"),
    Work("patch.write apart", WRITE % "`w${n}.txt`", "8 at once"),
    Work("patch.write, one file", WRITE % '"w.txt"', "one by one"),
    Work("shell.run, known to read", "tools.shell.run(`head -n ${n + 1} r0.txt`)", "8 at once"),
    Work("shell.run, effects unknown", 'tools.shell.run(`python3 -c "print(${n})"`)', "one by one"),
)


def waiting_tools(seconds: float) -> dict[str, Callable[..., Awaitable[Any]]]:
    @tool(reads=["file:{path}"])
    async def read(path: str, by: int = 0) -> int:
        await anyio.sleep(seconds)
        return by

    @tool(effect="writes", writes=["file:{path}"])
    async def write(path: str) -> None:
        await anyio.sleep(seconds)

    async def unknown(n: int) -> int:
        await anyio.sleep(seconds)
        return n

    return {"x.read": read, "x.write": write, "x.unknown": unknown}


async def timed(session: Session, script: str) -> float:
    outcome = await session.run(script)
    if not outcome.ok:
        raise SystemExit(f"{script}\n{outcome.text}")
    return outcome.ledger.turn_seconds


async def measured(session: Session, work: Work, *, calls: int, rounds: int) -> Row:
    numbers = f"[...Array({calls}).keys()]"
    serial, parallel = list[float](), list[float]()
    for r in range(rounds):
        one_by_one = f"const r = {2 * r};\nfor (const n of {numbers}) await {work.call};\nreturn 1"
        at_once = f"const r = {2 * r + 1};\nawait Promise.all({numbers}.map(n => {work.call}));\nreturn 1"
        serial.append(await timed(session, one_by_one))
        parallel.append(await timed(session, at_once))
    one, other = statistics.median(serial) * 1_000, statistics.median(parallel) * 1_000
    return Row(work.name, calls, round(one, 1), round(other, 1), round(one / other, 2), work.expected)


async def run(*, calls: int, wait_ms: float, rounds: int) -> list[Row]:
    turn = TurnLimits(repeats=1)
    setup = Setup(turn=turn, policy=Policy(allowing(["*"])), flags=replace(Flags(), cache=False))
    with tempfile.TemporaryDirectory() as folder:
        for n in range(calls):
            (Path(folder) / f"r{n}.txt").write_text("".join(f"line {line}\n" for line in range(LINES)))
        async with (
            Pool(workers=2, reuse=True) as pool,
            Harness(PACKS, waiting_tools(wait_ms / 1_000), root=folder, setup=setup, pool=pool) as harness,
            harness.session() as session,
        ):
            await timed(session, "await tools.files.read('r0.txt')")
            return [await measured(session, work, calls=calls, rounds=rounds) for work in WORKS]


def main() -> None:
    parser = argparse.ArgumentParser(description="calls at once beside the same calls one after the other")
    parser.add_argument("--calls", type=int, default=16)
    parser.add_argument("--wait-ms", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = anyio.run(lambda: run(calls=given.calls, wait_ms=given.wait_ms, rounds=given.rounds))
    print(f"| {given.calls} calls | one after the other | at once | ratio | expected |\n|---|---:|---:|---:|---|")
    for row in rows:
        print(f"| {row.name} | {row.serial_ms:.1f} ms | {row.parallel_ms:.1f} ms | {row.ratio:.2f} | {row.expected} |")
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
