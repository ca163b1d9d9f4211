"""Tools of pydantic-ai as a pack: functions, `Tool`s and function toolsets at once, any other toolset once it is entered.

Arguments are checked by pydantic-ai's own validator after the schema. `ModelRetry` and `ToolFailed` reach the script as a problem
with their text. A tool that takes a `RunContext` gets one with the `deps` that were given here, or is refused.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

import orjson
from pydantic import ValidationError
from pydantic_ai import RunContext, Tool, ToolReturn
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_ai.usage import RunUsage

from catalog import BadPack, Pack, ToolProblem
from harness.adapters.wrapping import Effects, Foreign, asks, called, not_accepted, pack_of, told_by

_MISSING: Final = object()
_DOC: Final = "Tools of pydantic-ai."


def pydantic_ai_pack(
    name: str,
    tools: FunctionToolset[Any] | Iterable[Tool[Any] | Callable[..., Any]],
    *,
    deps: Any = _MISSING,
    context: RunContext[Any] | None = None,
    effects: Effects | None = None,
    approval: Iterable[str] = (),
    doc: str = _DOC,
) -> Pack:
    """`deps`: what tools find as ctx.deps; `context`: a RunContext of your own instead. `effects` and `approval` by patterns of
    names. Without a model of yours, ctx.model is pydantic-ai's TestModel.
    """
    if isinstance(tools, AbstractToolset) and not isinstance(tools, FunctionToolset):
        raise BadPack(f"pack {name}: {type(tools).__name__} lists its tools when it is entered; use pydantic_ai_toolset_pack")
    toolset = tools if isinstance(tools, FunctionToolset) else FunctionToolset([*tools])
    for one in toolset.tools.values():
        needs = "a RunContext" if one.takes_ctx else "one for its prepare" if one.prepare or one.args_validator else ""
        if needs and deps is _MISSING and context is None:
            raise BadPack(f"pack {name}: {one.name} takes {needs}; give deps=…, or deps=None when it needs none")
        if one.prepare is not None:
            raise BadPack(f"pack {name}: {one.name} is prepared for each run; use pydantic_ai_toolset_pack, which does that")
    made = _context(deps, context)
    foreign = [
        _foreign(
            one.tool_def, partial(_found, toolset, one), made, asks(one.name, one.requires_approval, approval), toolset.timeout
        )
        for one in toolset.tools.values()
    ]
    return pack_of(name, foreign, doc=doc, effects=effects, approval=approval)


def pydantic_ai_toolset_pack(
    name: str,
    toolset: AbstractToolset[Any],
    *,
    deps: Any = None,
    context: RunContext[Any] | None = None,
    effects: Effects | None = None,
    approval: Iterable[str] = (),
    doc: str = _DOC,
) -> AbstractAsyncContextManager[Pack]:
    """Any toolset, entered for as long as the harness is: filtered and prefixed ones, servers. Its tools are listed once."""
    return _entered(name, toolset, _context(deps, context), effects, tuple(approval), doc)


@asynccontextmanager
async def _entered(
    name: str,
    toolset: AbstractToolset[Any],
    context: RunContext[Any],
    effects: Effects | None,
    approval: tuple[str, ...],
    doc: str,
) -> AsyncIterator[Pack]:
    own = await toolset.for_run(context)
    async with own:
        found = await own.get_tools(context)
        foreign = [
            _foreign(
                one.tool_def, partial(_itself, one), context, asks(key, one.tool_def.kind == "unapproved", approval), None, by=own
            )
            for key, one in found.items()
            if one.tool_def.kind in ("function", "unapproved")  # others are called outside, or end a run
        ]
        yield pack_of(name, foreign, doc=doc, effects=effects, approval=approval)


def _context(deps: Any, context: RunContext[Any] | None) -> RunContext[Any]:
    if context is not None:
        return context if deps is _MISSING or deps is None else replace(context, deps=deps)
    return RunContext(deps=None if deps is _MISSING else deps, model=TestModel(), usage=RunUsage())


def _found(toolset: FunctionToolset[Any], tool: Tool[Any], context: RunContext[Any]) -> ToolsetTool[Any]:
    return toolset.tool_for_tool_def(tool.tool_def, ctx=context)


def _itself(tool: ToolsetTool[Any], context: RunContext[Any]) -> ToolsetTool[Any]:
    return tool


def _foreign(
    definition: ToolDefinition,
    find: Callable[[RunContext[Any]], ToolsetTool[Any]],
    context: RunContext[Any],
    asking: bool,
    timeout_seconds: float | None,
    *,
    by: AbstractToolset[Any] | None = None,
) -> Foreign:
    """`by`: the toolset that the tool was found in, which may be around the tool's own."""

    async def call(arguments: dict[str, Any]) -> Any:
        own = replace(context, tool_name=definition.name, tool_call_approved=asking)
        return await _called(find(own), arguments, own, by)

    metadata: Mapping[str, Any] = definition.metadata or {}
    return Foreign(
        name=definition.name, doc=definition.description or "", schema=definition.parameters_json_schema, call=call,
        asks=definition.kind == "unapproved", effect=str(metadata.get("effect", "")), output_schema=definition.return_schema,
        timeout_seconds=definition.timeout if definition.timeout is not None else timeout_seconds,
    )  # fmt: skip


async def _called(
    tool: ToolsetTool[Any], arguments: dict[str, Any], context: RunContext[Any], by: AbstractToolset[Any] | None
) -> Any:
    name = tool.tool_def.name
    try:
        read = tool.args_validator.validate_json(orjson.dumps(arguments), context=context.validation_context)
        if tool.args_validator_func is not None:
            await called(tool.args_validator_func, context, **read)
        value = await (by or tool.toolset).call_tool(name, read, context, tool)
    except ValidationError as error:
        raise not_accepted(name, error) from None
    except ModelRetry as error:
        raise told_by(name, error.message, hint="change the arguments and call it again") from None
    except ToolFailed as error:
        raise told_by(name, str(error), hint="the same call will fail again; go another way") from None
    except (ApprovalRequired, CallDeferred) as error:
        why = (
            "asks for approval while it runs" if isinstance(error, ApprovalRequired) else "is to be finished outside of this run"
        )
        raise ToolProblem(
            "not_supported", f"{name} {why}, which a script cannot wait for",
            hint=f'use another tool, or ask a person to wrap it with approval=["{name}"]',
        ) from None  # fmt: skip
    if not isinstance(value, ToolReturn):
        return value
    return value.return_value if value.content is None else {"return_value": value.return_value, "content": value.content}
