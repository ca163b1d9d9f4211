"""Sample arguments out of a JSON Schema: some that fit, and for each of them some that differ in one way.

The mutations are not labelled valid or invalid: jsonschema is the judge, and what we say must agree with it.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

_WORDS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "uri": "https://example.com/a",
    "email": "a@example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
_OTHERS: tuple[Any, ...] = (None, True, 7, 1.5, "text", [], {}, [1], {"a": 1})


class Sampler:
    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def valid(self) -> Iterator[Any]:
        """The least, everything, and everything with the other branches of each choice; each once."""
        made = [
            self.make(self.root, full=full, branch=branch, depth=0)
            for full, branch in ((False, 0), (True, 0), (True, 1), (True, 2))
        ]
        yield from {json.dumps(one): one for one in made}.values()

    def make(self, schema: Any, *, full: bool, branch: int, depth: int) -> Any:
        if not isinstance(schema, dict):
            return "anything"
        if "$ref" in schema:
            return self.make(self._find(schema["$ref"]), full=full and depth < 4, branch=branch, depth=depth + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][branch % len(schema["enum"])]
        for key in ("anyOf", "oneOf"):
            if schema.get(key) and not ("properties" in schema and all(set(one) <= {"required", "not"} for one in schema[key])):
                possible = [one for one in schema[key] if one != {"not": {}}]
                return self.make(possible[branch % len(possible)], full=full, branch=branch, depth=depth + 1)
        if schema.get("allOf") and "properties" not in schema:
            return self.make(schema["allOf"][0], full=full, branch=branch, depth=depth + 1)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[branch % len(kind)]
        return self._of_kind(kind or ("object" if "properties" in schema else "string"), schema, full, branch, depth)

    def _of_kind(self, kind: str, schema: dict[str, Any], full: bool, branch: int, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, full, branch, depth)
            case "array":
                least = max(schema.get("minItems", 0), 1 if full and depth < 6 else 0)
                return [self.make(schema.get("items", True), full=full, branch=branch, depth=depth + 1) for _ in range(least)]
            case "integer" | "number":
                return number(schema, branch)
            case "boolean":
                return branch % 2 == 0
            case "null":
                return None
            case _:
                return text(schema)

    def _object(self, schema: dict[str, Any], full: bool, branch: int, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        needed = set(schema.get("required", ()))
        apart = set(schema.get("not", {}).get("required", ())[1:])  # what may not stand beside the first of them
        names = [name for name in properties if name in needed or (full and depth < 6 and name not in apart)]
        made = {name: self.make(properties[name], full=full, branch=branch, depth=depth + 1) for name in names}
        return made | dict.fromkeys(needed - set(properties), "anything")

    def _find(self, pointer: str) -> Any:
        found: Any = self.root
        for step in pointer.split("/")[1:]:
            found = found[int(step)] if isinstance(found, list) else found[step.replace("~1", "/").replace("~0", "~")]
        return found


def number(schema: dict[str, Any], branch: int) -> int | float:
    step = 1 if schema.get("type") == "integer" else 0.5
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if isinstance(low, int | float) and not isinstance(low, bool):
        strict = "minimum" not in schema or schema.get("exclusiveMinimum") is True
        value = low + step if strict else low
    elif isinstance(high, int | float) and not isinstance(high, bool):
        value = high - step
    else:
        value = 3 + branch
    factor = schema.get("multipleOf")
    return value if not factor else -(-value // factor) * factor


def text(schema: dict[str, Any]) -> str:
    pattern = schema.get("pattern")
    candidates = [
        _WORDS.get(schema.get("format", ""), "text"),
        "2024-01-01",
        "abc",
        "12",
        "a1b2",
        "#ffffff",
        "BTC-USD",
        "G",
        "AS12",
    ]
    if pattern:
        candidates = [one for one in candidates if re.search(pattern, one)] or candidates
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    made = candidates[0].ljust(least, "x")
    return made if most is None else made[:most]


def mutations(sample: Any) -> Iterator[Any]:
    """One change each: a member dropped, added, or of another kind or size; an item too many; on every level."""
    for path in list(_paths(sample, ())):
        here = _at(sample, path)
        if path:
            yield _without(sample, path)
        if isinstance(here, dict):
            yield _with(sample, (*path, "an_extra_one"), 1)
        if isinstance(here, list):
            yield _with(sample, path, [*here, "one more"])
            yield _with(sample, path, [])
        if isinstance(here, int | float) and not isinstance(here, bool):
            yield from (_with(sample, path, value) for value in (here - 1, here + 1, -(10**9), 10**9, here + 0.25, float(here)))
        if isinstance(here, str):
            yield from (_with(sample, path, value) for value in ("", here + "!", here * 40))
        if path:
            yield from (_with(sample, path, other) for other in _OTHERS)


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if len(path) < 4:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, one in inner:
            yield from _paths(one, (*path, step))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _with(sample: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    made = deepcopy(sample)
    _at(made, path[:-1])[path[-1]] = new
    return made


def _without(sample: Any, path: tuple[Any, ...]) -> Any:
    made = deepcopy(sample)
    del _at(made, path[:-1])[path[-1]]
    return made
