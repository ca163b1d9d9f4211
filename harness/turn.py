"""One turn, from a script to how it ended: check it, start a sandbox, run its calls through the guards, feed their outcomes back.

Only this file touches a sandbox. What the script left open is cancelled when it ends. The order in which outcomes are fed back is
the order in which they came; it is part of the record.
"""

import posixpath
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from catalog import Effects, Results, Toolbox, ToolProblem
from harness.cache import cache_key
from harness.call import Call, Chain, Outcome
from harness.check import Checked, check_script
from harness.dispatch import Relax, Take, answer_builtin, as_problem
from harness.members import with_members
from harness.open_tasks import OpenTasks
from harness.problems import told
from harness.turn_clock import TurnClock
from sandbox import (
    BUILTINS,
    Budget,
    Called,
    Ending,
    Event,
    Exceeded,
    Failed,
    Finished,
    Printed,
    Problem,
    Reject,
    Resolve,
    Sandbox,
    ScriptError,
    Shown,
    Start,
)

if TYPE_CHECKING:
    from sandbox import LocalSandbox

Settlement: TypeAlias = Resolve | Reject


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call and how it ended. `call` is None for one whose arguments were no good."""

    number: int
    tool: str
    line: int
    column: int
    call: Call | None
    outcome: Outcome
    seconds: float  # from the script's call to its outcome, waiting included


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """All events in order, how each call was settled in the order it was, and how the script ended."""

    events: tuple[Event, ...]
    settled: tuple[Settlement, ...]
    ending: Ending
    layers: tuple[tuple[str, str, str], ...]
    checked: Checked = field(default_factory=Checked)
    calls: tuple[CallRecord, ...] = ()
    stubborn: tuple[str, ...] = ()  # calls that did not stop when they were cancelled
    engine_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What answers the calls of one turn."""

    turn: int
    toolbox: Toolbox
    chain: Chain
    leave: Callable[[Call], None]  # a call is over, whatever became of it
    settled: Callable[[Call, Outcome], None]  # for what is computed from outcomes
    relax: Relax
    take: Take
    results: Results  # what `recall` reads
    budget: Callable[[int], Budget]  # from the bytes shown so far
    digests: Mapping[str, str]  # by tool: all that its results depend on besides the arguments
    canonical: Callable[[str, str], str]  # of a tool's key: one for one file, however it is named
    names: Callable[[str, str], tuple[str, ...]]  # of a path that a tool is given: as seen from the root, and where links lead
    grace_seconds: float


async def run_turn(box: "Sandbox | LocalSandbox", start: Start, desk: Desk, clock: TurnClock, tasks: OpenTasks) -> Ran:
    """Run a script to its end in this sandbox; the desk answers each of its calls."""
    checked = await check_script(box, start, desk.toolbox.offer)
    if checked.refusal is not None:
        return Ran(events=(checked.refusal,), settled=(), ending=checked.refusal, layers=box.layers, checked=checked)
    events: list[Event] = []
    settled: list[Settlement] = []
    calls = _Calls(desk, tasks)
    stubborn: list[str] = []
    try:
        with clock.scope:
            batch = await box.send(replace(start, budget=desk.budget(0)))
            while True:
                events += batch
                if box.ended:
                    break
                for event in batch:
                    if isinstance(event, Called):
                        calls.add(event)
                    else:
                        calls.note_shown(event)
                commands = await calls.settled()
                settled += commands
                batch = await box.send(*commands)
    finally:
        stubborn = await tasks.end(desk.grace_seconds)  # what the script left open
    ending = events[-1] if events and isinstance(events[-1], Finished | Failed | Exceeded) else None
    if ending is None:
        ending = _out_of_time(clock.seconds, events, settled)
        events.append(ending)
    if isinstance(ending, Failed):
        ending = replace(ending, error=with_members(ending.error, settled))
        events[-1] = ending
    return Ran(
        events=tuple(events), settled=tuple(settled), ending=ending, layers=box.layers, checked=checked,
        calls=tuple(calls.records(stubborn)), stubborn=tuple(stubborn), engine_seconds=box.engine_seconds_spent,
    )  # fmt: skip


class _Calls:
    """The calls of a turn: admitted in the order of the script, run together; outcomes ready together travel together."""

    def __init__(self, desk: Desk, tasks: OpenTasks) -> None:
        self._desk = desk
        self._tasks = tasks
        self._made: dict[int, tuple[Called, Call | None, float]] = {}
        self._records: dict[int, CallRecord] = {}
        self._ready: list[Settlement] = []
        self._any_ready = anyio.Event()
        self._shown = 0

    def add(self, called: Called) -> None:
        began = anyio.current_time()
        if called.tool in BUILTINS:
            desk = self._desk
            work = partial(answer_builtin, desk.toolbox, called, relax=desk.relax, take=desk.take, results=desk.results)
            self._tasks.start(called.tool, partial(self._answered, work))
            return
        call = self._call(called)
        if isinstance(call, Problem):
            self._made[called.call_id] = (called, None, began)
            self._over(called, None, Outcome(status="failed", problem=call, by="check"), began)
            return
        self._made[called.call_id] = (called, call, began)
        refusal = self._desk.chain.admit(call)
        if refusal is not None:
            self._desk.leave(call)
            self._over(called, call, refusal, began)
            return
        self._tasks.start(f"{called.tool} (call {called.call_id})", partial(self._run, called, call, began))

    def note_shown(self, event: Event) -> None:
        if isinstance(event, Printed):
            self._shown += len(event.text)
        elif isinstance(event, Shown):
            self._shown += len(event.value) if isinstance(event.value, str) else _rough_size(event.value)

    async def settled(self) -> list[Settlement]:
        """Wait for at least one outcome; gives all that are there."""
        await self._any_ready.wait()
        ready, self._ready = self._ready, []
        self._any_ready = anyio.Event()
        now, budget = time() * 1000, self._desk.budget(self._shown)
        return [replace(one, now=now, budget=budget) for one in ready]

    def records(self, stubborn: list[str]) -> list[CallRecord]:
        """In the order of the script; what never ended was cancelled."""
        found = []
        for number, (called, call, began) in self._made.items():
            record = self._records.get(number)
            if record is None:
                by = "nobody" if f"{called.tool} (call {number})" in stubborn else "turn"
                gone = Outcome(status="cancelled", problem=told("cancelled", tool=called.tool), by=by)
                record = _record(called, call, gone, anyio.current_time() - began)
            found.append(record)
        return found

    def _call(self, called: Called) -> Call | Problem:
        toolbox = self._desk.toolbox
        tool = toolbox.tools.get(called.tool)
        if tool is None:  # the sandbox was told of tools that are not open: unknown tool, no call
            return Problem("unknown_tool", f"there is no tool {called.tool}", "help() lists the packs")
        try:
            bound = toolbox.bind(called.tool, called.args)
        except ToolProblem as problem:
            return as_problem(problem)
        effects = tool.effects(bound.named)
        return Call(
            turn=self._desk.turn, number=called.call_id, tool=tool, bound=bound, site=called.site,
            effects=_canonical(effects, partial(self._desk.canonical, called.tool)),
            places={
                name: self._desk.names(called.tool, value) for name, value in bound.named.items() if _is_place(value, effects)
            },
            key=cache_key(called.tool, self._desk.digests.get(called.tool, ""), tool.with_defaults(bound.named)),
        )  # fmt: skip

    async def _run(self, called: Called, call: Call, began: float) -> None:
        try:
            await checkpoint_if_cancelled()  # a turn that is over starts nothing, not even up to a first wait
            outcome = await self._desk.chain.run(call)
        finally:
            self._desk.leave(call)
        self._over(called, call, outcome, began)

    def _over(self, called: Called, call: Call | None, outcome: Outcome, began: float) -> None:
        self._records[called.call_id] = _record(called, call, outcome, anyio.current_time() - began)
        if call is not None:
            self._desk.settled(call, outcome)
        if outcome.problem is None:
            self._add_ready(Resolve(called.call_id, outcome.value))
        else:
            self._add_ready(Reject(called.call_id, outcome.problem))

    async def _answered(self, work: Callable[[], Awaitable[Settlement]]) -> None:
        self._add_ready(await work())

    def _add_ready(self, settlement: Settlement) -> None:
        self._ready.append(settlement)
        self._any_ready.set()


def _record(called: Called, call: Call | None, outcome: Outcome, seconds: float) -> CallRecord:
    return CallRecord(
        number=called.call_id, tool=called.tool, line=called.site.line, column=called.site.column, call=call, outcome=outcome,
        seconds=round(seconds, 6),
    )  # fmt: skip


def _canonical(effects: Effects, canonical: Callable[[str], str]) -> Effects:
    reads, writes = (tuple(sorted({canonical(key) for key in keys})) for keys in (effects.reads, effects.writes))
    return Effects(effects.effect, reads, writes)


def _is_place(value: Any, effects: Effects) -> bool:
    """Does this argument name a file or a folder that the call touches?"""
    if not isinstance(value, str):
        return False
    name = posixpath.normpath(value or ".")
    return any(key in (f"file:{name}", f"tree:{name}") for key in (*effects.reads, *effects.writes))


def _rough_size(value: Any) -> int:
    """Without encoding it: the script reads this as what it has shown, not to the byte."""
    waiting, size = [value], 0
    while waiting and size < 1 << 16:
        one = waiting.pop()
        if isinstance(one, dict):
            size += sum(len(name) + 4 for name in one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
            size += len(one)
        else:
            size += len(one) + 2 if isinstance(one, str) else 6
    return size


def _out_of_time(turn_seconds: float, events: list[Event], settled: list[Settlement]) -> Exceeded:
    done = {command.call_id for command in settled}
    waiting = [event for event in events if isinstance(event, Called) and event.call_id not in done]
    names = ", ".join(f"{call.tool} (line {call.site.line})" for call in waiting[:5])
    message = f"the turn took more than {turn_seconds:g} seconds"
    error = ScriptError(
        "LimitExceeded",
        message + (f"; still open: {names}" if names else ""),
        hint="do less in one script, or start long work and look at it in a later one",
        data={"limit": "turn_seconds"},
        origin="sandbox",
    )
    return Exceeded("turn_seconds", turn_seconds, error, tuple(call.call_id for call in waiting))
