"""An MCP server in this process, and the official client at it. The session is the connection's own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, types
from mcp.shared.memory import create_connected_server_and_client_session

from harness import Harness
from harness.adapters.mcp_server import McpServer
from harness.interfaces import SurfaceSettings
from tests.contracts.adapters import Driver, Told


class ClientAgent:
    def __init__(self, client: ClientSession) -> None:
        self._client = client

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        request = self._client._request_id
        try:
            result = await self._client.call_tool(name, dict(arguments))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                params = types.CancelledNotificationParams(requestId=request, reason="a person stopped the agent")
                await self._client.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
            raise
        texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
        return Told("\n".join(texts), result.isError)


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[ClientAgent]:
    async with harness:
        server = McpServer(harness, surface=SurfaceSettings(yield_seconds=yield_seconds))
        async with create_connected_server_and_client_session(server.server) as client:
            yield ClientAgent(client)


DRIVER = Driver(name="mcp", opened=opened, trio=True)
