"""Settings, read once at the edge into frozen records: flag over environment over `turnscript.toml` over default.

Only this file reads the environment. What is unknown or of the wrong kind is an error that names it, the place and the nearest
right name; nothing is ignored.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from catalog import Profile
from harness.dispatch import CALL_SECONDS
from harness.offers import DEFAULT_PROFILE, ToolSettings, every_profile
from harness.turn import CALLS_AT_ONCE, TURN_SECONDS
from sandbox import Limits

FILE = "turnscript.toml"
PREFIX = "TURNSCRIPT_LIMIT_"
PROFILE_VARIABLE = "TURNSCRIPT_PROFILE"
_TURN_LIMITS = {"turn_seconds": TURN_SECONDS, "calls_at_once": CALLS_AT_ONCE, "call_seconds": CALL_SECONDS}
_KEYS = ("limits", "profile", "root", "allow", "profiles", "packs")
_PROFILE_KEYS = ("extends", "packs", "tools", "without", "rename", "why")


class BadConfig(ValueError):
    """One line for the person who wrote it: where, what, and what would be right."""


@dataclass(frozen=True, slots=True)
class Settings:
    limits: Limits
    tools: ToolSettings
    environment: Mapping[str, str]  # for packs: which variables a command gets is the shell pack's decision
    turn_seconds: float = TURN_SECONDS
    calls_at_once: int = CALLS_AT_ONCE
    call_seconds: float = CALL_SECONDS


def read_settings(
    *,
    flags: Iterable[str] = (),
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    profile: str | None = None,
    root: Path | None = None,
    allow: Iterable[str] = (),
) -> Settings:
    """`flags` are `name=value`, as given to --limit; `folder` is where turnscript.toml is looked for; the rest as their flags."""
    environment = os.environ if environment is None else environment
    path = (folder or Path()) / FILE
    told = _from_file(path)
    values: dict[str, Any] = {
        name: _number(f"{path}: limits.{name}", name, value) for name, value in _table(path, told, "limits").items()
    }
    values |= _from_environment(environment)
    values |= _from_flags(flags)
    turn = {name: values.pop(name) for name in _TURN_LIMITS if name in values}
    tools = ToolSettings(
        profile=profile or environment.get(PROFILE_VARIABLE) or _text(path, told, "profile") or DEFAULT_PROFILE,
        profiles=_profiles(path, _table(path, told, "profiles")),
        packs={name: _table(path, _table(path, told, "packs"), name, "packs.") for name in _table(path, told, "packs")},
        root=root or path.parent / (_text(path, told, "root") or "."),
        allow=(*_texts(path, told, "allow"), *allow),
        folder=path.parent,
    )
    try:
        return Settings(Limits(**values), tools, dict(environment), **turn)
    except ValueError as error:
        raise BadConfig(str(error)) from None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadConfig(f"{path}: {error}") from None
    _known(str(path), told, _KEYS)
    return told


def _profiles(path: Path, told: dict[str, Any]) -> dict[str, Profile]:
    """`extends` takes what the other profile says, and each key given here replaces it; they may stand in any order."""
    made: dict[str, Profile] = {}
    waiting = dict(told)
    while waiting:
        ready = [name for name, table in waiting.items() if not isinstance(table, dict) or table.get("extends") not in waiting]
        if not ready:
            raise BadConfig(f"{path}: profiles {', '.join(waiting)} extend each other in a circle")
        for name in ready:
            made[name] = _profile(path, name, _table(path, waiting, name, "profiles."), made)
            del waiting[name]
    return made


def _profile(path: Path, name: str, told: dict[str, Any], made: dict[str, Profile]) -> Profile:
    where = f"profiles.{name}"
    _known(f"{path}: {where}", told, _PROFILE_KEYS)
    ground = Profile(name=name)
    if "extends" in told:
        every = every_profile(ToolSettings(profiles=made))
        wanted = _text(path, told, "extends", f"{where}.")
        if wanted not in every:
            raise BadConfig(f"{path}: {where}.extends: there is no profile {wanted!r}; {_nearest(wanted, list(every))}")
        ground = every[wanted]
    given: dict[str, Any] = {key: _texts(path, told, key, f"{where}.") for key in ("packs", "tools", "without") if key in told}
    rename = _table(path, told, "rename", f"{where}.")
    for key, value in rename.items():
        if not isinstance(value, str):
            raise BadConfig(f'{path}: {where}.rename.{key}: write "{key}" = "pack.tool"')
    if rename:
        given["rename"] = rename
    if "why" in told:
        given["why"] = _text(path, told, "why", f"{where}.")
    return replace(ground, name=name, **given)


def _known(where: str, told: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in told:
        if key not in keys:
            raise BadConfig(f"{where}: unknown key {key!r}; {_nearest(key, list(keys))}")


def _table(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> dict[str, Any]:
    value = told.get(key, {})
    if not isinstance(value, dict):
        raise BadConfig(f"{path}: {prefix}{key} must be a table: [{prefix}{key}]")
    return value


def _text(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> str:
    value = told.get(key, "")
    if not isinstance(value, str):
        raise BadConfig(f"{path}: {prefix}{key} must be text, not {value!r}")
    return value


def _texts(path: Path, told: Mapping[str, Any], key: str, prefix: str = "") -> tuple[str, ...]:
    value = told.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadConfig(f'{path}: {prefix}{key} must be a list of texts, such as {key} = ["files"]')
    return tuple(value)


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
