"""What comes from another server, message by message: lines of bounded length, and only what the protocol knows.

A server is a stranger. What cannot be read is counted and dropped, a flood is slowed down so that the pipe holds it back, and a
message that is too large becomes an error for the call that it answers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import anyio
import orjson
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    ServerNotification,
    ServerRequest,
)

Incoming = SessionMessage | Exception
TOO_LARGE = -32_090  # our own codes, of errors that no server sent
NOT_RUN = -32_091  # the request did not reach it
ABANDONED = -32_092  # nobody waits for the answer any more

_ENDS_BYTES = 256  # of a line that is too long: enough for the id, which stands first or last
_ENDLESS = 8  # times the limit: a line that is longer than that ends the connection
_UNASKED_A_SECOND = 1_000  # notifications and requests; what comes faster waits
_WAIT_SECONDS = 0.005
_FIRST = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')


class Endless(ValueError):
    """A line that does not end."""


@dataclass(frozen=True, slots=True)
class TooLong:
    id: int | None  # of the request that it answers, where that can be told


class Lines:
    """Bytes in, lines out; never more than the limit is held."""

    def __init__(self, bytes_max: int) -> None:
        self._most = bytes_max
        self._line = bytearray()
        self._skipped = 0  # bytes of a line that is too long
        self._head = b""
        self._tail = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._add(piece)
            yield self._ended()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        if not self._skipped:
            self._line += piece
            if len(self._line) > self._most:
                self._skipped = len(self._line)
                self._head, self._tail = bytes(self._line[:_ENDS_BYTES]), bytes(self._line[-_ENDS_BYTES:])
                self._line = bytearray()
            return
        self._skipped += len(piece)
        self._tail = (self._tail + piece)[-_ENDS_BYTES:]
        if self._skipped > self._most * _ENDLESS:
            raise Endless(f"it sent a line of more than {self._most * _ENDLESS:,} bytes")

    def _ended(self) -> bytes | TooLong:
        if self._skipped:
            found = _FIRST.match(self._head) or _LAST.search(self._tail)
            self._skipped = 0
            return TooLong(int(found[1]) if found else None)
        line, self._line = bytes(self._line), bytearray()
        return line


def message_of(line: bytes | TooLong, bytes_max: int) -> Incoming:
    """An exception for what is no message; ValueErrors are counted and dropped."""
    if isinstance(line, TooLong):
        if line.id is None:
            return ValueError("a message that is too large")
        error = ErrorData(code=TOO_LARGE, message=f"the answer has more than {bytes_max:,} bytes")
        return SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error)))
    try:
        # Not by the SDK's own parser: that one gives up at 200 levels, and one deep schema would take a whole list away.
        return SessionMessage(JSONRPCMessage.model_validate(orjson.loads(line)))
    except ValueError as error:
        return error


@dataclass(slots=True)
class Heard:
    """What a server said that was nobody's answer."""

    odd: int = 0  # messages that could not be read
    answers: int = 0
    _second: float = field(default=0.0, repr=False)
    _unasked: int = field(default=0, repr=False)

    def __str__(self) -> str:
        """What is added where it did not answer."""
        return f"; {self.odd:,} of its messages could not be read" if self.odd else ""

    def must_wait(self, now: float) -> bool:
        """One more message that nobody asked for: is that too many for this second?"""
        if now - self._second >= 1.0:
            self._second, self._unasked = now, 0
        self._unasked += 1
        return self._unasked > _UNASKED_A_SECOND


async def sift(
    incoming: MemoryObjectReceiveStream[Incoming],
    kept: MemoryObjectSendStream[Incoming],
    replies: MemoryObjectSendStream[SessionMessage],
    heard: Heard,
) -> None:
    """Hand on what the SDK can read, until the stream ends: it writes everything else to the log of the whole process."""
    async with incoming, kept, replies:
        try:
            async for message in incoming:
                await _sift_one(message, kept, replies, heard)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the connection is being closed


async def _sift_one(
    message: Incoming,
    kept: MemoryObjectSendStream[Incoming],
    replies: MemoryObjectSendStream[SessionMessage],
    heard: Heard,
) -> None:
    await checkpoint()
    root = None if isinstance(message, Exception) else message.message.root
    if isinstance(message, Exception) or root is None:
        heard.odd += 1
        await _slowed(heard)
        return
    if isinstance(root, JSONRPCNotification | JSONRPCRequest):
        await _slowed(heard)
        kind = ServerNotification if isinstance(root, JSONRPCNotification) else ServerRequest
        try:
            kind.model_validate(root.model_dump(by_alias=True, mode="json", exclude_none=True))
        except ValueError:
            heard.odd += 1
            if isinstance(root, JSONRPCRequest):
                declined = ErrorData(code=METHOD_NOT_FOUND, message=f"{root.method[:100]} is not supported")
                await replies.send(SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=root.id, error=declined))))
            return
    elif not str(root.id).isdecimal():  # an answer to nothing: our ids are numbers
        heard.odd += 1
        return
    else:
        heard.answers += 1
    await kept.send(message)


async def _slowed(heard: Heard) -> None:
    if heard.must_wait(anyio.current_time()):
        await anyio.sleep(_WAIT_SECONDS)
