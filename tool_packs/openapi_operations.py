"""From a document to its operations: what a script calls each one, its arguments in one object, and what they are in a request.

Definitions are made for all operations first, then loops are cut, then each operation takes those that it needs.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from catalog.schema import identifier
from tool_packs.openapi_bodies import Body, answer_of, body_of, spread
from tool_packs.openapi_document import Document
from tool_packs.openapi_loops import cut_loops
from tool_packs.openapi_parameters import NotOffered, Parameter, Told, parameters_of, without_clashes
from tool_packs.openapi_schema import Made, Schemas

Wanted: TypeAlias = Callable[[str, frozenset[str]], bool]  # name, tags

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
_WITHOUT_BODY = ("get", "head")
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NAME_CHARS = 96
_DOC_CHARS = 4_000
_INPUT_VALUES, _OUTPUT_VALUES = 4_000, 1_000  # of definitions that one tool carries; what lies further away accepts anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    name: str
    method: str
    path: str  # with {variables}
    doc: str
    parameters: tuple[Parameter, ...]
    body: Body | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that is not offered, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    method: str
    path: str
    told: Mapping[str, Any]
    item: Mapping[str, Any]  # of the path that it stands in


@dataclass(frozen=True, slots=True)
class _Draft:
    """An operation whose schemas still lack their definitions."""

    operation: Operation
    inputs: list[Made]
    output: Made | None


def operations_of(
    document: Document, *, wanted: Wanted = lambda name, tags: True, given: Iterable[tuple[str, str]] = ()
) -> list[Operation | Refused]:
    """In the order of the document. `given`: parameters, by place and name, that a person has set and scripts do not see."""
    reading = _Reading(document, frozenset((place, name.lower()) for place, name in given))
    made = [reading.draft(one) for one in _found(document) if wanted(one.name, _tags(one.told))]
    cut_loops(reading.inputs.definitions)
    cut_loops(reading.outputs.definitions)
    return [one if isinstance(one, Refused) else reading.finished(one) for one in made]


class _Reading:
    def __init__(self, document: Document, given: frozenset[tuple[str, str]]) -> None:
        self._document = document
        self._given = given
        self.inputs = Schemas(document, "input")
        self.outputs = Schemas(document, "output")

    def draft(self, found: _Found) -> _Draft | Refused:
        try:
            _check_path(found.path)
            told = parameters_of(self._document, found.told, found.item, self._given)
            _check_variables(found.path, told)
            given = None if found.method in _WITHOUT_BODY else body_of(self._document, found.told, self.inputs)
        except NotOffered as error:
            return Refused(found.name, str(error))
        return self._draft(found, told, *(given or (None, None)))

    def _draft(self, found: _Found, told: list[Told], body: Body | None, made: Made | None) -> _Draft:
        inputs: list[Made] = []
        properties: dict[str, Any] = {}
        required: list[str] = []
        taken: tuple[str, ...] = ()
        if body is not None and made is not None:
            beside = spread(body, made, self.inputs, [one.parameter.name for one in told])
            if beside is not None:
                body, made, taken = (
                    replace(body, fields=tuple(beside.schema["properties"])),
                    beside,
                    (*beside.schema["properties"],),
                )
            else:
                taken = ("body",)
            inputs.append(made)
        named = without_clashes(told, taken)
        for one in named:
            inputs.append(self.inputs.made(one.schema))
            words = {"description": one.words} if one.words else {}
            properties[one.parameter.argument] = {**inputs[-1].schema, **words}
            required += [one.parameter.argument] if one.required else []
        if body is not None and made is not None:
            whole = body.fields is None
            properties |= {"body": made.schema} if whole else made.schema["properties"]
            required += (["body"] if body.required else []) if whole else made.schema.get("required", [])
        operation = Operation(
            name=found.name, method=found.method.upper(), path=found.path, doc=_doc(found.told),
            parameters=tuple(one.parameter for one in named), body=body, output_schema=None,
            input_schema={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
        )  # fmt: skip
        return _Draft(operation, inputs, answer_of(self._document, found.told, self.outputs))

    def finished(self, draft: _Draft) -> Operation:
        schema = draft.operation.input_schema | _definitions(self.inputs, draft.inputs, _INPUT_VALUES)
        output = None
        if draft.output is not None:
            output = draft.output.schema | _definitions(self.outputs, [draft.output], _OUTPUT_VALUES)
        return replace(draft.operation, input_schema=schema, output_schema=output)


def _found(document: Document) -> list[_Found]:
    taken: set[str] = set()
    rows = []
    for path, told in document.members(document.root.get("paths")).items():
        item = document.followed(told) or {}
        for method, operation in document.members({name: item.get(name) for name in METHODS}).items():
            said = operation.get("operationId")
            name = _free(said if isinstance(said, str) and said.strip() else f"{method} {path}", taken)
            rows.append(_Found(name, method, path, operation, item))
    return rows


def _free(wanted: str, taken: set[str]) -> str:
    made = identifier(wanted)
    if len(made) > _NAME_CHARS:
        made = f"{made[: _NAME_CHARS - 9]}_{hashlib.sha256(made.encode()).hexdigest()[:8]}"
    name, number = made, 1
    while name in taken:
        number += 1
        name = f"{made}_{number}"
    taken.add(name)
    return name


def _tags(told: Mapping[str, Any]) -> frozenset[str]:
    listed = told.get("tags")
    return frozenset(tag for tag in listed if isinstance(tag, str)) if isinstance(listed, list) else frozenset()


def _check_path(path: str) -> None:
    if not path.startswith("/") or "#" in path or "\\" in path or not path.isprintable():
        raise NotOffered("its path does not begin with /, or holds #, \\ or control characters")
    if any(step in (".", "..") for step in path.partition("?")[0].split("/")):
        raise NotOffered("its path leads upwards")


def _check_variables(path: str, told: list[Told]) -> None:
    missing = {*_VARIABLE.findall(path)} - {one.parameter.name for one in told if one.parameter.place == "path"}
    if missing:
        raise NotOffered(f"its path has {{{min(missing)[:80]}}}, which is none of its parameters")


def _definitions(schemas: Schemas, roots: list[Made], most: int) -> dict[str, Any]:
    """All that is referred to, nearest first; what there is no room for accepts anything."""
    found: dict[str, Any] = {}
    level = roots
    values = 0
    while level:
        names = dict.fromkeys(edge.target for made in level for edge in made.edges if "$ref" in edge.holder)
        level = []
        for name in names:
            if name in found:
                continue
            values += schemas.definitions[name].values
            if values <= most:
                level.append(schemas.definitions[name])
            found[name] = schemas.definitions[name].schema if values <= most else {}
    return {"$defs": found} if found else {}


def _doc(told: Mapping[str, Any]) -> str:
    texts = [told[key].strip() for key in ("summary", "description") if isinstance(told.get(key), str)]
    texts = list(dict.fromkeys(text for text in texts if text))
    if texts and not texts[0].endswith((".", "!", "?", ":")):
        texts[0] += "."
    if told.get("deprecated") is True:
        texts = [*texts[:1], "Deprecated: the API may drop it.", *texts[1:]]
    return "\n\n".join(texts)[:_DOC_CHARS]
