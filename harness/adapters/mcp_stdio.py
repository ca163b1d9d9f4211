"""MCP on two file descriptors: a message a line, in and out.

Waiting is done by the event loop and not in threads, so that a stop is a stop: a thread that reads cannot be cancelled, and would
keep the process alive.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import anyio
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from harness.adapters.mcp_server import McpServer

_CHUNK: Final = 65_536
_AT_ONCE: Final = 4_096  # what a pipe that is ready takes without waiting
_LINE_BYTES: Final = 16 * 1024 * 1024  # of one message; a client that sends more is not one

Ready = Callable[[int], Awaitable[None]]


async def serve_stdio(server: McpServer, *, read_from: int = 0, write_to: int = 1) -> None:
    """Until the client closes its end. Nothing else may read or write there."""
    to_server, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks, heard, said:
        tasks.start_soon(_hear, read_from, to_server, said.clone())
        tasks.start_soon(_say, write_to, from_server)
        await server.run(heard, said)
        tasks.cancel_scope.cancel()


async def _hear(
    source: int, to_server: MemoryObjectSendStream[SessionMessage | Exception], said: MemoryObjectSendStream[SessionMessage]
) -> None:
    with to_server, said:
        async for line in _lines(source):
            try:
                message = SessionMessage(types.JSONRPCMessage.model_validate_json(line)) if line is not None else None
            except ValidationError:
                message = None
            try:
                if message is not None:
                    await to_server.send(message)
                else:
                    await said.send(_refused(line))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _lines(source: int) -> AsyncIterator[bytes | None]:
    """Lines with something in them; None for one that was too long."""
    left, too_long = bytearray(), False
    ready: Ready = anyio.wait_readable
    while True:
        ready = await _wait(ready, source)
        chunk = os.read(source, _CHUNK)
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            left += part
            if too_long:
                yield None
            elif left.strip():
                yield bytes(left)
            left, too_long = bytearray(), False
        left += rest
        if len(left) > _LINE_BYTES:
            left, too_long = bytearray(), True
        if not chunk:
            break
    if left.strip():
        yield bytes(left)


async def _say(target: int, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
    ready: Ready = anyio.wait_writable
    with from_server:
        async for said in from_server:
            line = memoryview(said.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n")
            while line:
                ready = await _wait(ready, target)
                try:
                    line = line[os.write(target, line[:_AT_ONCE]) :]
                except BrokenPipeError:  # the client is gone, and its other end will say so
                    return


async def _wait(ready: Ready, descriptor: int) -> Ready:
    """A file on disk is always ready, and cannot be waited for."""
    try:
        await ready(descriptor)
    except PermissionError:
        return _at_once
    return ready


async def _at_once(_: int) -> None:
    await checkpoint()


def _refused(line: bytes | None) -> SessionMessage:
    what = f"a message of more than {_LINE_BYTES:,} bytes" if line is None else "a line that is no JSON-RPC message"
    error = types.ErrorData(code=types.PARSE_ERROR, message=f"{what} was skipped; send one JSON object a line")
    return SessionMessage(types.JSONRPCMessage(types.JSONRPCError(jsonrpc="2.0", id="unread", error=error)))
