"""What happened, entry by entry. Entries are appended, never changed; transcript, numbers and replay are computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.compose import ShownItem
from harness.outcome import TurnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A session began: with these flags and limits."""

    session: str
    at: float  # seconds since 1970
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    session: str
    at: float
    outcome: TurnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """Turns left the model's view. `mended`: items still in view whose references led to them, with their lines back."""

    session: str
    at: float
    turns: tuple[int, ...]
    mended: Mapping[str, ShownItem]  # by handle


Entry: TypeAlias = Opened | Turned | Forgot
