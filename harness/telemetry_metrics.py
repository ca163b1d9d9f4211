"""Counters and histograms for what the ledger counts: calls, bytes, refusals, the cache, seconds.

Attributes are of small sets: tools on offer, statuses, guards, limits. Nothing that grows with use is one.
"""

from collections.abc import Mapping

from opentelemetry.metrics import Counter, Meter

from harness.outcome import TurnOutcome
from harness.telemetry_facts import ERROR, OPERATION, TOOL
from harness.turn import CallRecord

_SECONDS = (
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
)  # as GenAI durations have them
_REFUSING = ("refused", "denied", "timed_out")  # as the ledger counts them


class Metrics:
    def __init__(self, meter: Meter) -> None:
        self._turns = meter.create_counter("turnscript.turns", "{turn}", "Turns, by how they ended")
        self._calls = meter.create_counter("turnscript.calls", "{call}", "Calls, by tool, status and who decided")
        self._refusals = meter.create_counter("turnscript.refusals", "{call}", "Calls that a guard refused, by guard")
        self._cache = meter.create_counter("turnscript.cache", "{lookup}", "Lookups in the cache: hit, miss, shared")
        self._produced = meter.create_counter("turnscript.produced", "By", "Bytes of all shown values without any limit")
        self._shown = meter.create_counter("turnscript.shown", "By", "Bytes of them that the model was shown")
        self._trimmed = meter.create_counter("turnscript.trimmed", "By", "Bytes of them that it was not shown, by cause")
        self._results = meter.create_counter("turnscript.results", "By", "Bytes of results into scripts")
        self._redacted = meter.create_counter("turnscript.redacted", "{secret}", "Secrets taken out of what was shown")
        self._turn_seconds = meter.create_histogram(
            "turnscript.turn.duration", "s", "Of a turn, without persons", explicit_bucket_boundaries_advisory=_SECONDS
        )
        self._call_seconds = meter.create_histogram(
            "turnscript.call.duration", "s", "Of a call, waiting included", explicit_bucket_boundaries_advisory=_SECONDS
        )
        self._run_seconds = meter.create_histogram(
            "turnscript.tool.duration", "s", "That a tool itself ran", explicit_bucket_boundaries_advisory=_SECONDS
        )
        self._person_seconds = meter.create_histogram(
            "turnscript.person.duration", "s", "That a turn waited for a person", explicit_bucket_boundaries_advisory=_SECONDS
        )

    def call(self, record: CallRecord) -> None:
        outcome = record.outcome
        of = {OPERATION: "execute_tool", TOOL: record.tool, "turnscript.status": outcome.status}
        error = {} if outcome.problem is None else {ERROR: outcome.problem.code}
        self._calls.add(1, {**of, **error, "turnscript.guard": "" if outcome.by == "tool" else outcome.by})
        if outcome.status in _REFUSING:
            self._refusals.add(1, {"turnscript.guard": outcome.by})
        self._call_seconds.record(record.seconds, of)
        if outcome.source == "tool":
            self._run_seconds.record(outcome.seconds, of)

    def turn(self, outcome: TurnOutcome, error: str) -> None:
        ledger = outcome.ledger
        ending = type(outcome.ending).__name__.lower()
        self._turns.add(1, {"turnscript.ending": ending} | ({ERROR: error} if error else {}))
        _add(self._cache, "turnscript.lookup", {"hit": ledger.cache_hits, "miss": ledger.cache_misses, "shared": ledger.shared})
        _add(self._trimmed, "turnscript.cause", ledger.trimmed)
        self._produced.add(ledger.produced)
        self._shown.add(ledger.shown)
        self._results.add(ledger.result_bytes)
        self._redacted.add(sum(ledger.redacted.values()))
        self._turn_seconds.record(ledger.turn_seconds, {"turnscript.ending": ending})
        if ledger.person_seconds:
            self._person_seconds.record(ledger.person_seconds)

    def cancelled(self) -> None:
        self._turns.add(1, {"turnscript.ending": "cancelled", ERROR: "cancelled"})


def _add(counter: Counter, name: str, numbers: Mapping[str, int]) -> None:
    for word, number in numbers.items():
        if number > 0:  # what was shown may be longer than what was produced, by its labels
            counter.add(number, {name: word})
