"""What a schema says that no type can: bounds, formats, defaults and descriptions, as words for a JSDoc comment.

Every text from outside is made safe here: it can neither end the comment nor carry control characters.
"""

import json
from collections.abc import Iterator
from typing import Any

from catalog.typescript import safe

_TEXT_MAX = 4_000  # of one description
LITERAL_MAX = 100  # of one default, one value of an enumeration
_SAFE_INTEGER = 2**53 - 1
_DEPTH_MAX = 20
SHAPED = frozenset(
    {"properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "patternProperties"}
)
_RULES = ("not", "if", "then", "else", "dependentSchemas", "dependencies", "contains", "unevaluatedProperties")
_TAGS = ("default", "format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength",
         "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "deprecated")  # fmt: skip


def document_text(told: Any) -> str:
    if not isinstance(told, str):
        return ""
    text = safe(told).replace("*/", "*\\/").strip()
    return text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + "…"


def short_json(value: Any) -> str:
    if _deeper_than(value, _DEPTH_MAX):
        return "…"
    text = safe(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str))
    return text if len(text) <= LITERAL_MAX else text[:LITERAL_MAX] + "…"


def _deeper_than(value: Any, most: int) -> bool:
    """Level by level: the value may be deeper than the stack."""
    level = [value]
    for _ in range(most):
        level = [
            inner for one in level if isinstance(one, dict | list) for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def item_of(schema: dict[str, Any]) -> dict[str, Any]:
    items = schema.get("items")
    return items if isinstance(items, dict) else {}


def tags_of(schema: dict[str, Any], *, inside: bool = False) -> Iterator[str]:
    """What no type says, in JSDoc's way; also what holds for a nullable value that is not null, and for a list's items."""
    known = ("minItems", "maxItems") if "prefixItems" in schema else ()  # a tuple says it itself
    yield from (
        f"@{key}{_tag_text(key, schema[key])}" for key in _TAGS if key in schema and _says(key, schema[key]) and key not in known
    )
    kind = schema.get("type")
    if kind == "integer" or (isinstance(kind, list) and "integer" in kind and "number" not in kind):
        yield "@type integer"
    if inside:
        return
    others = [
        one for key in ("anyOf", "oneOf") for one in _listed(schema, key) if isinstance(one, dict) and one.get("type") != "null"
    ]
    needs = [" and ".join(map(str, _listed(one, "required"))) for one in others if not SHAPED & one.keys()]
    if needs and len(needs) == len(others) and all(needs):
        yield _one_line(f"@needs {' or '.join(needs)}")
    if len(others) == 1:
        yield from (tag for tag in tags_of(others[0], inside=True) if not tag.startswith("@default"))
    if told := [tag[1:] for tag in tags_of(item_of(schema), inside=True) if not tag.startswith("@default")]:
        yield f"@items {', '.join(told)}"
    if hidden := [key for key in _RULES if schema.get(key) not in (None, True, {})]:
        yield f"@note more rules are not shown: {', '.join(hidden)}"


def _says(key: str, value: Any) -> bool:
    """Is it worth a word? Generators write the largest safe integer as a bound of everything."""
    if key == "default" or value is None:
        return value is not None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return abs(value) != _SAFE_INTEGER and (value != 0 or key.endswith("imum"))
    return isinstance(value, str)


def _tag_text(key: str, value: Any) -> str:
    if value is True and key != "default":
        return ""
    return " " + _one_line(value if isinstance(value, str) and key != "default" else short_json(value))


def _one_line(text: str) -> str:
    return " ".join(safe(text[:_TEXT_MAX]).replace("*/", "*\\/").split())


def _listed(schema: dict[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
