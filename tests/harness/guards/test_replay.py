"""Replay: outcomes come from a recording by place, number and arguments; no tool runs."""

from typing import Any

import anyio
import pytest

from catalog import tool
from harness import TurnOutcome
from harness.call import Outcome
from harness.guards.replay import Recording, Replay, identity
from sandbox import Problem
from tests.harness.guards.rig import caught, made, talking, together

pytestmark = pytest.mark.anyio


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


def recording(outcome: TurnOutcome) -> Recording:
    return Recording.of((record.call, record.outcome) for record in outcome.calls if record.call is not None)


async def replayed(script: str, again: str | None = None) -> tuple[TurnOutcome, TurnOutcome]:
    """The outcome of a script, and that of its replay with tools that must not run."""
    async with talking(*World().tools()) as session:
        first = await session.run(script)
    world = World()
    async with talking(*world.tools(), id="again") as session:
        second = await session.run(again or script, recording=recording(first))
    assert world.calls == 0
    return first, second


async def test_results_and_failures_come_from_the_recording() -> None:
    source = together("tools.x.fetch(1)", "tools.x.fetch(13)", "tools.x.write('a')")
    first, second = await replayed(source)
    assert first.value[1:] == ["tool_failed", "denied"] and second.value == first.value and second.text == first.text
    assert [record.outcome.source for record in second.calls] == ["recording"] * 3


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
        second = await session.run("return await tools.x.fetch(1)", recording=recording(first))
    assert first.calls[0].call is not None and second.calls[0].call is not None
    assert first.calls[0].call.key != second.calls[0].call.key and second.value == first.value


async def test_no_approver_is_asked_and_no_budget_is_spent() -> None:
    async with talking(*World().tools()) as session:
        first = await session.run(caught("tools.x.write('a')"))
    async with talking(*World().tools()) as session:
        second = await session.run(caught("tools.x.write('a')"), recording=recording(first))
        assert second.value == first.value and second.decisions == () and session._on.purses[0].calls == 0


def test_what_nobody_made_again_is_left() -> None:
    @tool(effect="external", reads=["n:{n}"])
    async def fetch(n: int) -> int:
        return n

    calls = [made(fetch, n, n=n) for n in (1, 2, 3)]
    replay = Replay(Recording.of((call, Outcome(status="returned", value=call.number)) for call in calls))
    assert [replay.admit(calls[n]).value for n in (2, 0)] == [3, 1]  # type: ignore[union-attr]
    assert replay.unused == (identity(calls[1]),)
    refused = replay.admit(calls[0])
    assert refused is not None and refused.problem == Problem(
        "not_recorded", "x.fetch (line 1) is not in the recording: from there it was made with other arguments",
        "record the session again, or replay with other settings",
    )  # fmt: skip
