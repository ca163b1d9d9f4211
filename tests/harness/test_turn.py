"""A turn from the outside: run_script with real functions, in a real worker."""

import anyio
import pytest

from catalog import tool
from harness import Setup, TurnOutcome, run_script
from harness.limits import TurnLimits
from sandbox import Exceeded, Finished, Limits, Pool, Start

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def add(a: int, b: int = 1) -> int:
    return a + b


async def fail() -> None:
    raise FileNotFoundError("no such thing")


async def test_a_script_calls_functions_by_name_and_by_position() -> None:
    outcome = await run_script(
        "[await tools.math.add({ a: 1, b: 2 }), await tools.math.add(5), await tools.math.add(5, 6)]", tools={"math.add": add}
    )
    assert outcome.ok and outcome.value == [3, 6, 11]


async def test_a_function_that_raises_is_a_problem_the_script_can_catch() -> None:
    source = "let e; try { await tools.x.fail({}) } catch (x) { e = x }\n[e.name, e.message]"
    outcome = await run_script(source, tools={"x.fail": fail})
    assert outcome.value == ["tool_failed", "x.fail failed: FileNotFoundError: no such thing"]


async def test_calls_run_together_up_to_the_cap_and_the_rest_queue_in_order() -> None:
    running, most, order = 0, 0, []

    @tool(reads=["clock:now"])
    async def slow(n: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(n)
        await anyio.sleep(0.01)
        running -= 1
        return n

    outcome = await run_script("await Promise.all(Array.from({ length: 20 }, (_, n) => tools.x.slow(n)))", tools={"x.slow": slow})
    assert outcome.value == list(range(20))
    assert (
        most == 8 and set(order[:8]) == set(range(8)) and set(order[:16]) >= set(range(12))
    )  # which of eight begins first is the scheduler's


async def test_calls_left_open_are_cancelled_and_named() -> None:
    cancelled = []

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    outcome = await run_script(
        "const go = f => { f() };\ngo(tools.x.forever);\nawait tools.x.add(1);\n'done'",
        tools={"x.forever": forever, "x.add": add},
    )
    assert outcome.value == "done" and cancelled == [True]
    assert list(outcome.notices) == [
        "x.forever (call 1, line 1, column 19) was still open when the script ended, and cancelled; await every call whose effect you want"
    ]


async def test_a_call_that_nobody_awaited_but_that_ended_is_named_too() -> None:
    outcome = await run_script("const go = f => { f(1) };\ngo(tools.x.add);\nawait sleep(20);\n'done'", tools={"x.add": add})
    assert list(outcome.notices) == [
        "x.add (call 1, line 1, column 19) was never awaited, so result or failure went unseen; write await before it"
    ]


async def test_a_turn_that_takes_too_long_says_what_was_open() -> None:
    async def forever() -> None:
        await anyio.sleep_forever()

    source = "await Promise.all([tools.x.a(), tools.x.b()])"
    setup = Setup(turn=TurnLimits(turn_seconds=0.1))
    outcome = await run_script(source, tools={"x.a": forever, "x.b": forever}, setup=setup)
    assert isinstance(outcome.ending, Exceeded) and outcome.ending.limit == "turn_seconds"
    assert outcome.ending.error.message == "the turn took more than 0.1 seconds; still open: x.a (line 1), x.b (line 1)"


async def test_sleep_help_recall_and_relax_are_answered() -> None:
    source = """const t = Date.now(); await sleep(20); const slept = Date.now() - t;
const names = []; for (const f of [recall, relax]) try { await f('x') } catch (e) { names.push(e.name) }
[slept >= 20, await help(), names]"""
    outcome = await run_script(source)
    told = "No tools are on offer in this session; write plain JavaScript."
    assert outcome.value == [True, told, ["unknown_handle"]]


async def test_the_order_of_settlement_is_on_record() -> None:
    @tool(reads=["clock:now"])
    async def wait(ms: int) -> int:
        await anyio.sleep(ms / 1000)
        return ms

    outcome = await run_script("await Promise.all([tools.x.wait(60), tools.x.wait(5)])", tools={"x.wait": wait})
    assert [command.call_id for command in outcome.settled] == [2, 1]
    assert outcome.value == [60, 5]


async def test_many_turns_share_a_pool() -> None:
    async with Pool(workers=2) as pool:
        outcomes: list[TurnOutcome] = []

        async def one(n: int) -> None:
            outcomes.append(await run_script(f"await tools.math.add({n})", tools={"math.add": add}, pool=pool))

        async with anyio.create_task_group() as tasks:
            for n in range(10):
                tasks.start_soon(one, n)
    assert sorted(outcome.value for outcome in outcomes) == list(range(1, 11))


async def test_limits_and_context_come_with_start() -> None:
    start = Start(source="", context={"who": "ada"}, limits=Limits(calls=1), now=5.0, seed=9)
    outcome = await run_script("[context.who, budget.calls, Date.now()]", start=start)
    assert outcome.ending == Finished(["ada", 1, 5])
    assert {name: state for name, state, _ in outcome.layers}["seccomp"] == "on"


async def test_a_script_that_is_certainly_wrong_is_not_started() -> None:
    calls = []

    async def order(item: int) -> int:
        calls.append(item)
        return item

    source = "await tools.shop.order(1);\nawait tools.shop.ordr(2);\nawait tools.shop.order({ item: 'three' });"
    outcome = await run_script(source, tools={"shop.order": order})
    assert outcome.error is not None and calls == []
    assert outcome.error.text == (
        "unknown_tool: there is no tool shop.ordr; did you mean shop.order?  (line 2, column 18)\n"
        "  2 | await tools.shop.ordr(2);\n"
        "    |                  ^\n"
        "  hint: write tools.shop.order({ item: number }): Promise<number>\n"
        '  also: bad_arguments: shop.order: item must be a whole number, not the text "three"  (line 3, column 32)\n'
        "    3 | await tools.shop.order({ item: 'three' });\n"
        "      |                                ^\n"
        "    hint: write tools.shop.order({ item: number }): Promise<number>"
    )
    assert list(outcome.notices) == ["the script was not started, so nothing has had an effect; mend it and send it whole"]


async def test_what_is_doubtful_is_a_notice_and_the_script_runs() -> None:
    source = "let a = 0; try { a = await tools.x.ad(1) } catch (e) { a = e.name }\na"
    outcome = await run_script(source, tools={"x.add": add})
    assert outcome.value == "unknown_tool"
    assert [notice.split("\n")[0] for notice in outcome.notices] == [
        "unknown_tool: there is no tool x.ad; did you mean x.add?  (line 1, column 36)"
    ]


async def test_a_member_that_no_result_has_is_told_with_the_ones_they_have() -> None:
    async def get() -> dict[str, object]:
        return {"name": "lamp", "price": {"amount": 3}}

    outcome = await run_script("const item = await tools.shop.get();\nitem.prize.amount", tools={"shop.get": get})
    assert outcome.error is not None
    assert outcome.error.message == "cannot read property 'amount' of undefined: item.prize is undefined"
    assert outcome.error.hint == "did you mean price? the results of this script's calls have: name, price, amount"


async def test_a_script_that_gives_nothing_is_told_so() -> None:
    outcome = await run_script("const line = 1 + 1;")
    assert list(outcome.notices) == ["the script gave nothing to see: end it with return <value>, or show(value) what matters"]
    assert (await run_script("console.log(1);")).notices == ()
