"""An MCP server over HTTP by the SDK: `PORT`, then the modes json or sse. Run as a program."""

import os
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("shop", port=int(sys.argv[1]), json_response=sys.argv[2] == "json", log_level="CRITICAL", instructions="Sells.")
READS = ToolAnnotations(readOnlyHint=True)


@server.tool(annotations=READS)
def price(thing: str, count: int = 1) -> dict[str, int]:
    """What things cost."""
    return {thing: 3 * count}


@server.tool(annotations=READS)
def big(size: int) -> str:
    return "z" * size


@server.tool(annotations=READS)
def process() -> int:
    return os.getpid()


@server.tool()
def die() -> None:
    os._exit(1)


@server.tool(annotations=READS)
def fails() -> None:
    raise ValueError("out of stock")


@server.tool(annotations=READS)
async def steps(context: Context) -> str:  # type: ignore[type-arg]
    await context.report_progress(1, 2, "half")
    return "done"


@server.resource("shop://About/Us", mime_type="text/plain")
def about() -> str:
    return "A shop."


@server.resource("shop://things/{name}")
def thing(name: str) -> str:
    return f"About {name}."


server.run("streamable-http")
