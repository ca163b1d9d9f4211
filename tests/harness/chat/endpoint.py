"""A model's endpoint on this machine that speaks both protocols: it says what a list says, cut into chunks anywhere."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Kind = Literal["openai", "anthropic"]


@dataclass(frozen=True, kw_only=True)
class Play:
    """One answer. `cut`: the connection ends without the end of the body. `hold`: waited for before the last chunk; the client
    may be gone by then.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    chunk_bytes: int = 0  # 0: in one piece
    cut: bool = False
    hold: threading.Event | None = None

    def chunks(self) -> list[bytes]:
        size = self.chunk_bytes or max(len(self.body), 1)
        return [self.body[at : at + size] for at in range(0, len(self.body), size)]


@dataclass
class Endpoint:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)  # path, headers, body
    came: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))  # one for each request


@contextmanager
def serving(plays: Sequence[Play]) -> Iterator[Endpoint]:
    left = list(plays)
    endpoint = Endpoint("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            endpoint.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
            play = left.pop(0) if left else Play(status=500, body=b'{"error": {"message": "no play left"}}')
            endpoint.came.release()
            try:
                self._send(play)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, play: Play) -> None:
            kind = "text/event-stream" if play.status == 200 else "application/json"
            self.send_response(play.status)
            for name, value in {"content-type": kind, "transfer-encoding": "chunked", **play.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            chunks = play.chunks()
            for number, chunk in enumerate(chunks, 1):
                if play.hold is not None and number == len(chunks):
                    play.hold.wait(30)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.flush()
            if play.cut:
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        for play in plays:
            if play.hold is not None:
                play.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


Call = tuple[str, dict[str, Any]]


def said(kind: Kind, text: str = "", *calls: Call, reasoning: str = "", tokens: tuple[int, int] = (100, 20), **play: Any) -> Play:
    """A reply in this protocol. Texts and arguments come in pieces of three characters."""
    make = _openai if kind == "openai" else _anthropic
    return Play(body=b"".join(make(text, calls, reasoning, tokens)), **play)


def script(source: str) -> Call:
    return "run_script", {"script": source}


def _thirds(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def _openai(text: str, calls: Sequence[Call], reasoning: str, tokens: tuple[int, int]) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _data({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield b": keep-alive\n\n"
    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"reasoning_content": part}) for part in _thirds(reasoning))
    yield from (chunk({"content": part}) for part in _thirds(text))
    for index, (name, arguments) in enumerate(calls):
        start = {"index": index, "id": f"call_{index}_{name}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for part in _thirds(json.dumps(arguments)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield _data({"choices": [], "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}})
    yield b"data: [DONE]\n\n"


def _anthropic(text: str, calls: Sequence[Call], reasoning: str, tokens: tuple[int, int]) -> Iterator[bytes]:
    def event(name: str, **facts: Any) -> bytes:
        return b"event: " + name.encode() + b"\r\n" + _data({"type": name, **facts}).replace(b"\n", b"\r\n")

    cached = tokens[0] // 2
    usage = {"input_tokens": tokens[0] - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
    yield event("message_start", message={"role": "assistant", "content": [], "usage": usage})
    yield event("ping")
    blocks: list[tuple[dict[str, Any], str, str, str]] = []
    if reasoning:
        blocks.append(({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", reasoning))
    if text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", text))
    for place, (name, arguments) in enumerate(calls):
        start = {"type": "tool_use", "id": f"call_{place}_{name}", "name": name, "input": {}}
        blocks.append((start, "input_json_delta", "partial_json", json.dumps(arguments)))
    for index, (start, kind, member, whole) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=start)
        for part in _thirds(whole):
            yield event("content_block_delta", index=index, delta={"type": kind, member: part})
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta={"stop_reason": "tool_use" if calls else "end_turn"}, usage={"output_tokens": tokens[1]})
    yield event("message_stop")


def _data(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
