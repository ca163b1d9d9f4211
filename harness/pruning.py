"""Which sessions may go, and their removal. A session that somebody may be writing stays, and is named.

Not every store knows of a writer in another process; where sessions are chosen by age, one that was never closed and has a line
of the last hour (`WRITING_SECONDS`) should be taken for one that is being written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from harness.store import NoSession, SessionBusy, SessionRow, Store

WRITING_SECONDS: Final = 3_600.0  # a turn waits for people and builds; a process that ended without a word wrote earlier
Fate: TypeAlias = Literal["would go", "removed", "being written", "gone before"]


@dataclass(frozen=True, slots=True)
class Pruned:
    row: SessionRow
    fate: Fate


def older_than(rows: Iterable[SessionRow], at: float) -> list[SessionRow]:
    """Those whose newest line is older."""
    return [row for row in rows if row.last < at]


def all_but_newest(rows: Iterable[SessionRow], count: int) -> list[SessionRow]:
    """By their newest lines."""
    return sorted(rows, key=lambda row: (row.last, row.session), reverse=True)[count:]


async def prune(store: Store, rows: Sequence[SessionRow], *, apply: bool, spared_since: float | None = None) -> list[Pruned]:
    """`spared_since`: one that was never closed and has a line since then stays; None: only what the store knows counts."""
    return [Pruned(row, await _fate(store, row, apply, spared_since)) for row in rows]


async def _fate(store: Store, row: SessionRow, apply: bool, spared_since: float | None) -> Fate:
    if spared_since is not None and not row.closed and row.last >= spared_since:
        return "being written"
    if not apply:
        return "would go"
    try:
        await store.remove(row.session)
    except SessionBusy:
        return "being written"
    except NoSession:
        return "gone before"
    return "removed"
