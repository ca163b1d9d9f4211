"""A toolset for pydantic-ai agents: `Agent(model, toolsets=[script_toolset(session)])`.

Whatever the model gets wrong is an ordinary result that says what to do next, so no retry count ends the run. Calls inside a
script pass our guards; `DeferredApprover` lets the agent's own handler of deferred calls say yes or no to them.
"""

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import orjson
from pydantic_ai import CustomEvent, InstructionPart, RunContext, ToolDefinition, ToolReturn
from pydantic_ai.exceptions import ToolFailed, UserError
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import AgentDepsT, DeferredToolRequests, ToolApproved, ToolDenied
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from harness.adapters.definitions import Definition
from harness.adapters.nested import Nested, NestedCalls
from harness.adapters.surface import Surface
from harness.adapters.turn_facts import facts_of
from harness.approval import Answer, Request
from harness.session import Session
from harness.watching import CallBegan

Errors: TypeAlias = Literal["text", "failed"]
_AS_SENT: Final = "as sent"  # arguments that are no JSON object, whole
_RUN: ContextVar[RunContext[Any] | None] = ContextVar("turnscript_pydantic_ai_run", default=None)


@dataclass(kw_only=True)
class ScriptCallBegan(CustomEvent):
    """A call that a script made, in the run's event stream. `arguments`: cut and without secrets."""

    tool: str
    turn: int
    call: int
    line: int
    arguments: Any


@dataclass(kw_only=True)
class ScriptCallEnded(CustomEvent):
    """`status`: returned, failed, refused, denied, timed_out or cancelled. `code`: of its problem."""

    tool: str
    turn: int
    call: int
    status: str
    code: str
    bytes: int
    seconds: float


def script_toolset(
    of: Session | Surface, *, nested: NestedCalls | None = None, errors: Errors = "text", id: str | None = None
) -> "ScriptToolset[Any]":
    """Of an open session, or of a surface of one. `nested`: the session's watch; its calls become events of the run.
    `errors`: what fails gives its text as it is; "failed" marks it in pydantic-ai's own way, which escapes it for most models.
    """
    return ScriptToolset(of if isinstance(of, Surface) else Surface(of), nested=nested, errors=errors, id=id)


class ScriptToolset(AbstractToolset[AgentDepsT]):
    """The tools of one surface."""

    def __init__(
        self, surface: Surface, *, nested: NestedCalls | None = None, errors: Errors = "text", id: str | None = None
    ) -> None:
        self.surface = surface
        self._nested = nested
        self._errors = errors
        self._id = id

    @property
    def id(self) -> str | None:
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> InstructionPart | None:
        return InstructionPart(content=self.surface.instructions) if self.surface.instructions else None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return {
            one.name: ToolsetTool(
                toolset=self, tool_def=_definition(one), max_retries=ctx.max_retries or 0, args_validator=_Unjudged()
            )
            for one in self.surface.definitions
        }  # fmt: skip

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> ToolReturn[str]:
        """Cancelling the run ends the script."""
        arguments = tool_args[_AS_SENT] if list(tool_args) == [_AS_SENT] else tool_args
        work = partial(self.surface.call, name, arguments)
        token = _RUN.set(ctx)
        try:
            result = await (work() if self._nested is None else self._nested.told(work, partial(_emit, ctx)))
        finally:
            _RUN.reset(token)
        if result.is_error and self._errors == "failed":
            raise ToolFailed(result.text)
        return ToolReturn(return_value=result.text, metadata=facts_of(result))


class DeferredApprover:
    """Asks the handler that the agent has for deferred calls (its capability `HandleDeferredToolCalls`). No handler, no answer:
    a missing answer denies. Arguments are approved as they are, or not at all.
    """

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        run = _RUN.get()
        if run is None or run.tool_manager is None:
            return ()
        calls = [ToolCallPart(tool_name=one.tool, args=dict(one.arguments), tool_call_id=one.id) for one in requests]
        facts = {one.id: {"line": one.line, "why": one.why, "writes": list(one.writes), "shown": one.shown} for one in requests}
        found = await run.tool_manager.resolve_deferred_tool_calls(DeferredToolRequests(approvals=calls, metadata=facts))
        said = {} if found is None else found.approvals
        return [_answer(one.id, said[one.id]) for one in requests if one.id in said]


def _answer(request: str, said: Any) -> Answer:
    match said:
        case True | ToolApproved(override_args=None):
            return Answer(request=request, verdict="allow")
        case ToolApproved():
            return Answer(request=request, verdict="deny", reason="other arguments were approved: call it with those")
        case ToolDenied(message=message):
            return Answer(request=request, verdict="deny", reason=message)
        case _:
            return Answer(request=request, verdict="deny")


class _Unjudged:
    """The surface judges arguments, in words of its own; what is no JSON object reaches it as it was sent."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:
        try:
            read = orjson.loads(input)
        except orjson.JSONDecodeError:
            read = None
        return read if isinstance(read, dict) else {_AS_SENT: input if isinstance(input, str) else bytes(input).decode()}

    def validate_python(self, input: Any, **_: Any) -> Any:
        return input


def _definition(one: Definition) -> ToolDefinition:
    return ToolDefinition(name=one.name, description=one.description, parameters_json_schema=dict(one.parameters))


async def _emit(ctx: RunContext[Any], happened: Nested) -> None:
    try:
        await ctx.emit(_event(happened))
    except UserError:  # the toolset came with a capability, or no run is on: there is no stream for it
        return


def _event(happened: Nested) -> ScriptCallBegan | ScriptCallEnded:
    if isinstance(happened, CallBegan):
        return ScriptCallBegan(
            tool=happened.tool, turn=happened.turn, call=happened.call, line=happened.line, arguments=happened.shown
        )
    record = happened.record
    problem = record.outcome.problem
    return ScriptCallEnded(
        tool=record.tool, turn=happened.turn, call=record.number, status=record.outcome.status,
        code="" if problem is None else problem.code, bytes=record.outcome.size, seconds=record.seconds,
    )  # fmt: skip
