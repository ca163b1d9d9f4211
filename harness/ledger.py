"""What a turn did, in numbers. One ledger a turn; a session's is their sum."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Bytes are UTF-8. `trimmed`: bytes that were produced and are not in the text, by cause; produced = shown + trimmed, without
    labels.
    """

    turns: int = 1
    produced: int = 0  # bytes of all shown values without any limit
    shown: int = 0  # bytes of what is in the transcript of them
    text: int = 0  # bytes of the whole text, with labels and notices
    trimmed: Mapping[str, int] = field(default_factory=dict)  # cap, in_view, condensed
    references: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)  # name of the secret to times
    calls: Mapping[str, int] = field(default_factory=dict)  # by status: returned, failed, refused, denied, timed_out, cancelled
    refused: Mapping[str, int] = field(default_factory=dict)  # by guard
    result_bytes: int = 0  # into the script
    in_view_lines: int = 0  # lines of results that the model had in view
    cache_hits: int = 0
    cache_misses: int = 0
    shared: int = 0  # equal calls in flight that shared one execution
    relaxed: tuple[str, ...] = ()  # the reasons
    plan: Mapping[str, Any] | None = None  # plan against actual
    turn_seconds: float = 0.0
    tool_seconds: float = 0.0
    engine_seconds: float = 0.0
    person_seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in self.__slots__}

    def rows(self) -> list[tuple[str, str]]:
        """For people: what, how much."""
        told = [
            ("bytes produced", f"{self.produced:,}"),
            ("bytes shown", f"{self.shown:,}" + _share(self.shown, self.produced)),
            ("trimmed", _counted({cause: size for cause, size in self.trimmed.items() if size > 0}, bytes_of=True) or "nothing"),
            ("references", f"{self.references:,}"),
            ("calls", _counted(self.calls) or "none"),
            ("refused by", _counted(self.refused) or "nobody"),
            ("cache", f"{self.cache_hits:,} hits, {self.cache_misses:,} misses, {self.shared:,} shared"),
            ("into the script", f"{self.result_bytes:,} bytes, {self.in_view_lines:,} lines of them in view before"),
            (
                "seconds",
                f"{self.turn_seconds:.3f} in all, {self.tool_seconds:.3f} in tools, {self.engine_seconds:.3f} in the engine",
            ),
        ]
        if self.person_seconds:
            told.append(("waited for a person", f"{self.person_seconds:.1f} seconds"))
        if self.redacted:
            told.append(("secrets redacted", _counted(self.redacted)))
        if self.relaxed:
            told.append(("relaxed", "; ".join(self.relaxed)))
        if self.plan is not None:
            planned, read = self.plan["planned_bytes"], self.plan["read_bytes"]
            files = f"{self.plan['read_files']} of {self.plan['planned_files']} files read"
            told.append(("plan", f"{files}, {read:,} bytes of {planned:,} planned to show"))
        return told


def total(ledgers: Iterable[Ledger]) -> Ledger:
    listed = list(ledgers)

    def summed(name: str) -> Any:
        return sum(getattr(one, name) for one in listed)

    def merged(name: str) -> dict[str, int]:
        found: Counter[str] = Counter()
        for one in listed:
            found.update(getattr(one, name))
        return dict(found)

    numbers: dict[str, Any] = {
        name: summed(name) for name in Ledger.__slots__ if isinstance(getattr(Ledger(), name), int | float)
    }
    tables: dict[str, Any] = {name: merged(name) for name in ("trimmed", "redacted", "calls", "refused")}
    plans = [one.plan for one in listed if one.plan is not None]
    return Ledger(
        **numbers, **tables, relaxed=tuple(why for one in listed for why in one.relaxed), plan=plans[-1] if plans else None
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f} %)" if whole else ""


def _counted(found: Mapping[str, int], *, bytes_of: bool = False) -> str:
    words = {"in_view": "in view", "timed_out": "timed out"}
    return ", ".join(
        f"{words.get(name, name)} {number:,}" if bytes_of else f"{number:,} {words.get(name, name)}"
        for name, number in found.items()
    )
