"""Recordings for the tests of replay: made by real tools in a folder, then edited as a person would edit the file."""

import json
from collections.abc import Iterable
from pathlib import Path

import anyio

from catalog import Pack, load_pack
from harness import Harness, MemoryStore, Setup
from harness.entries import Entry
from harness.replay.keeping import cleaning, keep
from harness.replay.playing import Replayed, Stage, play
from harness.replay.recorded import read_recording
from sandbox import Pool

TEXT = "".join(f"line {n} of a file that is long enough to be cut somewhere\n" for n in range(1, 41))

GREET = '''"""Greets."""

from catalog import tool

PACK = "greet"


@tool()
async def hello(name: str) -> str:
    """Say hello."""
    return f"hello {name}"
'''


def furnish(root: Path) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name in "abc":
        (root / f"{name}.txt").write_text(f"the text of {name}\n")
    (root / "long.txt").write_text(TEXT)
    return root


async def entries_of(
    *scripts: str, root: Path, pool: Pool, packs: Iterable[Pack | str] = ("files", "search"), setup: Setup | None = None
) -> tuple[Entry, ...]:
    store = MemoryStore()
    harness = Harness(packs, root=root, setup=setup, store=store, pool=pool)
    async with harness, harness.session("made") as session:
        for script in scripts:
            await session.run(script)
    return store.entries("made")


def recording(
    path: Path,
    *scripts: str,
    root: Path,
    packs: Iterable[Pack | str] = ("files", "search", "shell"),
    setup: Setup | None = None,
    given: Iterable[str] = (),
) -> Path:
    """`given`: packs that are not known by name."""

    async def recorded() -> None:
        async with Pool(workers=1) as pool:
            entries = await entries_of(*scripts, root=root, pool=pool, packs=packs, setup=setup)
            await keep(
                entries, path, Stage(pool=pool, packs=tuple(map(load_pack, given))), clean=cleaning(setup or Setup(), root)
            )

    anyio.run(recorded)
    return path


def edit(path: Path, before: str, after: str) -> Path:
    """One place of the file, as it stands in JSON."""
    told, wanted = json.dumps(before)[1:-1], json.dumps(after)[1:-1]
    text = path.read_text()
    assert text.count(told) == 1, f"{told} stands there {text.count(told)} times"
    path.write_text(text.replace(told, wanted))
    return path


def played(path: Path) -> Replayed:
    async def done() -> Replayed:
        async with Pool(workers=1) as pool:
            return await play(read_recording(path), Stage(pool=pool))

    return anyio.run(done)


def told(path: Path) -> str:
    """All that a person reads of it."""
    return "\n".join(one.text for one in played(path).differences)
