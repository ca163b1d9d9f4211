"""Replay: sessions and calls a second beside vcrpy, and what it costs to put a live session on record.

    python -m benchmarks.replay [--quick] [--no-peer] [--profile 30]

A play is what a test does: the file is read, its scripts run in a sandbox on a shared pool, everything is compared. vcrpy, in an
environment of its own, reads a cassette and answers as many HTTP calls; it runs no script and compares nothing. All take turns.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import platform
import pstats
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from benchmarks.guards import Nowhere
from benchmarks.peers import DEFAULT_FOLDER, ROOT, Missing, Peer, Runner, python_of
from catalog import tool
from harness import Harness, MemoryStore, Policy, Setup, allowing
from harness.replay.batch import judge, play_file
from harness.replay.keeping import cleaning, keep
from harness.replay.playing import Stage
from harness.replay.recorded import SUFFIX
from harness.store import Store
from harness.store.jsonl import JsonlStore
from harness.store.opening import open_store
from sandbox import Pool

RESULTS = Path(__file__).parent / "results"
RECORDED = ROOT / "tests" / "sessions"
VCRPY = Peer("vcrpy", "vcrpy", "", ("vcrpy==9.4.2", "requests==2.34.2", "httpx==0.28.1"))
RESULT_CHARACTERS = 1_000  # of each call, ours and the peer's
GENERATED = {
    "20 parallel calls": (20, "parallel", "return (await Promise.all(Array.from({ length: 20 }, (_, n) => READ))).length"),
    "100 sequential calls": (100, "sequential", "for (let n = 0; n < 100; n++) await READ; return 100"),
}
READ = "tools.files.read({ path: 'a.txt', offset: 1 + n, limit: 20 })"
LIVE = {
    "a pure tool, 100 sequential": (100, "for (let n = 0; n < 100; n++) await tools.bench.add({ a: n }); return 1"),
    "a pure tool, 20 parallel": (
        20,
        "await Promise.all(Array.from({ length: 20 }, (_, n) => tools.bench.add({ a: n }))); return 1",
    ),
    "a write, 100 sequential": (100, "for (let n = 0; n < 100; n++) await tools.bench.write({ path: `${n}.py` }); return 1"),
}
Rounds = dict[str, list[float]]  # seconds of one session, by contender


@tool(effect="pure")
async def add(a: int) -> int:
    return a + 1


@tool(writes=["file:{path}"])
async def write(path: str) -> str:
    """Writes nothing: the disk's time would hide that of the record."""
    return path


TOOLS: dict[str, Callable[..., Awaitable[Any]]] = {"bench.add": add, "bench.write": write}


# ---------------------------------------------------------------- play


async def generate(folder: Path, pool: Pool) -> dict[str, Path]:
    """Recorded here, with the pack files."""
    root = folder / "root"
    root.mkdir()
    lines = [f"    value_{n} = compute({n}, {n * 7}) and more" for n in range(200)]
    (root / "a.txt").write_text("\n".join(lines) + "\n")
    found = {}
    for name, (_, how, script) in GENERATED.items():
        store, path = MemoryStore(), folder / f"{how}{SUFFIX}"
        async with Harness(["files"], root=root, store=store, pool=pool) as harness, harness.session(how) as session:
            await session.run(script.replace("READ", READ))
        await keep(store.entries(how), path, Stage(pool=pool), clean=cleaning(Setup(), root))
        found[name] = path
    return found


async def play_all(paths: Sequence[Path], stage: Stage, times: int) -> tuple[float, int]:
    """Seconds a session, one after the other; and the calls of all."""
    calls = 0
    began = time.perf_counter()
    for _ in range(times):
        for path in paths:
            calls += await played(path, stage)
    return (time.perf_counter() - began) / times / len(paths), calls // times


async def play_at_once(paths: Sequence[Path], stage: Stage, times: int) -> float:
    """The same, a few at a time, as `turnscript replay` plays many."""
    works = [(path.name, partial(play_file, path, stage)) for path in paths] * times
    began = time.perf_counter()
    judged = await judge(works)
    took = time.perf_counter() - began
    assert all(one.state == "ok" for one in judged), [one.error for one in judged]
    return took / len(works)


async def played(path: Path, stage: Stage) -> int:
    replayed, _ = await play_file(path, stage)
    assert replayed.ok, (path.name, replayed.differences[0].text)
    return replayed.calls


async def measure_play(rounds: int, folder: Path, peer: Runner | None) -> dict[str, Any]:
    told: dict[str, Any] = {}
    async with Pool(workers=2) as pool:
        stage = Stage(pool=pool)
        scenes = {name: [path] for name, path in (await generate(folder, pool)).items()}
        if recorded := sorted(RECORDED.glob(f"*{SUFFIX}")):
            scenes[f"the {len(recorded)} of tests/sessions"] = recorded
        for name, paths in scenes.items():
            taken: Rounds = {}
            calls = 0
            asked = peer_plays(peer, name, folder) if name in GENERATED and peer is not None else {}
            times = 1 if len(paths) > 1 else 5
            for _ in range(rounds + 1):
                seconds, calls = await play_all(paths, stage, times)
                taken.setdefault("ours", []).append(seconds)
                taken.setdefault("ours, 4 at a time", []).append(await play_at_once(paths, stage, max(times, 2)))
                for contender, ask in asked.items():
                    taken.setdefault(contender, []).append(statistics.mean(ask(times=times)["seconds"]))
            told[name] = rates({who: got[1:] for who, got in taken.items()}, calls / len(paths))
            told[name]["bytes"] = {"ours": sum(path.stat().st_size for path in paths), **{
                contender: ask.keywords["size"] for contender, ask in asked.items()
            }}  # fmt: skip
    return told


def peer_plays(peer: Runner, name: str, folder: Path) -> dict[str, partial[dict[str, Any]]]:
    calls, how, _ = GENERATED[name]
    found = {}
    for serializer in ("yaml", "json"):
        about = {"cassette": str(folder / f"{how}.{serializer}"), "calls": calls, "how": how, "serializer": serializer}
        made = peer.ask(do="record", size=RESULT_CHARACTERS, **about)
        found[f"vcrpy, {serializer}"] = partial(play_peer, peer, size=made["bytes"], url=made["url"], **about)
    return found


def play_peer(peer: Runner, *, size: int, **asked: Any) -> dict[str, Any]:
    """`size`: of the cassette, for the table."""
    return peer.ask(do="play", **asked)


def rates(taken: Rounds, calls: float) -> dict[str, Any]:
    medians = {who: statistics.median(got) for who, got in taken.items()}
    return {
        "calls": calls,
        "ms": {who: one * 1000 for who, one in medians.items()},
        "sessions/s": {who: 1 / one for who, one in medians.items()},
        "calls/s": {who: calls / one for who, one in medians.items()},
        "rounds": taken,
    }


@contextmanager
def vcrpy_runner(folder: Path, log: Path) -> Iterator[Runner | None]:
    """None, told, when it cannot be had."""
    try:
        python = python_of(VCRPY, folder)
    except Missing as error:
        print(f"not installed: {error}", file=sys.stderr)
        yield None
        return
    with log.open("w") as errors:
        command = [str(python), "-m", "benchmarks.replay_vcrpy"]
        child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        yield Runner(VCRPY, child)
    finally:
        child.communicate()


# ---------------------------------------------------------------- record


class NoStore(MemoryStore):
    """Keeps nothing. As one in memory it gets entries as they are: nothing is scrubbed for it."""

    async def write(self, session: str, *, at: float) -> Any:
        return Nowhere()


class ScrubbedStore:
    """Keeps nothing, and is no store in memory: entries are scrubbed for it, as for a file. What a file costs is the rest."""

    async def write(self, session: str, *, at: float) -> Nowhere:
        return Nowhere()

    async def close(self) -> None:
        pass


@asynccontextmanager
async def stores(folder: Path) -> AsyncIterator[dict[str, Any]]:
    sqlite: Store = await open_store(f"sqlite:///{folder}/sessions.db")
    flush, fsync = JsonlStore(folder / "flush", durability="flush"), JsonlStore(folder / "fsync")
    yield {
        "no store": NoStore(), "memory": MemoryStore(), "scrubbed only": ScrubbedStore(), "jsonl flush": flush,
        "jsonl fsync": fsync, "sqlite": sqlite,
    }  # fmt: skip
    await sqlite.close()


async def live(harness: Harness, name: str, script: str, calls: int) -> float:
    """Seconds of the turn."""
    async with harness, harness.session(name) as session:
        began = time.perf_counter()
        outcome = await session.run(script)
        took = time.perf_counter() - began
    assert outcome.ok and len(outcome.calls) == calls, outcome.text
    return took


async def measure_record(rounds: int, folder: Path) -> dict[str, Any]:
    """Milliseconds of one turn by store, and microseconds a call above the turn of the same round without one."""
    told: dict[str, Any] = {}
    setup = Setup(policy=Policy(allowing(["bench.*"])))
    async with Pool(workers=2) as pool, stores(folder) as each:
        for what, (calls, script) in LIVE.items():
            taken: Rounds = {}
            for number in range(rounds + 1):
                for name in random.Random(number).sample(list(each), len(each)):  # or one always pays for another's syncs
                    session = f"{'-'.join(what.split()).replace(',', '')}-{number}"
                    harness = Harness(tools=TOOLS, root=folder, setup=setup, store=each[name], pool=pool)
                    taken.setdefault(name, []).append(await live(harness, session, script, calls))
            above = {name: [one - bare for one, bare in zip(got, taken["no store"], strict=True)] for name, got in taken.items()}
            told[what] = {
                "ms a turn": {name: statistics.median(taken[name][1:]) * 1000 for name in each},
                "us a call above no store": {name: statistics.median(above[name][1:]) / calls * 1e6 for name in each},
                "rounds": taken,
            }
    return told


# ---------------------------------------------------------------- told


async def profile(lines: int, folder: Path) -> str:
    """Of this process; what workers do is waited for in `poll`."""
    async with Pool(workers=2) as pool:
        stage = Stage(pool=pool)
        paths = [*(await generate(folder, pool)).values(), *sorted(RECORDED.glob(f"*{SUFFIX}"))]
        await play_all(paths, stage, 1)
        profiler = cProfile.Profile()
        profiler.enable()
        await play_all(paths, stage, 10)
        profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("cumulative").print_stats(lines).sort_stats("tottime").print_stats(lines)
    return text.getvalue()


def print_play(told: dict[str, Any]) -> None:
    for name, rows in told.items():
        print(f"\n{name:34}{'ms a session':>14}{'sessions/s':>12}{'calls/s':>12}{'bytes':>10}")
        for who, milliseconds in rows["ms"].items():
            size = rows["bytes"].get(who)
            print(f"{who:34}{milliseconds:>14.2f}{rows['sessions/s'][who]:>12.1f}{rows['calls/s'][who]:>12,.0f}{size or '':>10}")


def print_record(told: dict[str, Any]) -> None:
    names = list(next(iter(told.values()))["ms a turn"])
    for row, unit in (("ms a turn", "ms a turn"), ("us a call above no store", "microseconds a call above no store")):
        print(f"\n{unit:36}" + "".join(f"{name:>15}" for name in names))
        for what, rows in told.items():
            print(f"{what:36}" + "".join(f"{rows[row][name]:>15.1f}" for name in names))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=str(__doc__).split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--peers", type=Path, default=DEFAULT_FOLDER, metavar="DIR", help="where environments of peers are kept")
    parser.add_argument("--profile", type=int, default=0, metavar="LINES", help="profile plays instead")
    parser.add_argument("--json", type=Path, default=RESULTS / "replay.json", metavar="PATH")
    options = parser.parse_args()
    rounds, load = 3 if options.quick else 15, os.getloadavg()[0]
    options.json.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.profile:
            print(anyio.run(profile, options.profile, folder))
            return
        if options.no_peer:
            plays = anyio.run(measure_play, rounds, folder, None)
        else:
            with vcrpy_runner(options.peers, options.json.with_suffix(".log")) as peer:
                plays = anyio.run(measure_play, rounds, folder, peer)
        print_play(plays)
        records = anyio.run(measure_record, rounds, folder)
        print_record(records)
    about = {
        "python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count(), "peer": VCRPY.requirements,
        "load_average": [load, os.getloadavg()[0]],
    }  # fmt: skip
    print(f"\nMedians of {rounds} rounds; load average {load:.2f} at the start, {os.getloadavg()[0]:.2f} at the end")
    options.json.write_text(json.dumps({"about": about, "play": plays, "record": records}, indent=1) + "\n")
    print(f"Saved: {options.json}")


if __name__ == "__main__":
    main()
