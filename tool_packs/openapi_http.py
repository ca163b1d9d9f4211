"""The one host of an API: requests go to it and nowhere else, inside all bounds. Credentials are added here, and hidden again in
whatever comes back.
"""

import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread

from catalog import ToolProblem
from tool_packs.addresses import Address, Reach, redirected
from tool_packs.connect import CheckedBackend, Dial, Resolve, dial, resolve_host, tls
from tool_packs.openapi_request import Request
from tool_packs.web_extra import httpcore
from tool_packs.web_fetch import CONNECTIONS_MAX, Unpacked

ACCEPT = "application/json, text/*;q=0.8, */*;q=0.5"
FAILED_BYTES_MAX = 16_384  # of the answer to a request that failed, so that the script can see why
_REDIRECTS = (301, 302, 303, 307, 308)
_REDIRECTS_MAX = 3
_SECRET_CHARS_MIN = 6  # shorter ones stand in any text
HIDDEN = "[hidden]"


@dataclass(frozen=True, slots=True)
class Credentials:
    headers: dict[str, str] = field(default_factory=dict)
    query: str = ""  # name=value, encoded
    secrets: tuple[str, ...] = ()

    def hidden(self, data: bytes) -> bytes:
        for secret in self.secrets:
            if len(secret) >= _SECRET_CHARS_MIN:
                data = data.replace(secret.encode(), HIDDEN.encode())
        return data


@dataclass(frozen=True, slots=True)
class Reply:
    url: str  # without credentials
    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    bytes_max: int
    timeout_seconds: float


class Api:
    """Holds the connections. `resolve`, `dial` and `make_tls` are the seams to the network."""

    def __init__(
        self,
        base: Address,
        reach: Reach,
        bounds: Bounds,
        credentials: Credentials,
        *,
        resolve: Resolve = resolve_host,
        dial: Dial = dial,
        make_tls: Callable[[], ssl.SSLContext] = tls,
    ) -> None:
        self.base = base
        self.bounds = bounds
        self._credentials = credentials
        self._backend = CheckedBackend(reach, resolve, dial)
        self._make_tls = make_tls
        self._lock = anyio.Lock()
        self._pool: httpcore.AsyncConnectionPool | None = None

    @property
    def below(self) -> str:
        """The path that all of its operations stand below."""
        return self.base.target.rstrip("/")

    def url(self, request: Request) -> str:
        return replace(self.base, target=request.target).url

    async def send(self, request: Request) -> Reply:
        """Whatever the status; ToolProblem when there is no answer that can be read."""
        seconds = self.bounds.timeout_seconds
        with anyio.move_on_after(seconds):
            return await self._follow(request)
        raise ToolProblem(
            "timed_out", f"{request.method} {self.url(request)} was not answered in full within {seconds:g} s",
            hint=_again(request), data={"seconds": seconds},
        )  # fmt: skip

    async def aclose(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()

    async def _follow(self, request: Request) -> Reply:
        for _ in range(_REDIRECTS_MAX + 1):
            reply = await self._once(request)
            location = reply.headers.get("location")
            if reply.status not in _REDIRECTS or location is None:
                return reply
            there = redirected(replace(self.base, target=request.target), location)
            same = (there.scheme, there.host, there.port) == (self.base.scheme, self.base.host, self.base.port)
            if not same or request.method not in ("GET", "HEAD"):
                what = "another host" if not same else "another path"
                raise ToolProblem(
                    "redirect_refused", f"{request.method} {reply.url} redirects to {what}, {there.url}, which is not followed",
                    hint="ask a person whether base_url is right", data={"status": reply.status, "location": there.url},
                )  # fmt: skip
            request = replace(request, target=there.target)
        raise ToolProblem(
            "too_many_redirects", f"{reply.url} redirects more than {_REDIRECTS_MAX} times", hint="use another operation"
        )

    async def _once(self, request: Request) -> Reply:
        pool = await self._opened()
        joined = request.target
        if self._credentials.query:
            joined += ("&" if "?" in joined else "?") + self._credentials.query
        target = httpcore.URL(scheme=self.base.scheme, host=self.base.host, port=self.base.port, target=joined)
        own = {name.lower() for name in self._credentials.headers}
        sent = [
            ("Host", self.base.netloc), ("User-Agent", "turnscript"), ("Accept", ACCEPT), ("Accept-Encoding", "gzip, deflate"),
            *((name, value) for name, value in request.headers.items() if name.lower() not in own),
        ]  # fmt: skip
        sent = [(name, value) for name, value in sent if name.lower() not in own] + list(self._credentials.headers.items())
        if request.body is not None or request.method in ("POST", "PUT", "PATCH"):
            sent.append(("Content-Length", str(len(request.body or b""))))
        seconds = self.bounds.timeout_seconds
        timeout = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in sent]
        try:
            async with pool.stream(
                request.method, target, headers=headers, content=request.body, extensions={"timeout": timeout}
            ) as response:
                return await self._read(request, response)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ConnectionNotAvailable) as error:
            why = str(error) or type(error).__name__
            raise ToolProblem(
                "not_reached", f"{self.base.scheme}://{self.base.netloc} could not be reached: {why}", hint=_again(request)
            ) from None
        except (httpcore.ProtocolError, zlib.error) as error:
            raise ToolProblem(
                "bad_answer", f"{request.method} {self.url(request)}: the answer cannot be read: {error}", hint=_again(request)
            ) from None
        except ToolProblem as problem:
            raise _for_an_api(problem) from None

    async def _read(self, request: Request, response: httpcore.Response) -> Reply:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        good = 200 <= response.status < 300
        most = self.bounds.bytes_max if good else FAILED_BYTES_MAX
        into = Unpacked(headers.get("content-encoding", "").strip().lower(), most)
        broken: zlib.error | None = None
        try:
            async for piece in response.aiter_stream():
                try:
                    into.feed(piece)
                except zlib.error as error:
                    broken = error
                if into.full or broken is not None:  # not `break`: on a closed connection the library's generators end themselves
                    await response.aclose()
        except (httpcore.NetworkError, httpcore.ProtocolError):
            if not into.full and broken is None:
                raise
        if good and broken is not None:
            raise broken
        if good and not into.full and not into.ended:
            raise zlib.error("the packed body ends too early")
        body = self._credentials.hidden(bytes(into.body[:most]))
        return Reply(self.url(request), response.status, headers, body, whole=not into.full)

    async def _opened(self) -> httpcore.AsyncConnectionPool:
        async with self._lock:
            if self._pool is None:
                context = await anyio.to_thread.run_sync(self._make_tls)
                self._pool = httpcore.AsyncConnectionPool(
                    ssl_context=context, max_connections=CONNECTIONS_MAX, keepalive_expiry=5.0, network_backend=self._backend
                )
            return self._pool


def _again(request: Request) -> str:
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return "try again later"
    return "it may have taken effect all the same: look before you try again"


def _for_an_api(problem: ToolProblem) -> ToolProblem:
    """What the rules for hosts say speaks of another pack's settings."""
    if problem.code not in ("address_refused", "host_not_allowed"):
        return problem
    hint = "ask a person to set base_url for this API, if that address is meant"
    return ToolProblem(problem.code, problem.message, hint=hint, data=problem.data)
