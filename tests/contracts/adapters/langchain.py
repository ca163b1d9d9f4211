"""LangChain: its agent, with a chat model that has its replies."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable

from harness import Harness
from harness.adapters.langchain import script_tools
from harness.adapters.surface import Surface
from tests.contracts.adapters import Driver, Told


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self


class GraphAgent:
    def __init__(self, surface: Surface) -> None:
        self._tools = script_tools(surface)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        call = {"name": name, "args": dict(arguments), "id": "c1"}
        agent: Any = create_agent(Model(responses=[AIMessage("", tool_calls=[call]), AIMessage("Done.")]), self._tools)
        state = await agent.ainvoke({"messages": [("user", "go")]})
        (message,) = [one for one in state["messages"] if isinstance(one, ToolMessage)]
        return Told(str(message.content), message.status == "error")


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[GraphAgent]:
    async with harness, harness.session("s") as session:
        yield GraphAgent(Surface(session, yield_seconds=yield_seconds))


DRIVER = Driver(name="langchain", opened=opened)
