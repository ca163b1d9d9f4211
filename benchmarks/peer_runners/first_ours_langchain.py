"""Ours in a LangChain agent: first_run's script in our `run_script`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable

from benchmarks.peer_runners.first_ours import SCRIPT, opened
from benchmarks.peer_runners.first_run import Once
from harness.adapters.langchain import script_tool


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self


@asynccontextmanager
async def made() -> AsyncIterator[Once]:
    call = AIMessage("", tool_calls=[{"name": "run_script", "args": {"script": SCRIPT}, "id": "1"}])
    async with opened() as session:
        agent = create_agent(Scripted(responses=[call, AIMessage("done")]), [script_tool(session)])

        async def once() -> str:
            state = await agent.ainvoke({"messages": [("user", "go")]}, config={"configurable": {"thread_id": "one"}})
            return next(message.text for message in state["messages"] if isinstance(message, ToolMessage))

        yield once
