"""What a dry run has to tell: what was read, what would have had an effect, and which calls of the text were not reached."""

from collections import Counter
from collections.abc import Sequence

import orjson

from harness.guards.dry_run import Spared, effect_words
from harness.turn import Ran

_ROWS = 20
_GIVEN_CHARS = 120  # of the arguments: enough to know the call by


def dry_report(ran: Ran, spared: Sequence[Spared]) -> list[str]:
    reads = Counter(record.tool for record in ran.calls if record.outcome.ok)
    rows = ["dry run: nothing was changed"]
    if reads:
        rows.append("ran, reading only: " + ", ".join(f"{name} {times}" for name, times in reads.items()))
    for one in spared[:_ROWS]:
        call = one.call
        then = f", but a rule denies it ({one.rule})" if one.denied else ", asks first" if one.asks else ""
        given = orjson.dumps(call.bound.named).decode()
        short = given if len(given) <= _GIVEN_CHARS else f"{given[:_GIVEN_CHARS]}…"
        rows.append(f"would call {call.name}({short}) (line {call.site.line}): {effect_words(call)}{then}")
    if len(spared) > _ROWS:
        rows.append(f"and {len(spared) - _ROWS} more calls with effects")
    reached = {(record.tool, record.line, record.column) for record in ran.calls}
    for foreseen in [one for one in ran.checked.foreseen if (one.tool, one.line, one.column) not in reached][:_ROWS]:
        rows.append(f"in the text, not reached: {foreseen.text}")
    return rows
