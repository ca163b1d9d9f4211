"""The conversation behind `turnscript chat`, from settings: a model, a session that is new or goes on, the loop between them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.brief import brief
from harness.adapters.presets import preset_named
from harness.adapters.surface import Surface
from harness.approval import Approver
from harness.bridges import bridges_from
from harness.callers import offer_to
from harness.chat.history import messages_of
from harness.chat.loop import STEPS_MAX, Chat, Listen, role
from harness.chat.messages import Message
from harness.chat.model import Model
from harness.chat.opening import open_model
from harness.chat.scripted import ScriptedModel
from harness.chat.text_calls import TextCalls
from harness.cli.packs import offer_of_settings
from harness.config import Settings
from harness.entries import Entry, Opened
from harness.harness import Harness
from harness.session import Session
from harness.session_ids import session_named
from harness.store import Store, StoreFailed
from harness.store.memory import MemoryStore
from harness.store.opening import open_store
from harness.watching import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`store_given`: an address was typed, so that a session which cannot be kept is an error. `scripted`: replies from a file
    instead of a model.
    """

    settings: Settings
    packs: tuple[str, ...] = ()
    recorded: bool = True
    store_given: bool = False
    resume: str | None = None
    root_given: bool = False
    scripted: Path | None = None
    text_calls: bool = False
    steps_max: int = STEPS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`kept`: it can be resumed. `notices`: for the person, before the first word."""

    chat: Chat
    session: Session
    kept: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """Who watches the session, hears the model and answers for the person."""

    watch: Watch
    listen: Listen
    approver: Approver | None


@asynccontextmanager
async def conversation(wanted: Wanted, ears: Ears) -> AsyncIterator[Conversation]:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(_model(wanted))  # first: most of what is wrong is wrong with it
        notices: list[str] = []
        store = await _store(wanted)
        stack.push_async_callback(store.close)
        id, entries = None, list[Entry]()
        if wanted.resume is not None:
            id = await session_named(store, wanted.resume)
            entries = [line.entry(id) for line in await store.load(id)]
            wanted = _where_it_was(wanted, entries)
        try:
            session = await stack.enter_async_context(_opened(wanted, ears, store, id))
        except StoreFailed as error:
            if wanted.store_given or wanted.resume is not None:
                raise
            notices.append(f"this session is not kept: {error}")
            store = MemoryStore()
            session = await stack.enter_async_context(_opened(wanted, ears, store, id))
        if session.interrupted is not None:
            notices.append(session.interrupted.text)
        yield Conversation(
            chat=_chat(wanted, ears, session, model, entries), session=session, kept=not isinstance(store, MemoryStore),
            notices=tuple(notices),
        )  # fmt: skip


@asynccontextmanager
async def _model(wanted: Wanted) -> AsyncIterator[Model]:
    if wanted.scripted is not None:
        made: Model = ScriptedModel.from_file(wanted.scripted)
        yield TextCalls(made) if wanted.text_calls else made
        return
    async with open_model(wanted.settings.model) as model:
        yield TextCalls(model) if wanted.text_calls else model


async def _store(wanted: Wanted) -> Store:
    if not wanted.recorded:
        return MemoryStore()
    return await open_store(wanted.settings.store, durability=wanted.settings.durability)


def _where_it_was(wanted: Wanted, entries: list[Entry]) -> Wanted:
    """A session that is resumed works where it worked, wherever the command is typed; unless a root is given."""
    first = entries[0] if entries else None
    root = Path(first.facts.root) if isinstance(first, Opened) and first.facts.root else None
    if wanted.root_given or root is None or not root.is_dir():
        return wanted
    settings = wanted.settings
    return replace(wanted, settings=replace(settings, tools=replace(settings.tools, root=root)))


@asynccontextmanager
async def _opened(wanted: Wanted, ears: Ears, store: Store, id: str | None) -> AsyncIterator[Session]:
    settings = wanted.settings
    offer = offer_of_settings(settings, wanted.packs)
    harness = Harness(
        bridges_from(settings), offer=offer, root=settings.tools.root, setup=settings.setup, approver=ears.approver,
        watch=ears.watch, store=store,
    )  # fmt: skip
    async with harness, harness.session(id, resume=wanted.resume is not None, model=settings.model.name) as session:
        yield session


def _chat(wanted: Wanted, ears: Ears, session: Session, model: Model, entries: list[Entry]) -> Chat:
    settings = wanted.settings.surface
    surface = Surface(session, preset_named(settings.preset), prose="system", yield_seconds=settings.yield_seconds)
    system = ""
    if wanted.text_calls:
        tools = offer_to(session.offer, session.callers, "script").tools.values()
        system = f"{role()}\n\n{brief(tools, in_reply=True)}"
    before: list[Message] = messages_of(entries, session.transcript(), surface.script)
    return Chat(surface, model, system=system, listen=ears.listen, steps_max=wanted.steps_max, messages=before)
