"""The store that ships for tests and for agents with a record of their own: every entry in order, within its bytes."""

import pytest

from harness import Harness, MemoryStore
from harness.entries import Forgot, Opened, Turned

pytestmark = pytest.mark.anyio

TEXT = "show('x'.repeat(9000)); return 1"


async def test_what_happened_is_there_in_order() -> None:
    store = MemoryStore()
    async with Harness(store=store) as harness, harness.session("s") as session:
        first = await session.run("return 1")
        await session.forget([1])
    entries = await store.load("s")
    assert [type(entry) for entry in entries] == [Opened, Turned, Forgot]
    assert isinstance(entries[1], Turned) and entries[1].outcome is first
    assert store.sessions == ("s",) and await store.load("other") == ()


async def test_of_old_turns_only_the_texts_stay() -> None:
    store = MemoryStore(most_bytes=20_000)
    async with Harness(store=store) as harness, harness.session("s") as session:
        outcomes = [await session.run(TEXT) for _ in range(4)]
    turns = [entry.outcome for entry in await store.load("s") if isinstance(entry, Turned)]
    assert [turn.text for turn in turns] == [outcome.text for outcome in outcomes]
    assert [len(turn.shown) for turn in turns] == [0, 0, 1, 1]
    assert [turn.value for turn in turns] == [1, 1, 1, 1]
