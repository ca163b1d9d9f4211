"""Where sessions are kept: one small protocol for every store, and the errors they share.

    StoreError                 what went wrong, and what to do
     ├─ NoStore                nothing is kept at this address, and nothing was to be made there
     ├─ SessionBusy            another writer has it
     ├─ NoSession              nothing is kept under this id
     └─ StoreFailed            the disk or the server failed; everything acknowledged before is kept

A store keeps lines (`lines.py`) and the big values beside them; what they mean is not its business. Blocking work is done in
threads. `open_store` in `opening.py` makes one from an address.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from anyio import to_thread

from harness.entries import Entry
from harness.store.lines import Kept, Line


class StoreError(Exception):
    pass


class NoStore(StoreError):
    pass


class SessionBusy(StoreError):
    pass


class NoSession(StoreError):
    pass


class StoreFailed(StoreError):
    pass


class Writer(Protocol):
    """Appends to one session; there is one at a time."""

    @property
    def last(self) -> Line | None:
        """The newest line."""

    async def append(self, *entries: Entry) -> None:
        """When it returns, they are kept: all of them, or with StoreFailed none, and then the writer takes no more."""

    async def copy(self, kept: Sequence[Kept]) -> None:
        """The same for lines of another store, as they are. ValueError when they do not follow the newest line here."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which sessions; everything given must hold. Text is found in scripts, shown texts, messages and items, in any case."""

    text: str = ""
    tool: str = ""  # a name or a pattern: shell.*
    path: str = ""  # as arguments and results name it, or the end of it
    model: str = ""
    root: str = ""
    format: str = ""  # "own": those that were not imported
    since: float | None = None  # opened then or later; seconds since 1970
    until: float | None = None  # opened before
    most: int | None = None
    skip: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session in a list."""

    session: str
    opened: float
    last: float  # when the newest line was written
    lines: int
    turns: int
    root: str = ""
    model: str = ""
    branch: str = ""
    format: str = ""
    title: str = ""  # the first thing a person said, or the first line of the first script
    digest: str = ""  # of the newest line
    closed: bool = False  # it ended with Closed


By: TypeAlias = Literal["model", "tool", "day", "root", "format"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What the sessions of one group did. By tool, only calls, statuses and result bytes are of that tool alone."""

    group: str
    sessions: int = 0
    turns: int = 0
    calls: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)  # of calls
    result_bytes: int = 0
    produced: int = 0  # bytes, as the ledgers have them
    shown: int = 0


class Store(Protocol):
    async def write(self, session: str, *, at: float) -> Writer:
        """Open a session for appending; one that is not there is begun, at this time. SessionBusy."""

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        """Lines, oldest first, those behind the number `after`. NoSession; BadLine names one that cannot be read."""

    async def sessions(self, query: Query = Query()) -> Sequence[SessionRow]:
        """The newest first."""

    async def sums(self, by: By, query: Query = Query()) -> Sequence[Sums]:
        """By group, the one with most sessions first."""

    async def remove(self, session: str) -> None:
        """With its big values. NoSession, SessionBusy."""

    async def close(self) -> None: ...


_PAGE = 256


async def every_entry(store: Store, session: str) -> AsyncIterator[Entry]:
    """All entries of a session, oldest first, page by page. Big values are read in a thread."""
    after = 0
    while page := await store.load(session, after=after, most=_PAGE):
        for entry in await to_thread.run_sync(_entries, page, session):
            yield entry
        after = page[-1].line.seq


def _entries(page: Sequence[Kept], session: str) -> list[Entry]:
    return [kept.entry(session) for kept in page]
