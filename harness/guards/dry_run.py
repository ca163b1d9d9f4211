"""Dry run: what only reads runs as ever, so that the script goes its real way; what has an effect is named and not called."""

from dataclasses import dataclass

from harness.approval import Policy, Rule, Verdict
from harness.call import Call, Outcome, Proceed, refused
from harness.guards.approval import verdict_on
from harness.problems import told


@dataclass(frozen=True, slots=True)
class Spared:
    """A call that was not made, and what approval would have said to it."""

    call: Call
    verdict: Verdict
    rule: Rule | None


class DryRun:
    """For one turn."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.spared: list[Spared] = []

    def admit(self, call: Call) -> Outcome | None:
        if not has_effect(call):
            return None
        verdict, rule = verdict_on(call, self._policy)
        self.spared.append(Spared(call, verdict, rule))
        data = {"writes": list(call.effects.writes), "asks": verdict == "ask", "denied": verdict == "deny"}
        return refused("dry_run", told("dry_run", tool=call.name, effect=effect_words(call), data=data))

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return await proceed(call)


def has_effect(call: Call) -> bool:
    return bool(call.effects.writes) or call.effects.effect == "external"


def effect_words(call: Call) -> str:
    writes = call.effects.writes
    if "*" in writes:
        return "have effects that cannot be told in advance"
    if writes:
        return f"write {', '.join(writes[:4])}" + (f" and {len(writes) - 4} more" if len(writes) > 4 else "")
    return f"reach outside ({', '.join(call.effects.reads[:4])})"
