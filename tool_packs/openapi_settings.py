"""[openapi.NAME]: which document, which API, which of its operations, and the credentials for it. Read here, checked here.

[openapi.petstore]
document = "petstore.yaml"                 # a path beside turnscript.toml, or a URL
base_url = "https://petstore.example/v1"   # where the API is; the document's first server when not given
bearer = "${PETSTORE_TOKEN}"               # a variable of the environment
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog import BadPack, ToolProblem
from tool_packs.addresses import Address, parse
from tool_packs.openapi_document import Document
from tool_packs.openapi_http import Credentials
from tool_packs.openapi_styles import encoded

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET = re.compile(r"auth|key|token|secret|cookie|password|session|signature", re.IGNORECASE)  # headers that hold one
_NAMES_SHOWN = 8


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    document: str | dict[str, Any]
    base_url: str = ""
    headers: dict[str, str] = {}
    bearer: str = ""
    key: str = ""  # of the API, sent where the document says, or as key_name and key_in say
    key_name: str = ""
    key_in: Literal["header", "query", "cookie"] = "header"
    tools: list[str] = []  # patterns of names; all when empty
    without: list[str] = []
    tags: list[str] = []  # only operations with one of these
    effects: dict[str, Literal["reads", "external"]] = {}  # by pattern; the first that fits decides
    approval: list[str] | None = None  # patterns of those that ask; None: all but those that only read
    max_bytes: int = Field(5 * 1024 * 1024, ge=1)  # of one answer
    timeout_seconds: float = Field(30, gt=0)  # for one call


def read_settings(where: str, told: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """`where` names the place for whoever wrote it: [openapi.petstore]."""
    try:
        read = Settings.model_validate(dict(told))
    except ValidationError as error:
        first = error.errors()[0]
        names = ".".join(str(step) for step in first["loc"][:2]) or "settings"
        if first["type"] == "extra_forbidden":
            raise BadPack(f"{where} {names}: there is no such setting; there are {', '.join(Settings.model_fields)}") from None
        raise BadPack(f"{where} {names}: {first['msg']}") from None
    filled = {name: _filled(f"{where} {name}", getattr(read, name), environment) for name in ("base_url", "bearer", "key")}
    headers = {name: _filled(f"{where} headers.{name}", value, environment) for name, value in read.headers.items()}
    made = read.model_copy(update={**filled, "headers": headers})
    for name, value in {**headers, "Authorization": made.bearer, made.key_name or "key": made.key}.items():
        if not _TOKEN.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise BadPack(f"{where}: the header {name[:40]!r} has a name or a value that cannot be sent")
    if made.bearer and any(name.lower() == "authorization" for name in headers):
        raise BadPack(f"{where}: bearer and headers.Authorization say the same; remove one")
    return made


def base_of(where: str, settings: Settings, document: Document, found_at: Address | None) -> tuple[Address, bool]:
    """The address of the API, and whether a person gave it. Credentials go only where a person said."""
    said = settings.base_url or _first_server(document)
    secret = settings.bearer or settings.key or settings.headers
    if secret and not settings.base_url:
        guess = f'; the document says "{said}"' if said else ""
        raise BadPack(f"{where}: set base_url, so that the credentials go where you mean{guess}")
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", said):
        if found_at is None:
            raise BadPack(f'{where}: the document does not say where the API is; set base_url = "https://…"')
        said = f"{found_at.scheme}://{found_at.netloc}/{said.lstrip('/')}"
    try:
        base = parse(said)
    except ToolProblem as problem:
        raise BadPack(f"{where} base_url: {problem.message}; {problem.hint}") from None
    if "?" in base.target:
        raise BadPack(f"{where} base_url: {base.url} has a query; give the address without it, and keys by key or headers")
    return base, bool(settings.base_url)


def credentials_of(where: str, settings: Settings, document: Document) -> tuple[Credentials, list[tuple[str, str]]]:
    """And which parameters, by place and name, they are: scripts do not see those."""
    headers = dict(settings.headers)
    given = [("header", name) for name in headers]
    query = ""
    if settings.bearer:
        headers["Authorization"] = f"Bearer {settings.bearer}"
    if settings.key:
        place, name = (settings.key_in, settings.key_name) if settings.key_name else _key_place(where, document)
        given.append((place, name))
        if place == "query":
            query = f"{encoded(name)}={encoded(settings.key)}"
        elif place == "cookie":
            headers["Cookie"] = f"{name}={settings.key}"
        else:
            headers[name] = settings.key
    told = [value for name, value in settings.headers.items() if _SECRET.search(name)]
    secrets = [settings.bearer, settings.key, encoded(settings.key), *told, *(value.partition(" ")[2] for value in told)]
    return Credentials(headers, query, tuple(sorted({one for one in secrets if one}, key=len, reverse=True))), given


def check_patterns(where: str, patterns: Iterable[str], names: list[str]) -> None:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            shown = ", ".join(names[:_NAMES_SHOWN]) + (
                f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
            )
            raise BadPack(f"{where}: {pattern!r} fits none of the operations: {shown or 'there are none'}")


def _filled(where: str, text: str, environment: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if not environment.get(found[1]):
            raise BadPack(f"{where}: the variable {found[1]} is not set; set it, or write the value itself")
        return environment[found[1]].strip()

    return _VARIABLE.sub(value, text)


def _first_server(document: Document) -> str:
    """Its variables have their defaults."""
    listed = document.root.get("servers")
    server = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], Mapping) else {}
    url = server.get("url")
    if not isinstance(url, str):
        return ""
    for name, one in document.members(server.get("variables")).items():
        url = url.replace(f"{{{name}}}", str(one.get("default", "")))
    return url.strip()


def _key_place(where: str, document: Document) -> tuple[str, str]:
    components = document.root.get("components")
    schemes = document.members(components.get("securitySchemes")) if isinstance(components, Mapping) else {}
    found = [
        (str(one.get("in")), str(one.get("name")))
        for one in (document.followed(scheme) or {} for scheme in schemes.values())
        if one.get("type") == "apiKey" and one.get("in") in ("header", "query", "cookie")
    ]
    if len(found) != 1 or not _TOKEN.fullmatch(found[0][1]):
        names = ", ".join(f"{name} in {place}" for place, name in found[:4]) or "none"
        raise BadPack(f'{where} key: the document names {names}; set key_name = "X-Api-Key" and key_in = "header"')
    return found[0]
