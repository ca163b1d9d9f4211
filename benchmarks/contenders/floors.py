"""Floors: the least that any design of this kind pays. None of them is usable as a sandbox.

`BareEngine` is a new QuickJS context a script with a twelve-line mailbox and no limits. The sockets run no
script: they send as many frames to a forked echo child, of about the same size, as the script makes host
round trips, which is the least a worker process costs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Self

import _quickjs
import orjson

from benchmarks.contenders import run_on_lanes
from benchmarks.sandbox_cells import Script, echo, page

MAILBOX = """
(() => {
  const outbox = [], waiting = [];
  const call = (tool) => (...args) => new Promise((settle) => {
    outbox.push([waiting.push(settle) - 1, tool, args]);
  });
  globalThis.echo = call("echo");
  globalThis.page = call("page");
  globalThis.take = () => JSON.stringify(outbox.splice(0));
  globalThis.settle = (text) => { for (const [id, value] of JSON.parse(text)) waiting[id](value); };
  globalThis.start = (body) => { body().then((value) => { globalThis.done = JSON.stringify({ value }); }); };
})()
"""
TOOLS: dict[str, Callable[..., Awaitable[object]]] = {"echo": echo, "page": page}


async def settle_one(call_id: int, tool: str, args: list[object]) -> tuple[int, object]:
    return call_id, await TOOLS[tool](*args)


class BareEngine:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        return None

    async def run(self, script: Script, lane: int = 0) -> object:
        context = _quickjs.Context()
        context.eval(MAILBOX)
        context.eval(f"start(async () => {{ {script.js_function_body('')} }})")
        take, settle = context.get("take"), context.get("settle")
        while True:
            while context.execute_pending_job():
                pass
            done = context.get("done")
            if done is not None:
                return orjson.loads(done)["value"]
            calls = orjson.loads(take())
            if len(calls) == 1:
                settled = [await settle_one(*calls[0])]
            else:
                settled = await asyncio.gather(*(settle_one(*call) for call in calls))
            settle(orjson.dumps(settled).decode())

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=1)


HEADER = struct.Struct("<I")


def receive_exactly(link: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = link.recv(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def echo_until_closed(link: socket.socket) -> None:
    while True:
        header = receive_exactly(link, HEADER.size)
        link.sendall(header + receive_exactly(link, HEADER.unpack(header)[0]))


def fork_echo_child() -> tuple[socket.socket, int]:
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        try:
            echo_until_closed(theirs)
        finally:
            os._exit(0)
    theirs.close()
    return ours, child


def frame(payload_bytes: int) -> bytes:
    return HEADER.pack(payload_bytes) + bytes(payload_bytes)


class BlockingSocket:
    async def __aenter__(self) -> Self:
        self.link, self.child = fork_echo_child()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.link.close()
        await asyncio.to_thread(os.waitpid, self.child, 0)

    async def run(self, script: Script, lane: int = 0) -> object:
        for size in script.frame_bytes:
            self.link.sendall(frame(size))
            receive_exactly(self.link, HEADER.size + size)
        return script.expected

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=1)


class Reply(asyncio.Protocol):
    """Resolves the one waiting future when the whole frame is back."""

    def __init__(self) -> None:
        self.missing_bytes = 0
        self.whole: asyncio.Future[None] | None = None

    def data_received(self, data: bytes) -> None:
        self.missing_bytes -= len(data)
        if self.missing_bytes == 0 and self.whole is not None:
            self.whole.set_result(None)


class AsyncSocket:
    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        link, self.child = fork_echo_child()
        self.transport, self.reply = await self.loop.create_connection(Reply, sock=link)
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.transport.close()
        await asyncio.to_thread(os.waitpid, self.child, 0)

    async def run(self, script: Script, lane: int = 0) -> object:
        for size in script.frame_bytes:
            self.reply.missing_bytes = HEADER.size + size
            self.reply.whole = self.loop.create_future()
            self.transport.write(frame(size))
            await self.reply.whole
        return script.expected

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=1)
