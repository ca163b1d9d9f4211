"""Replay: outcomes come from a recording, and no tool runs.

A call is the same call when tool, place in the script, its number from that place, and arguments are: never by the order of
arrival, so that `Promise.all` replays under any order of settlement.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told

Identity: TypeAlias = tuple[int, int, int, str]  # line, column, ordinal, key of tool and arguments


def identity(call: Call) -> Identity:
    return (call.site.line, call.site.column, call.site.ordinal, call.key)


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
        self._left = dict(recording.outcomes)

    @property
    def unused(self) -> tuple[Identity, ...]:
        return tuple(self._left)

    def admit(self, call: Call) -> Outcome | None:
        """The recorded outcome is handed out here: nothing of the chain runs."""
        outcome = self._left.pop(identity(call), None)
        if outcome is not None:
            return replace(outcome, source="recording")
        return refused("replay", told("not_recorded", tool=call.name, line=call.site.line, why=self._why(call)))

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return await proceed(call)

    def _why(self, call: Call) -> str:
        place = (call.site.line, call.site.column)
        if any(key[:2] == place and key[3] == call.key for key in self._left):
            return "it was made fewer times from there"
        if any(key[:2] == place for key in self._left):
            return "from there it was made with other arguments"
        return "no call was made from there"
