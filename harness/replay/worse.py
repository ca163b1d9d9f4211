"""Whether a session that was recorded again went worse than the one on record: then the file is not replaced, unless that is
meant. Pure.
"""

from harness.entries import Settled
from harness.replay.differences import WAYS
from harness.replay.recorded import BadRecording, RecordedSession, RecordedTurn


class WentWorse(BadRecording):
    """What went well on record does not now. Nothing is written."""


def check_not_worse(before: RecordedSession, now: RecordedSession) -> None:
    """WentWorse says where first. Turns are compared by their numbers."""
    turns = {turn.number: turn for turn in before.turns}
    for turn in now.turns:
        if turn.number in turns and (text := worse(turns[turn.number], turn)):
            raise WentWorse(f"not written: {text}")


def worse(before: RecordedTurn, now: RecordedTurn) -> str:
    """The turn, or a call from the same place; "" when all that went well still does."""
    if before.ended is None or now.ended is None:
        return ""
    ending = now.ended.ending
    if before.ended.ending.how == "finished" and ending.how != "finished":
        why = "" if ending.error is None else _first_line(f": {ending.error.name}: {ending.error.message}")
        return f"turn {now.number} finished on record, and {'fails' if ending.how == 'failed' else 'exceeds a limit'} now{why}"
    well = {_place(one) for one in before.recording.told if one.outcome.ok}
    for one in now.recording.told:
        if _place(one) in well and not one.outcome.ok:
            problem = one.outcome.problem
            why = "" if problem is None else _first_line(f": {problem.code}: {problem.message}")
            at = f"turn {now.number}, line {one.site.line}: {one.tool}"
            return f"{at} returned on record, and {WAYS[one.outcome.status]} now{why}"
    return ""


def _place(call: Settled) -> tuple[str, int, int, int]:
    """Whatever its arguments are: a call that was edited stands for the one before."""
    return call.tool, call.site.line, call.site.column, call.site.ordinal


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]
