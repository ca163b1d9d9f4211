"""A model that writes scripts into its replies, which arrive in small chunks."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness import Harness
from harness.adapters.text import TextAgent
from tests.contracts.adapters import Driver, Told


class ReplyingAgent:
    def __init__(self, agent: TextAgent) -> None:
        self._agent = agent

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        taken = await self._agent.take(chunks(f"I look. <tool-calls>\n{arguments['script']}\n</tool-calls>"))
        first, *lines, last = taken.back.split("\n")
        assert first.startswith("<tool-results turn=") and last == "</tool-results>"
        return Told("\n".join(lines), taken.is_error)


async def chunks(reply: str) -> AsyncIterator[str]:
    for at in range(0, len(reply), 7):
        yield reply[at : at + 7]


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[ReplyingAgent]:
    async with harness, harness.session("s") as session:
        yield ReplyingAgent(TextAgent(session))


DRIVER = Driver(name="text", opened=opened, trio=True, yields=False, direct=False)
