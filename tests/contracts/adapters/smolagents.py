"""smolagents: its agent is not async, so it runs in a thread, and the session in another."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from anyio.to_thread import run_sync
from smolagents import ChatMessage, Model, ToolCallingAgent  # type: ignore[import-untyped]
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole  # type: ignore[import-untyped]

from harness import Harness
from harness.adapters.smolagents import BlockingSurface, script_tools
from harness.adapters.surface import Surface
from harness.blocking import BlockingSession, blocking_session
from tests.contracts.adapters import Driver, Told


class Scripted(Model):  # type: ignore[misc]
    """Makes this call, and then answers."""

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        super().__init__(model_id="scripted")
        self._says = [(name, dict(arguments)), ("final_answer", {"answer": "Done."})]

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        name, given = self._says.pop(0)
        call = ChatMessageToolCall(
            id=f"c{len(self._says)}", type="function", function=ChatMessageToolCallFunction(name=name, arguments=given)
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


class ThreadedAgent:
    def __init__(self, session: BlockingSession, surface: Surface) -> None:
        self._session = session
        self._tools = script_tools(BlockingSurface(session, surface))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        over = anyio.Event()
        told: list[str] = []

        async def work() -> None:
            with anyio.CancelScope(shield=True):  # a thread cannot be cancelled: the session is, and it ends
                told.append(await run_sync(self._run, name, arguments))
            over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            try:
                await over.wait()
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await run_sync(self._session.cancel)
                raise
        return Told(told[0], None)

    def _run(self, name: str, arguments: Mapping[str, Any]) -> str:
        agent = ToolCallingAgent(tools=self._tools, model=Scripted(name, arguments), verbosity_level=-1)
        agent.run("go")
        return next((str(step.observations) for step in agent.memory.steps if getattr(step, "observations", None)), "")


@asynccontextmanager
async def opened(harness: Harness, yield_seconds: float | None) -> AsyncIterator[ThreadedAgent]:
    entered = blocking_session(harness, "s")
    session = await run_sync(entered.__enter__)
    try:
        yield ThreadedAgent(session, Surface(session.session, yield_seconds=yield_seconds))
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(partial(entered.__exit__, None, None, None))


DRIVER = Driver(name="smolagents", opened=opened, own_loop=True)
