"""What a script's author should be told besides what was shown: one line each, with the next step."""

from collections.abc import Sequence

from harness.faults import fault_notices
from harness.turn import Ran
from sandbox import Called, Finished, Printed, Shown

_PLACES_MAX = 6
_EACH_MAX = 8  # each notice takes its bytes from what may be shown
_OPEN = "still open when the script ended, and cancelled; await every call whose effect you want"
_UNSEEN = "never awaited, so result or failure went unseen; write await before it"


def notices(ran: Ran) -> list[str]:
    calls = {event.call_id: event for event in ran.events if isinstance(event, Called)}
    open_ids = set(ran.ending.pending)
    told = _left_over([calls[i] for i in sorted(open_ids)], was_open=True)
    told += _left_over([calls[i] for i in sorted(set(ran.ending.unawaited) - open_ids)], was_open=False)
    told += [
        f"{name} did not stop when it was cancelled and may still have effects; look before you go on"
        for name in ran.stubborn[:_EACH_MAX]
    ]
    told += [finding.text for finding in ran.checked.doubtful[:_EACH_MAX]]
    for what, count in (("calls did not stop", len(ran.stubborn)), ("places are doubtful", len(ran.checked.doubtful))):
        if count > _EACH_MAX:
            told.append(f"{count - _EACH_MAX} more {what}")
    if isinstance(ran.ending, Finished) and ran.ending.value is None and not _gave(ran.events):
        told.append("the script gave nothing to see: end it with return <value>, or show(value) what matters")
    told += fault_notices(record.outcome for record in ran.calls)
    if ran.checked.certain:
        told.append("the script was not started, so nothing has had an effect; mend it and send it whole")
    if ran.ending.console_dropped:
        told.append(f"console: {ran.ending.console_dropped} more prints were dropped; print less, or show one value")
    return told


def _gave(events: Sequence[object]) -> bool:
    return any(isinstance(event, Shown | Printed) for event in events)


def _left_over(calls: Sequence[Called], *, was_open: bool) -> list[str]:
    """One line for all calls from the same place."""
    places: dict[tuple[str, int, int], list[Called]] = {}
    for call in calls:
        places.setdefault((call.tool, call.site.line, call.site.column), []).append(call)
    told = []
    for (tool, line, column), made in list(places.items())[:_PLACES_MAX]:
        at = f"line {line}, column {column}"
        who = f"{tool} (call {made[0].call_id}, {at}) was" if len(made) == 1 else f"{len(made)} calls of {tool} ({at}) were"
        told.append(f"{who} {_OPEN if was_open else _UNSEEN}")
    if len(places) > _PLACES_MAX:
        told.append(f"calls from {len(places) - _PLACES_MAX} more places were {'still open' if was_open else 'never awaited'}")
    return told
