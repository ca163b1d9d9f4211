"""Arguments as text in a request: the styles of OpenAPI for paths, queries, headers and cookies, and forms.

Every value is percent-encoded by what may stand where it goes, so that no value can become another part of the request.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import orjson

from catalog import ToolProblem
from tool_packs.openapi_parameters import Parameter

_RESERVED = ":/?@!$'()*,;[]"  # what allowReserved leaves as it is; & = + # would end the value
_DEEP_MAX = 16
_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


def in_path(parameter: Parameter, value: Any) -> str:
    """`simple`, `label` or `matrix`. A value that could lead to another path is refused."""
    texts = [text_of(one) for one in _leaves(value)]
    if not value and value != 0 and value is not False:
        raise _bad(parameter, "it is empty, and the path would be another one", "give a value")
    if any(step in (".", "..") for text in texts for step in re.split(r"[/\\]", text)):
        raise _bad(parameter, "it holds . or .. as a step of a path, which would lead elsewhere", "give the plain name or id")
    name = quote(parameter.name, safe="")
    if parameter.as_json:
        return encoded(_json(value))
    lead, between = {"simple": ("", ","), "label": (".", "."), "matrix": (";", ";")}[parameter.style]
    if isinstance(value, Mapping):
        if parameter.explode:
            return lead + (between if lead else ",").join(f"{encoded(key)}={_shown(one)}" for key, one in value.items())
        flat = ",".join(f"{encoded(key)},{_shown(one)}" for key, one in value.items())
        return f";{name}={flat}" if parameter.style == "matrix" else lead + flat
    if parameter.style == "matrix":
        values = value if isinstance(value, list) else [value]
        return "".join(f";{name}={_shown(one)}" for one in values) if parameter.explode else f";{name}={_listed(values)}"
    if isinstance(value, list):
        return lead + (between if parameter.explode else ",").join(_shown(one) for one in value)
    return lead + _shown(value)


def in_query(parameter: Parameter, value: Any) -> Iterator[str]:
    """Pieces `name=value`, encoded."""
    safe = _RESERVED if parameter.reserved else ""
    name = encoded(parameter.name, "[]")
    if parameter.as_json:
        yield f"{name}={encoded(_json(value))}"
    elif parameter.style == "deepObject" and isinstance(value, Mapping | list):
        yield from _deep(name, value, safe, 0)
    elif isinstance(value, Mapping):
        if parameter.explode:
            yield from (f"{encoded(key)}={_shown(one, safe)}" for key, one in value.items() if one is not None)
        else:
            between = _SEPARATORS.get(parameter.style, ",")
            yield f"{name}=" + between.join(f"{encoded(key)}{between}{_shown(one, safe)}" for key, one in value.items())
    elif isinstance(value, list):
        if parameter.explode:
            yield from (f"{name}={_shown(one, safe)}" for one in value)
        elif value:
            yield f"{name}=" + _SEPARATORS.get(parameter.style, ",").join(_shown(one, safe) for one in value)
    else:
        yield f"{name}={_shown(value, safe)}"


def in_header(parameter: Parameter, value: Any) -> str:
    text = _json(value) if parameter.as_json else _simple(value, parameter.explode)
    if any(ord(char) < 32 and char != "\t" for char in text) or "\x7f" in text:
        raise _bad(parameter, "it holds a line break or another control character, which a header cannot", "remove it")
    try:
        return text.encode("latin-1").decode("latin-1").strip()
    except UnicodeEncodeError:
        raise _bad(parameter, "it holds characters that a header cannot", "give plain letters, or encode it") from None


def in_cookie(parameter: Parameter, value: Any) -> str:
    if parameter.as_json:
        return f"{parameter.name}={encoded(_json(value))}"
    if isinstance(value, Mapping) and parameter.explode:
        return "; ".join(f"{encoded(key)}={_shown(one)}" for key, one in value.items())
    return f"{parameter.name}={encoded(_simple(value, explode=False), ',')}"


def as_form(fields: Mapping[str, Any], deep: frozenset[str]) -> bytes:
    """Form-urlencoded: lists as repeated fields, objects as JSON, or as name[key] where the document says so."""
    pieces: list[str] = []
    for name, value in fields.items():
        if value is None:
            continue
        if name in deep and isinstance(value, Mapping | list):
            pieces += _deep(encoded(name), value, "", 0)
        elif isinstance(value, list):
            pieces += (f"{encoded(name)}={_shown(one)}" for one in value)
        else:
            pieces.append(f"{encoded(name)}={_shown(value)}")
    return "&".join(pieces).encode()


def text_of(value: Any) -> str:
    """A scalar as it is, a number as JSON has it; anything nested as JSON."""
    return value if isinstance(value, str) else "" if value is None else _json(value)


def _simple(value: Any, explode: bool) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}{'=' if explode else ','}{text_of(one)}" for key, one in value.items())
    return ",".join(text_of(one) for one in value) if isinstance(value, list) else text_of(value)


def _deep(name: str, value: Any, safe: str, depth: int) -> Iterator[str]:
    if depth > _DEEP_MAX:
        yield f"{name}={encoded(_json(value))}"
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _deep(f"{name}[{encoded(key)}]", one, safe, depth + 1)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _deep(f"{name}[{at}]", one, safe, depth + 1)
    elif value is not None:
        yield f"{name}={_shown(value, safe)}"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from (key, *_leaves(one))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _listed(values: list[Any]) -> str:
    return ",".join(_shown(one) for one in values)


def _shown(value: Any, safe: str = "") -> str:
    return encoded(text_of(value), safe)


def encoded(text: str, safe: str = "") -> str:
    return quote(text, safe=safe, encoding="utf-8", errors="replace")


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _bad(parameter: Parameter, what: str, hint: str) -> ToolProblem:
    return ToolProblem("bad_argument", f"{parameter.argument}: {what}", hint=hint, data={"argument": parameter.argument})
