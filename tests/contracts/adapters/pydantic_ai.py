"""pydantic-ai: its agent, with a model that is a function."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from harness import Harness
from harness.adapters.pydantic_ai import script_toolset
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class FunctionAgent:
    def __init__(self, surface: Surface) -> None:
        self._toolset = script_toolset(surface)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        sent: list[list[ModelMessage]] = []

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            sent.append(messages)
            return ModelResponse(parts=[ToolCallPart(name, dict(arguments)) if len(sent) == 1 else TextPart("Done.")])

        run = await Agent(FunctionModel(model), toolsets=[self._toolset]).run("go")
        assert run.output == "Done."
        (part,) = [part for message in sent[-1] for part in message.parts if isinstance(part, ToolReturnPart)]
        return Told(str(part.content), part.metadata["is_error"])


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[FunctionAgent]:
    async with harness, harness.session("s") as session:
        yield FunctionAgent(Surface(session, yield_seconds=yield_seconds))


DRIVER = Driver(name="pydantic_ai", opened=opened)
