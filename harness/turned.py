"""From what ran to what a turn gives back: the text is composed, the numbers are counted. Pure, but for what comes into view."""

from dataclasses import replace

from harness.compose import Composed, Showing, ShownItem
from harness.dry_report import dry_report
from harness.ledger import Ledger
from harness.notices import notices
from harness.ongoing import Ongoing
from harness.outcome import TurnOutcome
from harness.setup import Mode
from harness.turn import Ran
from harness.turn_clock import TurnClock
from harness.turn_desk import TurnDesk
from harness.turn_ledger import turn_ledger
from sandbox import Failed, Finished, Problem, ScriptError


def turned(
    script: str, ran: Ran, desk: TurnDesk, clock: TurnClock, *, turn: int, on: Ongoing, mode: Mode, also: list[str]
) -> TurnOutcome:
    """`also`: notices besides those that the turn itself gives rise to."""
    composed = _composed(ran, desk, mode=mode, also=also)
    plan = on.plans.actual() if desk.guards.plan is not None and on.plans.files else None
    return TurnOutcome(
        number=turn, script=script, text=composed.text, events=ran.events, settled=ran.settled, ending=ran.ending,
        calls=ran.calls, items=composed.items, notices=composed.notices, checked=ran.checked, layers=ran.layers, mode=mode,
        decisions=tuple(desk.guards.approval.decisions), played=desk.played, untold=ran.untold,
        parts=tuple(desk.parts.given),
        ledger=turn_ledger(ran, composed, clock, plan=plan, relaxed=tuple(desk.relaxed)),
    )  # fmt: skip


def not_run(script: str, problem: Problem, *, turn: int, mode: Mode) -> TurnOutcome:
    """A turn without a script that could be started."""
    error = ScriptError(problem.code, problem.message, hint=problem.hint, origin="sandbox")
    ending, size = Failed(error), len(error.text.encode())
    item = ShownItem(
        handle=f"T{turn}.1", kind="error", text=error.text, labelled=False, whole=True, produced=size, trimmed={}
    )  # fmt: skip
    return TurnOutcome(
        number=turn, script=script, text=item.lines, events=(ending,), settled=(), ending=ending, mode=mode,
        items=(item,), ledger=Ledger(produced=size, shown=size, text=size),
    )  # fmt: skip


def _composed(ran: Ran, desk: TurnDesk, *, mode: Mode, also: list[str]) -> Composed:
    showing: list[Showing] = []
    if not isinstance(ran.ending, Finished):
        showing.append(Showing("error", ran.ending.error.text))
    if mode == "dry_run" and desk.guards.dry_run is not None:
        showing.append(Showing("console", "\n".join(dry_report(ran, desk.guards.dry_run.spared))))
    if desk.played is not None:
        ran = replace(ran, stubborn=(*ran.stubborn, *desk.played.stubborn))
    return desk.parts.rest(ran.events, showing, [*notices(ran), *also])
