"""What a turn gives back: the text for the transcript, and the full record beside it."""

from dataclasses import dataclass, field
from typing import Any

from harness.approval import Decision
from harness.check import Checked
from harness.compose import ShownItem
from harness.guards.replay import Recording
from harness.ledger import Ledger
from harness.setup import Mode
from harness.turn import CallRecord, Settlement
from sandbox import Ending, Event, Finished, Printed, ScriptError, Shown


@dataclass(frozen=True, slots=True, kw_only=True)
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

    @property
    def recording(self) -> Recording:
        """The outcomes of its calls, for `session.run(script, recording=…)`: no tool runs then."""
        return Recording.of((record.call, record.outcome) for record in self.calls if record.call is not None)

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
