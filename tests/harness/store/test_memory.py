"""The store that ships for tests and for agents with a record of their own: bounded, and as true as the others while it holds."""

import pytest
from pydantic_core import PydanticSerializationError

from harness.entries import Ended, Ending, Said
from harness.ledger import Ledger
from harness.store import Query
from harness.store.lines import MissingValue, first_break
from harness.store.memory import MemoryStore
from tests.contracts.entry_samples import AT, opened, settled

pytestmark = pytest.mark.anyio


def ended(turn: int) -> Ended:
    shown = (Said(how="shown", value="x" * 9_000),)
    return Ended(
        session="s", at=AT, turn=turn, ending=Ending(how="finished", value=turn), text=f"text {turn}", said=shown,
        ledger=Ledger(produced=9_000),
    )  # fmt: skip


async def test_of_old_turns_only_the_texts_stay() -> None:
    store = MemoryStore(most_bytes=20_000)
    writer = await store.write("s", at=AT)
    await writer.append(opened(), *[ended(turn) for turn in range(1, 5)])
    entries = [entry for entry in store.entries("s") if isinstance(entry, Ended)]
    assert [entry.text for entry in entries] == ["text 1", "text 2", "text 3", "text 4"]
    assert [len(entry.said) for entry in entries] == [0, 0, 1, 1]
    assert [entry.ending.value for entry in entries] == [1, 2, 3, 4]
    kept = await store.load("s")
    assert first_break([one.line for one in kept]) == "" and [one.entry("s") for one in kept] == list(store.entries("s"))


async def test_a_line_that_was_loaded_before_its_value_made_room_says_so() -> None:
    store = MemoryStore(most_bytes=20_000)
    writer = await store.write("s", at=AT)
    await writer.append(opened(), settled("y" * 9_000, size=9_000))
    early = (await store.load("s"))[1]
    await writer.append(ended(1), ended(2))
    with pytest.raises(MissingValue, match="has made room for newer ones"):
        early.entry("s")
    assert (await store.load("s"))[1].entry("s") == settled(None, size=9_000)


async def test_a_list_writes_down_no_session_that_stands_behind_its_end() -> None:
    store = MemoryStore()
    for place in range(3):
        await (await store.write(f"s{place}", at=AT + place)).append(opened(f"s{place}", AT + place))
    bad = settled(object(), "old", AT - 1)  # it cannot be written down
    await (await store.write("old", at=AT - 1)).append(bad)
    assert [row.session for row in await store.sessions(Query(most=2, skip=1))] == ["s1", "s0"]
    with pytest.raises(PydanticSerializationError):
        await store.sessions(Query(most=4))


async def test_entries_are_there_as_they_were_appended_without_being_written_down() -> None:
    store = MemoryStore()
    writer = await store.write("s", at=AT)
    entry = settled({"a": ("no JSON is made of it",)})
    await writer.append(entry)
    assert store.entries("s")[0] is entry and store.entries("nobody") == ()
