"""The ledger of one turn, counted from what ran, what was composed and what its guards saw."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness.compose import Composed
from harness.ledger import Ledger
from harness.turn import Ran
from harness.turn_clock import TurnClock


def turn_ledger(
    ran: Ran,
    composed: Composed,
    clock: TurnClock,
    *,
    relaxed: tuple[str, ...],
    plan: Mapping[str, Any] | None,
) -> Ledger:
    outcomes = [record.outcome for record in ran.calls]
    trimmed: Counter[str] = Counter()
    for item in composed.items:
        trimmed.update(item.trimmed)
    return Ledger(
        produced=sum(item.produced for item in composed.items),
        shown=sum(len(item.text.encode("utf-8", "replace")) for item in composed.items),
        text=len(composed.text.encode("utf-8", "replace")),
        trimmed=dict(trimmed),
        references=sum(len(item.references) for item in composed.items),
        redacted=composed.redacted,
        calls=dict(Counter(outcome.status for outcome in outcomes)),
        refused=dict(Counter(outcome.by for outcome in outcomes if outcome.status in ("refused", "denied", "timed_out"))),
        result_bytes=sum(outcome.size for outcome in outcomes if outcome.ok),
        in_view_lines=sum(last - first + 1 for outcome in outcomes for first, last in outcome.in_view),
        cache_hits=sum(outcome.source in ("memory", "disk") for outcome in outcomes),
        cache_misses=sum(outcome.missed for outcome in outcomes),
        shared=sum(outcome.source == "shared" for outcome in outcomes),
        relaxed=relaxed,
        plan=plan,
        turn_seconds=round(clock.spent_seconds(), 6),
        tool_seconds=round(sum(outcome.seconds for outcome in outcomes), 6),
        engine_seconds=round(ran.engine_seconds, 6),
        person_seconds=round(clock.waited_seconds, 6),
    )
