"""One call within its time: the usual one or the tool's own; waiting in line does not count."""

import anyio
import pytest

from catalog import tool
from harness import Setup
from harness.limits import TurnLimits
from tests.harness.guards.rig import caught, talking, together

pytestmark = pytest.mark.anyio

SHORT = Setup(turn=TurnLimits(call_seconds=0.08, grace_seconds=0.05))


@tool(reads=["clock:now"])
async def wait(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "waited"


@tool(reads=["clock:now"], timeout_seconds=30)
async def patient(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "waited"


@tool(effect="external")
async def alone() -> str:
    await anyio.sleep(0.05)
    return "done"


async def test_a_call_that_takes_too_long_is_cancelled_and_told() -> None:
    async with talking(wait, setup=SHORT) as session:
        outcome = await session.run(caught("tools.x.wait(60)"))
    assert outcome.value == [
        "tool_timeout",
        "x.wait took more than 0.08 seconds and was cancelled",
        "ask for less at once; part of its effect may have happened: look before you repeat it",
    ]
    assert outcome.ledger.calls == {"timed_out": 1} and outcome.ledger.refused == {"timeout": 1}


async def test_a_tool_may_have_a_longer_time_of_its_own() -> None:
    async with talking(wait, patient, setup=SHORT) as session:
        assert (await session.run(together("tools.x.patient(0.2)", "tools.x.wait(0.2)"))).value == ["waited", "tool_timeout"]


async def test_waiting_in_line_does_not_count() -> None:
    """Four calls that each touch everything take turns; the last waits for longer than one may take."""
    async with talking(alone, setup=Setup(turn=TurnLimits(call_seconds=0.12, repeats=9))) as session:
        assert (await session.run(together(*["tools.x.alone()"] * 4))).value == ["done"] * 4


async def test_a_call_that_timed_out_leaves_its_place() -> None:
    hung = []

    @tool(writes=["thing:a"])
    async def hang(long: bool) -> str:
        hung.append(long)
        await anyio.sleep(60 if long else 0)
        return "wrote"

    async with talking(hang, setup=SHORT) as session:
        assert (await session.run(together("tools.x.hang(true)", "tools.x.hang(false)"))).value == ["tool_timeout", "wrote"]
    assert hung == [True, False]


async def test_a_tool_that_answers_its_cancellation_with_an_error_of_its_own_has_failed() -> None:
    @tool(reads=["thing:a"])
    async def odd() -> None:
        try:
            await anyio.sleep(60)
        finally:
            raise RuntimeError("cannot stop")

    async with talking(odd, setup=SHORT) as session:
        assert (await session.run(caught("tools.x.odd()"))).value[:2] == [
            "tool_failed",
            "x.odd failed: RuntimeError: cannot stop",
        ]


async def test_an_inner_timeout_of_the_tool_is_its_own_failure() -> None:
    @tool(reads=["thing:a"])
    async def inner() -> None:
        with anyio.fail_after(0.001):
            await anyio.sleep(60)

    async with talking(inner) as session:
        name, message, _ = (await session.run(caught("tools.x.inner()"))).value
    assert name == "tool_failed" and message.startswith("x.inner failed: TimeoutError")
