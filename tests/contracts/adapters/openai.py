"""OpenAI's two protocols, by what a model replies over them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness import Harness
from harness.adapters.openai import respond, respond_chat
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class ResponsesAgent:
    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        item = {"type": "function_call", "call_id": "c1", "name": name, "arguments": json.dumps(arguments)}
        (made,) = await respond(self._surface, [item])
        assert (made["type"], made["call_id"]) == ("function_call_output", "c1")
        return Told(made["output"], None)


class ChatAgent:
    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        (made,) = await respond_chat(self._surface, [call])
        assert (made["role"], made["tool_call_id"]) == ("tool", "c1")
        return Told(made["content"], None)


@asynccontextmanager
async def responses(harness: Harness, yield_seconds: float | None) -> AsyncIterator[ResponsesAgent]:
    async with harness, harness.session("s") as session:
        yield ResponsesAgent(Surface(session, yield_seconds=yield_seconds))


@asynccontextmanager
async def chat(harness: Harness, yield_seconds: float | None) -> AsyncIterator[ChatAgent]:
    async with harness, harness.session("s") as session:
        yield ChatAgent(Surface(session, yield_seconds=yield_seconds))


RESPONSES = Driver(name="openai_responses", opened=responses)
CHAT = Driver(name="openai_chat", opened=chat)
