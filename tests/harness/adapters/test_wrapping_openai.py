"""Functions with OpenAI's definitions, and function tools of its Agents SDK, called from scripts in a real session."""

import threading
from typing import Any

import pytest
from agents import FunctionTool, RunContextWrapper, WebSearchTool, function_tool
from agents.tool_guardrails import ToolGuardrailFunctionOutput, tool_input_guardrail

from catalog import BadPack
from harness.adapters.wrap_openai import openai_pack
from harness.adapters.wrap_openai_agents import openai_agents_pack
from tests.harness.adapters.wrapped import talking, value
from tests.harness.guards.rig import caught, together

pytestmark = pytest.mark.anyio
ON_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the SDK's own calls need it
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
CHAT = {"type": "function", "function": {"name": "weather", "description": "How warm is it?", "parameters": CITY, "strict": True}}
RESPONSES = {"type": "function", "name": "delete-city", "parameters": CITY}
BROKEN = {"type": "function", "name": "broken", "parameters": {"type": "string"}}


def weather(city: str) -> dict[str, Any]:
    return {"city": city, "beside": threading.current_thread() is not threading.main_thread()}


async def delete(city: str) -> str:
    return f"deleted {city}"


def broken(**named: Any) -> Any:
    raise RuntimeError(f"cannot: {named}")


FUNCTIONS = {"weather": weather, "delete-city": delete, "broken": broken}


async def test_definitions_of_both_forms_call_their_functions() -> None:
    pack = openai_pack("x", [CHAT, RESPONSES, BROKEN], FUNCTIONS, effects={"weather": "reads"}, approval=["delete*"])
    async with talking(pack) as session:
        script = together(
            "tools.x.weather('Oslo')",
            "tools.x.weather({ city: 'Rome' })",
            "tools.x.delete_city('Oslo')",
            "tools.x.broken({ a: 1 })",
        )
        assert (await session.run(script)).value == [
            {"city": "Oslo", "beside": True}, {"city": "Rome", "beside": True}, "denied", "tool_failed",
        ]  # fmt: skip
        assert (await session.run(caught("tools.x.weather({ town: 'Oslo' })"))).value[0] == "bad_arguments"
        tools = session.offer.tools
    assert tools["x.weather"].doc == "How warm is it?"
    assert tools["x.broken"].doc == "(its input schema is of type 'string', and arguments are one object)"
    async with talking(pack, approve=True) as session:
        assert await value(session, "delete_city('Oslo')") == "deleted Oslo"


@pytest.mark.parametrize(
    ("definitions", "functions", "said"),
    [
        ([CHAT], {}, "pack x: there is no function for weather; give {'weather': …}"),
        ([CHAT], {"weather": weather, "more": weather}, "pack x: there is a function 'more' and no definition for it; add one, or leave it out"),
        ([{"type": "web_search"}], {}, "pack x: a definition of type 'web_search' is run by OpenAI itself; only functions can be wrapped"),
        ([{"type": "function"}], {}, "pack x: a definition has no name: {'type': 'function'}"),
    ],
)  # fmt: skip
def test_definitions_and_functions_must_belong_together(definitions: list[Any], functions: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPack) as caught_one:
        openai_pack("x", definitions, functions)
    assert str(caught_one.value) == said


@function_tool
async def greet(ctx: RunContextWrapper[str], name: str) -> str:
    """Greet somebody."""
    return f"{ctx.context} greets {name}"


@function_tool
def beside() -> bool:
    """Does it run beside the loop?"""
    return threading.current_thread() is not threading.main_thread()


@function_tool
async def fails() -> str:
    raise KeyError("inside")


@function_tool(failure_error_function=lambda ctx, error: f"sorry: {type(error).__name__}")
async def says() -> str:
    raise KeyError("inside")


@function_tool(needs_approval=True, timeout=7.0)
async def acts() -> str:
    return "acted"


@ON_ASYNCIO
async def test_function_tools_of_the_agents_sdk_run_fail_and_ask() -> None:
    pack = openai_agents_pack("x", [greet, beside, fails, says, acts], context="ada", effects={"greet": "reads"})
    async with talking(pack) as session:
        assert await value(session, "greet('eve')") == "ada greets eve"
        assert await value(session, "beside()") is True
        name, message, _ = (await session.run(caught("tools.x.fails()"))).value
        assert (name, "KeyError: 'inside'" in message) == ("tool_failed", True)
        assert (await session.run(caught("tools.x.says()"))).value[:2] == ["tool_error", "says: sorry: KeyError"]
        assert (await session.run(caught("tools.x.acts()"))).value[0] == "denied"
        assert session.offer.tools["x.acts"].facts.timeout_seconds == 7.0
    async with talking(pack, approve=True, deny="x.greet") as session:
        assert (await session.run(together("tools.x.acts()", "tools.x.greet('eve')"))).value == ["acted", "forbidden"]


def test_what_only_the_sdks_runner_can_do_is_refused() -> None:
    @tool_input_guardrail
    def strict(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput(output_info=None)

    @function_tool(tool_input_guardrails=[strict])
    async def guarded() -> str:
        return ""

    @function_tool(is_enabled=lambda ctx, agent: True)
    async def perhaps() -> str:
        return ""

    @function_tool(is_enabled=False)
    async def never() -> str:
        return ""

    for one, said in [
        (guarded, "guarded has guardrails, which only the SDK's runner heeds"),
        (perhaps, "perhaps is enabled by a function of a run, and there is none"),
        (WebSearchTool(), "WebSearchTool is run by OpenAI itself; only function tools can be wrapped"),
    ]:
        with pytest.raises(BadPack, match=said):
            openai_agents_pack("x", [one])  # type: ignore[list-item]
    assert isinstance(never, FunctionTool)
    assert [tool.name for tool in openai_agents_pack("x", [never, greet]).tools] == ["greet"]
