"""Reading turnscript.toml: tables, texts and switches as they stand, with the place in every complaint."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.setup import BadConfig

Record = TypeVar("Record")


def record_at(where: str, told: Mapping[str, Any], kind: type[Record]) -> Record:
    """A frozen record from a table; numbers may come as text, as variables have them."""
    check_keys(where, told, [item.name for item in fields(kind)])  # type: ignore[arg-type]
    try:
        return TypeAdapter(kind).validate_python(dict(told))
    except ValidationError as error:
        first = error.errors()[0]
        steps = ".".join(str(step) for step in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise BadConfig(f"{where}.{steps}: {message}, not {first['input']!r}" if steps else f"{where}: {message}") from None


def switch_at(path: Path, said: Mapping[str, Any], key: str, *, default: bool = True, prefix: str = "") -> bool:
    value = said.get(key, default)
    if not isinstance(value, bool):
        raise BadConfig(f"{path}: {prefix}{key} must be true or false, not {value!r}")
    return value


def check_keys(where: str, told: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in told:
        if key not in keys:
            raise BadConfig(f"{where}: unknown key {key!r}; {nearest_of(key, list(keys))}")


def table_at(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> dict[str, Any]:
    value = told.get(key, {})
    if not isinstance(value, dict):
        raise BadConfig(f"{path}: {prefix}{key} must be a table: [{prefix}{key}]")
    return value


def text_at(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> str:
    value = told.get(key, "")
    if not isinstance(value, str):
        raise BadConfig(f"{path}: {prefix}{key} must be text, not {value!r}")
    return value


def texts_at(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> tuple[str, ...]:
    value = told.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadConfig(f'{path}: {prefix}{key} must be a list of texts, such as {key} = ["files"]')
    return tuple(value)


def nearest_of(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
