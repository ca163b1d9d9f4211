"""A server behind an address: streamable HTTP by the SDK, over a transport of ours that bounds what comes back.

Rule: whatever an answer to a request turns out to be (too large, cut off, a status that is an error, no connection at all), it
becomes the error of that one request, so that its neighbours go on. Nothing is unpacked: a few packed bytes can be gigabytes.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, PARSE_ERROR, JSONRPCMessage, JSONRPCRequest

from tool_packs.mcp_stdio import Streams
from tool_packs.mcp_wire import NOT_RUN, TOO_LARGE

_CONNECT_SECONDS = 10.0
_SAID_BYTES = 500  # of a page that comes with an error
_UNHEARD = logging.NullHandler()
_UNREADABLE: dict[str, object] = {"code": PARSE_ERROR, "message": "its answer is no message of the protocol"}


@asynccontextmanager
async def over_http(
    url: str, headers: dict[str, str], bytes_max: int, *, silent_seconds: float, wire: httpx.AsyncBaseTransport | None = None
) -> AsyncIterator[Streams]:
    """`silent_seconds`: without a byte of an answer. `wire`: what requests go over; None: the network."""
    # What the SDK cannot read it logs with a traceback, which Python prints when the host has set up no logging.
    logging.getLogger("mcp").addHandler(_UNHEARD)
    transport = _Bounded(wire or httpx.AsyncHTTPTransport(), bytes_max)
    timeout = httpx.Timeout(_CONNECT_SECONDS, read=silent_seconds)
    write, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    async with (
        httpx.AsyncClient(transport=transport, headers={**headers, "accept-encoding": "identity"}, timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as (read, posting, _),
        anyio.create_task_group() as tasks,
        write,
    ):
        tasks.start_soon(_one_by_one, leaving, posting, transport)
        try:
            yield Streams(read, write, lambda: "")
        finally:
            tasks.cancel_scope.cancel()


async def _one_by_one(
    leaving: MemoryObjectReceiveStream[SessionMessage], posting: MemoryObjectSendStream[SessionMessage], transport: "_Bounded"
) -> None:
    """A request goes out when the one before is on its way: the SDK starts a task for each and, where tasks may start in any
    order (trio), posts one of two twice and the other never. Answers come in any order.
    """
    async with leaving:
        try:
            async for message in leaving:
                root = message.message.root
                began = transport.expect(int(root.id)) if isinstance(root, JSONRPCRequest) else None
                await posting.send(message)
                if began is not None:
                    with anyio.move_on_after(_CONNECT_SECONDS):
                        await began.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the connection is being closed


class _Bounded(httpx.AsyncBaseTransport):
    def __init__(self, wire: httpx.AsyncBaseTransport, bytes_max: int) -> None:
        self._wire = wire
        self._most = bytes_max
        self._expected: dict[int, anyio.Event] = {}

    def expect(self, asked: int) -> anyio.Event:
        """Set when the request with this id comes by."""
        return self._expected.setdefault(asked, anyio.Event())

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = _id_of(request)
        if asked is not None:
            self.expect(asked).set()
            del self._expected[asked]
        try:
            response = await self._wire.handle_async_request(request)
        except httpx.TransportError as error:
            if asked is None:
                raise
            never = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
            said = f"{request.url.copy_with(query=None, userinfo=b'')}: {error or type(error).__name__}"
            return _failed(asked, NOT_RUN if never else CONNECTION_CLOSED, said)
        if asked is None:
            return _bounded(response, _Bytes(response, self._most, None))
        return await self._answer(asked, response)

    async def _answer(self, asked: int, response: httpx.Response) -> httpx.Response:
        """Of a request that waits for one."""
        if response.status_code >= 400:
            page = await _first(response, _SAID_BYTES)
            said = f"HTTP {response.status_code} {response.reason_phrase}".strip() + (f": {page}" if page else "")
            # 404 is how a server says that it knows nothing of this session any more: it has not looked at the request.
            return _failed(asked, NOT_RUN if response.status_code == 404 else -response.status_code, said)
        packed = response.headers.get("content-encoding", "identity")
        kind = response.headers.get("content-type", "").lower()
        if packed != "identity" or not kind.startswith(("application/json", "text/event-stream")):
            await response.aclose()
            return _failed(asked, -response.status_code, f"its answer is {kind[:80] or 'of no type'} ({packed[:40]})")
        return _bounded(response, _Bytes(response, self._most, asked))


class _Bytes(httpx.AsyncByteStream):
    """The body. `asked`: the request that waits for it, which gets an error in place of what is missing or too much."""

    def __init__(self, response: httpx.Response, bytes_max: int, asked: int | None) -> None:
        self._response = response
        self._most = bytes_max
        self._asked = asked
        self._is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """An answer as JSON is held until it is whole; of events, each is measured by itself."""
        held: list[bytes] = []
        size, resumable, error = 0, False, None
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        try:
            async for chunk in stream:
                size += len(chunk)
                if size > self._most:
                    error = _error(TOO_LARGE, f"the answer has more than {self._most:,} bytes")
                    break
                if not self._is_events:
                    held.append(chunk)
                    continue
                resumable = resumable or b"id:" in chunk
                size = 0 if b"\n\n" in chunk or b"\r\n\r\n" in chunk or b"\r\r" in chunk else size
                yield chunk
        except (httpx.TransportError, anyio.BrokenResourceError, anyio.EndOfStream) as broken:
            error = _error(CONNECTION_CLOSED, f"the answer was cut off: {broken or type(broken).__name__}")
        if self._asked is None:
            if error is not None:
                raise httpx.ReadError(str(error["message"]))
            return
        if not self._is_events:
            whole = b"".join(held)
            yield whole if error is None and _can_be_read(whole) else _message(self._asked, error or _UNREADABLE)
        elif error is not None or not resumable:
            # Read only when no answer has come: the SDK leaves as soon as it has one.
            missing = error or _error(CONNECTION_CLOSED, "the answer was cut off")
            yield b"\n\ndata: " + _message(self._asked, missing) + b"\n\n"

    async def aclose(self) -> None:
        await self._response.aclose()


def _can_be_read(body: bytes) -> bool:
    """By the SDK, which would write it to the log and leave the request waiting."""
    try:
        JSONRPCMessage.model_validate_json(body)
    except ValueError:
        return False
    return True


def _id_of(request: httpx.Request) -> int | None:
    """Of a JSON-RPC request that waits for an answer."""
    if request.method != "POST":
        return None
    body = orjson.loads(request.content)
    return body.get("id") if "method" in body else None


async def _first(response: httpx.Response, most: int) -> str:
    found = b""
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    try:
        async for chunk in stream:
            found += chunk
            if len(found) > most:
                break
    except httpx.TransportError:
        pass  # what there is will do
    await response.aclose()
    return " ".join(found[:most].decode("utf-8", "replace").split())


def _error(code: int, message: str) -> dict[str, object]:
    return {"code": code, "message": message}


def _message(asked: int, error: dict[str, object]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": asked, "error": error})


def _failed(asked: int, code: int, message: str) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return httpx.Response(200, headers=headers, content=_message(asked, _error(code, message)))


def _bounded(response: httpx.Response, stream: _Bytes) -> httpx.Response:
    return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=response.extensions)
