"""A harness as an MCP server: the tools of its surface, two to look tools up, whole values as resources.

Every connection has a session of its own (`mcp_sessions.py`). This file only translates; what the model gets wrong is a result
with `isError`, and what the client gets wrong an error of the protocol.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from catalog import Tool, ToolProblem
from harness.adapters import mcp_lookup as lookup
from harness.adapters import mcp_resources as resources
from harness.adapters.definitions import Definition, definitions
from harness.adapters.mcp_sessions import Asked, Client, Serving, connected
from harness.adapters.presets import preset_named
from harness.adapters.surface import Result
from harness.callers import offer_to
from harness.harness import Harness
from harness.interfaces import SurfaceSettings
from harness.pack_digest import turnscript_version
from harness.problems import told
from harness.redaction import Redactor
from harness.watching import Watch, nobody

NAME: Final = "turnscript"
_INSTRUCTIONS: Final = (
    "Work is done by scripts: {tool} runs one JavaScript script, which calls any number of tools and shows only what is needed."
    f" {lookup.SEARCH} finds tools for it, {lookup.DESCRIBE} declares them. What was cut can be read whole as the resource"
    f" {resources.SCHEME}HANDLE."
)
_LOOKS: Final = types.ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)


class McpServer:
    """Of a harness that is entered already: packs to come are on offer only then. `watch` is told what happens in every session;
    `client_roots`: a client may name any folder to work in, and not only one below the root of the harness.
    """

    def __init__(
        self, harness: Harness, *, surface: SurfaceSettings | None = None, client_roots: bool = False, watch: Watch = nobody
    ) -> None:
        surface, setup = surface or SurfaceSettings(), harness.setup
        redactor = Redactor(setup.secrets, patterns=setup.secret_patterns)
        self._serving = Serving(harness=harness, surface=surface, client_roots=client_roots, watch=watch, redactor=redactor)
        preset = preset_named(surface.preset)
        self._preset = preset if surface.yield_seconds is None else replace(preset, yield_seconds=surface.yield_seconds)
        self._definitions = definitions(harness.offer, self._preset, callers=setup.callers)
        says = _INSTRUCTIONS.format(tool=self._preset.tool)
        self._plans = setup.plan_reads and setup.flags.two_pass  # then a session has a pack more than its harness
        self.server: Server[Client, Any] = Server(
            NAME,
            version=turnscript_version(),
            instructions=says,
            lifespan=self._connected,
        )
        self.server.request_handlers |= {
            types.ListToolsRequest: self._list_tools,
            types.CallToolRequest: self._call_tool,
            types.ListResourcesRequest: self._list_resources,
            types.ListResourceTemplatesRequest: self._list_templates,
            types.ReadResourceRequest: self._read_resource,
        }

    async def run(
        self,
        read: MemoryObjectReceiveStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Serve one client by these streams, until it goes."""
        await self.server.run(read, write, self.server.create_initialization_options())

    @asynccontextmanager
    async def _connected(self, _: Server[Client, Any]) -> AsyncIterator[Client]:
        async with connected(self._serving) as client:
            yield client

    def _now(self) -> tuple[Client, Asked]:
        """Whose request this is."""
        context = self.server.request_context
        token = None if context.meta is None else context.meta.progressToken
        return context.lifespan_context, Asked(session=context.session, request=context.request_id, token=token)

    # ------------------------------------------------------------ tools

    async def _list_tools(self, _: types.ListToolsRequest) -> types.ServerResult:
        client, asked = self._now()
        made = (await client.surface(asked)).definitions if self._plans else self._definitions
        offered = self._serving.harness.offer.tools
        listed = [_tool(one, offered) for one in made]
        for name, doc, schema in (
            (lookup.SEARCH, lookup.SEARCH_DOC, lookup.SEARCH_SCHEMA),
            (lookup.DESCRIBE, lookup.DESCRIBE_DOC, lookup.DESCRIBE_SCHEMA),
        ):
            listed.append(types.Tool(name=name, description=doc, inputSchema=schema, annotations=_LOOKS))
        return types.ServerResult(types.ListToolsResult(tools=listed))

    async def _call_tool(self, request: types.CallToolRequest) -> types.ServerResult:
        name, arguments = request.params.name, request.params.arguments or {}
        client, asked = self._now()
        if name in (lookup.SEARCH, lookup.DESCRIBE):
            harness = self._serving.harness
            return _result(lookup.looked_up(offer_to(harness.offer, harness.setup.callers, "script"), name, arguments))
        names = [one.name for one in self._definitions]
        if name not in names:
            problem = told("unknown_call", name=name[:80], names=", ".join([*names, lookup.SEARCH, lookup.DESCRIBE]))
            return _result(Result(text=f"{problem.code}: {problem.message}\nhint: {problem.hint}", is_error=True))
        result, notices = await client.call(asked, name, arguments)
        return _result(result, notices)

    # ------------------------------------------------------------ resources

    async def _list_resources(self, request: types.ListResourcesRequest) -> types.ServerResult:
        client, _ = self._now()
        cursor = None if request.params is None else request.params.cursor
        return types.ServerResult(resources.listed(client.items_in_view(), cursor))

    async def _list_templates(self, _: types.ListResourceTemplatesRequest) -> types.ServerResult:
        return types.ServerResult(types.ListResourceTemplatesResult(resourceTemplates=[resources.TEMPLATE]))

    async def _read_resource(self, request: types.ReadResourceRequest) -> types.ServerResult:
        client, asked = self._now()
        handle = resources.handle_in(request.params.uri)
        try:
            value = await client.recall(asked, handle)
        except ToolProblem as problem:
            raise resources.not_found(problem.message, problem.hint) from None
        return types.ServerResult(resources.content(request.params.uri, handle, value))


def _result(result: Result, notices: Iterable[str] = ()) -> types.ServerResult:
    """What is told beside the turn's own text stands in a block of its own."""
    texts = [result.text, *(f"notice: {notice}" for notice in notices)]
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in texts]
    return types.ServerResult(types.CallToolResult(content=content, isError=result.is_error))


def _tool(definition: Definition, offered: Mapping[str, Tool]) -> types.Tool:
    match definition.kind:
        case "wait":
            hints = _LOOKS.model_copy(update={"idempotentHint": False})
        case "direct":
            hints = annotations([offered[definition.tool]])
        case "script":
            hints = annotations(offered.values())
    return types.Tool(
        name=definition.name, description=definition.description, inputSchema=dict(definition.parameters), annotations=hints
    )  # fmt: skip


def _is_inward(tool: Tool) -> bool:
    writes = tool.facts.writes
    return tool.facts.effect == "writes" and not callable(writes) and all(key.startswith("plan:") for key in writes)


def annotations(tools: Iterable[Tool]) -> types.ToolAnnotations:
    """The worst that these tools may do. What stays inside the session, such as its plan, is not counted."""
    effects = {tool.facts.effect for tool in tools if not _is_inward(tool)}
    reads = effects <= {"pure", "reads"}
    return types.ToolAnnotations(
        readOnlyHint=reads, destructiveHint=not reads, idempotentHint=reads, openWorldHint="external" in effects
    )
