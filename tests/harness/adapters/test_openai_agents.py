"""The tool layer inside the OpenAI Agents SDK's own loop, with its scripted model."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from agents import Agent, RunConfig, Runner, RunResult, Span, Trace, TracingProcessor, set_trace_processors, set_tracing_disabled
from agents.items import ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseCustomToolCall

from harness.adapters.openai_agents import call_spans, script_tool, script_tools
from harness.adapters.surface import Surface
from harness.session import Session
from tests.harness.adapters.shop import CATCHES, FAILS, ORDERS, RUNS, SHELL, SHOWS, WAITS, Shop

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]  # its loop needs asyncio


class Kept(TracingProcessor):
    """Every span that ended."""

    def __init__(self) -> None:
        self.spans: list[Span[Any]] = []

    def on_trace_start(self, trace: Trace) -> None: ...
    def on_trace_end(self, trace: Trace) -> None: ...
    def on_span_start(self, span: Span[Any]) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...

    def on_span_end(self, span: Span[Any]) -> None:
        self.spans.append(span)


@pytest.fixture(autouse=True)
def kept() -> Iterator[Kept]:
    """Traces stay here: the SDK would send them away."""
    processor = Kept()
    set_trace_processors([processor])
    set_tracing_disabled(False)
    yield processor
    set_trace_processors([])


def script(text: str, id: str = "c1") -> Any:
    return function_call("run_script", {"script": text}, call_id=id)


def agent_of(made: list[Any], *replies: list[Any]) -> tuple[Agent[None], ScriptedModel]:
    model = ScriptedModel([*replies, [assistant_message("Done.")]])
    return Agent(name="a", model=model, tools=made), model


async def by_agent(made: list[Any], *replies: list[Any]) -> tuple[list[str], RunResult]:
    """What the model was sent in answer to its calls, and the run."""
    agent, model = agent_of(made, *replies)
    run = await Runner.run(agent, "go", run_config=RunConfig(workflow_name="w"))
    assert run.final_output == "Done." and model.last_call is not None
    return [one["output"] for one in model.last_call.input if one.get("type", "").endswith("_call_output")], run  # type: ignore[union-attr]


@asynccontextmanager
async def opened(shop: Shop, **rest: Any) -> AsyncIterator[Session]:
    async with shop.harness() as harness, harness.session("s", **rest) as session:
        yield session


def facts(run: RunResult) -> list[Any]:
    return [item.custom_data for item in run.new_items if isinstance(item, ToolCallOutputItem)]


async def test_the_text_of_a_script_reaches_the_model_as_it_is() -> None:
    shop = Shop()
    async with opened(shop) as session:
        outputs, run = await by_agent([script_tool(session)], [script(SHOWS)])
    assert outputs == ['a  b\nc\n{"n":[1,2]}'] == shop.texts()
    assert facts(run) == [{"turn": 1, "is_error": False, "running": False}]


async def test_an_error_is_told_to_the_model_and_marked_for_the_host(kept: Kept) -> None:
    async with opened(Shop()) as session:
        bad = function_call("run_script", "{bad", call_id="c2")
        (failed, refused), run = await by_agent(script_tools(session), [script(FAILS)], [bad])
    assert failed.startswith("tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)")
    assert refused.startswith("bad_call: run_script was not called")
    assert facts(run) == [{"turn": turn, "is_error": True, "running": False} for turn in (1, 0)]
    errors = [span.error for span in kept.spans if span.span_data.type == "function"]
    assert errors == [
        {"message": "The script did not go well", "data": {"problem": problem}} for problem in ("tool_failed", "not run")
    ]


@pytest.mark.parametrize(
    ("says", "text", "output", "ran"),
    [
        (True, ORDERS, "ordered lamp", ["order lamp"]),
        (False, ORDERS, "denied", []),
        (True, SHELL, "forbidden", []),
        (True, CATCHES, "shop.broken failed: ValueError: the till is stuck", []),
    ],
    ids=["yes", "no", "a rule denies", "caught"],
)
async def test_calls_inside_a_script_pass_the_guards(says: bool, text: str, output: str, ran: list[str]) -> None:
    shop = Shop(says=says)
    async with opened(shop) as session:
        outputs, _ = await by_agent(script_tools(session), [script(text)])
    assert (outputs, shop.ran) == ([output], ran)
    assert shop.asked == ([("shop.order", {"item": "lamp"})] if text is ORDERS else [])


async def test_calls_of_one_reply_run_in_its_order() -> None:
    async with opened(Shop()) as session:
        surface = Surface(session, "codex")
        calls = [
            function_call("exec", {"source": f"store('n', [...(load('n') ?? []), {n}]); return load('n')"}, call_id=f"c{n}")
            for n in range(4)
        ]
        outputs, _ = await by_agent(script_tools(surface), calls)
    assert outputs == ["[0]", "[0,1]", "[0,1,2]", "[0,1,2,3]"]


@pytest.mark.parametrize("preset", ["run_script", "codex"])
async def test_cancelling_a_run_ends_the_script_and_the_next_run_works(preset: str) -> None:
    shop, began = Shop(), anyio.Event()
    shop.on_wait = began.set
    async with opened(shop) as session:
        surface = Surface(session, preset)
        given = {surface.script.argument: WAITS}
        agent, _ = agent_of(script_tools(surface), [function_call(surface.script.name, given, call_id="c1")])
        running = asyncio.create_task(Runner.run(agent, "go"))
        await began.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        given = {surface.script.argument: "return 'next'"}
        outputs, _ = await by_agent(script_tools(surface), [function_call(surface.script.name, given, call_id="c2")])
    assert outputs == ["next"] and shop.endings() == ["cancelled", "finished"]


async def test_a_script_that_takes_long_is_told_in_parts_and_stopped_by_the_wait_tool() -> None:
    shop, began = Shop(), anyio.Event()
    shop.on_wait = began.set
    async with opened(shop) as session:
        made = script_tools(Surface(session, "codex", yield_seconds=0.1))
        (first,), run = await by_agent(made, [function_call("exec", {"source": WAITS}, call_id="c1")])
        await began.wait()
        waits = (
            [function_call("wait", {"yield_time_ms": 0}, call_id="c2")],
            [function_call("wait", {"terminate": True}, call_id="c3")],
        )
        (second, _), stopped = await by_agent(made, *waits)
    assert RUNS in first and RUNS in second and (first + second).count("begun") == 1
    assert facts(run) == [{"turn": 1, "is_error": False, "running": True}]
    assert facts(stopped)[1] == {"turn": 1, "is_error": True, "running": False} and shop.endings() == ["exceeded"]


async def test_a_tool_that_the_model_calls_by_itself_passes_the_same_guards() -> None:
    shop = Shop(says=False, callers={"shop.order": "direct", "shop.price": "direct"})
    async with opened(shop) as session:
        calls = [function_call(f"shop__{name}", {"item": "lamp"}, call_id=name) for name in ("price", "order")]
        outputs, _ = await by_agent(script_tools(session), calls)
    assert [one.split(":")[0] for one in outputs] == ["7", "denied"]


async def test_a_free_form_script_needs_no_json() -> None:
    async with opened(Shop()) as session:
        call = ResponseCustomToolCall(type="custom_tool_call", call_id="c1", name="run_script", input="{ show(1) }")
        outputs, _ = await by_agent(script_tools(session, free=True), [call])
    assert outputs == ["1"]


async def test_the_sdk_can_be_made_to_ask_for_whole_scripts() -> None:
    shop = Shop()
    async with opened(shop) as session:
        agent, _ = agent_of([script_tool(session, needs_approval=True)], [script("return 1")])
        run = await Runner.run(agent, "go")
        assert [one.name for one in run.interruptions] == ["run_script"] and shop.endings() == []
        state = run.to_state()
        state.approve(run.interruptions[0])
        assert (await Runner.run(agent, state)).final_output == "Done."
    assert shop.texts() == ["1"]


async def test_calls_of_a_script_are_spans_below_the_tool(kept: Kept) -> None:
    async with opened(Shop(), watch=call_spans(content=True)) as session:
        text = "await tools.shop.price({ item: 'lamp' });\n" + CATCHES
        await session.run(text)  # outside of a trace there are none
        await by_agent(script_tools(session), [script(text)])
    (tool,) = [span for span in kept.spans if span.span_data.type == "function"]
    price, broken = [span for span in kept.spans if span.span_data.type == "custom"]
    assert (price.parent_id, broken.parent_id) == (tool.span_id, tool.span_id)
    assert price.span_data.export() == {
        "type": "custom", "name": "shop.price", "data": {"line": 1, "arguments": {"item": "lamp", "pieces": 1}},
    }  # fmt: skip
    assert (price.error, broken.error) == (None, {"message": "The call did not go well", "data": {"problem": "tool_failed"}})


async def test_what_cannot_work_is_refused_with_what_to_write_instead() -> None:
    async with opened(Shop()) as session:
        with pytest.raises(ValueError, match=r"the surface has wait too: give the agent script_tools\(surface\)"):
            script_tool(Surface(session, "codex"))
        with pytest.raises(ValueError, match="free=True takes no needs_approval"):
            script_tools(session, free=True, needs_approval=True)
