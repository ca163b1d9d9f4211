"""Replay: outcomes come from a recording, and no tool runs.

A call is the same call when tool, place in the script, its number from that place, and arguments are: never by the order of
arrival, so that `Promise.all` replays under any order of settlement, and never by the code of the tool, which does not run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.cache import cache_key
from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told

Identity: TypeAlias = tuple[int, int, int, str]  # line, column, ordinal, digest of tool and arguments


def identity(call: Call) -> Identity:
    asked = cache_key(call.name, "", call.tool.with_defaults(call.bound.named))
    return (call.site.line, call.site.column, call.site.ordinal, asked)


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls of one turn with how they ended."""

    outcomes: Mapping[Identity, Outcome]

    @classmethod
    def of(cls, calls: Iterable[tuple[Call, Outcome]]) -> "Recording":
        return cls({identity(call): outcome for call, outcome in calls})


class Replay:
    """For one turn. `unused`: recorded calls that nobody made."""

    def __init__(self, recording: Recording) -> None:
        self._recorded = tuple(recording.outcomes)
        self._left = dict(recording.outcomes)

    @property
    def unused(self) -> tuple[Identity, ...]:
        return tuple(self._left)

    def admit(self, call: Call) -> Outcome | None:
        """The recorded outcome is handed out here: nothing of the chain runs."""
        asked = identity(call)
        outcome = self._left.pop(asked, None)
        if outcome is not None:
            return replace(outcome, source="recording")
        return refused("replay", told("not_recorded", tool=call.name, line=call.site.line, why=self._why(asked)))

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return await proceed(call)

    def _why(self, asked: Identity) -> str:
        from_there = [one for one in self._recorded if one[:2] == asked[:2]]
        if not from_there:
            return "no call was made from there"
        if all(one[2] < asked[2] for one in from_there):
            return f"only {len(from_there)} {'call was' if len(from_there) == 1 else 'calls were'} made from there"
        return "from there it was made with other arguments"
