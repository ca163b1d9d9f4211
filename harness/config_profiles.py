"""Profiles of turnscript.toml: which tools are on offer, each one building on another where it says so."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from catalog import Profile
from harness.config_tables import check_keys, nearest_of, table_at, text_at, texts_at
from harness.offers import ToolSettings, every_profile
from harness.setup import BadConfig

_PROFILE_KEYS = ("extends", "packs", "tools", "without", "rename", "why")


def profiles_of(path: Path, told: dict[str, Any]) -> dict[str, Profile]:
    """`extends` takes what the other profile says, and each key given here replaces it; they may stand in any order."""
    made: dict[str, Profile] = {}
    waiting = dict(told)
    while waiting:
        ready = [name for name, table in waiting.items() if not isinstance(table, dict) or table.get("extends") not in waiting]
        if not ready:
            raise BadConfig(f"{path}: profiles {', '.join(waiting)} extend each other in a circle")
        for name in ready:
            made[name] = _profile(path, name, table_at(path, waiting, name, "profiles."), made)
            del waiting[name]
    return made


def _profile(path: Path, name: str, told: dict[str, Any], made: dict[str, Profile]) -> Profile:
    where = f"profiles.{name}"
    check_keys(f"{path}: {where}", told, _PROFILE_KEYS)
    ground = Profile(name=name)
    if "extends" in told:
        every = every_profile(ToolSettings(profiles=made))
        wanted = text_at(path, told, "extends", f"{where}.")
        if wanted not in every:
            raise BadConfig(f"{path}: {where}.extends: there is no profile {wanted!r}; {nearest_of(wanted, list(every))}")
        ground = every[wanted]
    given: dict[str, Any] = {key: texts_at(path, told, key, f"{where}.") for key in ("packs", "tools", "without") if key in told}
    rename = table_at(path, told, "rename", f"{where}.")
    for key, value in rename.items():
        if not isinstance(value, str):
            raise BadConfig(f'{path}: {where}.rename.{key}: write "{key}" = "pack.tool"')
    if rename:
        given["rename"] = rename
    if "why" in told:
        given["why"] = text_at(path, told, "why", f"{where}.")
    return replace(ground, name=name, **given)
