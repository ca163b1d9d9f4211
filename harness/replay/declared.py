"""Recorded values beside what their tools declare now. A tool may give something else since; no tool runs in a replay, so only
its declared schema can tell. A remark for a person, never a difference: the script still gets what is on record.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from jsonschema import Draft202012Validator

from catalog import Tool
from harness.replay.recorded import RecordedTurn

_BYTES_MAX: Final = 65_536  # of a value that is looked at: more of the same rows tell nothing new


def remarks(turns: Iterable[RecordedTurn], tools: Mapping[str, Tool]) -> tuple[str, ...]:
    """One a tool, of the first value that does not fit."""
    found: dict[str, str] = {}
    judges: dict[str, Draft202012Validator] = {}
    for turn in turns:
        for one in turn.recording.told:
            tool = tools.get(one.tool)
            if tool is None or tool.output_schema is None or one.tool in found:
                continue
            if one.outcome.status != "returned" or one.outcome.size > _BYTES_MAX:
                continue
            judge = judges.setdefault(one.tool, Draft202012Validator(tool.output_schema))
            for why in _first(judge, one.outcome.value):
                at = f"turn {turn.number}, line {one.site.line}: {one.tool}"
                found[one.tool] = f"{at}: the recorded value is not what the tool declares now: {why}"
    return tuple(found.values())


def _first(judge: Draft202012Validator, value: object) -> Iterator[str]:
    for error in judge.iter_errors(value):
        place = error.json_path.removeprefix("$").removeprefix(".")
        yield f"{place}: {error.message[:200]}" if place else error.message[:200]
        return
