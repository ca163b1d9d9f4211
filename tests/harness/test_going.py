"""A script that goes on while the agent does something else: it is asked, waited for, stopped, cancelled, or left behind."""

import anyio
import pytest

from catalog import tool
from harness import MemoryStore, Policy, Setup, TurnOutcome, allowing
from harness.entries import Began, Closed, Ended, Entry
from harness.limits import TurnLimits
from harness.parts import Part
from harness.setup import BadConfig
from harness.store import StoreFailed
from harness.store.memory import MemoryWriter
from harness.watching import Happened, TurnBegan, TurnEnded
from tests.harness.guards.rig import talking
from tests.harness.test_parts import Steps, ended, stepping

pytestmark = pytest.mark.anyio
WAITS = "show('a'); await tools.x.step({ n: 0 }); show('b'); return 'end'"


def endings(store: MemoryStore) -> list[str]:
    return [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)]


# ------------------------------------------------------------ wait


async def test_waiting_gives_what_is_new_then_nothing_then_the_outcome() -> None:
    steps = Steps()
    async with stepping(steps) as session:
        going = session.begin(WAITS)
        await steps.at(0)
        first, second = await going.wait(0), await going.wait(0)
        assert isinstance(first, Part) and first.text == "a" and second is None and not going.over and going.turn == 1
        steps.go(0)
        outcome = await ended(going)
        assert (outcome.rest, outcome.text, outcome.value) == ("b\nend", "a\nb\nend", "end") and going.over
        assert await going.wait(0) is outcome  # as often as one likes


async def test_a_script_that_ends_in_time_is_told_at_once() -> None:
    async with stepping(Steps()) as session:
        outcome = await ended(session.begin("show(1); return 2"))
    assert outcome.rest == outcome.text == "1\n2" and outcome.parts == ()


async def test_a_script_that_failed_behind_a_part_says_so_in_the_rest() -> None:
    steps = Steps()
    async with stepping(steps) as session:
        going = session.begin("show('a'); await tools.x.step({ n: 0 }); throw new Error('no')")
        await steps.at(0)
        await going.wait(0)
        steps.go(0)
        outcome = await ended(going)
    assert not outcome.ok and outcome.rest.startswith("Error: no") and outcome.text.startswith("a\nError: no")


async def test_several_may_wait_for_one_end() -> None:
    steps, got = Steps(), list[object]()
    async with stepping(steps) as session:
        going = session.begin("await tools.x.step({ n: 0 }); return 1")

        async def one() -> None:
            got.append(await going.wait(30))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
            await steps.at(0)
            steps.go(0)
    assert len(got) == 3 and len(set(map(id, got))) == 1


# ------------------------------------------------------------ stop


async def test_a_stopped_script_tells_what_it_showed_and_what_was_open() -> None:
    steps, store = Steps(), MemoryStore()
    async with stepping(steps, store=store) as session:
        going = session.begin("show('a'); store('kept', 1);\nawait tools.x.step({ n: 0 }); return 'never'")
        await steps.at(0)
        outcome = await going.stop()
        assert outcome.text == (
            "a\nStopped: the script was stopped; still open: x.step (line 2)\nnotice: x.step (call 1, line 2, column 7) was still"
            " open when the script ended, and cancelled; await every call whose effect you want"
        )
        assert [record.outcome.status for record in outcome.calls] == ["cancelled"] and going.over
        assert await going.stop() is outcome  # once more changes nothing
        assert (await session.run("return load('kept')")).value == 1
    assert endings(store) == ["exceeded", "finished"]


async def test_a_stopped_script_has_done_what_it_had_done() -> None:
    done: list[int] = []
    steps = Steps()

    @tool(writes=["thing:{n}"])
    async def act(n: int) -> None:
        done.append(n)

    wait = steps.pack().tools[0].function
    async with talking(act, wait, setup=Setup(policy=Policy(allowing(["x.*"])))) as session:
        going = session.begin("await tools.x.act(1); await tools.x.step({ n: 0 }); await tools.x.act(2)")
        await steps.at(0)
        outcome = await going.stop()
    assert done == [1] and [record.outcome.status for record in outcome.calls] == ["returned", "cancelled"]


async def test_a_script_in_a_busy_loop_is_stopped() -> None:
    async with stepping(Steps()) as session:
        going = session.begin("show('a'); for (;;) {}")
        await going.begun()
        outcome = await going.stop()
        assert outcome.error is not None and outcome.error.name == "Stopped"
        assert (await session.run("return 1")).value == 1


async def test_stopping_one_that_waits_for_its_turn_means_that_it_does_nothing() -> None:
    steps, store, got = Steps(), MemoryStore(), list[TurnOutcome]()
    async with stepping(steps, store=store) as session:
        first = session.begin("await tools.x.step({ n: 0 }); return 1")
        await steps.at(0)
        second = session.begin("await tools.x.step({ n: 7 }); return 2")

        async def stop() -> None:
            got.append(await second.stop())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            assert await second.wait(0) is None and second.turn == 0  # asked before it has begun: there is nothing
            steps.go(0)
        assert (await ended(first)).value == 1
    assert 7 not in steps.reached and got[0].error is not None and got[0].error.name == "Stopped" and got[0].number == 2
    assert endings(store) == ["finished", "exceeded"]


async def test_stopping_a_script_that_is_over_gives_its_outcome() -> None:
    async with stepping(Steps()) as session:
        going = session.begin("return 1")
        outcome = await ended(going)
        assert await going.stop() is outcome and outcome.value == 1


# ------------------------------------------------------------ cancel


async def test_a_cancelled_script_is_on_record_and_the_next_one_runs() -> None:
    steps, store, heard = Steps(), MemoryStore(), list[Happened]()
    async with stepping(steps, store=store) as session:
        session._watch = heard.append
        going = session.begin(WAITS)
        await steps.at(0)
        going.cancel()
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await going.wait(30)
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await going.stop()
        assert going.over and session.transcript() == []  # nobody was told of it
        assert (await session.run("return context.turn")).value == 2
    assert endings(store) == ["cancelled", "finished"]
    assert next(one.outcome for one in heard if isinstance(one, TurnEnded)) is None


async def test_one_cancelled_before_its_turn_leaves_no_trace() -> None:
    steps, store = Steps(), MemoryStore()
    async with stepping(steps, store=store) as session:
        first = session.begin("await tools.x.step({ n: 0 }); return 1")
        await steps.at(0)
        second = session.begin("return 2")
        second.cancel()
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await second.wait(30)
        steps.go(0)
        assert (await ended(first)).value == 1 and second.turn == 0
    assert endings(store) == ["finished"] and sum(isinstance(entry, Began) for entry in store.entries("s")) == 1


async def test_cancelled_at_once_it_never_begins() -> None:
    store = MemoryStore()
    async with stepping(Steps(), store=store) as session:
        going = session.begin("return 1")
        going.cancel()
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await going.wait(30)
    assert endings(store) == []


async def test_cancelling_one_that_is_over_changes_nothing() -> None:
    async with stepping(Steps()) as session:
        going = session.begin("return 1")
        outcome = await ended(going)
        going.cancel()
        assert await going.wait(0) is outcome


async def test_who_stops_waiting_does_not_end_the_script() -> None:
    steps = Steps()
    async with stepping(steps) as session:
        going = session.begin(WAITS)
        await steps.at(0)
        with anyio.move_on_after(0):
            await going.wait(30)
        part = await going.wait(0)
        assert isinstance(part, Part) and part.text == "a"
        steps.go(0)
        assert (await ended(going)).value == "end"


# ------------------------------------------------------------ leaving the session, two at once


async def test_leaving_the_session_ends_what_still_runs() -> None:
    steps, store = Steps(), MemoryStore()
    async with stepping(steps, store=store) as session:
        going, waiting = session.begin(WAITS), session.begin("return 2")
        await steps.at(0)
        await going.wait(0)
    assert going.over and waiting.over and endings(store) == ["cancelled"]
    assert isinstance(store.entries("s")[-1], Closed)
    last = next(entry for entry in store.entries("s") if isinstance(entry, Ended))
    assert (last.text, last.parts) == ("a", (1,))
    for one in (going, waiting):
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await one.wait(0)
    with pytest.raises(RuntimeError, match="the session is not open"):
        session.begin("return 1")


async def test_an_error_in_the_block_ends_it_too_and_stays_what_it_was() -> None:
    steps, store = Steps(), MemoryStore()
    with pytest.raises(ZeroDivisionError):
        async with stepping(steps, store=store) as session:
            going = session.begin(WAITS)
            await steps.at(0)
            raise ZeroDivisionError
    assert going.over and endings(store) == ["cancelled"]


async def test_two_at_once_run_one_after_the_other() -> None:
    steps, heard = Steps(), list[int]()
    async with stepping(steps) as session:
        session._watch = lambda one: heard.append(one.turn) if isinstance(one, TurnBegan | TurnEnded) else None
        first, second = session.begin("return await tools.x.step({ n: 0 })"), session.begin("return context.turn")
        await steps.at(0)
        assert await second.wait(0) is None
        steps.go(0)
        assert ((await ended(first)).value, (await ended(second)).value) == (0, 2)
    assert heard == [1, 1, 2, 2]


# ------------------------------------------------------------ what goes wrong


async def test_what_is_wrong_with_a_start_is_told_to_who_waits_and_ends_nothing_else() -> None:
    async with stepping(Steps()) as session:
        going = session.begin("return 1", limits={"turn_second": 1})
        with pytest.raises(BadConfig, match=r"there is no limit 'turn_second'; did you mean turn_seconds\?"):
            await going.wait(30)
        with pytest.raises(BadConfig):
            await going.stop()
        assert (await ended(session.begin("return 1"))).value == 1


@pytest.mark.parametrize(
    ("script", "name"), [("", "empty_script"), ("return (", "SyntaxError"), ("tools.x.stop()", "unknown_tool")]
)
async def test_a_script_that_does_not_start_has_its_outcome(script: str, name: str) -> None:
    async with stepping(Steps()) as session:
        outcome = await ended(session.begin(script))
    assert outcome.error is not None and name in (outcome.error.name, outcome.error.text.partition(":")[0])


async def test_a_turn_that_takes_too_long_ends_as_ever() -> None:
    steps = Steps()
    async with stepping(steps, setup=Setup(turn=TurnLimits(turn_seconds=0.2))) as session:
        outcome = await ended(session.begin(WAITS))
    assert outcome.error is not None and outcome.error.message.startswith("the turn took more than 0.2 seconds")


async def test_a_store_that_fails_is_told_to_who_waits() -> None:
    class Full(MemoryStore):
        async def write(self, session: str, *, at: float) -> MemoryWriter:
            writer = await super().write(session, at=at)
            append = writer.append

            async def refusing(*entries: Entry) -> None:
                if any(isinstance(entry, Began) for entry in entries):
                    raise StoreFailed("the disk is full")
                await append(*entries)

            writer.append = refusing  # type: ignore[method-assign]
            return writer

    async with stepping(Steps(), store=Full()) as session:
        going = session.begin("return 1")
        with pytest.raises(StoreFailed, match="the disk is full"):
            await going.wait(30)
