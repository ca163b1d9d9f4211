"""What a request over HTTP must pass before MCP sees it: where it goes, who may ask from where, the token, a body of bounded size
that comes in bounded time. Each check is one small app around the next, and `guarded` is their order.
"""

import hmac
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import anyio
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.interfaces import ServeSettings

Unread: TypeAlias = Literal["gone", "late", "large"]  # why there is no body
PATH: Final = "/mcp"
RETRY_SECONDS: Final = 5
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_HEADERS: Final = ("authorization", "content-type", "accept", "mcp-session-id", "mcp-protocol-version", "last-event-id")


def guarded(app: ASGIApp, settings: ServeSettings, token: str) -> ASGIApp:
    """Read from below: the last line is the first that a request meets."""
    app = Crowded(app)
    app = Bodied(app, most_bytes=settings.body_bytes, seconds=settings.body_seconds)
    app = Known(app, token)
    if settings.origins:  # a page asks first, without the token, whether it may ask
        app = CORSMiddleware(
            app, allow_origins=settings.origins, allow_methods=("GET", "POST", "DELETE"), allow_headers=_HEADERS,
            expose_headers=("mcp-session-id",),
        )  # fmt: skip
    return Addressed(app, hosts=(settings.host, *settings.hosts), origins=settings.origins)


def refused(status: int, message: str, **headers: str) -> JSONResponse:
    """`headers`: with _ for -. What is left of the request is not read."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return JSONResponse(body, status, {"connection": "close", **told})


class Addressed:
    """Only this path, only names that are this server's, only pages that are named. A page that had its own name lead here is
    found out by the name it uses.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._app = app
        self._hosts = {_bare(host) for host in (*_LOOPBACK, *hosts)}
        self._origins = set(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = self._refusal(scope)
            await (self._app if answer is None else answer)(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        own = scope.get("server") or ("", 0)  # the address that the connection came to: no other name leads there
        if _bare(host) not in self._hosts | {_bare(str(own[0]))}:
            told = host[:100] or "(none)"
            return refused(421, f"this server is not reached as {told}; use its address, or add the name to serve.hosts")
        if origin is not None and origin not in self._origins:
            return refused(403, f"pages of {origin[:100]} may not connect; add the origin with --origin to let them")
        if scope["path"].rstrip("/") != PATH:
            return refused(404, f"there is nothing here; MCP is served at {PATH}")
        return None


class Known:
    """Only who has the token; compared in a time that says nothing about it."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("latin-1", "replace"), self._token)
        if scheme.lower() == "bearer" and same:
            await self._app(scope, receive, send)
            return
        what = "the token is not this server's" if given else "a token is needed"
        answer = refused(401, f"{what}; send the header Authorization: Bearer TOKEN", www_authenticate="Bearer")
        await answer(scope, receive, send)


class Bodied:
    """The whole body is here before anything else happens; one that is too large or too slow is refused."""

    def __init__(self, app: ASGIApp, *, most_bytes: int, seconds: float) -> None:
        self._app = app
        self._most = most_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = Headers(scope=scope).get("content-length", "")
        body: bytes | Unread = "late"
        if told.isascii() and told.isdigit() and int(told) > self._most:
            body = "large"
        else:
            with anyio.move_on_after(self._seconds):
                body = await self._read(receive)
        match body:
            case "gone":
                return
            case "late":
                app: ASGIApp = refused(408, f"the body did not come within {self._seconds:g} seconds; send it at once")
            case "large":
                app = refused(413, f"the body has more than {self._most:,} bytes; send less, or raise serve.body_bytes")
            case _:
                app, receive = self._app, _told_first({"type": "http.request", "body": body, "more_body": False}, receive)
        await app(scope, receive, send)

    async def _read(self, receive: Receive) -> bytes | Unread:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return "gone"
            body += message.get("body", b"")
            if len(body) > self._most:
                return "large"
            if not message.get("more_body", False):
                return bytes(body)


def _told_first(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def told() -> Message:
        return waiting.pop() if waiting else await receive()

    return told


class Crowded:
    """Where all places are taken the client is told when to come again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        full = False

        async def told(message: Message) -> None:
            nonlocal full
            if message["type"] == "http.response.start" and message["status"] == 503:
                full = True
                text = f"all places for clients are taken; try again in {RETRY_SECONDS} seconds"
                await refused(503, text, retry_after=str(RETRY_SECONDS))(scope, receive, send)
            elif not full:
                await send(message)

        await self._app(scope, receive, told)


def _bare(host: str) -> str:
    """Without port, brackets and capitals: [::1]:8765 is ::1."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]
