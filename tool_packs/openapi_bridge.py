"""An API with an OpenAPI document as a pack: one tool for each operation, called over the same checked connections as the web.

Nothing of a document is trusted but its words: calls go to one host, GET and HEAD read, everything else acts and asks a person.
Schemas are judged when a tool is called for the first time, so that a document with thousands of operations opens at once.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from catalog import BadPack, Facts, Host, Pack, Tool, ToolProblem, facts_of
from catalog.schema import validator
from tool_packs.addresses import Address, Pattern, Reach, parse
from tool_packs.openapi_answers import value_of
from tool_packs.openapi_document import DOCUMENT_BYTES_MAX, Document, checked, read_document
from tool_packs.openapi_http import Api, Bounds
from tool_packs.openapi_operations import Operation, Refused, operations_of
from tool_packs.openapi_request import request_of
from tool_packs.openapi_settings import Settings, base_of, check_patterns, credentials_of, read_settings
from tool_packs.web_fetch import Bounds as PageBounds
from tool_packs.web_fetch import Getter

_READING = ("GET", "HEAD")
_REFUSED_SHOWN = 20
_ABOUT_CHARS = 600
_FETCH_SECONDS = 60.0


def connect(
    name: str, settings: Mapping[str, Any], *, root: Path, folder: Path, environment: Mapping[str, str]
) -> AbstractAsyncContextManager[Pack]:
    """[openapi.NAME] of turnscript.toml. BadPack says what is wrong with the settings, at once."""
    where = f"[openapi.{name}]"
    return _connected(name, where, read_settings(where, settings, environment), folder)


def openapi(
    name: str, document: Path | str | Mapping[str, Any], *, folder: Path | str = ".", **settings: Any
) -> AbstractAsyncContextManager[Pack]:
    """The same from a program. `document`: a path, a URL, or the document itself; `settings` as in [openapi.NAME]: base_url,
    headers, bearer, key, key_name, key_in, tools, without, tags, effects, approval, max_bytes, timeout_seconds.
    """
    where = f"openapi({name!r})"
    given = dict(document) if isinstance(document, Mapping) else str(document)
    return _connected(name, where, read_settings(where, {**settings, "document": given}, {}), Path(folder))


@asynccontextmanager
async def _connected(name: str, where: str, settings: Settings, folder: Path) -> AsyncIterator[Pack]:
    found_at = _address(settings.document)
    if found_at is not None:
        data = await _fetched(where, found_at)
        document = await anyio.to_thread.run_sync(read_document, data, f"{where} {found_at.url}")
    elif isinstance(settings.document, str):
        document = await anyio.to_thread.run_sync(_from_file, where, folder / settings.document)
    else:
        document = await anyio.to_thread.run_sync(checked, settings.document, where)
    base, meant = base_of(where, settings, document, found_at)
    credentials, given = credentials_of(where, settings, document)
    # A host that only the document names may be public and nothing else, however it is written there.
    reach = Reach((Pattern(base.host if meant else "*", base.port),), allow_private=meant)
    bounds = Bounds(bytes_max=settings.max_bytes, timeout_seconds=settings.timeout_seconds)
    api = Api(base, reach, bounds, credentials)
    pack = await anyio.to_thread.run_sync(partial(_pack, name, where, settings, document, api, given))
    try:
        yield pack
    finally:
        with anyio.CancelScope(shield=True):
            await api.aclose()


def _address(document: str | Mapping[str, Any]) -> Address | None:
    if not isinstance(document, str) or not document.lower().startswith(("http://", "https://")):
        return None
    try:
        return parse(document)
    except ToolProblem as problem:
        raise BadPack(f"document: {problem.message}; {problem.hint}") from None


async def _fetched(where: str, address: Address) -> bytes:
    """From its own host alone: whoever wrote the address meant that one."""
    bounds = PageBounds(bytes_max=DOCUMENT_BYTES_MAX, timeout_seconds=_FETCH_SECONDS, redirects_max=3, user_agent="turnscript")
    getter = Getter(Reach((Pattern(address.host, address.port),), allow_private=True), bounds)
    try:
        accept = "application/json, application/yaml;q=0.9, text/*;q=0.8, */*;q=0.5"
        return (await getter.get(address, headers={"Accept": accept})).body
    except ToolProblem as problem:
        raise BadPack(f"{where} document: {problem.message}; download it and give its path, or check the URL") from None
    finally:
        with anyio.CancelScope(shield=True):
            await getter.aclose()


def _from_file(where: str, path: Path) -> Document:
    try:
        if path.stat().st_size > DOCUMENT_BYTES_MAX:
            raise BadPack(f"{where} document: {path} is larger than {DOCUMENT_BYTES_MAX:,} bytes, the most that is read")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise BadPack(f"{where} document: {path}: {said}; give the path of an OpenAPI document, or its URL") from None
    return read_document(data, f"{where} {path.name}")


# ---------------------------------------------------------------- from operations to tools


def _pack(
    name: str, where: str, settings: Settings, document: Document, api: Api, given: list[tuple[str, str]]
) -> Pack:  # fmt: skip
    def wanted(tool: str, tags: frozenset[str]) -> bool:
        seen.append(tool)
        named = not settings.tools or any(fnmatchcase(tool, one) for one in settings.tools)
        tagged = not settings.tags or bool(tags & set(settings.tags))
        return named and tagged and not any(fnmatchcase(tool, one) for one in settings.without)

    seen: list[str] = []
    found = operations_of(document, wanted=wanted, given=given)
    patterns = {
        "tools": settings.tools,
        "without": settings.without,
        "effects": settings.effects,
        "approval": settings.approval or (),
    }
    for setting, listed in patterns.items():
        check_patterns(f"{where} {setting}", listed, seen)
    refused = [one for one in found if isinstance(one, Refused)]
    tools = tuple(_tool(name, one, settings, api) for one in found if isinstance(one, Operation))
    if not tools:
        why = f", such as {refused[0].name}: {refused[0].why}" if refused else ""
        raise BadPack(f"{where}: none of the document's {len(seen)} operations is offered{why}; check tools, without and tags")
    return Pack(name=name, doc=_doc(document, api, refused), tools=tools, open=_lent, source=f"openapi {api.base.url}")


async def _lent(settings: None, host: Host) -> Host:
    """A tool's resource: where a session keeps what is no text."""
    return host


def _tool(pack: str, operation: Operation, settings: Settings, api: Api) -> Tool:
    async def call(host: Host, arguments: dict[str, Any]) -> Any:
        reply = await api.send(request_of(operation, arguments, below=api.below))
        return value_of(reply, method=operation.method, results=host.results, bytes_max=api.bounds.bytes_max)

    schema = operation.input_schema
    optional = [name for name in schema["properties"] if name not in schema["required"]]
    return Tool(
        pack=pack, name=operation.name, doc=operation.doc or f"{operation.method} {operation.path}", input_schema=schema,
        output_schema=operation.output_schema, order=(*schema["required"], *optional),
        facts=_facts(pack, operation, settings, api), function=call, resource="host",
        parse=_parse(schema, f"{pack}.{operation.name}"), dump=lambda value: value, exact_null=True,
    )  # fmt: skip


def _facts(pack: str, operation: Operation, settings: Settings, api: Api) -> Facts:
    def keys(arguments: Mapping[str, Any]) -> list[str]:
        try:
            return [f"api:{pack}", f"url:{api.url(request_of(operation, arguments, below=api.below))}"]
        except ToolProblem:  # the call itself will say so
            return [f"api:{pack}"]

    said = next((one for pattern, one in settings.effects.items() if fnmatchcase(operation.name, pattern)), None)
    reads = said == "reads" or (said is None and operation.method in _READING)
    asks = not reads if settings.approval is None else any(fnmatchcase(operation.name, one) for one in settings.approval)
    seconds = settings.timeout_seconds + 5  # ours ends first, and says more
    if reads:
        return facts_of(effect="reads", reads=keys, approval=asks, timeout_seconds=seconds)
    return facts_of(effect="external", writes=keys, approval=asks, timeout_seconds=seconds)


def _parse(schema: dict[str, Any], where: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    judge = cache(lambda: validator(schema, where))

    def parse(named: dict[str, Any]) -> dict[str, Any]:
        try:
            error = next(judge().iter_errors(named), None)
        except RecursionError:  # deeper than Python's stack: the server judges
            error = None
        if error is not None:
            raise ValueError(error.message)
        return {"arguments": named}

    return parse


def _doc(document: Document, api: Api, refused: list[Refused]) -> str:
    info = document.root.get("info")
    told = info if isinstance(info, Mapping) else {}
    title, about = (str(told.get(key) or "").strip() for key in ("title", "description"))
    parts = [f"{title.rstrip('.') or 'An API'}, at {api.base.url}.", " ".join(about.split())[:_ABOUT_CHARS]]
    if refused:
        rows = [f"- {one.name}: {one.why}" for one in refused[:_REFUSED_SHOWN]]
        rest = [f"- and {len(refused) - _REFUSED_SHOWN} more"] if len(refused) > _REFUSED_SHOWN else []
        parts.append("Not offered:\n" + "\n".join([*rows, *rest]))
    return "\n\n".join(part for part in parts if part)
