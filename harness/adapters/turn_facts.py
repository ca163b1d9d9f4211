"""What a turn did, in a few numbers beside its text: for the host, and plain JSON, since agents keep their histories."""

from typing import Any

from harness.adapters.surface import Result
from harness.outcome import TurnOutcome


def facts_of(result: Result) -> dict[str, Any]:
    told: dict[str, Any] = {"is_error": result.is_error}
    if result.running:
        told["running"] = result.running
    return told | (_of_turn(result.outcome) if result.outcome is not None else {})


def _of_turn(outcome: TurnOutcome) -> dict[str, Any]:
    ledger = outcome.ledger
    sizes = {"produced": ledger.produced, "shown": ledger.shown, "into_script": ledger.result_bytes}
    return {"turn": outcome.number, "calls": dict(ledger.calls), "bytes": sizes, "seconds": round(ledger.turn_seconds, 6)}
