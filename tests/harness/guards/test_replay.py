"""Replay: outcomes come from a recording by place, number and arguments; no tool runs."""

from typing import Any

import anyio
import pytest

from catalog import tool
from harness import TurnOutcome
from harness.call import Outcome
from harness.entries import Settled
from harness.recording import Play, Recording
from sandbox import Site, Start
from tests.harness.guards.rig import caught, talking, together

pytestmark = pytest.mark.anyio


START = Start(source="", now=1_000.0)


class World:
    def __init__(self) -> None:
        self.calls = 0

    def tools(self) -> list[Any]:
        @tool(effect="external", reads=["n:{n}"])
        async def fetch(n: int) -> dict[str, int]:
            self.calls += 1
            await anyio.sleep(0.001 * (7 * n % 5))
            if n == 13:
                raise OSError("unlucky")
            return {"n": n, "call": self.calls}

        @tool(writes=["thing:a"], approval=True)
        async def write(text: str) -> str:
            self.calls += 1
            return "written"

        return [fetch, write]


async def replayed(script: str, again: str | None = None) -> tuple[TurnOutcome, TurnOutcome]:
    """The outcome of a script, and that of its replay with tools that must not run."""
    async with talking(*World().tools()) as session:
        first = await session.run(script, start=START)
    world = World()
    async with talking(*world.tools(), id="again") as session:
        second = await session.run(again or script, play=Play(recording=first.recording), start=START)
    assert world.calls == 0
    return first, second


async def test_results_and_failures_come_from_the_recording() -> None:
    source = together("tools.x.fetch(1)", "tools.x.fetch(13)", "tools.x.write('a')")
    first, second = await replayed(source)
    assert first.value[1:] == ["tool_failed", "denied"] and second.value == first.value and second.text == first.text
    assert [record.outcome.replayed for record in second.calls] == [True] * 3


async def test_calls_made_together_replay_whatever_the_order_they_were_settled_in() -> None:
    first, second = await replayed("return await Promise.all(Array.from({ length: 12 }, (_, n) => tools.x.fetch(n)))")
    assert second.value == first.value


async def test_equal_calls_from_one_place_are_told_apart_by_their_number() -> None:
    source = "const got = []; for (let i = 0; i < 2; i++) got.push(await tools.x.fetch(7)); return got"
    first, second = await replayed(source)
    assert [one["call"] for one in second.value] == [1, 2] and second.value == first.value


@pytest.mark.parametrize(
    ("again", "why"),
    [
        ("return await tools.x.fetch(2)", "from there it was made with other arguments"),
        ("\nreturn await tools.x.fetch(1)", "no call was made from there"),
    ],
)
async def test_a_call_that_is_not_recorded_is_refused_and_not_made(again: str, why: str) -> None:
    _, second = await replayed("return await tools.x.fetch(1)", again)
    line = again.count("\n") + 1
    assert second.error is not None and second.error.name == "not_recorded"
    assert second.error.message == f"x.fetch (line {line}) is not in the recording: {why}"
    assert second.error.hint == "record the session again, or replay with other settings"


async def test_one_call_more_from_the_same_place_says_how_many_there_were() -> None:
    once = "let got; for (let i = 0; i < TIMES; i++) got = await tools.x.fetch(1); return got"
    _, second = await replayed(once.replace("TIMES", "1"), once.replace("TIMES", "2"))
    assert second.error is not None
    assert second.error.message == "x.fetch (line 1) is not in the recording: only 1 call was made from there"


async def test_a_tool_whose_code_has_changed_replays() -> None:
    """The key of a call in the cache has the code of its pack in it; a recording has not."""

    @tool(effect="external", reads=["n:{n}"])
    async def fetch(n: int) -> dict[str, int]:
        raise AssertionError("it must not run")

    async with talking(*World().tools()) as session:
        first = await session.run("return await tools.x.fetch(1)")
    async with talking(fetch) as session:
        second = await session.run("return await tools.x.fetch(1)", play=Play(recording=first.recording))
    assert first.calls[0].call is not None and second.calls[0].call is not None
    assert first.calls[0].call.key != second.calls[0].call.key and second.value == first.value


async def test_no_approver_is_asked_and_the_budget_is_counted_as_it_was() -> None:
    async with talking(*World().tools()) as session:
        first = await session.run(caught("tools.x.write('a')"))
    async with talking(*World().tools()) as session:
        second = await session.run(caught("tools.x.write('a')"), play=Play(recording=first.recording))
        assert second.value == first.value and second.decisions == () and session._ground.on.purses[0].calls == 1


async def test_what_nobody_made_again_is_left() -> None:
    async with talking(*World().tools()) as session:
        first = await session.run("await tools.x.fetch(1); await tools.x.fetch(2)\nawait tools.x.fetch(3)")
    async with talking(*World().tools()) as session:
        second = await session.run("await tools.x.fetch(1)", play=Play(recording=first.recording))
    assert second.played is not None
    assert [(one.tool, one.site.line, one.arguments) for one in second.played.unused] == [
        ("x.fetch", 1, {"n": 2}), ("x.fetch", 2, {"n": 3}),
    ]  # fmt: skip


async def test_a_call_that_is_not_on_record_is_named() -> None:
    async with talking(*World().tools()) as session:
        first = await session.run("await tools.x.fetch(1)")
    async with talking(*World().tools()) as session:
        second = await session.run(caught("tools.x.fetch(2)"), play=Play(recording=first.recording))
    assert second.played is not None
    assert [(one.number, one.tool, one.arguments) for one in second.played.missing] == [(1, "x.fetch", {"n": 2})]


async def test_a_call_that_is_not_on_record_runs_where_the_play_says_so() -> None:
    async with talking(*World().tools()) as session:
        first = await session.run("return [await tools.x.fetch(1)]")
    world = World()
    async with talking(*world.tools()) as session:
        second = await session.run(
            "return [await tools.x.fetch(1), await tools.x.fetch(2)]", play=Play(recording=first.recording, missing="run")
        )
    assert world.calls == 1 and second.value == [first.value[0], {"n": 2, "call": 1}]


async def test_with_live_the_tools_run_beside_and_the_script_is_told_what_is_on_record() -> None:
    async with talking(*World().tools()) as session:
        await session.run("await tools.x.fetch(9)")
        first = await session.run("return await tools.x.fetch(1)")
    world = World()
    async with talking(*world.tools()) as session:
        second = await session.run("return await tools.x.fetch(1)", play=Play(recording=first.recording, live=True))
    assert world.calls == 1 and second.value == first.value == {"n": 1, "call": 2}
    assert second.played is not None
    assert [(one.recorded.outcome.value, one.now.value) for one in second.played.compared] == [
        ({"n": 1, "call": 2}, {"n": 1, "call": 1})
    ]


RACE = """
const order = [];
await Promise.all(Array.from({ length: 20 }, async (_, n) => { const got = await tools.x.fetch(n + 20); order.push([got.n, Date.now(), budget.bytes]) }));
return order
"""


async def test_outcomes_are_told_in_the_recorded_order_with_the_recorded_clock() -> None:
    first, second = await replayed(RACE)
    assert second.value == first.value and [row[0] for row in first.value] != sorted(row[0] for row in first.value)


async def test_a_turn_whose_time_was_over_ends_the_same_way_at_once() -> None:
    @tool(effect="external", reads=["n:{n}"])
    async def hang(n: int) -> int:
        return await anyio.sleep(3_600) or n

    source = "show('before'); await tools.x.hang(1)"
    async with talking(hang) as session:
        first = await session.run(source, limits={"turn_seconds": 0.3})
    async with talking(hang) as session:
        second = await session.run(source, play=Play(recording=first.recording), limits={"turn_seconds": 0.3})
    assert first.text == second.text and "more than 0.3 seconds" in first.text


async def test_a_script_sleeps_no_second_time() -> None:
    """What is on record has the host's own answers too."""
    source = "const at = Date.now(); await new Promise(r => setTimeout(r, 50_000)); return Date.now() - at"
    asked = Settled(
        session="", at=0, turn=1, call=1, tool="sleep", site=Site(1, 47, 0), arguments=(50_000,),
        outcome=Outcome(status="returned", by="host"), now=60_000.0,
    )  # fmt: skip
    async with talking(*World().tools()) as session:
        start = Start(source="", now=10_000.0)
        with anyio.fail_after(10):
            outcome = await session.run(source, play=Play(recording=Recording(told=(asked,))), start=start)
    assert outcome.value == 50_000 and outcome.played is not None and outcome.played.unused == []


async def test_a_sleep_that_is_not_on_record_is_not_waited_for() -> None:
    async with talking(*World().tools()) as session:
        with anyio.fail_after(10):
            outcome = await session.run("await sleep(100_000_000); return 1", play=Play(recording=Recording()))
    assert outcome.value == 1
