"""What the tests of guards share: a session on a real worker with functions as tools, and calls as a turn makes them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from catalog import Pack, pack
from catalog.check import bind
from catalog.reflect import reflect
from harness import Approver, Session, Setup
from harness.approval import Nobody
from harness.cache import cache_key
from harness.call import Call, Outcome
from harness.offers import offer_of
from harness.store import Store
from harness.store.memory import MemoryStore
from sandbox import Pool, Site

Function = Callable[..., Awaitable[Any]]


class Clock:
    """A clock that stands until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def talking(
    *functions: Function,
    setup: Setup | None = None,
    packs: Iterable[Pack | str] = (),
    approver: Approver | None = None,
    root: Path | str = ".",
    clock: Callable[[], float] | None = None,
    store: Store | None = None,
    id: str = "s",
) -> AsyncIterator[Session]:
    """A session whose pack x has these functions."""
    made = setup or Setup()
    own = [pack("x", functions, doc="Of this test.")] if functions else []
    more = {} if clock is None else {"clock": clock}
    async with Pool(workers=1, limits=made.limits) as pool:
        session = Session(
            id, made, offer=offer_of([*own, *packs]), root=Path(root), pool=pool, approver=approver or Nobody(),
            store=store or MemoryStore(), **more,
        )  # fmt: skip
        async with session:
            yield session


def caught(call: str) -> str:
    """A script that gives name, message and hint of what this call ends in."""
    return f"let e = {{}}; try {{ await {call} }} catch (x) {{ e = x }}\nreturn [e.name, e.message, e.hint]"


def together(*calls: str) -> str:
    """A script that makes these calls at once and gives each one's value, or the name of its problem."""
    return f"return await Promise.all([{', '.join(calls)}].map(p => p.catch(e => e.name)))"


def made(function: Function, number: int = 1, *, turn: int = 1, line: int | None = None, ordinal: int = 0, **named: Any) -> Call:
    tool = reflect(function, pack="x")
    key = cache_key(tool.full_name, "", tool.with_defaults(named))
    return Call(
        turn=turn, number=number, tool=tool, bound=bind(tool, [named] if named else []), effects=tool.effects(named),
        site=Site(line or number, 1, ordinal), key=key,
    )  # fmt: skip


def gives(value: Any = "value", **facts: Any) -> Callable[[Call], Awaitable[Outcome]]:
    """The rest of a chain, that gives this."""

    async def proceed(call: Call) -> Outcome:
        return Outcome(**{"status": "returned", "value": value, "source": "tool", "size": len(str(value)), **facts})

    return proceed
