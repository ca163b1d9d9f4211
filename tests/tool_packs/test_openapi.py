"""An API behind an OpenAPI document, called from scripts: real sessions, a real server on loopback."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from catalog import BadPack
from harness import Harness, Session
from harness.approval import Approver, Asking
from tests.harness.guards.rig import caught, together
from tests.tool_packs.pet_api import PETS, api, as_json, document, json_of, operation, parameter
from tests.tool_packs.servers import Asked, Server, answer
from tool_packs.openapi_bridge import connect, openapi

pytestmark = pytest.mark.anyio


async def yes(tool: str, arguments: Mapping[str, Any]) -> bool:
    return True


@asynccontextmanager
async def talking(source: Any, server: Server, *, approver: Approver | None = None, **settings: Any) -> AsyncIterator[Session]:
    made = openapi("pets", source, **{"base_url": f"{server.url}/v1", **settings})
    async with Harness([made], approver=approver or Asking(yes)) as harness, harness.session() as session:
        yield session


async def asked(session: Session, call: str) -> Any:
    outcome = await session.run(f"return await tools.pets.{call}")
    assert outcome.ok, outcome.text
    return outcome.value


async def test_operations_are_tools_by_their_ids_or_method_and_path() -> None:
    with api() as server:
        async with talking(PETS, server) as session:
            assert list(session.offer.tools) == [
                "pets.listPets", "pets.addPet", "pets.getPet", "pets.delete_pets_petId", "pets.getPhoto",
            ]  # fmt: skip
            assert await asked(session, "listPets({ limit: 3 })") == {"method": "GET", "target": "/v1/pets?limit=3", "body": ""}
            assert await asked(session, "getPet(7)") == {"method": "GET", "target": "/v1/pets/7", "body": ""}
            assert await asked(session, "delete_pets_petId(7)") == {"method": "DELETE", "target": "/v1/pets/7", "body": ""}
            added = await asked(session, "addPet({ name: 'Rex', tag: null })")
    assert added == {"method": "POST", "target": "/v1/pets", "body": '{"name":"Rex","tag":null}'}
    assert server.asked[-1].headers["content-type"] == "application/json"


async def test_what_a_tool_says_of_itself_is_what_the_document_says() -> None:
    with api() as server:
        async with talking(PETS, server) as session:
            tools = session.offer.tools
            pack = session.offer.homes["pets.getPet"]
    assert pack.doc == (
        f"Pets, at {server.url}/v1.\n\nNot offered:\n"
        "- uploadPhoto: its body is multipart/form-data, which is not sent; JSON, form-urlencoded and plain text are"
    )
    assert tools["pets.getPet"].doc == "One pet.\n\nBy its id."
    assert tools["pets.delete_pets_petId"].doc == "Remove a pet.\n\nDeprecated: the API may drop it."
    pet = {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "tag": {"type": ["string", "null"]}, "children": {"type": "array", "items": {"$ref": "#/$defs/Pet"}},
    }}  # fmt: skip
    assert tools["pets.addPet"].input_schema == {**pet, "additionalProperties": False, "$defs": {"Pet": pet}}
    assert tools["pets.listPets"].output_schema == {
        "type": "array",
        "items": {"$ref": "#/$defs/Pet"},
        "$defs": {"Pet": {**pet, "required": ["id", "name"], "properties": {"id": {"type": "integer"}, **pet["properties"]}}},
    }


async def test_reading_runs_unasked_and_everything_else_asks() -> None:
    with api() as server:
        async with talking(PETS, server, approver=Asking(_no)) as session:
            assert await asked(session, "getPet(1)")
            name, message, _ = (await session.run(caught("tools.pets.delete_pets_petId(1)"))).value
            effects = {name: tool.effects({"petId": 1}) for name, tool in session.offer.tools.items()}
    assert (name, [one.method for one in server.asked]) == ("denied", ["GET"])
    assert "pets.delete_pets_petId" in message
    keys = ("api:pets", f"url:{server.url}/v1/pets/1")
    assert (effects["pets.getPet"].effect, effects["pets.getPet"].reads, effects["pets.getPet"].writes) == ("reads", keys, ())
    assert (effects["pets.delete_pets_petId"].effect, effects["pets.delete_pets_petId"].writes) == ("external", keys)


async def _no(tool: str, arguments: Mapping[str, Any]) -> bool:
    return False


async def test_settings_say_what_only_reads_and_what_asks() -> None:
    with api() as server:
        settings = {"effects": {"add*": "reads"}, "approval": ["getPet"]}
        async with talking(PETS, server, approver=Asking(_no), **settings) as session:
            assert (await asked(session, "addPet({ name: 'Rex' })"))["method"] == "POST"
            assert (await asked(session, "delete_pets_petId(1)"))["method"] == "DELETE"
            assert (await session.run(caught("tools.pets.getPet(1)"))).value[0] == "denied"


async def test_only_the_operations_that_are_wanted_are_offered() -> None:
    tagged = document({"/a": {"get": {**operation("a"), "tags": ["x"]}}, "/b": {"get": operation("b")}})
    with api() as server:
        async with talking(PETS, server, tools=["*Pet", "*Pets"], without=["add*"]) as session:
            assert list(session.offer.tools) == ["pets.listPets", "pets.getPet"]
        async with talking(tagged, server, tags=["x"]) as session:
            assert list(session.offer.tools) == ["pets.a"]


async def test_a_failed_call_says_the_status_the_reason_and_the_next_step() -> None:
    routes = {
        "GET /v1/pets/7": lambda _: as_json({"error": "no pet 7"}, 404),
        "GET /v1/pets/8": lambda _: answer(429, b"slow down", "text/plain", Retry_After="30"),
        "GET /v1/pets/9": lambda _: answer(500, b"x" * 100_000, "text/plain"),
    }
    with api(routes) as server:
        async with talking(PETS, server) as session:
            script = (
                "let e = {}; try { await tools.pets.getPet(7) } catch (x) { e = x }\nreturn [e.name, e.message, e.hint, e.data]"
            )
            assert (await session.run(script)).value == [
                "http_404",
                f'GET {server.url}/v1/pets/7 answered 404 Not Found: {{"error": "no pet 7"}}',
                "check the id or name; list what there is first",
                {"status": 404, "body": {"error": "no pet 7"}},
            ]
            assert (await session.run(caught("tools.pets.getPet(8)"))).value == [
                "http_429",
                f"GET {server.url}/v1/pets/8 answered 429 Too Many Requests: slow down",
                "the server asks for fewer calls; wait before the next one (it says: after 30 s)",
            ]
            failed = (
                await session.run("try { await tools.pets.getPet(9) } catch (e) { return [e.name, e.data.body.length] }")
            ).value
    assert failed == ["http_500", 16_384]


async def test_answers_are_json_text_nothing_or_a_handle() -> None:
    photo = bytes(range(256))
    routes = {
        "GET /v1/pets/1": lambda _: answer(200, "<pet>ü</pet>".encode("latin-1"), "application/xml; charset=latin-1"),
        "GET /v1/pets/2": lambda _: answer(204, b"", ""),
        "GET /v1/pets/3": lambda _: answer(200, b'{"a": 1', "application/json"),
        "GET /v1/pets/4/photo": lambda _: answer(200, photo, "image/png"),
        "GET /v1/pets/5": lambda _: answer(200, b'{"a": 1}', "application/hal+json; charset=utf-8"),
    }
    with api(routes) as server:
        async with talking(PETS, server) as session:
            assert await asked(session, "getPet(1)") == "<pet>ü</pet>"
            assert await asked(session, "getPet(2)") is None
            assert (await session.run(caught("tools.pets.getPet(3)"))).value[0] == "bad_answer"
            assert await asked(session, "getPet(5)") == {"a": 1}
            kept = await asked(session, "getPhoto(4)")
            assert kept == {"media_type": "image/png", "bytes": 256, "handle": kept["handle"]}
            assert session.recall(kept["handle"])["media_type"] == "image/png"


async def test_an_answer_beyond_the_limit_is_refused_with_the_way_to_get_less() -> None:
    with api({"GET /v1/pets": lambda _: as_json(["x" * 1000])}) as server:
        async with talking(PETS, server, max_bytes=500) as session:
            name, message, hint = (await session.run(caught("tools.pets.listPets()"))).value
    assert (name, message) == ("too_large", f"GET {server.url}/v1/pets gave more than 500 bytes, the most that is taken")
    assert hint == "ask for less, by a filter or a page size, or ask a person to raise max_bytes for this API"


async def test_a_call_that_is_not_answered_in_time_says_that_it_may_have_acted() -> None:
    def silent(asked: Asked) -> bytes:
        server.closing.wait(10)
        return b""

    with api({"POST /v1/pets": silent, "GET /v1/pets": silent}) as server:
        async with talking(PETS, server, timeout_seconds=0.05) as session:
            added = (await session.run(caught("tools.pets.addPet({ name: 'Rex' })"))).value
            listed = (await session.run(caught("tools.pets.listPets()"))).value
        server.closing.set()
    assert added == [
        "timed_out",
        f"POST {server.url}/v1/pets was not answered in full within 0.05 s",
        "it may have taken effect all the same: look before you try again",
    ]
    assert (listed[0], listed[2]) == ("timed_out", "try again later")


async def test_calls_run_at_once_and_one_failure_does_not_lose_the_others() -> None:
    def waits(asked: Asked) -> bytes:
        while sum(one.method == "GET" for one in server.asked) < 3 and not server.closing.wait(0.01):
            pass
        return as_json({}, 404) if asked.target.endswith("2") else as_json(asked.target)

    with api({f"GET /v1/pets/{number}": waits for number in (1, 2, 3)}) as server:
        async with talking(PETS, server) as session:
            script = together(*(f"tools.pets.getPet({number})" for number in (1, 2, 3)))
            assert (await session.run(script)).value == ["/v1/pets/1", "http_404", "/v1/pets/3"]


# ------------------------------------------------------------ credentials


async def test_credentials_are_sent_and_hidden_in_what_comes_back() -> None:
    keyed = document(
        {"/a": {"get": operation("a", parameter("api_key", "query"), parameter("X-Token", "header"), parameter("q", "query"))}},
        components={"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}},
    )

    def repeats(asked: Asked) -> bytes:
        return as_json({"target": asked.target, "token": asked.headers["x-token"], "auth": asked.headers["authorization"]})

    settings = {"bearer": "${TOKEN}", "key": "key-123456", "headers": {"X-Token": "tok-${NUMBER}"}}
    variables = {"TOKEN": "bearer-abcdef", "NUMBER": "987654"}
    with api({"GET /a": repeats}) as server:
        told_so = {"document": keyed, "base_url": server.url, **settings}
        made = connect("pets", told_so, root=Path(), folder=Path(), environment=variables)
        async with Harness([made]) as harness, harness.session() as session:
            assert list(session.offer.tools["pets.a"].properties) == ["q"]
            value = await asked(session, "a({ q: 'x' })")
    assert value == {"target": "/a?q=x&api_key=[hidden]", "token": "[hidden]", "auth": "Bearer [hidden]"}
    assert server.asked[0].target == "/a?q=x&api_key=key-123456"
    assert (server.asked[0].headers["authorization"], server.asked[0].headers["x-token"]) == (
        "Bearer bearer-abcdef",
        "tok-987654",
    )


async def test_a_redirect_is_followed_on_the_same_host_and_refused_to_another_with_the_credentials_kept() -> None:
    with api() as other:
        routes = {
            "GET /v1/pets/1": lambda _: answer(302, b"", "", Location="/v1/pets/2"),
            "GET /v1/pets/3": lambda _: answer(302, b"", "", Location=f"{other.url}/steal"),
            "DELETE /v1/pets/1": lambda _: answer(307, b"", "", Location="/v1/pets/2"),
            "GET /v1/pets/5": lambda _: answer(302, b"", "", Location="/v1/pets/5"),
        }
        with api(routes) as server:
            async with talking(PETS, server, bearer="secret-token") as session:
                assert (await asked(session, "getPet(1)"))["target"] == "/v1/pets/2"
                names = (
                    await session.run(
                        together(*(f"tools.pets.{one}" for one in ("getPet(3)", "getPet(5)", "delete_pets_petId(1)")))
                    )
                ).value
    assert names == ["redirect_refused", "too_many_redirects", "redirect_refused"]
    assert other.asked == []


async def test_credentials_need_a_base_url_that_a_person_gave() -> None:
    told_so = document(
        {"/a": {"get": operation("a")}}, servers=[{"url": "https://evil.example/{v}", "variables": {"v": {"default": "v2"}}}]
    )
    with pytest.raises(BadPack) as caught_one:
        async with openapi("pets", told_so, bearer="secret"):
            pass
    assert str(caught_one.value) == (
        "openapi('pets'): set base_url, so that the credentials go where you mean; the document says \"https://evil.example/v2\""
    )


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}", "http://localhost:{port}", "http://169.254.169.254", "http://[::1]:{port}"]
)
async def test_a_server_that_only_the_document_names_may_not_be_a_private_address(url: str) -> None:
    with api() as server:
        told_so = document({"/a": {"get": operation("a")}}, servers=[{"url": url.format(port=server.port)}])
        async with Harness([openapi("pets", told_so)]) as harness, harness.session() as session:
            name, _, hint = (await session.run(caught("tools.pets.a()"))).value
    assert (name, hint) == ("address_refused", "ask a person to set base_url for this API, if that address is meant")
    assert server.asked == []


# ------------------------------------------------------------ where a document comes from


async def test_a_document_is_read_from_a_file_as_yaml_or_json_or_fetched(tmp_path: Path) -> None:
    text = """
openapi: 3.1.0
info: {title: Times, version: '1'}
paths:
  /at/{day}:
    get:
      operationId: at
      parameters:
        - {name: day, in: path, required: true, schema: {type: string, enum: [2024-01-01, 2024-01-02]}}
      responses:
        200: {description: fine, content: {application/json: {schema: {type: [object, 'null']}}}}
"""
    (tmp_path / "times.yaml").write_text(text)
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    with api({"GET /doc/pets.json": lambda _: as_json({**PETS, "servers": [{"url": "/v9"}]})}) as server:
        async with openapi("times", "times.yaml", folder=tmp_path, base_url=server.url) as pack:
            (tool,) = pack.tools
            assert tool.properties == {"day": {"type": "string", "enum": ["2024-01-01", "2024-01-02"]}}
            assert tool.output_schema == {"type": ["object", "null"]}
        async with openapi("pets", tmp_path / "pets.json", base_url=server.url) as pack:
            assert len(pack.tools) == 5
        async with openapi("pets", f"{server.url}/doc/pets.json") as pack:
            assert pack.source == f"openapi {server.url}/v9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"swagger": "2.0"}', "this is Swagger 2.0; convert it to OpenAPI 3 first, such as with swagger2openapi"),
        ('{"openapi": "4.0"}', 'it is for OpenAPI 4.0; documents with openapi: "3.0.x" or "3.1.x" are read'),
        ('{"info": {}}', 'it does not say its version; documents with openapi: "3.0.x" or "3.1.x" are read'),
        ('["x"]', "an OpenAPI document is one object, and this is list"),
        ('{"openapi": "3.0.0", "paths": []}', "paths is not an object; give a document that has operations"),
        ('{"openapi": ', "no JSON: unexpected end of data: line 1 column 13 (char 12)"),
    ],
)
async def test_what_is_no_document_is_refused_with_what_would_be_one(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "doc.json").write_text(text)
    with pytest.raises(BadPack) as caught_one:
        async with openapi("pets", "doc.json", folder=tmp_path, base_url="http://127.0.0.1:1"):
            pass
    assert str(caught_one.value) == f"openapi('pets') doc.json: {said}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "[openapi.pets] document: Field required"),
        ({"document": {}, "tolls": []}, "[openapi.pets] tolls: there is no such setting; there are document, base_url, headers"),
        ({"document": {}, "bearer": "${GONE}"}, "[openapi.pets] bearer: the variable GONE is not set; set it, or write the value itself"),
        ({"document": {}, "headers": {"X-A": "a\r\nB: c"}}, "[openapi.pets]: the header 'X-A' has a name or a value that cannot be sent"),
        ({"document": {}, "headers": {"X A": "a"}}, "[openapi.pets]: the header 'X A' has a name or a value that cannot be sent"),
    ],
)  # fmt: skip
def test_wrong_settings_are_told_before_anything_is_read(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPack) as caught_one:
        connect("pets", settings, root=Path(), folder=Path(), environment={})
    assert str(caught_one.value).startswith(said)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tools": ["serach*"]}, "openapi('pets') tools: 'serach*' fits none of the operations: listPets, addPet, getPet, delete_pets_petId,"),
        ({"effects": {"x": "reads"}}, "openapi('pets') effects: 'x' fits none of the operations: listPets"),
        ({"base_url": "ftp://x/"}, "openapi('pets') base_url: 'ftp://x/': ftp: is not fetched; only http and https are"),
        ({"base_url": "http://x/?a=1"}, "openapi('pets') base_url: http://x/?a=1 has a query; give the address without it"),
        ({"base_url": ""}, "openapi('pets'): the document does not say where the API is; set base_url = "),
        ({"key": "secret"}, "openapi('pets') key: the document names none; set key_name = "),
        ({"without": ["*"]}, "openapi('pets'): none of the document's 6 operations is offered; check tools, without and tags"),
    ],
)  # fmt: skip
async def test_settings_that_do_not_fit_the_document_are_told(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPack) as caught_one:
        async with openapi("pets", PETS, **{"base_url": "http://127.0.0.1:1", **settings}):
            pass
    assert str(caught_one.value).startswith(said)


async def test_a_document_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    with api({"GET /moved": lambda _: answer(302, b"", "", Location="http://127.0.0.2:1/x")}) as server:
        for where, said in {
            "gone.json": "No such file or directory; give the path of an OpenAPI document, or its URL",
            f"{server.url}/moved": "download it and give its path, or check the URL",
        }.items():
            with pytest.raises(BadPack, match=said):
                async with openapi("pets", where, folder=tmp_path):
                    pass


async def test_a_body_stays_one_argument_where_its_fields_would_not_be_clear() -> None:
    fields = {"type": "object", "properties": {"id": {"type": "integer"}, "q": {"type": "string"}}, "required": ["q"]}
    spec = document(
        {
            "/clash/{id}": {"put": operation("clash", parameter("id", "path"), requestBody={"required": True, **json_of(fields)})},
            "/optional": {"post": operation("optional", requestBody=json_of(fields))},
            "/open": {"post": operation("open", requestBody={"required": True, **json_of({**fields, "additionalProperties": True})})},
            "/list": {"post": operation("list", requestBody={"required": True, **json_of({"type": "array", "items": {"type": "integer"}})})},
            "/body": {"post": operation("both", parameter("body", "query"), requestBody={"required": True, **json_of({"type": "string"})})},
            "/same/{id}": {"get": operation("same", parameter("id", "path"), parameter("id", "query"), parameter("id", "header"))},
            "/text": {"post": operation("text", requestBody={"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}})},
        }
    )  # fmt: skip
    with api() as server:
        async with talking(spec, server) as session:
            assert {name: list(tool.properties) for name, tool in session.offer.tools.items()} == {
                "pets.clash": ["id", "body"], "pets.optional": ["body"], "pets.open": ["body"], "pets.list": ["body"],
                "pets.both": ["body_query", "body"], "pets.same": ["id", "id_query", "id_header"], "pets.text": ["body"],
            }  # fmt: skip
            assert (await asked(session, "clash({ id: 'a', body: { id: 1, q: 'x' } })"))["body"] == '{"id":1,"q":"x"}'
            assert (await asked(session, "optional()"))["body"] == ""
            assert (await asked(session, "list({ body: [1, 2] })"))["body"] == "[1,2]"
            assert await asked(session, "both({ body: 'b', body_query: 'q' })") == {
                "method": "POST", "target": "/v1/body?body=q", "body": '"b"',
            }  # fmt: skip
            assert (await asked(session, "same({ id: 'a', id_query: 'b', id_header: 'c' })"))["target"] == "/v1/same/a?id=b"
            assert server.asked[-1].headers["id"] == "c"
            assert (await asked(session, "text({ body: 'plain' })"))["body"] == "plain"
            assert server.asked[-1].headers["content-type"] == "text/plain"


async def test_turnscript_toml_names_an_api_and_the_harness_offers_it(tmp_path: Path) -> None:
    with api() as server:
        configured(tmp_path, server)
        environment = {"PET_TOKEN": "token-of-the-test", "HOME": str(tmp_path)}
        harness = Harness.from_config(tmp_path, environment=environment, store=str(tmp_path / "kept"), profile="none")
        async with harness, harness.session() as session:
            value = await session.run("return await tools.petstore.listPets({ limit: 2 })")
    assert value.value == {"method": "GET", "target": "/v1/pets?limit=2", "body": ""}
    assert server.asked[0].headers["authorization"] == "Bearer token-of-the-test"


def test_the_command_line_runs_a_script_with_the_api_of_turnscript_toml(tmp_path: Path) -> None:
    with api() as server:
        configured(tmp_path, server)
        (tmp_path / "look.js").write_text("return (await tools.petstore.listPets({ limit: 2 })).target")
        run = [sys.executable, "-c", "from harness.cli import app; app()", "run", "look.js", "--profile", "none", "--no-record"]
        variables = {"PET_TOKEN": "token-of-the-test", "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, timeout=60, env=variables)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "/v1/pets?limit=2", "")


def configured(folder: Path, server: Server) -> None:
    (folder / "petstore.json").write_text(json.dumps(PETS))
    text = f'[openapi.petstore]\ndocument = "petstore.json"\nbase_url = "{server.url}/v1"\nbearer = "${{PET_TOKEN}}"\n'
    (folder / "turnscript.toml").write_text(text)
