"""Our side of the corpus: a mistake through the public door, and the text that a model would read of it."""

import json

from catalog import Host, ToolProblem, choose, open_toolbox, pack
from harness import TurnOutcome, run_script
from sandbox import Limits, Pool, Start
from tests.mistakes.corpus import FOLDER, Case
from tests.mistakes.rubric import Told
from tests.mistakes.shop import REFUSED, Shop, functions

LIMITS = Limits(engine_seconds=2)  # as short as the peers', so that an endless loop does not hold all others up


def refuse(text: str) -> Exception:
    return ToolProblem("not_possible", text)


async def run_ours(case: Case, pool: Pool) -> tuple[TurnOutcome, Told]:
    shop = Shop(refuse)
    packs = [pack(name, found.values()) for name, found in functions(shop).items()]
    offer = choose(packs, without=[f"shop.{REFUSED}"])
    async with open_toolbox(offer, host=Host(root=FOLDER)) as toolbox:
        outcome = await run_script(case.source, toolbox=toolbox, pool=pool, start=Start(source="", limits=LIMITS))
    return outcome, Told(text_of(outcome), survived=True, orders=len(shop.orders))


def text_of(outcome: TurnOutcome) -> str:
    """All that a turn has for its reader: what was printed and shown, the result or the error, the notices."""
    told = [*outcome.printed, *(json.dumps(value) for value in outcome.shown)]
    if outcome.error is not None:
        told.append(outcome.error.text)
    elif outcome.value is not None:
        told.append(outcome.value if isinstance(outcome.value, str) else json.dumps(outcome.value, separators=(",", ":")))
    return "\n".join([*told, *outcome.notices])
