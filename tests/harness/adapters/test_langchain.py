"""The tool layer inside LangChain's own agent, with a chat model that says what the test gave it to say."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import get_ident
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from catalog import ToolProblem, tool
from harness import Answer, Harness, MemoryStore, Policy, Request, Rule, Session, Setup, TurnOutcome
from harness.adapters.langchain import script_tool, script_tools
from harness.adapters.nested import NestedCalls
from harness.adapters.surface import Surface
from harness.entries import Ended
from harness.setup import BadConfig

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


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self


def model(*says: dict[str, Any] | list[dict[str, Any]]) -> Model:
    replies = [one if isinstance(one, list) else [one] for one in says]
    calls = [[{**call, "id": f"{turn}.{at}"} for at, call in enumerate(reply)] for turn, reply in enumerate(replies)]
    return Model(responses=[*(AIMessage("", tool_calls=one) for one in calls), AIMessage("done")])


def script(text: str, name: str = "run_script", argument: str = "script") -> dict[str, Any]:
    return {"name": name, "args": {argument: text}}


@asynccontextmanager
async def session(watch: NestedCalls | None = None, **rest: Any) -> AsyncIterator[Session]:
    async with Harness(tools=TOOLS, **rest) as harness, harness.session(watch=watch) as opened:
        yield opened


def told(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


GO = {"messages": [("user", "go")]}


async def returned(of: Session | Surface, *says: Any, config: Any = None, **rest: Any) -> list[ToolMessage]:
    return told(await create_agent(model(*says), script_tools(of, **rest)).ainvoke(GO, config=config))


# ------------------------------------------------------------ results


async def test_what_a_script_shows_reaches_the_model_as_it_is_with_facts_beside_it() -> None:
    async with session() as opened:
        (message,) = await returned(opened, script('show("a\\n  b"); return await tools.x.double({ n: 4 })'))
        assert [message.content] == [text for _, text in opened.transcript()] == ["a\n  b\n8"]
    assert (message.status, message.name, message.tool_call_id) == ("success", "run_script", "0.0")
    facts = message.artifact
    assert isinstance(facts.pop("seconds"), float)
    assert facts == {
        "is_error": False,
        "turn": 1,
        "calls": {"returned": 1},
        "bytes": {"produced": 6, "shown": 6, "into_script": 1},
    }


async def test_the_artifact_can_be_the_outcome_itself() -> None:
    async with session() as opened:
        good, bad = await returned(opened, script("return 1"), script("b()"), artifact="outcome")
    assert isinstance(good.artifact, TurnOutcome) and good.artifact.value == 1
    assert bad.status == "error" and bad.artifact.error.name == "ReferenceError"


async def test_a_script_that_fails_is_an_error_message_with_its_text_as_it_is() -> None:
    async with session() as opened:
        message, wrong = await returned(opened, script("const a = 1;\nb();"), {"name": "run_script", "args": {"source": "1"}})
    assert message.status == wrong.status == "error"
    assert message.content == "ReferenceError: b is not defined  (line 2, column 1)\n  2 | b();\n    | ^"
    assert str(wrong.content).startswith("bad_call: run_script")


async def test_a_checkpointer_keeps_results_and_the_thread_goes_on() -> None:
    async with session() as opened:
        agent = create_agent(model(script("b()"), script("return 2")), [script_tool(opened)], checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "1"}}
        await agent.ainvoke(GO, config=config)
        kept = told((await agent.aget_state(config)).values)
    assert [(message.status, message.artifact["turn"]) for message in kept] == [("error", 1), ("success", 2)]


async def test_the_model_is_sent_the_surfaces_own_definition() -> None:
    async with session() as opened:
        surface = Surface(opened)
        sent = convert_to_openai_tool(script_tool(surface))["function"]
    assert sent == {
        "name": "run_script", "description": surface.script.description, "parameters": dict(surface.script.parameters)
    }  # fmt: skip


async def test_a_tool_called_by_hand_gives_its_text() -> None:
    async with session() as opened:
        one = script_tool(opened)
        assert await one.ainvoke({"script": "return 1"}) == "1"
        assert await one.ainvoke("return 2") == "2"


async def test_several_tools_are_not_silently_one() -> None:
    async with session() as opened:
        with pytest.raises(BadConfig, match=r"this session has 2 tools for a model; give the agent all of them: script_tools"):
            script_tool(Surface(opened, "codex"))


# ------------------------------------------------------------ calls inside a script


async def test_a_nested_tool_that_fails_can_be_caught_and_is_told_when_it_is_not() -> None:
    async with session() as opened:
        caught, uncaught = await returned(
            opened,
            script("try { await tools.x.broken() } catch (e) { return [e.name, e.hint] }"),
            script("await tools.x.broken()"),
        )
    assert (caught.status, caught.content) == ("success", '["no_paper","call x.double instead"]')
    assert uncaught.status == "error" and uncaught.artifact["calls"] == {"failed": 1}
    assert str(uncaught.content).startswith("no_paper: the printer has no paper  (line 1, column 7)")


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
        (message,) = await returned(
            opened, script("try { return await tools.x.write({ text: 'a' }) } catch (e) { return e.name }")
        )
    assert [one.tool for one in person.asked] == ["x.write"]
    assert message.content == text


async def test_a_rule_that_denies_the_shell_holds_inside_a_script(tmp_path: Path) -> None:
    rules = Setup(policy=Policy((Rule(tool="shell.*", then="deny"),)))
    async with Harness(["shell"], root=tmp_path, setup=rules) as harness, harness.session() as opened:
        (message,) = await returned(opened, script('await tools.shell.run({ command: "touch made" })'))
    assert str(message.content).startswith("forbidden: shell.run refused: a rule of this session denies this call")
    assert message.status == "error" and not (tmp_path / "made").exists()


class Heard:
    """What a handler was told: event, name or text, and whose child it is."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.names: dict[Any, str] = {}
        self.parents: dict[str, str] = {}

    def start(self, serialized: Any, run_id: Any, parent_run_id: Any, inputs: Any) -> None:
        self.names[run_id] = serialized["name"]
        self.parents[serialized["name"]] = self.names.get(parent_run_id, "")
        self.events.append(("start", (serialized["name"], inputs)))

    def end(self, output: Any, run_id: Any) -> None:
        self.events.append(("end", (self.names[run_id], output["status"] if isinstance(output, dict) else output.status)))

    def error(self, error: BaseException, run_id: Any) -> None:
        self.events.append(("error", (self.names[run_id], str(error))))


class AsyncHandler(AsyncCallbackHandler):
    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    async def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: Any, parent_run_id: Any = None, **rest: Any
    ) -> None:
        self.heard.start(serialized, run_id, parent_run_id, rest["inputs"])

    async def on_tool_end(self, output: Any, *, run_id: Any, **rest: Any) -> None:
        self.heard.end(output, run_id)

    async def on_tool_error(self, error: BaseException, *, run_id: Any, **rest: Any) -> None:
        self.heard.error(error, run_id)


class Handler(BaseCallbackHandler):
    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, parent_run_id: Any = None, **rest: Any) -> None:
        self.heard.start(serialized, run_id, parent_run_id, rest["inputs"])

    def on_tool_end(self, output: Any, *, run_id: Any, **rest: Any) -> None:
        self.heard.end(output, run_id)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **rest: Any) -> None:
        self.heard.error(error, run_id)


NESTED = "await tools.x.double({ n: 1 });\nawait tools.x.broken()"
HEARD = [
    ("start", ("run_script", {"script": NESTED})),
    ("start", ("x.double", {"n": 1})),
    ("end", ("x.double", "returned")),
    ("start", ("x.broken", {})),
    ("error", ("x.broken", "x.broken failed (no_paper)")),
    ("end", ("run_script", "error")),
]


@pytest.mark.parametrize("kind", [AsyncHandler, Handler])
async def test_nested_calls_are_child_runs_of_the_tool(kind: Any) -> None:
    nested, heard = NestedCalls(), Heard()
    async with session(nested) as opened:
        await returned(opened, script(NESTED), nested=nested, config={"callbacks": [kind(heard)]})
    assert heard.events == HEARD
    assert heard.parents == {"run_script": "", "x.double": "run_script", "x.broken": "run_script"}


async def test_nested_calls_are_child_runs_when_the_agent_is_not_async() -> None:
    nested, heard = NestedCalls(), Heard()
    async with session(nested) as opened:
        agent = create_agent(model(script(NESTED)), [script_tool(opened, nested=nested)])
        await asyncio.to_thread(agent.invoke, GO, config={"callbacks": [Handler(heard)]})
    assert heard.events == HEARD


async def test_a_handler_that_breaks_changes_nothing() -> None:
    class Broken(AsyncCallbackHandler):
        raise_error = True

        async def on_tool_start(self, serialized: Any, input_str: str, **rest: Any) -> None:
            if serialized["name"] != "run_script":
                raise RuntimeError("no disk")

    nested = NestedCalls()
    async with session(nested) as opened:
        (message,) = await returned(
            opened, script("return await tools.x.double({ n: 1 })"), nested=nested, config={"callbacks": [Broken()]}
        )
    assert message.content == "2"


# ------------------------------------------------------------ threads, loops, and the life of a run


async def test_an_agent_that_is_not_async_runs_in_another_thread() -> None:
    async with session() as opened:
        agent = create_agent(model(script("return 1"), script("b()")), [script_tool(opened)])
        messages = told(await asyncio.to_thread(agent.invoke, GO))
    assert (messages[0].content, messages[0].status) == ("1", "success")
    assert messages[1].status == "error"


async def test_invoke_inside_the_sessions_own_loop_says_what_to_do() -> None:
    async with session() as opened:
        with pytest.raises(RuntimeError, match="invoke would wait for the event loop that it holds up; await ainvoke here"):
            script_tool(opened).invoke({"script": "return 1"})


@tool(reads=["clock:now"])
async def thread() -> int:
    return get_ident()


def test_a_session_behind_a_portal_serves_an_agent_without_a_loop_and_one_in_another(anyio_backend: str) -> None:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Harness(tools={"x.thread": thread})) as harness,
        portal.wrap_async_context_manager(harness.session()) as opened,
    ):
        says, home = script("return [context.turn, await tools.x.thread()]"), portal.call(get_ident)
        tools = [script_tool(opened, portal=portal)]
        assert told(create_agent(model(says), tools).invoke(GO))[0].content == f"[1,{home}]"
        assert told(asyncio.run(create_agent(model(says), tools).ainvoke(GO)))[0].content == f"[2,{home}]"
        lost = script_tool(opened)
        with pytest.raises(RuntimeError, match="make the tool inside it, or give script_tools a portal"):
            lost.invoke({"script": "return 1"})


def test_ctrl_c_while_an_agent_waits_ends_the_script_and_the_next_works(anyio_backend: str) -> None:
    @tool(reads=["clock:now"])
    async def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()

    store = MemoryStore()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Harness(tools={"x.interrupt": interrupt}, store=store)) as harness,
        portal.wrap_async_context_manager(harness.session("s")) as opened,
    ):
        one = script_tool(opened, portal=portal)
        with pytest.raises(KeyboardInterrupt):
            one.invoke({"script": "await tools.x.interrupt()"})
        assert one.invoke({"script": "return 'next'"}) == "next"
    assert [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)] == ["cancelled", "finished"]


async def test_scripts_of_one_reply_run_in_its_order() -> None:
    async with session() as opened:
        messages = await returned(
            opened, [script(f"store('n', (load('n') ?? 0) * 10 + {n}); return load('n')") for n in (1, 2, 3)]
        )
    assert [message.content for message in messages] == ["1", "12", "123"]


async def test_many_threads_at_once_use_one_tool_and_lose_nothing() -> None:
    async with session() as opened:
        tools = [script_tool(opened)]
        agents = [create_agent(model(script(f"return await tools.x.double({{ n: {n} }})")), tools) for n in range(8)]
        states = await asyncio.gather(*(asyncio.to_thread(agent.invoke, GO) for agent in agents))
    assert [told(state)[0].content for state in states] == [str(2 * n) for n in range(8)]


async def test_each_thread_of_an_agent_can_have_a_session_of_its_own() -> None:
    async with Harness(tools=TOOLS) as harness, harness.session("a") as first, harness.session("b") as second:
        surfaces = {"a": Surface(first), "b": Surface(second)}
        one = script_tool(first, choose=lambda config: surfaces[config["configurable"]["thread_id"]])
        replies = [script("store('mine', context.session)"), script("return [load('mine'), context.turn]")]

        async def run(thread: str) -> Any:
            agent = create_agent(model(*replies), [one], checkpointer=InMemorySaver())
            return told(await agent.ainvoke(GO, config={"configurable": {"thread_id": thread}}))[-1].content

        assert await asyncio.gather(run("a"), run("b")) == ['["a",2]', '["b",2]']


async def test_cancelling_the_run_ends_the_script_and_the_next_run_works() -> None:
    STARTED[:] = [asyncio.Event()]
    nested, store = NestedCalls(), MemoryStore()
    async with Harness(tools=TOOLS, store=store) as harness, harness.session("s", watch=nested) as opened:
        run = asyncio.create_task(returned(opened, script("await tools.x.forever()"), nested=nested))
        await STARTED[0].wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)] == ["cancelled"]
        (message,) = await returned(opened, script("return 'next'"), nested=nested)
        assert message.content == "next"


async def test_a_script_that_takes_long_goes_on_and_is_waited_for() -> None:
    STARTED[:] = [asyncio.Event()]
    nested, heard = NestedCalls(), Heard()
    async with session(nested) as opened:
        first, waited, stopped = await returned(
            Surface(opened, "codex", yield_seconds=0.05),
            script("show('first'); await tools.x.forever()", "exec", "source"),
            {"name": "wait", "args": {"yield_time_ms": 0}},
            {"name": "wait", "args": {"terminate": True}},
            nested=nested, config={"callbacks": [AsyncHandler(heard)]},
        )  # fmt: skip
    assert str(first.content).startswith("first\nnotice: script 1 still runs")
    assert first.artifact == waited.artifact == {"is_error": False, "running": 1}
    assert stopped.status == "error" and stopped.artifact["turn"] == 1
    assert heard.parents["x.forever"] == "exec"
    assert ("error", ("x.forever", "x.forever cancelled (cancelled)")) in heard.events


async def test_tools_can_be_called_directly_past_the_same_guards() -> None:
    async with session(setup=Setup(callers={"x.double": "both", "x.write": "direct"})) as opened:
        doubled, denied, wrong = await returned(
            opened,
            {"name": "x__double", "args": {"n": 21}},
            {"name": "x__write", "args": {"text": "a"}},
            {"name": "x__double", "args": {"n": "many"}},
        )
    assert doubled.content == "42"
    assert str(denied.content).startswith("denied: x.write") and denied.status == "error"
    assert str(wrong.content).startswith("bad_arguments: x.double")
