"""Tools of pydantic-ai, called from scripts in a real session."""

import threading
from dataclasses import dataclass
from datetime import date
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, field_validator
from pydantic_ai import ModelRetry, RunContext, Tool, ToolReturn
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.toolsets import CombinedToolset, FunctionToolset

from catalog import BadPack
from harness.adapters.wrap_pydantic_ai import pydantic_ai_pack, pydantic_ai_toolset_pack
from tests.harness.adapters.wrapped import talking, value
from tests.harness.guards.rig import caught, together

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int
    y: int = 0

    @field_validator("x")
    @classmethod
    def _is_even(cls, x: int) -> int:
        if x % 2:
            raise ValueError("x must be even")
        return x


@dataclass
class Moved:
    to: Point
    on: date
    raw: bytes


async def move(point: Point, days: list[date]) -> Moved:
    """Move a point.

    Args:
        point: where from
        days: when
    """
    return Moved(to=Point(x=point.x + 2, y=point.y), on=max(days), raw=b"\xff")


def thread_of() -> bool:
    """Does it run beside the loop?"""
    return threading.current_thread() is not threading.main_thread()


async def whose(ctx: RunContext[str], suffix: str = "") -> str:
    """Whose run is it?"""
    return ctx.deps + suffix


async def retry(n: int) -> int:
    raise ModelRetry(f"n is {n}; give one below 3")


async def failed() -> int:
    raise ToolFailed("the shop is closed")


async def broken() -> int:
    raise KeyError("k")


async def returned() -> ToolReturn:
    return ToolReturn(return_value={"n": 1}, content="look at it", metadata={"secret": 1})


async def strange() -> Any:
    return threading.Lock()


ALL = [move, thread_of, retry, failed, broken, returned, strange]


async def test_arguments_and_results_keep_their_types_and_are_json_outside() -> None:
    async with talking(pydantic_ai_pack("x", ALL)) as session:
        assert await value(session, "move({ point: { x: 2 }, days: ['2024-01-02', '2024-03-04'] })") == {
            "to": {"x": 4, "y": 0}, "on": "2024-03-04", "raw": "_w==",
        }  # fmt: skip
        assert await value(session, "thread_of()") is True
        assert await value(session, "returned()") == {"return_value": {"n": 1}, "content": "look at it"}
        tool = session.offer.tools["x.move"]
    assert (tool.doc, tool.properties["days"]["description"]) == ("Move a point.", "when")


async def test_what_is_meant_for_the_model_is_a_problem_that_a_script_can_catch() -> None:
    async with talking(pydantic_ai_pack("x", ALL)) as session:
        assert (await session.run(caught("tools.x.retry(5)"))).value == [
            "tool_error", "retry: n is 5; give one below 3", "change the arguments and call it again",
        ]  # fmt: skip
        assert (await session.run(caught("tools.x.failed()"))).value == [
            "tool_error", "failed: the shop is closed", "the same call will fail again; go another way",
        ]  # fmt: skip
        odd = (await session.run(caught("tools.x.move({ point: { x: 3 }, days: ['2024-01-02'] })"))).value
        assert odd[:2] == ["bad_arguments", "move: point.x: Value error, x must be even"]
        assert (await session.run(caught("tools.x.move({ point: { x: 'a' }, days: 7 })"))).value[0] == "bad_arguments"
        name, message, _ = (await session.run(caught("tools.x.broken()"))).value
        assert (name, "KeyError" in message) == ("tool_failed", True)
        name, message, _ = (await session.run(caught("tools.x.strange()"))).value
        assert (name, message.startswith("strange gave lock, which cannot be made JSON")) == ("bad_result", True)


async def test_tools_that_only_read_run_at_once_and_others_one_after_the_other() -> None:
    met = anyio.Event()
    running: list[int] = []

    async def meet(n: int) -> int:
        running.append(n)
        if len(running) == 2:
            met.set()
        await met.wait()
        return n

    async def alone(n: int) -> int:
        running.append(n)
        await anyio.lowlevel.checkpoint()
        assert running[-1] == n
        return n

    async with talking(pydantic_ai_pack("x", [meet, alone], effects={"meet": "reads"})) as session:
        assert (await session.run(together("tools.x.meet(1)", "tools.x.meet(2)"))).value == [1, 2]
        assert (await session.run(together(*(f"tools.x.alone({n})" for n in (3, 4, 5))))).value == [3, 4, 5]
        assert session.offer.tools["x.meet"].facts.effect == "reads"


async def test_a_tool_that_takes_a_context_gets_the_deps_or_is_refused() -> None:
    async with talking(pydantic_ai_pack("x", [whose], deps="ada")) as session:
        assert await value(session, "whose({ suffix: '!' })") == "ada!"
    with pytest.raises(BadPack, match="whose takes a RunContext; give deps=…, or deps=None when it needs none"):
        pydantic_ai_pack("x", [whose])


async def test_approval_is_asked_where_pydantic_ai_or_the_caller_says_so() -> None:
    async def late(ctx: RunContext[None]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "done"

    tools = [Tool(thread_of, requires_approval=True), Tool(retry), late]
    pack = pydantic_ai_pack("x", tools, deps=None, approval=["re*"])
    async with talking(pack) as session:
        names = (await session.run(together("tools.x.thread_of()", "tools.x.retry(1)", "tools.x.late()"))).value
        assert names == ["denied", "denied", "not_supported"]
    async with talking(pydantic_ai_pack("x", tools, deps=None, approval=["late"]), approve=True) as session:
        assert await value(session, "late()") == "done"
        assert await value(session, "thread_of()") is True


async def test_a_policy_denies_a_wrapped_tool_as_any_other() -> None:
    async with talking(pydantic_ai_pack("x", ALL), deny="x.mo*") as session:
        assert (await session.run(caught("tools.x.move({ point: { x: 2 }, days: ['2024-01-02'] })"))).value[0] == "forbidden"
        assert await value(session, "thread_of()") is True


async def test_any_toolset_is_a_pack_while_the_harness_is_open() -> None:
    toolset = FunctionToolset([move, whose, thread_of]).filtered(lambda ctx, tool: tool.name != "move").prefixed("my")
    with pytest.raises(BadPack, match="PrefixedToolset lists its tools when it is entered; use pydantic_ai_toolset_pack"):
        pydantic_ai_pack("x", toolset)
    async with talking(pydantic_ai_toolset_pack("x", toolset, deps="eve", effects={"my_*": "reads"})) as session:
        assert list(session.offer.tools) == ["x.my_whose", "x.my_thread_of"]
        assert await value(session, "my_whose()") == "eve"


async def test_toolsets_that_stand_together_are_called_as_they_stand() -> None:
    together = CombinedToolset([FunctionToolset([whose]), FunctionToolset([thread_of]).prefixed("my")])
    async with talking(pydantic_ai_toolset_pack("x", together, deps="eve")) as session:
        assert [await value(session, "whose()"), await value(session, "my_thread_of()")] == ["eve", True]


async def test_metadata_may_say_the_effect_and_patterns_must_fit() -> None:
    pack = pydantic_ai_pack("x", [Tool(retry, metadata={"effect": "reads"}, timeout=3.0)])
    (tool,) = pack.tools
    assert (tool.facts.effect, tool.facts.timeout_seconds) == ("reads", 3.0)
    with pytest.raises(BadPack, match="pack x: 'serach_\\*' fits none of its tools: retry"):
        pydantic_ai_pack("x", [retry], effects={"serach_*": "reads"})
    with pytest.raises(BadPack, match="pack x: retry has the effect 'red'; choose pure, reads, writes, external"):
        pydantic_ai_pack("x", [retry], effects={"*": "red"})  # type: ignore[dict-item]
