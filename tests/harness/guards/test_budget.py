"""Budgets of calls, bytes and seconds: for a turn and a session, in all and by pack or tool; through a session."""

from pathlib import Path

import anyio
import pytest

from catalog import tool
from harness import Setup
from harness.config import BadConfig, read_settings
from harness.guards.budget import Allowance
from harness.limits import TurnLimits
from tests.harness.guards.rig import caught, talking, together

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def echo(text: str = "") -> str:
    return text


@tool(effect="pure")
async def many(n: int) -> str:
    return "x" * n


@tool(reads=["clock:now"])
async def slow(seconds: float) -> None:
    await anyio.sleep(seconds)


def in_session(**own: Allowance) -> Setup:
    return Setup(session_budget=own)


async def test_the_call_after_the_last_allowed_one_is_refused_with_what_ran_and_what_to_do() -> None:
    setup = Setup(turn_budget={"x.echo": Allowance(calls=2)})
    async with talking(echo, many, setup=setup) as session:
        outcome = await session.run(
            "await tools.x.echo('a'); await tools.x.many(1); await tools.x.echo('b');" + caught("tools.x.echo('c')")
        )
        assert outcome.value == [
            "budget_calls",
            "x.echo refused: this turn has made 2 of 2 calls of x.echo; ran so far: x.echo 2",
            "work with what you have, or go on in the next turn",
        ]
        assert (await session.run("return await tools.x.echo('next turn')")).value == "next turn"


async def test_calls_made_together_are_counted_in_the_order_of_the_script() -> None:
    async with talking(many, setup=Setup(turn_budget={"x": Allowance(calls=3)})) as session:
        outcome = await session.run(together(*(f"tools.x.many({n})" for n in range(1, 6))))
    assert outcome.value == ["x", "xx", "xxx", "budget_calls", "budget_calls"]
    assert outcome.ledger.calls == {"returned": 3, "refused": 2} and outcome.ledger.refused == {"budget": 2}


async def test_a_session_wide_limit_names_the_limit_to_raise() -> None:
    async with talking(echo, setup=Setup(turn=TurnLimits(session_calls=2))) as session:
        await session.run("await tools.x.echo('a'); return await tools.x.echo('b')")
        assert (await session.run(caught("tools.x.echo('c')"))).value == [
            "budget_calls",
            "x.echo refused: this session has made 2 of 2 calls; ran so far: x.echo 2",
            "finish with what you have, or ask a person to raise the limit session_calls",
        ]


async def test_a_session_allowance_names_its_table() -> None:
    async with talking(echo, setup=in_session(x=Allowance(calls=1))) as session:
        await session.run("return await tools.x.echo('a')")
        name, message, hint = (await session.run(caught("tools.x.echo('c')"))).value
    assert (name, message) == ("budget_calls", "x.echo refused: this session has made 1 of 1 calls of x; ran so far: x.echo 1")
    assert hint == "finish with what you have, or ask a person to raise x under [budget.session]"


async def test_a_result_beyond_the_bytes_is_kept_and_recalled_in_a_later_turn() -> None:
    async with talking(many, setup=Setup(turn_budget={"x": Allowance(bytes=1_000)})) as session:
        outcome = await session.run("await tools.x.many(500);" + caught("tools.x.many(600)"))
        assert outcome.value == [
            "result_kept",
            "x.many ran and gave 602 bytes, but this turn has only 498 of 1,000 bytes left for results of x; ran so far: x.many 2",
            'the result is kept: in a later turn, recall("r1") gives it where it fits; or ask for less',
        ]
        assert outcome.ledger.calls == {"returned": 1, "refused": 1} and outcome.ledger.result_bytes == 502
        assert (await session.run("return (await recall('r1')).length")).value == 600


async def test_the_hint_names_the_tool_that_reads_parts_where_it_is_on_offer() -> None:
    async with talking(many, packs=["results"], setup=Setup(turn=TurnLimits(turn_result_bytes=1_000))) as session:
        outcome = await session.run(caught("tools.x.many(2000)"))
        assert outcome.value[2] == (
            'the result is kept: in a later turn, tools.results.read({ handle: "r1" }) gives a part of it; or ask for less'
        )
        read = "return (await tools.results.read({ handle: 'r1', pointer: '' })).kind"
        assert (await session.run("return (await tools.results.describe({ handle: 'r1' })).bytes")).value == 2_002
        assert (await session.run(read)).error is not None  # one line of 2,000 characters does not fit either


async def test_a_refused_result_takes_no_bytes() -> None:
    async with talking(many, setup=Setup(turn_budget={"x": Allowance(bytes=1_000)})) as session:
        outcome = await session.run("try { await tools.x.many(5000) } catch {}\nreturn [await tools.x.many(900), budget.tools]")
    assert outcome.value[1] == {"x": {"bytes": 98}}


async def test_a_recall_counts_and_keeps_nothing_twice() -> None:
    async with talking(echo, setup=Setup(turn=TurnLimits(turn_result_bytes=3_000))) as session:
        await session.run("return 'y'.repeat(2000)")
        source = """const told = [];
for (let i = 0; i < 3; i++) try { told.push((await recall('T1.1')).length) } catch (e) { told.push(e.message, e.data.handle) }
return told"""
        outcome = await session.run(source)
        over = "recall('T1.1') ran and gave 2,002 bytes, but this turn has only 998 of 3,000 bytes left for results; ran so far: nothing"
        assert outcome.value == [2000, over, "T1.1", over, "T1.1"]
        assert (await session.run(caught("recall('r1')"))).value[0] == "unknown_handle"


async def test_bytes_that_are_used_up_refuse_before_the_call_runs() -> None:
    async with talking(many, setup=Setup(session_budget={"x.many": Allowance(bytes=102)})) as session:
        outcome = await session.run("await tools.x.many(100);" + caught("tools.x.many(1)"))
    assert outcome.value[:2] == [
        "budget_bytes",
        "x.many refused: this session has taken 102 of 102 bytes of results of x.many; ran so far: x.many 1",
    ]


async def test_seconds_of_a_tool_are_those_that_it_ran_in_time_or_not() -> None:
    setup = Setup(turn=TurnLimits(call_seconds=0.05), turn_budget={"x.slow": Allowance(seconds=0.05)})
    async with talking(slow, setup=setup) as session:
        outcome = await session.run("try { await tools.x.slow(60) } catch {}\n" + caught("tools.x.slow(0)"))
    assert outcome.value == [
        "budget_seconds",
        "x.slow refused: this turn has used 0.1 of 0.1 seconds of x.slow; ran so far: x.slow 1",
        "work with what you have, or go on in the next turn",
    ]
    assert outcome.ledger.tool_seconds == 0.05


async def test_the_seconds_of_a_session_are_those_of_its_turns_counted_once() -> None:
    async with talking(slow) as session:
        await session.run(together(*(f"tools.x.slow(0.0{n})" for n in range(1, 6))))
        assert session._ground.on.purses[0].seconds == pytest.approx(session.ledger.turn_seconds, abs=0.02)
        assert session.ledger.tool_seconds > session.ledger.turn_seconds


async def test_a_turn_that_is_cancelled_has_taken_its_time() -> None:
    async with talking(slow) as session:
        with anyio.move_on_after(0.05):
            await session.run("await tools.x.slow(60)")
        assert session._ground.on.purses[0].seconds >= 0.05


async def test_a_script_reads_what_is_left_of_its_packs_and_tools() -> None:
    setup = Setup(
        turn_budget={"x": Allowance(calls=5, bytes=1_000), "x.echo": Allowance(calls=2)},
        session_budget={"x": Allowance(calls=3), "other": Allowance(calls=1)},
    )
    async with talking(echo, setup=setup) as session:
        outcome = await session.run("const before = budget.tools; await tools.x.echo('ab'); return [before, budget.tools]")
    assert outcome.value == [
        {"x": {"calls": 3, "bytes": 1000}, "x.echo": {"calls": 2}, "other": {"calls": 1}},
        {"x": {"calls": 2, "bytes": 996}, "x.echo": {"calls": 1}, "other": {"calls": 1}},
    ]


async def test_the_data_of_a_refusal_is_for_programs() -> None:
    async with talking(echo, setup=Setup(turn_budget={"x": Allowance(calls=1)})) as session:
        outcome = await session.run("await tools.x.echo('');try { await tools.x.echo('') } catch (e) { return e.data }")
    assert outcome.value == {"scope": "turn", "of": "x", "left": {"calls": 0}, "ran": {"x.echo": 1}}


async def test_a_cached_result_is_paid_in_bytes_but_did_not_run() -> None:
    async with talking(echo, setup=Setup(turn_budget={"x": Allowance(calls=2)})) as session:
        outcome = await session.run("await tools.x.echo('a'); await tools.x.echo('a');" + caught("tools.x.echo('a')"))
    assert outcome.value[1] == "x.echo refused: this turn has made 2 of 2 calls of x; ran so far: x.echo 1"


async def test_a_refusal_names_six_tools_that_ran_and_counts_the_rest() -> None:
    functions = []
    for n in range(8):

        @tool(effect="pure")
        async def one() -> int:
            return 1

        one.__name__ = one.__qualname__ = f"t{n}"
        functions.append(one)
    async with talking(*functions, setup=Setup(turn=TurnLimits(session_calls=8))) as session:
        outcome = await session.run("for (const name of Object.keys(tools.x)) await tools.x[name]();" + caught("tools.x.t0()"))
    assert outcome.value[1].endswith("8 of 8 calls; ran so far: x.t0 1, x.t1 1, x.t2 1, x.t3 1, x.t4 1, x.t5 1 and 2 more")


@pytest.mark.parametrize("told", ["inf", "nan", "0", "-1", "true", "'5'", "1.5"])
def test_an_allowance_that_is_no_number_of_calls_is_a_fault_of_the_file(tmp_path: Path, told: str) -> None:
    (tmp_path / "turnscript.toml").write_text(f"[budget.turn]\nweb = {{ calls = {told} }}\n")
    with pytest.raises(BadConfig, match=r"budget\.turn\.web\.calls: .* is not a number above 0"):
        read_settings(folder=tmp_path, environment={})
