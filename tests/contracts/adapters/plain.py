"""The surface itself, as an agent without a framework uses it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness import Harness
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class PlainAgent:
    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        result = await self._surface.call(name, arguments)
        return Told(result.text, result.is_error)


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[PlainAgent]:
    async with harness, harness.session("s") as session:
        yield PlainAgent(Surface(session, yield_seconds=yield_seconds))


DRIVER = Driver(name="surface", opened=opened, trio=True)
