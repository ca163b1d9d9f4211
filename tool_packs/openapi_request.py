"""From an operation and its arguments to the request that is sent. Pure: nothing is sent here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from catalog import ToolProblem
from tool_packs.addresses import URL_CHARS_MAX
from tool_packs.openapi_operations import Operation
from tool_packs.openapi_styles import as_form, in_cookie, in_header, in_path, in_query, text_of

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_LITERAL = "/:@!$&'()*+,;=-._~%"


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str  # path and query
    headers: Mapping[str, str]
    body: bytes | None = None


def request_of(operation: Operation, arguments: Mapping[str, Any], *, below: str = "") -> Request:
    """`below`: the path that the API's address has. ToolProblem `bad_argument` names what cannot be sent."""
    query: list[str] = []
    headers: dict[str, str] = {}
    cookies: list[str] = []
    filled: dict[str, str] = {}
    for one in operation.parameters:
        value = arguments.get(one.argument)
        if one.place == "path":
            filled[one.name] = in_path(one, value)
        elif value is None:
            continue  # null in a query or header is the same as none
        elif one.place == "query":
            query += in_query(one, value)
        elif one.place == "header":
            headers[one.name] = in_header(one, value)
        else:
            cookies.append(in_cookie(one, value))
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    route, _, fixed = operation.path.partition("?")
    path = _filled(route, filled)
    target = below + path + "".join(f"{'&' if at else '?'}{one}" for at, one in enumerate([fixed, *query] if fixed else query))
    if len(target) > URL_CHARS_MAX:
        hint = "give fewer or shorter values"
        raise ToolProblem("bad_argument", f"the URL would have {len(target):,} characters; {URL_CHARS_MAX:,} are sent", hint=hint)
    body = _body(operation, arguments)
    if body is not None and operation.body is not None:
        headers["Content-Type"] = operation.body.media_type
    return Request(operation.method, target, headers, body)


def _filled(route: str, values: Mapping[str, str]) -> str:
    parts = _VARIABLE.split(route)  # text, name, text, name, …
    path = "".join(values[part] if at % 2 else quote(part, safe=_LITERAL) for at, part in enumerate(parts))
    if any(step in (".", "..") for step in path.split("/")):  # two values can make one step
        raise ToolProblem("bad_argument", f"{path}: it would lead upwards", hint="give plain names or ids")
    return path


def _body(operation: Operation, arguments: Mapping[str, Any]) -> bytes | None:
    body = operation.body
    if body is None:
        return None
    if body.fields is None:
        if "body" not in arguments:
            return None
        value = arguments["body"]
    else:
        value = {name: arguments[name] for name in body.fields if name in arguments}
        if not value and not body.required:
            return None
    if body.kind == "text":
        return text_of(value).encode()
    if body.kind == "form":
        if not isinstance(value, Mapping):
            raise ToolProblem("bad_argument", "body: a form is an object of fields", hint="write body: { name: value }")
        return as_form(value, body.deep)
    return orjson.dumps(value)
