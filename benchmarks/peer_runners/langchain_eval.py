"""langchain-quickjs's CodeInterpreterMiddleware in a LangChain agent with a scripted chat model: the tool `eval`."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_quickjs import CodeInterpreterMiddleware
from pydantic import BaseModel, Field, create_model

from benchmarks.peer_runners.lines import Answer, Request, function_json, ran, serve
from tests.mistakes.shop import Shop, flat

SECONDS = 2.0  # all other limits are its own


class Scripted(BaseChatModel):
    """Says what it was given to say, then ends; keeps what it was sent."""

    calls: list[dict[str, Any]] = Field(default_factory=list)
    sent: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        self.bound[:] = [convert_to_openai_tool(tool) for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.sent.append(messages)
        call = self.calls.pop(0) if self.calls else None
        message = AIMessage(content="" if call else "done", tool_calls=[call] if call else [])
        return ChatResult(generations=[ChatGeneration(message=message)])


async def ask(model: Scripted, tools: Sequence[BaseTool]) -> None:
    middleware = CodeInterpreterMiddleware(ptc=list(tools), timeout=SECONDS)
    agent = create_agent(model, tools=[], middleware=[middleware])
    await agent.ainvoke({"messages": [("user", "go")]}, config={"configurable": {"thread_id": "one"}})


async def run(request: Request) -> Answer:
    shop = Shop(ToolException)
    tools = [
        StructuredTool.from_function(coroutine=function, name=name, handle_tool_error=False)
        for name, function in flat(shop).items()
    ]
    model = Scripted(calls=[{"name": "eval", "args": {"code": request["source"]}, "id": "1"}])
    try:
        await ask(model, tools)
    except Exception as error:
        return ran(f"{type(error).__name__}: {error}", survived=False, orders=shop.orders)
    told = [message.text for message in model.sent[-1] if isinstance(message, ToolMessage)]
    return ran("\n".join(told), survived=True, orders=shop.orders)


async def _never(**_: Any) -> str:
    return ""


KINDS: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list[str]}


def arguments(schema: dict[str, Any]) -> type[BaseModel]:
    """A flat schema as the pydantic model that a typed Python function would give."""
    required = schema.get("required", [])
    fields: dict[str, Any] = {
        name: (KINDS[told["type"]], Field(... if name in required else told.get("default"), description=told.get("description")))
        for name, told in schema["properties"].items()
    }
    return create_model("Arguments", **fields)


async def prompt(request: Request) -> Answer:
    """`typed`: tools written as Python functions. Otherwise as its MCP adapter makes them, with the schema as a dict."""
    tools = [
        StructuredTool(
            name=tool["name"],
            description=tool["description"],
            args_schema=arguments(tool["parameters"]) if request["typed"] else tool["parameters"],
            coroutine=_never,
        )
        for tool in request["tools"]
    ]
    model = Scripted()
    await ask(model, tools)
    system = "".join(message.text for message in model.sent[0] if isinstance(message, SystemMessage))
    functions = [tool["function"] for tool in model.bound]
    wire = [function_json(tool["name"], tool["description"], tool["parameters"]) for tool in functions]
    return {"parts": {"tools": "".join(wire), "system": system}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(serve({"run": run, "prompt": prompt}))
