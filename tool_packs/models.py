"""The wire to a configured model: OpenAI-compatible chat completions or Anthropic messages, with bounded retries.

What goes out and what came back are pure functions of each protocol; `Model.ask` sends. The key is sent to the configured address
and nowhere else: redirects are not followed, and no error text holds it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeAlias

import anyio
import anyio.to_thread
import orjson

from catalog import ToolProblem
from tool_packs.connect import tls
from tool_packs.web_extra import httpx

Api: TypeAlias = Literal["openai", "anthropic"]
Turn: TypeAlias = tuple[Literal["user", "assistant"], str]

ATTEMPTS_MAX = 4
WAIT_SECONDS_MAX = 30.0  # between two attempts; a server that asks for more is not waited for
ANSWER_BYTES_MAX = 16 * 1024 * 1024
EXCERPT_CHARS = 500
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_STOPS = {
    "stop": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "content_filter": "refused",
    "refusal": "refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Where and how a model is asked."""

    api: Api
    base_url: str
    key: str = ""
    timeout_seconds: float = 240
    tokens_name: str = "max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    turns: tuple[Turn, ...]
    model: str
    max_tokens: int
    system: str = ""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    model: str
    input_tokens: int
    output_tokens: int
    stop: str  # "end", "length", "refused", or the server's own word


class Model:
    """`sleep` and `clock` are passed in, so that tests do not wait."""

    def __init__(self, wire: Wire, *, sleep: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._wire = wire
        self._sleep = sleep
        self._clock = clock
        self._lock = anyio.Lock()
        self._client: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, asked: Asked) -> Reply:
        """One answer, after at most ATTEMPTS_MAX attempts."""
        url, headers, body = request_of(self._wire, asked)
        attempt = 0
        while True:
            attempt += 1
            status, told, data = await self._sent(url, headers, body)
            if status == 200:
                return self._read(data)
            problem = self._problem(asked, status, told, data, attempt)
            wait = max(retry_after(told, self._clock()), 0.5 * 2 ** (attempt - 1))
            if (status and status not in _AGAIN) or attempt == ATTEMPTS_MAX or wait > WAIT_SECONDS_MAX:
                raise problem
            await self._sleep(wait)

    async def _sent(self, url: str, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes]:
        """Status, Retry-After and body; status 0 with the reason as body when there was no answer."""
        client = await self._opened()
        data = bytearray()
        try:
            async with client.stream("POST", url, headers=headers, content=body) as response:
                async for piece in response.aiter_raw():
                    data += piece
                    if len(data) > ANSWER_BYTES_MAX:  # not `break`: see web_fetch
                        await response.aclose()
                return response.status_code, response.headers.get("retry-after", ""), bytes(data)
        except (httpx.TransportError, httpx.StreamError) as error:
            if len(data) > ANSWER_BYTES_MAX:
                raise ToolProblem(
                    "too_large", f"the model's answer is larger than {ANSWER_BYTES_MAX:,} bytes", hint="ask for less"
                ) from None
            return 0, "", (str(error) or type(error).__name__).encode()

    def _read(self, data: bytes) -> Reply:
        try:
            return reply_of(self._wire.api, orjson.loads(data))
        except (orjson.JSONDecodeError, KeyError, TypeError, IndexError, AttributeError):
            excerpt = self._scrubbed(data.decode("utf-8", "replace"))
            raise ToolProblem(
                "bad_answer",
                f"the model's server did not answer as the {self._wire.api} protocol says: {excerpt or '(nothing)'}",
                hint="ask a person to check [packs.agents] base_url and api",
            ) from None

    def _problem(self, asked: Asked, status: int, told: str, data: bytes, attempt: int) -> ToolProblem:
        excerpt = self._scrubbed(data.decode("utf-8", "replace"))
        tries = f" after {attempt} attempts" if attempt > 1 else ""
        if not status:
            return ToolProblem(
                "not_reached", f"the model's server could not be reached{tries}: {excerpt}",
                hint="try again later, or ask a person to check [packs.agents] base_url", data={"attempts": attempt},
            )  # fmt: skip
        hint = {
            401: "ask a person to check the key that [packs.agents] key_variable names",
            403: "ask a person to check the key that [packs.agents] key_variable names",
            404: "check the model's name, or ask a person to check [packs.agents] base_url",
            429: f"wait {told} s before the next try" if told.isdigit() else "wait before the next try",
        }.get(status, "try again later" if status >= 500 else "change what is asked")
        message = f"{asked.model} answered {status}{tries}: {excerpt or '(nothing)'}"
        return ToolProblem("model_failed", message, hint=hint, data={"status": status, "attempts": attempt})

    def _scrubbed(self, text: str) -> str:
        if self._wire.key:
            text = text.replace(self._wire.key, "[key]")
        return " ".join(text.split())[:EXCERPT_CHARS]

    async def _opened(self) -> httpx.AsyncClient:
        async with self._lock:
            if self._client is None:
                context = await anyio.to_thread.run_sync(tls)
                limits = httpx.Timeout(self._wire.timeout_seconds, connect=min(30.0, self._wire.timeout_seconds))
                self._client = httpx.AsyncClient(verify=context, trust_env=False, follow_redirects=False, timeout=limits)
            return self._client


def request_of(wire: Wire, asked: Asked) -> tuple[str, dict[str, str], bytes]:
    """URL, headers and body."""
    base = wire.base_url.rstrip("/")
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "turnscript",
    }
    messages = [{"role": role, "content": text} for role, text in asked.turns]
    body: dict[str, Any] = {"model": asked.model, "messages": messages}
    if asked.temperature is not None:
        body["temperature"] = asked.temperature
    if wire.api == "anthropic":
        body["max_tokens"] = asked.max_tokens
        if asked.system:
            body["system"] = asked.system
        headers["anthropic-version"] = "2023-06-01"
        if wire.key:
            headers["x-api-key"] = wire.key
        return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages", headers, orjson.dumps(body)
    body[wire.tokens_name] = asked.max_tokens
    if asked.system:
        body["messages"] = [{"role": "system", "content": asked.system}, *messages]
    if wire.key:
        headers["Authorization"] = f"Bearer {wire.key}"
    return f"{base}/chat/completions", headers, orjson.dumps(body)


def reply_of(api: Api, data: Any) -> Reply:
    """KeyError, TypeError and the like when the answer is not as the protocol says."""
    usage = data.get("usage") or {}
    if api == "anthropic":
        text = "".join(part["text"] for part in data["content"] if part["type"] == "text")
        return Reply(
            text,
            str(data["model"]),
            _count(usage, "input_tokens"),
            _count(usage, "output_tokens"),
            _stop(data.get("stop_reason")),
        )
    choice = data["choices"][0]
    content = choice["message"].get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    refusal = choice["message"].get("refusal")
    if not isinstance(content, str) and not isinstance(refusal, str):
        raise TypeError
    stop = "refused" if refusal and not content else _stop(choice.get("finish_reason"))
    return Reply(
        content or refusal, str(data.get("model", "")), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), stop
    )


def retry_after(told: str, now: float) -> float:
    """Seconds from a Retry-After header, by number or date; 0 when it says nothing."""
    text = told.strip()
    if text.replace(".", "", 1).isdigit() and text.isascii() and len(text) < 12:
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)


def _count(usage: Any, name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0


def _stop(told: Any) -> str:
    return _STOPS.get(told, told) if isinstance(told, str) else "end"
