"""Rules and allowances held against the tools on offer: a misspelt one would be no rule at all, so it is an error."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from catalog import Offer, Tool, known_packs
from catalog.nearest import nearest
from harness.approval import Rule
from harness.callers import USES
from harness.setup import BadConfig, Setup


def check_setup(setup: Setup, offer: Offer) -> None:
    """BadConfig names the rule and the nearest right name. A tool of a pack that is not loaded is no mistake."""
    for fault in _faults(setup, offer):
        raise BadConfig(fault)


def _faults(setup: Setup, offer: Offer) -> Iterator[str]:
    names = [*offer.tools, *offer.refused]
    packs = {*(name.partition(".")[0] for name in names), *known_packs(), "reads"}
    for rule in setup.policy.rules:
        yield from _of_name(f"the rule ({rule})", rule.tool, names, packs)
        yield from _of_arguments(rule, [tool for name, tool in offer.tools.items() if fnmatchcase(name, rule.tool)])
    for pattern, use in setup.callers.items():
        if use not in USES:
            yield f'callers."{pattern}": {use!r} is nobody; choose {", ".join(USES)}'
        yield from _of_name(f'callers."{pattern}"', pattern, names, packs)
    for name in setup.packs:
        near = nearest(name, packs)  # another name may be that of a pack which only another profile loads
        if near and name not in packs | {pack.name for pack in offer.packs}:
            yield f"packs.{name}: there is no pack {name}; did you mean {near}?"
    for fault in setup.faults:
        if not any(fault.fits(name, fault.line) for name in offer.tools):
            near = nearest(fault.tool, offer.tools)
            guess = f"did you mean {near}?" if near else f"there are: {', '.join(sorted(offer.tools)) or 'none'}"
            yield f"the fault rule ({fault}): no tool on offer fits {fault.tool}; {guess}"
    for scope, budget in (("turn", setup.turn_budget), ("session", setup.session_budget)):
        for name in budget:
            yield from _of_name(f"budget.{scope}.{name}", name, names, packs)


def _of_name(what: str, wanted: str, names: list[str], packs: Iterable[str]) -> Iterator[str]:
    pack, dot, tool = wanted.partition(".")
    if any(mark in pack for mark in "*?[") or any(fnmatchcase(name, wanted) for name in names):
        return
    if pack not in packs:
        near = nearest(pack, packs)
        yield f"{what}: there is no pack {pack}" + (f"; did you mean {near}?" if near else f"; known: {', '.join(sorted(packs))}")
        return
    siblings = [name for name in names if name.startswith(pack + ".")]
    if dot and siblings:
        near = nearest(tool, [name.partition(".")[2] for name in siblings])
        yield f"{what}: no tool fits {wanted}" + (
            f"; did you mean {pack}.{near}?" if near else f"; there are: {', '.join(siblings)}"
        )


def _of_arguments(rule: Rule, tools: list[Tool]) -> Iterator[str]:
    if not tools:
        return
    for name in rule.arguments:
        if not any(name in tool.properties for tool in tools):
            known = list(dict.fromkeys(known for tool in tools for known in tool.properties))
            near = nearest(name, known)
            guess = f"did you mean {near}?" if near else f"there are: {', '.join(known) or 'none'}"
            yield f"the rule ({rule}): {tools[0].full_name} has no argument {name}; {guess}"
