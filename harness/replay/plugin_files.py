"""Which file the session of a test is recorded in, and when it is written: after the test has passed, by the one who owns it."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from catalog import Pack, load_pack
from harness.approval import Approver, Policy, allowing
from harness.offers import offer_of
from harness.replay.batch import WRONG
from harness.replay.plugin_session import SessionOfTest, Wanted
from harness.replay.plugin_stage import SharedStage
from harness.replay.plugin_told import failed
from harness.replay.recorded import SUFFIX
from harness.setup import Setup
from harness.store.jsonl_single import write_single

_UNSAFE = re.compile(r"[^\w.\-\[\]]+", re.ASCII)
_NAME_CHARS: Final = 100


class SessionsOfTest:
    """Of one test; a second session gets the name with -2."""

    def __init__(self, item: pytest.Item, shared: SharedStage) -> None:
        self._item = item
        self._shared = shared
        self._sessions: list[tuple[Path, SessionOfTest]] = []

    def session(
        self,
        packs: Iterable[Pack | ModuleType | str] = (),
        tools: Mapping[str, Callable[..., Awaitable[Any]]] | None = None,
        *,
        root: Path | str | None = None,
        setup: Setup | None = None,
        allow: Iterable[str] = (),
        approver: Approver | None = None,
    ) -> SessionOfTest:
        """Tools as for `Harness`; paths of packs count from the root folder of the tests. `root`: where they work; default:
        turnscript_root. `allow`: tools that need no approval.
        """
        path = recording_path(self._item, len(self._sessions) + 1)
        if allow:
            setup = setup or Setup()
            setup = replace(setup, policy=Policy((*setup.policy.rules, *allowing(tuple(allow)))))
        folder = self._shared.options.folder
        try:
            offer = offer_of([load_pack(one, folder=folder) if isinstance(one, str) else one for one in packs], tools)
        except WRONG as error:
            raise failed(error, folder) from None
        wanted = Wanted(
            offer=offer, root=Path(root or self._shared.options.root).absolute(), setup=setup, approver=approver,
            item=self._item, path=path,
        )  # fmt: skip
        made = SessionOfTest(wanted, self._shared)
        self._sessions.append((path, made))
        return made

    def write(self) -> None:
        for path, session in self._sessions:
            if session.kept is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_single(path, session.kept)


def recording_path(item: pytest.Item, number: int) -> Path:
    """sessions/<test file>/<test>.session.jsonl beside the test file."""
    name = file_name(item.nodeid.partition("::")[2].replace("::", "."))
    more = f"-{number}" if number > 1 else ""
    return item.path.parent / "sessions" / item.path.stem / f"{name}{more}{SUFFIX}"


def file_name(test: str) -> str:
    """The name of a test as a name that every file system takes; where that changes it, a digest keeps two tests apart."""
    safe = _UNSAFE.sub("_", test)[:_NAME_CHARS].strip(".")
    return safe if safe == test else f"{safe}-{hashlib.sha256(test.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
