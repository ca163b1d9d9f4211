"""Cache: a result is served again while everything that its tool declared to read is as it was.

What is kept belongs to a state that was the same before and after the call. Before it is served, the state is looked at anew:
writes by tools, by commands and behind our back all show. Equal calls in flight share one execution. The memory is the session's,
the disk everybody's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio
from anyio import to_thread

from harness.cache import DiskCache, Freshness, Kept, MemoryCache, State
from harness.call import Call, Outcome, Proceed, Source

DISK_SECONDS_MIN = 0.005  # a call faster than that is not worth two files


@dataclass(slots=True)
class CacheCounts:
    hits: int = 0
    misses: int = 0
    shared: int = 0
    dropped: int = 0  # results that a write made stale


@dataclass(slots=True, eq=False)
class _Flight:
    """One call that looks for its result, or runs; equal ones wait for it."""

    runs: bool = False
    landed: anyio.Event = field(default_factory=anyio.Event)


class Cache:
    """One for a session."""

    def __init__(
        self,
        freshness: Freshness,
        memory: MemoryCache,
        disk: DiskCache | None = None,
        *,
        disk_seconds_min: float = DISK_SECONDS_MIN,
    ) -> None:
        self._freshness = freshness
        self._memory = memory
        self._disk = disk
        self._disk_seconds_min = disk_seconds_min
        self._flights: dict[str, _Flight] = {}
        self.counts = CacheCounts()

    def admit(self, call: Call) -> Outcome | None:
        return None

    def state_of(self, call: Call) -> State | None:
        """Of what this call read, when its result is kept."""
        kept = self._memory.get(call.key)
        return kept.state if kept is not None and kept.label == call.label else None

    def keep_again(self, key: str, kept: Kept) -> None:
        """A result of an earlier process; before it is served its state is looked at, as always."""
        self._memory.put(key, kept)

    def wrote(self, writes: Sequence[str]) -> None:
        self.counts.dropped += self._memory.drop_touching(writes)

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        if call.effects.writes:
            return await self._writing(call, proceed)
        if not is_cacheable(call):
            return await proceed(call)
        before = self._flights.get(call.key)
        if before is not None:
            await before.landed.wait()
        # From before the look, which may wait for a disk: else equal calls would all look, find nothing, and all run.
        flight = self._flights[call.key] = _Flight()
        try:
            found = await self._found(call)
            if found is not None:
                return self._served(*found, shared=before is not None and before.runs)
            self.counts.misses += 1
            flight.runs = True
            return replace(await self._reading(call, proceed), missed=True)
        finally:
            if self._flights.get(call.key) is flight:
                del self._flights[call.key]
            flight.landed.set()

    def _served(self, kept: Kept, source: Source, *, shared: bool) -> Outcome:
        if shared:
            self.counts.shared += 1
            source = "shared"
        else:
            self.counts.hits += 1
        return Outcome(status="returned", value=kept.value, by="cache", source=source, of=kept.label, size=kept.size)

    async def _writing(self, call: Call, proceed: Proceed) -> Outcome:
        """Whatever becomes of it, it may have written: what it touches is dropped before and after."""
        self.wrote(call.effects.writes)
        try:
            return await proceed(call)
        finally:
            self.wrote(call.effects.writes)

    async def _reading(self, call: Call, proceed: Proceed) -> Outcome:
        before = await self._state(call)
        outcome = await proceed(call)
        if before is not None and outcome.ok and outcome.by == "tool" and not _names_handle(outcome):
            await self._keep(call, outcome, before)
        return outcome

    async def _keep(self, call: Call, outcome: Outcome, before: State) -> None:
        after = await self._fresh(before)
        if after is None:
            return
        kept = Kept(outcome.value, outcome.size, call.effects.reads, after, call.label)
        self._memory.put(call.key, kept)
        if self._disk is not None and not self._disk.problem and outcome.seconds >= self._disk_seconds_min:
            await to_thread.run_sync(self._disk.put, call.key, kept)

    async def _found(self, call: Call) -> tuple[Kept, Source] | None:
        source: Source = "memory"
        kept = self._memory.get(call.key)
        if kept is None and self._disk is not None:
            kept, source = await to_thread.run_sync(self._disk.get, call.key), "disk"
            if kept is not None and kept.state is not None and kept.state.keys != call.effects.reads:
                kept = None  # kept by a version of the tool that declared something else
        if kept is None:
            return None
        now = await self._fresh(kept.state) if kept.state is not None else None
        if now is None:
            self._memory.drop(call.key)
            return None
        # A label names a call of this session; the next one would take another session's for its own.
        kept = replace(kept, state=now, label=kept.label if source == "memory" else "an earlier session")
        self._memory.put(call.key, kept)
        return kept, source

    async def _state(self, call: Call) -> State | None:
        if _is_quick(call.effects.reads):
            return self._freshness.state(call.effects.reads)
        return await to_thread.run_sync(self._freshness.state, call.effects.reads)

    async def _fresh(self, state: State) -> State | None:
        if _is_quick(state.keys):
            return self._freshness.fresh(state)
        return await to_thread.run_sync(self._freshness.fresh, state)


def is_cacheable(call: Call) -> bool:
    if call.effects.writes or call.effects.effect not in ("pure", "reads"):
        return False
    return call.effects.effect == "pure" or (
        bool(call.effects.reads) and all(key.startswith(("file:", "tree:")) for key in call.effects.reads)
    )


def _names_handle(outcome: Outcome) -> bool:
    """A handle in a result is this session's, and what it names may go."""
    return isinstance(outcome.value, dict) and outcome.value.get("handle") is not None


def _is_quick(keys: tuple[str, ...]) -> bool:
    """The stamp of a file takes microseconds, less than a thread; a tree takes milliseconds."""
    return not any(key.startswith("tree:") for key in keys)
