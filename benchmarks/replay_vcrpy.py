"""vcrpy beside our replay: the same number of HTTP calls, answered from a cassette. Runs in an environment of its own.

Asked over JSON lines. `record` makes a cassette against a server on this machine, which is gone afterwards. `play` opens the
cassette and makes its calls again with record_mode none, as often as asked, and tells the seconds of each time.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import requests
import vcr

_URL = "http://127.0.0.1:{port}/read"


class _Answers(BaseHTTPRequestHandler):
    """A page of the asked size as JSON, other for each number."""

    protocol_version = "HTTP/1.1"
    size = 0

    def do_GET(self) -> None:
        number = int(self.path.rpartition("=")[2])
        body = json.dumps({"n": number, "text": _text(number, self.size)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # calls come all at once


def _text(number: int, size: int) -> str:
    line = f"    value_{number} = compute({number}, {number * 7})\n"
    return (line * (size // len(line) + 1))[:size]


@contextmanager
def _server(size: int) -> Iterator[int]:
    server = _Server(("127.0.0.1", 0), type("Answers", (_Answers,), {"size": size}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def record(cassette: str, *, calls: int, size: int, how: str, serializer: str) -> dict[str, Any]:
    with _server(size) as port:
        url = _URL.format(port=port)
        with _cassette(cassette, serializer, "all"):
            _make_calls(url, calls, how)
    return {"url": url, "bytes": Path(cassette).stat().st_size}


def play(cassette: str, *, url: str, calls: int, times: int, how: str, serializer: str) -> dict[str, Any]:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        with _cassette(cassette, serializer, "none") as tape:
            _make_calls(url, calls, how)
        seconds.append(time.perf_counter() - began)
        assert tape.play_count == calls, (tape.play_count, calls)
    return {"seconds": seconds}


def _cassette(path: str, serializer: str, mode: str) -> Any:
    """With the matchers that it has by itself: the calls differ in the query. To compare bodies would take longer."""
    return vcr.VCR(serializer=serializer, record_mode=mode).use_cassette(path)


def _make_calls(url: str, calls: int, how: str) -> None:
    if how == "parallel":
        asyncio.run(_parallel(url, calls))
        return
    with requests.Session() as session:
        for n in range(calls):
            assert session.get(url, params={"n": n}).json()["n"] == n


async def _parallel(url: str, calls: int) -> None:
    async with httpx.AsyncClient() as client:
        answers = await asyncio.gather(*(client.get(url, params={"n": n}) for n in range(calls)))
    assert [answer.json()["n"] for answer in answers] == list(range(calls))


def main() -> None:
    actions: dict[str, Callable[..., dict[str, Any]]] = {"record": record, "play": play}
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(actions[asked.pop("do")](**asked)), flush=True)


if __name__ == "__main__":
    main()
