"""Sessions from one store to another: line by line as they are, with their digests and big values.

A copy that was interrupted goes on behind the newest line that is there. What differs in the target is named and left alone.
Afterwards the target is read back: its chain is computed anew and must end in the digest of the source.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import anyio.to_thread

from harness.store import NoSession, SessionBusy, Store
from harness.store.lines import BadLine, Kept, Line
from harness.verifying import Loading, Verdict, verify

PAGE_LINES: Final = 2_048  # without big values: those are fetched line by line
BATCH_BYTES: Final = 4 * 1024 * 1024  # of lines and big values that are in memory at once; one value may be bigger
State: TypeAlias = Literal["missing", "copied", "there", "differs", "broken", "busy"]
Progress: TypeAlias = Callable[[int, int], None]  # sessions done, bytes copied


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What became of one session. `missing`: it would be copied, or the rest of it."""

    session: str
    state: State
    lines: int = 0  # in the source
    there: int = 0  # of them in the target before
    bytes: int = 0  # copied, or to be copied: lines and big values
    told: str = ""  # why it differs, is broken or busy

    @property
    def sound(self) -> bool:
        return self.state in ("missing", "copied", "there")


async def migrate(
    source: Loading, target: Store, sessions: Sequence[str], *, apply: bool, progress: Progress | None = None
) -> list[Moved]:
    """One after the other. Without `apply` nothing is written. StoreFailed ends it; what was copied by then counts next time."""
    moved: list[Moved] = []
    copied = 0

    def told(more: int) -> None:
        nonlocal copied
        copied += more
        if progress is not None:
            progress(len(moved), copied)

    for session in sessions:
        plan, wanted = await _planned(source, target, session)
        if apply and plan.state == "missing":
            plan = await _copied(source, target, plan, told)
        if apply and plan.state in ("copied", "there"):
            plan = await _read_back(target, plan, wanted)
        moved.append(plan)
        told(0)
    return moved


async def compare(source: Loading, target: Store, sessions: Sequence[str], *, progress: Progress | None = None) -> list[Moved]:
    """What the target has of these sessions, read back line by line and value by value."""
    found: list[Moved] = []
    for session in sessions:
        plan, wanted = await _planned(source, target, session)
        if plan.state == "there":
            plan = await _read_back(target, plan, wanted)
        found.append(plan)
        if progress is not None:
            progress(len(found), 0)
    return found


async def take_in(kept: Sequence[Kept], target: Store) -> Moved:
    """One session whose lines are at hand, as `read_single` gives them. BadLine where they do not begin with `opened`."""
    told = kept[0].line.payload.get("session") if kept and kept[0].line.type == "opened" else None
    if not isinstance(told, str):
        raise BadLine("a session begins with a line of the type opened, which has its id")
    (moved,) = await migrate(_AtHand(kept), target, [told], apply=True)
    return moved


class _AtHand:
    def __init__(self, kept: Sequence[Kept]) -> None:
        self._kept = kept

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        return self._kept[after : None if most is None else after + most]


async def _planned(source: Loading, target: Store, session: str) -> tuple[Moved, Verdict]:
    """What is to be done, and what the source has."""
    there, differs = await _common(source, target, session)
    missing = 0

    def count(line: Line, size: int) -> None:
        nonlocal missing
        missing += size if line.seq > there else 0

    sound = await verify(source, session, watch=count)
    plan = Moved(session=session, state="missing", lines=sound.lines, there=there, bytes=missing)
    if differs:
        return replace(plan, state="differs", bytes=0, told=differs), sound
    if not sound.good:
        return replace(plan, state="broken", bytes=0, told=f"in the source: {sound.broken}"), sound
    return (replace(plan, state="there") if there == sound.lines else plan), sound


async def _common(source: Loading, target: Loading, session: str) -> tuple[int, str]:
    """How many lines from the first are in both, and how the target goes on otherwise."""
    same = 0
    while True:
        try:
            theirs = await target.load(session, after=same, most=PAGE_LINES)
        except NoSession:
            return 0, ""
        except BadLine as error:
            return same, f"the target cannot be read behind line {same}: {error}"
        if not theirs:
            return same, ""
        try:
            ours = await source.load(session, after=same, most=len(theirs))
        except BadLine:
            return same, ""  # verify of the source tells which
        for our, their in zip(ours, theirs, strict=False):
            if our.line.digest != their.line.digest:
                return same, f"line {same + 1} is another one in the target"
            same += 1
        if len(ours) < len(theirs):
            return same, f"the target goes on behind line {same}, where the source ends"


async def _copied(source: Loading, target: Store, plan: Moved, told: Callable[[int], None]) -> Moved:
    (first,) = await source.load(plan.session, most=1)
    try:
        writer = await target.write(plan.session, at=first.line.at)
    except SessionBusy as error:
        return replace(plan, state="busy", told=str(error))
    done, copied = plan.there, 0
    try:
        while done < plan.lines:
            page = await source.load(plan.session, after=done, most=min(PAGE_LINES, plan.lines - done))
            if not page:
                raise BadLine(f"line {done + 1} of the source is gone")
            batch, size = await anyio.to_thread.run_sync(_batch, page)
            await writer.copy(batch)
            done, copied = done + len(batch), copied + size
            told(size)
    except SessionBusy as error:
        return replace(plan, state="busy", bytes=copied, told=str(error))
    except ValueError as error:  # BadLine, or a line that does not follow: one side has changed in the meantime
        return replace(plan, state="differs", bytes=copied, told=f"it changed while it was copied: {error}")
    finally:
        with anyio.CancelScope(shield=True):
            await writer.close()
    return replace(plan, state="copied")


def _batch(page: Sequence[Kept]) -> tuple[list[Kept], int]:
    """The first lines of the page, at least one, with their big values in memory, and their bytes."""
    batch: list[Kept] = []
    size = 0
    for kept in page:
        values = kept.blobs()
        size += len(kept.line.to_bytes()) + 1 + sum(map(len, values.values()))
        batch.append(Kept(kept.line, values.__getitem__))
        if size >= BATCH_BYTES:
            break
    return batch, size


async def _read_back(target: Store, plan: Moved, wanted: Verdict) -> Moved:
    found = await verify(target, plan.session)
    if not found.good:
        return replace(plan, state="broken", told=f"in the target: {found.broken}")
    if found.lines != wanted.lines or found.head != wanted.head:
        ends = [f"line {one.lines}, {one.head[:12]}…" for one in (found, wanted)]
        told = f"the target ends with {ends[0]}, the source with {ends[1]}"
        return replace(plan, state="differs", told=told)
    return plan
