"""The contract of adapters: the same session says the same to a model, whichever interface is between them."""

import threading
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from harness import MemoryStore
from harness.entries import Ended
from harness.replay.recorded import RecordedSession, read_recording
from sandbox import Pool
from tests.contracts.adapters import (
    Agent,
    Driver,
    Told,
    anthropic,
    langchain,
    mcp,
    openai,
    openai_agents,
    plain,
    pydantic_ai,
    smolagents,
    text,
)
from tests.contracts.adapters.played import PlayedHarness
from tests.harness.adapters.shop import CATCHES, FAILS, ORDERS, SHELL, SHOWS, WAITS, Shop

DRIVERS = (
    plain.DRIVER, text.DRIVER, openai.RESPONSES, openai.CHAT, anthropic.DRIVER, openai_agents.DRIVER, pydantic_ai.DRIVER,
    langchain.DRIVER, smolagents.DRIVER, mcp.DRIVER,
)  # fmt: skip
SESSIONS = sorted((Path(__file__).parent.parent / "sessions").glob("*.session.jsonl"))
BACKENDS = [(driver, backend) for driver in DRIVERS for backend in ("asyncio", "trio") if backend == "asyncio" or driver.trio]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize(("driver", "anyio_backend"), BACKENDS, ids=[f"{one.name}-{backend}" for one, backend in BACKENDS]),
]


async def say(agent: Agent, script: str) -> Told:
    return await agent.call("run_script", {"script": script})


def marked(told: Told, is_error: bool) -> bool:
    """As it should be, or the interface has no mark."""
    return told.is_error in (None, is_error)


async def endings(store: MemoryStore) -> list[str]:
    (row,) = await store.sessions()
    return [entry.ending.how for entry in store.entries(row.session) if isinstance(entry, Ended)]


# ------------------------------------------------------------ recorded sessions


async def played(driver: Driver, recorded: RecordedSession, pool: Pool) -> list[Told]:
    async with driver.opened(PlayedHarness(recorded, None if driver.own_loop else pool), None) as agent:
        return [await say(agent, turn.began.script) for turn in recorded.turns]


async def test_every_recorded_session_says_the_same_as_it_did(driver: Driver) -> None:
    assert len(SESSIONS) > 8
    async with Pool(workers=1) as pool:
        for path in SESSIONS:
            recorded = read_recording(path)
            for turn, told in zip(recorded.turns, await played(driver, recorded, pool), strict=True):
                assert turn.ended is not None
                assert told.text == turn.ended.text, f"{path.name}, turn {turn.number}"
                assert marked(told, turn.ended.ending.how != "finished"), f"{path.name}, turn {turn.number}"


# ------------------------------------------------------------ live


async def test_what_a_script_shows_is_what_the_model_reads(driver: Driver) -> None:
    shop = Shop()
    async with driver.opened(shop.harness(), None) as agent:
        told = await say(agent, SHOWS)
    assert told.text == 'a  b\nc\n{"n":[1,2]}' and marked(told, False)


@pytest.mark.parametrize("says", [True, False])
async def test_a_person_is_asked_for_a_call_inside_a_script(driver: Driver, says: bool) -> None:
    shop = Shop(says=says)
    async with driver.opened(shop.harness(), None) as agent:
        told = await say(agent, ORDERS)
    assert told.text == ("ordered lamp" if says else "denied") and marked(told, False)
    assert shop.asked == [("shop.order", {"item": "lamp"})] and shop.ran == (["order lamp"] if says else [])


async def test_a_rule_denies_the_shell_inside_a_script(driver: Driver) -> None:
    shop = Shop()
    async with driver.opened(shop.harness(), None) as agent:
        caught, uncaught = await say(agent, SHELL), await say(agent, "await tools.shell.run({ command: 'ls' })")
    assert caught.text == "forbidden" and marked(caught, False)
    assert uncaught.text.startswith("forbidden: shell.run refused: a rule of this session denies this call (deny shell.*)")
    assert marked(uncaught, True) and shop.ran == [] and shop.asked == []


async def test_a_call_that_fails_is_caught_or_ends_the_script(driver: Driver) -> None:
    async with driver.opened(Shop().harness(), None) as agent:
        caught, uncaught, after = await say(agent, CATCHES), await say(agent, FAILS), await say(agent, "return 'next'")
    assert caught.text == "shop.broken failed: ValueError: the till is stuck" and marked(caught, False)
    assert uncaught.text.startswith("tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)")
    assert marked(uncaught, True) and after == Told("next", after.is_error) and marked(after, False)


async def test_a_script_that_goes_wrong_is_marked_as_an_error(driver: Driver) -> None:
    wrong = {
        "show(1); throw new TypeError('no')": "1\nTypeError: no  (line 1, column 16)",
        "return (": "SyntaxError: ",
        "await tools.shop.prise({ item: 'lamp' })": "unknown_tool: ",
    }
    async with driver.opened(Shop().harness(), None) as agent:
        for script, begins in wrong.items():
            told = await say(agent, script)
            assert told.text.startswith(begins) and marked(told, True)


async def test_a_cancelled_script_is_on_record_and_the_next_one_runs(driver: Driver) -> None:
    shop, begun = Shop(), threading.Event()
    shop.on_wait = begun.set
    async with driver.opened(shop.harness(), None) as agent:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say, agent, WAITS)
            await run_sync(begun.wait, 20)
            tasks.cancel_scope.cancel()
        assert (await say(agent, "return context.turn")).text == "2"
    assert await endings(shop.store) == ["cancelled", "finished"]


async def test_a_script_that_goes_on_is_waited_for_and_stopped(driver: Driver) -> None:
    if not driver.yields:
        pytest.skip("its models have no tool to wait with")
    shop, begun = Shop(), threading.Event()
    shop.on_wait = begun.set
    async with driver.opened(shop.harness(), 0.0) as agent:
        first = await say(agent, WAITS)
        await run_sync(begun.wait, 20)
        busy = await say(agent, "return 1")
        second = await agent.call("wait_script", {"seconds": 0})
        last = await agent.call("wait_script", {"stop": True})
        gone = await agent.call("wait_script", {})
    runs = "notice: script 1 still runs; call wait_script to see the rest of it, or wait_script with stop: true to end it"
    assert {first.text, second.text} in ({f"begun\n{runs}", runs}, {runs}) and marked(first, False) and marked(second, False)
    assert busy.text.startswith("script_runs: script 1 still runs, so nothing else was started") and marked(busy, True)
    assert "Stopped: the script was stopped; still open: shop.wait (line 1)" in last.text and marked(last, True)
    assert (first.text + second.text + last.text).count("begun") == 1  # told once
    assert gone.text.startswith("nothing_runs: ") and marked(gone, True)
    assert await endings(shop.store) == ["exceeded"]


async def test_a_tool_is_called_directly_and_what_is_wrong_with_a_call_is_said(driver: Driver) -> None:
    if not driver.direct:
        pytest.skip("its models call no tools")
    shop = Shop(callers={"shop.price": "both", "*": "script"})
    async with driver.opened(shop.harness(), None) as agent:
        direct = await agent.call("shop__price", {"item": "lamp", "pieces": 3})
        script = await say(agent, "return await tools.shop.price({ item: 'sofa' })")
    assert (direct.text, script.text) == ("21", "7") and marked(direct, False) and shop.ran == ["price lamp", "price sofa"]
