"""Tools of another framework as a pack of ours: what each of them has in common, whatever it comes from.

A schema that is not sound is mended and says so; what the framework gives is made JSON; what it touches, and whether it asks, is
said by the one who wraps it, by patterns of names. Said nothing, a tool may touch everything: it runs alone.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypeAlias, get_args

from anyio.to_thread import run_sync
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from catalog import BadPack, Facts, Pack, Tool, ToolProblem, facts_of, mended, pack, tool_from_schema
from catalog.effects import Effect

Effects: TypeAlias = Mapping[str, Effect]  # pattern of names to effect; the first that fits decides
_FAULTS_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """`call` takes the arguments by name, and gives what the framework's own tool gives."""

    name: str
    doc: str
    schema: Any
    call: Callable[[dict[str, Any]], Awaitable[Any]]
    asks: bool = False  # by what the framework itself says
    effect: str = ""  # likewise; "": it says nothing
    output_schema: Mapping[str, Any] | None = None
    timeout_seconds: float | None = None


def pack_of(name: str, tools: Iterable[Foreign], *, doc: str, effects: Effects | None, approval: Iterable[str]) -> Pack:
    """BadPack names a pattern that fits no tool, and an effect that there is not."""
    listed, asking = list(tools), [approval] if isinstance(approval, str) else list(approval)
    if not listed:
        raise BadPack(f"pack {name}: no tools were given")
    for pattern in (*(effects or {}), *asking):
        if not any(fnmatchcase(one.name, pattern) for one in listed):
            raise BadPack(f"pack {name}: {pattern!r} fits none of its tools: {', '.join(one.name for one in listed)}")
    return pack(name, [_tool(name, one, effects or {}, asking) for one in listed], doc=doc)


def asks(name: str, told: bool, approval: Iterable[str]) -> bool:
    return told or any(fnmatchcase(name, pattern) for pattern in ([approval] if isinstance(approval, str) else approval))


async def called(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """An async function is awaited; any other runs in a thread. What keeps it from ending keeps the call from ending."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        return await function(*args, **named)
    made = await run_sync(partial(function, *args, **named))
    return await made if inspect.isawaitable(made) else made


def told_by(tool: str, text: str, *, hint: str = "") -> ToolProblem:
    """What a framework's tool raises for the model to read."""
    return ToolProblem("tool_error", f"{tool}: {text.strip() or 'it failed, and does not say why'}", hint=hint)


def not_accepted(tool: str, error: ValidationError) -> ToolProblem:
    """Arguments that fit the schema, and not the framework's own check."""
    rows = error.errors(include_url=False, include_context=False)
    texts = [f"{'.'.join(str(step) for step in row['loc']) or 'arguments'}: {row['msg']}" for row in rows[:_FAULTS_MAX]]
    rest = f"; and {len(rows) - _FAULTS_MAX} more" if len(rows) > _FAULTS_MAX else ""
    return ToolProblem("bad_arguments", f"{tool}: {'; '.join(texts)}{rest}", hint="change what is named and call it again")


def _tool(pack: str, one: Foreign, effects: Effects, approval: list[str]) -> Tool:
    async def call(arguments: dict[str, Any]) -> Any:
        return _as_json(one.name, await one.call(arguments))

    made = mended(one.schema)
    doc = "\n\n".join(part for part in (one.doc.strip(), f"({made.note})" if made.note else "") if part)
    facts = _facts(pack, one, effects, asks(one.name, one.asks, approval))
    return tool_from_schema(one.name, made.schema, call, pack=pack, doc=doc, output_schema=one.output_schema, facts=facts)


def _facts(pack: str, one: Foreign, effects: Effects, asking: bool) -> Facts:
    said = next((effect for pattern, effect in effects.items() if fnmatchcase(one.name, pattern)), one.effect)
    if said and said not in get_args(Effect):
        raise BadPack(f"pack {pack}: {one.name} has the effect {said!r}; choose {', '.join(get_args(Effect))}")
    own = (f"pack:{pack}",)  # no file: results are not kept, and what writes waits for what reads
    keys: dict[str, Any] = {"reads": {"reads": own}, "writes": {"writes": own}}.get(said, {})
    effect: Any = said or None
    return facts_of(effect=effect, approval=asking, timeout_seconds=one.timeout_seconds, **keys)


def _as_json(tool: str, value: Any) -> Any:
    try:
        return to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="null")
    except (PydanticSerializationError, ValueError) as error:
        raise ToolProblem(
            "bad_result", f"{tool} gave {type(value).__name__}, which cannot be made JSON: {error}",
            hint="it may have taken effect; its author has to return texts, numbers, lists and objects",
        ) from None  # fmt: skip
