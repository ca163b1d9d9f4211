"""Tools of LangChain as a pack. `ToolException` reaches the script as a problem, with the text that `handle_tool_error` makes
of it; a tool that gives content and an artifact gives both. Arguments that LangChain injects are given here once, or the tool is
refused; a script can never set one.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, ToolException
from pydantic import BaseModel, ValidationError

from catalog import BadPack, Pack, ToolProblem
from harness.adapters.wrapping import Effects, Foreign, not_accepted, pack_of, told_by

_GIVEN_BY_LANGCHAIN: Final = {"callbacks", "run_manager", "config", "self"}


@dataclass(frozen=True, slots=True)
class _Around:
    """What is given with every call, besides the script's arguments."""

    injected: Mapping[str, Any]
    config: RunnableConfig | None


@dataclass(frozen=True, slots=True)
class _Hidden:
    """An argument that a model does not see. `is_id`: LangChain fills in the id of the call."""

    name: str
    required: bool
    is_id: bool


def langchain_pack(
    name: str,
    tools: Iterable[BaseTool],
    *,
    injected: Mapping[str, Any] | None = None,
    config: RunnableConfig | None = None,
    effects: Effects | None = None,
    approval: Iterable[str] = (),
    doc: str = "Tools of LangChain.",
) -> Pack:
    """`injected`: values, by name, for arguments that a model does not see. `effects` and `approval` by patterns of names; a
    tool's metadata may say them too: {"effect": "reads"}, {"requires_approval": True}.
    """
    around = _Around(injected or {}, config)
    return pack_of(name, [_foreign(name, one, around) for one in tools], doc=doc, effects=effects, approval=approval)


def _foreign(pack: str, tool: BaseTool, around: _Around) -> Foreign:
    if not isinstance(tool, BaseTool):
        raise BadPack(f"pack {pack}: {tool!r} is no LangChain tool; mark the function with @tool")
    schema = _schema(tool)
    hidden = _hidden(tool, set(schema.get("properties", {})))
    wants_id = any(one.is_id for one in hidden)
    missing = [one.name for one in hidden if one.required and not one.is_id and one.name not in around.injected]
    if missing:
        said = f"{tool.name} wants {', '.join(missing)} injected, which only an agent has"
        raise BadPack(f"pack {pack}: {said}; give injected={{{missing[0]!r}: …}}")
    names = {one.name for one in hidden}
    given = {name: value for name, value in around.injected.items() if name in names}
    plain = tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})
    as_message = tool.response_format == "content_and_artifact" or wants_id

    async def call(arguments: dict[str, Any]) -> Any:
        own = {name: value for name, value in arguments.items() if name not in names}
        return await _called(tool, plain, {**own, **given}, around.config, as_message)

    metadata = tool.metadata or {}
    return Foreign(
        name=tool.name, doc=tool.description, schema=schema, call=call, effect=str(metadata.get("effect", "")),
        asks=metadata.get("requires_approval") is True,
    )  # fmt: skip


def _schema(tool: BaseTool) -> dict[str, Any]:
    shown = tool.tool_call_schema
    told = shown if isinstance(shown, dict) else shown.model_json_schema() if issubclass(shown, BaseModel) else shown.schema()
    return {"additionalProperties": False, **{key: one for key, one in told.items() if key not in ("title", "description")}}


async def _called(
    tool: BaseTool, plain: BaseTool, arguments: dict[str, Any], config: RunnableConfig | None, as_message: bool
) -> Any:
    """`plain`: the same tool, which raises what it would otherwise turn into an answer."""
    asked: Any = arguments
    if as_message:  # the form in which LangChain hands out an artifact, and an id to those who want one
        asked = {"type": "tool_call", "name": tool.name, "args": arguments, "id": uuid4().hex}
    try:
        value = await plain.ainvoke(asked, config)
    except ToolException as error:
        raise told_by(tool.name, _handled(tool.handle_tool_error, error)) from None
    except ValidationError as error:
        raise not_accepted(tool.name, error) from None
    if not isinstance(value, ToolMessage):
        return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    if value.status == "error":
        raise ToolProblem("tool_error", f"{tool.name}: {value.text}")
    if tool.response_format != "content_and_artifact":
        return value.content
    return {"content": value.content, "artifact": value.artifact}


def _handled(handle: Any, error: ToolException) -> str:
    if isinstance(handle, str):
        return handle
    return str(handle(error)) if callable(handle) else str(error)


def _hidden(tool: BaseTool, shown: set[str]) -> list[_Hidden]:
    found: dict[str, _Hidden] = {}
    if not isinstance(tool.args_schema, dict):
        for name, field in getattr(tool.get_input_schema(), "model_fields", {}).items():
            kinds = [one if isinstance(one, type) else type(one) for one in field.metadata]
            is_id = any(issubclass(kind, InjectedToolCallId) for kind in kinds)
            found[name] = _Hidden(name, required=field.is_required(), is_id=is_id)
    function = (tool.coroutine or tool.func) if isinstance(tool, StructuredTool) else None
    if function is not None:
        for name, one in inspect.signature(function).parameters.items():
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and name not in _GIVEN_BY_LANGCHAIN:
                found.setdefault(name, _Hidden(name, required=one.default is one.empty, is_id=False))
    return [one for name, one in found.items() if name not in shown]
