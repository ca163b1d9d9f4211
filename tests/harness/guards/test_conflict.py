"""Which calls wait for which, on the lanes of a session: unit level; whole races are in tests/harness/test_races.py."""

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import Effects, tool
from harness import Setup
from harness.lanes import Lanes, conflict
from harness.limits import TurnLimits
from tests.harness.guards.rig import talking, together

pytestmark = pytest.mark.anyio

KEYS = ("file:a", "file:d/b", "tree:d", "tree:.", "url:x", "*")
EFFECTS = st.builds(
    Effects,
    st.just("external"),
    st.lists(st.sampled_from(KEYS), max_size=2).map(tuple),
    st.lists(st.sampled_from(KEYS), max_size=2).map(tuple),
)


def reads(*keys: str) -> Effects:
    return Effects("reads", keys)


def writes(*keys: str) -> Effects:
    return Effects("writes", (), keys)


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        (reads("file:a"), reads("file:a"), False),
        (reads("file:a"), writes("file:a"), True),
        (writes("file:a"), writes("file:a"), True),
        (writes("file:a"), writes("file:b"), False),
        (writes("file:d/b"), reads("tree:d"), True),
        (writes("tree:d"), writes("file:d/b"), True),
        (writes("*"), reads("url:x"), True),
        (reads("*"), reads("*"), False),
        (writes("file:a"), Effects("pure"), False),
    ],
)
def test_two_calls_conflict_when_one_writes_what_the_other_touches(one: Effects, other: Effects, do: bool) -> None:
    assert conflict(one, other) is conflict(other, one) is do


async def order_of(lanes: Lanes, effects: Sequence[Effects], *, order: Sequence[int]) -> list[tuple[str, int]]:
    """Enter all in order, let them arrive at `wait` in another one; what began and ended when."""
    events: list[tuple[str, int]] = []
    places = [lanes.enter(one) for one in effects]

    async def one(at: int) -> None:
        await lanes.wait(places[at])
        events.append(("began", at))
        await anyio.lowlevel.checkpoint()
        events.append(("ended", at))
        lanes.leave(places[at])

    async with anyio.create_task_group() as tasks:
        for at in order:
            tasks.start_soon(one, at)
    return events


@given(effects=st.lists(EFFECTS, min_size=1, max_size=9), at_once=st.integers(1, 4), data=st.data())
@settings(max_examples=80, deadline=None)
def test_conflicting_calls_run_one_after_the_other_in_the_order_of_the_script(
    effects: list[Effects], at_once: int, data: Any
) -> None:
    order = data.draw(st.permutations(range(len(effects))))
    lanes = Lanes(at_once)
    events = anyio.run(lambda: order_of(lanes, effects, order=order))
    running: set[int] = set()
    for what, at in events:
        if what == "ended":
            running.discard(at)
            continue
        assert all(not conflict(effects[at], effects[other]) for other in running)
        before = [other for other in range(at) if conflict(effects[other], effects[at])]
        assert all(("ended", other) in events[: events.index(("began", at))] for other in before)
        running.add(at)
        assert len(running) <= at_once
    assert len(events) == 2 * len(effects) and (lanes._tickets, lanes._running) == ({}, 0)


async def test_a_call_that_is_cancelled_while_it_waits_lets_the_next_one_run() -> None:
    lanes = Lanes(8)
    first, second, third = (lanes.enter(writes("file:a")) for _ in range(3))
    await lanes.wait(first)
    with anyio.move_on_after(0.01) as scope:
        try:
            await lanes.wait(second)
        finally:
            lanes.leave(second)
    assert scope.cancelled_caught
    lanes.leave(first)
    with anyio.fail_after(1):
        await lanes.wait(third)
    lanes.leave(third)
    lanes.leave(third)  # leaving twice is no mistake
    assert (lanes._tickets, lanes._running) == ({}, 0)


async def test_one_that_waits_for_a_person_holds_its_resource_but_no_place() -> None:
    lanes = Lanes(1)
    parked, other, behind = lanes.enter(writes("file:a")), lanes.enter(writes("file:b")), lanes.enter(writes("file:a"))
    lanes.park(parked)
    with anyio.fail_after(1):
        await lanes.wait(other)
    lanes.leave(other)
    with anyio.move_on_after(0.01) as scope:
        await lanes.wait(behind)
    assert scope.cancelled_caught
    lanes.unpark(parked)
    with anyio.fail_after(1):
        await lanes.wait(parked)
        lanes.leave(parked)
        await lanes.wait(behind)


async def test_a_call_that_outlives_its_turn_still_holds_what_it_touches() -> None:
    free = anyio.Event()
    done: list[str] = []

    @tool(writes=["thing:{name}"])
    async def write(name: str, stubborn: bool = False) -> str:
        with anyio.CancelScope(shield=stubborn):
            if stubborn:
                await free.wait()
        done.append(f"{name} {stubborn}")
        return name

    setup = Setup(turn=TurnLimits(turn_seconds=5, grace_seconds=0.05))
    async with talking(write, setup=setup) as session:
        first = await session.run("const go = f => { f('a', true) }; go(tools.x.write); await sleep(5); return 1")
        assert first.notices[-1] == (
            "x.write (call 1) did not stop when it was cancelled and may still have effects; look before you go on"
        )
        assert (await session.run("return await tools.x.write('b')")).value == "b"
        async with anyio.create_task_group() as tasks:
            got: list[Any] = []

            async def again() -> None:
                got.append((await session.run("return await tools.x.write('a')")).value)

            tasks.start_soon(again)
            await anyio.sleep(0.05)
            assert done == ["b False"] and got == []
            free.set()
        assert got == ["a"] and done == ["b False", "a True", "a False"]
        assert (session._ground.on.lanes._tickets, session._ground.on.lanes._running) == ({}, 0)


async def test_refused_and_failed_calls_leave_no_ticket() -> None:
    @tool(writes=["thing:a"], approval=True)
    async def asks() -> None: ...

    @tool(writes=["thing:a"])
    async def fails() -> None:
        raise OSError("no")

    async with talking(asks, fails) as session:
        outcome = await session.run(together("tools.x.asks()", "tools.x.fails()", "tools.x.asks()", "tools.x.fails()"))
        assert outcome.value == ["denied", "tool_failed", "denied", "tool_failed"]
        assert (session._ground.on.lanes._tickets, session._ground.on.lanes._running) == ({}, 0)
