"""Schemas of strangers, made safe to judge by: of bounded size, and of bounded work for any value.

Beyond what `catalog.mended` does: references that lead back to themselves, or double at every step, would take for ever, and
regular expressions run in Python's engine without bound. What cannot be judged here, the server judges itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import orjson

from catalog import Mended, mended

SCHEMA_BYTES_MAX = 65_536
_VISITS_MAX = 20_000  # of parts of a schema, to judge one value of each place: some tens of milliseconds
_STEPS_MAX = 100  # of references and parts one inside the other; each takes several frames of the stack
_PATTERN_CHARS = 200
_OPEN: dict[str, Any] = {"type": "object", "additionalProperties": True}
_HERE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")  # judge the value itself, not a part of it
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})


class _TooMuch(Exception):
    pass


def input_schema_of(told: Any) -> Mended:
    """One to make a tool with; the note says what is not judged."""
    size = _size(told)
    if size is None or size > SCHEMA_BYTES_MAX:
        said = "cannot be written as JSON" if size is None else f"has {size:,} bytes; at most {SCHEMA_BYTES_MAX:,} are taken"
        return Mended(dict(_OPEN), f"its input schema {said}")
    made = mended(told)
    schema = _without_patterns(made.schema)
    try:
        _Visits(schema).of(schema, 0)
    except _TooMuch:
        return Mended(dict(_OPEN), "its input schema refers to itself without end, or takes too long to judge by")
    return Mended(schema, made.note)


def output_schema_of(told: Any) -> dict[str, Any] | None:
    """None when it is not known, or not usable."""
    if not isinstance(told, Mapping):
        return None
    made = input_schema_of(told)
    return None if made.note else made.schema


def _size(told: Any) -> int | None:
    try:
        return len(orjson.dumps(told))
    except TypeError:  # too deep, or half a surrogate pair
        return None


def _without_patterns(value: Any, *, names: bool = False) -> Any:
    """Patterns are told in words. `names`: the members are not keywords but what an author called them."""
    if isinstance(value, list):
        return [_without_patterns(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if names:
        return {name: _without_patterns(inner) for name, inner in value.items()}
    kept = {
        keyword: inner
        if keyword in _VALUES
        else _without_patterns(inner, names=keyword in ("properties", "$defs", "definitions"))
        for keyword, inner in value.items()
        if keyword not in ("pattern", "patternProperties")
    }
    if isinstance(value.get("pattern"), str):
        words = kept.get("description")
        told = f"pattern: {value['pattern'][:_PATTERN_CHARS]}"
        kept["description"] = f"{words} ({told})" if isinstance(words, str) and words else told
    if "patternProperties" in value and kept.get("additionalProperties") is False:
        del kept["additionalProperties"]  # what the patterns let in would be refused
    return kept


class _Visits:
    """How many parts judging may visit; a part that stands inside itself, as in a tree, counts once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self._open: dict[int, int] = {}  # the parts that are being counted, and how deep in the value each stands
        self._steps = 0

    def of(self, part: Any, depth: int) -> int:
        if not isinstance(part, Mapping):
            return 1
        at = id(part)
        if at in self._open:
            if self._open[at] == depth:
                raise _TooMuch  # the same part for the same value: it never ends
            return 1
        if at in self._known:
            return self._known[at]
        if len(self._open) >= _STEPS_MAX:
            raise _TooMuch
        self._open[at] = depth
        total = 1 + sum(self.of(inner, depth) for inner in self._here(part))
        total += sum(self.of(inner, depth + 1) for inner in _inside(part))
        del self._open[at]
        if total > _VISITS_MAX:
            raise _TooMuch
        self._known[at] = total
        return total

    def _here(self, part: Mapping[str, Any]) -> Iterator[Any]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(part.get(keyword), str):
                yield self._found(part[keyword])
        for keyword in _HERE:
            inner = part.get(keyword)
            if isinstance(inner, list):
                yield from inner
            elif isinstance(inner, Mapping):
                yield from inner.values() if keyword == "dependentSchemas" else (inner,)

    def _found(self, reference: str) -> Any:
        """`mended` has looked at `$ref`; the others may lead anywhere, and then judge nothing here."""
        found: Any = self._root
        if not reference.startswith("#"):
            return None
        for step in reference.split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, Mapping):
                found = found.get(name)
            else:
                return None
        return found


def _inside(part: Mapping[str, Any]) -> Iterator[Any]:
    """Parts for parts of the value."""
    for keyword in ("items", "additionalProperties", "contains", "propertyNames", "additionalItems", "unevaluatedProperties"):
        inner = part.get(keyword)
        yield from inner if isinstance(inner, list) else (inner,) if isinstance(inner, Mapping) else ()
    for keyword in ("properties", "prefixItems"):
        inner = part.get(keyword)
        yield from inner.values() if isinstance(inner, Mapping) else inner if isinstance(inner, list) else ()
