"""Settings, read once at the edge into frozen records: flag over environment over `turnscript.toml` over default.

Only this file reads the environment. What is unknown or of the wrong kind is an error that names it, the place and the nearest
right name; nothing is ignored.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from harness.approval import Policy, Rule, allowing
from harness.callers import USES, Use
from harness.config_profiles import profiles_of
from harness.config_tables import check_keys, nearest_of, record_at, switch_at, table_at, text_at, texts_at
from harness.faults import parse_fault
from harness.guards.budget import Allowance
from harness.interfaces import Bridge, ModelSettings, ServeSettings, SurfaceSettings, TelemetrySettings
from harness.limits import SHOWN, ShownLimits, TurnLimits
from harness.offers import DEFAULT_PROFILE, ToolSettings
from harness.redaction import secrets_of
from harness.scrub_rules import ScrubRules
from harness.setup import MODES, BadConfig, Flags, Mode, Setup
from harness.store.jsonl import Durability
from sandbox import Limits

Section = TypeVar("Section")
FILE = "turnscript.toml"
PREFIX = "TURNSCRIPT_LIMIT_"
PROFILE_VARIABLE = "TURNSCRIPT_PROFILE"
MODE_VARIABLE = "TURNSCRIPT_MODE"
STORE_VARIABLE = "TURNSCRIPT_STORE"
HOME_VARIABLE = "TURNSCRIPT_HOME"
_RECORDS = (Limits, TurnLimits, ShownLimits)
_KEYS = (
    "limits", "shown", "profile", "root", "allow", "approval", "budget", "profiles", "packs", "mode", "flags", "plan_reads",
    "cache", "secrets", "store", "durability", "record", "callers", "surface", "model", "serve", "telemetry", "mcp", "openapi",
)  # fmt: skip
_BUDGET_KEYS = ("turn", "session")
_ALLOWANCE_KEYS = ("calls", "bytes", "seconds")
_RULE_KEYS = ("tool", "then", "arguments")
_SECRETS_KEYS = ("patterns", "variables", "not")
_RECORD_KEYS = ("secrets", "places", "patterns")


@dataclass(frozen=True, slots=True)
class Settings:
    tools: ToolSettings
    setup: Setup
    store: str  # the address where sessions are kept, as `open_store` takes it
    durability: Durability = "fsync"  # flush: a session outlives its process, and not a loss of power
    surface: SurfaceSettings = field(default_factory=SurfaceSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    bridges: tuple[Bridge, ...] = ()

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
    given: Mapping[str, Mapping[str, Any]] | None = None,
) -> Settings:
    """`flags` are `name=value`, as given to --limit; `folder` is where turnscript.toml is looked for; `off`: flags to clear;
    `given`, by section (surface, model, serve, telemetry): what flags say.
    """
    environment = os.environ if environment is None else environment
    path = (folder or Path()) / FILE
    said = _from_file(path)
    values: dict[str, Any] = {
        name: _number(f"{path}: limits.{name}", name, value) for name, value in table_at(path, said, "limits").items()
    }
    values |= _from_environment(environment)
    values |= _from_flags(flags)
    tools = ToolSettings(
        profile=profile or environment.get(PROFILE_VARIABLE) or text_at(path, said, "profile") or DEFAULT_PROFILE,
        profile_from="" if profile else PROFILE_VARIABLE if environment.get(PROFILE_VARIABLE) else f"{path}: profile",
        profiles=profiles_of(path, table_at(path, said, "profiles")),
        packs={name: table_at(path, table_at(path, said, "packs"), name, "packs.") for name in table_at(path, said, "packs")},
        root=root or path.parent / (text_at(path, said, "root") or "."),
        allow=(*texts_at(path, said, "allow"), *allow),
        folder=path.parent,
    )
    budget = table_at(path, said, "budget")
    check_keys(f"{path}: budget", budget, _BUDGET_KEYS)
    told_cache = text_at(path, said, "cache")
    try:
        setup = Setup(
            limits=Limits(**_of(Limits, values)), turn=TurnLimits(**_of(TurnLimits, values)),
            shown=replace(_shown(path, said, shown), **_of(ShownLimits, values)), mode=_mode(path, said, environment, mode),
            flags=_flags(path, said, off),
            policy=Policy((*_rules(path, said), *allowing(tools.allow))), turn_budget=_allowances(path, budget, "turn"),
            session_budget=_allowances(path, budget, "session"),
            plan_reads=switch_at(path, said, "plan_reads", default=False) if plan_reads is None else plan_reads,
            packs=tools.packs, environment=dict(environment),
            cache_folder=cache or (path.parent / Path(told_cache).expanduser() if told_cache else None),
            faults=tuple(parse_fault(one) for one in faults), scrub=_scrub(path, said), callers=_callers(path, said),
            **_secrets(path, said, environment, tools.packs),
        )  # fmt: skip
    except ValueError as error:
        raise BadConfig(str(error)) from None
    kept = store or environment.get(STORE_VARIABLE) or text_at(path, said, "store") or f"jsonl:{sessions_folder(environment)}"
    model = _section(path, said, environment, given, "model", ModelSettings)
    model = replace(model, key=model.key or environment.get(model.key_variable, ""))
    serve = _section(path, said, environment, given, "serve", ServeSettings)
    hidden = {"model.key": model.key, "serve.token": serve.token}
    setup = replace(setup, secrets={**setup.secrets, **{name: value for name, value in hidden.items() if value}})
    return Settings(
        tools, setup, store=kept, durability=_durability(path, said), model=model, serve=serve,
        surface=_section(path, said, environment, given, "surface", SurfaceSettings),
        telemetry=_section(path, said, environment, given, "telemetry", TelemetrySettings),
        bridges=(*_bridges(path, said, "mcp"), *_bridges(path, said, "openapi")),
    )  # fmt: skip


def _section(
    path: Path,
    said: Mapping[str, Any],
    environment: Mapping[str, str],
    given: Mapping[str, Mapping[str, Any]] | None,
    name: str,
    kind: type[Section],
) -> Section:
    """[name] of the file, then variables such as TURNSCRIPT_MODEL_URL, then flags; a flag that is None was not given."""
    prefix = f"TURNSCRIPT_{name.upper()}_"
    known = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    told = {
        key.removeprefix(prefix).lower(): value
        for key, value in environment.items()
        if key.startswith(prefix) and key.removeprefix(prefix).lower() in known
    }
    flags = {key: value for key, value in (given or {}).get(name, {}).items() if value is not None}
    return record_at(f"{path}: {name}", table_at(path, said, name) | told | flags, kind)


def _callers(path: Path, said: Mapping[str, Any]) -> dict[str, Use]:
    """[callers] "shell.*" = "direct": who may call a tool; the first pattern that fits decides."""
    table = table_at(path, said, "callers")
    for pattern, use in table.items():
        if use not in USES:
            raise BadConfig(f'{path}: callers."{pattern}": {use!r} is nobody; choose {", ".join(USES)}')
    return dict(table)


def _bridges(path: Path, said: Mapping[str, Any], kind: Literal["mcp", "openapi"]) -> list[Bridge]:
    table = table_at(path, said, kind)
    return [Bridge(kind=kind, name=name, settings=table_at(path, table, name, f"{kind}.")) for name in table]


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
    told = text_at(path, said, "durability") or "fsync"
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
        (f"{path}: mode", text_at(path, said, "mode")),
    ):
        if not told:
            continue
        for mode in MODES:
            if told.replace("-", "_") == mode:
                return mode
        raise BadConfig(f"{where}: there is no mode {told!r}; choose {', '.join(mode.replace('_', '-') for mode in MODES)}")
    return "enabled"


def _shown(path: Path, said: Mapping[str, Any], given: str | None) -> ShownLimits:
    for where, name in (("--shown", given), (f"{path}: shown", text_at(path, said, "shown"))):
        if name:
            if name not in SHOWN:
                raise BadConfig(f"{where}: there is no set {name!r}; choose {', '.join(SHOWN)}")
            return SHOWN[name]
    return SHOWN["usual"]


def _flags(path: Path, said: Mapping[str, Any], off: Iterable[str]) -> Flags:
    table = table_at(path, said, "flags")
    names = [item.name for item in fields(Flags)]
    check_keys(f"{path}: flags", table, names)
    return Flags(**({name: switch_at(path, table, name, prefix="flags.") for name in table} | dict.fromkeys(off, False)))


def _rules(path: Path, said: Mapping[str, Any]) -> tuple[Rule, ...]:
    """[[approval]] tool, arguments, then: the first that fits decides."""
    listed = said.get("approval", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadConfig(f'{path}: approval must be a list of tables: [[approval]] tool = "shell.run", then = "ask"')
    rules = []
    for number, one in enumerate(listed, 1):
        where = f"approval {number}."
        check_keys(f"{path}: approval {number}", one, _RULE_KEYS)
        tool, then = text_at(path, one, "tool", where), text_at(path, one, "then", where)
        if not tool or then not in ("allow", "ask", "deny"):
            raise BadConfig(f'{path}: {where}then must be "allow", "ask" or "deny", and tool a name or pattern such as "shell.*"')
        arguments = table_at(path, one, "arguments", where)
        patterns = {name: text_at(path, arguments, name, f"{where}arguments.") for name in arguments}
        rules.append(Rule(tool=tool, then=then, arguments=patterns))  # type: ignore[arg-type]
    return tuple(rules)


def _allowances(path: Path, budget: Mapping[str, Any], scope: str) -> dict[str, Allowance]:
    """[budget.turn] web = { calls = 10 }, "web.fetch" = { bytes = 1_000_000, seconds = 30 }"""
    table = table_at(path, budget, scope, "budget.")
    made = {}
    for name in table:
        one = table_at(path, table, name, f"budget.{scope}.")
        check_keys(f"{path}: budget.{scope}.{name}", one, _ALLOWANCE_KEYS)
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
    table = table_at(path, said, "secrets")
    check_keys(f"{path}: secrets", table, _SECRETS_KEYS)
    known = secrets_of(environment, packs)
    known |= {name: environment[name] for name in texts_at(path, table, "variables", "secrets.") if environment.get(name)}
    kept = {name: value for name, value in known.items() if name not in texts_at(path, table, "not", "secrets.")}
    return {"secrets": kept, "secret_patterns": switch_at(path, table, "patterns", prefix="secrets.")}


def _scrub(path: Path, said: Mapping[str, Any]) -> ScrubRules:
    """[record] secrets = true, places = false, patterns = { 'user-\\d+' = "user-N" }"""
    table = table_at(path, said, "record")
    check_keys(f"{path}: record", table, _RECORD_KEYS)
    patterns = table_at(path, table, "patterns", "record.")
    told = {name: text_at(path, patterns, name, "record.patterns.") for name in patterns}
    secrets, places = (
        switch_at(path, table, name, default=name == "secrets", prefix="record.") for name in ("secrets", "places")
    )
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
    check_keys(str(path), told, _KEYS)
    return told


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
        raise BadConfig(f"{where}: there is no limit {name!r}; {nearest_of(name, list(kinds))}")
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
