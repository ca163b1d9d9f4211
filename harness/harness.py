"""The tool layer of an agent: a pool of sandboxes and the tools on offer, for any number of sessions.

`run_script` is all of it in one call.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self
from uuid import uuid4

from catalog import Offer, Pack, Toolbox
from catalog.brief import brief
from harness.approval import Approve, Approver, Asking, Nobody
from harness.config import read_settings
from harness.offers import offer_from, offer_of
from harness.outcome import TurnOutcome
from harness.record import as_it_is
from harness.redaction import Redactor
from harness.scrub_places import places_of
from harness.scrubbing import Expanding, Scrubbing
from harness.session import Session
from harness.session_facts import Told
from harness.setup import BadConfig, Setup
from harness.setup_check import check_setup
from harness.store import Store
from harness.store.jsonl import Durability
from harness.store.memory import MemoryStore
from harness.store.opening import open_store
from sandbox import Limits, Pool, Start
from sandbox.pool import Isolation

Functions = Mapping[str, Callable[..., Awaitable[Any]]]


class Harness:
    """An async context manager.

    Tools come from `packs` (modules, packs or names such as "files"), from `tools` (`pack.tool` to a typed async function), or
    from an `offer` that is made already. Without an approver, calls that ask are denied.
    """

    def __init__(
        self,
        packs: Iterable[Pack | ModuleType | str] = (),
        tools: Functions | None = None,
        *,
        offer: Offer | None = None,
        root: Path | str = ".",
        setup: Setup | None = None,
        approver: Approver | None = None,
        store: Store | str | None = None,
        pool: Pool | None = None,
        workers: int = 1,
        isolation: Isolation = "locked",
        durability: Durability = "fsync",
    ) -> None:
        """`store`: where sessions are kept: a store, or the address of one (`open_store`); None: in memory."""
        self.setup = setup or Setup()
        self.offer = offer if offer is not None else offer_of(packs, tools)
        check_setup(self.setup, self.offer)
        self.root = Path(root)
        if not self.root.is_dir():
            raise BadConfig(f"root {root}: there is no such folder; give the folder that tools work in")
        folder = self.setup.cache_folder
        if folder is not None and folder.absolute().is_relative_to(self.root.absolute()):
            raise BadConfig(f"cache {folder}: it lies below the root {root}, whose changes it would be; choose a folder outside")
        self.approver = approver or Nobody()
        self._address = store if isinstance(store, str) else ""
        self.store: Store = MemoryStore() if store is None or isinstance(store, str) else store
        self._durability: Durability = durability
        self._given = pool
        self._pool = pool or Pool(workers=workers, isolation=isolation, limits=self.setup.limits)
        self._stack = AsyncExitStack()

    @classmethod
    def from_config(cls, folder: Path | str | None = None, *, approver: Approver | None = None, **flags: Any) -> Self:
        """As the command line does it: `turnscript.toml` in the folder, the environment, then `flags` (see `read_settings`)."""
        settings = read_settings(folder=None if folder is None else Path(folder), **flags)
        return cls(
            offer=offer_from(settings.tools), root=settings.tools.root, setup=settings.setup, approver=approver,
            store=settings.store, durability=settings.durability,
        )  # fmt: skip

    def prompt(self, *, in_reply: bool = False) -> str:
        """What the model is told before its first script. `in_reply`: it writes scripts into its replies, between tags."""
        return brief(self.offer.tools.values(), in_reply=in_reply)

    async def __aenter__(self) -> Self:
        if self._address:
            self.store = await open_store(self._address, durability=self._durability)
            self._stack.push_async_callback(self.store.close)
        if self._given is None:
            await self._stack.enter_async_context(self._pool)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def session(
        self,
        id: str | None = None,
        *,
        setup: Setup | None = None,
        toolbox: Toolbox | None = None,
        progress: Callable[[str, str], None] | None = None,
        resume: bool = False,
        model: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Session:
        """One conversation. `setup` replaces the harness's own; `toolbox` is one that is open already. `resume`: the session with
        this id goes on, as the store has it. `model` and `labels` go on record.
        """
        made = setup or self.setup
        durable = not isinstance(self.store, MemoryStore)
        places = places_of(self.root, made.environment) if durable else {}
        scrubbing = Scrubbing(made.scrub, redactor=Redactor(made.secrets, patterns=made.secret_patterns), places=places)
        return Session(
            id or uuid4().hex, made, offer=self.offer if toolbox is None else toolbox.offer,
            root=self.root if toolbox is None else toolbox.host.root, pool=self._pool, approver=self.approver, store=self.store,
            toolbox=toolbox, progress=progress, resume=resume, told_of_it=Told(model=model, labels=labels or {}, git=durable),
            clean=scrubbing.entry if durable else as_it_is,
            restore=Expanding(places).entry if durable and made.scrub.places else as_it_is,
        )  # fmt: skip


async def run_script(
    source: str,
    *,
    packs: Iterable[Pack | ModuleType | str] = (),
    tools: Functions | None = None,
    toolbox: Toolbox | None = None,
    root: Path | str = ".",
    approve: Approve | None = None,
    setup: Setup | None = None,
    pool: Pool | None = None,
    start: Start | None = None,
) -> TurnOutcome:
    """Run one script in a session of its own and say what came of it.

    `approve` is asked, with tool and arguments, before calls that need it; without it they are denied. Without a pool one is
    started for this script alone; `start` carries anything else: limits, context, stored values.
    """
    limits = start.limits if start is not None else Limits()
    made = replace(setup, limits=limits) if setup is not None and start is not None else setup or Setup(limits=limits)
    harness = Harness(
        packs, tools, offer=None if toolbox is None else toolbox.offer, root=root, setup=made,
        approver=None if approve is None else Asking(approve), pool=pool,
    )  # fmt: skip
    async with harness, harness.session(toolbox=toolbox) as session:
        return await session.run(source, start=start)
