"""The connection to another server: made in a task of its own, shared by calls in parallel, made anew when it is gone.

Rule: whatever the server does, a call ends in an answer or in a problem within its time. A call that may have run is not made
again, unless its tool only reads.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
from anyio import get_cancelled_exc_class
from anyio.abc import TaskGroup
from mcp import McpError
from mcp.shared.session import ProgressFnT
from mcp.types import CONNECTION_CLOSED, InitializeResult

from catalog import ToolProblem
from tool_packs.mcp_settings import Server
from tool_packs.mcp_stdio import Streams
from tool_packs.mcp_talk import Asked, Talk, talking
from tool_packs.mcp_wire import NOT_RUN, TOO_LARGE

Opening = Callable[[], AbstractAsyncContextManager[Streams]]
_FAILURES = (
    OSError, ValueError, RuntimeError, McpError, httpx.HTTPError, anyio.BrokenResourceError, anyio.ClosedResourceError,
    anyio.EndOfStream, ToolProblem, ExceptionGroup,
)  # fmt: skip
_CLOSED = "Connection closed"  # the SDK's words for every request that waited when the connection ended
_CLOSE_SECONDS = 5.0
_TELL_SECONDS = 1.0  # to tell a server that nobody waits any more
_SILENT_MAX = 3  # calls in a row that it did not answer: then it is stopped
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 30.0  # between failed attempts to connect; doubled each time
_WAIT_SECONDS = 1.0  # that a call waits for the next attempt; after that it is told to come back
_WORDS_CHARS = 2_000


class Gone(Exception):
    """`ran`: may the request have reached the server?"""

    def __init__(self, why: str, *, ran: bool) -> None:
        super().__init__(why)
        self.ran = ran


class Unreachable(Gone):
    """There is no connection, and none could be made."""

    def __init__(self, why: str) -> None:
        super().__init__(why, ran=False)


@dataclass(slots=True, eq=False)
class _Waiting:
    """One request on its way."""

    id: int = -1
    answer: dict[str, Any] | None = None
    error: Exception | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True, eq=False)
class _Connection:
    """From the attempt to the end. `made`: it answered, or never will; `ended`: it is known why."""

    made: anyio.Event = field(default_factory=anyio.Event)
    talk: Talk | None = None
    hello: InitializeResult | None = None
    closing: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    why: str = ""
    silent: int = 0

    @property
    def is_over(self) -> bool:
        return self.ended.is_set() or self.closing.is_set() or (self.talk is not None and self.talk.deaf.is_set())

    @property
    def odd(self) -> str:
        return str(self.talk.heard) if self.talk is not None else ""


class Link:
    """`tasks` outlives it. `changed`: the server says that its tools are others now."""

    def __init__(self, server: Server, opening: Opening, root: Path, tasks: TaskGroup) -> None:
        self.server = server
        self.changed = False
        self._opening = opening
        self._root = root.absolute().as_uri()
        self._tasks = tasks
        self._connection: _Connection | None = None
        self._failures = 0
        self._next_attempt = 0.0

    @property
    def odd(self) -> str:
        """What is added where it did not answer; "" when everything that it said could be read."""
        return self._connection.odd if self._connection is not None else ""

    async def hello(self) -> InitializeResult:
        """What the server says of itself; connects when it is not connected. Gone when it cannot be."""
        connection, _ = await self._connected()
        assert connection.hello is not None
        return connection.hello

    async def ask(
        self, method: str, params: Mapping[str, Any], *, again: bool = False, progress: ProgressFnT | None = None
    ) -> dict[str, Any]:
        """The answer as it came. `again`: it only reads, so that it may be asked twice. McpError is the server's own refusal."""
        asked = Asked(method=method, params=dict(params))
        try:
            return await self._ask_once(asked, progress)
        except Gone as gone:
            if isinstance(gone, Unreachable) or (gone.ran and not again):
                raise
        return await self._ask_once(asked, progress)

    async def close(self) -> None:
        """Not to be cancelled, and bounded."""
        if self._connection is None:
            return
        self._connection.closing.set()
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_SECONDS):
            await self._connection.ended.wait()

    # ---------------------------------------------------------------- one request

    async def _ask_once(self, asked: Asked, progress: ProgressFnT | None) -> dict[str, Any]:
        connection, talk = await self._connected()
        waiting = _Waiting()
        self._tasks.start_soon(self._send, talk, waiting, asked, progress)
        seconds = self.server.settings.call_seconds
        try:
            with anyio.fail_after(seconds):
                await waiting.done.wait()
        except TimeoutError:
            self._give_up(talk, waiting, "timeout")
            raise self._unanswered(connection, asked, seconds) from None
        except get_cancelled_exc_class():
            self._give_up(talk, waiting, "cancelled")
            raise
        connection.silent = 0
        if waiting.answer is None:
            raise await self._refusal(connection, waiting.error)
        return waiting.answer

    async def _send(self, talk: Talk, waiting: _Waiting, asked: Asked, progress: ProgressFnT | None) -> None:
        """In a task of the link: the caller may leave at any time."""
        waiting.id = talk.next_id
        try:
            waiting.answer = await talk.ask(asked, progress)
        except _FAILURES as error:
            waiting.error = error
        finally:
            waiting.done.set()

    async def _refusal(self, connection: _Connection, error: Exception | None) -> Exception:
        """What the caller is told, or what decides whether to ask again."""
        name = self.server.name
        match error:
            case McpError(error=told) if told.code in (NOT_RUN, CONNECTION_CLOSED):
                connection.closing.set()
                why = await self._why(connection) if told.message == _CLOSED else self._said(told.message)
                return Gone(why, ran=told.code != NOT_RUN)
            case McpError(error=told) if told.code == TOO_LARGE:
                return ToolProblem("result_too_large", f"{name}: {told.message}", hint="ask the tool for less, or for a part")
            case McpError():
                return error
            case ValueError():
                said = f"{name} answered with something that is no object"
                return ToolProblem("mcp_error", said, hint="use another tool; the server has to be mended")
            case _:
                never = isinstance(error, anyio.BrokenResourceError | anyio.ClosedResourceError)
                return Gone(await self._why(connection), ran=not never)

    async def _why(self, connection: _Connection) -> str:
        with anyio.move_on_after(_CLOSE_SECONDS):
            await connection.ended.wait()
        return connection.why or "it is gone"

    def _give_up(self, talk: Talk, waiting: _Waiting, reason: str) -> None:
        if waiting.done.is_set() or waiting.id < 0:
            return
        talk.abandon(waiting.id)
        self._tasks.start_soon(self._tell_cancelled, talk, waiting.id, reason)

    async def _tell_cancelled(self, talk: Talk, id: int, reason: str) -> None:
        try:
            with anyio.move_on_after(_TELL_SECONDS):
                await talk.tell_cancelled(id, reason)
        except _FAILURES:
            return  # it is gone: nobody to tell

    def _unanswered(self, connection: _Connection, asked: Asked, seconds: float) -> ToolProblem:
        connection.silent += 1
        stopped = connection.silent >= _SILENT_MAX
        if stopped:
            connection.closing.set()
        return ToolProblem(
            "timed_out",
            f"{self.server.name} did not answer {asked.method} in {seconds:g} s{connection.odd}",
            hint="the server is started anew for the next call" if stopped else "it may still have been done; ask for less",
            data={"seconds": seconds},
        )

    # ---------------------------------------------------------------- connecting

    async def _connected(self) -> tuple[_Connection, Talk]:
        """The connection that is there, or the attempt that is under way, or a new one: one for all who wait."""
        connection = self._connection
        if connection is None or connection.is_over:
            left = self._next_attempt - anyio.current_time() if self._failures else 0.0
            if left > _WAIT_SECONDS:
                raise Unreachable(f"{self._failures} attempts to connect have failed; the next one is in {left:.0f} s")
            connection = self._connection = _Connection()
            self._tasks.start_soon(self._hold, connection, max(left, 0.0))
        await connection.made.wait()
        if connection.talk is None or connection.hello is None:
            raise Unreachable(connection.why)
        return connection, connection.talk

    async def _hold(self, connection: _Connection, pause_seconds: float) -> None:
        """One connection from its first byte to its last, all in this task: the SDK's blocks must end where they began."""
        await anyio.sleep(pause_seconds)
        streams: Streams | None = None
        why = ""
        try:
            async with self._opening() as streams, talking(streams, self._root, self._changed) as talk:
                why = await self._greeted(connection, talk)
                if connection.made.is_set():
                    await _first_of(connection.closing, talk.deaf)
        except _FAILURES as error:
            why = _reason(error)
        finally:
            ending = streams.why() if streams is not None else ""
            connection.why = self._said("; ".join(dict.fromkeys(part for part in (why, ending) if part)))
            if not connection.made.is_set():
                self._failures += 1
                pause = min(_FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1), _LONGEST_PAUSE_SECONDS)
                self._next_attempt = anyio.current_time() + pause
            connection.ended.set()
            connection.made.set()

    async def _greeted(self, connection: _Connection, talk: Talk) -> str:
        """Why not, when it does not greet back."""
        seconds = self.server.settings.startup_seconds
        connection.hello = await talk.greet(seconds)
        if connection.hello is None:
            return f"it did not answer initialize in {seconds:g} s{talk.heard}"
        connection.talk = talk
        self._failures = 0
        connection.made.set()
        return ""

    def _changed(self) -> None:
        self.changed = True

    def _said(self, text: str) -> str:
        return self.server.told(" ".join(text.split()))[:_WORDS_CHARS]


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case ToolProblem():
            return f"{error.message}; {error.hint}" if error.hint else error.message
        case McpError(error=told) if told.message == _CLOSED:
            return ""  # the transport knows more
        case _:
            return str(error) or type(error).__name__


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
