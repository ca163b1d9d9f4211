"""Repeat: an external call that has given the identical result again and again is refused before it runs once more.

Results are compared byte by byte, without the members that the tool calls volatile. A changed result, a write that the call could
depend on, or time resets the count. Equal calls wait for each other, so that calls made together are counted as if made in turn.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

import anyio

from catalog.effects import EVERYTHING, overlap
from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told
from sandbox import values

_REMEMBERED = 256  # different calls; a loop has few
_RESULT_BYTES_MAX = 1 << 20  # of a result that is compared; larger ones are never refused
_DEPTH = 200


@dataclass(slots=True)
class _Memory:
    reads: tuple[str, ...]
    result: bytes = b""
    sample: str = ""
    times: list[float] = field(default_factory=list)  # of identical results, in a row
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    waiting: int = 0


class Repeat:
    """One for a session."""

    def __init__(
        self,
        *,
        times: int,
        seconds: float,
        sample_bytes: int,
        clock: Callable[[], float],
        free: Callable[[str], str] = str,
        now: Callable[[], float] = time,
    ) -> None:
        """`free` takes secrets out of the sample before it is cut: half a secret would not be known as one. `now`: seconds since
        1970, to place what earlier processes did.
        """
        self._now = now
        self._times = times
        self._seconds = seconds
        self._sample = sample_bytes
        self._clock = clock
        self._free = free
        self._known: OrderedDict[str, _Memory] = OrderedDict()

    def admit(self, call: Call) -> Outcome | None:
        return self._refusal(call) if self._counts(call) else None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        if not self._counts(call):
            return await self._writing(call, proceed)
        memory = self._memory(call)
        memory.waiting += 1
        try:
            async with memory.lock:
                refusal = self._refusal(call)
                if refusal is not None:
                    return refusal
                outcome = await self._writing(call, proceed)
                self._note(call, memory, outcome, at=self._clock())
                return outcome
        finally:
            memory.waiting -= 1

    def lived(self, call: Call, outcome: Outcome, *, at: float) -> None:
        """A call that came this far in an earlier process, or by a recording; `at`: seconds since 1970."""
        if self._counts(call):
            self._note(call, self._memory(call), outcome, at=self._clock() - max(0.0, self._now() - at))
        if call.effects.writes:
            self._wrote(call)

    def _counts(self, call: Call) -> bool:
        """Polling is what some tools are for, and a call that writes what it names changes its own ground."""
        own = [key for key in call.effects.writes if key != EVERYTHING]
        return self._times > 1 and call.effects.effect == "external" and not call.tool.facts.polled and not own

    def _memory(self, call: Call) -> _Memory:
        memory = self._known.get(call.key)
        if memory is None:
            memory = self._known[call.key] = _Memory(call.effects.reads)
            if len(self._known) > _REMEMBERED:
                oldest = next((key for key, one in self._known.items() if not one.waiting and key != call.key), None)
                if oldest is not None:
                    del self._known[oldest]
        self._known.move_to_end(call.key)
        return memory

    def _refusal(self, call: Call) -> Outcome | None:
        memory = self._known.get(call.key)
        if memory is None:
            return None
        now = self._clock()
        recent = [at for at in memory.times if now - at < self._seconds]
        if len(recent) < self._times - 1:
            return None
        sample = (
            self._free(memory.sample[: 64 * self._sample])
            .encode("utf-8", "replace")[: self._sample]
            .decode("utf-8", "ignore")
            .strip()
        )
        problem = told(
            "repeated", tool=call.name, times=len(recent), seconds=max(1.0, now - recent[0]), sample=sample,
            wait=max(1.0, self._seconds - (now - recent[-(self._times - 1)])), data={"times": len(recent), "sample": sample},
        )  # fmt: skip
        return refused("repeat", problem)

    def _note(self, call: Call, memory: _Memory, outcome: Outcome, *, at: float) -> None:
        result = _compared(outcome, call.tool.facts.volatile)
        if result is None:
            memory.times.clear()
            return
        if result != memory.result:
            memory.times.clear()
        memory.result, memory.sample = result, _sample(outcome, result)
        memory.times = [*memory.times[-self._times :], at]

    async def _writing(self, call: Call, proceed: Proceed) -> Outcome:
        """Whatever becomes of it, it may have written."""
        try:
            return await proceed(call)
        finally:
            if call.effects.writes:
                self._wrote(call)

    def _wrote(self, call: Call) -> None:
        depends: dict[tuple[str, ...], bool] = {}  # many calls read the same
        for key, memory in self._known.items():
            if key == call.key or not memory.times:
                continue
            if memory.reads not in depends:
                depends[memory.reads] = _depends(memory.reads, call.effects.writes)
            if depends[memory.reads]:
                memory.times.clear()


def _sample(outcome: Outcome, result: bytes) -> str:
    """What a reader would look at: the text of the result, or all of it."""
    value = outcome.value
    texts = (
        [value] if isinstance(value, str) else [value.get(name) for name in ("output", "text")] if isinstance(value, dict) else []
    )
    whole = result.partition(b" ")[2][:4096].decode("utf-8", "replace")
    return next((text for text in texts if isinstance(text, str) and text.strip()), whole)


def _depends(reads: Sequence[str], writes: Sequence[str]) -> bool:
    return any(overlap(read, write) for read in reads for write in writes)


def _compared(outcome: Outcome, volatile: Sequence[str]) -> bytes | None:
    """The result as bytes, without what differs each time; None when it is too large or there is none to compare."""
    if outcome.by != "tool" or outcome.size > _RESULT_BYTES_MAX or outcome.status not in ("returned", "failed"):
        return None
    problem = outcome.problem
    value: Any = outcome.value if problem is None else {"code": problem.code, "message": problem.message, "data": problem.data}
    if isinstance(value, dict) and volatile:
        value = {name: member for name, member in value.items() if name not in volatile}
    try:
        return outcome.status.encode() + b" " + values.encode(value, _DEPTH)
    except (values.TooDeep, TypeError):  # no JSON: the sandbox says so to the script
        return None
