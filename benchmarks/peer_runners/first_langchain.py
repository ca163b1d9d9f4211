"""langchain-quickjs's CodeInterpreterMiddleware in a LangChain agent: first_run's script in its `eval`."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_quickjs import CodeInterpreterMiddleware

from benchmarks.peer_runners.first_run import Once, javascript, main, same

CODE = javascript("tools.same({ n })")


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self


@asynccontextmanager
async def made() -> AsyncIterator[Once]:
    call = AIMessage("", tool_calls=[{"name": "eval", "args": {"code": CODE}, "id": "1"}])
    middleware = CodeInterpreterMiddleware(ptc=[StructuredTool.from_function(coroutine=same, name="same")])
    agent = create_agent(Scripted(responses=[call, AIMessage("done")]), tools=[], middleware=[middleware])

    async def once() -> str:
        state = await agent.ainvoke({"messages": [("user", "go")]}, config={"configurable": {"thread_id": "one"}})
        return next(message.text for message in state["messages"] if isinstance(message, ToolMessage))

    yield once


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(made)
