"""What a script's author should be told besides what was shown: one line each, with the next step."""

from collections.abc import Sequence

from harness.turn import Ran
from sandbox import Called, Finished, Printed, Shown


def notices(ran: Ran) -> list[str]:
    calls = {event.call_id: event for event in ran.events if isinstance(event, Called)}
    open_ids = set(ran.ending.pending)
    told = [_left_over(calls[i], was_open=i in open_ids) for i in sorted(open_ids | set(ran.ending.unawaited))]
    told += [
        f"{name} did not stop when it was cancelled and may still have effects; look before you go on" for name in ran.stubborn
    ]
    told += [finding.text for finding in ran.checked.doubtful]
    if isinstance(ran.ending, Finished) and ran.ending.value is None and not _gave(ran.events):
        told.append("the script gave nothing to see: end it with return <value>, or show(value) what matters")
    if ran.checked.certain:
        told.append("the script was not started, so nothing has had an effect; mend it and send it whole")
    if ran.ending.console_dropped:
        told.append(f"console: {ran.ending.console_dropped} more prints were dropped; print less, or show one value")
    return told


def _gave(events: Sequence[object]) -> bool:
    return any(isinstance(event, Shown | Printed) for event in events)


def _left_over(call: Called, *, was_open: bool) -> str:
    where = f"{call.tool} (call {call.call_id}, line {call.site.line}, column {call.site.column})"
    if was_open:
        return f"{where} was still open when the script ended and was cancelled; await every call whose effect you want"
    return f"{where} was never awaited, so its result or failure went unseen; write await before it"
