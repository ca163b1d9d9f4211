"""Anthropic's Messages, by what a model replies over them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness import Harness
from harness.adapters.anthropic import respond
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class MessagesAgent:
    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        blocks = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": name, "input": dict(arguments)}]
        made = await respond(self._surface, {"content": blocks, "stop_reason": "tool_use"})
        assert made is not None and made["role"] == "user"
        (result,) = made["content"]
        assert (result["type"], result["tool_use_id"]) == ("tool_result", "t1")
        return Told(result["content"], result.get("is_error", False))


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[MessagesAgent]:
    async with harness, harness.session("s") as session:
        yield MessagesAgent(Surface(session, yield_seconds=yield_seconds))


DRIVER = Driver(name="anthropic", opened=opened)
