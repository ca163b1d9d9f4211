"""A process that plays one of random scripts and may be killed at any moment: run as a program by test_killed_anywhere.py.

    python -m tests.harness.killed_anywhere FOLDER NUMBER begin|continue

Its tools write to a file of their own what they did, with an fsync, before anybody else can know. What they give is a function of
their arguments, so a turn that was killed and went on can be held to one that never was.
"""

import os
import random
import sys
from pathlib import Path

import anyio

from catalog import Pack, pack, tool
from harness import Harness, Setup, TurnOutcome
from harness.approval import Policy, allowing
from harness.guards.budget import Allowance
from harness.limits import TurnLimits
from harness.recording import Missing
from harness.store.jsonl import JsonlStore

SESSION = "killed"
FIRST = "store('earlier', 41); show('what the first turn showed'); return 1"


def script(number: int) -> str:
    """Calls one after the other and together, with waits and the host's own answers between them; its text hangs on no clock."""
    chance = random.Random(number)
    rows = ["const out = []; const why = (e) => e.name;"]
    for at in range(chance.randint(3, 7)):
        rows.append(
            chance.choice(
                [
                    f"out.push(await tools.x.act({at}).catch(why));",
                    f"out.push(await tools.x.look('a{at}'));",
                    f"out.push(await Promise.all([0, 1, 2, 3].map((n) => tools.x.act(1_000 + {at} * 100 + n).catch(why))));",
                    f"out.push(await Promise.all([0, 1].map(async (n) => [await tools.x.look('b{at}' + n), await tools.x.act(1_000 + {at} * 100 + n).catch(why)])));",
                    f"await sleep({chance.randrange(4)});",
                    "out.push((await recall('T1.1')).length, (await help('x.act')).length);",
                    f"await tools.x.big({at}).catch((e) => out.push(e.name)); out.push(await recall('zz').catch(why));",
                    f"store('k{at}', out.length); show('a line of ' + {at});",
                ]
            )
        )
    return "\n".join([*rows, "return out"])


def tools(journal: Path) -> Pack:
    def note(text: str) -> None:
        with journal.open("a") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())

    @tool(reads=["thing:{name}"], effect="reads")
    async def look(name: str) -> str:
        await anyio.sleep(0.001)
        note(f"look {name}")
        return f"saw {name}"

    @tool(writes=["thing:{n}"])
    async def act(n: int) -> str:
        await anyio.sleep(0.001 * (n * 5 % 4))
        note(f"act {n}")
        await anyio.sleep(0.001 * (n * 3 % 4))
        return f"acted on {n}"

    @tool(reads=["thing:{n}"], effect="reads")
    async def big(n: int) -> str:
        return str(n) * 60_000

    return pack("x", [look, act, big], doc="Things that leave traces.")


def harness(folder: Path) -> Harness:
    setup = Setup(
        policy=Policy(allowing(["x.*"])),
        turn=TurnLimits(turn_result_bytes=50_000),
        session_budget={"x.act": Allowance(calls=500)},
    )
    return Harness([tools(folder / "journal")], root=folder.parent, store=JsonlStore(folder / "sessions"), setup=setup)


async def begin(folder: Path, number: int) -> TurnOutcome:
    async with harness(folder) as made, made.session(SESSION) as session:
        await session.run(FIRST)
        print("go", flush=True)  # what comes now may be killed
        return await session.run(script(number))


async def go_on(folder: Path, unsure: Missing = "refuse") -> TurnOutcome | None:
    """None where no turn was interrupted."""
    async with harness(folder) as made, made.session(SESSION, resume=True) as session:
        print("go", flush=True)
        return None if session.interrupted is None else await session.continue_turn(unsure=unsure)


if __name__ == "__main__":
    if sys.argv[3] == "begin":
        anyio.run(begin, Path(sys.argv[1]), int(sys.argv[2]))
    else:
        anyio.run(go_on, Path(sys.argv[1]))
