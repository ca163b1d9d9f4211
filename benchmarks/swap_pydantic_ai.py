"""One run of pydantic-ai's agent with a scripted model, which keeps the size of every request that it was sent."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.peer_runners.lines import function_json
from benchmarks.swap_plain import plain_tools, told
from benchmarks.swap_tasks import Calls
from catalog import Toolbox, ToolProblem
from harness import Session
from harness.adapters.pydantic_ai import script_toolset


class Scripted:
    def __init__(self, replies: list[Calls]) -> None:
        self._replies = list(replies)
        self.requests: list[int] = []  # bytes
        self.last = ""

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        wire = [function_json(tool.name, tool.description or "", tool.parameters_json_schema) for tool in info.function_tools]
        sent = [one for message in messages for one in _wire(message)]
        self.requests.append(len("".join(wire).encode()) + len(json.dumps(sent, ensure_ascii=False).encode()))
        self.last = sent[-1].get("content", "")
        calls = self._replies.pop(0) if self._replies else ()
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in calls] or [TextPart("done")])


def _wire(message: ModelMessage) -> list[dict[str, Any]]:
    """As Chat Completions have it: one message with all calls of a reply, one for each result."""
    if isinstance(message, ModelResponse):
        calls = [_call(part) for part in message.parts if isinstance(part, ToolCallPart)]
        return [{"role": "assistant", "content": message.text or "", "tool_calls": calls}]
    return [_asked(part) for part in message.parts]


def _call(part: ToolCallPart) -> dict[str, Any]:
    function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
    return {"type": "function", "id": part.tool_call_id, "function": function}


def _asked(part: Any) -> dict[str, Any]:
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
    return {"role": "user", "content": part.content}


async def plain(replies: list[Calls], toolbox: Toolbox) -> Scripted:
    model = Scripted(replies)
    await Agent(FunctionModel(model), tools=[_tool(*one) for one in plain_tools(toolbox)]).run("Do the task.")
    return model


def _tool(tool: Any, name: str, call: Any) -> Tool[None]:
    async def run(**arguments: Any) -> str:
        try:
            return str(await call(arguments))
        except ToolProblem as problem:
            raise ModelRetry(told(problem)) from None

    return Tool.from_schema(run, name=name, description=tool.doc, json_schema=tool.input_schema)


async def swapped(replies: list[Calls], session: Session) -> Scripted:
    model = Scripted(replies)
    await Agent(FunctionModel(model), toolsets=[script_toolset(session)]).run("Do the task.")
    return model
