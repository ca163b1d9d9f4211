"""A server as a program of ours: its group, its three pipes. Messages are lines of JSON; the end of its stderr is its last words.

Rule: when the block ends the program is gone, with everything it started in its group: its input is closed first, then it is
asked to end, then it is killed.
"""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from tool_packs.launch import Launch
from tool_packs.mcp_wire import Endless, Incoming, Lines, message_of
from tool_packs.processes import Group

_READ_BYTES = 65_536
_WORDS_BYTES = 2_048  # of what it wrote to stderr: the end is kept
_EOF_SECONDS = 2.0  # to end by itself when its input is closed
_TERM_SECONDS = 1.0  # and when it is asked to
_HEAR_SECONDS = 0.25  # for its last words


@dataclass(frozen=True, slots=True)
class Streams:
    """`why`: what is known of the end of the connection, once it is over."""

    read: MemoryObjectReceiveStream[Incoming]
    write: MemoryObjectSendStream[SessionMessage]
    why: Callable[[], str]


@dataclass(slots=True)
class _End:
    fault: str = ""
    words: bytes = b""
    code: int | None = None
    heard: anyio.Event = field(default_factory=anyio.Event)

    def why(self) -> str:
        words = " ".join(self.words.decode("utf-8", "replace").split())
        last = f"; its last words: {words}" if words else ""
        return f"{self.fault or _ended(self.code)}{last}"


def _ended(code: int | None) -> str:
    if code is None:
        return "it is gone"
    return f"it ended with exit code {code}" if code >= 0 else f"it was ended by signal {-code}"


@asynccontextmanager
async def over_pipes(launch: Launch, bytes_max: int) -> AsyncIterator[Streams]:
    """ToolProblem when the program cannot be started."""
    group = launch.start(given="pipe", apart=True)
    end = _End()
    arrived, read = anyio.create_memory_object_stream[Incoming](0)
    write, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_reading, group.outputs[0], arrived, bytes_max, end)
            tasks.start_soon(_hearing, group.outputs[1], end)
            tasks.start_soon(_writing, group, leaving, arrived, end)
            try:
                yield Streams(read, write, end.why)
            finally:
                with anyio.CancelScope(shield=True):
                    await _stopped(group, end)
                tasks.cancel_scope.cancel()
    finally:
        for stream in (arrived, read, write, leaving):
            stream.close()
        await group.end()
        end.code = group.returncode


async def _stopped(group: Group, end: _End) -> None:
    group.close_stdin()
    with anyio.move_on_after(0 if end.fault else _EOF_SECONDS):
        await group.exited()
    if not group.has_exited():
        end.fault = end.fault or "it had to be stopped"
        group.signal(signal.SIGTERM)
        with anyio.move_on_after(_TERM_SECONDS):
            await group.exited()
    with anyio.move_on_after(_HEAR_SECONDS):
        await end.heard.wait()


async def _reading(fd: int, arrived: MemoryObjectSendStream[Incoming], bytes_max: int, end: _End) -> None:
    lines = Lines(bytes_max)
    async with arrived:
        try:
            while data := await _read(fd):
                await checkpoint()
                for line in lines.feed(data):
                    if not isinstance(line, bytes) or line.strip():
                        await arrived.send(message_of(line, bytes_max))
        except Endless as error:
            end.fault = str(error)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            # Nobody listens any more. A server that cannot get rid of what it has to say would not end by itself.
            while await _read(fd):
                await checkpoint()


async def _hearing(fd: int, end: _End) -> None:
    """stderr, to its end: a server that may not write there would wait for ever."""
    while data := await _read(fd):
        await checkpoint()
        end.words = (end.words + data)[-_WORDS_BYTES:]
    end.heard.set()


async def _writing(
    group: Group,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arrived: MemoryObjectSendStream[Incoming],
    end: _End,
) -> None:
    async with leaving:
        try:
            async for message in leaving:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True)
                await _write(group, line.encode("utf-8", "replace") + b"\n")
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            if not group.has_exited():
                end.fault = end.fault or "it has closed its input"
            arrived.close()


async def _read(fd: int) -> bytes:
    """The next bytes; none at the end."""
    while True:
        await anyio.wait_readable(fd)
        try:
            return os.read(fd, _READ_BYTES)
        except BlockingIOError:
            continue  # woken for nothing
        except OSError:
            return b""


async def _write(group: Group, data: bytes) -> None:
    left = memoryview(data)
    while left:
        if group.stdin is None:
            raise anyio.ClosedResourceError
        try:
            left = left[os.write(group.stdin, left) :]
        except BlockingIOError:
            await anyio.wait_writable(group.stdin)
