"""Ours in a pydantic-ai agent: first_run's script in our `run_script`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.peer_runners.first_ours import SCRIPT, opened
from benchmarks.peer_runners.first_run import Once
from harness.adapters.pydantic_ai import script_toolset


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("run_script", {"script": SCRIPT}) if len(messages) == 1 else TextPart("done")])


@asynccontextmanager
async def made() -> AsyncIterator[Once]:
    async with opened() as session:
        agent = Agent(FunctionModel(scripted), toolsets=[script_toolset(session)])

        async def once() -> str:
            return str((await agent.run("go")).all_messages()[2].parts[0].content)

        yield once
