"""Signatures and declarations, as text: what a model reads of a tool."""

from typing import Any, Literal

import pytest
import tree_sitter_typescript
from pydantic import BaseModel, ConfigDict, Field
from tree_sitter import Language, Parser

from catalog import Facts, Tool, pack
from catalog.declare import SIGNATURE_CHARS, declaration, declarations, signature

PARSER = Parser(Language(tree_sitter_typescript.language_typescript()))


def parses(text: str) -> bool:
    return not PARSER.parse(text.encode()).root_node.has_error


async def _nothing(**given: Any) -> None:
    """Never called."""


def made(schema: Any, *, output: Any = None, name: str = "go", doc: str = "", home: str = "p") -> Tool:
    """A tool with a schema that nobody has checked."""
    return Tool(
        pack=home, name=name, doc=doc, input_schema=schema, output_schema=output, order=(), facts=Facts(), function=_nothing,
        resource=None, parse=dict, dump=dict,
    )  # fmt: skip


def of_property(schema: Any) -> str:
    """The type of one optional argument, as the declaration has it."""
    text = declaration(made({"type": "object", "properties": {"x": schema}}))
    assert parses(text), text
    return text.partition("x?: ")[2].rpartition("}): Promise")[0].strip().removesuffix(";")


class Line(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True)

    text: str
    inner: list["Line"] = []


class Slice(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str = Field(description="below the root")
    lines: list[Line]
    more: bool = False


async def read(
    path: str, offset: int = 1, limit: int = 2000, mode: Literal["all", "head"] = "all", only: list[str] | None = None
) -> Slice:
    """Read a file.

    Lines are counted from 1.

    Args:
        path: Which file.
        offset: The first line.
    """
    raise NotImplementedError


async def delete(path: str) -> None:
    """Delete a file."""


async def find(where: tuple[int, str], weights: dict[str, float]) -> list[Slice]:
    """Find slices."""
    raise NotImplementedError


FILES = pack("files", [read, delete, find])


def test_a_declaration_is_typescript_with_docs_defaults_and_named_types() -> None:
    assert (
        declarations(FILES.tools)
        == """\
declare const tools: {
  files: {
    /**
     * Read a file.
     *
     * Lines are counted from 1.
     */
    read(args: {
      /** Which file. */
      path: string;
      /** The first line. @default 1 @type integer */
      offset?: number;
      /** @default 2000 @type integer */
      limit?: number;
      /** @default "all" */
      mode?: "all" | "head";
      only?: string[] | null;
    }): Promise<Slice>;
    /** Delete a file. */
    delete(args: { path: string }): Promise<null>;
    /** Find slices. */
    find(args: { where: [number, string]; weights: Record<string, number> }): Promise<Slice[]>;
  };
};

interface Slice {
  /** below the root */
  path: string;
  lines: Line[];
  more: boolean;
}

/** One line. */
interface Line { text: string; inner: Line[] }
"""
    )


def test_a_signature_shows_defaults_and_the_fields_of_the_result() -> None:
    assert [signature(tool) for tool in FILES.tools] == [
        'files.read({ path: string, offset?: number = 1, limit?: number = 2000, mode?: "all" | "head" = "all", only?: string[] | null }): '
        "Promise<{ path: string, lines: { text: string, inner: Line[] }[], more: boolean }>",
        "files.delete({ path: string }): Promise<null>",
        "files.find({ where: [number, string], weights: Record<string, number> }): "
        "Promise<{ path: string, lines: { text: string, inner: Line[] }[], more: boolean }[]>",
    ]


TYPES: list[tuple[str, Any, str]] = [
    ("nothing known", {}, "unknown"),
    ("true", True, "unknown"),
    ("false", False, "never"),
    ("not a schema", 7, "unknown"),
    ("an unknown type", {"type": "wat"}, "unknown"),
    ("a broken type", {"type": 5}, "unknown"),
    ("a broken enumeration", {"enum": "no"}, "unknown"),
    ("scalars", {"type": ["string", "boolean", "null"]}, "string | boolean | null"),
    ("null comes last", {"anyOf": [{"type": "null"}, {"type": "string"}]}, "string | null"),
    ("OpenAPI's nullable", {"type": "string", "nullable": True}, "string | null"),
    ("repeats are dropped", {"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
    ("unknown swallows", {"anyOf": [{"type": "string"}, {}]}, "unknown"),
    ("literals", {"enum": ["a", "it's \"b\"", -1, 1.5, True, None]}, '"a" | "it\'s \\"b\\"" | -1 | 1.5 | true | null'),
    ("both booleans", {"enum": [True, False]}, "boolean"),
    ("a constant", {"const": "only"}, '"only"'),
    ("constants that are no literals", {"enum": [[1], {"a": 1}]}, "unknown[] | Record<string, unknown>"),
    ("no number", {"const": float("nan")}, "number"),
    ("lists of choices", {"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
    ("a list of anything", {"type": "array"}, "unknown[]"),
    ("tuples", {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": False, "minItems": 2}, "[string, number]"),
    ("tuples with a tail", {"prefixItems": [{"type": "string"}], "items": {"type": "number"}, "minItems": 1}, "[string, ...number[]]"),
    ("tuples that may be short", {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": False, "minItems": 1}, "[string, (number)?]"),
    ("tuples of old drafts", {"type": "array", "items": [{"type": "string"}], "additionalItems": False, "minItems": 1}, "[string]"),
    ("an object of anything", {"type": "object"}, "Record<string, unknown>"),
    ("an empty object", {"type": "object", "additionalProperties": False}, "Record<string, never>"),
    ("records", {"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
    ("patterns as records", {"patternProperties": {"^x": {"type": "number"}}}, "Record<string, number>"),
    ("members, required first", {"properties": {"b": {"type": "string"}, "a": {"type": "number"}}, "required": ["a"]}, "{ a: number; b?: string }"),
    ("required but not described", {"type": "object", "required": ["z"]}, "{ z: unknown }"),
    ("open objects", {"properties": {"a": {"type": "string"}}, "additionalProperties": True}, "{ a?: string; [key: string]: unknown }"),
    (
        "members and a record",
        {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}},
        "{ a?: string } & Record<string, number>",
    ),
    (
        "intersections",
        {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "null"}}}]},
        "{ a: string } & { b?: null }",
    ),
    (
        "a union of objects",
        {"type": "object", "oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 2}}}]},
        "{ a: 1 } | { b?: 2 }",
    ),
    ("a union inside an intersection", {"type": "string", "anyOf": [{"const": "a"}, {"const": "b"}]}, 'string & ("a" | "b")'),
    ("odd names", {"properties": {"a b": {"type": "string"}, "": {"type": "string"}, "abstract": {}}}, '{ "a b"?: string; ""?: string; "abstract"?: unknown }'),
    ("a reference out of the schema", {"$ref": "https://example.com/x"}, "unknown"),
    ("a reference to nothing", {"$ref": "#/$defs/nope"}, "unknown"),
    ("a broken reference", {"$ref": 5}, "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "schema", "expected"), TYPES, ids=[row[0] for row in TYPES])
def test_types(what: str, schema: Any, expected: str) -> None:
    assert of_property(schema) == expected


TAGS: list[tuple[str, Any, str]] = [
    ("bounds", {"type": "integer", "minimum": 1, "maximum": 9}, "/** @minimum 1 @maximum 9 @type integer */"),
    ("a default and words", {"type": "string", "default": "x", "description": "What."}, '/** What. @default "x" */'),
    ("formats and patterns", {"type": "string", "format": "date", "pattern": "^2"}, "/** @format date @pattern ^2 */"),
    ("of what is not null", {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}], "default": None}, "/** @maxLength 3 */"),
    ("of items", {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True}, "/** @uniqueItems @items minimum 0, type integer */"),
    ("rules without a type", {"type": "string", "not": {"const": "x"}}, "/** @note more rules are not shown: not */"),
    ("either of two", {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}, "/** @needs a or b and c */"),
    ("the largest safe integer is no news", {"type": "number", "maximum": 2**53 - 1}, ""),
    ("the end of a comment", {"type": "string", "description": "ends */ here", "default": "*/"}, '/** ends *\\/ here @default "*\\/" */'),
    ("control characters", {"type": "string", "description": "a\x00b\u2028c\ud800d"}, "/** a b c d */"),
    ("several lines", {"type": "string", "description": "One.\r\nTwo."}, "/**\n       * One.\n       * Two.\n       */"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "schema", "expected"), TAGS, ids=[row[0] for row in TAGS])
def test_what_no_type_says_is_in_the_comment(what: str, schema: Any, expected: str) -> None:
    text = declaration(made({"type": "object", "properties": {"x": schema}}))
    assert parses(text)
    assert text.partition("args?: {")[2].partition("x?:")[0].strip() == expected


def test_references_become_named_types_wherever_they_point() -> None:
    schema = {
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/node"},
            "old": {"$ref": "#/definitions/Old%20One"},
            "again": {"$ref": "#/properties/shape"},
            "shape": {"type": "object", "properties": {"side": {"type": "number"}}},
            "short": {"$ref": "#/$defs/word"},
            "all": {"$ref": "#"},
            "round": {"$ref": "#/$defs/a"},
        },
        "$defs": {
            "node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
            "word": {"type": "string"},
            "a": {"$ref": "#/$defs/b"},
            "b": {"$ref": "#/$defs/a"},
        },
        "definitions": {"Old One": {"enum": [1, 2]}},
    }
    assert (
        declaration(made(schema))
        == """\
declare const tools: {
  p: {
    go(args?: GoArguments): Promise<unknown>;
  };
};

interface GoArguments {
  tree?: Node;
  old?: OldOne;
  again?: Shape;
  shape?: { side?: number };
  short?: string;
  all?: GoArguments;
  round?: unknown;
}

interface Node { children?: Node[] }

type OldOne = 1 | 2;

interface Shape { side?: number }
"""
    )


def test_equal_types_are_declared_once_and_different_ones_with_one_name_are_numbered() -> None:
    def using(name: str, item: Any) -> Tool:
        box = {"type": "object", "properties": {"item": {"$ref": "#/$defs/Item"}}}
        return made({"type": "object"}, output={"$ref": "#/$defs/Box", "$defs": {"Box": box, "Item": item}}, name=name)

    one, two = (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"b": {"type": "string"}}},
    )
    text = declarations([using("first", one), using("second", one), using("third", two)])
    assert text.partition("};\n};\n")[0].count("Promise<Box>") == 2
    assert (
        text.partition("\n};\n")[2]
        == """
interface Box { item?: Item }

interface Item { a?: string }

interface Box2 { item?: Item2 }

interface Item2 { b?: string }
"""
    )
    assert "third(): Promise<Box2>;" in text


def test_names_of_types_are_identifiers_that_shadow_nothing() -> None:
    def named(name: str) -> str:
        output = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, "$defs": {name: {"type": "object", "required": ["a"]}}}
        text = declaration(made({}, output=output))
        assert parses(text)
        return text.partition("interface ")[2].partition(" ")[0]

    assert [named(name) for name in ("Promise", "2d-point", "Page[Item]", "rich_text", "八", "string")] == [
        "Promise2", "_2dPoint", "PageItem", "RichText", "Type", "String2",
    ]  # fmt: skip


def test_reserved_words_and_packs_in_order() -> None:
    text = declarations([made({}, name="delete", home="new"), made({}, name="in", home="b"), made({}, name="get", home="new")])
    assert (
        text
        == """\
declare const tools: {
  new: {
    delete(): Promise<unknown>;
    get(): Promise<unknown>;
  };
  b: {
    in(): Promise<unknown>;
  };
};
"""
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {}}, "p.go(): Promise<unknown>"),
        ({}, "p.go(): Promise<unknown>"),
        ({"type": "object", "additionalProperties": False}, "p.go(): Promise<unknown>"),
        ({"type": "object", "additionalProperties": True}, "p.go(Record<string, unknown>): Promise<unknown>"),
        ({"type": "object", "properties": {"a": {"type": "string", "default": ""}}}, "p.go({ a?: string }): Promise<unknown>"),
        ({"type": "object", "properties": {"a": {"default": [1, 2]}}}, "p.go({ a?: unknown = [1, 2] }): Promise<unknown>"),
        (
            {
                "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/AB"}}},
                "$defs": {"AB": {"anyOf": [{"required": ["x"], "type": "object"}, {"required": ["y"], "type": "object"}]}},
            },
            "p.go({ a?: ({ x: unknown } | { y: unknown })[] }): Promise<unknown>",
        ),
        (
            {
                "properties": {
                    "a": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": ["string", "number"]}}}
                }
            },
            "p.go({ a?: Record<string, string | number>[] }): Promise<unknown>",
        ),
    ],
)
def test_short_signatures(schema: Any, expected: str) -> None:
    assert signature(made(schema)) == expected


def test_a_long_signature_keeps_required_arguments_and_cuts_in_a_sensible_place() -> None:
    choices = {"enum": [f"choice_{number}" for number in range(40)]}
    nested = {"type": "array", "items": {"type": "object", "properties": {f"member_{n}": {"type": "string"} for n in range(20)}}}
    properties = {f"optional_{number}": {"type": "string"} for number in range(30)} | {"kind": choices, "rows": nested}
    fields = {f"field_{number}": {"type": "string"} for number in range(30)}
    tool = made(
        {"type": "object", "properties": properties, "required": ["kind", "rows"]},
        output={"type": "object", "properties": fields, "required": list(fields)},
    )
    assert signature(tool) == (
        'p.go({ kind: "choice_0" | "choice_1" | "choice_2" | …, rows: { … }[], optional_0?: string, optional_1?: string, '
        "optional_2?: string, optional_3?: string, optional_4?: string, optional_5?: string, optional_6?: string, … }): "
        "Promise<{ field_0, field_1, field_2, field_3, field_4, field_5, … }>"
    )
    assert len(signature(tool)) <= SIGNATURE_CHARS


def _deep(wrap: Any, times: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(times):
        schema = wrap(schema)
    return schema


_VALUE: list[Any] = []
for _ in range(5_000):
    _VALUE = [_VALUE]

HOSTILE: list[tuple[str, Any]] = [
    ("deep lists", {"properties": {"x": _deep(lambda one: {"type": "array", "items": one}, 3_000)}}),
    ("deep objects", _deep(lambda one: {"type": "object", "properties": {"a": one}, "required": ["a"]}, 3_000)),
    ("deep choices", {"properties": {"x": _deep(lambda one: {"anyOf": [one, {"type": "null"}]}, 3_000)}}),
    ("a deep default", {"properties": {"x": {"default": _VALUE}}}),
    (
        "doubling references",
        {
            "properties": {"x": {"$ref": "#/$defs/D0"}},
            "$defs": {
                f"D{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/D{n + 1}"} for k in "ab"}} for n in range(3_000)
            },
        },
    ),
    ("wide", {"properties": {f"p{n}": {"type": "string", "description": "d" * 5_000} for n in range(20_000)}}),
    ("many values", {"properties": {"x": {"enum": [f"v{n}" for n in range(5_000)]}}}),
    (
        "lists of themselves",
        {"properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}},
    ),
    ("a long name", {"properties": {"n" * 100_000: {"type": "string"}}}),
]


@pytest.mark.parametrize(("what", "schema"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_schemas_are_bounded_and_still_typescript(what: str, schema: Any) -> None:
    tool = made(schema, output=schema)
    assert len(signature(tool)) <= SIGNATURE_CHARS
    assert len(declaration(tool)) < 400_000
    assert parses(declaration(tool))


def test_what_was_too_much_says_so() -> None:
    wide = declaration(made(dict(HOSTILE)["wide"]))
    assert "/** @note too large to show whole */" in wide
    assert "/* and 17,001 more */" in wide
    values = declaration(made(dict(HOSTILE)["many values"]))
    assert '| "v99" | string /* or one of 4,900 more values */;' in values


def test_the_same_tool_gives_the_same_text() -> None:
    assert declarations(FILES.tools) == declarations(pack("files", [read, delete, find]).tools)
