"""Old sessions go, sessions that may be written stay, and a dry run removes nothing."""

import pytest

from harness.pruning import Pruned, all_but_newest, older_than, prune
from harness.store import NoSession, SessionRow
from harness.store.memory import MemoryStore
from tests.harness.sample_session import NOON, sample


def row(session: str, *, opened: float = 0.0, last: float = NOON, closed: bool = True) -> SessionRow:
    return SessionRow(session=session, opened=opened, last=last, lines=1, turns=1, closed=closed)


def test_age_counts_from_the_newest_line() -> None:
    rows = [row("a", opened=1, last=9), row("b", opened=2, last=3)]
    assert older_than(rows, 9) == [rows[1]]


def test_the_newest_stay() -> None:
    rows = [row("a", last=1), row("b", last=3), row("c", last=2)]
    assert [one.session for one in all_but_newest(rows, 1)] == ["c", "a"]
    assert all_but_newest(rows, 3) == []


async def filled(*sessions: str) -> MemoryStore:
    store = MemoryStore()
    for session in sessions:
        writer = await store.write(session, at=NOON)
        await writer.append(*sample(session))
        await writer.close()
    return store


@pytest.mark.anyio
async def test_a_dry_run_removes_nothing() -> None:
    store = await filled("a")
    assert await prune(store, [row("a")], apply=False) == [Pruned(row("a"), "would go")]
    assert await store.load("a")


@pytest.mark.anyio
async def test_what_is_named_goes_and_the_rest_stays() -> None:
    store = await filled("a", "b")
    assert await prune(store, [row("a"), row("x")], apply=True) == [Pruned(row("a"), "removed"), Pruned(row("x"), "gone before")]
    with pytest.raises(NoSession):
        await store.load("a")
    assert await store.load("b")


@pytest.mark.anyio
async def test_a_session_that_the_store_knows_to_be_written_stays() -> None:
    store = await filled("a")
    await store.write("a", at=NOON)
    assert await prune(store, [row("a")], apply=True) == [Pruned(row("a"), "being written")]
    assert await store.load("a")


@pytest.mark.anyio
async def test_a_session_without_an_end_stays_while_its_newest_line_is_fresh() -> None:
    store = await filled("a")
    fresh = row("a", last=NOON, closed=False)
    assert await prune(store, [fresh], apply=True, spared_since=NOON) == [Pruned(fresh, "being written")]
    assert await prune(store, [fresh], apply=True, spared_since=NOON + 1) == [Pruned(fresh, "removed")]


@pytest.mark.anyio
async def test_a_session_with_an_end_goes_however_new_it_is() -> None:
    store = await filled("a")
    assert await prune(store, [row("a")], apply=True, spared_since=NOON - 1) == [Pruned(row("a"), "removed")]
