"""What all recordings of one pytest process are played on: an event loop in a thread of its own, and one pool of workers.

Started when the first one needs it, closed at the end. Of turnscript.toml in the root folder the packs of its profile are known;
the rest of it is for tests that run tools or record.
"""

import os
import shlex
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar, cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from catalog import Pack, load_pack
from harness.config import Settings, read_settings
from harness.offers import own_packs
from harness.replay.keeping import MODES, Mode
from harness.replay.playing import Stage, ceiling
from harness.setup import Setup
from sandbox import Pool

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    mode: Mode
    verify: bool
    packs: tuple[str, ...]
    folder: Path  # the root folder of the tests: paths count from there, and turnscript.toml lies there
    root: Path
    give_packs: str  # how a pack is given, for who must


def options_of(config: pytest.Config) -> Options:
    told = config.getoption("turnscript_record") or config.getini("turnscript_record")
    if told not in MODES:
        raise pytest.UsageError(f"turnscript_record = {told}: choose {', '.join(MODES)}")
    verify = bool(config.getoption("turnscript_verify"))
    if verify and told in ("new", "all"):
        if config.getoption("turnscript_record"):
            raise pytest.UsageError("--turnscript-verify and --turnscript-record are two different questions; ask one at a time")
        told = "none"
    return Options(
        mode=cast(Mode, told), verify=verify, packs=tuple(config.getini("turnscript_packs")), folder=config.rootpath,
        root=config.rootpath / str(config.getini("turnscript_root")), give_packs=_give_packs(config.inipath),
    )  # fmt: skip


def _give_packs(file: Path | None) -> str:
    """The line to write, in the file that pytest reads."""
    name = "pytest.ini" if file is None else file.name
    table, value = {
        "pyproject.toml": ("[tool.pytest.ini_options]", '["PATH"]'),
        "setup.cfg": ("[tool:pytest]", "PATH"),
    }.get(name, ("[pytest]", '["PATH"]' if name.endswith(".toml") else "PATH"))
    return f"give its file or module, in {name} below {table}: turnscript_packs = {value}"


def by_command(options: Options, file: str) -> str:
    """The command that records this file again with the same packs and root, typed in the root folder."""
    packs = [word for pack in options.packs for word in ("--pack", pack)]
    root = [] if options.root == options.folder else ["--root", os.path.relpath(options.root, options.folder)]
    return shlex.join(["turnscript", "replay", file, "--record", options.mode, *packs, *root])


class SharedStage:
    def __init__(self, options: Options) -> None:
        self.options = options
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._pool: Pool | None = None

    @cached_property
    def _settings(self) -> Settings:
        return read_settings(folder=self.options.folder)

    def pool(self, *, workers: int) -> Pool:
        return Pool(workers=workers, limits=ceiling(self._settings.limits))

    @property
    def ground(self) -> Setup:
        """Rules, secrets and environment, for tools that run and for what must not be on record."""
        return self._settings.setup

    @cached_property
    def packs(self) -> tuple[Pack, ...]:
        given = [load_pack(name, folder=self.options.folder) for name in self.options.packs]
        return (*own_packs(self._settings.tools), *given)

    @property
    def runs_tools(self) -> bool:
        return self.options.verify or self.options.mode in ("new", "all")

    def stage(self, pool: Pool) -> Stage:
        ground = self.ground if self.runs_tools else None
        return Stage(
            pool=pool, packs=self.packs, ground=ground, root=self.options.root, give_packs=self.options.give_packs
        )  # fmt: skip

    def call(self, work: Callable[[Stage], Awaitable[T]]) -> T:
        """In the thread of the loop; waits for it."""
        portal, pool = self._started()
        waiting = portal.start_task_soon(work, self.stage(pool))
        try:
            return waiting.result()
        except BaseException:
            waiting.cancel()
            raise

    def entered(self, made: Callable[[Pool], AbstractAsyncContextManager[U]]) -> AbstractContextManager[U]:
        """An async context, from a test that is not async."""
        portal, pool = self._started()
        return portal.wrap_async_context_manager(made(pool))

    @property
    def portal(self) -> BlockingPortal:
        return self._started()[0]

    def _started(self) -> tuple[BlockingPortal, Pool]:
        if self._portal is None or self._pool is None:
            self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
            self._pool = self._stack.enter_context(self._portal.wrap_async_context_manager(self.pool(workers=2)))
        return self._portal, self._pool

    def close(self) -> None:
        self._portal = self._pool = None
        self._stack.close()


SHARED: Final = pytest.StashKey[SharedStage]()
