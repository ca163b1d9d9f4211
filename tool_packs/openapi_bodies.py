"""The body of a request and the answer's schema, as a document describes them.

The fields of a body become arguments of their own when that is clear: it is a plain object, none of its fields is called as a
parameter is, and it is not an optional body with required fields. Otherwise it is one argument, `body`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tool_packs.openapi_document import Document
from tool_packs.openapi_parameters import NotOffered, is_json
from tool_packs.openapi_schema import Made, Schemas

Kind: TypeAlias = Literal["json", "form", "text"]

_KINDS: tuple[tuple[Kind, Callable[[str], bool]], ...] = (  # the first that an operation takes is sent
    ("json", is_json),
    ("form", "application/x-www-form-urlencoded".__eq__),
    ("text", "text/plain".__eq__),
)
_NOT_PLAIN = {"allOf", "anyOf", "$ref", "enum", "const", "minProperties", "maxProperties"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    kind: Kind
    media_type: str
    required: bool
    fields: tuple[str, ...] | None = None  # arguments that are its fields; None: it is the argument `body`
    deep: frozenset[str] = frozenset()  # fields of a form that are sent as name[key]


def body_of(document: Document, operation: Mapping[str, Any], schemas: Schemas) -> tuple[Body, Made] | None:
    """None: nothing is sent."""
    if "requestBody" not in operation:
        return None
    told = document.followed(operation["requestBody"])
    if told is None:
        raise NotOffered("its body leads nowhere")
    required = told.get("required") is True
    contents = document.members(told.get("content"))
    for kind, fits in _KINDS:
        for media_type, content in contents.items():
            if fits(media_type.partition(";")[0].strip().lower()):
                made = schemas.made(content.get("schema"))
                if isinstance(told.get("description"), str):
                    made.schema.setdefault("description", told["description"].strip()[:1_000])
                encodings = document.members(content.get("encoding"))
                deep = frozenset(name for name, one in encodings.items() if one.get("style") == "deepObject")
                return Body(kind=kind, media_type=_sent(media_type), required=required, deep=deep), made
    if not required:
        return None
    types = ", ".join(contents)[:120] or "of no type"
    raise NotOffered(f"its body is {types}, which is not sent; JSON, form-urlencoded and plain text are")


def spread(body: Body, made: Made, schemas: Schemas, taken: Collection[str]) -> Made | None:
    """The body with its fields in sight, when they can be arguments beside those that are `taken`."""
    schema, edges = made.schema, made.edges
    if "$ref" in schema and set(schema) <= {"$ref", "description"}:
        target = schemas.definitions[edges[0].target]
        schema, edges = {**target.schema, **{key: one for key, one in schema.items() if key != "$ref"}}, target.edges
    fields, required = schema.get("properties", {}), schema.get("required", ())
    plain = body.kind != "text" and schema.get("type", "object") == "object" and not _NOT_PLAIN & set(schema)
    closed = schema.get("additionalProperties", False) is False
    clear = not set(taken) & set(fields) and "__proto__" not in fields and set(required) <= set(fields)
    if not (fields and plain and closed and clear) or (required and not body.required):
        return None
    return Made(schema, edges, made.values)


def answer_of(document: Document, operation: Mapping[str, Any], schemas: Schemas) -> Made | None:
    """The JSON of the first 2xx answer that has some; None: not known."""
    answers = operation.get("responses")
    if not isinstance(answers, Mapping):
        return None
    codes = sorted(code for code in answers if re.fullmatch(r"2(\d\d|XX)", code))
    for code in codes or [code for code in answers if code == "default"]:
        told = document.followed(answers[code]) or {}
        for media_type, content in document.members(told.get("content")).items():
            if is_json(media_type) and "schema" in content:
                return schemas.made(content["schema"])
    return None


def _sent(media_type: str) -> str:
    """What a request says it carries. A document may hold anything there; a header may not."""
    plain = media_type.strip()
    return plain if plain.isascii() and plain.isprintable() and "*" not in plain else "application/json"
