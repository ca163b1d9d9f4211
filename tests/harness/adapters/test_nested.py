"""Calls inside a script, told by a function that may wait: in order, all of them, and without changing anything."""

from functools import partial

import anyio
import anyio.lowlevel
import pytest

from catalog import tool
from harness import Harness
from harness.adapters.nested import Nested, NestedCalls
from harness.adapters.surface import Result, Surface
from harness.watching import CallBegan

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def double(n: int) -> int:
    return 2 * n


class Ear:
    """Takes its time, so that the script is always ahead of it."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def __call__(self, happened: Nested) -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        self.heard.append(f"{happened.turn}.{happened.call} {'began' if isinstance(happened, CallBegan) else 'ended'}")


async def test_everything_is_told_in_order_when_the_result_is_there() -> None:
    nested, ear = NestedCalls(), Ear()
    async with Harness(tools={"x.double": double}) as harness, harness.session(watch=nested) as session:
        script = "await tools.x.double({ n: 1 }); return await tools.x.double({ n: 2 })"
        result = await nested.told(partial(Surface(session).call, "run_script", {"script": script}), ear)
    assert result.text == "4"
    assert ear.heard == ["1.1 began", "1.1 ended", "1.2 began", "1.2 ended"]


async def test_two_at_once_each_hear_of_their_own_script() -> None:
    nested, ears = NestedCalls(), [Ear(), Ear()]
    async with Harness(tools={"x.double": double}) as harness, harness.session(watch=nested) as session:
        surface = Surface(session)

        async def run(ear: Ear) -> None:
            await nested.told(partial(surface.call, "run_script", {"script": "return await tools.x.double({ n: 1 })"}), ear)

        async with anyio.create_task_group() as tasks:
            for ear in ears:
                tasks.start_soon(run, ear)
    assert sorted(ear.heard for ear in ears) == [["1.1 began", "1.1 ended"], ["2.1 began", "2.1 ended"]]


async def test_what_a_script_does_while_the_agent_calls_nothing_is_told_with_the_next_call() -> None:
    nested, first, second, go, done = NestedCalls(), Ear(), Ear(), anyio.Event(), anyio.Event()

    @tool(reads=["clock:now"])
    async def wait() -> None:
        await go.wait()

    @tool(reads=["clock:now"])
    async def mark() -> None:
        done.set()

    async with (
        Harness(tools={"x.wait": wait, "x.mark": mark}) as harness,
        harness.session(watch=nested) as session,
    ):
        surface = Surface(session, "codex", yield_seconds=0.0)
        script = {"source": "await tools.x.wait(); await tools.x.mark(); await tools.x.mark()"}
        started: Result = await nested.told(partial(surface.call, "exec", script), first)
        go.set()
        await done.wait()  # nobody listens now
        ended = await nested.told(partial(surface.call, "wait", {"yield_time_ms": 60_000}), second)
    assert started.running == 1 and ended.outcome is not None
    assert first.heard + second.heard == [f"1.{call} {how}" for call in (1, 2, 3) for how in ("began", "ended")]


async def test_an_ear_that_breaks_is_not_heard() -> None:
    async def breaks(happened: Nested) -> None:
        raise RuntimeError("no disk")

    nested = NestedCalls()
    async with Harness(tools={"x.double": double}) as harness, harness.session(watch=nested) as session:
        work = partial(Surface(session).call, "run_script", {"script": "return await tools.x.double({ n: 1 })"})
        assert (await nested.told(work, breaks)).text == "2"


async def test_what_the_work_raises_arrives_as_it_is() -> None:
    async def fails() -> None:
        raise OSError("the store is full")

    with pytest.raises(OSError, match="the store is full"):
        await NestedCalls().told(fails, Ear())
