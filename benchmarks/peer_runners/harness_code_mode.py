"""pydantic-ai-harness's CodeMode in a pydantic-ai agent with a scripted model: the tool `run_code`, Python in Monty."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any

from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness import CodeMode

from benchmarks.peer_runners.lines import Answer, Request, function_json, ran, serve
from tests.mistakes.shop import Shop, flat

LIMITS = {"max_duration_secs": 2.0}  # its own but for the time


class Scripted:
    """Says what it was given to say, then ends; keeps what it was sent."""

    def __init__(self, *calls: ToolCallPart) -> None:
        self.calls = list(calls)
        self.sent: list[list[ModelMessage]] = []
        self.info: AgentInfo | None = None

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(messages)
        self.info = info
        return ModelResponse(parts=[self.calls.pop(0)] if self.calls else [TextPart("done")])


def last_answer(messages: list[ModelMessage]) -> str:
    """What the model reads after its call. An error goes out as JSON text; it is judged with its line ends as line ends."""
    for part in reversed(messages[-1].parts):
        if isinstance(part, RetryPromptPart | ToolReturnPart):
            text = part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str()
            try:
                value = json.loads(text)
            except ValueError:
                return text
            return str(value["error"]) if isinstance(value, dict) and list(value) == ["error"] else text
    return ""


async def run(request: Request) -> Answer:
    shop = Shop(ModelRetry)
    tools = [Tool(function, name=name) for name, function in flat(shop).items()]
    model = Scripted(ToolCallPart("run_code", {"code": request["source"]}))
    agent = Agent(FunctionModel(model), tools=tools, capabilities=[CodeMode(resource_limits=LIMITS)])
    try:
        await agent.run("go")
    except Exception as error:
        return ran(f"{type(error).__name__}: {error}", survived=False, orders=shop.orders)
    return ran(last_answer(model.sent[-1]), survived=True, orders=shop.orders)


async def _never(**_: Any) -> str:
    return ""


def declared(tools: list[dict[str, Any]], *, deferred: bool) -> list[Tool[None]]:
    made = [
        Tool.from_schema(_never, name=tool["name"], description=tool["description"], json_schema=tool["parameters"])
        for tool in tools
    ]
    for tool in made:
        tool.defer_loading = deferred
    return made


async def prompt(request: Request) -> Answer:
    """`deferred` is its strongest way for many tools: found by tool search, then folded into run_code."""
    deferred = bool(request.get("deferred"))
    model = Scripted()
    capabilities = [ToolSearch(), CodeMode(dynamic_catalog=True)] if deferred else [CodeMode()]
    agent = Agent(FunctionModel(model), tools=declared(request["tools"], deferred=deferred), capabilities=capabilities)
    await agent.run("go")
    return {"parts": sent_because_of_tools(model)}


def sent_because_of_tools(model: Scripted) -> dict[str, str]:
    assert model.info is not None
    wire = [function_json(tool.name, tool.description or "", tool.parameters_json_schema) for tool in model.info.function_tools]
    return {"tools": "".join(wire), "instructions": model.info.instructions or ""}


async def discover(request: Request) -> Answer:
    """One search: its answer, and the declarations that the next request carries because of it."""
    model = Scripted(ToolCallPart("search_tools", {"queries": [request["query"]]}))
    capabilities = [ToolSearch(), CodeMode(dynamic_catalog=True)]
    agent = Agent(FunctionModel(model), tools=declared(request["tools"], deferred=True), capabilities=capabilities)
    await agent.run("go")
    parts = model.sent[-1][-1].parts
    found = [part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)]
    added = [str(part.content) for part in parts if isinstance(part, UserPromptPart)]
    return {"search": "".join(found), "declaration": "".join(added)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(serve({"run": run, "prompt": prompt, "discover": discover}))
