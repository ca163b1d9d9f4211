"""A model's answer as a JSON value that fits a schema: what the model is told, how the value is found and judged. Pure.

The schema comes from a script and the value from a model, so nothing in either may cost more than its size: regular expressions
(`pattern`) would run in Python's engine without bound, and references lead nowhere outside the schema.
"""

import json
import re
from typing import Any

import orjson
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from catalog import ToolProblem

SCHEMA_BYTES_MAX = 65_536
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)\n?```", re.DOTALL)
_NAMED = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})  # name to schema: the names are no keywords
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})


def judge_of(schema: dict[str, Any]) -> Validator:
    """ToolProblem `bad_schema` says what is wrong with it."""
    try:
        size = len(orjson.dumps(schema))
        keyword = _refused(schema)
    except (TypeError, RecursionError):
        raise _bad("it cannot be written as JSON") from None
    if size > SCHEMA_BYTES_MAX:
        raise _bad(f"it has {size:,} bytes; at most {SCHEMA_BYTES_MAX:,} are taken")
    if keyword:
        raise _bad(f"{keyword} is not supported here; check that part in the script")
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        where = "/".join(str(step) for step in error.absolute_path) or "the top"
        raise _bad(f"{error.message[:300]} at {where}") from None
    made: Validator = kind(schema, registry=Registry())
    return made


def instruction(schema: dict[str, Any]) -> str:
    return f"Answer with one JSON value that fits this JSON Schema, and with nothing else:\n{orjson.dumps(schema).decode()}"


def correction(error: str) -> str:
    return f"That does not fit: {error}. Answer again with the JSON value alone."


def value_of(text: str, judge: Validator) -> tuple[Any, str]:
    """The value and "", or None and what is wrong."""
    try:
        value = _found(text)
    except ValueError:
        return None, "there is no JSON value in the answer"
    try:
        error = next(judge.iter_errors(value), None)
    except Unresolvable as missing:
        raise _bad(f"{missing.ref!r} leads nowhere") from None
    except RecursionError:
        raise _bad("it refers to itself without end") from None
    if error is None:
        return value, ""
    where = "/".join(str(step) for step in error.absolute_path)
    return None, f"{error.message[:500]}{f' at {where}' if where else ''}"


def _found(text: str) -> Any:
    """The whole answer, what stands in a code fence, or the first object or list in it."""
    fenced = _FENCE.search(text)
    for candidate in (text, fenced[1] if fenced else ""):
        try:
            return orjson.loads(candidate)
        except orjson.JSONDecodeError:
            continue
    begin = re.search(r"[\[{]", text)
    if begin is None:
        raise ValueError
    try:
        return json.JSONDecoder(parse_constant=_no_constant).raw_decode(text, begin.start())[0]
    except RecursionError:
        raise ValueError from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _refused(schema: Any) -> str:
    """The first keyword that is not run here."""
    if isinstance(schema, list):
        return next((found for item in schema if (found := _refused(item))), "")
    if not isinstance(schema, dict):
        return ""
    for keyword, inner in schema.items():
        if keyword in ("pattern", "patternProperties"):
            return str(keyword)
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef") and not str(inner).startswith("#"):
            return f"{keyword} to {str(inner)[:100]!r}"
        if keyword in _VALUES:
            continue
        parts = list(inner.values()) if keyword in _NAMED and isinstance(inner, dict) else inner
        if found := _refused(parts):
            return found
    return ""


def _bad(what: str) -> ToolProblem:
    return ToolProblem(
        "bad_schema", f"the schema cannot be used: {what}", hint="give a plain JSON Schema, such as {type: 'object', …}"
    )
