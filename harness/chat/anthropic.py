"""Messages, streamed: the protocol of Anthropic. What does not change from request to request is marked for its cache."""

import json
from collections.abc import Mapping
from typing import Any, Final

import anyio
import httpx

from harness.chat.endpoint import Endpoint, Sleep, event_json, failed_in_stream, message_of, number_at
from harness.chat.messages import (
    AssistantSaid,
    CallPieces,
    Message,
    Prompt,
    ReasoningCame,
    Reply,
    TextCame,
    ToolSaid,
    Usage,
    UserSaid,
)
from harness.chat.model import Hear
from harness.chat.sse import Event
from harness.interfaces import ModelSettings

_VERSION: Final = "2023-06-01"
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_STOPS: Final = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "held_back"}
_READ: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class AnthropicModel:
    def __init__(self, settings: ModelSettings, client: httpx.AsyncClient, *, sleep: Sleep = anyio.sleep) -> None:
        self._settings = settings
        headers = {"anthropic-version": _VERSION, **({"x-api-key": settings.key} if settings.key else {})}
        self._endpoint = Endpoint(settings, client, path="/messages", headers=headers, sleep=sleep)

    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        gathered = _Gathered(hear)
        await self._endpoint.stream(_body(prompt, self._settings), gathered, hear)
        return gathered.reply()


def _body(prompt: Prompt, settings: ModelSettings) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": settings.name,
        "max_tokens": settings.answer_tokens,
        "stream": True,
        "system": [{"type": "text", "text": prompt.system, **_CACHED}],
        "messages": _messages(prompt.messages),
    }
    if prompt.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.parameters} for one in prompt.tools
        ]
    return body


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Roles take turns here: what one side says in a row is one message."""
    made: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantSaid) else "user"
        if not made or made[-1]["role"] != role:
            made.append({"role": role, "content": []})
        made[-1]["content"] += _blocks(message)
    said = [one for one in made if one["content"]]
    if said:
        said[-1]["content"][-1] |= _CACHED
    return said


def _blocks(message: Message) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []  # an empty block is refused
    match message:
        case UserSaid():
            return text
        case ToolSaid():
            return [
                {"type": "tool_result", "tool_use_id": message.call.id, "content": message.text, "is_error": message.is_error}
            ]
        case AssistantSaid():
            calls = [
                {"type": "tool_use", "id": one.id, "name": one.name, "input": _object(one.arguments)} for one in message.calls
            ]
            return [*text, *calls]


def _object(arguments: str) -> dict[str, Any]:
    """What the model wrote; its answer says so, when that was no object."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


class _Gathered:
    """One reply, from its events."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, CallPieces] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""

    def take(self, event: Event) -> bool:
        told = event_json(event)
        match told.get("type"):
            case "message_stop":
                return True
            case "error":
                raise failed_in_stream(message_of(told))
            case "message_start":
                self._usage |= _at(_at(told, "message"), "usage")
            case "message_delta":
                self._usage |= {name: value for name, value in _at(told, "usage").items() if value is not None}
                self._stop = str(_at(told, "delta").get("stop_reason") or self._stop)
            case "content_block_start":
                self._begin(told.get("index"), _at(told, "content_block"))
            case "content_block_delta":
                self._go_on(told.get("index"), _at(told, "delta"))
        return False

    def ended(self) -> bool:
        return bool(self._stop)

    def _begin(self, index: Any, block: Mapping[str, Any]) -> None:
        if block.get("type") == "tool_use" and isinstance(index, int):
            self._calls[index] = CallPieces(id=str(block.get("id") or ""), name=str(block.get("name") or ""))
        elif text := block.get("text"):
            self._said(str(text))

    def _go_on(self, index: Any, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._said(str(delta.get("text", "")))
            case "thinking_delta":
                self._reasoning.append(str(delta.get("thinking", "")))
                self._hear(ReasoningCame(self._reasoning[-1]))
            case "input_json_delta" if isinstance(index, int) and index in self._calls:
                self._calls[index].arguments.append(str(delta.get("partial_json", "")))

    def _said(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._hear(TextCame(text))

    def reply(self) -> Reply:
        calls = tuple(self._calls[index].whole(f"call_{index}") for index in sorted(self._calls))
        usage = Usage(read=number_at(self._usage, *_READ), written=number_at(self._usage, "output_tokens"))
        return Reply(
            text="".join(self._text), reasoning="".join(self._reasoning), calls=calls, usage=usage if usage.context else None,
            stop=_STOPS.get(self._stop, "done"),  # type: ignore[arg-type]
        )  # fmt: skip


def _at(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}
