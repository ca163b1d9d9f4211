"""Schemas from strangers: what is right stays, what is wrong costs no tool, and the note says what was done."""

from typing import Any

import pytest

from catalog import tool_from_schema
from catalog.mended import OPEN, mended

RIGHT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"type": "string", "pattern": "^x"}},
    "$defs": {"A": {"anyOf": [{"type": "null"}, {"$ref": "#"}, {"$ref": "#/$defs/A/anyOf/0"}]}},
}
OLD: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}}


def deep(times: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(times):
        schema = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"x": schema}}


async def _nothing(arguments: dict[str, Any]) -> None:
    """Never called."""


def test_a_right_schema_stays_as_it_is() -> None:
    assert mended(RIGHT).schema == RIGHT
    assert mended(RIGHT).note == ""


def test_what_an_older_dialect_accepts_is_judged_by_it() -> None:
    made = mended(OLD)
    assert made.note == "its input schema is judged as draft 4"
    tool = tool_from_schema("t", made.schema, _nothing, pack="p")
    assert tool.parse({"n": 1})
    with pytest.raises(ValueError, match="0 is less than or equal to the minimum of 0"):
        tool.parse({"n": 0})


def test_a_pattern_that_python_cannot_read_is_left_out_alone() -> None:
    made = mended({"type": "object", "properties": {"a": {"type": "string", "pattern": r"^\p{L}+$", "minLength": 2}}})
    assert made.note == r"its pattern '^\\p{L}+$' is not checked here"
    assert made.schema["properties"]["a"] == {"type": "string", "minLength": 2}


def test_a_property_called_pattern_is_no_pattern() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
    assert mended(schema).schema == schema
    assert mended(schema).note == ""


HOPELESS = [
    ("none", None, "the server gives no input schema"),
    ("a text", "string", "its input schema is not an object but str"),
    ("a list", [], "its input schema is not an object but list"),
    ("another type", {"type": "string"}, "its input schema is of type 'string', and arguments are one object"),
    ("no schema in any dialect", {"type": "object", "properties": 7}, "its input schema is no JSON Schema"),
    ("a reference outside", {"type": "object", "properties": {"a": {"$ref": "https://x.example/y"}}},
     "its input schema refers to 'https://x.example/y', which is not in it"),
    ("a reference to nothing", {"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}},
     "its input schema refers to '#/$defs/B', which is not in it"),
    ("too deep", deep(5_000), "its input schema is nested more than 64 deep"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "schema", "note"), HOPELESS, ids=[row[0] for row in HOPELESS])
def test_what_cannot_be_mended_becomes_an_open_object(what: str, schema: Any, note: str) -> None:
    made = mended(schema)
    assert made.schema == OPEN
    assert made.note == note
    assert tool_from_schema("t", made.schema, _nothing, pack="p").parse({"anything": 1}) == {"arguments": {"anything": 1}}
