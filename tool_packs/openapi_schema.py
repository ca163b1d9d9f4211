"""Schemas of a document as JSON Schema: one direction each, what goes in or what comes out.

Only keywords that are known, with values of the right kind, are taken over, so that the result is a sound schema whatever stood
there. Where something is left out the schema accepts more, never less: the server judges too. Patterns are told and not judged,
since one can be written that takes a host for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from catalog.schema import identifier
from tool_packs.openapi_document import Document

Direction: TypeAlias = Literal["input", "output"]
Under: TypeAlias = Literal["", "all", "any"]  # below which words of composition a reference stands

_DEPTH_MAX = 24  # of one schema, without what it refers to
_TEXT_CHARS = 1_000
_PATTERN_CHARS = 120
_NAME_CHARS = 80
_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_OF = {"allOf": "allOf", "anyOf": "anyOf", "oneOf": "anyOf"}  # what is left out of one branch could let two of oneOf fit


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """`holder` is the part that refers; cleared, it accepts anything. `in_place`: the target judges the same value."""

    holder: dict[str, Any]
    target: str
    under: Under
    in_place: bool


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    schema: dict[str, Any]
    edges: list[Edge] = field(default_factory=list)
    values: int = 1  # how large it is


class Schemas:
    """References become `#/$defs/NAME`. A definition is made once and shared by all that refer to it."""

    def __init__(self, document: Document, direction: Direction) -> None:
        self._document = document
        self._hidden = "readOnly" if direction == "input" else "writeOnly"
        self._names: dict[str, str] = {}
        self._sources: dict[str, Any] = {}
        self.definitions: dict[str, Made] = {}

    def made(self, told: Any) -> Made:
        """`told` as it stands in the document, and `definitions` for all that it refers to."""
        out = _Conversion(self)
        made = Made(out.schema(told), out.edges, out.values)
        while self._sources:
            name, source = self._sources.popitem()
            one = _Conversion(self)
            self.definitions[name] = Made(one.schema(source), one.edges, one.values)
        return made

    def name_of(self, reference: str) -> str | None:
        """The name of the definition; None when the reference leads nowhere, or only in a circle."""
        passed = []
        while True:
            known = self._names.get(reference)
            if known is not None:
                break
            target = self._document.at(reference)
            passed.append(reference)
            if not isinstance(target, Mapping | bool):
                return None
            if isinstance(target, Mapping) and set(target) == {"$ref"} and isinstance(target["$ref"], str):
                if target["$ref"] in passed:
                    return None
                reference = target["$ref"]
                continue
            known = self._free(identifier(reference.rpartition("/")[2])[:_NAME_CHARS])
            self._sources[known] = target
            break
        self._names |= dict.fromkeys(passed, known)
        return known

    def _free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.definitions or name in self._sources:
            number += 1
            name = f"{wanted}_{number}"
        return name

    @property
    def is_3_0(self) -> bool:
        return self._document.version == "3.0"

    def is_hidden(self, told: Any) -> bool:
        found = self._document.followed(told) or {}
        return found.get(self._hidden) is True or (isinstance(told, Mapping) and told.get(self._hidden) is True)


class _Conversion:
    """Of one schema; collects what it refers to."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self.edges: list[Edge] = []
        self.values = 0

    def schema(self, told: Any, depth: int = 0, under: Under = "", in_place: bool = True) -> dict[str, Any]:
        self.values += 1
        if told is False:
            return {"not": {}}
        if not isinstance(told, Mapping) or depth > _DEPTH_MAX:
            return {}
        if isinstance(told.get("$ref"), str):
            return self._reference(told, depth, under, in_place)
        made = {**_words(told), **_limits(told), **self._parts(told, depth, under, in_place)}
        return _or_null(made) if told.get("nullable") is True else made

    def _reference(self, told: Mapping[str, Any], depth: int, under: Under, in_place: bool) -> dict[str, Any]:
        name = self._schemas.name_of(told["$ref"])
        beside = {key: value for key, value in told.items() if key != "$ref"}
        made = _words(beside)
        if not self._schemas.is_3_0 and depth <= _DEPTH_MAX:
            made = self.schema(beside, depth + 1, under, in_place)
        if name is None:
            return made
        made = {"$ref": f"#/$defs/{name}", **made}
        self.edges.append(Edge(made, name, under, in_place))
        return {"anyOf": [made, {"type": "null"}]} if beside.get("nullable") is True else made

    def _parts(self, told: Mapping[str, Any], depth: int, under: Under, in_place: bool) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for word, ours in _OF.items():
            listed = told.get(word)
            if isinstance(listed, list) and listed and ours not in made:
                of: Under = "any" if ours == "anyOf" or under == "any" else "all"
                made[ours] = [self.schema(one, depth + 1, of, in_place) for one in listed]
        for word in ("items", "additionalProperties"):
            if isinstance(told.get(word), Mapping):
                made[word] = self.schema(told[word], depth + 1, under, in_place=False)
            elif isinstance(told.get(word), bool):
                made[word] = told[word]
        if "patternProperties" in told:
            made.pop("additionalProperties", None)  # the names that fit are not judged, so none is refused
        if isinstance(told.get("prefixItems"), list) and told["prefixItems"]:
            made["prefixItems"] = [self.schema(one, depth + 1, under, in_place=False) for one in told["prefixItems"]]
        if isinstance(told.get("properties"), Mapping):
            shown = {name: one for name, one in told["properties"].items() if not self._schemas.is_hidden(one)}
            made["properties"] = {name: self.schema(one, depth + 1, under, in_place=False) for name, one in shown.items()}
            hidden = {*told["properties"]} - {*shown}
        else:
            hidden = set()
        required = [one for one in _texts(told.get("required")) if one not in hidden]
        return {**made, "required": required} if required else made


def _words(told: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for word in ("title", "format"):
        if isinstance(told.get(word), str):
            made[word] = told[word][:_NAME_CHARS]
    parts = [told["description"].strip()[:_TEXT_CHARS]] if isinstance(told.get("description"), str) else []
    if isinstance(told.get("pattern"), str) and len(told["pattern"]) <= _PATTERN_CHARS:
        parts.append(f"pattern: {told['pattern']}")
    if told.get("deprecated") is True:
        parts.append("deprecated")
    if parts:
        made["description"] = "; ".join(part for part in parts if part)
    return made


def _limits(told: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    types = [one for one in _texts(told["type"] if isinstance(told.get("type"), list) else [told.get("type")]) if one in _TYPES]
    if types:
        made["type"] = types[0] if len(types) == 1 else types
    if isinstance(told.get("enum"), list) and told["enum"]:
        made["enum"] = list(told["enum"])
    for word in ("const", "default"):
        if word in told:
            made[word] = told[word]
    made |= {word: told[word] for word in _COUNTS if _is_count(told.get(word))}
    if _is_number(told.get("multipleOf")) and told["multipleOf"] > 0:
        made["multipleOf"] = told["multipleOf"]
    for word, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if _is_number(told.get(word)):
            made[exclusive if told.get(exclusive) is True else word] = told[word]
        if _is_number(told.get(exclusive)):
            made[exclusive] = told[exclusive]
    return made


def _or_null(made: dict[str, Any]) -> dict[str, Any]:
    """3.0 says `nullable: true` where JSON Schema has the type null."""
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"] if made["type"] != "null" else "null"
        if "allOf" not in made and "anyOf" not in made:
            return made
        made.pop("type")
    return {"anyOf": [made, {"type": "null"}]} if "allOf" in made or "anyOf" in made else made


def _texts(told: Any) -> list[str]:
    return list(dict.fromkeys(one for one in told if isinstance(one, str))) if isinstance(told, list) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)
