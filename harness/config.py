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
from typing import Any, get_args

from catalog import Profile
from harness.approval import Policy, Rule, allowing
from harness.faults import parse_fault
from harness.guards.budget import Allowance
from harness.limits import SHOWN, ShownLimits, TurnLimits
from harness.offers import DEFAULT_PROFILE, ToolSettings, every_profile
from harness.redaction import secrets_of
from harness.scrub_rules import ScrubRules
from harness.setup import MODES, BadConfig, Flags, Mode, Setup
from harness.store.jsonl import Durability
from sandbox import Limits

FILE = "turnscript.toml"
PREFIX = "TURNSCRIPT_LIMIT_"
PROFILE_VARIABLE = "TURNSCRIPT_PROFILE"
MODE_VARIABLE = "TURNSCRIPT_MODE"
STORE_VARIABLE = "TURNSCRIPT_STORE"
HOME_VARIABLE = "TURNSCRIPT_HOME"
_RECORDS = (Limits, TurnLimits, ShownLimits)
_KEYS = (
    "limits", "shown", "profile", "root", "allow", "approval", "budget", "profiles", "packs", "mode", "flags", "plan_reads",
    "cache", "secrets", "store", "durability", "record",
)  # fmt: skip
_BUDGET_KEYS = ("turn", "session")
_ALLOWANCE_KEYS = ("calls", "bytes", "seconds")
_RULE_KEYS = ("tool", "then", "arguments")
_SECRETS_KEYS = ("patterns", "variables", "not")
_RECORD_KEYS = ("secrets", "places", "patterns")
_PROFILE_KEYS = ("extends", "packs", "tools", "without", "rename", "why")


@dataclass(frozen=True, slots=True)
class Settings:
    tools: ToolSettings
    setup: Setup
    store: str  # the address where sessions are kept, as `open_store` takes it
    durability: Durability = "fsync"  # flush: a session outlives its process, and not a loss of power

    @property
    def limits(self) -> Limits:
        return self.setup.limits

    @property
    def environment(self) -> Mapping[str, str]:
        return self.setup.environment


def read_settings(
    *,
    flags: Iterable[str] = (),
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    profile: str | None = None,
    root: Path | None = None,
    allow: Iterable[str] = (),
    mode: str | None = None,
    off: Iterable[str] = (),
    cache: Path | None = None,
    shown: str | None = None,
    plan_reads: bool | None = None,
    store: str | None = None,
    faults: Iterable[str] = (),
) -> Settings:
    """`flags` are `name=value`, as given to --limit; `folder` is where turnscript.toml is looked for; `off`: flags to clear."""
    environment = os.environ if environment is None else environment
    path = (folder or Path()) / FILE
    said = _from_file(path)
    values: dict[str, Any] = {
        name: _number(f"{path}: limits.{name}", name, value) for name, value in _table(path, said, "limits").items()
    }
    values |= _from_environment(environment)
    values |= _from_flags(flags)
    tools = ToolSettings(
        profile=profile or environment.get(PROFILE_VARIABLE) or _text(path, said, "profile") or DEFAULT_PROFILE,
        profile_from="" if profile else PROFILE_VARIABLE if environment.get(PROFILE_VARIABLE) else f"{path}: profile",
        profiles=_profiles(path, _table(path, said, "profiles")),
        packs={name: _table(path, _table(path, said, "packs"), name, "packs.") for name in _table(path, said, "packs")},
        root=root or path.parent / (_text(path, said, "root") or "."),
        allow=(*_texts(path, said, "allow"), *allow),
        folder=path.parent,
    )
    budget = _table(path, said, "budget")
    _known(f"{path}: budget", budget, _BUDGET_KEYS)
    told_cache = _text(path, said, "cache")
    try:
        setup = Setup(
            limits=Limits(**_of(Limits, values)), turn=TurnLimits(**_of(TurnLimits, values)),
            shown=replace(_shown(path, said, shown), **_of(ShownLimits, values)), mode=_mode(path, said, environment, mode),
            flags=_flags(path, said, off),
            policy=Policy((*_rules(path, said), *allowing(tools.allow))), turn_budget=_allowances(path, budget, "turn"),
            session_budget=_allowances(path, budget, "session"),
            plan_reads=_switch(path, said, "plan_reads", default=False) if plan_reads is None else plan_reads,
            packs=tools.packs, environment=dict(environment),
            cache_folder=cache or (path.parent / Path(told_cache).expanduser() if told_cache else None),
            faults=tuple(parse_fault(one) for one in faults), scrub=_scrub(path, said),
            **_secrets(path, said, environment, tools.packs),
        )  # fmt: skip
    except ValueError as error:
        raise BadConfig(str(error)) from None
    kept = store or environment.get(STORE_VARIABLE) or _text(path, said, "store") or f"jsonl:{sessions_folder(environment)}"
    return Settings(tools, setup, store=kept, durability=_durability(path, said))


def sessions_folder(environment: Mapping[str, str]) -> Path:
    """Where sessions are kept when nothing else is said."""
    if home := environment.get(HOME_VARIABLE):
        return Path(home).expanduser().absolute() / "sessions"
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # as the XDG rules have it: a relative one does not count
        state = _home(environment) / ".local" / "state"
    return state / "turnscript" / "sessions"


def _home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment.get("HOME") or Path.home()).absolute()
    except RuntimeError:
        raise BadConfig(f"this user has no home folder to keep sessions in; set {HOME_VARIABLE} to a folder") from None


def _durability(path: Path, said: Mapping[str, Any]) -> Durability:
    told = _text(path, said, "durability") or "fsync"
    for one in get_args(Durability):
        if told == one:
            return one  # type: ignore[no-any-return]
    raise BadConfig(f"{path}: durability: there is no {told!r}; choose {', '.join(get_args(Durability))}")


def _of(record: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return {item.name: values[item.name] for item in fields(record) if item.name in values}


def _mode(path: Path, said: Mapping[str, Any], environment: Mapping[str, str], given: str | None) -> Mode:
    for where, told in (
        ("--mode", given),
        (MODE_VARIABLE, environment.get(MODE_VARIABLE)),
        (f"{path}: mode", _text(path, said, "mode")),
    ):
        if not told:
            continue
        for mode in MODES:
            if told.replace("-", "_") == mode:
                return mode
        raise BadConfig(f"{where}: there is no mode {told!r}; choose {', '.join(mode.replace('_', '-') for mode in MODES)}")
    return "enabled"


def _shown(path: Path, said: Mapping[str, Any], given: str | None) -> ShownLimits:
    for where, name in (("--shown", given), (f"{path}: shown", _text(path, said, "shown"))):
        if name:
            if name not in SHOWN:
                raise BadConfig(f"{where}: there is no set {name!r}; choose {', '.join(SHOWN)}")
            return SHOWN[name]
    return SHOWN["usual"]


def _flags(path: Path, said: Mapping[str, Any], off: Iterable[str]) -> Flags:
    table = _table(path, said, "flags")
    names = [item.name for item in fields(Flags)]
    _known(f"{path}: flags", table, names)
    return Flags(**({name: _switch(path, table, name, prefix="flags.") for name in table} | dict.fromkeys(off, False)))


def _switch(path: Path, said: Mapping[str, Any], key: str, *, default: bool = True, prefix: str = "") -> bool:
    value = said.get(key, default)
    if not isinstance(value, bool):
        raise BadConfig(f"{path}: {prefix}{key} must be true or false, not {value!r}")
    return value


def _rules(path: Path, said: Mapping[str, Any]) -> tuple[Rule, ...]:
    """[[approval]] tool, arguments, then: the first that fits decides."""
    listed = said.get("approval", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadConfig(f'{path}: approval must be a list of tables: [[approval]] tool = "shell.run", then = "ask"')
    rules = []
    for number, one in enumerate(listed, 1):
        where = f"approval {number}."
        _known(f"{path}: approval {number}", one, _RULE_KEYS)
        tool, then = _text(path, one, "tool", where), _text(path, one, "then", where)
        if not tool or then not in ("allow", "ask", "deny"):
            raise BadConfig(f'{path}: {where}then must be "allow", "ask" or "deny", and tool a name or pattern such as "shell.*"')
        arguments = _table(path, one, "arguments", where)
        patterns = {name: _text(path, arguments, name, f"{where}arguments.") for name in arguments}
        rules.append(Rule(tool=tool, then=then, arguments=patterns))  # type: ignore[arg-type]
    return tuple(rules)


def _allowances(path: Path, budget: Mapping[str, Any], scope: str) -> dict[str, Allowance]:
    """[budget.turn] web = { calls = 10 }, "web.fetch" = { bytes = 1_000_000, seconds = 30 }"""
    table = _table(path, budget, scope, "budget.")
    made = {}
    for name in table:
        one = _table(path, table, name, f"budget.{scope}.")
        _known(f"{path}: budget.{scope}.{name}", one, _ALLOWANCE_KEYS)
        for key, value in one.items():
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 < value < 2**53
                or (key != "seconds" and value != int(value))
            ):
                raise BadConfig(f"{path}: budget.{scope}.{name}.{key}: {value!r} is not a number above 0")
        made[name] = Allowance(**one)
    return made


def _secrets(
    path: Path, said: Mapping[str, Any], environment: Mapping[str, str], packs: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """[secrets] variables = ["DEPLOY_KEY"] adds, not = ["BUILD_KEY"] takes away, patterns = false leaves look-alikes alone."""
    table = _table(path, said, "secrets")
    _known(f"{path}: secrets", table, _SECRETS_KEYS)
    known = secrets_of(environment, packs)
    known |= {name: environment[name] for name in _texts(path, table, "variables", "secrets.") if environment.get(name)}
    kept = {name: value for name, value in known.items() if name not in _texts(path, table, "not", "secrets.")}
    return {"secrets": kept, "secret_patterns": _switch(path, table, "patterns", prefix="secrets.")}


def _scrub(path: Path, said: Mapping[str, Any]) -> ScrubRules:
    """[record] secrets = true, places = false, patterns = { 'user-\\d+' = "user-N" }"""
    table = _table(path, said, "record")
    _known(f"{path}: record", table, _RECORD_KEYS)
    patterns = _table(path, table, "patterns", "record.")
    told = {name: _text(path, patterns, name, "record.patterns.") for name in patterns}
    secrets, places = (_switch(path, table, name, default=name == "secrets", prefix="record.") for name in ("secrets", "places"))
    try:
        return ScrubRules(secrets=secrets, places=places, patterns=told)
    except ValueError as error:
        raise BadConfig(f"{path}: record.patterns: {error}") from None


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
    kinds = {item.name: type(item.default) for record in _RECORDS for item in fields(record)}
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
