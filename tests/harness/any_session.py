"""Random sessions for tests of replay and resume: scripts of random pieces, and what a host does between them.

A session is a function of its number. Its tools take different times each run, and some give something else each time, so that a
replay which is right by luck shows.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from catalog import Pack, ToolProblem, pack, tool
from harness import Answer, Flags, Request, Session, Setup
from harness.approval import Policy, Rule
from harness.faults import parse_fault
from harness.guards.budget import Allowance
from harness.limits import ShownLimits, TurnLimits

OPENING = "const out = []; const why = (e) => [e.name, e.message, e.data ?? null];\n"


def furnish(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "a.py").write_text("".join(f"def value_{n}(): return {n}  # of many\n" for n in range(1, 90)))
    (root / "b.py").write_text("".join(f"other line {n} of another file\n" for n in range(1, 50)))
    return root


def own_pack(chance: random.Random) -> Pack:
    """`chance` is not that of the session: how long a tool takes is not part of it."""
    told = {"times": 0}

    async def some_time() -> None:
        await anyio.sleep(chance.choice([0, 0, 0.001, 0.004]))

    @tool(effect="pure")
    async def echo(value: Any = None) -> Any:
        await some_time()
        return value

    @tool(effect="external")
    async def count() -> dict[str, int]:
        await some_time()
        told["times"] += 1
        return {"times": told["times"]}

    @tool(effect="external", reads=["net:{n}"])
    async def fetch(n: int) -> dict[str, int]:
        await some_time()
        return {"n": n}

    @tool(effect="reads", reads=["thing:{name}"])
    async def big(name: str, size: int) -> str:
        await some_time()
        return name * size

    @tool(writes=["thing:{name}"])
    async def act(name: str) -> str:
        await some_time()
        return f"acted on {name}"

    @tool(writes=["file:{path}"])
    async def grow(path: str) -> str:
        await some_time()
        return f"grew {path}"

    @tool(writes=["thing:{name}"], approval=True)
    async def ask(name: str) -> str:
        return f"was allowed {name}"

    @tool(effect="external")
    async def fails(how: str) -> Any:
        await some_time()
        match how:
            case "group":
                raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])
            case "problem":
                raise ToolProblem("own_code", "its own message", hint="try again", data={"at": [1, 2]})
            case "set":
                return {1, 2}
            case "surrogate":
                return "half of a pair: \ud800"
            case "slow":
                await anyio.sleep(30)
        raise RuntimeError(how)

    @tool(effect="external")
    async def takes(ms: int) -> int:
        await anyio.sleep(ms / 1000)
        return ms

    @tool(effect="external")
    async def stubborn() -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.3)
        return "too late"

    return pack("x", [echo, count, fetch, big, act, grow, ask, fails, takes, stubborn], doc="Of random sessions.")


class Person:
    """Says yes but to what has `no` in it, some of it for the session; a function of what is asked."""

    async def decide(self, requests: Sequence[Request]) -> list[Answer]:
        def answer(one: Request) -> Answer:
            name = str(one.arguments)
            verdict: Any = "deny" if "no" in name else "allow"
            if "always" in name:
                return Answer(request=one.id, verdict=verdict, remember="arguments")
            return Answer(request=one.id, verdict=verdict)

        return [answer(one) for one in requests]


# ------------------------------------------------------------ scripts


def call(chance: random.Random) -> str:
    n = chance.randrange(4)
    return chance.choice(
        [
            f"tools.x.echo({chance.choice(VALUES)})",
            "tools.x.count()",
            f"tools.x.fetch({n})",
            f"tools.x.big('{'abcd'[n]}', {chance.choice([10, 900, 30_000])})",
            f"tools.x.act('{'abcd'[n]}')",
            f"tools.x.grow('{chance.choice(['a.py', 'b.py'])}')",
            f"tools.x.ask('{chance.choice(['yes', 'no', 'always', 'no, always'])}')",
            f"tools.x.fails('{chance.choice(['plain', 'group', 'problem', 'set', 'surrogate'])}')",
            f"tools.files.read({{ path: '{chance.choice(['a.py', 'b.py', 'gone.py'])}', ranges: [[{n + 1}, {n * 9 + 12}]] }})",
            "tools.files.read({ path: 'a.py' })",
            f"tools.search.grep({{ pattern: 'value_{n}' }})",
            "Promise.resolve(3).then(tools.x.fetch)",
            "tools.x['fe' + 'tch']('no number')",
            f"recall('{chance.choice(['T1.1', 'T2.1', 'T2.2', 'r1', 'r2', 'T9.9'])}')",
            "help('x.fetch')",
            "relax('to see more')",
            f"sleep({n})",
        ]
    )


VALUES = (
    "1", "-0", "1.5e300", "NaN", "null", "undefined", "[1, [2, { a: undefined }]]", "{ $text: 'x' }", "{ $json: '0'.repeat(64) }",
    "'é\\u2028\\u0000'", "'\\ud800'", "'w '.repeat(3_000)", "new Date(5)", "9n", "Date.now()", "Math.random()",
    "Array.from({ length: 400 }, (_, n) => ({ n, t: 't' + n % 7 }))",
)  # fmt: skip


def piece(chance: random.Random, depth: int = 0) -> str:
    def some(least: int = 2, most: int = 5) -> str:
        return ", ".join(f"{call(chance)}.catch(why)" for _ in range(chance.randint(least, most)))

    name = f"v{chance.randrange(10**9)}"
    simple = [
        f"out.push(await {call(chance)}.catch(why));",
        f"show(await {call(chance)}.catch(why));",
        f"out.push(await Promise.all([{some()}]));",
        f"out.push(await Promise.race([{some()}]));",
        f"out.push((await Promise.allSettled([{call(chance)}, {call(chance)}])).map((one) => one.status));",
        f"out.push(await Promise.any([{call(chance)}, {call(chance)}]).catch((e) => [e.name, e.errors?.length]));",
        f"{call(chance)}.catch(() => 0);",
        f"const {name} = {call(chance)}.catch(why); {call(chance)}.then((v) => out.push([1, v]), () => out.push(0)); await {name};",
        f"setTimeout(() => out.push(Date.now()), {chance.randrange(6)});",
        f"const {name} = setInterval(() => {{ out.push('tick'); if (out.length > 9) clearInterval({name}); }}, {chance.randint(1, 5)});",
        f"clearTimeout(setTimeout(() => out.push('never'), {chance.randrange(6)}));",
        f"await sleep({chance.randrange(8)}); out.push([Date.now(), performance.now(), Math.random()]);",
        "out.push([budget.bytes, budget.calls, budget.seconds, budget.tools, context.turn]);",
        f"store('k{chance.randrange(3)}', {chance.choice(['out.length', 'undefined', '[Date.now()]'])});",
        f"out.push(load('k{chance.randrange(3)}') ?? null);",
        f"console.log('said', {chance.choice(VALUES)});",
        f"show({chance.choice(VALUES)});",
        "show(Array.from({ length: 300 }, (_, n) => 'line ' + n * n).join('\\n'));",
        "const typed = (one: number): string => `${one}`; out.push(typed(out.length as number));".replace("typed", name),
        "try { await tools.x.fails('plain'); } catch (e) { out.push(e.message); }",
    ]
    if depth < 2 and chance.random() < 0.25:
        inside = " ".join(piece(chance, depth + 1) for _ in range(chance.randint(1, 3)))
        return chance.choice(
            [
                f"for (let i{depth} = 0; i{depth} < {chance.randint(2, 4)}; i{depth}++) {{ {inside} }}",
                f"await Promise.all([1, 2, 3].map(async () => {{ {inside} }}));",
                f"(async () => {{ {inside} }})().catch(() => 0);",
                f"if (out.length % 2) {{ {inside} }} else {{ await {call(chance)}.catch(why); }}",
            ]
        )
    return chance.choice(simple)


def script(chance: random.Random) -> str:
    body = "\n".join(piece(chance) for _ in range(chance.randint(1, 7)))
    end = chance.choices(
        [
            "return out", "show(out)", "", "throw new Error('at the end')", "await tools.x.fails('problem')",
            "await Promise.any([tools.x.fails('plain'), tools.x.fails('group')])", "await new Promise(() => {})",
        ],
        [10, 2, 2, 1, 1, 1, 1],
    )[0]  # fmt: skip
    return f"{OPENING}{body}\n{end}"


# ------------------------------------------------------------ sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the host does. `again`: the session is closed before it, and goes on in another."""

    do: str  # run, forget, relax, message, cancel, reply
    script: str = ""
    mode: Any = None
    limits: dict[str, float] = field(default_factory=dict)
    turns: tuple[int, ...] = ()
    again: bool = False


def run(script: str, **limits: float) -> Step:
    return Step(do="run", script=script, limits=limits)


LIMITS: tuple[dict[str, float], ...] = (
    {"turn_seconds": 0.03}, {"turn_seconds": 0.008}, {"calls": 4}, {"waits": 3}, {"result_bytes": 500}, {"args_bytes": 300},
    {"shown_turn_bytes": 700}, {"console_lines": 2}, {"shown_values": 2}, {"heap_bytes": 3 << 20}, {"call_seconds": 0.002},
)  # fmt: skip


def steps(chance: random.Random, turns: int = 6) -> list[Step]:
    return [_step(chance) for _ in range(turns)]


def _step(chance: random.Random) -> Step:
    again = chance.random() < 0.15
    kind = chance.choices(["run", "forget", "relax", "message", "cancel", "reply", "blank"], [12, 2, 1, 1, 1, 0.5, 0.5])[0]
    match kind:
        case "forget":
            return Step(do="forget", turns=tuple(chance.sample(range(1, 7), 2)), again=again)
        case "cancel":
            return Step(do="cancel", script=script(chance) + "\n;await tools.x.fails('slow')", again=again)
        case "blank":
            return Step(do="run", script=" \n", again=again)
        case "run":
            mode = chance.choices([None, "dry_run", "disabled"], [20, 1, 1])[0]
            return Step(do="run", script=script(chance), mode=mode, limits=_limits(chance), again=again)
        case _:
            return Step(do=kind, again=again)


def _limits(chance: random.Random) -> dict[str, float]:
    """Of one turn; most have none."""
    return dict(chance.choice(LIMITS)) if chance.random() < 0.35 else {}


async def do(session: Session, step: Step) -> None:
    match step.do:
        case "run":
            await session.run(step.script, mode=step.mode, limits=step.limits or None)
        case "reply":
            await session.run_reply("a reply that has no script")
        case "forget":
            await session.forget(step.turns)
        case "relax":
            session.relax("a good reason")
        case "message":
            await session.message("user", "what was said")
        case _:
            with anyio.move_on_after(0.03):
                await session.run(step.script)


def setup(chance: random.Random) -> Setup:
    return Setup(
        turn=TurnLimits(
            turn_result_bytes=chance.choice([64 << 20, 40_000]), session_calls=chance.choice([10_000, 25]),
            session_result_bytes=chance.choice([1 << 30, 90_000]), kept_bytes=chance.choice([256 << 20, 60_000]),
            calls_at_once=chance.choice([8, 2]),
        ),
        shown=chance.choice([ShownLimits(), ShownLimits(shown_turn_bytes=3_000, shown_value_lines=20)]),
        flags=chance.choice([Flags(), Flags(), Flags(cache=False), Flags(overlap_trim=False)]),
        session_budget=chance.choice([{}, {"x.fetch": Allowance(calls=3)}, {"x": Allowance(bytes=50_000)}]),
        turn_budget=chance.choice([{}, {"x.act": Allowance(calls=1)}]),
        faults=chance.choice([(), (), (parse_fault("x.* fails twice after 2"),)]),
        plan_reads=chance.random() < 0.1,
        policy=Policy((Rule(tool="x.ask", then="ask"), Rule(tool="x.grow", then=chance.choice(["allow", "deny"])))),
    )  # fmt: skip
