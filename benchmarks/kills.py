"""A process that appends is killed, again and again: is every acknowledged entry still there, and does the session go on?

    python -m benchmarks.kills [--store jsonl|jsonl-flush|sqlite|postgresql] [--kills 1000] [--seed 1] [--json PATH]

A child appends entries of 50 bytes to 3 MB and tells each number and digest through a pipe once `append` has returned; SIGKILL
comes at a random moment. Then the session is opened again, read, checked and appended to. A store is a `Subject`: an address, and
what else is struck with the child (`kills_postgresql.py` kills the server too). Exit status 1 when anything is lost or wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import anyio

from benchmarks.kills_child import AT, append_forever, entry_of, size_of
from harness.store import Store, StoreError
from harness.store.jsonl import Durability
from harness.store.lines import BadLine, Kept, first_break
from harness.store.opening import open_store

ROUNDS = 10  # kills a session goes through
LATEST_SECONDS = 0.06  # after the first acknowledgement of a round,
EARLY_SHARE = 0.2  # or in this share of them after the start, while the session is being opened
STORES = ("jsonl", "jsonl-flush", "sqlite", "postgresql")


class Subject(Protocol):
    """One kind of store. `strike` is called when the child is dead; it may kill more, and brings back what it killed."""

    @property
    def address(self) -> str: ...

    @property
    def durability(self) -> Durability: ...

    def strike(self, kill: int) -> bool:
        """Whether more than the child was killed."""


@dataclass(frozen=True, slots=True)
class Plain:
    address: str
    durability: Durability = "fsync"

    def strike(self, kill: int) -> bool:
        return False


@dataclass(slots=True)
class Tally:
    store: str
    kills: int = 0
    struck: int = 0  # kills in which a server went down too
    sessions: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0  # whole lines on record that the pipe did not tell any more
    bytes: int = 0  # of contents, acknowledged
    torn: int = 0  # ends cut off at a reopen
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    slowest_reopen_ms: float = 0.0
    seconds: float = 0.0


# ---------------------------------------------------------------- one kill after the other


def killed_child(subject: Subject, session: str, seed: int, dice: random.Random) -> dict[int, str]:
    """The digests of what it acknowledged, by number."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.kills_child"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=append_forever, args=(subject.address, subject.durability, session, seed, theirs))
    process.start()
    theirs.close()
    told: dict[int, str] = {}
    assert process.pid is not None
    if dice.random() < EARLY_SHARE or ours.poll(30):
        time.sleep(dice.uniform(0, LATEST_SECONDS))
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    try:
        while True:
            seq, _, digest = ours.recv_bytes().decode().partition(" ")
            told[int(seq)] = digest
    except (EOFError, OSError):  # the other end is dead, perhaps in the middle of a word
        ours.close()
    return told


async def looked_at(subject: Subject, session: str, seed: int, told: dict[int, str], since: int, tally: Tally) -> int:
    """Opens the session again, checks what is new, and appends one entry more. The number of its newest line."""
    store = await open_store(subject.address, durability=subject.durability)
    try:
        started = time.perf_counter()
        writer = await store.write(session, at=AT)
        tally.slowest_reopen_ms = max(tally.slowest_reopen_ms, 1000 * (time.perf_counter() - started))
        tally.torn += len(getattr(store, "repairs", ()))
        last = 0 if writer.last is None else writer.last.seq
        await writer.append(entry_of(session, last + 1, seed))
        await writer.close()
        await _checked(store, session, seed, told, since, tally)
        tally.unacknowledged += max(0, last - max([since, *told]))
        return last + 1
    finally:
        await store.close()


async def _checked(store: Store, session: str, seed: int, told: dict[int, str], since: int, tally: Tally) -> None:
    kept = {one.line.seq: one for one in await store.load(session)}
    broken = first_break([one.line for one in kept.values()])
    if broken:
        tally.wrong.append(f"{session}: {broken}")
    for seq, digest in told.items():
        if seq not in kept or kept[seq].line.digest != digest:
            tally.lost.append(f"{session} line {seq}")
    for seq in range(since + 1, max(kept) + 1):
        if seq in kept:
            _checked_entry(kept[seq], session, seed, tally)
            tally.bytes += size_of(entry_of(session, seq, seed)) if seq in told else 0


def _checked_entry(kept: Kept, session: str, seed: int, tally: Tally) -> None:
    try:
        same = kept.entry(session) == entry_of(session, kept.line.seq, seed)
    except BadLine as error:
        same = False
        tally.wrong.append(f"{session} line {kept.line.seq}: {error}")
    if not same:
        tally.wrong.append(f"{session} line {kept.line.seq} is not what was appended")


def run(name: str, subject: Subject, *, kills: int, seed: int) -> Tally:
    tally = Tally(store=name)
    dice = random.Random(seed)
    started = time.perf_counter()
    newest = 0
    for kill in range(kills):
        if kill % ROUNDS == 0:
            newest = 0
            tally.sessions += 1
        session = f"killed-{tally.sessions}"
        told = killed_child(subject, session, seed, dice)
        tally.kills += 1
        tally.struck += subject.strike(kill)
        tally.acknowledged += len(told)
        try:
            newest = anyio.run(looked_at, subject, session, seed, told, newest, tally)
        except (StoreError, BadLine) as error:
            tally.wrong.append(f"{session} does not open: {error}")
        if kill % 100 == 99:
            print(f"{kill + 1:,} kills, {tally.acknowledged:,} acknowledged, {len(tally.lost)} lost", file=sys.stderr)
    tally.seconds = time.perf_counter() - started
    return tally


# ---------------------------------------------------------------- the command


@contextmanager
def subject_of(name: str, folder: Path) -> Iterator[Subject]:
    match name:
        case "jsonl":
            yield Plain(f"jsonl:{folder}/sessions")
        case "jsonl-flush":
            yield Plain(f"jsonl:{folder}/sessions", "flush")
        case "sqlite":
            yield Plain(f"sqlite:///{folder}/sessions.db")
        case _:
            module = importlib.import_module("benchmarks.kills_postgresql")
            made: AbstractContextManager[Subject] = module.subject(folder)
            with made as subject:
                yield subject


def table(tally: Tally) -> str:
    rows: list[tuple[str, str]] = [
        ("store", tally.store),
        ("kills", f"{tally.kills:,}" + (f", the server too in {tally.struck:,}" if tally.struck else "")),
        ("sessions", f"{tally.sessions:,}"),
        ("acknowledged entries", f"{tally.acknowledged:,} ({tally.bytes / 1e6:,.0f} MB)"),
        ("acknowledged and lost", f"{len(tally.lost)}"),
        ("wrong", f"{len(tally.wrong)}"),
        ("on record, not told any more", f"{tally.unacknowledged:,}"),
        ("torn ends cut off", f"{tally.torn:,}"),
        ("slowest reopen", f"{tally.slowest_reopen_ms:.1f} ms"),
        ("took", f"{tally.seconds:,.0f} s"),
    ]
    return "\n".join(f"{name:<30}{value}" for name, value in rows)


def main() -> Literal[0, 1]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=STORES, default="jsonl")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, subject_of(options.store, Path(folder)) as subject:
        tally = run(options.store, subject, kills=options.kills, seed=options.seed)
    print(table(tally))
    for line in [*tally.lost, *tally.wrong][:20]:
        print(line)
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(tally), indent=1) + "\n")
    return 1 if tally.lost or tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
