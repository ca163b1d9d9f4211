"""What a harness is told when it is made: limits, allowances, rules, flags. Frozen; `config.py` fills it from files, environment
and flags.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from catalog.nearest import nearest
from harness.approval import Policy
from harness.callers import Callers
from harness.condense import Flags as CondenseFlags
from harness.faults import Fault
from harness.guards.budget import Allowance
from harness.limits import ShownLimits, TurnLimits
from harness.scrub_rules import ScrubRules
from sandbox import Limits

Mode: TypeAlias = Literal["enabled", "dry_run", "disabled"]
MODES: tuple[Mode, ...] = ("enabled", "dry_run", "disabled")


class BadConfig(ValueError):
    """One line for the person who wrote it: where, what, and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Each switches one control off; they are recorded with the session."""

    overlap_trim: bool = True  # lines in view become references
    two_pass: bool = True  # plans are asked for, where the policy says so
    build_tail: bool = True  # builds and tests are told by their failures and their end
    cache: bool = True  # results are served again while what they read is unchanged

    @property
    def condensing(self) -> CondenseFlags:
        return CondenseFlags(overlap_trim=self.overlap_trim, build_tail=self.build_tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    limits: Limits = field(default_factory=Limits)  # of the script
    turn: TurnLimits = field(default_factory=TurnLimits)
    shown: ShownLimits = field(default_factory=ShownLimits)
    mode: Mode = "enabled"
    flags: Flags = field(default_factory=Flags)
    policy: Policy = field(default_factory=Policy)
    turn_budget: Mapping[str, Allowance] = field(default_factory=dict)  # by pack or tool
    session_budget: Mapping[str, Allowance] = field(default_factory=dict)
    plan_reads: bool = False  # a script that reads files must follow a plan
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)  # name to value: never shown
    secret_patterns: bool = True  # also what looks like a token
    packs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # each pack's own settings
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)  # for packs
    cache_folder: Path | None = None  # results across sessions; None: in memory only
    callers: Callers = field(default_factory=dict)  # who may call a tool: scripts, the model directly, or both
    faults: tuple[Fault, ...] = ()  # calls that do not go well, to try scripts against it
    scrub: ScrubRules = field(default_factory=ScrubRules)  # what does not go on record

    def with_limits(self, limits: Mapping[str, float]) -> "Setup":
        """The same with these limits, by the names that `turnscript limits` lists. BadConfig names the nearest one."""
        records: dict[str, Any] = {"limits": self.limits, "turn": self.turn, "shown": self.shown}
        homes = {item.name: which for which, record in records.items() for item in fields(record)}
        for name in limits:
            if name not in homes:
                near = nearest(name, homes)
                guess = f"did you mean {near}?" if near else "see: turnscript limits"
                raise BadConfig(f"there is no limit {name!r}; {guess}")
        try:
            changed: dict[str, Any] = {
                which: replace(record, **{name: value for name, value in limits.items() if homes[name] == which})
                for which, record in records.items()
            }
        except ValueError as error:
            raise BadConfig(str(error)) from None
        return replace(self, **changed)
