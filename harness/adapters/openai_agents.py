"""The tool layer as tools of the OpenAI Agents SDK: `Agent(tools=script_tools(surface))`.

Calls inside a script ask the session's own approver: an interruption of the SDK's ends the tool call, which no script survives.
`needs_approval` lets the SDK ask for whole scripts. The SDK starts the calls of one reply at once; here they run in their order.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import anyio
from agents import CustomTool, FunctionTool, RunContextWrapper, SpanError, custom_span, get_current_span, get_current_trace
from agents.tool import FunctionToolCustomDataContext
from agents.tool_context import ToolContext
from agents.tracing import CustomSpanData, Span

from harness.adapters.definitions import Definition
from harness.adapters.openai import AS_IT_IS, as_it_is
from harness.adapters.surface import Result, Surface
from harness.session import Session
from harness.telemetry_facts import error_of
from harness.watching import CallBegan, CallEnded, Happened, TurnEnded, Watch

NeedsApproval: TypeAlias = bool | Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]
_FAILED: Final = "The script did not go well"


def script_tools(
    over: Surface | Session, *, free: bool = False, needs_approval: NeedsApproval = False
) -> list[FunctionTool | CustomTool]:
    """All tools of a surface. `free`: the model writes scripts as they are, by a custom tool, which only Responses models know.
    `needs_approval`: the SDK asks before a script runs at all; not with `free`.
    """
    surface = over if isinstance(over, Surface) else Surface(over)
    if free and needs_approval is not False:
        raise ValueError(
            "free=True takes no needs_approval: the SDK asks by arguments, and there are none; leave one of them out"
        )
    in_order = anyio.Lock()
    made: list[FunctionTool | CustomTool] = []
    for one in surface.definitions:
        made.append(_custom(surface, one, in_order) if free and one.free else _function(surface, one, in_order, needs_approval))
    return made


def script_tool(over: Surface | Session, *, needs_approval: NeedsApproval = False) -> FunctionTool:
    """The one that runs scripts, where the surface has no other."""
    first, *others = script_tools(over, needs_approval=needs_approval)
    if others or not isinstance(first, FunctionTool):
        raise ValueError(f"the surface has {', '.join(one.name for one in others)} too: give the agent script_tools(surface)")
    return first


def call_spans(*, content: bool = False) -> Watch:
    """A watch for `harness.session(watch=…)`: each call of a script is a span below the SDK's own. `content`: its arguments too,
    cut and without secrets.
    """
    return _CallSpans(content)


def _function(surface: Surface, one: Definition, in_order: anyio.Lock, needs_approval: NeedsApproval) -> FunctionTool:
    ended: dict[str, Result] = {}  # by the call's id, until the SDK takes what is told of it

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        async with in_order:
            ended[context.tool_call_id] = result = await surface.call(one.name, arguments)
        _mark(result)
        return result.text

    def told(context: FunctionToolCustomDataContext) -> dict[str, Any]:
        return _facts(ended.pop(context.tool_context.tool_call_id, None))

    return FunctionTool(
        name=one.name, description=one.description, params_json_schema=dict(one.parameters), on_invoke_tool=invoke,
        strict_json_schema=one.kind == "script", needs_approval=needs_approval if one.kind == "script" else False,
        custom_data_extractor=told,
    )  # fmt: skip


def _custom(surface: Surface, one: Definition, in_order: anyio.Lock) -> CustomTool:
    async def invoke(context: ToolContext[Any], script: str) -> str:
        async with in_order:
            result = await surface.call(one.name, as_it_is(surface, one.name, script))
        _mark(result)
        return result.text

    return CustomTool(name=one.name, description=one.description + AS_IT_IS, on_invoke_tool=invoke)


def _facts(result: Result | None) -> dict[str, Any]:
    """What the host finds at the run's item; the model sees none of it."""
    if result is None:
        return {}
    turn = result.running if result.outcome is None else result.outcome.number
    return {"turn": turn, "is_error": result.is_error, "running": result.running != 0}


def _mark(result: Result) -> None:
    """The protocol has no mark for an error; the trace has."""
    span = get_current_span()
    if span is None or not result.is_error:
        return
    problem = "" if result.outcome is None else error_of(result.outcome)
    span.set_error(SpanError(message=_FAILED, data={"problem": problem or "not run"}))


class _CallSpans:
    def __init__(self, content: bool) -> None:
        self._content = content
        self._open: dict[tuple[str, int, int], Span[CustomSpanData]] = {}

    def __call__(self, happened: Happened) -> None:
        match happened:
            case CallBegan() if get_current_trace() is not None:
                data = {"line": happened.line} | ({"arguments": happened.shown} if self._content else {})
                span = custom_span(happened.tool, data)
                span.start()
                self._open[happened.session, happened.turn, happened.call] = span
            case CallEnded():
                key = (happened.session, happened.turn, happened.call)
                outcome = happened.record.outcome
                self._finish(key, "" if outcome.problem is None else outcome.problem.code)
            case TurnEnded():
                for key in [key for key in self._open if key[:2] == (happened.session, happened.turn)]:
                    self._finish(key, "cancelled")
            case _:
                return

    def _finish(self, key: tuple[str, int, int], problem: str) -> None:
        span = self._open.pop(key, None)
        if span is None:
            return
        if problem:
            span.set_error(SpanError(message="The call did not go well", data={"problem": problem}))
        span.finish()
