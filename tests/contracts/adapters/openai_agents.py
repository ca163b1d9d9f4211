"""The OpenAI Agents SDK: its runner, with its scripted model."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent, RunConfig, Runner
from agents.items import ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call

from harness import Harness
from harness.adapters.openai_agents import script_tools
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class SdkAgent:
    def __init__(self, surface: Surface) -> None:
        self._tools: list[Any] = list(script_tools(surface))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        model = ScriptedModel([[function_call(name, dict(arguments), call_id="c1")], [assistant_message("Done.")]])
        agent = Agent[None](name="a", model=model, tools=self._tools)
        run = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
        assert run.final_output == "Done." and model.last_call is not None
        (output,) = [one["output"] for one in model.last_call.input if one.get("type") == "function_call_output"]  # type: ignore[union-attr]
        (facts,) = [item.custom_data for item in run.new_items if isinstance(item, ToolCallOutputItem)]
        return Told(str(output), (facts or {})["is_error"])


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[SdkAgent]:
    async with harness, harness.session("s") as session:
        yield SdkAgent(Surface(session, yield_seconds=yield_seconds))


DRIVER = Driver(name="openai_agents", opened=opened)
