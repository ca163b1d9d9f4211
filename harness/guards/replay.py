"""Replay: outcomes come from a recording, and no tool runs.

A call that is not on record is refused, or runs through the rest of the chain, as the play says. With `live` it runs in any case,
and the outcome is put beside the recorded one, which the script is told.
"""

from collections.abc import Callable
from dataclasses import replace

import anyio

from harness.call import Call, Outcome, Proceed, refused
from harness.entries import Settled
from harness.identity import Identity, identity_of
from harness.problems import told
from harness.recording import Compared, NotRecorded, Play, Played, identity

Relive = Callable[[Call, Settled], None]


class Replay:
    """For one turn. `relive`: what else a recorded outcome means for the session."""

    def __init__(self, play: Play, relive: Relive) -> None:
        self._play = play
        self._relive = relive
        recording = play.recording
        self._told = {identity(one): one for one in recording.told}
        self._never = {identity(one): one for one in recording.left}
        self._unsure = {identity(one) for one in recording.unsure}
        self.played = Played()

    def admit(self, call: Call) -> Outcome | None:
        asked = _identity(call)
        if (never := self._never.get(asked)) is not None:
            return self._left(call, never)
        if asked in self._told:
            return None
        if asked in self._unsure and self._play.unsure == "refuse":
            return refused("replay", told("unsure", tool=call.name, line=call.site.line))
        if asked in self._unsure or self._play.missing == "run":
            return None
        self.played.missing.append(
            NotRecorded(number=call.number, tool=call.name, site=call.site, arguments=call.tool.with_defaults(call.bound.named))
        )
        return refused("replay", told("not_recorded", tool=call.name, line=call.site.line, why=self._why(asked)))

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        asked = _identity(call)
        if asked in self._never:
            await anyio.sleep_forever()  # as it was: the script ended, or its time, before this call did
        recorded = self._told.get(asked)
        if recorded is None:
            return await proceed(call)
        if self._play.live:
            now = await proceed(call)
            self.played.compared.append(Compared(recorded=recorded, now=now, volatile=tuple(call.tool.facts.volatile)))
        else:
            self._relive(call, recorded)
        return replace(recorded.outcome, replayed=True)

    def _left(self, call: Call, never: Settled) -> Outcome | None:
        """Of a call that the script was not told of. In `admit`: the turn may be over before `handle` is reached."""
        self._relive(call, never)
        if never.outcome.by == "nobody":
            self.played.stubborn.append(f"{call.name} (call {call.number})")
        return None if never.outcome.status == "cancelled" else replace(never.outcome, replayed=True)

    def recorded(self, call: Call) -> Outcome | None:
        """For the guards before this one, which it is not asked after."""
        asked = _identity(call)
        found = self._told.get(asked) or self._never.get(asked)
        return None if found is None else found.outcome

    def _why(self, asked: Identity) -> str:
        from_there = [one for one in self._told if one[:2] == asked[:2]]
        if not from_there:
            return "no call was made from there"
        if all(one[2] < asked[2] for one in from_there):
            return f"only {len(from_there)} {'call was' if len(from_there) == 1 else 'calls were'} made from there"
        return "from there it was made with other arguments"


def _identity(call: Call) -> Identity:
    return identity_of(call.name, call.site, call.tool.with_defaults(call.bound.named))
