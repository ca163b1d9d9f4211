"""Tools of LangChain, called from scripts in a real session."""

import threading
from typing import Annotated, Any

import anyio
import pytest
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException, tool
from pydantic import BaseModel, Field

from catalog import BadPack
from harness.adapters.wrap_langchain import langchain_pack
from tests.harness.adapters.wrapped import talking, value
from tests.harness.guards.rig import caught, together

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]  # LangChain's own calls need asyncio


@tool
async def look(query: str, limit: int = 2) -> list[dict[str, Any]]:
    """Look something up."""
    return [{"query": query, "n": n} for n in range(limit)]


@tool
def thread_of() -> bool:
    """Does it run beside the loop?"""
    return threading.current_thread() is not threading.main_thread()


@tool(response_format="content_and_artifact")
async def report(n: int) -> tuple[str, dict[str, Any]]:
    """Content and what is behind it."""
    return f"{n} rows", {"rows": list(range(n))}


@tool
async def fails(how: str) -> str:
    """Fails."""
    raise ToolException(f"no {how}") if how != "badly" else KeyError(how)


class Order(BaseModel):
    count: int = Field(ge=1)


class Shop(BaseTool):
    name: str = "shop"
    description: str = "Buys."
    args_schema: type[BaseModel] = Order

    def _run(self, count: int) -> str:
        return f"bought {count}"


ALL = [look, thread_of, report, fails, Shop()]


async def test_tools_give_what_they_give_as_json() -> None:
    async with talking(langchain_pack("x", ALL)) as session:
        assert await value(session, "look({ query: 'a' })") == [{"query": "a", "n": 0}, {"query": "a", "n": 1}]
        assert await value(session, "thread_of()") is True
        assert await value(session, "report(2)") == {"content": "2 rows", "artifact": {"rows": [0, 1]}}
        assert await value(session, "shop({ count: 3 })") == "bought 3"
        assert (await session.run(caught("tools.x.shop({ count: 0 })"))).value[0] == "bad_arguments"
        assert session.offer.tools["x.look"].doc == "Look something up."


async def test_a_tool_exception_is_a_problem_with_its_text_and_anything_else_a_failure() -> None:
    handled = StructuredTool.from_function(
        coroutine=fails.coroutine, name="handled", description="", handle_tool_error="call a person"
    )
    shaped = StructuredTool.from_function(
        coroutine=fails.coroutine, name="shaped", description="", handle_tool_error=lambda error: f"<{error}>"
    )
    async with talking(langchain_pack("x", [fails, handled, shaped])) as session:
        for call, said in {"fails": "fails: no luck", "handled": "handled: call a person", "shaped": "shaped: <no luck>"}.items():
            assert (await session.run(caught(f"tools.x.{call}('luck')"))).value[:2] == ["tool_error", said]
        assert (await session.run(caught("tools.x.fails('badly')"))).value[0] == "tool_failed"


async def test_tools_that_only_read_run_at_once() -> None:
    met, running = anyio.Event(), []

    @tool
    async def meet(n: int) -> int:
        """Waits for another."""
        running.append(n)
        if len(running) == 2:
            met.set()
        await met.wait()
        return n

    async with talking(langchain_pack("x", [meet], effects={"*": "reads"})) as session:
        assert (await session.run(together("tools.x.meet(1)", "tools.x.meet(2)"))).value == [1, 2]


async def test_metadata_says_effect_and_approval_and_a_policy_denies() -> None:
    asking = look.model_copy(update={"metadata": {"requires_approval": True, "effect": "reads"}})
    async with talking(langchain_pack("x", [asking, thread_of]), deny="x.thread_of") as session:
        assert (await session.run(together("tools.x.look('a')", "tools.x.thread_of()"))).value == ["denied", "forbidden"]
        assert session.offer.tools["x.look"].facts.effect == "reads"


async def test_injected_arguments_are_given_once_and_never_by_a_script() -> None:
    @tool
    async def mine(q: str, user: Annotated[str, InjectedToolArg], mode: Annotated[str, InjectedToolArg] = "safe") -> str:
        """Of one user."""
        return f"{user} {mode} {q}"

    @tool
    async def traced(q: str, call: Annotated[str, InjectedToolCallId]) -> str:
        """Knows its call."""
        return f"{q} {len(call)}"

    with pytest.raises(BadPack, match=r"pack x: mine wants user injected, which only an agent has; give injected={'user': …}"):
        langchain_pack("x", [mine])
    async with talking(langchain_pack("x", [mine, traced], injected={"user": "ada"})) as session:
        assert await value(session, "mine({ q: 'a' })") == "ada safe a"
        assert await value(session, "traced({ q: 'a' })") == "a 32"
        assert (await session.run(caught("tools.x.mine({ q: 'a', mode: 'root' })"))).value[0] == "bad_arguments"
        assert list(session.offer.tools["x.mine"].properties) == ["q"]


async def test_what_a_schema_does_not_name_is_not_set_even_where_it_is_open() -> None:
    async def find(q: str, mode: str = "safe") -> str:
        return f"{mode} {q}"

    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": True}
    made = StructuredTool(name="find", description="Finds.", args_schema=schema, coroutine=find)
    async with talking(langchain_pack("x", [made])) as session:
        assert await value(session, "find({ q: 'a', mode: 'root' })") == "safe a"


async def test_what_is_no_tool_is_refused() -> None:
    with pytest.raises(BadPack, match="is no LangChain tool; mark the function with @tool"):
        langchain_pack("x", [lambda: 1])  # type: ignore[list-item]
    with pytest.raises(BadPack, match="pack x: no tools were given"):
        langchain_pack("x", [])
