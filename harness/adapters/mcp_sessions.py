"""One client of an MCP server, and the session that is its own.

The session is opened when the client first runs something and closed when the client goes, both in one task: scopes are left by
the task that entered them. What runs scripts is called one after the other; asking how one is doing is not.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import anyio
from mcp import types
from mcp.server.session import ServerSession

from harness.adapters.mcp_approver import Ask, ElicitingApprover, can_be_asked
from harness.adapters.mcp_progress import Progress, line_of
from harness.adapters.mcp_roots import Root, root_for
from harness.adapters.surface import Result, Surface
from harness.approval import Nobody
from harness.compose import ShownItem
from harness.dispatch import attempted
from harness.harness import Harness
from harness.interfaces import SurfaceSettings
from harness.redaction import Redactor
from harness.watching import Happened, TurnEnded, TurnYielded, Watch, nobody

T = TypeVar("T")
_CLOSE_SECONDS: Final = 5.0  # for a session whose client is gone
_LABEL_CHARS: Final = 100
_CANNOT_ASK: Final = (
    "this client cannot be asked (it declares no elicitation), so calls that need approval are denied;"
    " the server's --allow lets tools run without asking"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What all clients of a server have in common. `client_roots`: they may name any folder to work in."""

    harness: Harness
    surface: SurfaceSettings = field(default_factory=SurfaceSettings)
    client_roots: bool = False
    watch: Watch = nobody
    redactor: Redactor = field(default_factory=Redactor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of the client. `token`: it wants to be told how it goes on."""

    session: ServerSession
    request: types.RequestId
    token: types.ProgressToken | None = None


class Client:
    """Made by `connected`, one a connection."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._wanted, self._ready, self._gone = anyio.Event(), anyio.Event(), anyio.Event()
        self._opening = anyio.Lock()
        self._one_at_a_time = anyio.Lock()
        self._asked: list[Asked] = []  # calls that are open, the newest last
        self._newest: Asked | None = None  # open or not
        self._telling: list[Progress] = []
        self._root: Root | None = None
        self._labels: dict[str, str] = {}
        self._surface: Surface | None = None
        self._error: Exception | None = None
        self._items: dict[int, tuple[ShownItem, ...]] = {}  # by turn
        self._notices: list[str] = []

    # ------------------------------------------------------------ what the client asks for

    async def call(self, asked: Asked, name: str, arguments: Mapping[str, Any]) -> tuple[Result, tuple[str, ...]]:
        """The result, and what is told beside it."""
        surface = await self.surface(asked)
        waits = name == surface.preset.wait and surface.preset.yield_seconds is not None
        async with nullcontext() if waits else self._one_at_a_time:
            self._asked.append(asked)
            self._newest = asked
            try:
                ended = await self._told_meanwhile(asked, partial(attempted, partial(surface.call, name, arguments)))
            finally:
                self._asked.remove(asked)
        if isinstance(ended, Exception):
            raise ended
        notices, self._notices = tuple(dict.fromkeys(self._notices)), []
        return ended, notices

    async def surface(self, asked: Asked) -> Surface:
        """Of the client's session, which is opened if it is not yet."""
        async with self._opening:
            if self._surface is None:
                if not self._wanted.is_set():
                    await self._wish(asked)
                await self._ready.wait()
            if self._surface is not None:
                return self._surface
            raise self._error or RuntimeError("the client is gone")

    async def recall(self, asked: Asked, handle: str) -> Any:
        """ToolProblem `unknown_handle`. A client may see what a model may see: no secrets."""
        surface = await self.surface(asked)
        return self._serving.redactor.value(surface.session.recall(handle))[0]

    def items_in_view(self) -> list[ShownItem]:
        """Nothing is in view before the session is open."""
        if self._surface is None:
            return []
        turns = [turn for turn, _ in self._surface.session.transcript()]
        return [item for turn in turns for item in self._items.get(turn, ())]

    # ------------------------------------------------------------ the session

    async def live(self) -> None:
        """In a task of its own: opens the session when it is wanted, and closes it when the client is gone."""
        while True:
            await self._wanted.wait()
            if self._gone.is_set():
                return
            with anyio.CancelScope(shield=True) as scope:
                ended = await attempted(partial(self._hold, scope))
            self._surface = None
            if not isinstance(ended, Exception) or self._gone.is_set():
                return
            # It could not be opened: whoever asked is told, and the next call tries again.
            self._error, ready = ended, self._ready
            self._wanted, self._ready = anyio.Event(), anyio.Event()
            ready.set()

    def leave(self) -> None:
        self._gone.set()
        self._wanted.set()
        self._ready.set()

    async def _hold(self, scope: anyio.CancelScope) -> None:
        harness, settings = self._serving.harness, self._serving.surface
        session = harness.session(
            approver=ElicitingApprover(self._whom, harness.approver), watch=self._watch, labels=self._labels,
            root=None if self._root is None else self._root.folder,
        )  # fmt: skip
        async with session:
            self._surface = Surface(session, settings.preset, yield_seconds=settings.yield_seconds)
            self._ready.set()
            await self._gone.wait()
            scope.deadline = anyio.current_time() + _CLOSE_SECONDS

    async def _wish(self, asked: Asked) -> None:
        serving = self._serving
        self._root = await root_for(asked.session, asked.request, serving.harness.root, anywhere=serving.client_roots)
        self._notices += [self._root.notice] if self._root.notice else []
        self._labels = labels_of(asked.session.client_params)
        self._wanted.set()

    # ------------------------------------------------------------ while a call is open

    async def _told_meanwhile(self, asked: Asked, work: Callable[[], Awaitable[T]]) -> T:
        if asked.token is None:
            return await work()
        progress = Progress(asked.session, asked.token, asked.request, self._cleaned)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(progress.run)
            self._telling.append(progress)
            try:
                done = await work()
            finally:
                self._telling.remove(progress)
                progress.close()
        return done

    def _cleaned(self, line: str) -> str:
        return self._serving.redactor.text(line).text

    def _watch(self, happened: Happened) -> None:
        self._serving.watch(happened)
        if isinstance(happened, TurnYielded):
            self._items[happened.turn] = (*self._items.get(happened.turn, ()), *happened.part.items)
        if isinstance(happened, TurnEnded) and happened.outcome is not None:
            self._items[happened.turn] = happened.outcome.items
        line = line_of(happened)
        for progress in self._telling if line is not None else ():
            progress.tell(line or "")

    def _whom(self) -> Ask | None:
        """The client, by the call that is open. A script that goes on by itself has none: then by what the client listens to."""
        newest = self._asked[-1] if self._asked else self._newest
        if newest is not None and can_be_asked(newest.session.client_params):
            return newest.session, newest.request if self._asked else None
        if isinstance(self._serving.harness.approver, Nobody):
            self._notices.append(_CANNOT_ASK)
        return None


@asynccontextmanager
async def connected(serving: Serving) -> AsyncIterator[Client]:
    """A client for as long as its connection lasts."""
    client = Client(serving)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.live)
        try:
            yield client
        finally:
            client.leave()


def labels_of(params: types.InitializeRequestParams | None) -> dict[str, str]:
    """For the record: who the client says it is."""
    if params is None:
        return {}
    told = {"client": params.clientInfo.name, "client_version": params.clientInfo.version}
    return {name: value[:_LABEL_CHARS] for name, value in told.items() if value}
