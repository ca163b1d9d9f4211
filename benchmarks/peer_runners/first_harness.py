"""pydantic-ai-harness's CodeMode in a pydantic-ai agent: first_run's script in Monty."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness import CodeMode

from benchmarks.peer_runners.first_run import Once, main, python, same

CODE = python("same(n=n)")


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("run_code", {"code": CODE}) if len(messages) == 1 else TextPart("done")])


@asynccontextmanager
async def made() -> AsyncIterator[Once]:
    agent = Agent(FunctionModel(scripted), tools=[Tool(same)], capabilities=[CodeMode()])

    async def once() -> str:
        return str((await agent.run("go")).all_messages()[2].parts[0].content)

    yield once


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(made)
