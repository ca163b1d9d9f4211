"""What would the model have seen with other settings? A recording is played with them, and the texts of its turns stand side by
side. A question, not a test: nothing here fails.

The recorded settings are the ground; what is asked for changes them one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff

from harness.faults import Fault
from harness.limits import ShownLimits
from harness.replay.differences import Difference, differences
from harness.replay.playing import Replayed, TurnPlayed
from harness.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """What is not as it was recorded."""

    limits: Mapping[str, int | float] = field(default_factory=dict)  # by the names that `turnscript limits` lists
    shown: ShownLimits | None = None  # before `limits`, which win
    off: Sequence[str] = ()  # flags: cache, overlap_trim, build_tail, two_pass
    faults: Sequence[Fault] = ()

    def applied(self, recorded: Setup) -> Setup:
        """BadConfig for a limit that is none."""
        setup = recorded if self.shown is None else replace(recorded, shown=self.shown)
        flags = replace(setup.flags, **dict.fromkeys(self.off, False))
        return replace(setup.with_limits(self.limits), flags=flags, faults=(*setup.faults, *self.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSeen:
    """One turn's text: bytes as recorded, bytes now, and the lines that differ. `other_way`: its script took another way, so not
    all of its calls are those on record.
    """

    turn: int
    before: int
    after: int
    diff: tuple[str, ...] = ()
    other_way: tuple[str, ...] = ()


def seen(replayed: Replayed) -> list[TurnSeen]:
    """Turn by turn; those without an outcome are left out."""
    return [_turn_seen(turn) for turn in replayed.turns if turn.outcome is not None]


def _turn_seen(turn: TurnPlayed) -> TurnSeen:
    assert turn.outcome is not None and turn.recorded.ended is not None
    before, after = turn.recorded.ended.text, turn.outcome.text
    rows = unified_diff(before.split("\n"), after.split("\n"), "recorded", "now", n=2, lineterm="") if before != after else ()
    return TurnSeen(
        turn=turn.recorded.number, before=size(before), after=size(after), diff=tuple(rows),
        other_way=tuple(_in_short(one) for one in differences(turn.recorded, turn.outcome) if one.kind in ("call", "ending")),
    )  # fmt: skip


def _in_short(one: Difference) -> str:
    """Of an ending its first line: the place stands in the text that the model would be shown."""
    return one.text.split("\n")[0] if one.kind == "ending" else one.text


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
