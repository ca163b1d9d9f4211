"""One GET, hop by hop, inside all bounds: allowed hosts, redirects, bytes on the wire and unpacked, time in all.

No cookies, no credentials, no proxies, nothing of the environment: a request carries what is written here and no more.
"""

import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

import anyio
import anyio.to_thread

from catalog import ToolProblem
from tool_packs.addresses import Address, Reach, redirected
from tool_packs.connect import CheckedBackend, Dial, Resolve, dial, resolve_host, tls
from tool_packs.web_extra import httpcore

ACCEPT = "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.8,*/*;q=0.1"
CONNECTIONS_MAX = 16
EXCERPT_BYTES = 2_048  # of a failed answer's body, so that the script can see why
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    bytes_max: int
    timeout_seconds: float
    redirects_max: int
    user_agent: str


@dataclass(frozen=True, slots=True)
class Got:
    address: Address  # where the last redirect led
    status: int
    content_type: str
    body: bytes
    no_store: bool


class Getter:
    """Holds the connections. `resolve`, `dial` and `make_tls` are the seams to the network."""

    def __init__(
        self,
        reach: Reach,
        bounds: Bounds,
        *,
        resolve: Resolve = resolve_host,
        dial: Dial = dial,
        make_tls: Callable[[], ssl.SSLContext] = tls,
    ) -> None:
        self.reach = reach
        self._bounds = bounds
        self._backend = CheckedBackend(reach, resolve, dial)
        self._make_tls = make_tls
        self._lock = anyio.Lock()
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def get(self, address: Address, *, headers: dict[str, str] | None = None) -> Got:
        """The answer with a 2xx status; anything else is a ToolProblem."""
        seconds = self._bounds.timeout_seconds
        with anyio.move_on_after(seconds):
            return await self._follow(address, headers or {})
        raise ToolProblem(
            "timed_out",
            f"{address.url} was not answered in full within {seconds:g} s",
            hint="try again later, or fetch another address",
            data={"seconds": seconds},
        )

    async def aclose(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()

    async def _follow(self, address: Address, headers: dict[str, str]) -> Got:
        seen: list[str] = []
        while True:
            self.reach.check(address.host, address.port)
            if address.url in seen:
                raise ToolProblem(
                    "redirect_loop",
                    f"{seen[0]} redirects in a circle: {' → '.join([*seen, address.url])}",
                    hint="fetch another address",
                )
            seen.append(address.url)
            if len(seen) > self._bounds.redirects_max + 1:
                raise ToolProblem(
                    "too_many_redirects",
                    f"{seen[0]} redirects more than {self._bounds.redirects_max} times; the last was to {address.url}",
                    hint="fetch the last address itself if it looks right",
                )
            answer = await self._once(address, headers)
            if isinstance(answer, Got):
                return answer
            address = answer

    async def _once(self, address: Address, headers: dict[str, str]) -> Got | Address:
        pool = await self._opened()
        target = httpcore.URL(scheme=address.scheme, host=address.host, port=address.port, target=address.target)
        sent = {
            "Host": address.netloc,  # the library would write an IPv6 address without its brackets
            "User-Agent": self._bounds.user_agent,
            "Accept": ACCEPT,
            "Accept-Encoding": "gzip, deflate",
            **headers,
        }
        seconds = self._bounds.timeout_seconds
        timeout = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
        try:
            async with pool.stream("GET", target, headers=list(sent.items()), extensions={"timeout": timeout}) as response:
                return await self._answer(address, response)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ConnectionNotAvailable) as error:
            why = str(error) or type(error).__name__
            raise ToolProblem(
                "not_reached",
                f"{address.scheme}://{address.netloc} could not be reached: {why}",
                hint="check the address, or try again later",
            ) from None
        except (httpcore.ProtocolError, zlib.error) as error:
            raise ToolProblem(
                "bad_answer",
                f"{address.url} sent an answer that cannot be read: {error}",
                hint="try again once; then fetch another address",
            ) from None

    async def _answer(self, address: Address, response: httpcore.Response) -> Got | Address:
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status in _REDIRECTS and "location" in told:
            return redirected(address, _location(told["location"]))
        if not 200 <= response.status < 300:
            raise _bad_status(address, response.status, await _excerpt(response, told), told.get("retry-after", ""))
        most = self._bounds.bytes_max
        body, whole = await _read(response, told, most)
        if not whole:
            raise ToolProblem(
                "too_large",
                f"{address.url} is larger than {most:,} bytes, the most that is fetched",
                hint="fetch a smaller page, or ask a person to raise [packs.web] max_bytes in turnscript.toml",
                data={"max_bytes": most, "content_length": told.get("content-length")},
            )
        no_store = "no-store" in told.get("cache-control", "").lower()
        return Got(address, response.status, told.get("content-type", ""), body, no_store)

    async def _opened(self) -> httpcore.AsyncConnectionPool:
        async with self._lock:
            if self._pool is None:
                context = await anyio.to_thread.run_sync(self._make_tls)
                self._pool = httpcore.AsyncConnectionPool(
                    ssl_context=context, max_connections=CONNECTIONS_MAX, keepalive_expiry=5.0, network_backend=self._backend
                )
            return self._pool


class Unpacked:
    """Takes a body as it comes and never unpacks more than `most` bytes of it, however small it was packed."""

    def __init__(self, encoding: str, most: int) -> None:
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ToolProblem(
                "bad_answer", f"the answer is packed as {encoding!r}, which was not asked for", hint="fetch another address"
            )
        self._encoding = encoding
        self._most = most
        self._unpack = None if encoding in ("", "identity") else zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._fed = False
        self.body = bytearray()

    @property
    def full(self) -> bool:
        return len(self.body) > self._most

    @property
    def ended(self) -> bool:
        """Did the packed stream come to its end? A cut one is not a shorter page."""
        return self._unpack is None or self._unpack.eof or not self._fed

    def feed(self, data: bytes) -> None:
        self._fed = self._fed or bool(data)
        while data and not self.full:
            room = self._most + 1 - len(self.body)
            if self._unpack is None:
                self.body += data[:room]
                return
            if self._unpack.eof:
                if not data.startswith(b"\x1f\x8b"):
                    return  # padding after the last member
                self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
            self.body += self._piece(data, room)
            data = self._unpack.unconsumed_tail or self._unpack.unused_data

    def _piece(self, data: bytes, room: int) -> bytes:
        assert self._unpack is not None
        try:
            return self._unpack.decompress(data, room)
        except zlib.error:
            if self._encoding != "deflate" or self.body:
                raise
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)  # "deflate" without its wrapper, as some servers send it
            return self._unpack.decompress(data, room)


async def _read(response: httpcore.Response, told: dict[str, str], most: int) -> tuple[bytes, bool]:
    """The unpacked body, and whether that is all of it."""
    into = Unpacked(told.get("content-encoding", "").strip().lower(), most)
    length = told.get("content-length", "")
    if length.isdigit() and len(length) < 20 and int(length) > most:
        return b"", False
    taken, over = 0, False
    broken: zlib.error | None = None
    try:
        async for piece in response.aiter_stream():
            taken += len(piece)
            try:
                into.feed(piece)
            except zlib.error as error:
                broken = error
            over = over or into.full or taken > most or broken is not None
            if over:  # not `break`: the library's generators would be left half-way; on a closed connection they end themselves
                await response.aclose()
    except (httpcore.NetworkError, httpcore.ProtocolError):
        if not over:
            raise
    if broken is not None:
        raise broken
    if over:
        return bytes(into.body[:most]), False
    if not into.ended:
        raise zlib.error("the packed body ends too early")
    return bytes(into.body), True


async def _excerpt(response: httpcore.Response, told: dict[str, str]) -> bytes:
    """The beginning of a failed answer's body; none when it is packed, since the status says enough."""
    if told.get("content-encoding", "identity") != "identity":
        return b""
    return (await _read(response, {}, EXCERPT_BYTES))[0]


def _location(header: str) -> str:
    """Servers send it as UTF-8, although it should be ASCII."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return header


def _bad_status(address: Address, status: int, body: bytes, retry_after: str) -> ToolProblem:
    name = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "no standard status"
    hint = {
        404: "check the path, or search for the page",
        410: "the page is gone; search for another",
        401: "the page needs a login, which this tool does not have",
        403: "the server refuses; fetch another source",
        429: "the server asks for fewer requests; wait before the next one",
    }.get(status, "the server failed; try again later" if status >= 500 else "fetch another address")
    if retry_after.isdigit() and len(retry_after) < 7:
        hint += f" (it says: after {int(retry_after)} s)"
    excerpt = body.decode("utf-8", "replace")[:500]
    return ToolProblem(
        "bad_status", f"{address.url} answered {status} {name}", hint=hint, data={"status": status, "text": excerpt}
    )
