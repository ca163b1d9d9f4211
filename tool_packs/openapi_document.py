"""An OpenAPI document as it was found: JSON or YAML to plain JSON values, its version, and what its references lead to.

Nothing is fetched for a reference: what lies outside the document is not known. A document may be hostile; what it holds is
counted before anything walks it.
"""

import importlib
import importlib.util
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import orjson

from catalog import BadPack

DOCUMENT_BYTES_MAX = 64 * 1024 * 1024  # the largest public ones have some 40 MB
VALUES_MAX = 3_000_000  # in a document, aliases of YAML counted where they stand
DEPTH_MAX = 200
_REFERENCES_MAX = 16  # one reference to the next, before it must lead to something
VERSIONS = ("3.0", "3.1")


@dataclass(frozen=True, slots=True)
class Document:
    root: Mapping[str, Any]
    version: str  # "3.0" or "3.1"

    def at(self, reference: str) -> Any:
        """What a local reference (`#/components/schemas/Pet`) leads to; None when there is nothing, or it is elsewhere."""
        if reference != "#" and not reference.startswith("#/"):
            return None
        found: Any = self.root
        for step in reference.split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isascii() and name.isdecimal() and len(name) < 9 and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found

    def followed(self, value: Any) -> Mapping[str, Any] | None:
        """The object itself, at the end of its references; None when they lead nowhere."""
        for _ in range(_REFERENCES_MAX):
            if not isinstance(value, Mapping):
                return None
            if not isinstance(value.get("$ref"), str):
                return value
            value = self.at(value["$ref"])
        return None

    def members(self, value: Any) -> dict[str, Mapping[str, Any]]:
        """The members of an object that are objects; {} when it is none."""
        found = value if isinstance(value, Mapping) else {}
        return {name: one for name, one in found.items() if isinstance(one, Mapping)}


def read_document(data: bytes, where: str) -> Document:
    """BadPack says what is wrong with it."""
    if len(data) > DOCUMENT_BYTES_MAX:
        raise BadPack(f"{where}: {len(data):,} bytes; at most {DOCUMENT_BYTES_MAX:,} are read")
    try:
        told = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if data.lstrip()[:1] in (b"{", b"["):  # YAML reads JSON too, a hundred times slower
            raise BadPack(f"{where}: no JSON: {error}") from None
        told = _from_yaml(data, where)
    return checked(told, where)


def checked(told: Any, where: str) -> Document:
    if not isinstance(told, Mapping):
        raise BadPack(f"{where}: an OpenAPI document is one object, and this is {type(told).__name__}")
    plain = _plain(told, where)
    version = plain.get("openapi")
    if "swagger" in plain and version is None:
        raise BadPack(f"{where}: this is Swagger {plain['swagger']}; convert it to OpenAPI 3 first, such as with swagger2openapi")
    if not isinstance(version, str) or version[:3] not in VERSIONS:
        said = "it does not say its version" if version is None else f"it is for OpenAPI {str(version)[:20]}"
        raise BadPack(f'{where}: {said}; documents with openapi: "3.0.x" or "3.1.x" are read')
    if not isinstance(plain.get("paths", {}), Mapping):
        raise BadPack(f"{where}: paths is not an object; give a document that has operations")
    return Document(plain, version[:3])


def _from_yaml(data: bytes, where: str) -> Any:
    if importlib.util.find_spec("yaml") is None:
        raise BadPack(f"{where}: this is no JSON, and YAML needs PyYAML, which is not installed: pip install pyyaml")
    yaml = importlib.import_module("yaml")
    loader: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.yaml_implicit_resolvers = {  # a date in a document is text, as it is in JSON
        first: [(tag, form) for tag, form in rows if tag != "tag:yaml.org,2002:timestamp"]
        for first, rows in loader.yaml_implicit_resolvers.items()
    }
    try:
        return yaml.load(data, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        said = " ".join(str(error).split())[:300]
        raise BadPack(f"{where}: neither JSON nor YAML: {said or type(error).__name__}") from None


def _plain(told: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """A copy that holds JSON and nothing else. YAML has numbers as keys, and aliases by which a small file is endless."""
    count = 0

    def plain(value: Any, depth: int) -> Any:
        nonlocal count
        count += 1
        if count > VALUES_MAX:
            raise BadPack(f"{where}: more than {VALUES_MAX:,} values; take the part of the document that is needed")
        if depth > DEPTH_MAX:
            raise BadPack(f"{where}: nested more than {DEPTH_MAX} deep")
        if isinstance(value, Mapping):
            return {_key(name): plain(one, depth + 1) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [plain(one, depth + 1) for one in value]
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return value if value is None or isinstance(value, str | int) else str(value)

    made: dict[str, Any] = plain(told, 0)
    return made


def _key(name: Any) -> str:
    """`on:` and `true:` are one key to YAML; JSON has only texts."""
    return str(name).lower() if isinstance(name, bool) else str(name)
