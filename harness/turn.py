"""One turn, from a script to how it ended: check it, start a sandbox, run its calls through the guards, feed their outcomes back.

Only this file touches a sandbox. What the script left open is cancelled when it ends. The order in which outcomes are fed back is
the order in which they came; it is part of the record.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from catalog import Results, Toolbox, ToolProblem
from harness.asked import CallOf
from harness.call import Call, Chain, Outcome
from harness.check import Checked, check_script
from harness.dispatch import Relax, Take, answer_builtin, as_problem, recalled
from harness.identity import Arguments
from harness.members import with_members
from harness.open_tasks import OpenTasks
from harness.parts import Parts
from harness.problems import told
from harness.recording import OUT_OF_TIME, STOPPED
from harness.telling import Telling
from harness.turn_clock import TurnClock
from sandbox import (
    BUILTINS,
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
    Site,
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
    site: Site
    arguments: Arguments
    call: Call | None
    outcome: Outcome
    seconds: float  # from the script's call to its outcome, waiting included

    @property
    def line(self) -> int:
        return self.site.line

    @property
    def column(self) -> int:
        return self.site.column


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the script is told of a call, a tool's or the host's own: on record first."""

    record: CallRecord
    settlement: Settlement
    recorded: bool = False  # a recording has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """All events in order, how each call was settled in the order it was, and how the script ended."""

    events: tuple[Event, ...]
    settled: tuple[Settlement, ...]
    ending: Ending
    layers: tuple[tuple[str, str, str], ...]
    checked: Checked = field(default_factory=Checked)
    calls: tuple[CallRecord, ...] = ()
    untold: tuple[CallRecord, ...] = ()  # calls whose outcome the script was never told
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
    telling: Telling
    parts: Parts
    on_record: Callable[[list[Told]], Awaitable[None]]  # before the script is told
    call_of: CallOf
    grace_seconds: float
    began: Callable[[int, str, Site, Arguments], None]  # for those who watch: a call was made
    ended: Callable[[CallRecord], None]  # and is over


async def run_turn(box: "Sandbox | LocalSandbox", start: Start, desk: Desk, clock: TurnClock, tasks: OpenTasks) -> Ran:
    """Run a script to its end in this sandbox; the desk answers each of its calls."""
    checked = await check_script(box, start, desk.toolbox.offer)
    if checked.refusal is not None:
        return Ran(events=(checked.refusal,), settled=(), ending=checked.refusal, layers=box.layers, checked=checked)
    events = desk.parts.events
    settled: list[Settlement] = []
    calls = _Calls(desk, tasks)
    stubborn: list[str] = []
    try:
        with clock.scope:
            if desk.telling.over((), ()):
                clock.expire()
            await checkpoint_if_cancelled()  # stopped before its turn came: a worker may answer before anything waits
            batch = await box.send(start)
            while True:
                events += batch
                if box.ended:
                    break
                for event in batch:
                    if isinstance(event, Called):
                        calls.add(event)
                    else:
                        calls.note_shown(event)
                commands = await calls.settled(clock)
                await desk.parts.due()
                batch = await box.send(*commands)
                settled += commands  # not before: where the time ends in between, the script has done nothing with them
                desk.parts.told = len(settled)
    finally:
        stubborn = await tasks.end(desk.grace_seconds)  # what the script left open
    await desk.parts.due()
    ending = events[-1] if events and isinstance(events[-1], Finished | Failed | Exceeded) else None
    if ending is None:
        ending = _out_of_time(clock, events, settled)
        events.append(ending)
    if isinstance(ending, Failed):
        ending = replace(ending, error=with_members(ending.error, settled))
        events[-1] = ending
    records, told_of = calls.records(stubborn), {command.call_id for command in settled}
    untold = [record for record in (*records, *calls.unanswered()) if record.number not in told_of]
    return Ran(
        events=tuple(events), settled=tuple(settled), ending=ending, layers=box.layers, checked=checked, calls=tuple(records),
        untold=tuple(untold), stubborn=tuple(stubborn),
        engine_seconds=box.engine_seconds_spent,
    )  # fmt: skip


class _Calls:
    """The calls of a turn: admitted in the order of the script, run together; outcomes ready together travel together."""

    def __init__(self, desk: Desk, tasks: OpenTasks) -> None:
        self._desk = desk
        self._tasks = tasks
        self._made: dict[int, tuple[Called, Call | None, float]] = {}
        self._asked: dict[int, tuple[Called, float]] = {}  # of the host itself: sleep, help, recall, relax
        self._answers: dict[int, CallRecord] = {}
        self._records: dict[int, CallRecord] = {}
        self._open: set[int] = set()  # the script waits for these
        self._ready: dict[int, tuple[CallRecord, Settlement]] = {}
        self._any_ready = anyio.Event()
        self._shown = 0

    def add(self, called: Called) -> None:
        began = anyio.current_time()
        if called.tool in BUILTINS:
            self._add_builtin(called, began)
            return
        call = self._call(called)
        if isinstance(call, Problem):
            self._note_made(called, None, began)
            self._over(called, None, Outcome(status="failed", problem=call, by="check"), began)
            return
        self._note_made(called, call, began)
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

    async def settled(self, clock: TurnClock) -> list[Settlement]:
        """Wait for at least one outcome that the script is to be told; gives all that it is told together."""
        while True:
            if self._desk.telling.over(self._open, self._ready.keys()):
                clock.expire()
            await self._any_ready.wait()
            cues = self._desk.telling.next(self._ready.keys(), self._shown)
            if cues:
                break
            self._any_ready = anyio.Event()
        told = []
        for cue in cues:
            record, settlement = self._ready.pop(cue.call)
            self._open.discard(cue.call)
            settlement = replace(settlement, now=cue.now, budget=cue.budget)
            told.append(Told(record=record, settlement=settlement, recorded=cue.recorded))
        self._any_ready = anyio.Event()
        if self._ready:
            self._any_ready.set()
        await self._desk.on_record(told)
        return [one.settlement for one in told]

    def records(self, stubborn: list[str]) -> list[CallRecord]:
        """In the order of the script; what never ended was cancelled."""
        found = []
        for number, (called, call, began) in self._made.items():
            record = self._records.get(number)
            if record is None:
                by = "nobody" if f"{called.tool} (call {number})" in stubborn else "turn"
                gone = Outcome(status="cancelled", problem=told("cancelled", tool=called.tool), by=by)
                record = _record(called, call, gone, anyio.current_time() - began)
                self._desk.ended(record)
            found.append(record)
        return found

    def unanswered(self) -> list[CallRecord]:
        """What the host itself was asked, as it is on record where the script was never told: in a replay it is not either."""
        gone, now = Outcome(status="cancelled", by="host"), anyio.current_time()
        return [
            self._answers.get(number) or _record(called, None, gone, now - began)
            for number, (called, began) in self._asked.items()
        ]

    def _note_made(self, called: Called, call: Call | None, began: float) -> None:
        self._made[called.call_id] = (called, call, began)
        self._open.add(called.call_id)
        self._desk.telling.made(called.call_id, called.tool, called.site, _arguments(called, call))
        self._desk.began(called.call_id, called.tool, called.site, _arguments(called, call))

    def _add_builtin(self, called: Called, began: float) -> None:
        desk = self._desk
        self._open.add(called.call_id)
        self._asked[called.call_id] = (called, began)
        known = desk.telling.made(called.call_id, called.tool, called.site, tuple(called.args))
        if known is not None:
            if known.outcome.status != "cancelled":  # else the script or its time ended first, and does so again
                self._answered(called, self._as_recorded(called, known.outcome), began)
            return
        work = partial(answer_builtin, desk.toolbox, called, relax=desk.relax, take=desk.take, results=desk.results)
        self._tasks.start(called.tool, partial(self._answer, called, work, began))

    def _as_recorded(self, called: Called, outcome: Outcome) -> Settlement:
        """The answer of the host itself, with what it does to the turn: bytes that were recalled count, and `relax` relaxes."""
        if called.tool == "recall" and outcome.ok:
            return recalled(called, outcome.value, self._desk.take)
        problem = self._desk.relax(called.args[0]) if called.tool == "relax" and outcome.ok and called.args else None
        return _settlement(called.call_id, outcome) if problem is None else Reject(called.call_id, problem)

    def _call(self, called: Called) -> Call | Problem:
        try:
            return self._desk.call_of(self._desk.turn, called.call_id, called.tool, called.args, called.site)
        except ToolProblem as problem:
            return as_problem(problem)

    async def _run(self, called: Called, call: Call, began: float) -> None:
        try:
            await checkpoint_if_cancelled()  # a turn that is over starts nothing, not even up to a first wait
            outcome = await self._desk.chain.run(call)
        finally:
            self._desk.leave(call)
        self._over(called, call, outcome, began)

    def _over(self, called: Called, call: Call | None, outcome: Outcome, began: float) -> None:
        record = self._records[called.call_id] = _record(called, call, outcome, anyio.current_time() - began)
        if call is not None:
            self._desk.settled(call, outcome)
        self._desk.ended(record)
        self._add_ready(record, _settlement(called.call_id, outcome))

    async def _answer(self, called: Called, work: Callable[[], Awaitable[Settlement]], began: float) -> None:
        self._answered(called, await work(), began)

    def _answered(self, called: Called, settlement: Settlement, began: float) -> None:
        match settlement:
            case Resolve():
                outcome = Outcome(status="returned", value=settlement.value, by="host")
            case Reject():
                outcome = Outcome(status="failed", problem=settlement.problem, by="host")
        record = self._answers[called.call_id] = _record(called, None, outcome, anyio.current_time() - began)
        self._add_ready(record, settlement)

    def _add_ready(self, record: CallRecord, settlement: Settlement) -> None:
        self._ready[record.number] = (record, settlement)
        self._any_ready.set()


def _settlement(call_id: int, outcome: Outcome) -> Settlement:
    return Resolve(call_id, outcome.value) if outcome.problem is None else Reject(call_id, outcome.problem)


def _arguments(called: Called, call: Call | None) -> Arguments:
    return tuple(called.args) if call is None else call.tool.with_defaults(call.bound.named)


def _record(called: Called, call: Call | None, outcome: Outcome, seconds: float) -> CallRecord:
    return CallRecord(
        number=called.call_id, tool=called.tool, site=called.site, arguments=_arguments(called, call), call=call, outcome=outcome,
        seconds=round(seconds, 6),
    )  # fmt: skip


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


def _out_of_time(clock: TurnClock, events: list[Event], settled: list[Settlement]) -> Exceeded:
    done = {command.call_id for command in settled}
    waiting = [event for event in events if isinstance(event, Called) and event.call_id not in done]
    names = ", ".join(f"{call.tool} (line {call.site.line})" for call in waiting[:5])
    still = f"; still open: {names}" if names else ""
    limit, name = (STOPPED, "Stopped") if clock.stopped else (OUT_OF_TIME, "LimitExceeded")
    message = "the script was stopped" if clock.stopped else f"the turn took more than {clock.seconds:g} seconds"
    hint = "" if clock.stopped else "do less in one script, or start long work and look at it in a later one"
    error = ScriptError(name, message + still, hint=hint, data={"limit": limit}, origin="sandbox")
    return Exceeded(limit, clock.seconds, error, tuple(call.call_id for call in waiting))
