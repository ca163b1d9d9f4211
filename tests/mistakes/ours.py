"""Our side of the corpus: a mistake through the public door, and the text that a model would read of it."""

from dataclasses import replace
from typing import Any

from catalog import Host, Tool, ToolProblem, choose, facts_of, open_toolbox, pack
from catalog.reflect import reflect
from harness import TurnOutcome, run_script
from sandbox import Limits, Pool, Start
from tests.mistakes.corpus import FOLDER, Case
from tests.mistakes.rubric import Told
from tests.mistakes.shop import REFUSED, Shop, functions

LIMITS = Limits(engine_seconds=2)  # as short as the peers', so that an endless loop does not hold all others up


def refuse(text: str) -> Exception:
    return ToolProblem("not_possible", text)


def _declared(function: Any) -> Tool:
    """As an author would say it, so that calls run together and may be made again."""
    looks = function.__name__.startswith(("get", "search", "count", "export"))
    facts = facts_of(reads=["shop:all"]) if looks else facts_of(writes=["shop:all"])
    return replace(reflect(function, pack="shop"), facts=facts)


async def run_ours(case: Case, pool: Pool) -> tuple[TurnOutcome, Told]:
    shop = Shop(refuse)
    packs = [pack(name, [_declared(one) for one in found.values()]) for name, found in functions(shop).items()]
    offer = choose(packs, without=[f"shop.{REFUSED}"])
    async with open_toolbox(offer, host=Host(root=FOLDER)) as toolbox:
        outcome = await run_script(case.source, toolbox=toolbox, pool=pool, start=Start(source="", limits=LIMITS))
    return outcome, Told(outcome.text, survived=True, orders=len(shop.orders))
