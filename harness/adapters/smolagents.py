"""The tool layer as tools of smolagents, whose agents are not async: `ToolCallingAgent(tools=script_tools(session), model=…)`.

Made of a `blocking_session`. A script that fails is told as any result is: where a tool raises, smolagents drops the results of
the other calls of that reply, and the session would refer to texts that the model never saw.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio
import orjson
from smolagents import Tool  # type: ignore[import-untyped]

from catalog.declare import signature
from harness.adapters.definitions import Definition
from harness.adapters.surface import Result, Surface
from harness.blocking import BlockingSession

_TYPES: Final = ("string", "boolean", "integer", "number", "array", "object")
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")


class BlockingSurface:
    """A surface whose calls wait. Calls of several threads are taken one after the other."""

    def __init__(self, session: BlockingSession, surface: Surface | None = None) -> None:
        """`surface`: of the same session; None: the usual one."""
        self.surface = Surface(session.session) if surface is None else surface
        if self.surface.session is not session.session:
            raise ValueError("the surface is of another session: write BlockingSurface(session, Surface(session.session, …))")
        self._session = session
        self._in_order = anyio.Lock()

    @property
    def definitions(self) -> tuple[Definition, ...]:
        return self.surface.definitions

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        return self._session.wait(partial(self._call, name, arguments))

    async def _call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        async with self._in_order:
            return await self.surface.call(name, arguments)


def script_tools(over: BlockingSurface | BlockingSession) -> list[Tool]:
    """All tools of a surface; of a session: of its usual one."""
    surface = over if isinstance(over, BlockingSurface) else BlockingSurface(over)
    return [SurfaceTool(surface, one) for one in surface.definitions]


def script_tool(over: BlockingSurface | BlockingSession) -> Tool:
    """The one that runs scripts, where the surface has no other."""
    first, *others = script_tools(over)
    if others:
        raise ValueError(f"the surface has {', '.join(one.name for one in others)} too: give the agent script_tools(surface)")
    return first


class SurfaceTool(Tool):  # type: ignore[misc]
    """One definition of a surface."""

    output_type = "string"
    skip_forward_signature_validation = True  # its parameters are those of the definition

    def __init__(self, surface: BlockingSurface, definition: Definition) -> None:
        super().__init__()
        self._surface = surface
        self.name = definition.name
        self.inputs = inputs(definition.parameters)
        self.description = definition.description
        tool = surface.surface.session.offer.tools.get(definition.tool)
        if tool is not None and not all(_is_plain(one) for one in definition.parameters.get("properties", {}).values()):
            self.description += f"\n\nAs TypeScript: {signature(tool)}"  # the inputs tell less than the schema

    def forward(self, *given: Any, **named: Any) -> str:
        if len(given) > len(self.inputs):
            raise TypeError(f"{self.name} takes {', '.join(self.inputs) or 'nothing'}, and was given {len(given)} arguments")
        return self._surface.call(self.name, dict(zip(self.inputs, given, strict=False)) | named).text


def inputs(parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """JSON Schema as smolagents has it: its few types, and `nullable` for what may be left out. Pure."""
    required, named = parameters.get("required", ()), parameters.get("$defs", {})
    return {
        name: _input(schema, named) | ({} if name in required else {"nullable": True})
        for name, schema in parameters.get("properties", {}).items()
    }


def _input(schema: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    about = schema.get("description", "")
    if _is_plain(schema):
        return {**schema, "description": about}
    kinds = [kind for kind in dict.fromkeys(_kinds(schema, named)) if kind in _TYPES]
    return {"type": "any" if not kinds else kinds[0] if len(kinds) == 1 else kinds, "description": about}


def _is_plain(schema: Mapping[str, Any]) -> bool:
    """Can be handed on whole: of one known type, and nothing in it is defined elsewhere."""
    return schema.get("type") in _TYPES and b'"$ref"' not in orjson.dumps(schema)


def _kinds(schema: Mapping[str, Any], named: Mapping[str, Any], depth: int = 8) -> list[str]:
    """All JSON types that a value may have, as far as they are told; `depth`: a definition may lead to itself."""
    if depth == 0:
        return []
    told = schema.get("type", [])
    kinds = [told] if isinstance(told, str) else list(told)
    if "$ref" in schema:
        kinds += _kinds(named.get(str(schema["$ref"]).rpartition("/")[2], {}), named, depth - 1)
    for word in _BRANCHES:
        for branch in schema.get(word, ()):
            kinds += _kinds(branch, named, depth - 1)
    return kinds
