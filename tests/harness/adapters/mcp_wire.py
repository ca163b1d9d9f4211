"""MCP over HTTP by hand: messages, requests as httpx sends them, and bytes on a socket."""

import json
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx

from harness.adapters.mcp_http import Address


def initializing(**capabilities: Any) -> dict[str, Any]:
    info = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "hand", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}


def calling(script: str) -> dict[str, Any]:
    call = {"name": "run_script", "arguments": {"script": script}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}


def headers_of(address: Address, *, session: str = "", **more: str) -> dict[str, str]:
    """`more`: with _ for -; an empty one is left out."""
    told = {
        "authorization": f"Bearer {address.token}", "accept": "application/json, text/event-stream",
        "content-type": "application/json", "mcp-session-id": session,
    } | {name.replace("_", "-"): value for name, value in more.items()}  # fmt: skip
    return {name: value for name, value in told.items() if value}


async def posted(address: Address, message: Any, *, session: str = "", url: str = "", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(headers=headers_of(address, session=session, **headers), timeout=20) as http:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await http.post(url or address.url, content=body)


def head(address: Address, *more: str, method: str = "POST") -> bytes:
    """Of a request that may enter."""
    lines = [
        f"{method} /mcp HTTP/1.1", f"host: {urlsplit(address.url).netloc}", f"authorization: Bearer {address.token}",
        "accept: application/json, text/event-stream", "content-type: application/json", *more, "", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


async def answer_to(address: Address, *parts: bytes) -> bytes:
    """What comes back on a connection that sends these bytes, then nothing, until the server closes it."""
    where = urlsplit(address.url)
    assert where.hostname is not None and where.port is not None
    came = b""
    with anyio.fail_after(5):
        async with await anyio.connect_tcp(where.hostname, where.port) as stream:
            try:
                for part in parts:
                    await stream.send(part)
                while True:
                    came += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return came
