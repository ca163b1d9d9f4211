"""FastMCP's CodeMode over an in-memory client, without an agent: first_run's script in its `execute`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp import Client, FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider
from fastmcp.tools.base import Tool

from benchmarks.peer_runners.first_run import Once, main, python, same

CODE = python('call_tool("same", {"n": n})', value='one["result"]', end="return ")


@asynccontextmanager
async def made() -> AsyncIterator[Once]:
    mcp: FastMCP[None] = FastMCP("first", transforms=[CodeMode(sandbox_provider=MontySandboxProvider())])
    mcp.add_tool(Tool.from_function(same, name="same"))
    async with Client(mcp) as client:

        async def once() -> str:
            result = await client.call_tool("execute", {"code": CODE})
            return "\n".join(part.text for part in result.content if hasattr(part, "text"))

        yield once


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(made)
