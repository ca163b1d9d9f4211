"""One run of LangChain's agent with a scripted chat model, which keeps the size of every request that it was sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from benchmarks.peer_runners.lines import function_json
from benchmarks.swap_plain import plain_tools, told
from benchmarks.swap_tasks import Calls
from catalog import Toolbox, ToolProblem
from harness import Session
from harness.adapters.langchain import script_tool


class Scripted(BaseChatModel):
    replies: list[Any] = Field(default_factory=list)
    requests: list[int] = Field(default_factory=list)
    defined: int = 0
    last: str = ""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        wire = [function_json(one["name"], one["description"], one["parameters"]) for one in functions]
        self.defined = len("".join(wire).encode())
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        sent = convert_to_openai_messages(messages)
        self.requests.append(self.defined + len(json.dumps(sent, ensure_ascii=False).encode()))
        self.last = str(messages[-1].content)
        calls = self.replies.pop(0) if self.replies else ()
        made = [{"name": name, "args": arguments, "id": f"call_{n}"} for n, (name, arguments) in enumerate(calls)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("" if made else "done", tool_calls=made))])


async def _run(replies: list[Calls], tools: list[BaseTool]) -> Scripted:
    model = Scripted(replies=list(replies))
    await create_agent(model, tools).ainvoke({"messages": [("user", "Do the task.")]})
    return model


async def plain(replies: list[Calls], toolbox: Toolbox) -> Scripted:
    return await _run(replies, [_tool(*one) for one in plain_tools(toolbox)])


def _tool(tool: Any, name: str, call: Any) -> BaseTool:
    async def run(**arguments: Any) -> str:
        try:
            return str(await call(arguments))
        except ToolProblem as problem:
            raise ToolException(told(problem)) from None

    return StructuredTool(
        name=name, description=tool.doc, args_schema=tool.input_schema, coroutine=run, handle_tool_error=True
    )  # fmt: skip


async def swapped(replies: list[Calls], session: Session) -> Scripted:
    return await _run(replies, [script_tool(session)])
