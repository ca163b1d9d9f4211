"""Chat Completions, streamed: the protocol of OpenAI that most servers speak. Reasoning stands in `reasoning_content` or
`reasoning`, where a server tells it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

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

_OWN_HOST: Final = "api.openai.com"  # takes another name for the most tokens of a reply than the servers that imitate it
_STOPS: Final = {"length": "length", "content_filter": "held_back"}


class OpenAIModel:
    def __init__(self, settings: ModelSettings, client: httpx.AsyncClient, *, sleep: Sleep = anyio.sleep) -> None:
        self._settings = settings
        headers = {"authorization": f"Bearer {settings.key}"} if settings.key else {}
        self._endpoint = Endpoint(settings, client, path="/chat/completions", headers=headers, sleep=sleep)

    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        gathered = _Gathered(hear)
        await self._endpoint.stream(_body(prompt, self._settings), gathered, hear)
        return gathered.reply()


def _body(prompt: Prompt, settings: ModelSettings) -> dict[str, Any]:
    most = "max_completion_tokens" if urlsplit(settings.url).hostname == _OWN_HOST else "max_tokens"
    body: dict[str, Any] = {
        "model": settings.name,
        "messages": [{"role": "system", "content": prompt.system}, *(_message(one) for one in prompt.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        most: settings.answer_tokens,
    }
    if prompt.tools:
        body["tools"] = [
            {"type": "function", "function": {"name": one.name, "description": one.description, "parameters": one.parameters}}
            for one in prompt.tools
        ]
    return body


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserSaid():
            return {"role": "user", "content": message.text}
        case ToolSaid():
            return {"role": "tool", "tool_call_id": message.call.id, "content": message.text}
        case AssistantSaid(calls=()):
            return {"role": "assistant", "content": message.text}
        case AssistantSaid():
            calls = [
                {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
                for one in message.calls
            ]
            return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


class _Gathered:
    """One reply, from its pieces."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, CallPieces] = {}
        self._usage: Usage | None = None
        self._stop = ""

    def take(self, event: Event) -> bool:
        if event.data == "[DONE]":
            return True
        chunk = event_json(event)
        if chunk.get("error"):
            raise failed_in_stream(message_of(chunk))
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = Usage(read=number_at(usage, "prompt_tokens"), written=number_at(usage, "completion_tokens"))
        for choice in _records(chunk, "choices"):
            delta = choice.get("delta")
            self._take_delta(delta if isinstance(delta, dict) else {})
            self._stop = str(choice.get("finish_reason") or self._stop)
        return False

    def ended(self) -> bool:
        """Some servers never say [DONE]."""
        return bool(self._stop)

    def _take_delta(self, delta: Mapping[str, Any]) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str):
            self._reasoning.append(reasoning)
            self._hear(ReasoningCame(reasoning))
        if isinstance(text := delta.get("content"), str) and text:
            self._text.append(text)
            self._hear(TextCame(text))
        for part in _records(delta, "tool_calls"):
            self._take_call(part)

    def _take_call(self, part: Mapping[str, Any]) -> None:
        index = part.get("index")
        if not isinstance(index, int):  # a server that leaves it out sends calls whole
            index = len(self._calls)
        call = self._calls.setdefault(index, CallPieces())
        told = part.get("function")
        function = told if isinstance(told, dict) else {}
        call.id = str(part.get("id") or call.id)
        call.name = str(function.get("name") or call.name)
        call.arguments.append(str(function.get("arguments") or ""))

    def reply(self) -> Reply:
        calls = tuple(self._calls[index].whole(f"call_{index}") for index in sorted(self._calls))
        return Reply(
            text="".join(self._text), reasoning="".join(self._reasoning), calls=calls, usage=self._usage,
            stop=_STOPS.get(self._stop, "done"),  # type: ignore[arg-type]
        )  # fmt: skip


def _records(told: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    listed = told.get(name)
    return (one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict))
