"""Arguments at the call: from what a script wrote to what the function takes, or one problem that says what to write.

Named or positional: one object gives arguments by name; several values go in order, and an object after them carries the rest
by name. pydantic or jsonschema judges (the tool's `parse`); the words come from the schema, so that they are the same for both.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
from jsonschema import ValidationError
from jsonschema.exceptions import relevance
from jsonschema.protocols import Validator

from catalog.declare import signature
from catalog.nearest import nearest
from catalog.problem import ToolProblem
from catalog.schema import validator
from catalog.tool import Tool

_FAULTS_MAX = 5
_VALUE_CHARS = 60
_PATH_CHARS = 200
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """`named`: the arguments as JSON by name, as given. `values`: what the function is called with."""

    named: dict[str, Any]
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the arguments: where (`limit`, `ranges[0].first`; "" for the call itself) and in words."""

    path: str
    text: str


def bind(tool: Tool, args: list[Any]) -> Bound:
    """Raises ToolProblem `bad_arguments`, which names each argument, what came, what was expected, and the signature."""
    named = name_arguments(tool, args)
    try:
        return Bound(named, tool.parse(named))
    except ValueError as error:
        raise bad_arguments(tool, faults(tool, named) or _told_by(error)) from None


def bad_arguments(tool: Tool, found: list[Fault]) -> ToolProblem:
    rest = f"; and {len(found) - _FAULTS_MAX} more" if len(found) > _FAULTS_MAX else ""
    return ToolProblem(
        "bad_arguments",
        f"{tool.full_name}: {'; '.join(fault.text for fault in found[:_FAULTS_MAX])}{rest}",
        hint=f"write tools.{signature(tool)}",
        data={"tool": tool.full_name, "faults": [{"path": fault.path, "text": fault.text} for fault in found[:20]]},
    )


# ---------------------------------------------------------------- named or positional


def name_arguments(tool: Tool, args: list[Any]) -> dict[str, Any]:
    """The arguments by name. Null for an optional one means its default, where null is no value of its own."""
    if len(args) == 1 and isinstance(args[0], dict) and _is_by_name(tool, args[0]):
        named = dict(args[0])
    else:
        named = _by_position(tool, args)
    if tool.exact_null:
        return named
    return {name: value for name, value in named.items() if value is not None or not _means_default(tool, name)}


def _is_by_name(tool: Tool, given: dict[str, Any]) -> bool:
    """One object is the arguments, unless it can only be the first argument itself."""
    if not tool.order or not given or any(name in tool.properties for name in given):
        return True
    return not accepts(tool, tool.order[0], given)


def _by_position(tool: Tool, args: list[Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    values = args
    if len(args) > 1 and isinstance(args[-1], dict):
        rest = tool.order[len(args) - 1 :]
        if len(args) > len(tool.order) or (args[-1] and all(name in rest for name in args[-1])):
            values, options = args[:-1], args[-1]
    if len(values) > len(tool.order):
        most = len(tool.order)
        text = f"it takes {most} argument{'' if most == 1 else 's'}, and {len(values)} came"
        raise bad_arguments(tool, [Fault("", text if most else f"it takes no arguments, and {len(values)} came")])
    return dict(zip(tool.order, values, strict=False)) | options


def _means_default(tool: Tool, name: str) -> bool:
    return name in tool.properties and name not in tool.required and not accepts(tool, name, None)


def accepts(tool: Tool, name: str, value: Any) -> bool:
    """Does the argument's own schema take this value?"""
    return bool(_judge(tool).evolve(schema=tool.properties[name]).is_valid(value))


# ---------------------------------------------------------------- what is wrong, in words


def faults(tool: Tool, named: dict[str, Any]) -> list[Fault]:
    """By the tool's schema, in the order of the schema; [] when it finds nothing."""
    found = [fault for error in _judge(tool).iter_errors(named) for fault in _faults(tool, error)]
    order = {name: index for index, name in enumerate(tool.properties)}
    return sorted(dict.fromkeys(found), key=lambda fault: order.get(fault.path.split(".")[0].split("[")[0], len(order)))


@cache
def _judge(tool: Tool) -> Validator:
    return validator(tool.input_schema, tool.full_name)


def _told_by(error: ValueError) -> list[Fault]:
    """pydantic found what no JSON Schema can say: a validator of the author's own."""
    listed = getattr(error, "errors", None)
    rows = listed(include_url=False) if listed is not None else []
    made = [Fault(path_text(row["loc"]), f"{path_text(row['loc']) or 'the arguments'}: {row['msg']}") for row in rows]
    return made or [Fault("", str(error))]


def _faults(tool: Tool, error: ValidationError) -> Iterator[Fault]:
    path, value = path_text(error.absolute_path), error.instance
    match error.validator:
        case "required" if isinstance(value, dict):
            yield from (Fault(_join(path, name), f"{_join(path, name)} is missing") for name in _missing(error))
        case "additionalProperties" if isinstance(value, dict):
            yield from (Fault(_join(path, name)[:_PATH_CHARS], _unknown(tool, error, path, name)) for name in _extras(error))
        case "anyOf" | "oneOf" if error.context:
            yield from _of_alternatives(tool, error, path)
        case _:
            yield Fault(path, f"{path or 'the arguments'} must be {_expected(error)}, not {value_text(value)}")


def _missing(error: ValidationError) -> list[str]:
    wanted: list[str] = error.validator_value if isinstance(error.validator_value, list) else []
    return [name for name in wanted if name not in _given(error)]


def _given(error: ValidationError) -> dict[str, Any]:
    return error.instance if isinstance(error.instance, dict) else {}


def _extras(error: ValidationError) -> list[str]:
    schema = error.schema if isinstance(error.schema, dict) else {}
    return [name for name in _given(error) if name not in schema.get("properties", {})]


def _unknown(tool: Tool, error: ValidationError, path: str, name: str) -> str:
    known = list(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []
    name = name if len(name) <= _VALUE_CHARS else name[: _VALUE_CHARS - 1] + "…"
    near = nearest(name, known)
    what = f"there is no argument {name}" if not path else f"{path} has no member {name}"
    if near:
        return f"{what}; did you mean {near}?"
    return f"{what}; known: {', '.join(known[:12]) or 'none'}"


def _of_alternatives(tool: Tool, error: ValidationError, path: str) -> Iterator[Fault]:
    """All alternatives refused: when one of them got further than the kind of the value, its own words; else all kinds."""
    context = error.context or []
    deeper = [one for one in context if one.validator not in ("type", "const", "enum") or len(one.path) > 0]
    if deeper and error.validator == "anyOf":
        yield from _faults(tool, min(deeper, key=relevance))
        return
    kinds = list(dict.fromkeys(_expected(one) for one in context))
    yield Fault(path, f"{path or 'the arguments'} must be {_either(kinds)}, not {value_text(error.instance)}")


def _expected(error: ValidationError) -> str:
    limit: Any = error.validator_value
    match error.validator:
        case "type":
            return _either([_WORDS.get(str(kind), str(kind)) for kind in (limit if isinstance(limit, list) else [limit])])
        case "enum":
            return _either([_short(one) for one in limit[:12]])
        case "const":
            return _short(limit)
        case "minimum":
            return f"at least {limit}"
        case "maximum":
            return f"at most {limit}"
        case "exclusiveMinimum":
            return f"above {limit}"
        case "exclusiveMaximum":
            return f"below {limit}"
        case "multipleOf":
            return f"a multiple of {limit}"
        case "minLength":
            return f"text of at least {limit} characters" if limit != 1 else "text that is not empty"
        case "maxLength":
            return f"text of at most {limit} characters"
        case "pattern":
            return f"text that matches {limit}"
        case "format":
            return f"a {limit}"
        case "minItems":
            return f"a list of at least {limit} items" if limit != 1 else "a list that is not empty"
        case "maxItems":
            return f"a list of at most {limit} items"
        case "uniqueItems":
            return "a list without repeats"
        case _:
            return f"what its schema says ({error.validator}: {_short(limit)})"


def _either(words: Iterable[str]) -> str:
    *most, last = list(words) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


def value_text(value: Any) -> str:
    """What came, short."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {_short(value)}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"a list of {len(value)} item{'' if len(value) == 1 else 's'}"
        case dict():
            return f"the object {_short(value)}"
        case _:
            return _short(value)


def _short(value: Any) -> str:
    text = orjson.dumps(value).decode("utf-8", "replace")
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"


def path_text(steps: Iterable[Any]) -> str:
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
