"""The session behind `turnscript run`: opened or resumed, an interrupted turn finished, then a turn for each script."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from catalog import Offer
from harness.bridges import bridges_from
from harness.cli.fault import Fault
from harness.cli.person import Person, has_terminal
from harness.config import Settings
from harness.entries import Opened
from harness.harness import Harness
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.recording import Missing
from harness.session import Session
from harness.session_ids import session_named
from harness.store import Store, StoreFailed
from harness.store.memory import MemoryStore
from harness.store.opening import open_store
from harness.watching import Watch
from sandbox import Pool, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`store`: the address that was given; "" for the usual one. `go_on`: finish the interrupted turn first."""

    sources: list[str]
    start: Start
    settings: Settings
    offer: Offer
    relax: str | None = None
    view_turns: int | None = None
    recorded: bool = True
    store: str = ""
    session: str | None = None
    resume: str | None = None
    root_given: bool = False
    go_on: bool = False
    unsure: Missing = "refuse"
    model: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """`session`: its id; "" when it is not kept."""

    outcomes: list[TurnOutcome]
    ledger: Ledger
    session: str


async def run_session(asked: Asked, pool: Pool) -> Done:
    settings = asked.settings
    store = await open_store(settings.store, durability=settings.durability) if asked.recorded else MemoryStore()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        await stack.enter_async_context(pool)
        id = asked.session
        if asked.resume is not None:
            id = await session_named(store, asked.resume)
            asked = await _where_it_was(asked, store, id)
        harness = await stack.enter_async_context(_harness(asked, pool, store))
        try:
            session = await stack.enter_async_context(_session(asked, harness, id))
        except StoreFailed as error:
            if asked.store or asked.resume is not None:
                raise
            typer.echo(f"notice: this session is not kept: {error}", err=True)
            store = MemoryStore()
            session = await stack.enter_async_context(_session(asked, _harness(asked, pool, store, harness.offer), id))
        outcomes = await _turns(asked, session)
        return Done(outcomes, session.ledger, "" if isinstance(store, MemoryStore) else session.id)


async def _where_it_was(asked: Asked, store: Store, session: str) -> Asked:
    """A session that is resumed works where it worked, wherever the command is typed; unless a root is given."""
    (first,) = await store.load(session, most=1)
    entry = first.entry(session)
    root = Path(entry.facts.root) if isinstance(entry, Opened) and entry.facts.root else None
    if asked.root_given or root is None or not root.is_dir():
        return asked
    settings = asked.settings
    return replace(asked, settings=replace(settings, tools=replace(settings.tools, root=root)))


def _harness(asked: Asked, pool: Pool, store: Store, offer: Offer | None = None) -> Harness:
    """`offer`: one whose servers are connected already."""
    settings = asked.settings
    return Harness(
        bridges_from(settings) if offer is None else (), offer=offer or asked.offer, root=settings.tools.root,
        setup=settings.setup, pool=pool, store=store, approver=Person() if has_terminal() else None, watch=asked.watch,
    )  # fmt: skip


def _session(asked: Asked, harness: Harness, id: str | None) -> Session:
    return harness.session(id, resume=asked.resume is not None, model=asked.model, labels=asked.labels)


async def _turns(asked: Asked, session: Session) -> list[TurnOutcome]:
    outcomes = []
    if asked.go_on:
        if session.interrupted is None:
            raise Fault(f"session {session.id}: no turn was interrupted; give a script to go on with")
        typer.echo(f"notice: {session.interrupted.text}", err=True)
        outcomes.append(await session.continue_turn(unsure=asked.unsure))
    if asked.relax:
        session.relax(asked.relax)
    for at, source in enumerate(asked.sources):
        outcomes.append(await session.run(source, start=replace(asked.start, seed=asked.start.seed + at)))
        if asked.view_turns is not None:
            await session.forget(range(1, outcomes[-1].number - asked.view_turns + 1))
    return outcomes
