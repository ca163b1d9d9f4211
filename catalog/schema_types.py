"""JSON Schema to TypeScript types (typescript.py).

A type never costs more than its schema: `$ref` becomes a name and is not unrolled, and what lies too deep or beyond the number of
parts becomes `unknown`, with a note. What TypeScript cannot say (bounds, formats, patterns) becomes words of the documentation.
Broken schemas give `unknown`: a type is advice to the reader, and arguments are judged elsewhere.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from catalog.schema_words import LITERAL_MAX, SHAPED, document_text, item_of, short_json, tags_of
from catalog.typescript import (
    NULL,
    UNKNOWN,
    Definition,
    Field,
    Fields,
    Many,
    Named,
    Record,
    Tuple,
    Type,
    Word,
    both,
    either,
    quoted,
    type_name,
)

_PARTS_MAX = 3_000  # of one schema; the largest seen in the wild has some 400
_DEPTH_MAX = 20
_WORDS_MAX = 40_000  # characters of all descriptions together
_VALUES_MAX = 100  # of an enumeration
_WORDS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


@dataclass(frozen=True, slots=True)
class Document:
    """One schema: its own type, and the definitions that it refers to, each once, in the order of their mention."""

    type: Type
    definitions: tuple[Definition, ...]
    tags: tuple[str, ...]
    cut: bool  # something is `unknown` only because there was too much

    def find(self, named: Named) -> tuple[str, Type]:
        """A definition's wanted name and its type."""
        found = next(one for one in self.definitions if one.name.pointer == named.pointer)
        return named.wanted, found.type

    def unrolled(self, made: Type) -> Type:
        return self.find(made)[1] if isinstance(made, Named) else made


def read_schema(schema: Any, *, name: str, by_name: bool = False) -> Document:
    """`name`: what the schema itself is called where it refers to itself; `by_name`: and where it is an object, in any case."""
    reader = _Reader(schema, name)
    own = reader.type_of(schema, 0)
    if reader.mentions("#") or (by_name and isinstance(own, Fields)):
        own = reader.mention("#", schema)
    definitions = []
    for named, target in reader.mentioned():
        definitions.append(Definition(named, reader.type_of(target, 0), reader.words_of(target)))
    definitions.sort(key=lambda one: one.name.pointer != "#")  # itself first, then as they are mentioned
    return Document(own, tuple(definitions), tuple(tags_of(schema)) if isinstance(schema, dict) else (), reader.cut)


class _Reader:
    def __init__(self, root: Any, name: str) -> None:
        self._root = root
        self._name = name
        self._left = _PARTS_MAX
        self._words_left = _WORDS_MAX
        self._found: dict[str, tuple[Named, Any]] = {}
        self.cut = False

    def mentioned(self) -> Iterator[tuple[Named, Any]]:
        """Grows while it is walked: a definition may mention others."""
        done = 0
        while done < len(self._found):
            for one in list(self._found.values())[done:]:
                done += 1
                yield one

    def words_of(self, schema: Any) -> str:
        text = document_text(schema.get("description")) if isinstance(schema, dict) else ""
        if len(text) > self._words_left:
            self.cut = True
            return ""
        self._words_left -= len(text)
        return text

    def type_of(self, schema: Any, depth: int) -> Type:
        if not isinstance(schema, dict):
            return Word("never") if schema is False else UNKNOWN
        self._left -= 1
        if depth > _DEPTH_MAX or self._left < 0:
            self.cut = True
            return UNKNOWN
        if "const" in schema:
            return _literal(schema["const"])
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return self._nullable(schema, self._enumeration(values))
        parts = [self._reference(schema["$ref"], depth)] if isinstance(schema.get("$ref"), str) else []
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                parts.append(either(self.type_of(one, depth + 1) for one in schema[key]))
        if isinstance(schema.get("allOf"), list):
            parts += [self.type_of(one, depth + 1) for one in schema["allOf"]]
        plain = self._plain(schema, depth)
        if plain != Record(UNKNOWN) or all(part == UNKNOWN for part in parts):  # beside others, "an object" says nothing more
            parts.insert(0, plain)
        return self._nullable(schema, both(parts))

    @staticmethod
    def _nullable(schema: dict[str, Any], made: Type) -> Type:
        return either([made, NULL]) if schema.get("nullable") is True and made != UNKNOWN else made

    def _enumeration(self, values: list[Any]) -> Type:
        made = either(_literal(value) for value in values[:_VALUES_MAX])
        if len(values) <= _VALUES_MAX:
            return made
        self.cut = True
        return either([made, Word(f"string /* or one of {len(values) - _VALUES_MAX:,} more values */")])

    def _plain(self, schema: dict[str, Any], depth: int) -> Type:
        kind = schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if kind is None:
            kinds = [
                name
                for name, keys in (
                    ("object", ("properties", "patternProperties", "additionalProperties")),
                    ("array", ("items", "prefixItems")),
                )
                if any(key in schema for key in keys)
            ]
        return either(self._of_kind(one, schema, depth) for one in kinds) if kinds else UNKNOWN

    def _of_kind(self, kind: Any, schema: dict[str, Any], depth: int) -> Type:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        return Word(_WORDS[kind]) if isinstance(kind, str) and kind in _WORDS else UNKNOWN

    def _array(self, schema: dict[str, Any], depth: int) -> Type:
        items, first = schema.get("items", True), schema.get("prefixItems")
        if isinstance(items, list):  # how drafts before 2020-12 write a tuple
            first, items = items, schema.get("additionalItems", True)
        if not isinstance(first, list) or not first:
            return Many(self.type_of(items, depth + 1))
        least = schema.get("minItems", 0)
        rest = None if items is False else self.type_of(items, depth + 1)
        closed = rest is None or schema.get("maxItems") == len(first)
        return Tuple(
            tuple(self.type_of(one, depth + 1) for one in first), least if isinstance(least, int) else 0, None if closed else rest
        )

    def _object(self, schema: dict[str, Any], depth: int) -> Type:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            properties = {}
        required = schema.get("required")
        needed = dict.fromkeys(name for name in required if isinstance(name, str)) if isinstance(required, list) else {}
        order = [name for name in properties if name in needed] + [name for name in properties if name not in needed]
        order += [name for name in needed if name not in properties]
        made: list[Field] = []
        for name in order:
            if self._left <= 0:
                self.cut = True
                break
            made.append(self._field(name, properties.get(name, True), name in needed, depth))
        others = [self.type_of(one, depth + 1) for one in self._others(schema)]
        if not order and not others:
            return Record(Word("never") if schema.get("additionalProperties") is False else UNKNOWN)
        rest = either(others) if others else None
        if not order:
            return Record(rest or UNKNOWN)
        own = Fields(tuple(made), open=rest == UNKNOWN, left_out=len(order) - len(made))
        return own if rest in (None, UNKNOWN) else both([own, Record(rest)])

    @staticmethod
    def _others(schema: dict[str, Any]) -> list[Any]:
        """Schemas of the members without a name of their own; only those that the author wrote down."""
        patterns, rest = schema.get("patternProperties"), schema.get("additionalProperties")
        found = list(patterns.values()) if isinstance(patterns, dict) else []
        return found + ([rest] if rest is True or isinstance(rest, dict) else [])

    def _field(self, name: str, schema: Any, required: bool, depth: int) -> Field:
        made = self.type_of(schema, depth + 1)
        if not isinstance(schema, dict):
            return Field(name, made, required)
        default = schema.get("default")
        return Field(
            name,
            made,
            required,
            doc=self.words_of(schema) or self.words_of(item_of(schema)),
            tags=tuple(tag for tag in tags_of(schema) if not (required and tag.startswith("@default"))),
            default=short_json(default) if default is not None and not required else "",
        )

    # ------------------------------------------------------------ references

    def _reference(self, pointer: str, depth: int) -> Type:
        target = self._follow(pointer)
        if target is None:
            return UNKNOWN
        pointer, schema = target
        if not isinstance(schema, dict) or (not SHAPED & schema.keys() and schema.get("type") not in ("object", "array")):
            return self.type_of(schema, depth + 1)  # so short that a name would hide it
        return self.mention(pointer, schema)

    def mentions(self, pointer: str) -> bool:
        return pointer in self._found

    def mention(self, pointer: str, schema: Any) -> Named:
        if pointer not in self._found:
            self._found[pointer] = (Named(type_name(self._name if pointer == "#" else _name_of(pointer)), pointer), schema)
        return self._found[pointer][0]

    def _follow(self, pointer: str) -> tuple[str, Any] | None:
        """Through references to references; None when it leads nowhere, in a circle, or out of the schema."""
        seen: set[str] = set()
        while pointer not in seen:
            seen.add(pointer)
            try:
                target = _resolve(self._root, pointer)
            except LookupError:
                return None
            if not (isinstance(target, dict) and isinstance(target.get("$ref"), str) and not (SHAPED - {"$ref"}) & target.keys()):
                return pointer, target
            pointer = target["$ref"]
        return None


def _resolve(root: Any, pointer: str) -> Any:
    if pointer != "#" and not pointer.startswith("#/"):
        raise LookupError(pointer)
    found = root
    for step in pointer.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and key.isdecimal():
            found = found[int(key)]
        elif isinstance(found, dict):
            found = found[key]
        else:
            raise LookupError(pointer)
    return found


def _name_of(pointer: str) -> str:
    steps = [unquote(step) for step in pointer.split("/")[1:]]
    words = [
        "Item" if step == "items" else step for step in steps if step not in ("properties", "$defs", "definitions", "schema")
    ]
    return words[-1] if len(words) == 1 else "".join(word[:1].upper() + word[1:] for word in words)


def _literal(value: Any) -> Type:
    match value:
        case str():
            return Word(quoted(value if len(value) <= LITERAL_MAX else value[:LITERAL_MAX] + "…"))
        case bool() | int() | None:
            return Word(json.dumps(value))
        case float():
            return Word(json.dumps(value) if value - value == 0 else "number")
        case list():
            return Many(UNKNOWN)
        case _:
            return Record(UNKNOWN)
