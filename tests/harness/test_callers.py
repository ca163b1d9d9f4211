"""Who may call a tool: scripts, the model directly, or both; and a direct call is a turn like any other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import ToolProblem, tool
from harness import Harness, MemoryStore, Policy, Session, Setup, allowing
from harness.approval import Rule
from harness.callers import Callers, direct_name, direct_script, use_of
from harness.entries import Began, Settled
from harness.replay.playing import Stage, play
from harness.replay.recorded import recorded_session
from harness.store.jsonl import JsonlStore
from sandbox import Pool
from tests.harness.guards.rig import talking

BOTH: Callers = {"x.look": "both", "x.act": "direct", "x.*": "script"}


@tool(effect="pure")
async def look(what: str, more: list[int] | None = None) -> dict[str, Any]:
    """Look at it."""
    return {"what": what, "more": more}


@tool(writes=["thing:{n}"])
async def act(n: int) -> int:
    """Do it."""
    return n


@tool(effect="pure")
async def only(n: int = 0) -> int:
    """For scripts."""
    return n


@tool(effect="pure")
async def fails() -> None:
    """It does not go well."""
    raise ToolProblem("gone", "it is not there", hint="look elsewhere")


@tool(effect="pure")
async def anything(given: dict[str, Any]) -> dict[str, Any]:
    """Give back what was given."""
    return given


@asynccontextmanager
async def called(callers: Callers | None = None, **rest: Any) -> AsyncIterator[Session]:
    setup = Setup(callers=BOTH if callers is None else callers, policy=Policy(allowing(["x.*"])))
    async with talking(look, act, only, fails, anything, setup=setup, **rest) as session:
        yield session


# ------------------------------------------------------------ who may


@pytest.mark.parametrize(
    ("tool", "use"),
    [("x.look", "both"), ("x.act", "direct"), ("x.only", "script"), ("y.z", "script")],
)
def test_the_first_pattern_that_fits_decides_and_scripts_only_is_the_default(tool: str, use: str) -> None:
    assert use_of(tool, BOTH) == use


@pytest.mark.anyio
async def test_a_script_calls_what_it_may_and_is_told_how_to_call_the_rest() -> None:
    async with called() as session:
        assert (await session.run("return [await tools.x.look('a'), await tools.x.only()]")).value == [
            {"what": "a", "more": None}, 0,
        ]  # fmt: skip
        refused = await session.run("return await tools.x.act(1)")
    assert not refused.ok and "x.act is called directly, not from a script: call the tool x__act" in refused.text
    assert refused.calls == ()


@pytest.mark.anyio
async def test_a_tool_is_called_directly_where_it_may_be() -> None:
    async with called() as session:
        looked, acted = await session.call("x.look", {"what": "a"}), await session.call("x.act", {"n": 3})
        refused = await session.call("x.only", {})
    assert looked.value == {"what": "a", "more": None} and acted.value == 3 and (looked.number, acted.number) == (1, 2)
    assert not refused.ok and "x.only is called from scripts: await tools.x.only({ … })" in refused.text


@pytest.mark.anyio
async def test_names_built_at_run_time_are_refused_too() -> None:
    async with called() as session:
        found = await session.run(
            "const n = 'a' + 'ct'; try { return await tools.x[n](1) } catch (e) { return e.name + ': ' + e.message }"
        )
    assert "act" in str(found.value) and found.value != 1 and not any(call.outcome.ok for call in found.calls)


@pytest.mark.anyio
async def test_without_rules_nothing_is_kept_from_anybody() -> None:
    async with called({}) as session:
        assert (await session.run("return await tools.x.act(1)")).value == 1
        assert (await session.call("x.only", {"n": 2})).value == 2


@pytest.mark.anyio
async def test_a_direct_call_passes_the_same_guards() -> None:
    setup = Setup(callers={"x.*": "direct"}, policy=Policy((Rule(tool="x.act", then="deny"),)))
    async with talking(look, act, setup=setup) as session:
        refused = await session.call("x.act", {"n": 1})
    assert not refused.ok and "x.act refused: a rule of this session denies this call (deny x.act)" in refused.text
    assert [record.outcome.by for record in refused.calls] == ["approval"]


@pytest.mark.anyio
async def test_a_direct_call_that_fails_or_has_wrong_arguments_says_so() -> None:
    async with called({"x.*": "both"}) as session:
        failed = await session.call("x.fails", {})
        wrong = await session.call("x.look", {"wat": 1})
        unknown = await session.call("x.lok", {"what": "a"})
    assert not failed.ok and failed.text.startswith("gone: it is not there") and "look elsewhere" in failed.text
    assert not wrong.ok and "what" in wrong.text and "wat" in wrong.text
    assert not unknown.ok and "x.look" in unknown.text


@pytest.mark.anyio
async def test_what_a_direct_call_gives_is_condensed_and_kept_under_its_handle() -> None:
    async with called({"x.*": "both"}) as session:
        outcome = await session.call("x.look", {"what": "line of it\n" * 4_000})
        assert len(outcome.text.encode()) < 20_000
        assert session.recall("T1.1")["what"] == "line of it\n" * 4_000
        assert (await session.run("return (await recall('T1.1')).what.length")).value == 44_000


# ------------------------------------------------------------ names


def test_names_fit_the_interfaces_of_models_and_stay_apart() -> None:
    long, other = f"{'p' * 40}.{'t' * 40}", f"{'p' * 40}.{'t' * 41}"
    assert direct_name("files.read") == "files__read" and direct_name("x.a_b") == "x__a_b"
    assert direct_name("x.a$b").startswith("x__a_b_")
    assert len(direct_name(long)) == len(direct_name(other)) == 64 and direct_name(long) != direct_name(other)
    assert direct_name(f"{'p' * 30}.{'t' * 32}") == f"{'p' * 30}__{'t' * 32}"  # 64: as it is


@given(st.from_regex(r"[a-z_$][a-zA-Z0-9_$]{0,80}\.[a-z_$][a-zA-Z0-9_$]{0,80}", fullmatch=True))
def test_every_name_is_one_that_models_interfaces_take(name: str) -> None:
    made = direct_name(name)
    assert 0 < len(made) <= 64 and made.replace("_", "a").isalnum() and made.isascii()


# ------------------------------------------------------------ arguments

plain = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
names = st.text() | st.just("__proto__")
nested = plain | st.lists(plain, max_size=3) | st.dictionaries(names, plain, max_size=3)
json_values = nested | st.lists(nested, max_size=3) | st.dictionaries(names, nested, max_size=3)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_arguments_arrive_as_they_were_given() -> None:
    hard: list[dict[str, Any]] = [
        {"__proto__": {"polluted": True}, "a": 1}, {"a": {"__proto__": 1, "constructor": 2}}, {"`${1}`": "`${process}`", "b": "*/ //"},
        {"text": "\u2028\u2029\x00\\u0000 </script> 🧭 'x' \"y\""}, {"n": -0.0, "m": 1e21, "big": 2**53 - 1}, {}, {"": [[], {}]},
    ]  # fmt: skip
    async with called({"x.*": "direct"}) as session:
        for given_ in hard:
            assert (await session.call("x.anything", {"given": given_})).value == given_


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_a_script_of_a_direct_call_is_one_statement_whatever_the_arguments(arguments: dict[str, Any]) -> None:
    script, context = direct_script("x.anything", arguments)
    assert script.startswith("return await tools.x.anything(") and script.endswith(");\n")
    assert context in ({}, {"arguments": arguments}) and (context != {}) == ("context.arguments" in script and bool(context))


@pytest.mark.anyio
@pytest.mark.parametrize("number", [2**53, 2**53 + 1, -(2**60), 10**30])
async def test_a_number_that_a_script_cannot_hold_is_refused_and_not_rounded(number: int) -> None:
    async with called({"x.*": "direct"}) as session:
        refused = await session.call("x.act", {"n": number})
        loose = await session.call("x.anything", {"given": {"id": number}})
    assert f'n must be a whole number, not the text "{number}"' in refused.text and not refused.ok
    assert loose.value == {"id": str(number)}


@pytest.mark.anyio
async def test_half_a_character_is_replaced_as_everywhere() -> None:
    async with called({"x.*": "direct"}) as session:
        assert (await session.call("x.look", {"what": "\ud800x"})).value["what"] == "\ufffdx"


@pytest.mark.anyio
async def test_a_hundred_kilobytes_of_arguments_arrive_whole() -> None:
    store = MemoryStore()
    async with called({"x.*": "direct"}, store=store) as session:
        big = {"text": "0123456789" * 10_000}
        outcome = await session.call("x.anything", {"given": big})
    assert outcome.value == big
    began = next(entry for entry in store.entries("s") if isinstance(entry, Began))
    assert began.script == "return await tools.x.anything(context.arguments);\n" and began.context["arguments"] == {"given": big}


# ------------------------------------------------------------ on record


@pytest.mark.anyio
async def test_a_direct_call_is_on_record_as_one_and_is_replayed() -> None:
    store = MemoryStore()
    async with called(store=store) as session:
        await session.call("x.act", {"n": 3})
        await session.call("x.look", {"what": "a" * 70_000})
        await session.run("return await tools.x.look({ what: 'b' })")
    entries = store.entries("s")
    began = [entry for entry in entries if isinstance(entry, Began)]
    assert [entry.direct for entry in began] == [True, True, False]
    assert began[0].script == 'return await tools.x.act({"n":3});\n'
    assert [entry.tool for entry in entries if isinstance(entry, Settled)] == ["x.act", "x.look", "x.look"]
    async with called() as other, Pool(workers=1) as pool:
        setup = Setup(callers=BOTH)
        played = await play(recorded_session(entries, name="direct"), Stage(pool=pool, offer=other.offer, setup=setup))
        without = await play(recorded_session(entries, name="direct"), Stage(pool=pool, offer=other.offer))
    assert played.differences == () and without.differences == () and played.played == 3


@pytest.mark.anyio
async def test_a_session_with_direct_calls_goes_on_in_another_process(tmp_path: Path) -> None:
    setup = Setup(callers=BOTH, policy=Policy(allowing(["x.*"])))

    def harness() -> Harness:
        return Harness(tools={"x.look": look, "x.act": act, "x.only": only}, setup=setup, store=JsonlStore(tmp_path))

    async with harness() as made, made.session("s") as session:
        first = await session.call("x.look", {"what": "a"})
    async with harness() as made, made.session("s", resume=True) as session:
        assert session.transcript() == [(1, first.text)] and session.recall("T1.1") == first.value
        assert (await session.call("x.act", {"n": 2})).number == 2
