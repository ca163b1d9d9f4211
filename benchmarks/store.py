"""Stores side by side: appending, loading, size on disk, and finding among many sessions.

    python -m benchmarks.store [--data FOLDER] [--quick] [--only append,load,size,find]

All stores take turns, in another order each round, so that what else the machine does falls on all. PostgreSQL is a real server
with fsync on. The floor writes as many bytes to one file and syncs it. Without --data sessions are generated, always the same.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

import anyio
import psycopg
import zstandard

from benchmarks.rollouts import generated
from harness.call import Outcome
from harness.entries import Began, Closed, Ended, Ending, Entry, Facts, Message, Opened, Settled
from harness.ledger import Ledger
from harness.rollouts.errors import NotARollout
from harness.rollouts.importing import detect_format, import_rollout
from harness.store import Query, Store, Writer, every_entry
from harness.store.opening import open_store
from sandbox import Site
from tests.postgres import PostgresServer

RESULTS = Path(__file__).parent / "results"
NOON = 1_780_000_000.0
FLOOR = "floor"
STORES = ("memory", "jsonl flush", "jsonl fsync", "sqlite", "postgresql")
ON_DISK = ("jsonl fsync", "sqlite", "postgresql")
FINDING = ("memory", "jsonl flush", "sqlite", "postgresql")  # the two of jsonl read alike
WORDS = tuple(map("".join, product("bdfgklmprst", ("a", "e", "io", "u"), ("", "n", "st", "ver"))))
Table = dict[str, dict[str, float]]  # by row, by store


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    name: str  # of the store that keeps its things there
    folder: Path
    address: str

    async def opened(self) -> Store:
        return await open_store(self.address, durability="flush" if self.name == "jsonl flush" else "fsync")

    def bytes(self) -> int:
        """Of files as they are; of a database of the server, all that is in it."""
        if self.name == "postgresql":
            with psycopg.connect(self.address) as connection:
                row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(row[0]) if row else 0
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


Places = Callable[[str], AbstractAsyncContextManager[Place]]  # a new one for each measurement, by the name of the store


@asynccontextmanager
async def new_place(scratch: Path, server: PostgresServer, name: str) -> AsyncIterator[Place]:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    with server.database(migrated=False) if name == "postgresql" else nullcontext("") as database:
        address = {"memory": "memory:", "sqlite": f"sqlite:///{folder}/sessions.db"}.get(name, f"jsonl:{folder}")
        yield Place(name=name, folder=folder, address=database or address)


def prose(size: int, seed: object) -> str:
    """Text of about the redundancy of text."""
    chosen = random.Random(str(seed))
    return " ".join(chosen.choices(WORDS, k=size // 4 + 1))[:size]


def settled(session: str, call: int, text: str, *, turn: int = 1, tool: str = "files.read", path: str = "src/a.py") -> Settled:
    return Settled(
        session=session, at=NOON + call, turn=turn, call=call, tool=tool, site=Site(1, 1), arguments={"path": path},
        outcome=Outcome(status="returned", value={"path": path, "text": text}, source="tool", size=len(text)), seconds=0.01,
    )  # fmt: skip


def generated_session(number: int) -> Iterator[Entry]:
    """Twelve entries; one in a thousand says "needle", one in a hundred calls web.fetch, each has files of its own."""
    session, at = f"s{number:06d}", NOON + 60 * number
    yield Opened(session=session, at=at, facts=Facts(root=f"/srv/app{number % 20}", model=f"model-{number % 5}"))
    yield Message(session=session, at=at, role="user", text=f"Question {number}: {prose(200, number)}")
    for turn in (1, 2, 3):
        script = f"// {prose(150, (number, turn))}\nreturn await tools.files.read({{ path: 'src/m{number}.py' }})"
        tool = "web.fetch" if number % 100 == 7 and turn == 2 else "files.read"
        rare = "needle in " if number % 1000 == 13 and turn == 3 else ""
        yield Began(session=session, at=at + turn, turn=turn, script=script, sha256="0" * 64)
        yield settled(session, 1, prose(800, (number, turn, "result")), turn=turn, tool=tool, path=f"src/m{number}.py")
        yield Ended(
            session=session, at=at + turn + 0.5, turn=turn, ending=Ending(how="finished"), ledger=Ledger(produced=800, shown=400),
            text=rare + prose(400, (number, turn, "shown")),
        )  # fmt: skip
    yield Closed(session=session, at=at + 9)


def corpus_of(data: Path | None, scratch: Path) -> dict[str, list[Path]]:
    """Files by the agent that wrote them."""
    if data is None:
        path = scratch / "generated.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in generated(8_000_000)))
        return {"codex, generated": [path]}
    found: dict[str, list[Path]] = {}
    for path in sorted(path for path in data.rglob("*") if path.is_file()):
        with suppress(NotARollout):
            found.setdefault(detect_format(path), []).append(path)
    return found


@dataclass(frozen=True, slots=True)
class Cell:
    what: str
    characters: int  # of the text in an entry
    batch: int
    appends: int  # in all


CELLS = (Cell("300 B", 60, 1, 400), Cell("8 of 300 B", 60, 8, 160), Cell("64 KiB", 65_536, 1, 80))


async def measure_appends(places: Places, rounds: int) -> Table:
    table: Table = {}
    for cell, writers in product(CELLS, (1, 8)):
        taken = await in_turns((FLOOR, *STORES), rounds, partial(append_round, places, cell, writers))
        row = f"{cell.what}, {writers} writer{'s' * (writers > 1)}"
        whole = medians(taken, lambda each: each[-1])
        table[f"{row}: entries/s"] = {name: cell.appends * cell.batch * 1000 / took for name, took in whole.items()}
        table[f"{row}: p50 ms"] = medians(taken, lambda each: statistics.median(each[:-1]))
        table[f"{row}: p95 ms"] = medians(taken, lambda each: statistics.quantiles(each[:-1], n=20)[-1])
    return table


async def append_round(places: Places, cell: Cell, writers: int, name: str) -> list[float]:
    """Milliseconds for each append, and at the end for all. A session a writer."""
    each: list[float] = []
    async with places(name) as place:
        if name == FLOOR:
            return floor_round(place.folder / "floor", cell)
        store = await place.opened()
        opened = [await store.write(f"w{n}", at=NOON) for n in range(writers)]
        for n, writer in enumerate(opened):
            await writer.append(Opened(session=f"w{n}", at=NOON, facts=Facts()))
        work = [batches_of(cell, n, writers) for n in range(writers)]
        began = time.perf_counter_ns()
        async with anyio.create_task_group() as tasks:
            for writer, batches in zip(opened, work, strict=True):
                tasks.start_soon(append_all, writer, batches, each)
        took = (time.perf_counter_ns() - began) / 1e6
        await store.close()
    return [*each, took]


def floor_round(path: Path, cell: Cell) -> list[float]:
    """As many bytes to one file, from one thread, synced after each batch: what the disk takes."""
    each: list[float] = []
    data = b"x" * (cell.characters + 240) * cell.batch
    with path.open("ab", buffering=0) as file:
        for _ in range(cell.appends):
            began = time.perf_counter_ns()
            file.write(data)
            os.fdatasync(file.fileno())
            each.append((time.perf_counter_ns() - began) / 1e6)
    return [*each, sum(each)]


async def append_all(writer: Writer, batches: Sequence[Sequence[Entry]], each: list[float]) -> None:
    for batch in batches:
        began = time.perf_counter_ns()
        await writer.append(*batch)
        each.append((time.perf_counter_ns() - began) / 1e6)


def batches_of(cell: Cell, writer: int, writers: int) -> list[list[Entry]]:
    return [
        [settled(f"w{writer}", number * 8 + n, prose(cell.characters, (writer, number, n))) for n in range(cell.batch)]
        for number in range(cell.appends // writers)
    ]


async def measure_loads(places: Places, rounds: int, corpus: dict[str, list[Path]]) -> Table:
    """The biggest file of the corpus. `lines`: as a copy reads them; `entries`: as a session that goes on does, with values."""
    path = max((path for paths in corpus.values() for path in paths), key=lambda path: path.stat().st_size)
    async with open_stores(places, STORES) as opened:
        for store in opened.values():
            imported = (await import_rollout(path, store))[0]
        megabytes, count = imported.bytes / 1e6, imported.items + 2
        taken = await in_turns(STORES, rounds, lambda name: load_round(opened[name], imported.session, count))
    table: Table = {}
    for at, what in enumerate(("lines", "entries")):
        took = medians(taken, itemgetter(at))
        table[f"{megabytes:.1f} MB, {what}: MB/s"] = {name: megabytes / one for name, one in took.items()}
        table[f"{megabytes:.1f} MB, {what}: lines/s"] = {name: count / one for name, one in took.items()}
    return table


async def load_round(store: Store, session: str, count: int) -> list[float]:
    """Seconds: of the lines, of the entries."""
    began = time.perf_counter()
    lines = len(await store.load(session))
    between = time.perf_counter()
    entries = sum([1 async for _ in every_entry(store, session)])
    assert lines == entries == count, (lines, entries, count)
    return [between - began, time.perf_counter() - between]


@asynccontextmanager
async def open_stores(places: Places, names: Sequence[str]) -> AsyncIterator[dict[str, Store]]:
    async with AsyncExitStack() as stack:
        opened = {name: await (await stack.enter_async_context(places(name))).opened() for name in names}
        for store in opened.values():
            stack.push_async_callback(store.close)
        yield opened


async def measure_sizes(places: Places, corpus: dict[str, list[Path]]) -> Table:
    """Bytes over those of the source files; a store of its own for each agent. A database as it is when nobody has it open."""
    table: Table = {}
    for agent, paths in corpus.items():
        raw = [path.read_bytes() for path in paths]
        size = sum(map(len, raw))
        row = {"gzip -6": sum(len(gzip.compress(one, 6)) for one in raw) / size}
        row["zstd -3"] = sum(len(zstandard.ZstdCompressor(level=3).compress(one)) for one in raw) / size
        for name in ON_DISK:
            async with places(name) as place:
                store = await place.opened()
                empty = place.bytes() if name == "postgresql" else 0
                for path in paths:
                    await import_rollout(path, store)
                await store.close()
                row[name] = (place.bytes() - empty) / size
        table[f"{agent}, {len(paths)} files, {size / 1e6:.2f} MB"] = row
    return table


QUERIES: dict[str, Callable[[Store], Awaitable[Sequence[Any]]]] = {
    "list, the newest 50": lambda store: store.sessions(Query(most=50)),
    "list, all": lambda store: store.sessions(),
    "list, of one model, 50": lambda store: store.sessions(Query(model="model-3", most=50)),
    "text in 1 of 1,000": lambda store: store.sessions(Query(text="Needle in")),
    "text that nobody said": lambda store: store.sessions(Query(text="nowhere at all")),
    "text of every session, 50": lambda store: store.sessions(Query(text="question", most=50)),
    "tool in 1 of 100": lambda store: store.sessions(Query(tool="web.*")),
    "path of one session": lambda store: store.sessions(Query(path="m777.py")),
    "sums by tool": lambda store: store.sums("tool"),
    "sums by model": lambda store: store.sums("model"),
}


async def measure_finding(places: Places, rounds: int, count: int) -> Table:
    """Milliseconds. Filling goes session by session, eight at a time, each in one append."""
    table: Table = {}

    async with open_stores(places, FINDING) as opened:
        for name, store in opened.items():
            began = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for first in range(8):
                    tasks.start_soon(fill, store, range(first, count, 8))
            table.setdefault("filling, a session", {})[name] = (time.perf_counter() - began) / count * 1000
        for what, ask in QUERIES.items():
            taken = await in_turns(FINDING, rounds, partial(asked, opened, ask))
            counts = {int(found) for rows in taken.values() for _, found in rows}
            assert len(counts) == 1, f"{what}: the stores find {counts}"
            table[f"{what} ({counts.pop():,})"] = medians(taken, itemgetter(0))
    return table


async def asked(opened: dict[str, Store], ask: Callable[[Store], Awaitable[Sequence[Any]]], name: str) -> list[float]:
    began = time.perf_counter()
    found = len(await ask(opened[name]))
    return [(time.perf_counter() - began) * 1000, found]


async def fill(store: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        entries = list(generated_session(number))
        writer = await store.write(entries[0].session, at=entries[0].at)
        await writer.append(*entries)
        await writer.close()


async def in_turns(
    names: Sequence[str], rounds: int, work: Callable[[str], Awaitable[list[float]]]
) -> dict[str, list[list[float]]]:
    """By name, what each round gave; a first one warms up and is not counted."""
    taken: dict[str, list[list[float]]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in random.Random(number).sample(names, len(names)):  # or one always pays for what another left to do
            taken[name].append(await work(name))
    return {name: got[1:] for name, got in taken.items()}


def medians(taken: dict[str, list[list[float]]], of: Callable[[list[float]], float]) -> dict[str, float]:
    return {name: statistics.median(map(of, got)) for name, got in taken.items()}


def print_table(title: str, table: Table) -> None:
    columns = list(dict.fromkeys(name for row in table.values() for name in row))
    print(f"\n{title:42}" + "".join(f"{name:>13}" for name in columns))
    for what, row in table.items():
        print(f"{what:42}" + "".join(f"{row[name]:>13,.{0 if row[name] >= 100 else 3}f}" for name in columns))


async def measure(options: argparse.Namespace, scratch: Path, server: PostgresServer) -> dict[str, Table]:
    rounds, count = (1, 1_000) if options.quick else (5, 10_000)
    places = partial(new_place, scratch, server)
    corpus = corpus_of(options.data, scratch)
    sections: dict[str, tuple[str, Callable[[], Awaitable[Table]]]] = {
        "append": ("Appending", partial(measure_appends, places, rounds)),
        "load": ("Loading", partial(measure_loads, places, rounds, corpus)),
        "size": ("Bytes over raw bytes", partial(measure_sizes, places, corpus)),
        "find": (f"Finding in {count:,}, ms", partial(measure_finding, places, min(rounds, 3), count)),
    }
    tables: dict[str, Table] = {}
    for name in options.only.split(","):
        title, work = sections[name]
        tables[name] = await work()
        print_table(title, tables[name])
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.store", description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder with sessions of other agents")
    parser.add_argument("--quick", action="store_true", help="one round, 1,000 sessions")
    parser.add_argument("--only", default="append,load,size,find", help="of append, load, size, find")
    parser.add_argument("--json", type=Path, default=RESULTS / "store.json", metavar="PATH")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        server = PostgresServer(durable=True)
        stack.callback(server.remove)
        tables = anyio.run(measure, options, Path(scratch), server)
    loads = [load, os.getloadavg()[0]]
    about = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count(), "load_average": loads}
    print(f"\nMedians of rounds; load average {loads[0]:.2f} at the start, {loads[1]:.2f} at the end, {os.cpu_count()} CPUs")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"about": about, "tables": tables}, indent=1) + "\n")
    print(f"Saved: {options.json}")


if __name__ == "__main__":
    main()
