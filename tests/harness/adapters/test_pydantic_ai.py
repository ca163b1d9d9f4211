"""The tool layer inside pydantic-ai's own agent, with a model that says what the test gave it to say."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.usage import UsageLimits

from catalog import ToolProblem, tool
from harness import Answer, Harness, MemoryStore, Policy, Request, Rule, Session, Setup
from harness.adapters.nested import NestedCalls
from harness.adapters.pydantic_ai import DeferredApprover, ScriptCallBegan, ScriptCallEnded, script_toolset
from harness.adapters.surface import Surface
from harness.entries import Ended

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]  # its agent needs asyncio


@tool(effect="pure")
async def double(n: int) -> int:
    return 2 * n


@tool(reads=["file:a"])
async def broken() -> str:
    raise ToolProblem("no_paper", "the printer has no paper", hint="call x.double instead")


@tool(writes=["file:a"], approval=True)
async def write(text: str) -> str:
    return f"wrote {text}"


STARTED: list[asyncio.Event] = []


@tool(reads=["clock:now"])
async def forever() -> None:
    STARTED[0].set()
    await anyio.sleep_forever()


TOOLS = {"x.double": double, "x.broken": broken, "x.write": write, "x.forever": forever}


class Model:
    """Says what it was given, a call or a text at a time; keeps what it was sent."""

    def __init__(self, *says: ToolCallPart | list[ToolCallPart]) -> None:
        self.says = [one if isinstance(one, list) else [one] for one in says]
        self.sent: list[list[ModelMessage]] = []
        self.info: AgentInfo | None = None

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(messages)
        self.info = info
        return ModelResponse(parts=list(self.says.pop(0)) if self.says else [TextPart("done")])

    @property
    def returned(self) -> list[ToolReturnPart]:
        return [part for message in self.sent[-1] for part in message.parts if isinstance(part, ToolReturnPart)]


def script(text: str, name: str = "run_script", argument: str = "script") -> ToolCallPart:
    return ToolCallPart(name, {argument: text})


@asynccontextmanager
async def session(watch: NestedCalls | None = None, **rest: Any) -> AsyncIterator[Session]:
    async with Harness(tools=TOOLS, **rest) as harness, harness.session(watch=watch) as opened:
        yield opened


async def returned(of: Session | Surface, *says: ToolCallPart, **rest: Any) -> list[ToolReturnPart]:
    model = Model(*says)
    await Agent(FunctionModel(model), toolsets=[script_toolset(of, **rest)]).run("go")
    return model.returned


# ------------------------------------------------------------ results


async def test_what_a_script_shows_reaches_the_model_as_it_is_with_facts_beside_it() -> None:
    async with session() as opened:
        part, = await returned(opened, script('show("a\\n  b"); return await tools.x.double({ n: 4 })'))  # fmt: skip
        assert [part.content] == [text for _, text in opened.transcript()] == ["a\n  b\n8"]
    assert part.outcome == "success"
    facts = part.metadata
    assert isinstance(facts.pop("seconds"), float)
    assert facts == {
        "is_error": False,
        "turn": 1,
        "calls": {"returned": 1},
        "bytes": {"produced": 6, "shown": 6, "into_script": 1},
    }


async def test_a_history_with_results_can_be_kept_as_json() -> None:
    async with session() as opened:
        model = Model(script("return 1"), script("throw new Error('no')"))
        result = await Agent(FunctionModel(model), toolsets=[script_toolset(opened)]).run("go")
    kept = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    assert [part.metadata["is_error"] for m in kept for part in m.parts if isinstance(part, ToolReturnPart)] == [False, True]


async def test_a_script_that_fails_is_marked_for_the_host_and_told_to_the_model_as_text() -> None:
    async with session() as opened:
        part, = await returned(opened, script("const a = 1;\nb();"))  # fmt: skip
    assert part.content.startswith("ReferenceError: b is not defined  (line 2, column 1)\n")
    assert (part.outcome, part.metadata["is_error"]) == ("success", True)


async def test_a_script_that_fails_can_be_marked_as_pydantic_ai_does_it() -> None:
    async with session() as opened:
        part, = await returned(opened, script("b()"), errors="failed")  # fmt: skip
        assert [part.content] == [text for _, text in opened.transcript()]
    assert part.outcome == "failed"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [('{"script": "return', "bad_call"), ("[1]", "ok"), ({"source": "return 1"}, "bad_call"), ('{"scr": 1}', "bad_call")],
)
async def test_wrong_arguments_are_told_and_no_retry_count_ends_the_run(arguments: Any, code: str) -> None:
    async with session() as opened:
        wrong = [ToolCallPart("run_script", arguments)] * 6
        parts = await returned(opened, *wrong, script("return 'right'"))
    assert {part.content.split(":")[0] for part in parts[:-1]} == {code if code != "ok" else "[1]"}
    assert parts[-1].content == "right"


async def test_a_script_that_came_without_its_json_runs() -> None:
    async with session() as opened:
        part, = await returned(opened, ToolCallPart("run_script", "return 1 + 1"))  # fmt: skip
    assert part.content == "2"


async def test_prose_can_go_into_the_instructions() -> None:
    async with session() as opened:
        surface = Surface(opened, prose="system")
        model = Model()
        await Agent(FunctionModel(model), toolsets=[script_toolset(surface)], instructions="Be kind.").run("go")
    assert model.info is not None and model.info.instructions == f"Be kind.\n\n{surface.instructions.strip()}"
    assert "x.double" not in (model.info.function_tools[0].description or "")


# ------------------------------------------------------------ calls inside a script


async def test_a_nested_tool_that_fails_can_be_caught_and_is_told_when_it_is_not() -> None:
    async with session() as opened:
        caught, told = await returned(
            opened,
            script("try { await tools.x.broken() } catch (e) { return [e.name, e.hint] }"),
            script("await tools.x.broken()"),
        )
    assert caught.content == '["no_paper","call x.double instead"]'
    assert told.content.startswith("no_paper: the printer has no paper  (line 1, column 7)")
    assert told.metadata["is_error"] and told.metadata["calls"] == {"failed": 1}


class Person:
    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        self.asked: list[Request] = []

    async def decide(self, requests: Any) -> list[Answer]:
        self.asked += requests
        return [Answer(request=one.id, verdict=self.verdict) for one in requests]


@pytest.mark.parametrize(("verdict", "text"), [("allow", "wrote a"), ("deny", "denied")])
async def test_our_approver_is_asked_for_calls_inside_a_script(verdict: str, text: str) -> None:
    person = Person(verdict)
    async with session(approver=person) as opened:
        part, = await returned(opened, script("try { return await tools.x.write({ text: 'a' }) } catch (e) { return e.name }"))  # fmt: skip
    assert [one.tool for one in person.asked] == ["x.write"]
    assert part.content == text


async def test_a_rule_that_denies_the_shell_holds_inside_a_script(tmp_path: Path) -> None:
    rules = Setup(policy=Policy((Rule(tool="shell.*", then="deny"),)))
    async with Harness(["shell"], root=tmp_path, setup=rules) as harness, harness.session() as opened:
        part, = await returned(opened, script('await tools.shell.run({ command: "touch made" })'))  # fmt: skip
    assert part.content.startswith("forbidden: shell.run refused: a rule of this session denies this call")
    assert not (tmp_path / "made").exists()


Said = Callable[[DeferredToolRequests], DeferredToolResults | None]
YES: Said = lambda requests: requests.build_results(approve_all=True)  # noqa: E731
SAID: list[tuple[Said, str]] = [
    (YES, "wrote a"),
    (lambda r: r.build_results(approvals={r.approvals[0].tool_call_id: ToolDenied("not on Sundays")}), "denied: not on Sundays"),
    (lambda r: r.build_results(approvals={r.approvals[0].tool_call_id: False}), "denied"),
    (
        lambda r: r.build_results(approvals={r.approvals[0].tool_call_id: ToolApproved(override_args={"text": "b"})}),
        "denied: other",
    ),
    (lambda r: None, "denied"),
]


@pytest.mark.parametrize(("said", "text"), SAID, ids=["yes", "no, why", "no", "other arguments", "no answer"])
async def test_the_agents_own_handler_of_deferred_calls_can_be_the_approver(said: Said, text: str) -> None:
    asked: list[DeferredToolRequests] = []

    async def handle(ctx: RunContext[None], requests: DeferredToolRequests) -> DeferredToolResults | None:
        asked.append(requests)
        return said(requests)

    async with session(approver=DeferredApprover()) as opened:
        model = Model(script("return await tools.x.write({ text: 'a' })"))
        await Agent(
            FunctionModel(model), toolsets=[script_toolset(opened)], capabilities=[HandleDeferredToolCalls(handler=handle)]
        ).run("go")
    request, = asked[0].approvals  # fmt: skip
    assert (request.tool_name, request.args) == ("x.write", {"text": "a"})
    assert asked[0].metadata[request.tool_call_id]["line"] == 1
    told = model.returned[0].content
    assert told == text if text == "wrote a" else told.startswith("denied: x.write") and text.removeprefix("denied: ") in told


async def test_without_a_handler_of_deferred_calls_the_answer_is_no() -> None:
    async with session(approver=DeferredApprover()) as opened:
        part, = await returned(opened, script("return await tools.x.write({ text: 'a' })"))  # fmt: skip
    assert part.content.startswith("denied: x.write")


async def test_nested_calls_are_events_of_the_run_while_the_script_runs() -> None:
    nested = NestedCalls()
    seen: list[Any] = []

    async def listen(ctx: RunContext[None], events: Any) -> None:
        seen.extend([event async for event in events if isinstance(event, ScriptCallBegan | ScriptCallEnded)])

    async with session(nested) as opened:
        model = Model(ToolCallPart("run_script", {"script": "await tools.x.double({ n: 1 });\nawait tools.x.broken()"}, "id1"))
        agent = Agent(FunctionModel(model, stream_function=_streamed(model)), toolsets=[script_toolset(opened, nested=nested)])
        await agent.run("go", event_stream_handler=listen)
    assert [(type(e).__name__, e.tool, e.call, e.tool_call_id) for e in seen] == [
        ("ScriptCallBegan", "x.double", 1, "id1"),
        ("ScriptCallEnded", "x.double", 1, "id1"),
        ("ScriptCallBegan", "x.broken", 2, "id1"),
        ("ScriptCallEnded", "x.broken", 2, "id1"),
    ]
    assert (seen[0].arguments, seen[2].line) == ({"n": 1}, 2)
    assert [(e.status, e.code) for e in seen[1::2]] == [("returned", ""), ("failed", "no_paper")]


def _streamed(model: Model) -> Any:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for part in model(messages, info).parts:
            if isinstance(part, ToolCallPart):
                yield {0: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                yield part.content

    return stream


# ------------------------------------------------------------ the life of a run


async def test_cancelling_the_run_ends_the_script_and_the_next_run_works() -> None:
    STARTED[:] = [asyncio.Event()]
    nested = NestedCalls()
    store = MemoryStore()
    async with Harness(tools=TOOLS, store=store) as harness, harness.session("s", watch=nested) as opened:
        toolset = script_toolset(opened, nested=nested)
        run = asyncio.create_task(Agent(FunctionModel(Model(script("await tools.x.forever()"))), toolsets=[toolset]).run("go"))
        await STARTED[0].wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)] == ["cancelled"]
        model = Model(script("return 'next'"))
        await Agent(FunctionModel(model), toolsets=[toolset]).run("go")
        assert model.returned[0].content == "next"


async def test_two_scripts_of_one_reply_run_in_its_order() -> None:
    async with session() as opened:
        model = Model([script("store('a', 1); return context.turn"), script("return [context.turn, load('a')]")])
        await Agent(FunctionModel(model), toolsets=[script_toolset(opened)]).run("go")
    assert [part.content for part in model.returned] == ["1", "[2,1]"]


async def test_a_script_that_takes_long_goes_on_and_is_waited_for() -> None:
    STARTED[:] = [asyncio.Event()]
    nested = NestedCalls()
    async with session(nested) as opened:
        surface = Surface(opened, "codex", yield_seconds=0.05)
        told, waited, stopped = await returned(
            surface,
            script("show('first'); await tools.x.forever()", "exec", "source"),
            ToolCallPart("wait", {"yield_time_ms": 0}),
            ToolCallPart("wait", {"terminate": True}),
            nested=nested,
        )
    assert told.content.startswith("first\nnotice: script 1 still runs")
    assert (told.metadata, waited.metadata) == ({"is_error": False, "running": 1},) * 2
    assert stopped.metadata["is_error"] and stopped.metadata["turn"] == 1


async def test_tools_can_be_called_directly_past_the_same_guards() -> None:
    async with session(setup=Setup(callers={"x.double": "both", "x.write": "direct"})) as opened:
        double, denied, wrong = await returned(
            opened,
            ToolCallPart("x__double", {"n": 21}),
            ToolCallPart("x__write", {"text": "a"}),
            ToolCallPart("x__double", {"n": "many"}),
        )
    assert double.content == "42"
    assert denied.content.startswith("denied: x.write")
    assert wrong.content.startswith("bad_arguments: x.double")


async def test_a_limit_of_the_run_still_ends_it() -> None:
    async with session() as opened:
        agent = Agent(FunctionModel(Model(*[script("b()")] * 9)), toolsets=[script_toolset(opened)])
        with pytest.raises(Exception, match="request_limit of 3"):
            await agent.run("go", usage_limits=UsageLimits(request_limit=3))
