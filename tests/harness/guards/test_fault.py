"""Fault: what a script meets when a rule is due is what it would meet in earnest, and no tool runs."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import tool
from harness import Harness, MemoryStore, Setup
from harness.approval import Policy, Rule
from harness.call import Call, Outcome
from harness.entries import Settled
from harness.faults import FaultCounts, parse_fault
from harness.guards.budget import Allowance
from harness.guards.fault import Faults
from harness.guards.timeout import Timeout
from harness.recording import Play, Recording
from harness.setup import BadConfig
from sandbox import Start
from tests.harness.guards.rig import caught, gives, made, talking, together
from tests.harness.test_cli import turnscript

pytestmark = pytest.mark.anyio


def rules(*texts: str) -> Setup:
    return Setup(faults=tuple(parse_fault(text) for text in texts))


class World:
    def __init__(self) -> None:
        self.ran: list[int] = []

    def tools(self) -> list[Any]:
        @tool(effect="external", reads=["n:{n}"])
        async def fetch(n: int) -> int:
            self.ran.append(n)
            return n

        @tool(writes=["thing:a"], approval=True)
        async def write(n: int) -> str:
            self.ran.append(n)
            return "written"

        return [fetch, write]


@tool(effect="external", reads=["n:{n}"], timeout_seconds=0.01)
async def slow(n: int) -> int:
    await anyio.sleep_forever()
    return n


@tool(effect="external", reads=["n:{n}"])
async def usual(n: int) -> object: ...


def outcome_of(rule: str, call: Call) -> Outcome | None:
    return Faults(FaultCounts([parse_fault(rule)]), call_seconds=30.0).admit(call)


# ------------------------------------------------------------ as the real thing


async def test_a_timeout_is_told_as_the_real_one_and_takes_no_time() -> None:
    async def hang(call: Call) -> Outcome:
        await anyio.sleep_forever()
        raise AssertionError

    real = await Timeout(30.0).handle(made(slow, n=1), hang)
    faked = outcome_of("x.slow times out", made(slow, n=1))
    assert faked is not None
    assert (faked.status, faked.by, faked.problem, faked.value) == (real.status, real.by, real.problem, real.value)
    assert faked.seconds == 0.0
    usual_one = outcome_of("x.usual times out", made(usual, n=1))
    assert usual_one is not None and usual_one.problem is not None
    assert usual_one.problem.message == "x.usual took more than 30 seconds and was cancelled"


async def test_a_denial_is_told_as_one_by_a_person() -> None:
    world = World()
    script = caught("tools.x.write(1)")
    async with talking(*world.tools(), setup=Setup(policy=Policy((Rule(tool="x.write", then="ask"),)))) as session:
        real = (await session.run(script)).calls[0].outcome
    async with talking(*world.tools(), setup=rules("x.write is denied")) as session:
        faked = (await session.run(script)).calls[0].outcome
    assert (faked.status, faked.by) == (real.status, real.by) == ("denied", "approval")
    assert faked.problem is not None and real.problem is not None and faked.problem.code == real.problem.code == "denied"
    assert real.problem.message.startswith(faked.problem.message) and faked.problem.hint == real.problem.hint
    assert world.ran == []


async def test_a_failure_is_told_as_that_of_a_tool() -> None:
    @tool(reads=["n:1"])
    async def broken() -> None:
        raise RuntimeError("something went wrong")

    async with talking(broken) as session:
        real = (await session.run(caught("tools.x.broken()"))).calls[0].outcome
    async with talking(broken, setup=rules("x.broken fails")) as session:
        faked = (await session.run(caught("tools.x.broken()"))).calls[0].outcome
    assert (faked.status, faked.by, faked.source, faked.problem) == (real.status, real.by, real.source, real.problem)


async def test_a_failure_with_a_code_is_the_problem_that_the_rule_names() -> None:
    world = World()
    async with talking(*world.tools(), setup=rules("x.fetch fails with not_found: no such file")) as session:
        outcome = await session.run(caught("tools.x.fetch(1)"))
    assert outcome.value == ["not_found", "no such file", ""] and world.ran == []


async def test_a_refusal_names_the_rule() -> None:
    async with talking(*World().tools(), setup=rules("x.fetch is refused")) as session:
        outcome = await session.run(caught("tools.x.fetch(1)"))
    assert outcome.value == [
        "fault_refused", "x.fetch refused: a fault rule of this session says so (x.fetch is refused)",
        "it had no effect; do it another way",
    ]  # fmt: skip
    assert outcome.ledger.refused == {"fault": 1}


# ------------------------------------------------------------ which calls, and how often


async def test_two_calls_in_flight_never_both_take_once_and_the_first_of_the_script_does() -> None:
    world = World()
    async with talking(*world.tools(), setup=rules("x.fetch fails once")) as session:
        outcome = await session.run(together(*(f"tools.x.fetch({n})" for n in range(6))))
    assert outcome.value == ["tool_failed", 1, 2, 3, 4, 5] and sorted(world.ran) == [1, 2, 3, 4, 5]


async def test_twice_means_twice_in_the_session() -> None:
    world = World()
    async with talking(*world.tools(), setup=rules("x.* fails twice")) as session:
        told = [await session.run(together("tools.x.fetch(1)")) for _ in range(3)]
    assert [one.value for one in told] == [["tool_failed"], ["tool_failed"], [1]] and world.ran == [1]


async def test_the_turn_says_which_rule_it_was() -> None:
    async with talking(*World().tools(), setup=rules("x.fetch fails twice")) as session:
        first = await session.run(together("tools.x.fetch(1)", "tools.x.fetch(2)", "tools.x.fetch(3)"))
        second = await session.run("return 1")
    assert first.notices == ("2 calls failed by a fault rule: x.fetch fails twice",) and second.notices == ()
    assert "notice: 2 calls failed by a fault rule: x.fetch fails twice" in first.text


async def test_a_rule_for_a_line_hits_the_call_that_stands_there() -> None:
    script = "const a = await tools.x.fetch(1)\nconst b = await tools.x.fetch(2).catch(e => e.name)\nreturn [a, b]"
    async with talking(*World().tools(), setup=rules("x.fetch times out on line 2")) as session:
        assert (await session.run(script)).value == [1, "tool_timeout"]


async def test_a_call_over_the_budget_does_not_use_up_a_rule() -> None:
    setup = Setup(faults=(parse_fault("x.fetch fails once after 1"),), turn_budget={"x.fetch": Allowance(calls=1)})
    async with talking(*World().tools(), setup=setup) as session:
        first = await session.run(together("tools.x.fetch(1)", "tools.x.fetch(2)"))
        second = await session.run(together("tools.x.fetch(1)"))
    assert first.value == [1, "budget_calls"] and second.value == ["tool_failed"]


async def test_nobody_is_asked_about_a_call_that_a_rule_has_taken() -> None:
    async with talking(*World().tools(), setup=rules("x.write fails")) as session:
        outcome = await session.run(together("tools.x.write(1)"))
    assert outcome.value == ["tool_failed"] and outcome.decisions == ()


# ------------------------------------------------------------ beside a recording


async def test_a_rule_overrides_a_recording_and_the_rest_is_told_from_it() -> None:
    script, start = together("tools.x.fetch(1)", "tools.x.fetch(2)"), Start(source="", now=1_000.0)
    async with talking(*World().tools()) as session:
        first = await session.run(script, start=start)
    world = World()
    async with talking(*world.tools(), setup=rules("x.fetch times out once")) as session:
        again = await session.run(script, play=Play(recording=first.recording), start=start)
    assert again.value == ["tool_timeout", 2] and world.ran == []
    assert again.played is not None and (again.played.missing, again.played.unused) == ([], [])


async def test_a_call_that_a_rule_takes_is_not_missing_from_a_recording() -> None:
    world = World()
    async with talking(*world.tools(), setup=rules("x.fetch fails")) as session:
        outcome = await session.run(together("tools.x.fetch(1)"), play=Play(recording=Recording()))
    assert outcome.value == ["tool_failed"] and outcome.played is not None and outcome.played.missing == []


async def test_what_a_rule_did_replays_without_the_rule_with_the_same_text() -> None:
    script, start = together("tools.x.fetch(1)", "tools.x.fetch(2)"), Start(source="", now=1_000.0)
    async with talking(*World().tools(), setup=rules("x.fetch fails once")) as session:
        first = await session.run(script, start=start)
    async with talking(*World().tools()) as session:
        again = await session.run(script, play=Play(recording=first.recording), start=start)
    assert again.text == first.text and "by a fault rule" in again.text


# ------------------------------------------------------------ in another process


def kept_in(store: MemoryStore, world: World, *texts: str) -> Harness:
    fetch, write = world.tools()
    return Harness(tools={"x.fetch": fetch, "x.write": write}, setup=rules(*texts), store=store)


async def test_a_session_that_goes_on_goes_on_counting() -> None:
    world, store, rule = World(), MemoryStore(), "x.fetch fails twice after 1"
    script = together("tools.x.fetch(1)", "tools.x.fetch(2)")
    async with kept_in(store, world, rule) as harness, harness.session("s") as session:
        first = await session.run(script)
    async with kept_in(store, world, rule) as harness, harness.session("s", resume=True) as session:
        second = await session.run(script)
    assert (first.value, second.value) == ([1, "tool_failed"], ["tool_failed", 2])


async def test_calls_that_went_well_before_a_rule_was_there_have_not_used_it_up() -> None:
    world, store, script = World(), MemoryStore(), together("tools.x.fetch(1)")
    async with kept_in(store, world) as harness, harness.session("s") as session:
        first = await session.run(script)
    async with kept_in(store, world, "x.fetch fails once") as harness, harness.session("s", resume=True) as session:
        second = await session.run(script)
    assert (first.value, second.value) == ([1], ["tool_failed"])


@pytest.mark.parametrize("later", [["x.fetch fails once"], ["x.fetch is denied"], []])
async def test_what_is_on_record_of_a_turn_that_was_cut_off_stays_as_it_was(later: list[str]) -> None:
    world, store, cut = World(), MemoryStore(), MemoryStore()
    script = "const got = []; for (const n of [1, 2, 3]) got.push(await tools.x.fetch(n).catch(e => e.name)); return got"
    async with kept_in(store, world, "x.fetch fails once") as harness, harness.session("s") as session:
        whole = await session.run(script)
    assert whole.value == ["tool_failed", 2, 3]
    writer = await cut.write("s", at=0.0)
    await writer.append(*store.entries("s")[:5])  # to the second outcome, then the process ended
    await writer.close()
    async with kept_in(cut, world, *later) as harness, harness.session("s", resume=True) as session:
        outcome = await session.continue_turn()
    assert outcome.value == ["tool_failed", 2, "denied" if "denied" in str(later) else 3]
    assert [entry.call for entry in cut.entries("s") if isinstance(entry, Settled)] == [1, 2, 3]


# ------------------------------------------------------------ at the start


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("x.fetsh fails", "the fault rule (x.fetsh fails): no tool on offer fits x.fetsh; did you mean x.fetch?"),
        ("web.* times out", "the fault rule (web.* times out): no tool on offer fits web.*; there are: x.fetch, x.write"),
    ],
)
def test_a_rule_that_fits_no_tool_is_an_error_at_the_start(rule: str, what: str) -> None:
    fetch, write = World().tools()
    with pytest.raises(BadConfig) as told:
        Harness(tools={"x.fetch": fetch, "x.write": write}, setup=rules(rule))
    assert str(told.value) == what


def test_the_command_line_takes_rules(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    script = "const look = () => tools.files.read('a.txt').then(f => f.text, e => e.name); return [await look(), await look()]"
    home = str(tmp_path / "state")
    given = ["--fault", "files.read fails once with busy: later", "--fault", "search.* times out"]
    done = turnscript("run", "-", *given, stdin=script, cwd=tmp_path, TURNSCRIPT_HOME=home)
    assert (done.stdout, done.returncode) == ('["busy","one"]\n', 0), done.stderr
    assert done.stderr == "notice: 1 call failed by a fault rule: files.read fails once with busy: later\n"
    wrong = turnscript("run", "-", "--fault", "files.read fials", stdin="1", cwd=tmp_path, TURNSCRIPT_HOME=home)
    assert wrong.returncode == 2 and wrong.stderr.startswith(
        "turnscript: the fault rule 'files.read fials': 'fials' is not understood"
    )


async def test_without_a_rule_for_it_a_call_goes_on() -> None:
    guard = Faults(FaultCounts([parse_fault("x.other fails")]), call_seconds=30.0)
    call = made(usual, n=1)
    assert guard.admit(call) is None and (await guard.handle(call, gives("v"))).value == "v"
