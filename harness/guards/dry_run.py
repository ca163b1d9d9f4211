"""Dry run: what only reads runs as ever, so that the script goes its real way; what has an effect is named and not called."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.approval import Policy
from harness.call import Call, Outcome, Proceed, refused
from harness.guards.approval import verdict_on
from harness.problems import told


@dataclass(frozen=True, slots=True)
class Spared:
    """A call that was not made, and what approval would have said to it."""

    call: Call
    asks: bool
    denied: bool
    rule: str  # that decides so


def nothing(call: Call) -> Outcome | None:
    return None


class DryRun:
    """For one turn. `recorded`: what a recording has of a call; its rules may be others than those of now."""

    def __init__(self, policy: Policy, recorded: Callable[[Call], Outcome | None] = nothing) -> None:
        self._policy = policy
        self._recorded = recorded
        self.spared: list[Spared] = []

    def admit(self, call: Call) -> Outcome | None:
        if not has_effect(call):
            return None
        outcome = self._recorded(call)
        if outcome is None or outcome.by != "dry_run":
            outcome = self._refused(call)
        data = outcome.problem.data if outcome.problem is not None and isinstance(outcome.problem.data, dict) else {}
        asks, denied = bool(data.get("asks")), bool(data.get("denied"))
        self.spared.append(Spared(call, asks, denied, str(data.get("rule", ""))))
        return outcome

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return await proceed(call)

    def _refused(self, call: Call) -> Outcome:
        verdict, rule = verdict_on(call, self._policy)
        data = {"writes": list(call.effects.writes), "asks": verdict == "ask", "denied": verdict == "deny"}
        if verdict == "deny":
            data["rule"] = str(rule)
        return refused("dry_run", told("dry_run", tool=call.name, effect=effect_words(call), data=data))


def has_effect(call: Call) -> bool:
    return bool(call.effects.writes) or call.effects.effect == "external"


def effect_words(call: Call) -> str:
    writes = call.effects.writes
    if "*" in writes:
        return "have effects that cannot be told in advance"
    if writes:
        return f"write {', '.join(writes[:4])}" + (f" and {len(writes) - 4} more" if len(writes) > 4 else "")
    return f"reach outside ({', '.join(call.effects.reads[:4])})"
