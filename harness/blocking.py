"""A session for callers that are not async: the same verbs, each waits for its end. The session's loop runs in another thread.

What interrupts the waiting thread (Ctrl-C), and `cancel` from any other, ends the script as cancelling `Session.run` does: that
is on record before the wait is over.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

from anyio import CancelScope
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.to_thread import run_sync

from harness.approval import Answer, Request
from harness.forgetting import Forgotten
from harness.harness import Harness
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.session import Session
from harness.setup import Mode
from sandbox import Start

T = TypeVar("T")
_LOOK_SECONDS: Final = 0.1  # a signal may reach another thread, and this one must come to know of it
Ask: TypeAlias = Callable[[str, Mapping[str, Any]], bool]


class BlockingSession:
    """`session`: an open one, of the portal's loop. Its verbs are for other threads than that of the loop."""

    def __init__(self, session: Session, portal: BlockingPortal) -> None:
        self.session = session
        self.id = session.id
        self._portal = portal
        self._scopes: set[CancelScope] = set()  # of those that wait

    def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
        limits: Mapping[str, float] | None = None,
        start: Start | None = None,
    ) -> TurnOutcome:
        return self.wait(partial(self.session.run, script, context=context, mode=mode, limits=limits, start=start))

    def call(self, tool: str, arguments: Mapping[str, Any], *, limits: Mapping[str, float] | None = None) -> TurnOutcome:
        return self.wait(partial(self.session.call, tool, arguments, limits=limits))

    def run_reply(self, reply: str) -> TurnOutcome:
        return self.wait(partial(self.session.run_reply, reply))

    def forget(self, turns: Iterable[int]) -> Forgotten:
        return self.wait(partial(self.session.forget, turns))

    def message(self, role: Literal["user", "assistant", "system", "reasoning"], text: str) -> None:
        self.wait(partial(self.session.message, role, text))

    def relax(self, reason: str) -> None:
        self.session.relax(reason)

    def recall(self, handle: str) -> Any:
        return self.session.recall(handle)

    def transcript(self) -> list[tuple[int, str]]:
        return self.session.transcript()

    @property
    def ledger(self) -> Ledger:
        return self.session.ledger

    def cancel(self) -> None:
        """From another thread: the verbs that wait end now, each with a RuntimeError; a script is on record as cancelled."""
        for scope in list(self._scopes):
            self._portal.call(scope.cancel)

    def wait(self, work: Callable[[], Awaitable[T]]) -> T:
        """Until this has ended, in the session's loop."""
        scope = self._portal.call(CancelScope)
        self._scopes.add(scope)
        working: Future[tuple[T] | None] | None = None
        try:
            working = self._portal.start_task_soon(_within, scope, work)
            while not working.done():
                wait([working], timeout=_LOOK_SECONDS)
            ended = working.result()
        except BaseException:
            if working is None or not working.done():  # it is this thread that was interrupted
                self._portal.call(scope.cancel)
                wait([] if working is None else [working])
            raise
        finally:
            self._scopes.discard(scope)
        if ended is None:
            raise RuntimeError("the turn was cancelled")
        return ended[0]


async def _within(scope: CancelScope, work: Callable[[], Awaitable[T]]) -> tuple[T] | None:
    """None: it was cancelled."""
    with scope:
        return (await work(),)
    return None


class AskingInThread:
    """An approver made of a function that is not async, such as one that reads from a terminal. One question at a time."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        answers = []
        for one in requests:
            said = await run_sync(self._ask, one.tool, one.arguments, abandon_on_cancel=True)
            answers.append(Answer(request=one.id, verdict="allow" if said else "deny"))
        return answers


@contextmanager
def blocking_session(
    harness: Harness, id: str | None = None, *, backend: Literal["asyncio", "trio"] = "asyncio", **rest: Any
) -> Iterator[BlockingSession]:
    """Open the harness and one session of it; `rest` as for `Harness.session`. Leaving ends the script that still runs."""
    with start_blocking_portal(backend) as portal, portal.wrap_async_context_manager(_opened(harness, id, rest)) as session:
        blocking = BlockingSession(session, portal)
        try:
            yield blocking
        finally:
            blocking.cancel()


@asynccontextmanager
async def _opened(harness: Harness, id: str | None, rest: Mapping[str, Any]) -> AsyncIterator[Session]:
    async with harness, harness.session(id, **rest) as session:
        yield session
