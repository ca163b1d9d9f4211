"""The desk of one turn: its guards in their order, what is left of its budget, and the one relaxing of its cap."""

import posixpath
from collections.abc import Callable
from functools import partial
from typing import Any

from catalog import Toolbox
from harness.approval import Approver
from harness.call import Call, Chain, Outcome
from harness.chain import Guards
from harness.dispatch import call_tool
from harness.guards.approval import Approval
from harness.guards.budget import Budget as BudgetGuard
from harness.guards.budget import turn_purses
from harness.guards.conflict import Conflict
from harness.guards.dry_run import DryRun
from harness.guards.plan import Plan
from harness.guards.replay import Recording, Replay
from harness.guards.seconds import Seconds
from harness.guards.timeout import Timeout
from harness.ongoing import Ongoing
from harness.open_tasks import OpenTasks
from harness.problems import told
from harness.provenance import Provenance
from harness.setup import Mode, Setup
from harness.turn import Desk
from harness.turn_clock import TurnClock
from sandbox import Budget, Problem

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
        toolbox: Toolbox,
        approver: Approver,
        digests: dict[str, str],
        mode: Mode,
        recording: Recording | None,
        clock: TurnClock,
        tasks: OpenTasks,
        now: Callable[[], float],
    ) -> None:
        self._setup = setup
        self._clock = clock
        self.cap = setup.shown.shown_turn_bytes
        self.relaxed: list[str] = []
        self.provenance = Provenance()
        self._texts = on.texts
        conflict = Conflict(on.lanes, on.freshness.real)
        budget = BudgetGuard(
            turn_purses(setup.turn, setup.turn_budget), on.purses, on.results, parts=_PARTS if _PARTS in toolbox.tools else ""
        )
        self.guards = Guards(
            replay=None if recording is None else Replay(recording),
            dry_run=DryRun(setup.policy) if mode == "dry_run" else None,
            plan=Plan(on.plans) if setup.plan_reads and setup.flags.two_pass else None,
            budget=budget,
            approval=Approval(
                approver, setup.policy, on.remembered, session=session, seconds=setup.turn.approval_seconds,
                redactor=on.redactor, conflict=conflict, tasks=tasks, paused=clock.paused, clock=now,
            ),
            conflict=conflict,
            repeat=on.repeat,
            overlap=on.overlap,
            cache=on.cache if setup.flags.cache else None,
            seconds=Seconds(budget),
            timeout=Timeout(setup.turn.call_seconds, clock.working),
        )  # fmt: skip
        self.desk = Desk(
            turn=turn,
            toolbox=toolbox,
            chain=Chain(self.guards.in_order(), partial(call_tool, toolbox)),
            leave=conflict.leave,
            settled=self._settled,
            relax=self.relax,
            take=budget.take,
            results=on.results,
            budget=self._budget,
            digests=digests,
            canonical=partial(_canonical, on, toolbox, setup),
            names=partial(_names, on, toolbox, setup),
            grace_seconds=setup.turn.grace_seconds,
        )

    def relax(self, reason: Any) -> Problem | None:
        """Once a turn, with a reason, on record."""
        if not isinstance(reason, str) or not reason.strip():
            return told("no_reason")
        if self.relaxed:
            return told("relaxed_already", cap=self.cap)
        self.relaxed.append(reason.strip()[:_REASON_CHARS])
        self.cap = max(self.cap, self._setup.shown.relaxed_turn_bytes)
        return None

    def _settled(self, call: Call, outcome: Outcome) -> None:
        self.provenance.add(call, outcome)
        if call.tool.facts.shape == "slice" and outcome.ok:
            self._texts.add(outcome)

    def _budget(self, shown: int) -> Budget:
        left = self.guards.budget.left()
        return Budget(bytes=max(0, self.cap - shown), seconds=round(self._clock.left_seconds(), 3), tools=left or None)


def _canonical(on: Ongoing, toolbox: Toolbox, setup: Setup, tool: str, key: str) -> str:
    """As seen from the session's root; a pack with a root of its own names files from there."""
    own = setup.packs.get(toolbox.offer.homes[tool].name, {}).get("root")
    kind, colon, path = key.partition(":")
    if own and colon and kind in ("file", "tree"):
        key = f"{kind}:{posixpath.join(str(own), path)}"
    return on.freshness.canonical(key)


def _names(on: Ongoing, toolbox: Toolbox, setup: Setup, tool: str, path: str) -> tuple[str, ...]:
    key = _canonical(on, toolbox, setup, tool, f"file:{path}")
    return tuple(dict.fromkeys(one.partition(":")[2] for one in (key, on.freshness.real(key))))
