"""What a turn gives back: the text for the transcript, and the full record beside it."""

from dataclasses import dataclass, field
from typing import Any

from harness.approval import Decision
from harness.check import Checked
from harness.compose import ShownItem
from harness.entries import Settled
from harness.ledger import Ledger
from harness.parts import Part, rest_of
from harness.recording import Played, Recording
from harness.setup import Mode
from harness.turn import CallRecord, Settlement
from sandbox import Budget, Ending, Event, Finished, Printed, ScriptError, Shown

_REPR_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TurnOutcome:
    """`text` is what the model reads. Everything else is for the host."""

    number: int
    script: str
    text: str
    events: tuple[Event, ...]
    settled: tuple[Settlement, ...]
    ending: Ending
    calls: tuple[CallRecord, ...] = ()
    items: tuple[ShownItem, ...] = ()
    notices: tuple[str, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    decisions: tuple[Decision, ...] = ()
    checked: Checked = field(default_factory=Checked)  # what was found before the start
    layers: tuple[tuple[str, str, str], ...] = ()
    mode: Mode = "enabled"
    untold: tuple[CallRecord, ...] = ()  # calls whose outcome the script was never told
    played: Played | None = None  # what a replay found
    parts: tuple[Part, ...] = ()  # what was told while the script ran

    @property
    def rest(self) -> str:
        """What the model has not been told in parts: all of `text`, when there were none."""
        return rest_of(self.items, self.notices, self.parts)

    @property
    def recording(self) -> Recording:
        """Its calls as they would be on record, for `session.run(script, play=Play(recording=…))`: no tool runs then."""
        by_number = {record.number: record for record in self.calls}
        told = [(by_number[one.call_id], one) for one in self.settled if one.call_id in by_number]
        return Recording(
            told=tuple(_settled(self.number, record, one.now, one.budget) for record, one in told),
            left=tuple(_settled(self.number, record) for record in self.untold),
        )

    def __repr__(self) -> str:
        """Short: what the model reads says most, and a failed assertion prints this."""
        return f"TurnOutcome({self.number}, {type(self.ending).__name__.lower()}, {self.text[:_REPR_CHARS]!r})"

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


def _settled(turn: int, record: CallRecord, now: float | None = None, budget: Budget | None = None) -> Settled:
    return Settled(
        session="", at=0.0, turn=turn, call=record.number, tool=record.tool, site=record.site, arguments=record.arguments,
        outcome=record.outcome, seconds=record.seconds, now=now, budget=budget,
    )  # fmt: skip
