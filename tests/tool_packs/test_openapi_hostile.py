"""Documents that nobody should trust: in circles, too deep, too large, with names and addresses that mean something else."""

import gzip
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from catalog import BadPack, ToolProblem
from catalog.check import bind
from harness import Harness
from tests.harness.guards.rig import caught
from tests.tool_packs.pet_api import api, document, json_of, operation, parameter
from tests.tool_packs.servers import Asked, Server, answer, serving
from tool_packs.openapi_bridge import openapi
from tool_packs.openapi_document import checked, read_document
from tool_packs.openapi_operations import Operation, Refused, operations_of

pytestmark = pytest.mark.anyio
NOWHERE = "http://127.0.0.1:1"


def posts(schema: Any, **schemas: Any) -> dict[str, Any]:
    body = {"required": True, **json_of(schema)}
    answers = {"200": {"description": "", **json_of(schema)}}
    return document({"/a": {"post": operation("a", requestBody=body, responses=answers)}}, components={"schemas": schemas})


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def nested(word: str, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        made = {word: [made]} if word.endswith("Of") else {"type": "object", "properties": {"x": made}}
    return made


def doubling(word: str, count: int, step: Any = lambda name: ref(name)) -> dict[str, Any]:
    return {f"A{at}": {word: [step(f"A{at + 1}"), step(f"A{at + 1}")]} for at in range(count)} | {f"A{count}": {"type": "null"}}


def inside(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": ref(name)}}


DEEP: dict[str, Any] = {"body": "x"}
for _ in range(50):
    DEEP = {"body": {"x": DEEP["body"]}}

HOSTILE = {
    "itself": posts(ref("A"), A=ref("A")),
    "in a circle": posts(ref("A"), A=ref("B"), B=ref("C"), C=ref("A")),
    "all of itself": posts(ref("A"), A={"allOf": [ref("A")]}),
    "all of each other": posts(ref("A"), A={"allOf": [ref("B"), {"type": "object"}]}, B={"allOf": [ref("A")]}),
    "any of itself": posts(ref("A"), A={"anyOf": [ref("A"), {"type": "integer"}]}),
    "twice itself inside": posts(ref("A"), A={"anyOf": [inside("A"), inside("A")]}),
    "all twice itself inside": posts(ref("A"), A={"allOf": [inside("A"), inside("A")]}),
    "doubling choices": posts(ref("A0"), **doubling("anyOf", 60)),
    "doubling all": posts(ref("A0"), **doubling("allOf", 60)),
    "doubling inside": posts(ref("A0"), **doubling("oneOf", 60, inside)),
    "a long chain": posts(ref("A0"), **{f"A{at}": {"allOf": [ref(f"A{at + 1}")]} for at in range(2_000)}, A2000={}),
    "deep choices": posts(nested("anyOf", 80)),
    "deep objects": posts(nested("properties", 60)),
    "a slow pattern": posts({"type": "object", "properties": {"body": {"type": "string", "pattern": "^(a+)+$"}}}),
    "nonsense": posts({"type": 7, "required": "x", "enum": [], "minLength": -1, "maximum": "9", "items": 3, "properties": [], "allOf": {}}),
    "elsewhere": posts({"$ref": "https://evil.example/x.json"}),
    "nowhere": posts(ref("Gone")),
    "false": posts({"type": "object", "properties": {"body": {"not": {}, "additionalProperties": False}}}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
async def test_any_document_gives_a_sound_schema_and_the_judging_ends(name: str) -> None:
    async with openapi("x", HOSTILE[name], base_url=NOWHERE) as pack:
        (tool,) = pack.tools
    Draft202012Validator.check_schema(tool.input_schema)
    Draft202012Validator.check_schema(tool.output_schema or {})
    for arguments in (DEEP, {"body": "a" * 40 + "!"}, {"body": {"x": [DEEP] * 20}}, {"body": None}):
        try:
            bind(tool, [arguments])
        except ToolProblem as problem:
            assert problem.code == "bad_arguments"


async def test_a_tree_of_nodes_is_judged_at_every_depth() -> None:
    node = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer"}, "inner": {"type": "array", "items": ref("Node")}},
    }
    async with openapi("x", posts({"type": "array", "items": ref("Node")}, Node=node), base_url=NOWHERE) as pack:
        (tool,) = pack.tools
    with pytest.raises(ToolProblem, match=r"body\[0\].inner\[0\].inner\[0\].id must be a whole number"):
        bind(tool, [{"body": [{"id": 1, "inner": [{"id": 2, "inner": [{"id": "three"}]}]}]}])


async def test_inheritance_by_all_of_keeps_what_is_inherited() -> None:
    pet = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}, "friends": {"type": "array", "items": ref("Cat")}},
    }
    cat = {"allOf": [ref("Pet"), {"type": "object", "properties": {"lives": {"type": "integer"}}}]}
    async with openapi("x", posts(ref("Cat"), Pet=pet, Cat=cat), base_url=NOWHERE) as pack:
        (tool,) = pack.tools
    bind(tool, [{"body": {"kind": "cat", "lives": 9, "friends": [{"kind": "cat"}]}}])
    for wrong in ({"lives": 9}, {"kind": "cat", "lives": "many"}, {"kind": "cat", "friends": [{"kind": 1}]}):
        with pytest.raises(ToolProblem):
            bind(tool, [{"body": wrong}])


async def test_names_that_mean_something_to_javascript_are_names() -> None:
    spec = document(
        {
            "/a/{__proto__}": {"get": operation("__proto__", parameter("__proto__", "path"), parameter("constructor", "query"))},
            "/b": {"get": operation("then")},
            "/c": {"get": operation("constructor")},
            "/d": {"get": operation("then")},
            "/e": {"get": operation("x" * 5_000)},
            "/f": {"get": operation("☃")},
            "/g": {"post": operation("toJSON", requestBody={"required": True, **json_of({"type": "object", "properties": {"__proto__": {}}})})},
        }
    )  # fmt: skip
    with api() as server:
        async with Harness([openapi("x", spec, base_url=server.url, approval=[])]) as harness, harness.session() as session:
            names = [name.removeprefix("x.") for name in session.offer.tools]
            assert (names[:4], len(names[4]), names[5:]) == (
                ["proto", "_then", "_constructor", "_then_2"],
                96,
                ["tool", "_toJSON"],
            )
            assert list(session.offer.tools["x.proto"].properties) == ["proto_path", "constructor"]
            got = await session.run("return (await tools.x.proto({ proto_path: 'p', constructor: 'c' })).target")
            assert got.value == "/a/p?constructor=c"
            assert (await session.run("return (await tools.x._then()).target")).value == "/b"
            sent = await session.run('return (await tools.x._toJSON({ body: JSON.parse(\'{"__proto__": 1, "a": 2}\') })).body')
            assert json.loads(sent.value) == {"__proto__": 1, "a": 2}


@pytest.mark.parametrize(
    ("path", "told", "why"),
    [
        ("/../admin", operation("a"), "its path leads upwards"),
        ("/a/./b", operation("a"), "its path leads upwards"),
        ("//evil.example\\@x", operation("a"), "its path does not begin with /, or holds #, \\ or control characters"),
        ("http://evil.example/", operation("a"), "its path does not begin with /, or holds #, \\ or control characters"),
        ("/a\r\nX: y", operation("a"), "its path does not begin with /, or holds #, \\ or control characters"),
        ("/a/{id}", operation("a"), "its path has {id}, which is none of its parameters"),
        ("/a", operation("a", parameter("X: y\r\nZ", "header")), "its header 'X: y\\r\\nZ' has a name that cannot be sent"),
        ("/a", operation("a", {"$ref": "#/components/parameters/gone"}), "one of its parameters leads nowhere, or has no name, or a place that is not known"),
        ("/a", operation("a", parameter("x", "query", style="matrix")), "its parameter 'x' has the style 'matrix', which there is not in a query"),
    ],
)  # fmt: skip
def test_operations_that_would_go_astray_are_not_offered_and_say_why(path: str, told: dict[str, Any], why: str) -> None:
    assert operations_of(checked(document({path: {"get": told}}), "test")) == [Refused("a", why)]


def test_a_path_with_two_slashes_stays_a_path_of_the_same_host() -> None:
    (one,) = operations_of(checked(document({"//evil.example/x": {"get": operation("a")}}), "test"))
    assert isinstance(one, Operation)


def test_headers_of_the_connection_are_no_arguments() -> None:
    names = ("Host", "Content-Length", "Authorization", "Transfer-Encoding", "cookie", "Accept", "X-Good")
    (one,) = operations_of(
        checked(document({"/a": {"get": operation("a", *(parameter(name, "header") for name in names))}}), "test")
    )
    assert isinstance(one, Operation)
    assert list(one.input_schema["properties"]) == ["X-Good"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"openapi": "3.0.0", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 200 deep"),
        (b"openapi: 3.0.0\na: &a [x,x,x,x,x,x,x,x,x]\n"
         + b"\n".join(b"%c: &%c [%s]" % (98 + at, 98 + at, b",".join([b"*%c" % (97 + at)] * 9)) for at in range(9)),
         "more than 3,000,000 values; take the part of the document that is needed"),
        (b"openapi: 3.0.0\na: &a [*a]\n", "nested more than 200 deep"),
        (b"openapi: !!python/object/apply:os.system [echo]\n", "neither JSON nor YAML: could not determine a constructor"),
        (b"a: [\n", "neither JSON nor YAML: while parsing"),
    ],
)  # fmt: skip
def test_endless_documents_are_refused(text: bytes, said: str) -> None:
    with pytest.raises(BadPack) as caught_one:
        read_document(text, "test")
    assert str(caught_one.value).startswith(f"test: {said}")


async def test_a_server_that_packs_its_answer_small_unpacks_no_more_than_the_limit() -> None:
    packed = gzip.compress(b"[" + b" " * 50_000_000 + b"]")
    with api({"GET /a": lambda _: answer(200, packed, "application/json", Content_Encoding="gzip")}) as server:
        spec = document({"/a": {"get": operation("a")}})
        async with Harness([openapi("x", spec, base_url=server.url, max_bytes=1_000)]) as harness, harness.session() as session:
            assert (await session.run(caught("tools.x.a()"))).value[0] == "too_large"


async def test_an_answer_without_end_is_left_at_the_limit() -> None:
    def endless(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while not server.closing.is_set():
            wire.sendall(b"x" * 65_536)

    spec = document({"/a": {"get": operation("a")}})
    with serving(endless) as server:
        made = openapi("x", spec, base_url=server.url, max_bytes=1_000, timeout_seconds=5)
        async with Harness([made]) as harness, harness.session() as session:
            assert (await session.run(caught("tools.x.a()"))).value[0] == "too_large"


async def test_a_document_of_thousands_of_operations_opens_and_each_tool_carries_little(tmp_path: Path) -> None:
    schemas = {
        f"S{at}": {
            "type": "object",
            "properties": {f"f{n}": ref(f"S{(at * 3 + n) % 500}") for n in range(8)} | {"id": {"type": "string"}},
        }
        for at in range(500)
    }
    answers = [{"200": {"description": "", **json_of(ref(f"S{at}"))}} for at in range(500)]
    paths = {
        f"/t{at}/{{id}}": {"get": operation(f"t{at}/get", parameter("id", "path"), responses=answers[at % 500])}
        for at in range(2_500)
    }
    (tmp_path / "big.json").write_text(json.dumps(document(paths, components={"schemas": schemas})))
    async with openapi("big", "big.json", folder=tmp_path, base_url=NOWHERE) as pack:
        assert len(pack.tools) == 2_500
        assert max(len(json.dumps(tool.output_schema)) for tool in pack.tools[:50]) < 60_000
