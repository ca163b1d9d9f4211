"""Sessions go from store to store as they are; what was interrupted goes on, what differs is left alone, and all is read back."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness.entries import Entry, Item, Message
from harness.migrating import Moved, compare, migrate, take_in
from harness.store import NoSession, Query, Store, StoreFailed, Writer
from harness.store.jsonl import JsonlStore
from harness.store.lines import BadLine, Kept
from harness.store.memory import MemoryStore
from tests.contracts.sql_stores import postgresql_store, sqlite_store
from tests.harness.sample_session import BIG, NOON, sample

pytestmark = pytest.mark.anyio


async def fill(store: Store, *sessions: str, turns: int = 2) -> None:
    for session in sessions:
        writer = await store.write(session, at=NOON)
        await writer.append(*sample(session, turns=turns))
        await writer.close()


async def first_lines(source: Store, target: Store, session: str, count: int) -> None:
    """The target has so many lines of the session, as after a copy that was interrupted."""
    writer = await target.write(session, at=NOON)
    await writer.copy(await source.load(session, most=count))
    await writer.close()


async def written(store: Store, session: str) -> list[bytes]:
    return [one.line.to_bytes() for one in await store.load(session)]


def size(lines: list[bytes], *, values: int = len(BIG)) -> int:
    return sum(len(line) + 1 for line in lines) + values


async def test_a_dry_run_says_what_would_be_copied_and_copies_nothing() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a", "b")
    await first_lines(source, target, "b", 5)
    whole, rest = await written(source, "a"), (await written(source, "b"))[5:]
    assert await migrate(source, target, ["a", "b"], apply=False) == [
        Moved(session="a", state="missing", lines=13, bytes=size(whole)),
        Moved(session="b", state="missing", lines=13, there=5, bytes=size(rest, values=0)),
    ]
    with pytest.raises(NoSession):
        await target.load("a")
    assert len(await target.load("b")) == 5


async def test_lines_and_values_arrive_as_they_are() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a", "b")
    steps: list[tuple[int, int]] = []
    moved = await migrate(source, target, ["a", "b"], apply=True, progress=lambda done, copied: steps.append((done, copied)))
    assert [(one.session, one.state, one.lines, one.there) for one in moved] == [("a", "copied", 13, 0), ("b", "copied", 13, 0)]
    for session in ("a", "b"):
        assert await written(target, session) == await written(source, session)
        assert [one.entry(session) for one in await target.load(session)] == list(sample(session))
    assert steps == sorted(steps) and steps[-1][0] == 2


async def test_a_second_time_there_is_nothing_to_do() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a")
    await migrate(source, target, ["a"], apply=True)
    assert await migrate(source, target, ["a"], apply=True) == [Moved(session="a", state="there", lines=13, there=13)]


@pytest.mark.parametrize("count", range(1, 13))
async def test_an_interrupted_copy_goes_on_behind_its_newest_line(count: int) -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a")
    await first_lines(source, target, "a", count)
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, moved.there) == ("copied", count)
    assert await written(target, "a") == await written(source, "a")


class Full(MemoryStore):
    """Takes so many batches, and then the disk is full."""

    batches = 2

    async def write(self, session: str, *, at: float) -> Writer:  # type: ignore[override]
        return _FullWriter(self, await super().write(session, at=at))


class _FullWriter:
    def __init__(self, store: Full, writer: Writer) -> None:
        self.store, self.writer = store, writer
        self.last = writer.last
        self.append, self.close = writer.append, writer.close

    async def copy(self, kept: Sequence[Kept]) -> None:
        if self.store.batches == 0:
            raise StoreFailed("the disk is full")
        self.store.batches -= 1
        await self.writer.copy(kept)


async def test_a_full_disk_ends_it_and_what_was_copied_counts_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.migrating.PAGE_LINES", 256)
    source, target = MemoryStore(), Full()
    await fill(source, "a", turns=300)
    with pytest.raises(StoreFailed, match="the disk is full"):
        await migrate(source, target, ["a"], apply=True)
    assert len(await target.load("a")) == 512
    target.batches = 100
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, moved.lines, moved.there) == ("copied", 907, 512)
    assert await written(target, "a") == await written(source, "a")


async def test_big_values_are_copied_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.migrating.BATCH_BYTES", 1)
    source, target = MemoryStore(), Full()
    target.batches = 13
    await fill(source, "a")
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, target.batches) == ("copied", 0)


async def test_a_session_that_differs_is_named_and_left_alone() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a", "b")
    await first_lines(source, target, "a", 4)
    writer = await target.write("a", at=NOON)
    await writer.append(Message(session="a", at=NOON, role="user", text="went another way"))
    await writer.close()
    before = await written(target, "a")
    first, second = await migrate(source, target, ["a", "b"], apply=True)
    assert first == Moved(session="a", state="differs", lines=13, there=4, told="line 5 is another one in the target")
    assert (second.state, await written(target, "a")) == ("copied", before)


async def test_a_session_that_went_on_in_the_target_differs() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a")
    await migrate(source, target, ["a"], apply=True)
    writer = await target.write("a", at=NOON)
    await writer.append(Message(session="a", at=NOON, role="user", text="more"))
    await writer.close()
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, moved.told) == ("differs", "the target goes on behind line 13, where the source ends")


async def test_a_session_that_is_written_in_the_target_is_busy() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a")
    await target.write("a", at=NOON)
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, moved.told.partition(";")[0]) == ("busy", "session a is being written already")


class Tampered(MemoryStore):
    """One line has another text than it was written with."""

    place = -1

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        page = await super().load(session, after=after, most=most)
        return [
            Kept(replace(one.line, payload={**one.line.payload, "text": "forged"}, body=b""), one.blob)
            if one.line.seq == self.place
            else one
            for one in page
        ]


@pytest.mark.parametrize("place", range(1, 14))
async def test_a_broken_source_is_named_and_nothing_of_it_is_copied(place: int) -> None:
    source, target = Tampered(), MemoryStore()
    await fill(source, "a")
    source.place = place
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert moved.state == "broken" and moved.told.startswith(f"in the source: line {place} (")
    assert await target.sessions(Query()) == []


@pytest.mark.parametrize("place", range(1, 14))
async def test_what_the_target_gives_back_otherwise_than_it_was_copied_is_named(place: int) -> None:
    source, target = MemoryStore(), Tampered()
    await fill(source, "a")
    target.place = place
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert moved.state == "broken" and moved.told.startswith(f"in the target: line {place} (")
    (compared,) = await compare(source, target, ["a"])
    assert (compared.state, compared.told) == (moved.state, moved.told)


async def test_lines_at_hand_are_taken_in_and_must_begin_with_an_id() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a")
    lines = list(await source.load("a"))
    moved = await take_in(lines, target)
    assert (moved.session, moved.state) == ("a", "copied") and await written(target, "a") == await written(source, "a")
    for wrong in ([], lines[1:]):
        with pytest.raises(BadLine, match=r"^a session begins with a line of the type opened, which has its id$"):
            await take_in(wrong, target)


# ------------------------------------------------------------ every store to every store


STORES = ("memory", "jsonl", "sqlite", "postgresql")


@asynccontextmanager
async def a_store(kind: str, folder: Path) -> AsyncIterator[Store]:
    match kind:
        case "memory":
            yield MemoryStore()
        case "jsonl":
            store = JsonlStore(folder)
            yield store
            await store.close()
        case "sqlite":
            await anyio.Path(folder).mkdir()
            async with sqlite_store(folder) as sqlite:
                yield sqlite
        case _:
            async with postgresql_store() as postgresql:
                yield postgresql


NASTY = {
    "half": "\ud800",
    "nul": "\0",
    "big": 2**70,
    "minus": -0.0,
    "$text": "mine",
    "deep": [[[[{"$json": None}]]]],
    "long": "é" * 5_000,
}


def nasty(session: str) -> Iterator[Entry]:
    yield from sample(session, closed=False)
    yield Item(session=session, at=NOON, turn=4, format="codex", kind="odd", raw=[NASTY] * 9)
    yield Item(session=session, at=NOON, turn=4, format="codex", kind="odd", text="torn \ud83d line")


@pytest.mark.parametrize("target_kind", STORES)
@pytest.mark.parametrize("source_kind", STORES)
async def test_from_any_store_to_any_other_and_on_after_a_break(tmp_path: Path, source_kind: str, target_kind: str) -> None:
    async with a_store(source_kind, tmp_path / "a") as source, a_store(target_kind, tmp_path / "b") as target:
        writer = await source.write("s", at=NOON)
        await writer.append(*nasty("s"))
        await writer.close()
        await first_lines(source, target, "s", 4)
        (moved,) = await migrate(source, target, ["s"], apply=True)
        assert (moved.state, moved.told, moved.lines, moved.there) == ("copied", "", 14, 4)
        assert await written(target, "s") == await written(source, "s")
        assert [one.entry("s") for one in await target.load("s")] == list(nasty("s"))
        assert [one.state for one in await compare(source, target, ["s"])] == ["there"]
        assert await target.sessions() == await source.sessions()
        writer = await source.write("s", at=NOON)
        await writer.append(Message(session="s", at=NOON + 99, role="user", text="one more"))
        await writer.close()
        (grown,) = await migrate(source, target, ["s"], apply=True)
        assert (grown.state, grown.lines, grown.there) == ("copied", 15, 14)


class Forgetful(MemoryStore):
    """Keeps no more than so many lines, and says nothing."""

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        return (await super().load(session))[:10][after : None if most is None else after + most]


async def test_a_target_that_has_lost_the_end_when_it_is_read_back_is_named() -> None:
    source, target = MemoryStore(), Forgetful()
    await fill(source, "a")
    heads = [one.line.digest[:12] for one in await source.load("a")]
    (moved,) = await migrate(source, target, ["a"], apply=True)
    assert (moved.state, moved.told) == (
        "differs",
        f"the target ends with line 10, {heads[9]}…, the source with line 13, {heads[12]}…",
    )


async def test_comparing_writes_nothing_and_tells_what_is_missing() -> None:
    source, target = MemoryStore(), MemoryStore()
    await fill(source, "a", "b", "c")
    await migrate(source, target, ["a"], apply=True)
    await first_lines(source, target, "b", 3)
    found = await compare(source, target, ["a", "b", "c"])
    assert [(one.state, one.there) for one in found] == [("there", 13), ("missing", 3), ("missing", 0)]
    assert len(await target.load("b")) == 3
