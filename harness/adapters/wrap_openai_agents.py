"""Function tools of the OpenAI Agents SDK as a pack. The SDK turns what a tool raises into an answer; here it fails, so that a
script can catch it: with the text of the tool's own failure function where it has one.

Guardrails belong to the SDK's runner, which is not there: tools that have some are refused rather than called without them.
"""

import copy
import inspect
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import orjson
from agents import FunctionTool
from agents.tool import (
    default_tool_error_function,
    resolve_function_tool_failure_error_function,
    set_function_tool_failure_error_function,
)
from agents.tool_context import ToolContext

from catalog import BadPack, Pack
from harness.adapters.wrapping import Effects, Foreign, pack_of, told_by


def openai_agents_pack(
    name: str,
    tools: Iterable[FunctionTool],
    *,
    context: Any = None,
    effects: Effects | None = None,
    approval: Iterable[str] = (),
    doc: str = "Tools of the OpenAI Agents SDK.",
) -> Pack:
    """`context`: what tools find as ctx.context. `effects` and `approval` by patterns of names; needs_approval asks too."""
    kept = [one for one in tools if not isinstance(one, FunctionTool) or one.is_enabled is not False]
    return pack_of(name, [_foreign(name, one, context) for one in kept], doc=doc, effects=effects, approval=approval)


def _foreign(pack: str, tool: FunctionTool, context: Any) -> Foreign:
    if not isinstance(tool, FunctionTool):
        raise BadPack(f"pack {pack}: {type(tool).__name__} is run by OpenAI itself; only function tools can be wrapped")
    if tool.tool_input_guardrails or tool.tool_output_guardrails:
        raise BadPack(
            f"pack {pack}: {tool.name} has guardrails, which only the SDK's runner heeds; wrap it without, use approval"
        )
    if callable(tool.is_enabled):
        raise BadPack(f"pack {pack}: {tool.name} is enabled by a function of a run, and there is none; set is_enabled=True")
    own = _raising(tool)

    async def call(arguments: dict[str, Any]) -> Any:
        text = orjson.dumps(arguments).decode()
        asked: ToolContext[Any] = ToolContext(context, tool_name=tool.name, tool_call_id=uuid4().hex, tool_arguments=text)
        return await own.on_invoke_tool(asked, text)

    return Foreign(
        name=tool.name, doc=tool.description, schema=tool.params_json_schema, call=call, timeout_seconds=tool.timeout_seconds,
        asks=tool.needs_approval is not False, output_schema=tool.output_json_schema,
    )  # fmt: skip


def _raising(tool: FunctionTool) -> FunctionTool:
    """A copy that raises."""
    said = resolve_function_tool_failure_error_function(tool)
    own = copy.copy(tool)
    if said is None or said is default_tool_error_function:
        return set_function_tool_failure_error_function(own, None)
    words = said

    async def failed(context: Any, error: Exception) -> str:
        text = words(context, error)
        raise told_by(tool.name, str(await text if inspect.isawaitable(text) else text))

    return set_function_tool_failure_error_function(own, failed)
