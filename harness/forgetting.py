"""What a host is told when turns left the model's view."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.compose import ShownItem
from harness.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`mended`: turns still in view whose text has changed, because lines they referred to went; put these in their place.
    `items`: the same, by handle.
    """

    turns: tuple[int, ...]
    mended: Mapping[int, str]
    items: Mapping[str, str] = field(default_factory=dict)


def forgotten(turns: tuple[int, ...], changed: Mapping[str, ShownItem], view: Transcript) -> Forgotten:
    touched = [turn for turn in view.turns if any(item.handle in changed for item in view.items(turn))]
    return Forgotten(
        turns, {turn: view.text(turn) for turn in touched}, {handle: item.text for handle, item in changed.items()}
    )  # fmt: skip
