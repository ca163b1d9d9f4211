"""Dry run: what only reads runs as ever, so that the script goes its real way; what has an effect is named and not called."""

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told


class DryRun:
    """For one turn. `spared` lists the calls that were not made."""

    def __init__(self) -> None:
        self.spared: list[Call] = []

    def admit(self, call: Call) -> Outcome | None:
        if not has_effect(call):
            return None
        self.spared.append(call)
        data = {"writes": list(call.effects.writes), "asks": call.tool.asks(call.bound.named)}
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
