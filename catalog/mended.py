"""Input schemas as they come from strangers: what is wrong with one must not take its tool, or the others of its server, away.

A schema that is right stays as it is. One that an older dialect accepts is judged by that; a pattern that Python cannot compile
is left out; anything worse becomes an open object, so that the server itself judges. The note says which.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft4Validator, Draft202012Validator, SchemaError
from jsonschema.validators import validator_for

OPEN: dict[str, Any] = {"type": "object", "additionalProperties": True}
_DRAFT_4 = "http://json-schema.org/draft-04/schema#"
_DEPTH_MAX = 64  # as deep as JSON may be that crosses the sandbox's wall


@dataclass(frozen=True, slots=True)
class Mended:
    schema: dict[str, Any]
    note: str = ""  # "" when nothing had to be done


def mended(schema: Any) -> Mended:
    """Give a schema that tool_from_schema takes and that can judge without raising."""
    if schema is None:
        return Mended(dict(OPEN), "the server gives no input schema")
    if not isinstance(schema, Mapping):
        return Mended(dict(OPEN), f"its input schema is not an object but {type(schema).__name__}")
    told = dict(schema)
    if _deeper_than(told, _DEPTH_MAX):
        return Mended(dict(OPEN), f"its input schema is nested more than {_DEPTH_MAX} deep")
    if told.get("type", "object") != "object":
        return Mended(dict(OPEN), f"its input schema is of type {told['type']!r}, and arguments are one object")
    told, dropped = _without_bad_patterns(told)
    told, dialect = _dialect(told)
    if dialect is None:
        return Mended(dict(OPEN), "its input schema is no JSON Schema")
    lost = next((ref for ref in _references(told) if not _resolves(told, ref)), None)
    if lost is not None:
        return Mended(dict(OPEN), f"its input schema refers to {lost[:80]!r}, which is not in it")
    return Mended(told, "; ".join(note for note in (dialect, dropped) if note))


def _dialect(schema: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The note is None when no dialect accepts it."""
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
        return schema, ""
    except SchemaError:
        pass
    try:
        Draft4Validator.check_schema(schema)
    except SchemaError:
        return schema, None
    return schema | {"$schema": _DRAFT_4}, "its input schema is judged as draft 4"


def _deeper_than(value: Any, most: int) -> bool:
    """Level by level: the value may be deeper than the stack."""
    level = [value]
    for _ in range(most):
        level = [inner for one in level for inner in _inner(one)]
        if not level:
            return False
    return True


def _inner(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        yield schema["$ref"]
    for inner in _inner(schema):
        yield from _references(inner)


def _resolves(root: dict[str, Any], reference: str) -> bool:
    found: Any = root
    if reference != "#" and not reference.startswith("#/"):
        return False
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, Mapping) and name in found:
            found = found[name]
        else:
            return False
    return True


def _without_bad_patterns(schema: dict[str, Any]) -> tuple[dict[str, Any], str]:
    dropped: list[str] = []

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(one) for one in value]
        if not isinstance(value, Mapping):
            return value
        bad = isinstance(value.get("pattern"), str) and not _compiles(value["pattern"])
        if bad:
            dropped.append(value["pattern"])
        return {name: walk(inner) for name, inner in value.items() if not (bad and name == "pattern")}

    made = walk(schema)
    return (made, f"its pattern {dropped[0][:80]!r} is not checked here") if dropped else (schema, "")


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
