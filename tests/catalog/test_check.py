"""Arguments at the call: named, positional, and every mistake with its whole text."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from catalog import Tool, ToolProblem, tool, tool_from_schema
from catalog.check import bind
from catalog.nearest import nearest
from catalog.reflect import reflect


class Range(BaseModel):
    first: int
    last: int


class Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def must_be_even(cls, n: int) -> int:
        if n % 2:
            raise ValueError("an odd number does not fit")
        return n


@tool(effect="pure")
async def read(
    path: str,
    *,
    offset: Annotated[int, Field(ge=1)] = 1,
    limit: int = 2000,
    mode: Literal["slice", "indent"] = "slice",
    ranges: list[Range] | None = None,
) -> str:
    """Read lines."""
    return path


@tool(effect="pure")
async def save(data: dict[str, Any], name: str = "x") -> None:
    """Save an object."""


@tool(effect="pure")
async def halve(even: Even) -> int:
    """Halve."""
    return even.n // 2


@tool(effect="pure")
async def ping() -> None:
    """Ping."""


READ, SAVE, HALVE, PING = (reflect(one, pack="files") for one in (read, save, halve, ping))

WELL: list[tuple[Tool, list[Any], dict[str, Any]]] = [
    (READ, [{"path": "a"}], {"path": "a"}),
    (READ, ["a"], {"path": "a"}),
    (READ, ["a", 5, 10], {"path": "a", "offset": 5, "limit": 10}),
    (READ, ["a", {"limit": 3}], {"path": "a", "limit": 3}),
    (READ, ["a", 5, {"mode": "indent"}], {"path": "a", "offset": 5, "mode": "indent"}),
    (READ, [{"path": "a", "limit": None}], {"path": "a"}),
    (READ, ["a", None, 7], {"path": "a", "limit": 7}),
    (READ, [{"path": "a", "ranges": None}], {"path": "a", "ranges": None}),
    (READ, [{"path": "a", "ranges": [{"first": 1, "last": 2}]}], {"path": "a", "ranges": [{"first": 1, "last": 2}]}),
    (SAVE, [{"data": {"a": 1}}], {"data": {"a": 1}}),
    (SAVE, [{"a": 1}], {"data": {"a": 1}}),
    (SAVE, [{"a": 1}, "n"], {"data": {"a": 1}, "name": "n"}),
    (SAVE, [{"a": 1}, {"name": "n"}], {"data": {"a": 1}, "name": "n"}),
    (PING, [], {}),
    (PING, [{}], {}),
]


@pytest.mark.parametrize(("made", "args", "named"), WELL)
def test_arguments_come_by_name_or_in_order(made: Tool, args: list[Any], named: dict[str, Any]) -> None:
    assert bind(made, args).named == named


BADLY: list[tuple[Tool, list[Any], str]] = [
    (READ, [], "files.read: path is missing"),
    (READ, [{}], "files.read: path is missing"),
    (READ, [{"path": 5}], "files.read: path must be text, not the number 5"),
    (READ, [{"path": None}], "files.read: path must be text, not null"),
    (READ, ["a", "ten"], 'files.read: offset must be a whole number, not the text "ten"'),
    (READ, ["a", 1.5], "files.read: offset must be a whole number, not the number 1.5"),
    (READ, ["a", 0], "files.read: offset must be at least 1, not the number 0"),
    (READ, [{"path": "a", "lines": 3}], "files.read: there is no argument lines; known: path, offset, limit, mode, ranges"),
    (READ, [{"path": "a", "ofset": 3}], "files.read: there is no argument ofset; did you mean offset?"),
    (READ, [{"filePath": "a"}], "files.read: path is missing; there is no argument filePath; did you mean path?"),
    (READ, [{"path": "a", "mode": "whole"}], 'files.read: mode must be "slice" or "indent", not the text "whole"'),
    (READ, ["a", 1, 2, "slice", None, 9], "files.read: it takes 5 arguments, and 6 came"),
    (READ, [{"path": "a", "ranges": [{"first": 1}]}], "files.read: ranges[0].last is missing"),
    (READ, [{"path": "a", "ranges": [{"first": "1", "last": 2}]}], 'files.read: ranges[0].first must be a whole number, not the text "1"'),
    (READ, [{"path": "a", "ranges": "1-2"}], 'files.read: ranges must be a list or null, not the text "1-2"'),
    (READ, [["a"]], "files.read: path must be text, not a list of 1 item"),
    (SAVE, [True], "files.save: data must be an object, not true"),
    (PING, [1], "files.ping: it takes no arguments, and 1 came"),
    (HALVE, [{"even": {"n": 3}}], "files.halve: even.n: Value error, an odd number does not fit"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "args", "told"), BADLY)
def test_a_mistake_names_the_argument_what_came_and_what_was_expected(made: Tool, args: list[Any], told: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        bind(made, args)
    assert (caught.value.code, caught.value.message) == ("bad_arguments", told)
    assert caught.value.hint.startswith(f"write tools.{made.full_name}(")


def test_many_mistakes_are_told_together_and_counted() -> None:
    with pytest.raises(ToolProblem) as caught:
        bind(READ, [{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}])
    assert caught.value.message.endswith("; and 2 more") and len(caught.value.data["faults"]) == 7


async def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "note": {"type": "string"}, "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]}},
    "required": ["id"],
}


def test_a_tool_from_a_schema_is_judged_by_that_schema_alone() -> None:
    made = tool_from_schema("get-node", SCHEMA, echo, pack="api", doc="Get a node.")
    assert made.full_name == "api.get_node"
    assert bind(made, [{"id": 1, "more": True}]).named == {"id": 1, "more": True}  # the schema does not forbid it
    assert bind(made, [1, "hi"]).named == {"id": 1, "note": "hi"}
    for args, told in (
        ([{"id": 1, "note": None}], "api.get_node: note must be text, not null"),
        ([{"id": 1, "kind": "c"}], 'api.get_node: kind must be "a" or "b", not the text "c"'),
    ):
        with pytest.raises(ToolProblem) as caught:
            bind(made, args)
        assert caught.value.message == told


def test_the_nearest_name_forgives_case_and_underscores_and_few_letters() -> None:
    names = ["path", "offset", "max_results", "include_siblings"]
    assert [nearest(name, names) for name in ("maxResults", "ofset", "file_path", "zzz", "includeSiblings")] == [
        "max_results", "offset", "path", None, "include_siblings",
    ]  # fmt: skip


def test_a_schema_is_never_fetched_from_elsewhere() -> None:
    asked: list[str] = []

    class Tempting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    with HTTPServer(("127.0.0.1", 0), Tempting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/schema.json"
        made = tool_from_schema("x", {"type": "object", "properties": {"a": {"$ref": url}}}, echo, pack="api")
        with pytest.raises(ToolProblem) as caught:
            bind(made, [{"a": 1}])
        server.shutdown()
    assert (caught.value.code, asked) == ("bad_schema", [])
    assert caught.value.message == f"api.x cannot be called: its schema refers to '{url}', which is not in it"


def test_a_name_of_any_length_is_told_in_short() -> None:
    async def put(path: str) -> None:
        """Put."""

    with pytest.raises(ToolProblem) as caught:
        bind(reflect(put, pack="x"), [{"path": "a", "y" * 100_000: 1}])
    assert len(caught.value.message) < 300 and len(str(caught.value.data)) < 1_000
