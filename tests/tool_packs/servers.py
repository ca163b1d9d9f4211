"""Real servers on loopback for the tests of web and agents: an answer is a function of the request, over a plain socket."""

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None = None  # what TLS asked for


@dataclass
class Server:
    port: int
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"


Answering = Callable[[Asked, socket.socket, Server], None]


def answer(status: int = 200, body: bytes = b"", content_type: str = "text/html; charset=utf-8", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def pages(routes: dict[str, bytes | Answering]) -> Answering:
    """By path; bytes are sent as they stand."""

    def answering(asked: Asked, wire: socket.socket, server: Server) -> None:
        found = routes.get(asked.target.partition("?")[0], answer(404, b"no such page"))
        if callable(found):
            found(asked, wire, server)
        else:
            wire.sendall(found)

    return answering


@contextmanager
def serving(answering: Answering, *, ip: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    listening = socket.create_server((ip, port), family=socket.AF_INET6 if ":" in ip else socket.AF_INET)
    listening.settimeout(0.05)
    server = Server(listening.getsockname()[1])
    threads: list[threading.Thread] = []

    def serve(wire: socket.socket) -> None:
        wire.settimeout(10)
        name: list[str | None] = [None]
        try:
            if tls is not None:
                tls.sni_callback = lambda _socket, asked_name, _context: name.__setitem__(0, asked_name)
                wire = tls.wrap_socket(wire, server_side=True)
            with wire:
                asked = _read(wire)
                if asked is not None:
                    asked.server_name = name[0]
                    server.asked.append(asked)
                    answering(asked, wire, server)
        except OSError:
            pass  # the client went away, which many of these tests are about

    def listen() -> None:
        while not server.closing.is_set():
            try:
                wire, _ = listening.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=serve, args=(wire,))
            thread.start()
            threads.append(thread)

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        yield server
    finally:
        server.closing.set()
        listener.join()
        for thread in threads:
            thread.join()
        listening.close()


def _read(wire: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = wire.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rows = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
    length = re.fullmatch(r"\d+", headers.get("content-length", ""))
    while length and len(body) < int(length[0]):
        body += wire.recv(65_536)
    method, target, _ = first.split(" ")
    return Asked(method, target, headers, body)
