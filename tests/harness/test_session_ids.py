"""Ids as people type them."""

import pytest

from harness.entries import Closed
from harness.session_ids import session_named, short_ids
from harness.store import NoSession
from harness.store.memory import MemoryStore
from tests.harness.sample_session import NOON, sample

SHORT = [
    (["0123456789ab", "f123456789ab"], ["01234567", "f1234567"]),
    (["0123456789ab", "0123456789ac", "0123456700ff"], ["012345670", "0123456789ab", "0123456789ac"]),
    (["abc", "abcdefghij", "abcdefghijk"], ["abc", "abcdefghij", "abcdefghijk"]),
    (["one"], ["one"]),
    ([], []),
]


@pytest.mark.parametrize(("ids", "short"), SHORT)
def test_a_short_id_is_a_beginning_that_no_other_has(ids: list[str], short: list[str]) -> None:
    assert sorted(short_ids(ids).values()) == short


async def kept(*sessions: str) -> MemoryStore:
    store = MemoryStore()
    for place, session in enumerate(sessions):
        writer = await store.write(session, at=NOON + place)
        await writer.append(*sample(session, at=NOON + place))
        await writer.close()
    return store


@pytest.mark.anyio
async def test_a_whole_id_wins_over_longer_ones_that_begin_with_it() -> None:
    store = await kept("abc", "abcd", "b")
    assert [await session_named(store, told) for told in ("abc", "abcd", "b", "last")] == ["abc", "abcd", "b", "b"]
    with pytest.raises(NoSession, match=r"^2 sessions begin with 'ab': abc, abcd; give more of the id$"):
        await session_named(store, "ab")


@pytest.mark.anyio
async def test_the_last_one_is_that_which_was_written_last() -> None:
    store = await kept("old", "new")
    writer = await store.write("old", at=NOON)
    assert await session_named(store, "last") == "new"
    await writer.append(Closed(session="old", at=NOON + 10_000))
    assert await session_named(store, "last") == "old"


@pytest.mark.anyio
async def test_many_that_begin_alike_are_named_up_to_five() -> None:
    store = await kept(*(f"a{number}" for number in range(7)))
    with pytest.raises(NoSession, match=r"^7 sessions begin with 'a': a0, a1, a2, a3, a4, …; give more of the id$"):
        await session_named(store, "a")


@pytest.mark.anyio
@pytest.mark.parametrize("told", ["", "x"])
async def test_what_begins_like_none_is_an_error(told: str) -> None:
    with pytest.raises(NoSession, match=f"^no session is kept under '{told}'; `turnscript session list` names those that are$"):
        await session_named(await kept("abc"), told)
