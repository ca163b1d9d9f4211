"""Settings, read once at the edge into frozen records: flag over environment over `turnscript.toml` over default.

Only this file reads the environment. What is unknown or of the wrong kind is an error that names it, the place and the nearest
right name; nothing is ignored.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from harness.turn import CALLS_AT_ONCE, TURN_SECONDS
from sandbox import Limits

FILE = "turnscript.toml"
PREFIX = "TURNSCRIPT_LIMIT_"
_TURN_LIMITS = {"turn_seconds": TURN_SECONDS, "calls_at_once": CALLS_AT_ONCE}


class BadConfig(ValueError):
    """One line for the person who wrote it: where, what, and what would be right."""


@dataclass(frozen=True, slots=True)
class Settings:
    limits: Limits
    turn_seconds: float = TURN_SECONDS
    calls_at_once: int = CALLS_AT_ONCE


def read_settings(
    *, flags: Iterable[str] = (), folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """`flags` are `name=value`, as given to --limit; `folder` is where turnscript.toml is looked for."""
    environment = os.environ if environment is None else environment
    values = _from_file((folder or Path()) / FILE)
    values |= _from_environment(environment)
    values |= _from_flags(flags)
    turn = {name: values.pop(name) for name in _TURN_LIMITS if name in values}
    try:
        return Settings(Limits(**values), **turn)
    except ValueError as error:
        raise BadConfig(str(error)) from None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadConfig(f"{path}: {error}") from None
    for key in told:
        if key != "limits":
            raise BadConfig(f"{path}: unknown key {key!r}; {_nearest(key, ['limits'])}")
    limits = told.get("limits", {})
    if not isinstance(limits, dict):
        raise BadConfig(f"{path}: limits must be a table: [limits]")
    return {name: _number(f"{path}: limits.{name}", name, value) for name, value in limits.items()}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: _number(key, name, value)
        for key, value in environment.items()
        if key.startswith(PREFIX) and (name := key.removeprefix(PREFIX).lower()) is not None
    }


def _from_flags(flags: Iterable[str]) -> dict[str, Any]:
    found = {}
    for flag in flags:
        name, equals, value = flag.partition("=")
        if not equals:
            raise BadConfig(f"--limit {flag}: write name=value, such as --limit engine_seconds=2")
        found[name] = _number(f"--limit {name}", name, value)
    return found


def _number(where: str, name: str, value: object) -> int | float:
    kinds = {item.name: type(item.default) for item in fields(Limits)} | {key: type(value) for key, value in _TURN_LIMITS.items()}
    if name not in kinds:
        raise BadConfig(f"{where}: there is no limit {name!r}; {_nearest(name, list(kinds))}")
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(str(value).replace("_", ""))
        if not 0 < number < 2**53 or (kinds[name] is int and not number.is_integer()):
            raise ValueError
    except ValueError:
        wanted = "a whole number" if kinds[name] is int else "a number"
        raise BadConfig(f"{where}: {value!r} is not {wanted} above 0") from None
    return int(number) if kinds[name] is int else number


def _nearest(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
