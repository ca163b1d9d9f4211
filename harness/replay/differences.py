"""How a played turn differs from the recorded one, for the person who reads a red test: what, where, both sides.

Calls come first: when a call differs, everything after it does. Pure. The next step, a command, is told by who prints it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Any, Final, Literal, TypeAlias

from rapidfuzz import fuzz

from harness.call import Status
from harness.entries import Settled
from harness.identity import Arguments
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.record import ending_of
from harness.recording import Compared, NotRecorded
from harness.replay.first_difference import first_difference
from harness.replay.recorded import RecordedTurn
from sandbox import Site

Kind: TypeAlias = Literal["script", "call", "unused", "outcome", "ending", "text", "ledger", "mended"]
LENGTHS: Final[frozenset[Kind]] = frozenset({"text", "ledger", "mended"})  # these hang on how long the paths of a machine are
NOT_COMPARED: Final = ("turn_seconds", "tool_seconds", "engine_seconds", "person_seconds", "redacted")
_BUILTINS: Final = ("sleep", "help", "recall", "relax")
_DIFF_LINES: Final = 60
_LINE_CHARS: Final = 200
_ARGUMENT_CHARS: Final = 160
_EACH_MAX: Final = 5
_HOW: Final = {"finished": "finished", "failed": "failed", "exceeded": "exceeded a limit"}
WAYS: Final[Mapping[Status, str]] = {
    "returned": "returned", "failed": "failed", "refused": "was refused", "denied": "was denied", "timed_out": "timed out",
    "cancelled": "was cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    kind: Kind
    turn: int
    text: str


def differences(turn: RecordedTurn, outcome: TurnOutcome) -> list[Difference]:
    """In the order of what a reader should look at first. What only follows from something else is left out: after a call that is
    not on record its refusal, and all that comes of it; of a script that does not finish any more, calls that it does not come to
    and what it would have shown; of a text that differs, how long it is.
    """
    assert turn.ended is not None
    calls = _missing(turn, outcome)
    ending = _ending(turn, outcome)
    if calls and ending:
        return calls
    if ending and not outcome.ok:
        return [*ending, *_outcomes(turn, outcome)]
    found = [*calls, *ending, *_unused_calls(turn, outcome), *_outcomes(turn, outcome)]
    if calls:
        return found
    if outcome.text != turn.ended.text:
        found.append(Difference("text", turn.number, _other_text(turn.number, turn.ended.text, outcome.text)))
    return found or _ledger(turn.number, turn.ended.ledger, outcome.ledger)


def _missing(turn: RecordedTurn, outcome: TurnOutcome) -> list[Difference]:
    missing = () if outcome.played is None else outcome.played.missing
    told = [_not_recorded(one, turn, outcome.script) for one in missing[:_EACH_MAX]]
    return _cut([Difference("call", turn.number, text) for text in told], len(missing), turn.number)


def _unused_calls(turn: RecordedTurn, outcome: TurnOutcome) -> list[Difference]:
    """But those that a call which is not on record seems to stand for."""
    if outcome.played is None:
        return []
    spoken_for = [nearest(one, turn.recording.told) for one in outcome.played.missing]
    unused = [one for one in outcome.played.unused if one.tool not in _BUILTINS and one not in spoken_for]
    return _cut(
        [Difference("unused", turn.number, _unused(one, turn.number)) for one in unused[:_EACH_MAX]], len(unused), turn.number
    )


def _cut(found: list[Difference], of: int, turn: int) -> list[Difference]:
    more = of - len(found)
    return [*found, Difference(found[0].kind, turn, f"turn {turn}: and {more:,} more")] if more else found


def _outcomes(turn: RecordedTurn, outcome: TurnOutcome) -> list[Difference]:
    compared = () if outcome.played is None else outcome.played.compared
    return [Difference("outcome", turn.number, text) for one in compared if (text := _other_outcome(one, turn.number))]


def nearest(missing: NotRecorded, recorded: Iterable[Settled]) -> Settled | None:
    """The recorded call that was most likely meant: from the same place before others, then by its arguments."""
    same_tool = [one for one in recorded if one.tool == missing.tool]
    if not same_tool:
        return None
    told = _json(missing.arguments)

    def closeness(one: Settled) -> tuple[bool, bool, float]:
        place, there = missing.site, one.site
        return (
            place.line == there.line and place.ordinal == there.ordinal,
            place.line == there.line,
            fuzz.ratio(told, _json(one.arguments)),
        )

    return max(same_tool, key=closeness)


def _not_recorded(missing: NotRecorded, turn: RecordedTurn, script: str) -> str:
    near = nearest(missing, turn.recording.told)
    from_there = sum(_place(one.site) == _place(missing.site) for one in turn.recording.told)
    rows = _how_not(missing, near, from_there)
    rows[0] = f"turn {turn.number}, line {missing.site.line}: {missing.tool} {rows[0]}"
    rows += _script_line(script, missing.site.line, missing.site.column)
    if near is None or 0 < from_there <= missing.site.ordinal:
        rows.append(f"  now: {missing.tool}({_short(missing.arguments)})")
    if near is not None:
        rows.append(f"  nearest on record: {_call(near)}, which {_ended(near)}")
    return "\n".join(rows)


def _how_not(missing: NotRecorded, near: Settled | None, from_there: int) -> list[str]:
    """`from_there`: so many calls from the same place are on record."""
    if near is None:
        return ["is called, and is not on record"]
    if 0 < from_there <= missing.site.ordinal:
        times = "once" if from_there == 1 else f"{from_there} times"
        return [f"is called {missing.site.ordinal + 1} times from there, and {times} on record"]
    place = first_difference(_plain(near.arguments), _plain(missing.arguments))
    if place is not None:
        return ["is called with other arguments than on record", *(f"    {row}" for row in place.rows())]
    there, here = near.site, missing.site
    return [
        "is called from another place than on record",
        f"    recorded line {there.line}, column {there.column}",
        f"    now      line {here.line}, column {here.column}",
    ]


def _unused(one: Settled, turn: int) -> str:
    return f"turn {turn}, line {one.site.line}: on record, and nobody makes it now: {_call(one)}, which {_ended(one)}"


def _other_outcome(one: Compared, turn: int) -> str:
    """What the tool gives now, beside the record; "" when it is the same, or was not allowed to run."""
    if _is_denied(one):
        return ""
    then, now = one.recorded.outcome, one.now
    at = f"turn {turn}, line {one.recorded.site.line}: {one.recorded.tool}({_short(one.recorded.arguments)})"
    if then.status != now.status:
        why = f" ({now.problem.code}: {now.problem.message})" if now.problem is not None else ""
        return f"{at} {WAYS[then.status]} on record, and {WAYS[now.status]} now{why}"
    if then.problem is not None and now.problem is not None:
        place = first_difference(*({"code": one.code, "message": one.message} for one in (then.problem, now.problem)))
    else:
        place = first_difference(then.value, now.value, without=one.volatile)
    return "" if place is None else "\n".join([f"{at} gives something else now", *(f"    {row}" for row in place.rows())])


@dataclass(frozen=True, slots=True)
class Unverified:
    """A live call that was denied: it needs a rule that allows its tool."""

    text: str
    tool: str


def not_verified(outcome: TurnOutcome) -> list[Unverified]:
    compared = () if outcome.played is None else outcome.played.compared
    return [Unverified(_unverified(outcome.number, one.recorded), one.recorded.tool) for one in compared if _is_denied(one)]


def _unverified(turn: int, one: Settled) -> str:
    return f"turn {turn}, line {one.site.line}: {one.tool}({_short(one.arguments)}) was denied, so it is not verified"


def _is_denied(one: Compared) -> bool:
    return one.now.status == "denied" and one.recorded.outcome.status != "denied"


def _ending(turn: RecordedTurn, outcome: TurnOutcome) -> list[Difference]:
    assert turn.ended is not None
    then, now = turn.ended.ending, ending_of(outcome.ending)
    if then.how == now.how:
        return []
    rows = [f"turn {turn.number}: the script {_HOW[then.how]} on record, and {_HOW[now.how]} now"]
    if now.error is not None:
        rows[0] += f": {now.error.name}: {now.error.message}"
        rows += _script_line(outcome.script, now.error.line, now.error.column)
    return [Difference("ending", turn.number, "\n".join(rows))]


def _other_text(turn: int, recorded: str, now: str) -> str:
    """Lines that differ, each cut; where one was, also the place of the first character."""
    rows = list(unified_diff(recorded.split("\n"), now.split("\n"), "recorded", "now", n=2, lineterm=""))
    more = [f"    … {len(rows) - _DIFF_LINES} more lines"] if len(rows) > _DIFF_LINES else []
    place = first_difference(recorded, now) if any(len(row) > _LINE_CHARS for row in rows) else None
    first = [] if place is None else [f"    {row}" for row in replace(place, path="first").rows()]
    return "\n".join(
        [
            f"turn {turn}: the model is shown something else",
            *(f"    {_cut_line(row)}" for row in rows[:_DIFF_LINES]),
            *more,
            *first,
        ]
    )


def _cut_line(row: str) -> str:
    return row if len(row) <= _LINE_CHARS else f"{row[:_LINE_CHARS]}… {len(row) - _LINE_CHARS:,} more characters"


def _ledger(turn: int, recorded: Ledger, now: Ledger) -> list[Difference]:
    rows = [
        f"    {name}: recorded {json.dumps(then)}, now {json.dumps(later)}"
        for name, then in recorded.as_json().items()
        if name not in NOT_COMPARED and (later := now.as_json()[name]) != then
    ]
    return [Difference("ledger", turn, "\n".join([f"turn {turn}: the ledger differs", *rows]))] if rows else []


def mended_differences(turn: int, recorded: Mapping[str, str], now: Mapping[str, str]) -> list[Difference]:
    """Texts that got their lines back when turns were forgotten."""
    handles = [handle for handle in dict.fromkeys((*recorded, *now)) if recorded.get(handle) != now.get(handle)]
    return [
        Difference("mended", turn, f"{handle}: what was forgotten brings back other lines\n{_other_text(turn, then, later)}")
        for handle in handles
        for then, later in [(recorded.get(handle, ""), now.get(handle, ""))]
    ]


def _place(site: Site) -> tuple[int, int]:
    return site.line, site.column


def _script_line(script: str, line: int, column: int) -> list[str]:
    lines = script.split("\n")
    if not 0 < line <= len(lines):
        return []
    margin = " " * len(f"  {line} ")
    before = "".join(char if char == "\t" else " " for char in lines[line - 1][: max(0, column - 1)])
    return [f"  {line} | {lines[line - 1]}", f"{margin}| {before}^"]


def _call(one: Settled) -> str:
    return f"T{one.turn} call {one.call}, line {one.site.line}, {one.tool}({_short(one.arguments)})"


def _ended(one: Settled) -> str:
    outcome = one.outcome
    if outcome.problem is not None:
        return f"{outcome.status} with {outcome.problem.code}"
    return f"returned {outcome.size:,} byte{'' if outcome.size == 1 else 's'}"


def _short(arguments: Arguments) -> str:
    """Null and false are what a call mostly left out, so they say nothing."""
    plain = _plain(arguments)
    if isinstance(plain, dict):
        text = _json({name: value for name, value in plain.items() if value is not None and value is not False})
    else:
        text = _json(plain)[1:-1]
    return text if len(text) <= _ARGUMENT_CHARS else text[:_ARGUMENT_CHARS] + "…"


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(arguments: Arguments | Sequence[Any]) -> Any:
    return list(arguments) if isinstance(arguments, tuple) else dict(arguments) if hasattr(arguments, "items") else arguments
