"""What the guards cost: a guarded call beside a bare call of the same tool, guard by guard, and against the history's length.

`python -m benchmarks.guards`. Bare: `await toolbox.call(...)`. Guarded: the call's record, admitting, the chain, the outcome.
The rows "alone" are one guard around the same call. The last rows are whole scripts in a worker, with the chain and without it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from catalog import Host, Toolbox, open_toolbox, tool
from harness.approval import Nobody, Policy, allowing
from harness.asked import CallOf
from harness.cache import Kept
from harness.cache.freshness import SLACK_NS
from harness.call import Call, Chain, Guard
from harness.compose import Composer, Showing
from harness.condense.record import Origin
from harness.dispatch import call_tool
from harness.entries import Entry
from harness.limits import TurnLimits
from harness.offers import offer_of
from harness.ongoing import Ongoing, ongoing
from harness.open_tasks import OpenTasks
from harness.record import Record
from harness.session_results import SessionResults
from harness.setup import Setup
from harness.store.lines import Kept as KeptLine
from harness.turn import run_turn
from harness.turn_clock import TurnClock
from harness.turn_desk import TurnDesk
from sandbox import Limits, Pool, Site, Start

RESULTS = Path(__file__).parent / "results"
TARGET_MICROSECONDS = 100.0
HISTORY = (10, 1_000, 100_000)
LIMITS = TurnLimits(session_calls=1 << 40, session_result_bytes=1 << 50, turn_result_bytes=1 << 50, cache_bytes=1 << 32)
LINES = [f"    value_{n} = compute({n}, {n * 7})" for n in range(100)]
_turns = count(1)


@tool(effect="pure")
async def add(a: int, b: int = 1) -> int:
    return a + b


@tool(writes=["file:{path}"])
async def write(path: str, n: int) -> int:
    """Writes nothing: the disk's time would hide the guards'."""
    return n


@tool(effect="external", reads=["net:{host}"])
async def fetch(host: str, n: int) -> int:
    return n


@tool(reads=["file:{path}"], shape="slice")
async def lines(path: str, n: int) -> dict[str, Any]:
    """Lines of a file that are in memory."""
    return {"path": path, "oid": "0" * 40, "lines": [[n * 10 + 1, n * 10 + 100]], "text": "\n".join(LINES)}


@dataclass(frozen=True)
class Row:
    what: str
    bare_p50: float
    p50: float
    p95: float
    calls: int

    @property
    def added(self) -> float:
        return self.p50 - self.bare_p50

    def line(self) -> str:
        return f"{self.what:44} {self.bare_p50:9.1f} {self.p50:9.1f} {self.p95:9.1f} {self.added:9.1f}"


class Nowhere:
    """A writer that keeps nothing: what a store costs is measured in benchmarks/store.py."""

    last = None

    async def append(self, *entries: Entry) -> None:
        pass

    async def copy(self, kept: Sequence[KeptLine]) -> None:
        pass

    async def close(self) -> None:
        pass


def desk_of(toolbox: Toolbox, on: Ongoing, setup: Setup, clock: TurnClock, tasks: OpenTasks) -> TurnDesk:
    return TurnDesk(
        next(_turns), setup, on, session="bench", call_of=CallOf(toolbox, on.freshness, {}, setup.packs), approver=Nobody(),
        record=Record("bench", Nowhere(), now=time.time), mode="enabled", play=None, clock=clock, tasks=tasks, now=time.monotonic,
    )  # fmt: skip


class Bench:
    """One session's guards, without a sandbox."""

    def __init__(self, toolbox: Toolbox, on: Ongoing, setup: Setup, tasks: OpenTasks) -> None:
        self.toolbox = toolbox
        self.on = on
        self.setup = setup
        self.turn = desk_of(toolbox, on, setup, TurnClock(3_600), tasks)
        self._numbers = count(1)

    def call(self, name: str, named: dict[str, Any]) -> Call:
        """As the turn makes it."""
        return self.turn.desk.call_of(1, next(self._numbers), name, [named], Site(1, 1, 1))

    async def guarded(self, chain: Chain, name: str, named: dict[str, Any]) -> None:
        call = self.call(name, named)
        if chain.admit(call) is None:
            outcome = await chain.run(call)
            assert outcome.ok, outcome.problem
        self.turn.desk.leave(call)

    async def bare(self, name: str, named: dict[str, Any]) -> None:
        await self.toolbox.call(name, self.toolbox.bind(name, [named]))

    async def row(
        self, what: str, guards: Sequence[Guard], name: str, arguments: Callable[[int], dict[str, Any]], calls: int
    ) -> Row:
        """The two take turns, so that what else the machine does falls on both."""
        chain = Chain(guards, partial(call_tool, self.toolbox))
        bare: list[float] = []
        guarded: list[float] = []
        for n in range(calls + calls // 10):
            bare.append(await timed(partial(self.bare, name, arguments(n))))
            guarded.append(await timed(partial(self.guarded, chain, name, arguments(n))))
        bare, guarded = sorted(bare[calls // 10 :]), sorted(guarded[calls // 10 :])
        return Row(what, statistics.median(bare), statistics.median(guarded), guarded[len(guarded) * 95 // 100], calls)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Microseconds."""
    began = time.perf_counter_ns()
    await work()
    return (time.perf_counter_ns() - began) / 1_000


@asynccontextmanager
async def bench(root: Path) -> AsyncIterator[Bench]:
    setup = Setup(turn=LIMITS, limits=Limits(calls=100_000), policy=Policy(allowing(["bench.fetch"])))
    results = SessionResults(most_bytes=1 << 28)
    offer = offer_of(["files"], {"bench.add": add, "bench.write": write, "bench.fetch": fetch, "bench.lines": lines})
    async with anyio.create_task_group() as group, open_toolbox(offer, host=Host(root=root, results=results)) as toolbox:
        yield Bench(toolbox, ongoing(setup, root, results, disk=None, clock=time.monotonic), setup, OpenTasks(group))


CASES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "a pure tool, never called so before": ("bench.add", lambda n: {"a": n}),
    "a pure tool, from the cache": ("bench.add", lambda n: {"a": -1}),
    "files.read, never read so before": ("files.read", lambda n: {"path": "a.py", "limit": n + 100}),
    "files.read, from the cache": ("files.read", lambda n: {"path": "a.py", "limit": 50}),
    "lines in memory, never read so before": ("bench.lines", lambda n: {"path": "a.py", "n": n}),
    "a write": ("bench.write", lambda n: {"path": f"made/{n}.py", "n": n}),
    "an external call, allowed by a rule": ("bench.fetch", lambda n: {"host": "example.org", "n": n}),
}
YOUNG: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "files.read of a file just written, first": ("files.read", lambda n: {"path": "young.py", "limit": n + 1}),
    "files.read of a file just written, cached": ("files.read", lambda n: {"path": "young.py"}),
}


async def by_case(root: Path, calls: int) -> list[Row]:
    rows = []
    for what, (name, arguments) in CASES.items():
        async with bench(root) as one:
            rows.append(await one.row(what, one.turn.guards.in_order(), name, arguments, calls))
    for what, (name, arguments) in YOUNG.items():
        async with bench(root) as one:
            (root / "young.py").write_text("\n".join(LINES) + "\n")
            rows.append(await one.row(what, one.turn.guards.in_order(), name, arguments, min(calls, 500)))
    return rows


async def by_guard(root: Path, calls: int) -> list[Row]:
    """Around lines in memory: every guard looks at such a call, and the tool takes no time of its own."""
    name, arguments = CASES["lines in memory, never read so before"]
    rows = []
    async with bench(root) as one:
        rows.append(await one.row("no guard: the call's record and its outcome", [], name, arguments, calls))
        for guard in one.turn.guards.in_order():
            rows.append(await one.row(f"{type(guard).__name__.lower()} alone", [guard], name, arguments, calls))
        name, arguments = CASES["an external call, allowed by a rule"]
        for guard in (one.turn.guards.approval, one.turn.guards.repeat):
            rows.append(await one.row(f"{type(guard).__name__.lower()} alone, external", [guard], name, arguments, calls))
    return rows


async def by_history(root: Path, calls: int, lengths: Iterable[int]) -> list[Row]:
    rows = []
    for length in lengths:
        async with bench(root) as one:
            grow(one, length)
            for what in (
                "lines in memory, never read so before",
                "a pure tool, from the cache",
                "a write",
                "an external call, allowed by a rule",
            ):
                name, arguments = CASES[what]
                rows.append(await one.row(f"{length:>7,}: {what}", one.turn.guards.in_order(), name, arguments, calls))
            rows.append(show_row(one, length, calls=max(20, calls // 10)))
    return rows


def grow(one: Bench, length: int) -> None:
    """So many served intervals, turns in the transcript, results in the cache and calls that may repeat."""
    on = one.on
    for n in range(length):
        turn, handle = n + 10, f"T{n + 10}.1"
        text = "\n".join(f"line {line} of turn {n}" for line in range(5))
        on.seen.add(turn, handle, text, [(0, 5, Origin("a.py", "0" * 40, n * 10 + 1))])
        on.transcript.add(turn, (), ())
        on.cache._memory.put(f"key {n}", Kept(n, 8, (f"file:src/{n % 1000}/{n}.py",), None, f"T{turn} call 1"))
        on.repeat._memory(one.call("bench.fetch", {"host": "other.org", "n": -n})).times.append(time.monotonic())


def show_row(one: Bench, length: int, calls: int) -> Row:
    """What a turn costs that shows a hundred new lines; bare: with an empty view."""

    def shown(on: Ongoing, n: int) -> float:
        began = time.perf_counter_ns()
        composer = Composer(
            turn=1_000_000 + n, seen=on.seen, provenance=one.turn.provenance, chunks=on.chunks, redactor=on.redactor,
            limits=one.setup.shown, flags=one.setup.flags.condensing,
        )  # fmt: skip
        composer.compose(
            [Showing("value", "\n".join(f"{line} # {n}" for line in LINES))], (), cap=one.setup.shown.shown_turn_bytes
        )
        return (time.perf_counter_ns() - began) / 1_000

    empty = ongoing(one.setup, one.toolbox.host.root, SessionResults(most_bytes=1 << 28), disk=None, clock=time.monotonic)
    pairs = [(shown(empty, n), shown(one.on, n)) for n in range(calls)]
    bare, full = sorted(a for a, _ in pairs), sorted(b for _, b in pairs)
    return Row(
        f"{length:>7,}: showing 100 new lines",
        statistics.median(bare),
        statistics.median(full),
        full[len(full) * 95 // 100],
        calls,
    )


async def by_script(root: Path, calls: int) -> list[Row]:
    """Microseconds for each call of a script that makes them one after the other."""
    rows = []
    async with bench(root) as one, Pool() as pool, anyio.create_task_group() as group:
        for what, (name, _) in (("a pure tool", CASES["a pure tool, from the cache"]), ("a write", CASES["a write"])):
            arguments = "{ a: n + OFFSET }" if name == "bench.add" else "{ path: `made/${n}.py`, n }"
            source = f"for (let n = 0; n < {calls}; n++) await tools.{name}({arguments}); 1"
            times: dict[str, list[float]] = {"bare": [], "guarded": []}
            for sample in range(12):
                for kind in times:
                    times[kind].append(
                        await script(one, pool, group, source.replace("OFFSET", str(sample * calls * 10)), kind) / calls
                    )
            bare, guarded = sorted(times["bare"][2:]), sorted(times["guarded"][2:])
            rows.append(Row(f"through a script: {what}", statistics.median(bare), statistics.median(guarded), guarded[-1], calls))
    return rows


async def script(one: Bench, pool: Pool, group: Any, source: str, kind: str) -> float:
    clock, tasks = TurnClock(3_600), OpenTasks(group)
    turn = desk_of(one.toolbox, one.on, one.setup, clock, tasks)
    desk = turn.desk if kind == "guarded" else replace(turn.desk, chain=Chain([], partial(call_tool, one.toolbox)))
    start = Start(source=source, tools=tuple(one.toolbox.tools), limits=one.setup.limits)
    async with pool.sandbox("bench") as box:
        began = time.perf_counter_ns()
        ran = await run_turn(box, start, desk, clock, tasks)
    assert not hasattr(ran.ending, "error"), ran.ending
    return (time.perf_counter_ns() - began) / 1_000


async def measure(calls: int, lengths: Sequence[int]) -> dict[str, list[Row]]:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a.py").write_text("\n".join(LINES * 40) + "\n")
        await anyio.sleep(SLACK_NS / 1e9 + 0.1)  # a younger file is compared by content
        return {
            "The whole chain": await by_case(root, calls),
            "Guard by guard, around lines in memory": await by_guard(root, calls),
            "The whole chain against the length of the history": await by_history(root, calls, lengths),
            "Through a script in a worker": await by_script(root, min(calls, 200)),
        }


def verdicts(tables: dict[str, list[Row]]) -> list[str]:
    chain = [row for row in tables["The whole chain"] if "from the cache" not in row.what]
    worst = max(chain, key=lambda row: row.added)
    met = "met " if worst.added < TARGET_MICROSECONDS else "MISS"
    told = [f"{met}  whole chain above the bare call: {worst.added:.0f} at most ({worst.what}); below {TARGET_MICROSECONDS:.0f}"]
    history: dict[str, list[float]] = {}
    for row in tables["The whole chain against the length of the history"]:
        history.setdefault(row.what.split(": ", 1)[1], []).append(row.p50)
    for what, medians in history.items():
        ratio = medians[-1] / medians[0]
        told.append(f"{'met ' if ratio < 1.5 else 'MISS'}  {what}: longest history over shortest {ratio:.2f}; flat is below 1.5")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guards", description=str(__doc__).split("\n")[0])
    parser.add_argument("--calls", type=int, default=2_000, help="for each row (2,000)")
    parser.add_argument("--history", type=int, nargs="+", default=list(HISTORY), help="lengths (10 1000 100000)")
    parser.add_argument("--json", type=Path, default=RESULTS / "guards.json", metavar="PATH")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    tables = anyio.run(measure, options.calls, options.history)
    print(f"Microseconds; load average {load:.2f} at the start, {os.getloadavg()[0]:.2f} at the end")
    for title, rows in tables.items():
        print(f"\n{title:44} {'bare p50':>9} {'p50':>9} {'p95':>9} {'added':>9}")
        print("\n".join(row.line() for row in rows))
    judged = verdicts(tables)
    print("\n" + "\n".join(judged))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    about = {"python": platform.python_version(), "cpus": os.cpu_count(), "load_average": load, "unit": "microseconds"}
    saved = {
        "about": about,
        "tables": {title: [asdict(row) for row in rows] for title, rows in tables.items()},
        "verdicts": judged,
    }
    options.json.write_text(json.dumps(saved, indent=1) + "\n")
    print(f"\nSaved: {options.json}")


if __name__ == "__main__":
    main()
