"""Parameters of an operation: where each goes in a request, by which style, and what a script calls it.

Headers that belong to the connection, and parameters that a person has set, are no arguments.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from catalog.schema import identifier
from tool_packs.openapi_document import Document

Place: TypeAlias = Literal["path", "query", "header", "cookie"]

PLACES: tuple[Place, ...] = ("path", "query", "header", "cookie")
STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}  # the first is what counts when none is said
_NOT_ARGUMENTS = {
    "accept", "content-type", "authorization", "host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade",
    "te", "trailer", "expect", "proxy-authorization", "accept-encoding", "keep-alive",
}  # fmt: skip
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")


class NotOffered(Exception):
    """Why an operation does not become a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str  # in the request
    argument: str  # in a script
    place: Place
    style: str
    explode: bool
    reserved: bool = False  # / : and the like stay as they are
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """A parameter, and what the document says of it."""

    parameter: Parameter
    schema: Any
    words: str
    required: bool


def parameters_of(
    document: Document, operation: Mapping[str, Any], item: Mapping[str, Any], given: frozenset[tuple[str, str]]
) -> list[Told]:
    """Those of the path's item, then the operation's own, which win; in the order of PLACES."""
    found: dict[tuple[str, str], Told] = {}
    for listed in (item.get("parameters"), operation.get("parameters")):
        for told in listed if isinstance(listed, list) else ():
            source = document.followed(told)
            if source is None or not isinstance(source.get("name"), str) or source.get("in") not in PLACES:
                raise NotOffered("one of its parameters leads nowhere, or has no name, or a place that is not known")
            place, name = source["in"], source["name"]
            if (place == "header" and name.lower() in _NOT_ARGUMENTS) or (place, name.lower()) in given:
                continue
            found[place, name.lower() if place == "header" else name] = _told(source)
    return sorted(found.values(), key=lambda one: PLACES.index(one.parameter.place))


def without_clashes(told: list[Told], taken: Iterable[str]) -> list[Told]:
    """Each with a name of its own in scripts; `taken`: the names of what the body holds."""
    used = {"__proto__", "", *taken}  # in a script's literal that name is no member
    made = []
    for one in told:
        name = one.parameter.name
        if name in used:
            name = f"{identifier(name)}_{one.parameter.place}"
        while name in used:
            name += "_"
        used.add(name)
        made.append(replace(one, parameter=replace(one.parameter, argument=name)))
    return made


def is_json(media_type: str) -> bool:
    plain = media_type.partition(";")[0].strip().lower()
    return plain in ("application/json", "*/*", "application/*", "text/json") or plain.endswith("+json")


def _told(source: Mapping[str, Any]) -> Told:
    place: Place = source["in"]
    name: str = source["name"]
    if place in ("header", "cookie") and not _TOKEN.fullmatch(name):
        raise NotOffered(f"its {place} {name[:40]!r} has a name that cannot be sent")
    contents = source.get("content")
    contents = contents if isinstance(contents, Mapping) else {}
    if not all(is_json(one) for one in contents):
        raise NotOffered(f"its parameter {name[:40]!r} is {', '.join(contents)[:80]}, which is not sent")
    style = source.get("style", STYLES[place][0])
    if style not in STYLES[place]:
        raise NotOffered(f"its parameter {name[:40]!r} has the style {str(style)[:40]!r}, which there is not in a {place}")
    explode, words = source.get("explode"), source.get("description")
    schema = source.get("schema")
    for content in contents.values():
        schema = content.get("schema") if isinstance(content, Mapping) else None
    parameter = Parameter(
        name=name, argument=name, place=place, style=style, explode=explode if isinstance(explode, bool) else style == "form",
        reserved=source.get("allowReserved") is True, as_json=bool(contents),
    )  # fmt: skip
    required = source.get("required") is True or place == "path"
    return Told(parameter, schema, words.strip()[:1_000] if isinstance(words, str) else "", required)
