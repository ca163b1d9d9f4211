"""MCP over streamable HTTP: a session for each client, behind the gate. Only this machine can connect unless told.

Runs on asyncio, as uvicorn does.
"""

import asyncio
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import h11
import uvicorn
from anyio.abc import TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from uvicorn.protocols.http.h11_impl import H11Protocol

from harness.adapters.mcp_gate import PATH, guarded
from harness.adapters.mcp_server import McpServer
from harness.interfaces import ServeSettings
from harness.setup import BadConfig

_STOP_SECONDS: Final = 2  # for answers that are on their way when the server stops
_BACKLOG: Final = 2_048
_CONNECTIONS_EACH: Final = 4  # of one client: a stream to listen to, and calls at once
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the server is. `made`: the token was made for this start, and has to be told."""

    url: str
    token: str = field(repr=False)
    made: bool


async def serve_http(
    server: McpServer, settings: ServeSettings, *, task_status: TaskStatus[Address] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Until it is cancelled; every client's session is closed then. BadConfig says what is wrong with the settings."""
    made = not settings.token
    check_settings(settings)
    token = settings.token or secrets.token_urlsafe(_TOKEN_BYTES)
    manager = StreamableHTTPSessionManager(
        server.server, session_idle_timeout=settings.idle_seconds, max_sessions=settings.sessions_max,
        max_request_body_size=settings.body_bytes,
    )  # fmt: skip
    with _listening(settings) as listener:
        http = _Server(_config(guarded(manager.handle_request, settings, token), settings))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_shielded, http, listener)
            try:
                async with manager.run():
                    host = f"[{settings.host}]" if ":" in settings.host else settings.host
                    url = f"http://{host}:{listener.getsockname()[1]}{PATH}"
                    task_status.started(Address(url=url, token=token, made=made))
                    await anyio.sleep_forever()
            finally:
                http.should_exit = True  # after the sessions: their streams have ended, so nothing is waited for


def check_settings(settings: ServeSettings) -> None:
    if not settings.token and not is_loopback(settings.host):
        raise BadConfig(
            f"serve.host {settings.host}: others can reach this address, so it needs a token of your own;"
            " set TURNSCRIPT_SERVE_TOKEN or give --token, or serve on 127.0.0.1"
        )
    if settings.token and not (settings.token.isascii() and settings.token.isprintable() and " " not in settings.token):
        raise BadConfig("serve.token: a token is printable ASCII without spaces, as a header can carry it")
    if not 0 <= settings.port <= 65_535:
        raise BadConfig(f"serve.port: {settings.port} is no port; choose one from 1 to 65535, or 0 for any that is free")
    for name in ("sessions_max", "idle_seconds", "body_bytes", "body_seconds"):
        if not getattr(settings, name) > 0:
            raise BadConfig(f"serve.{name}: {getattr(settings, name)} is not above 0")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _listening(settings: ServeSettings) -> Iterator[socket.socket]:
    where = (settings.host, settings.port)
    try:
        family = socket.getaddrinfo(*where, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server(where, family=family, backlog=_BACKLOG)
    except OSError as error:
        said = str(error.strerror).partition(" (")[0]
        raise BadConfig(
            f"cannot serve on {settings.host} port {settings.port}: {said}; choose others with --host and --port"
        ) from None
    with listener:
        yield listener


async def _shielded(http: uvicorn.Server, listener: socket.socket) -> None:
    """It ends when it is told to, and then closes what it opened; a cancellation would leave connections behind."""
    with anyio.CancelScope(shield=True):
        await http.serve([listener])


def _config(app: Any, settings: ServeSettings) -> uvicorn.Config:
    for name in ("uvicorn.error", "mcp"):  # a stranger's request is no news; it was answered
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("mcp.server.streamable_http").setLevel(logging.CRITICAL)  # it calls a client that leaves an error
    protocol: Callable[..., asyncio.Protocol] = type("Bounded", (BoundedHead,), {"head_seconds": settings.body_seconds})
    return uvicorn.Config(
        app, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,  # type: ignore[arg-type]
        proxy_headers=False, backlog=_BACKLOG, timeout_graceful_shutdown=_STOP_SECONDS,
        limit_concurrency=_CONNECTIONS_EACH * settings.sessions_max + 64,
    )  # fmt: skip


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the business of whoever runs this."""
        yield


class BoundedHead(H11Protocol):
    """A connection whose request line and headers take too long is closed; uvicorn waits for them without end."""

    head_seconds: float = 10.0
    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the start of another request, sent behind this one
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch_head()

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._unwatch_head()
        elif self._head is None:
            self._head = self.loop.call_later(self.head_seconds, self._too_slow)

    def _unwatch_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        self._head = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()
