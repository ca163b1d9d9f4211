"""What the tests of the MCP server share: a harness with tools that answer, fail, ask and wait, and the official client at it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, types
from mcp.shared.memory import create_connected_server_and_client_session

from catalog import ToolProblem, tool
from harness import Harness, MemoryStore, Policy, Rule, Setup
from harness.adapters.mcp_server import McpServer
from harness.callers import Use
from harness.entries import Ended, Entry, Opened
from harness.interfaces import SurfaceSettings
from harness.watching import Watch, nobody

ERASES = "return await tools.desk.erase({ name: 'old' })"
ERASES_OR_SAYS = "try { return await tools.desk.erase({ name: 'old' }) } catch (error) { return error.message }"
WAITS = "show('begun'); await tools.desk.wait({}); return 'never'"


class Desk:
    """`ran`: what was done; `on_wait`: desk.wait has begun; `gate`: lets desk.gate end. Made inside a test: it has events."""

    def __init__(self, root: Path | str = ".", *, callers: Mapping[str, Use] | None = None, **setup: Any) -> None:
        self.root = root
        self.ran: list[str] = []
        self.on_wait: Callable[[], None] = lambda: None
        self.gate = anyio.Event()
        self.store = MemoryStore()
        self.setup = Setup(policy=Policy((Rule(tool="shell.*", then="deny"),)), callers=callers or {}, **setup)

    def harness(self) -> Harness:
        @tool(effect="pure")
        async def echo(text: str) -> str:
            """Give the text back."""
            return text

        @tool(writes=["file:{name}"], approval=True)
        async def erase(name: str) -> str:
            """Erase a file."""
            self.ran.append(f"erase {name}")
            return f"erased {name}"

        @tool(effect="pure")
        async def fails() -> str:
            """Fail."""
            raise ToolProblem("no_paper", "the printer has no paper", hint="put some in")

        @tool(reads=["clock:now"])
        async def wait() -> None:
            """Wait."""
            self.on_wait()
            await anyio.sleep_forever()

        @tool(writes=["tree:."])
        async def run(command: str) -> str:
            """Run a command."""
            self.ran.append(command)
            return "ran"

        @tool(reads=["clock:now"])
        async def gate() -> None:
            """Wait until the test opens it."""
            await self.gate.wait()

        tools = {
            "desk.echo": echo,
            "desk.gate": gate,
            "desk.erase": erase,
            "desk.fails": fails,
            "desk.wait": wait,
            "shell.run": run,
        }
        return Harness(tools=tools, setup=self.setup, store=self.store, root=self.root)

    def sessions(self) -> list[tuple[Entry, ...]]:
        return [self.store.entries(id) for id in self.store._held]

    def entries(self) -> tuple[Entry, ...]:
        """Of the only session."""
        (only,) = self.sessions()
        return only

    def endings(self) -> list[str]:
        return [entry.ending.how for entry in self.entries() if isinstance(entry, Ended)]

    def opened(self) -> Opened:
        first = self.entries()[0]
        assert isinstance(first, Opened)
        return first


@asynccontextmanager
async def client_of(
    harness: Harness, *, surface: SurfaceSettings | None = None, client_roots: bool = False, watch: Watch = nobody, **options: Any
) -> AsyncIterator[ClientSession]:
    """The official client, connected in this process. `options`: what it can do."""
    server = McpServer(harness, surface=surface, client_roots=client_roots, watch=watch)
    async with create_connected_server_and_client_session(server.server, **options) as client:
        yield client


@asynccontextmanager
async def talking(desk: Desk, **options: Any) -> AsyncIterator[ClientSession]:
    async with desk.harness() as harness, client_of(harness, **options) as client:
        yield client


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


async def ran(client: ClientSession, script: str, **rest: Any) -> tuple[str, bool]:
    """What the model reads, and whether it is an error."""
    result = await client.call_tool("run_script", {"script": script}, **rest)
    return "\n".join(texts(result)), result.isError


def cancelling(request: int) -> types.ClientNotification:
    params = types.CancelledNotificationParams(requestId=request, reason="the person stopped it")
    return types.ClientNotification(types.CancelledNotification(params=params))


class Person:
    """Answers elicitations: the choices in their order, or an action such as decline."""

    def __init__(self, *says: str) -> None:
        self._says = list(says)
        self.read: list[str] = []

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        self.read.append(params.message)
        said = self._says.pop(0)
        if said == "error":
            return types.ErrorData(code=types.INTERNAL_ERROR, message="the window is broken")
        if said in ("decline", "cancel"):
            return types.ElicitResult(action=said)  # type: ignore[arg-type]
        return types.ElicitResult(action="accept", content={"choice": said})


def roots_at(*uris: str) -> Callable[[Any], Any]:
    async def listed(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])  # type: ignore[arg-type]

    return listed
