"""The tool layer inside smolagents' own agents, which are not async, with a model that says what the test gave it to say."""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from smolagents import AgentError, ChatMessage, CodeAgent, Model, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, get_tool_json_schema

from catalog import tool
from harness import Harness, Setup
from harness.adapters.smolagents import BlockingSurface, inputs, script_tool, script_tools
from harness.adapters.surface import Surface
from harness.blocking import AskingInThread, BlockingSession, blocking_session
from harness.callers import Use
from tests.harness.adapters.shop import CATCHES, FAILS, ORDERS, RUNS, SHELL, SHOWS, WAITS, Shop

Call = tuple[str, Mapping[str, Any]]


class Scripted(Model):
    """Says what it was given: calls, or text."""

    def __init__(self, *replies: list[Call] | str) -> None:
        super().__init__(model_id="scripted")
        self.replies = [*replies]
        self.sent: list[list[ChatMessage]] = []

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        self.sent.append(messages)
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=reply)
        calls = [
            ChatMessageToolCall(id=f"c{len(self.sent)}{at}", type="function", function=ChatMessageToolCallFunction(name=name, arguments=given))
            for at, (name, given) in enumerate(reply)
        ]  # fmt: skip
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


DONE: list[Call] = [("final_answer", {"answer": "Done."})]


def script(text: str) -> list[Call]:
    return [("run_script", {"script": text})]


def agent_of(made: list[Any], *replies: list[Call] | str) -> ToolCallingAgent:
    return ToolCallingAgent(tools=made, model=Scripted(*replies, DONE), verbosity_level=-1)


def by_agent(made: list[Any], *replies: list[Call]) -> list[str]:
    """What the agent took note of in answer to each reply."""
    agent = agent_of(made, *replies)
    assert agent.run("go") == "Done."
    return [step.observations for step in agent.memory.steps if getattr(step, "observations", None)][: len(replies)]


@contextmanager
def opened(shop: Shop, backend: Literal["asyncio", "trio"] = "asyncio") -> Iterator[BlockingSession]:
    with blocking_session(shop.harness(), "s", backend=backend) as session:
        yield session


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_text_of_a_script_reaches_the_model_as_it_is(backend: Literal["asyncio", "trio"]) -> None:
    shop = Shop()
    with opened(shop, backend) as session:
        seen = by_agent([script_tool(session)], script(SHOWS))
    assert seen == ['a  b\nc\n{"n":[1,2]}'] == shop.texts()


def test_a_script_that_fails_is_told_and_loses_nothing_of_its_neighbours() -> None:
    with opened(Shop()) as session:
        (seen,) = by_agent(script_tools(session), [*script("return 'kept'"), *script(FAILS)])
    assert "kept" in seen.splitlines()
    assert "tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)" in seen.splitlines()


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
def test_calls_inside_a_script_pass_the_guards(says: bool, text: str, output: str, ran: list[str]) -> None:
    shop = Shop(says=says)
    with opened(shop) as session:
        seen = by_agent(script_tools(session), script(text))
    assert (seen, shop.ran) == ([output], ran)
    assert shop.asked == ([("shop.order", {"item": "lamp"})] if text is ORDERS else [])


@pytest.mark.parametrize("says", [True, False])
def test_a_person_can_be_asked_by_a_function_that_is_not_async(says: bool) -> None:
    asked: list[tuple[str, str]] = []
    main = threading.get_ident()

    def ask(name: str, arguments: Mapping[str, Any]) -> bool:
        asked.append((name, arguments["item"]))
        return says and threading.get_ident() != main

    shop = Shop()
    with blocking_session(shop.harness(), "s", approver=AskingInThread(ask)) as session:
        assert session.run(ORDERS).text == ("ordered lamp" if says else "denied")
    assert asked == [("shop.order", "lamp")]


def test_cancelling_from_another_thread_ends_the_script_and_the_next_run_works() -> None:
    shop, began = Shop(), threading.Event()
    shop.on_wait = began.set
    with opened(shop) as session:
        agent = agent_of(script_tools(session), script(WAITS))

        def stop() -> None:
            began.wait()
            agent.interrupt()
            session.cancel()

        stopping = threading.Thread(target=stop)
        stopping.start()
        with pytest.raises(AgentError, match="interrupted"):
            agent.run("go")
        stopping.join()
        assert shop.endings() == ["cancelled"]
        assert by_agent(script_tools(session), script("return 'next'")) == ["next"]
    assert shop.endings() == ["cancelled", "finished"]


def test_an_interrupt_of_the_waiting_thread_ends_the_script() -> None:
    shop, main = Shop(), threading.main_thread().ident or 0
    shop.on_wait = lambda: signal.pthread_kill(main, signal.SIGINT)  # Ctrl-C
    with opened(shop) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run(WAITS)
        assert shop.endings() == ["cancelled"]
        assert session.run("return 1").value == 1


def test_leaving_the_session_ends_what_still_runs() -> None:
    shop, began = Shop(), threading.Event()
    shop.on_wait = began.set
    ended: list[str] = []

    def run(session: BlockingSession) -> None:
        try:
            session.run(WAITS)
        except RuntimeError as error:
            ended.append(str(error))

    with opened(shop) as session:
        running = threading.Thread(target=run, args=(session,))
        running.start()
        began.wait()
    running.join()
    assert (ended, shop.endings()) == (["the turn was cancelled"], ["cancelled"])


def test_a_script_that_takes_long_is_told_in_parts_and_stopped_by_the_wait_tool() -> None:
    shop, began = Shop(), threading.Event()
    shop.on_wait = began.set
    with opened(shop) as session:
        made = script_tools(BlockingSurface(session, Surface(session.session, "codex", yield_seconds=0.1)))
        (first,) = by_agent(made, [("exec", {"source": WAITS})])
        began.wait()
        second, _ = by_agent(made, [("wait", {"yield_time_ms": 0, "cell_id": None})], [("wait", {"terminate": True})])
    assert RUNS in first and RUNS in second and (first + second).count("begun") == 1 and shop.endings() == ["exceeded"]


def test_a_tool_that_the_model_calls_by_itself_passes_the_same_guards() -> None:
    callers: dict[str, Use] = {"shop.order": "direct", "shop.price": "direct"}
    shop = Shop(says=False, callers=callers)
    with opened(shop) as session:
        price, order = ("shop__price", {"item": "lamp", "pieces": None}), ("shop__order", {"item": "lamp"})
        seen = by_agent(script_tools(session), [price], [order])
    assert [one.split(":")[0] for one in seen] == ["7", "denied"]


def test_an_agent_that_writes_python_calls_it_too() -> None:
    with opened(Shop()) as session:
        model = Scripted("Thought: go\n<code>\nfinal_answer(run_script('return 6 * 7'))\n</code>")
        assert CodeAgent(tools=script_tools(session), model=model, verbosity_level=-1).run("go") == "42"


def test_schemas_are_told_as_far_as_smolagents_can() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "depth": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "point": {"$ref": "#/$defs/Point"},
            "points": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
            "anything": {},
            "tree": {"$ref": "#/$defs/Tree"},
        },
        "required": ["path", "either", "point", "points", "anything", "tree"],
        "$defs": {"Point": {"type": "object"}, "Tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}},
    }
    assert inputs(parameters) == {
        "path": {"type": "string", "description": "Where."},
        "depth": {"type": "integer", "description": "", "nullable": True},
        "either": {"type": ["string", "integer"], "description": ""},
        "point": {"type": "object", "description": ""},
        "points": {"type": "array", "description": ""},
        "anything": {"type": "any", "description": ""},
        "tree": {"type": "any", "description": ""},
    }


def test_what_the_inputs_leave_out_stands_in_the_description() -> None:
    @tool(effect="pure")
    async def draw(points: list[dict[str, int]], colour: str | None = None) -> int:
        """Draw a line."""
        return len(points)

    with blocking_session(Harness(tools={"pen.draw": draw}, setup=Setup(callers={"pen.*": "direct"}))) as session:
        _, made = script_tools(session)
        assert made.description.startswith("Draw a line.\n\nAs TypeScript: pen.draw({ points: ")
        assert get_tool_json_schema(made)["function"]["parameters"]["required"] == ["points"]
        assert made(points=[{"x": 1}], colour=None) == "1"
        with pytest.raises(TypeError, match="pen__draw takes points, colour, and was given 3 arguments"):
            made([], "red", 3)


def test_what_cannot_work_is_refused_with_what_to_write_instead() -> None:
    with opened(Shop()) as session, opened(Shop()) as other:
        with pytest.raises(ValueError, match=r"the surface has wait too: give the agent script_tools\(surface\)"):
            script_tool(BlockingSurface(session, Surface(session.session, "codex")))
        with pytest.raises(ValueError, match="the surface is of another session"):
            BlockingSurface(session, Surface(other.session))
