"""The functions of our packs as a framework's plain tools: the same code, called by the model one by one, nothing between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from catalog import Tool, Toolbox, ToolProblem
from catalog.check import bind
from harness.callers import direct_name

Function = Callable[[dict[str, Any]], Awaitable[str]]


def plain_tools(toolbox: Toolbox) -> list[tuple[Tool, str, Function]]:
    """Each with the name that a model's interface takes, and a function from arguments to the JSON of its result."""
    return [(tool, direct_name(tool.full_name), _function(toolbox, tool)) for tool in toolbox.tools.values()]


def _function(toolbox: Toolbox, tool: Tool) -> Function:
    async def call(arguments: dict[str, Any]) -> str:
        return orjson.dumps(await toolbox.call(tool.full_name, bind(tool, [arguments]))).decode()

    return call


def told(problem: ToolProblem) -> str:
    return f"{problem.code}: {problem.message}" + (f"\nhint: {problem.hint}" if problem.hint else "")
