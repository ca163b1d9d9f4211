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
from harness.bridges import bridges_from
from harness.callers import offer_to
from harness.config import read_settings
from harness.offers import PackToCome, offer_from, offer_of, split, with_pack
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
from harness.telemetry_opening import telemetry_from
from harness.watching import Watch, all_of
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
        packs: Iterable[Pack | ModuleType | str | PackToCome] = (),
        tools: Functions | None = None,
        *,
        offer: Offer | None = None,
        root: Path | str = ".",
        setup: Setup | None = None,
        approver: Approver | None = None,
        watch: Watch | None = None,
        store: Store | str | None = None,
        pool: Pool | None = None,
        workers: int = 1,
        isolation: Isolation = "locked",
        durability: Durability = "fsync",
    ) -> None:
        """`store`: where sessions are kept: a store, or the address of one (`open_store`); None: in memory. `watch` is told what
        happens in every session. Packs to come, such as another server's, are part of the offer once the harness is entered.
        """
        self.setup = setup or Setup()
        ready, self._to_come = split(packs)
        self.offer = offer if offer is not None else offer_of(ready, tools)
        if not self._to_come:
            check_setup(self.setup, self.offer)
        self._watch = watch
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
        self._pool = pool or Pool(workers=workers, isolation=isolation, limits=self.setup.limits, wait=False)
        self._stack = AsyncExitStack()

    @classmethod
    def from_config(
        cls,
        folder: Path | str | None = None,
        *,
        packs: Iterable[Pack | ModuleType | str | PackToCome] = (),
        tools: Functions | None = None,
        approver: Approver | None = None,
        watch: Watch | None = None,
        store: Store | str | None = None,
        **flags: Any,
    ) -> Self:
        """As the command line does it: `turnscript.toml` in the folder, the environment, then `flags` (see `read_settings`).
        `packs` and `tools` are on offer besides those of the configuration; `store` replaces the one it names.
        """
        settings = read_settings(
            folder=None if folder is None else Path(folder), store=store if isinstance(store, str) else None, **flags
        )
        setup = settings.setup
        ready, coming = split(packs)
        offer = offer_from(settings.tools)
        for one in offer_of(ready, tools).packs:
            offer = with_pack(offer, one)
        made = cls(
            [*bridges_from(settings), *coming], offer=offer, root=settings.tools.root, setup=setup, approver=approver,
            store=settings.store if store is None or isinstance(store, str) else store, durability=settings.durability,
        )  # fmt: skip
        spans, shutdown = telemetry_from(settings.telemetry, redactor=Redactor(setup.secrets, patterns=setup.secret_patterns))
        made._watch = all_of(spans, watch)
        made._stack.push_async_callback(shutdown)  # the first, so the last: when all sessions are closed
        return made

    def prompt(self, *, in_reply: bool = False) -> str:
        """What the model is told before its first script. `in_reply`: it writes scripts into its replies, between tags."""
        return brief(offer_to(self.offer, self.setup.callers, "script").tools.values(), in_reply=in_reply)

    async def __aenter__(self) -> Self:
        if self._address:
            self.store = await open_store(self._address, durability=self._durability)
            self._stack.push_async_callback(self.store.close)
        try:
            if self._given is None:
                await self._stack.enter_async_context(self._pool)
            for coming in self._to_come:
                self.offer = with_pack(self.offer, await self._stack.enter_async_context(coming))
            if self._to_come:
                check_setup(self.setup, self.offer)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def ready(self) -> None:
        """Wait until scripts can run; else the first turn does. Unavailable says what is missing on this machine."""
        await self._pool.ready()

    def session(
        self,
        id: str | None = None,
        *,
        setup: Setup | None = None,
        toolbox: Toolbox | None = None,
        progress: Callable[[str, str], None] | None = None,
        approver: Approver | None = None,
        watch: Watch | None = None,
        root: Path | str | None = None,
        resume: bool = False,
        model: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Session:
        """One conversation. `setup`, `approver` and `root` replace the harness's own, `watch` is told besides it; `toolbox` is
        one that is open already. `resume`: the session with this id goes on, as the store has it. `model`, `labels`: on record.
        """
        made = setup or self.setup
        durable = not isinstance(self.store, MemoryStore)
        where = toolbox.host.root if toolbox is not None else self.root if root is None else Path(root)
        places = places_of(where, made.environment) if durable else {}
        scrubbing = Scrubbing(made.scrub, redactor=Redactor(made.secrets, patterns=made.secret_patterns), places=places)
        return Session(
            id or uuid4().hex, made, offer=self.offer if toolbox is None else toolbox.offer, root=where, pool=self._pool,
            approver=approver or self.approver, store=self.store, toolbox=toolbox, progress=progress,
            watch=all_of(self._watch, watch), resume=resume, told_of_it=Told(model=model, labels=labels or {}, git=durable),
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
