"""The SDK's session with another server, for as long as one connection lasts: requests as they stand, answers as they came.

What the server asks for in turn is answered here: it is told the root; it gets no model and no person to ask.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from mcp import ClientSession, McpError
from mcp.shared.context import RequestContext
from mcp.shared.session import ProgressFnT
from mcp.types import (
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    ClientRequest,
    ErrorData,
    Implementation,
    InitializeResult,
    JSONRPCError,
    ListRootsResult,
    Root,
    ServerNotification,
    ToolListChangedNotification,
)
from pydantic import BaseModel, FileUrl, RootModel

from tool_packs.mcp_stdio import Streams
from tool_packs.mcp_wire import ABANDONED, Heard, Incoming, sift

_TELL_SECONDS = 1.0  # for requests that wait to be told of the end


class Asked(BaseModel):
    """A request as it stands: the SDK's own types would rewrite addresses."""

    method: str
    params: dict[str, Any]


class _Answer(RootModel[dict[str, Any]]):
    """As it came: the SDK's own types refuse a whole list for one bad item."""


class Talk(ClientSession):
    """The SDK's session, and what it does not tell: the number of the next request, and when it hears no more."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.deaf = anyio.Event()
        self.heard = Heard()

    @property
    def next_id(self) -> int:
        return self._request_id

    async def ask(self, asked: Asked, progress: ProgressFnT | None) -> dict[str, Any]:
        """Not to be cancelled: that would leave a stream of the SDK open. See abandon."""
        answer = await self.send_request(cast(ClientRequest, asked), _Answer, progress_callback=progress)
        return answer.root

    async def greet(self, seconds: float) -> InitializeResult | None:
        """None when it does not answer in time."""
        hello: InitializeResult | None = None
        id, failure = self.next_id, None
        async with anyio.create_task_group() as tasks:

            async def overdue() -> None:
                await anyio.sleep(seconds)
                self.abandon(id)
                await anyio.sleep(_TELL_SECONDS)
                tasks.cancel_scope.cancel()  # it does not even read

            tasks.start_soon(overdue)
            try:
                hello = await self.initialize()
            except (McpError, RuntimeError, ValueError) as error:
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None and not (isinstance(failure, McpError) and failure.error.code == ABANDONED):
            raise failure
        return hello

    def abandon(self, id: int) -> None:
        """Whoever asks gets an error now."""
        waiter = self._response_streams.pop(id, None)
        if waiter is not None:
            error = ErrorData(code=ABANDONED, message="nobody waits for it")
            waiter.send_nowait(JSONRPCError(jsonrpc="2.0", id=id, error=error))

    async def tell_cancelled(self, id: int, reason: str) -> None:
        told = CancelledNotification(params=CancelledNotificationParams(requestId=id, reason=reason))
        await self.send_notification(ClientNotification(told))

    async def _receive_loop(self) -> None:
        try:
            await super()._receive_loop()
        finally:
            self.deaf.set()


@asynccontextmanager
async def talking(streams: Streams, root: str, changed: Callable[[], None]) -> AsyncIterator[Talk]:
    """`root`: as an address. `changed` is called when the server says that its tools are others now. All of it in one task."""

    async def roots(context: RequestContext[ClientSession, Any]) -> ListRootsResult | ErrorData:
        return ListRootsResult(roots=[Root(uri=FileUrl(root))])

    async def noticed(message: object) -> None:
        if isinstance(message, ServerNotification) and isinstance(message.root, ToolListChangedNotification):
            changed()

    kept, read = anyio.create_memory_object_stream[Incoming](0)
    who = Implementation(name="turnscript", version="1")
    async with anyio.create_task_group() as tasks:
        talk = Talk(read, streams.write, list_roots_callback=roots, message_handler=noticed, client_info=who)
        async with talk:
            tasks.start_soon(sift, streams.read, kept, streams.write.clone(), talk.heard)
            try:
                yield talk
            finally:
                # First nothing more is heard, and every request that waits is told; then the SDK's tasks are cancelled.
                kept.close()
                with anyio.CancelScope(shield=True), anyio.move_on_after(_TELL_SECONDS):
                    await talk.deaf.wait()
        tasks.cancel_scope.cancel()
