"""Tools of another MCP server as a pack: `mcp_server("repo", command=["mcp-server-git"])`, or [mcp.repo] in turnscript.toml.

The pack is there while the connection is. What the server lists when it is connected is the offer; what changes later is not.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp import McpError
from mcp.client.stdio import get_default_environment

from catalog import BadPack, Host, Pack, Tool, ToolProblem
from tool_packs.launch import environment_of
from tool_packs.mcp_http import over_http
from tool_packs.mcp_launch import launch_of
from tool_packs.mcp_link import Gone, Link, Opening
from tool_packs.mcp_resources import RESOURCE_TOOLS, resource_call
from tool_packs.mcp_results import value_of
from tool_packs.mcp_settings import Server, server_from
from tool_packs.mcp_stdio import over_pipes
from tool_packs.mcp_tools import Listed, check_names, chosen, clean_text, listed_from, may_ask_again, script_names, tool_of
from tool_packs.progress import Progress

_PAGES_MAX = 200
_LISTED_MAX = 20_000  # tools that are looked at; `tools_max` are offered
_DOC_CHARS = 2_000
_CALL_ERRORS = {-32601: "it does not know tools/call", -32602: "it does not take these arguments, or does not know the tool"}


def mcp_server(
    name: str,
    *,
    root: Path | str = ".",
    folder: Path | str = ".",
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> AbstractAsyncContextManager[Pack]:
    """A pack to come, for `Harness(packs=[…])`. `settings`: `command` or `url`, and the others of docs/mcp-client.md.

    `root` is told to the server and is where its program starts; `cwd` counts from `folder`. `environment` is where `${NAME}`
    comes from, and what a program gets of; None: PATH, HOME and the like. BadPack says at once what is wrong with a setting.
    """
    known = get_default_environment() if environment is None else environment
    return _connected(server_from(name, f"mcp_server({name!r})", settings, known), Path(root), Path(folder), known)


def connect(
    name: str, settings: Mapping[str, Any], *, root: Path, folder: Path, environment: Mapping[str, str]
) -> AbstractAsyncContextManager[Pack]:
    """From [mcp.NAME], as written."""
    return _connected(server_from(name, f"[mcp.{name}]", settings, environment), root, folder, environment)


def _connected(server: Server, root: Path, folder: Path, environment: Mapping[str, str]) -> AbstractAsyncContextManager[Pack]:
    Pack(name=server.name, doc="", tools=())  # a name that scripts cannot write is an error now, and not once it is connected
    return _Bridge(server, _opening(server, root, folder, environment), root)


def _opening(server: Server, root: Path, folder: Path, environment: Mapping[str, str]) -> Opening:
    told = server.settings
    if told.url:
        silent = told.call_seconds + told.startup_seconds
        return partial(over_http, told.url, told.headers, told.result_bytes_max, silent_seconds=silent)
    cwd = (folder / told.cwd if told.cwd else root).absolute()
    if not cwd.is_dir():
        raise BadPack(f"{server.where} cwd: there is no folder {cwd}")
    try:
        launch = launch_of(told.command, str(cwd), environment_of(environment, told.env))
    except ToolProblem as problem:
        raise BadPack(f"{server.where} command: {problem.message}; {problem.hint}") from None
    return partial(over_pipes, launch, told.result_bytes_max)


class _Bridge(AbstractAsyncContextManager[Pack]):
    """By hand and not by a generator: what is raised inside must come out as it is, and not wrapped by the tasks' group."""

    def __init__(self, server: Server, opening: Opening, root: Path) -> None:
        self._server = server
        self._opening = opening
        self._root = root
        self._tasks: TaskGroup | None = None
        self._link: Link | None = None

    async def __aenter__(self) -> Pack:
        if self._tasks is not None:
            raise BadPack(f"{self._server.where}: this connection was used already; make a new one")
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._link = Link(self._server, self._opening, self._root, self._tasks)
        try:
            return await _pack_of(self._link)
        except BaseException:
            await self._shut()
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._shut()

    async def _shut(self) -> None:
        assert self._tasks is not None and self._link is not None
        await self._link.close()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)


async def _pack_of(link: Link) -> Pack:
    server = link.server
    try:
        hello = await link.hello()
        with anyio.fail_after(server.settings.startup_seconds):
            every = [one async for one in _listed(link)] if hello.capabilities.tools is not None else []
    except TimeoutError:
        said = f"it did not list its tools in {server.settings.startup_seconds:g} s{link.odd}; raise startup_seconds"
        raise BadPack(f"{server.where}: {said}") from None
    except (Gone, McpError, ToolProblem) as error:
        way = "url" if server.settings.url else "command"
        raise BadPack(f"{server.where} cannot be used: {server.told(str(error))}; check its {way}") from None
    each_once = {one.name: one for one in reversed(every)}
    there = [*reversed(each_once.values()), *(RESOURCE_TOOLS if hello.capabilities.resources is not None else ())]
    check_names(server, [one.name for one in there])
    offered = chosen(there, server.settings)
    if len(offered) > server.settings.tools_max:
        said = f"it lists {len(offered):,} tools, and at most {server.settings.tools_max:,} are taken"
        raise BadPack(f'{server.where}: {said}; name those you want: tools = ["search_*"], or raise tools_max')
    if not offered:
        raise BadPack(f"{server.where}: it offers no tools; check its settings, or remove it")
    names = script_names(server, (one.name for one in offered))
    title = hello.serverInfo.title or hello.serverInfo.name
    doc = clean_text(f"{title}, an MCP server.\n\n{hello.instructions or ''}", _DOC_CHARS)
    tools = tuple(_tool(link, one, name) for one, name in zip(offered, names, strict=True))
    return Pack(name=server.name, doc=doc, tools=tools, open=_lent, source=f"mcp:{server.name}")


async def _lent(settings: None, host: Host) -> Host:
    """Each session's own host: its progress, its place for whole values."""
    return host


async def _listed(link: Link) -> AsyncIterator[Listed]:
    """Page by page, in the server's order; what is no tool is left out."""
    server, cursor, seen, count = link.server, None, set[str](), 0
    for _ in range(_PAGES_MAX):
        page = await link.ask("tools/list", {} if cursor is None else {"cursor": cursor}, again=True)
        told = page.get("tools")
        for item in told if isinstance(told, list) else ():
            count += 1
            if count > _LISTED_MAX:
                raise BadPack(f"{server.where}: it lists more than {_LISTED_MAX:,} tools; ask its author for less")
            if (one := listed_from(item)) is not None:
                yield one
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return
        if cursor in seen:
            raise BadPack(f"{server.where}: its list of tools leads back to an earlier page; ask its author to mend it")
        seen.add(cursor)
    raise BadPack(f"{server.where}: its list of tools has more than {_PAGES_MAX} pages; ask its author for less")


def _tool(link: Link, listed: Listed, name: str) -> Tool:
    server = link.server
    full_name = f"{server.name}.{name}"
    if any(listed is one for one in RESOURCE_TOOLS):
        asking = resource_call(link, listed.name, full_name)
        return tool_of(listed, name, server, partial(_told, link, full_name, again=True, asking=asking))
    again = may_ask_again(listed, server.settings)

    async def call(host: Host, arguments: dict[str, Any]) -> Any:
        shown = Progress(full_name, host.progress)

        async def report(progress: float, total: float | None, message: str | None) -> None:
            of = f" of {total:g}" if total is not None else ""
            shown.add(f"{progress:g}{of}{': ' + clean_text(message, 500) if message else ''}\n".encode())

        answer = await link.ask("tools/call", {"name": listed.name, "arguments": arguments}, again=again, progress=report)
        shown.flush()
        return value_of(answer, tool=full_name, results=host.results)

    return tool_of(listed, name, server, partial(_told, link, full_name, again=again, asking=call))


async def _told(link: Link, full_name: str, host: Host, arguments: dict[str, Any], *, again: bool, asking: Any) -> Any:
    """What goes wrong, as problems that say what a script can do."""
    try:
        return await asking(host, arguments)
    except Gone as gone:
        doubt = "it may have run: look before you call it again" if gone.ran and not again else "the next call connects anew"
        raise ToolProblem("server_gone", f"{full_name}: the server is gone: {gone}", hint=doubt) from None
    except McpError as error:
        said = link.server.told(clean_text(error.error.message, _DOC_CHARS)) or "it does not say why"
        hint = _CALL_ERRORS.get(error.error.code, "these are the server's words; mend the arguments")
        if link.changed:
            hint = "the server's tools have changed since it was connected, and this one may be gone; use another"
        raise ToolProblem("mcp_error", f"{full_name}: {said}", hint=hint, data={"code": error.error.code}) from None
