"""One turn: start the script, run its calls together, feed their outcomes back, until it ends.

Only this file touches a sandbox. Every task of a turn is over when the turn is: calls that the script left open are cancelled.
The order in which outcomes are fed back is the order in which they came; it is part of the record.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from catalog import Host, Pack, Toolbox, open_toolbox
from harness.check import Checked, check_script
from harness.dispatch import CALL_SECONDS, Approve, answer_builtin, answer_tool, nobody
from harness.members import with_members
from harness.offers import offer_of
from sandbox import (
    BUILTINS,
    Called,
    Ending,
    Event,
    Exceeded,
    Failed,
    Finished,
    Pool,
    Printed,
    Reject,
    Resolve,
    Sandbox,
    ScriptError,
    Shown,
    Start,
)

if TYPE_CHECKING:
    from sandbox import LocalSandbox

TURN_SECONDS = 300.0  # wall time, tools included: long builds fit, an agent is never held for ever
CALLS_AT_ONCE = 8  # the rest queue in order, so that Promise.all over 100 files just works

Answer = Callable[[Called], Awaitable[Resolve | Reject]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn did: all events in order, how each call was settled in the order it was, and how it ended."""

    events: tuple[Event, ...]
    settled: tuple[Resolve | Reject, ...]
    ending: Ending
    layers: tuple[tuple[str, str, str], ...]
    checked: Checked = field(default_factory=Checked)  # what was found before the start

    @property
    def ok(self) -> bool:
        return isinstance(self.ending, Finished)

    @property
    def value(self) -> Any:
        return self.ending.value if isinstance(self.ending, Finished) else None

    @property
    def shown(self) -> list[Any]:
        return [event.value for event in self.events if isinstance(event, Shown)]

    @property
    def printed(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Printed)]

    @property
    def error(self) -> ScriptError | None:
        return None if isinstance(self.ending, Finished) else self.ending.error

    @property
    def notices(self) -> list[str]:
        """What the script should be told besides: calls it left open or never looked at, console lines that were dropped."""
        calls = {event.call_id: event for event in self.events if isinstance(event, Called)}
        open_ids = set(self.ending.pending)
        told = [_left_over(calls[i], was_open=i in open_ids) for i in sorted(open_ids | set(self.ending.unawaited))]
        told += [finding.text for finding in self.checked.doubtful]
        if isinstance(self.ending, Finished) and self.value is None and not self.shown and not self.printed:
            told.append("the script gave nothing to see: end it with return <value>, or show(value) what matters")
        if self.checked.certain:
            told.append("the script was not started, so nothing has had an effect; mend it and send it whole")
        if self.ending.console_dropped:
            told.append(f"console: {self.ending.console_dropped} more prints were dropped; print less, or show one value")
        return told


async def run_script(
    source: str,
    *,
    tools: Mapping[str, Callable[..., Awaitable[Any]]] | None = None,
    packs: Iterable[Pack | ModuleType | str] = (),
    toolbox: Toolbox | None = None,
    root: Path | str = ".",
    approve: Approve = nobody,
    pool: Pool | None = None,
    start: Start | None = None,
) -> Outcome:
    """Run one script and say what came of it.

    Tools come from `packs` (modules, packs or names such as "files"), from `tools` (`pack.tool` to a typed async function), or
    from a `toolbox` that is open already. `approve` is asked before calls of tools that need it; without it they are denied.
    Without a pool one is started for this script alone; `start` carries anything else: limits, context, stored values.
    """
    async with AsyncExitStack() as stack:
        if toolbox is None:
            opening = open_toolbox(offer_of(packs, tools), host=Host(root=Path(root)))
            toolbox = await stack.enter_async_context(opening)
        told = replace(start or Start(source="", now=time() * 1000), source=source, tools=tuple(toolbox.tools))
        if pool is None:
            pool = await stack.enter_async_context(Pool(workers=1, limits=told.limits))
        box = await stack.enter_async_context(pool.sandbox())
        return await run_turn(box, told, toolbox, approve=approve)


async def run_turn(
    box: "Sandbox | LocalSandbox",
    start: Start,
    toolbox: Toolbox,
    *,
    approve: Approve = nobody,
    turn_seconds: float = TURN_SECONDS,
    calls_at_once: int = CALLS_AT_ONCE,
    call_seconds: float = CALL_SECONDS,
) -> Outcome:
    """Run a script to its end in this sandbox; the toolbox settles each of its calls."""
    checked = await check_script(box, start, toolbox.offer)
    if checked.refusal is not None:
        return Outcome((checked.refusal,), (), checked.refusal, box.layers, checked)
    answer = partial(answer_tool, toolbox, approve=approve, call_seconds=call_seconds)
    events: list[Event] = []
    settled: list[Resolve | Reject] = []
    with anyio.move_on_after(turn_seconds) as deadline:
        async with anyio.create_task_group() as tasks:
            calls = _Calls(tasks, answer, partial(answer_builtin, toolbox), calls_at_once)
            batch = await box.send(start)
            while True:
                events += batch
                if box.ended:
                    break
                for event in batch:
                    if isinstance(event, Called):
                        calls.add(event)
                commands = await calls.settled()
                settled += commands
                batch = await box.send(*commands)
            tasks.cancel_scope.cancel()  # what the script left open
    ending = events[-1] if events and isinstance(events[-1], Finished | Failed | Exceeded) else None
    if ending is None or (deadline.cancelled_caught and not box.ended):
        ending = _out_of_time(turn_seconds, events, settled)
        events.append(ending)
    if isinstance(ending, Failed):
        ending = replace(ending, error=with_members(ending.error, settled))
        events[-1] = ending
    return Outcome(tuple(events), tuple(settled), ending, box.layers, checked)


class _Calls:
    """The open calls of a turn: so many run at once, the rest queue in order; outcomes ready together travel together."""

    def __init__(self, tasks: TaskGroup, answer: Answer, answer_builtin: Answer, at_once: int) -> None:
        self._tasks = tasks
        self._answer = answer
        self._answer_builtin = answer_builtin
        self._places = at_once
        self._queue: deque[Called] = deque()
        self._ready: list[Resolve | Reject] = []
        self._any_ready = anyio.Event()

    def add(self, call: Called) -> None:
        if call.tool in BUILTINS:  # they wait for nothing that others could want
            self._tasks.start_soon(self._settle, call, self._answer_builtin)
        else:
            self._queue.append(call)
            self._start_what_fits()

    async def settled(self) -> list[Resolve | Reject]:
        """Wait for at least one outcome; gives all that are there."""
        await self._any_ready.wait()
        ready, self._ready = self._ready, []
        self._any_ready = anyio.Event()
        return ready

    def _start_what_fits(self) -> None:
        while self._queue and self._places > 0:
            self._places -= 1
            self._tasks.start_soon(self._run_in_place, self._queue.popleft())

    async def _run_in_place(self, call: Called) -> None:
        await self._settle(call, self._answer)
        self._places += 1
        self._start_what_fits()

    async def _settle(self, call: Called, answer: Answer) -> None:
        command = replace(await answer(call), now=time() * 1000)
        self._ready.append(command)  # after the wait: the list is another one each time it was taken
        self._any_ready.set()


def _out_of_time(turn_seconds: float, events: list[Event], settled: list[Resolve | Reject]) -> Exceeded:
    done = {command.call_id for command in settled}
    waiting = [event for event in events if isinstance(event, Called) and event.call_id not in done]
    names = ", ".join(f"{call.tool} (line {call.site.line})" for call in waiting[:5])
    message = f"the turn took more than {turn_seconds:g} seconds"
    error = ScriptError(
        "LimitExceeded",
        message + (f"; still open: {names}" if names else ""),
        hint="do less in one script, or start long work and look at it in a later one",
        data={"limit": "turn_seconds"},
    )
    return Exceeded("turn_seconds", turn_seconds, error, tuple(call.call_id for call in waiting))


def _left_over(call: Called, *, was_open: bool) -> str:
    where = f"{call.tool} (call {call.call_id}, line {call.site.line}, column {call.site.column})"
    if was_open:
        return f"{where} was still open when the script ended and was cancelled; await every call whose effect you want"
    return f"{where} was never awaited, so its result or failure went unseen; write await before it"
