"""One policy over the sessions of one agent: bytes, losses, re-fetches, times, as the report prints and the JSON keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.condense_baselines import Policy, apply
from benchmarks.condense_loss import Loss, Need, loss_of
from benchmarks.condense_ours import Setting, reenact
from benchmarks.sessions_record import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    agent: str
    policy: str
    calls: int
    before: int
    after: int
    cut: int
    loss: Loss
    causes: dict[str, int] = field(default_factory=dict)
    by_class: dict[str, dict[str, int]] = field(default_factory=dict)
    duplicates: int = 0
    duplicates_short: int = 0
    unresolved: int = 0
    p50_ms: float = 0.0
    p95_ms: float = 0.0

    @property
    def gross(self) -> float:
        return _share(self.before - self.after, self.before)

    @property
    def net(self) -> float:
        return _share(self.before - self.after - self.loss.refetched_bytes, self.before)

    @property
    def lines_hidden(self) -> float:
        return _share(self.loss.lines_hidden, self.loss.lines)

    @property
    def edits_touched(self) -> float:
        return _share(self.loss.edits_touched, self.loss.edits)

    @property
    def paths_hidden(self) -> float:
        return _share(self.loss.paths_hidden, self.loss.paths)

    @property
    def calls_cut(self) -> float:
        return _share(self.cut, self.calls)

    @property
    def extra_calls(self) -> float:
        return _share(self.loss.edits_touched + self.loss.paths_hidden, self.calls)

    def as_json(self) -> dict[str, Any]:
        names = ("gross", "net", "lines_hidden", "edits_touched", "paths_hidden", "calls_cut", "extra_calls")
        kept = {key: value for key, value in asdict(self).items() if key != "loss"}
        loss = {key: value for key, value in asdict(self.loss).items() if key != "hidden"}
        return kept | {"loss": loss} | {f"{name}_percent": round(getattr(self, name), 2) for name in names}


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def score_policy(agent: str, policy: Policy, sessions: Sequence[Session], needs: Sequence[Sequence[Need]]) -> Score:
    after = cut = 0
    loss = Loss()
    for session, wanted in zip(sessions, needs, strict=True):
        shown = apply(policy, session)
        after += sum(each.shown_bytes for each in shown)
        cut += sum(each.cut for each in shown)
        loss.add(loss_of(wanted, [each.text for each in shown]))
    return Score(
        agent=agent, policy=policy.name, calls=_calls(sessions), before=_before(sessions), after=after, cut=cut, loss=loss
    )


def score_ours(agent: str, setting: Setting, sessions: Sequence[Session], needs: Sequence[Sequence[Need]]) -> Score:
    after = cut = duplicates = short = unresolved = 0
    loss = Loss()
    causes: Counter[str] = Counter()
    by_class: dict[str, Counter[str]] = {}
    seconds: list[float] = []
    for session, wanted in zip(sessions, needs, strict=True):
        done = reenact(session, setting)
        after += sum(each.shown_bytes for each in done.shown)
        cut += sum(each.cut for each in done.shown)
        loss.add(loss_of(wanted, [each.text for each in done.shown]))
        causes.update(done.causes)
        for kind, counts in done.by_class.items():
            by_class.setdefault(kind, Counter()).update(counts)
        seconds += done.seconds
        duplicates += done.duplicates
        short += done.duplicates_short
        unresolved += done.unresolved
    seconds.sort()
    return Score(
        agent=agent, policy=setting.name, calls=_calls(sessions), before=_before(sessions), after=after, cut=cut, loss=loss,
        causes=dict(causes), by_class={kind: dict(counts) for kind, counts in by_class.items()}, duplicates=duplicates,
        duplicates_short=short, unresolved=unresolved, p50_ms=round(1e3 * _at(seconds, 0.5), 3),
        p95_ms=round(1e3 * _at(seconds, 0.95), 3),
    )  # fmt: skip


def _calls(sessions: Sequence[Session]) -> int:
    return sum(len(session.steps) for session in sessions)


def _before(sessions: Sequence[Session]) -> int:
    return sum(session.persisted_bytes for session in sessions)


def _at(values: Sequence[float], share: float) -> float:
    return values[min(int(len(values) * share), len(values) - 1)] if values else 0.0
