"""A small API on loopback with its OpenAPI document, for tests: it says what it was asked."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.tool_packs.servers import Asked, Server, answer, serving

PET = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "tag": {"type": "string", "nullable": True},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
    },
}


def document(paths: dict[str, Any], *, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Pets", "version": "1"}, "paths": paths, **more}


def operation(id: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"operationId": id, "parameters": list(parameters), "responses": {"200": {"description": "good"}}, **more}


def parameter(name: str, place: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "schema": schema or {"type": "string"},
        **({"required": True} if place == "path" else {}),
        **more,
    }


def json_of(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


PETS = document(
    {
        "/pets": {
            "get": operation(
                "listPets", parameter("limit", "query", {"type": "integer", "maximum": 100}), summary="List pets",
                responses={"200": {"description": "pets", **json_of({"type": "array", "items": {"$ref": "#/components/schemas/Pet"}})}},
            ),
            "post": operation("addPet", summary="Add a pet", requestBody={"required": True, **json_of({"$ref": "#/components/schemas/Pet"})}),
        },
        "/pets/{petId}": {
            "parameters": [parameter("petId", "path", {"type": "integer"})],
            "get": operation("getPet", summary="One pet", description="By its id."),
            "delete": {"summary": "Remove a pet", "deprecated": True, "responses": {"204": {"description": "gone"}}},
        },
        "/pets/{petId}/photo": {
            "parameters": [parameter("petId", "path", {"type": "integer"})],
            "get": operation("getPhoto"),
            "post": operation("uploadPhoto", requestBody={"required": True, "content": {"multipart/form-data": {"schema": {}}}}),
        },
    },
    components={"schemas": {"Pet": PET}},
)  # fmt: skip


def told(asked: Asked) -> dict[str, Any]:
    return {"method": asked.method, "target": asked.target, "body": asked.body.decode("utf-8", "replace")}


@contextmanager
def api(routes: dict[str, Callable[[Asked], bytes]] | None = None) -> Iterator[Server]:
    """By method and path; anything else answers with what was asked."""

    def answering(asked: Asked, wire: socket.socket, server: Server) -> None:
        made = (routes or {}).get(f"{asked.method} {asked.target.partition('?')[0]}")
        wire.sendall(made(asked) if made is not None else as_json(told(asked)))

    with serving(answering) as server:
        yield server


def as_json(value: Any, status: int = 200, **headers: str) -> bytes:
    return answer(status, json.dumps(value).encode(), "application/json", **headers)
