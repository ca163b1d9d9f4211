"""Tools from a JSON Schema and a callable: what an MCP server, an OpenAPI document or another framework brings along.

Arguments are judged by jsonschema and by nothing else; the function gets them by name, as they came.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from pydantic_core import to_jsonable_python
from referencing.exceptions import Unresolvable

from catalog.problem import BadPack, ToolProblem
from catalog.tool import Facts, Tool

_RESERVED = frozenset({"then", "toJSON", "constructor", "toString", "valueOf", "__proto__"})
_OPEN = {"type": "object", "properties": {}}


def tool_from_schema(
    name: str,
    input_schema: Mapping[str, Any] | None,
    function: Callable[[dict[str, Any]], Awaitable[Any]],
    *,
    pack: str,
    doc: str = "",
    output_schema: Mapping[str, Any] | None = None,
    facts: Facts | None = None,
) -> Tool:
    """`function` takes one dict: the arguments by name. `name` may be any text; identifier() says what scripts call it."""
    schema = dict(input_schema or _OPEN)
    where = f"{pack}.{name}"
    if schema.get("type", "object") != "object":
        raise BadPack(f"{where}: the input schema is of type {schema['type']!r}; arguments are one object")
    judge = validator(schema, where)

    def parse(named: dict[str, Any]) -> dict[str, Any]:
        try:
            error = next(judge.iter_errors(named), None)
        except Unresolvable as lost:
            raise _unresolved(where, lost) from None
        if error is not None:
            raise ValueError(error.message)
        return {"arguments": named}

    async def call(arguments: dict[str, Any]) -> Any:
        return await function(arguments)

    required = [key for key in schema.get("required", ()) if key in schema.get("properties", {})]
    optional = [key for key in schema.get("properties", {}) if key not in required]
    return Tool(
        pack=pack, name=identifier(name), doc=doc, input_schema=schema, facts=facts or Facts(),
        output_schema=None if output_schema is None else dict(output_schema), order=(*required, *optional), function=call,
        resource=None, parse=parse, dump=to_jsonable_python, exact_null=True,
    )  # fmt: skip


def validator(schema: dict[str, Any], where: str) -> Validator:
    """By the dialect that the schema names, 2020-12 when it names none. Nothing outside the schema is ever fetched."""
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise BadPack(f"{where}: not a JSON Schema: {error.message} at {_path(error)}") from None
    made: Validator = kind(schema, registry=REGISTRY)
    return made


def _unresolved(where: str, lost: Unresolvable) -> ToolProblem:
    return ToolProblem(
        "bad_schema",
        f"{where} cannot be called: its schema refers to {str(lost.ref)[:200]!r}, which is not in it",
        hint="use another tool; its author has to mend the schema",
    )


def _path(error: ValidationError | SchemaError) -> str:
    return "/".join(str(step) for step in error.absolute_path) or "the top"


def identifier(name: str) -> str:
    """What a script writes after the dot: `get-node` is get_node, `2fa` is _2fa."""
    made = re.sub(r"[^A-Za-z0-9_$]+", "_", name).strip("_") or "tool"
    if made[0].isdigit() or made in _RESERVED:
        made = "_" + made
    return made
