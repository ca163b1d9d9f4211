"""The desk of one turn: its guards in their order, what is left of its budget, and the one relaxing of its cap."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from harness.approval import Approver
from harness.asked import CallOf
from harness.call import Call, Chain, Guard, Outcome
from harness.chain import Guards
from harness.compose import Composer
from harness.dispatch import call_tool
from harness.guards.approval import Approval
from harness.guards.budget import Budget as BudgetGuard
from harness.guards.budget import turn_purses
from harness.guards.conflict import Conflict
from harness.guards.dry_run import DryRun, nothing
from harness.guards.fault import Faults
from harness.guards.journal import Journal
from harness.guards.plan import Plan
from harness.guards.replay import Replay
from harness.guards.seconds import Seconds
from harness.guards.timeout import Timeout
from harness.identity import Arguments, Identity
from harness.ongoing import Ongoing
from harness.open_tasks import OpenTasks
from harness.parts import Part, Parts
from harness.problems import told
from harness.provenance import Provenance
from harness.record import Record
from harness.recording import Play, Played, identity
from harness.redaction import for_approval
from harness.relive import absorb
from harness.setup import Mode, Setup
from harness.telling import AsRecorded, AsTheyCome
from harness.turn import CallRecord, Desk, Told
from harness.turn_clock import TurnClock
from harness.watching import CallBegan, CallEnded, TurnYielded, Watch, WatchedApprover, nobody
from sandbox import Budget, Problem, Site

_REASON_CHARS = 500
_PARTS = "results.read"  # gives parts of what is kept, where its pack is on offer


class TurnDesk:
    def __init__(
        self,
        turn: int,
        setup: Setup,
        on: Ongoing,
        *,
        session: str,
        call_of: CallOf,
        approver: Approver,
        record: Record,
        mode: Mode,
        play: Play | None,
        clock: TurnClock,
        tasks: OpenTasks,
        now: Callable[[], float],
        watch: Watch = nobody,
    ) -> None:
        toolbox = call_of.toolbox
        self._turn = turn
        self._setup = setup
        self._clock = clock
        self._on = on
        self._record = record
        self._play = play
        self.cap = setup.shown.shown_turn_bytes
        self.relaxed: list[str] = []
        self.provenance = Provenance()
        self._texts = on.texts
        self._watch = watch
        self._of: dict[str, Any] = {"session": session, "turn": turn}
        conflict = Conflict(on.lanes, on.freshness.real)
        replay = None if play is None else Replay(play, lambda call, entry: absorb(call, entry, on))
        recorded = nothing if replay is None else replay.recorded
        budget = BudgetGuard(
            turn_purses(setup.turn, setup.turn_budget), on.purses, on.results, parts=_PARTS if _PARTS in toolbox.tools else "",
            recorded=recorded,
        )  # fmt: skip
        self.guards = Guards(
            replay=replay,
            dry_run=DryRun(setup.policy, recorded) if mode == "dry_run" else None,
            plan=Plan(on.plans) if setup.plan_reads and setup.flags.two_pass else None,
            budget=budget,
            fault=Faults(on.faults, call_seconds=setup.turn.call_seconds, happened=_happened(play)) if setup.faults else None,
            approval=Approval(
                approver if watch is nobody else WatchedApprover(approver, watch, session=session, turn=turn),
                setup.policy, on.remembered, session=session, seconds=setup.turn.approval_seconds,
                redactor=on.redactor, conflict=conflict, tasks=tasks, paused=clock.paused, clock=now,
            ),
            conflict=conflict,
            repeat=on.repeat,
            overlap=on.overlap,
            cache=on.cache if setup.flags.cache else None,
            seconds=Seconds(budget),
            journal=Journal(record.running),
            timeout=Timeout(setup.turn.call_seconds, clock.working),
        )  # fmt: skip
        self.parts = Parts(
            Composer(
                turn=turn, seen=on.seen, provenance=self.provenance, chunks=on.chunks, redactor=on.redactor, limits=setup.shown,
                flags=setup.flags.condensing,
            ),
            cap=lambda: self.cap, keep=on.results.put, note=self._yielded,
            recorded=() if play is None else play.recording.cuts, on_record=play is not None and play.goes_on,
        )  # fmt: skip
        clock.stopped = play is not None and play.recording.stopped
        live = AsTheyCome(self._budget)
        self._recorded = None if play is None else AsRecorded(play.recording, live, patient=play.runs_tools)
        for one in () if play is None else play.recording.held:
            on.results.kept_before(one.handle, one.value)
        self.desk = Desk(
            turn=turn,
            toolbox=toolbox,
            chain=Chain(self._chain(play), partial(call_tool, toolbox)),
            leave=conflict.leave,
            settled=self._settled,
            relax=self.relax,
            take=budget.take,
            results=on.results,
            telling=self._recorded or live,
            parts=self.parts,
            began=self._began if watch is not nobody else _unwatched,
            ended=self._ended,
            on_record=self._on_record,
            call_of=call_of,
            grace_seconds=setup.turn.grace_seconds,
        )

    def _chain(self, play: Play | None) -> list[Guard]:
        """Where no tool runs, nobody behind the recording is asked: what a rule or a repeated result says now does not count."""
        guards = self.guards.in_order()
        if play is None or play.runs_tools or self.guards.replay is None:
            return guards
        return guards[: guards.index(self.guards.replay) + 1]

    def relax(self, reason: Any) -> Problem | None:
        """Once a turn, with a reason, on record."""
        if not isinstance(reason, str) or not reason.strip():
            return told("no_reason")
        if self.relaxed:
            return told("relaxed_already", cap=self.cap)
        self.relaxed.append(reason.strip()[:_REASON_CHARS])
        self.cap = max(self.cap, self._setup.shown.relaxed_turn_bytes)
        return None

    @property
    def played(self) -> Played | None:
        """What the replay found, when the script has ended."""
        if self.guards.replay is None or self._recorded is None:
            return None
        self.guards.replay.played.unused = self._recorded.rest()
        return self.guards.replay.played

    async def _on_record(self, told: Sequence[Told]) -> None:
        new = [one for one in told if not (self._play is not None and self._play.goes_on and one.recorded)]
        read = {}
        for one in new:
            call, outcome = one.record.call, one.record.outcome
            if call is not None and outcome.ok and outcome.missed:
                state = self._on.cache.state_of(call)
                if state is not None:
                    read[call.number] = state.to_json()
        await self._record.told(self._turn, new, self._on.results, read)

    async def _yielded(self, part: Part) -> None:
        await self._record.yielded(self._turn, part)
        self._watch(TurnYielded(part=part, **self._of))

    def _began(self, call: int, tool: str, site: Site, arguments: Arguments) -> None:
        shown = for_approval(arguments, self._on.redactor)
        self._watch(CallBegan(call=call, tool=tool, line=site.line, shown=shown, arguments=arguments, **self._of))

    def _ended(self, record: CallRecord) -> None:
        self._watch(CallEnded(record=record, **self._of))

    def _settled(self, call: Call, outcome: Outcome) -> None:
        self.provenance.add(call, outcome)
        if call.tool.facts.shape == "slice" and outcome.ok:
            self._texts.add(outcome)

    def _budget(self, shown: int) -> Budget:
        left = self.guards.budget.left()
        return Budget(bytes=max(0, self.cap - shown), seconds=round(self._clock.left_seconds(), 3), tools=left or None)


def _unwatched(call: int, tool: str, site: Site, arguments: Arguments) -> None:
    """Nobody watches: nothing is made ready for their eyes."""


def _happened(play: Play | None) -> dict[Identity, str]:
    """Of a turn that goes on: the calls on record, each with the fault that it fell to, or ""."""
    if play is None or not play.goes_on:
        return {}
    unsure = {identity(one): "" for one in play.recording.unsure}
    return unsure | {identity(one): one.outcome.fault for one in play.recording.told}
