"""Connections to checked addresses: a name is resolved once, every IP is checked, and that very IP is connected to.

The check sits under the HTTP library, where the socket is opened: whatever a parser, a redirect or a second DNS answer
says, no connection is made to an address that `Reach` refuses. TLS still verifies, and servers still see, the host's name.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

import anyio

from catalog import ToolProblem
from tool_packs.addresses import Reach, is_ip
from tool_packs.web_extra import certifi, httpcore

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
Dial: TypeAlias = Callable[[str, int, float | None], Awaitable[httpcore.AsyncNetworkStream]]

IPS_TRIED_MAX = 4  # of one host: two of each family; more only makes a dead host slower


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """How httpcore opens sockets here."""

    def __init__(self, reach: Reach, resolve: Resolve, dial: Dial) -> None:
        self._reach = reach
        self._resolve = resolve
        self._dial = dial

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self._reach.check(host, port)
        ips = [host] if is_ip(host) else await self._resolve(host, port)
        for ip in ips:  # one refused address refuses the host: a mixed answer is how rebinding begins
            self._reach.check_ip(host, port, ip)
        if not ips:
            raise unknown_host(host, "the name has no address")
        failed: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for ip in ips[:IPS_TRIED_MAX]:
            try:
                return await self._dial(ip, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = failed or error
        assert failed is not None
        raise failed

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("no Unix sockets here")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def resolve_host(host: str, port: int) -> list[str]:
    """By the system's resolver: each IP once, in its order."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise unknown_host(host, getattr(error, "strerror", None) or str(error)) from None
    return list(dict.fromkeys(str(row[4][0]) for row in found))


async def dial(ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:
    return await httpcore.AnyIOBackend().connect_tcp(ip, port, timeout=timeout)


def tls() -> ssl.SSLContext:
    """Takes 15 ms to load the roots: made once, at the first request, in a thread."""
    return ssl.create_default_context(cafile=certifi.where())


def unknown_host(host: str, why: str) -> ToolProblem:
    return ToolProblem("unknown_host", f"{host} could not be resolved: {why}", hint="check the spelling of the host")
