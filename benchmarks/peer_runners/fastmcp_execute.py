"""FastMCP's CodeMode transform over an in-memory client: tools `search`, `get_schema` and `execute`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider
from fastmcp.tools.base import Tool, ToolResult

from benchmarks.peer_runners.lines import Answer, Request, function_json, ran, serve
from tests.mistakes.shop import Shop, flat

LIMITS = {"max_feed_duration_secs": 2.0, "max_memory": 100_000_000}  # its own but for the time


def server() -> FastMCP[Any]:
    return FastMCP("shop", transforms=[CodeMode(sandbox_provider=MontySandboxProvider(limits=LIMITS))])


async def run(request: Request) -> Answer:
    shop = Shop(ToolError)
    mcp = server()
    for name, function in flat(shop).items():
        mcp.add_tool(Tool.from_function(function, name=name))
    async with Client(mcp) as client:
        try:
            result = await client.call_tool("execute", {"code": request["source"]}, raise_on_error=False)
        except Exception as error:
            return ran(f"{type(error).__name__}: {error}", survived=False, orders=shop.orders)
    text = "\n".join(part.text for part in result.content if hasattr(part, "text"))
    return ran(text, survived=True, orders=shop.orders)


class Declared(Tool):
    """A tool that is only declared: nobody calls it."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content="")


def catalogue(tools: list[dict[str, Any]]) -> FastMCP[Any]:
    mcp = server()
    for tool in tools:
        mcp.add_tool(Declared(name=tool["name"], description=tool["description"], parameters=tool["parameters"]))
    return mcp


async def prompt(request: Request) -> Answer:
    async with Client(catalogue(request["tools"])) as client:
        offered = await client.list_tools()
        wire = [function_json(tool.name, tool.description or "", tool.input_schema) for tool in offered]
    return {"parts": {"tools": "".join(wire)}}  # the server gives no instructions unless its author writes some


async def discover(request: Request) -> Answer:
    async with Client(catalogue(request["tools"])) as client:
        found = await client.call_tool("search", {"query": request["query"]})
        declared = await client.call_tool("get_schema", {"tools": [request["name"]]})
    texts = ["\n".join(part.text for part in result.content) for result in (found, declared)]
    return {"search": texts[0], "declaration": texts[1]}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(serve({"run": run, "prompt": prompt, "discover": discover}))
