"""[mcp.NAME]: how another server is reached, which of its tools are wanted, and how far it is believed. Read once, then frozen.

What is unknown, of the wrong kind or not set is an error that names the place and what would be right.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked

from catalog import BadPack
from catalog.effects import Effect
from catalog.nearest import nearest

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(gt=0)]


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(strict=True))
class McpSettings:
    """Patterns, and names in `rename` and `effects`, are the server's own or those that scripts use."""

    command: Annotated[tuple[str, ...], Field(strict=False)] = ()  # the program and its arguments: stdio
    url: str = ""  # or where it listens: streamable HTTP
    env: dict[str, str] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""  # "": the root
    startup_seconds: Seconds = 10.0  # until it is connected and has listed its tools
    call_seconds: Seconds = 60.0
    tools: Annotated[tuple[str, ...], Field(strict=False)] | None = None  # patterns; None: all
    without: Annotated[tuple[str, ...], Field(strict=False)] = ()
    rename: dict[str, str] = field(default_factory=dict)
    effects: dict[str, Effect] = field(default_factory=dict)
    approval: Literal["annotations", "always", "never"] = "annotations"
    trust: bool = False  # believe what it says of its tools also where that makes things laxer
    tools_max: Count = 512
    result_bytes_max: Count = 16 * 1024 * 1024  # of one message: a larger one is not read


@dataclass(frozen=True, slots=True)
class Server:
    """`where`: for whoever wrote the settings, such as [mcp.repo]. `secrets`: values that came from variables; they are
    left out of what is told about the server.
    """

    name: str
    settings: McpSettings
    secrets: tuple[str, ...] = field(default=(), repr=False)
    where: str = ""

    @property
    def key(self) -> str:
        """The resource that its tools read and write, for guards."""
        return f"mcp:{self.name}"

    def told(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return text


def server_from(name: str, where: str, told: Mapping[str, Any], environment: Mapping[str, str]) -> Server:
    """`told`: as configuration has it. BadPack says what is wrong."""
    _check_keys(where, told)
    try:
        settings = McpSettings(**told)
    except ValidationError as error:
        first = error.errors()[0]
        steps = ".".join(str(step) for step in first["loc"]) or "settings"
        came = "" if first["loc"][:1] in (("env",), ("headers",)) else f", not {first['input']!r}"
        raise BadPack(f"{where} {steps}: {first['msg']}{came}") from None
    _check_way(where, settings)
    used: list[str] = []
    env = {key: _filled(f"{where} env.{key}", value, environment, used) for key, value in settings.env.items()}
    headers = {key: _filled(f"{where} headers.{key}", value, environment, used) for key, value in settings.headers.items()}
    url = _filled(f"{where} url", settings.url, environment, used)
    secrets = tuple(one for one in used if len(one) > 3)
    return Server(name, replace(settings, env=env, headers=headers, url=url), secrets, where)


def _check_keys(where: str, told: Mapping[str, Any]) -> None:
    known = [one.name for one in fields(McpSettings)]
    for key in told:
        if key not in known:
            near = nearest(key, known)
            raise BadPack(f"{where}: unknown key {key!r}; " + (f"did you mean {near}?" if near else f"known: {', '.join(known)}"))


def _check_way(where: str, settings: McpSettings) -> None:
    """By command or by address, and nothing that only the other takes."""
    if bool(settings.command) == bool(settings.url):
        said = "both command and url are given" if settings.url else "neither command nor url is given"
        raise BadPack(f'{where}: {said}; give one: command = ["mcp-server-git"], or url = "http://127.0.0.1:8000/mcp"')
    for key, needs in (("env", "command"), ("cwd", "command"), ("headers", "url")):
        if getattr(settings, key) and not getattr(settings, needs):
            raise BadPack(f"{where}: {key} goes with {needs}, which is not given; remove {key}")
    if settings.url and not settings.url.startswith("${"):
        parts = urlsplit(settings.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise BadPack(f"{where} url: {settings.url!r} is no address; write one such as http://127.0.0.1:8000/mcp")


def _filled(where: str, value: str, environment: Mapping[str, str], used: list[str]) -> str:
    """`${NAME}` is the variable's value; its values are added to `used`."""

    def variable(found: re.Match[str]) -> str:
        name = found[1]
        if not environment.get(name):
            raise BadPack(f"{where}: the variable {name} is not set; set it, or write the value without ${{…}}")
        used.append(environment[name])
        return environment[name]

    return _VARIABLE.sub(variable, value)
