"""A surface from the agent's side: what it defines, what each call gives, and what is said of every call that is not right."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from catalog import BadPack, tool
from harness import Harness, MemoryStore, Policy, Setup, allowing
from harness.adapters.presets import PRESETS, Preset
from harness.adapters.surface import Result, Surface
from harness.entries import Ended
from harness.limits import ShownLimits
from harness.watching import Happened, TurnYielded
from tests.harness.test_parts import Steps

pytestmark = pytest.mark.anyio
WAITS = "show('a'); await tools.x.step({ n: 0 }); show('b'); return 'end'"
RUNS = "notice: script 1 still runs; call wait_script to see the rest of it, or wait_script with stop: true to end it"
BUSY = (
    "script_runs: script 1 still runs, so nothing else was started\n"
    "hint: call wait_script to see the rest of it, or wait_script with stop: true to end it"
)


@tool(effect="pure")
async def look(what: str) -> str:
    """Look at it."""
    return f"seen {what}"


@asynccontextmanager
async def surface(
    steps: Steps | None = None,
    preset: Preset | str = "run_script",
    *,
    store: MemoryStore | None = None,
    setup: Setup | None = None,
    watch: Any = None,
    **rest: Any,
) -> AsyncIterator[Surface]:
    made = Harness(
        [(steps or Steps()).pack()],
        {"y.look": look},
        setup=setup or Setup(policy=Policy(allowing(["x.*"]))),
        store=store,
        watch=watch,
    )
    async with made, made.session("s") as session:
        yield Surface(session, preset, **rest)


async def started(made: Surface, steps: Steps, script: str = WAITS) -> Result:
    """A script that has been asked for, and goes on: with no time to answer in, it yields at once."""
    result = await made.call("run_script", {"script": script})
    await steps.at(0)
    return result


# ------------------------------------------------------------ definitions


@pytest.mark.parametrize(
    ("preset", "names", "argument"),
    [
        ("run_script", ["run_script"], "script"),
        ("codex", ["exec", "wait"], "source"),
        ("eval", ["eval"], "code"),
        ("code_mode", ["code_mode"], "code"),
    ],
)
async def test_a_preset_is_the_names_that_a_model_knows(preset: str, names: list[str], argument: str) -> None:
    async with surface(preset=preset) as made:
        assert [one.name for one in made.definitions] == names and made.script.argument == argument
        assert made.script.parameters["required"] == [argument] and "tools.files.read" in made.script.description
        result = await made.call(names[0], {argument: "return 1 + 1"})
    assert (result.text, result.is_error, result.running) == ("2", False, 0) and made.instructions == ""


def test_every_preset_is_under_its_name() -> None:
    assert list(PRESETS) == ["run_script", "codex", "eval", "code_mode"]
    assert all(name == preset.name for name, preset in PRESETS.items())


async def test_a_preset_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(BadPack, match="there is no surface 'exec'; choose run_script, codex, eval, code_mode"):
        async with surface(preset="exec"):
            pass


async def test_a_preset_of_ones_own_and_time_to_yield() -> None:
    own = Preset(name="mine", tool="js", argument="text", wait="js_wait")
    async with surface(preset=own, yield_seconds=2.5) as made:
        assert [one.name for one in made.definitions] == ["js", "js_wait"]
        assert "longer than 2.5 seconds goes on" in made.script.description and "js_wait" in made.script.description
        assert (await made.call("js", {"text": "return 1"})).text == "1"
    assert own.yield_seconds is None  # the preset stays as it is


async def test_the_prose_stands_in_the_description_or_in_the_instructions() -> None:
    async with surface(prose="system") as made:
        assert "tools.x.step" not in made.script.description and "x.step" in made.instructions
        assert made.script.description.endswith("The instructions say how scripts are written and which tools they have.")


async def test_direct_tools_are_defined_with_their_schema_and_called_by_name() -> None:
    setup = Setup(callers={"y.look": "both", "*": "script"})
    async with surface(setup=setup) as made:
        assert [(one.kind, one.name, one.tool) for one in made.definitions] == [
            ("script", "run_script", ""), ("direct", "y__look", "y.look"),
        ]  # fmt: skip
        assert made.definitions[1].description == "Look at it." and "what" in made.definitions[1].parameters["properties"]
        assert (await made.call("y__look", {"what": "it"})).text == "seen it"
        assert (await made.call("y__look", '{"what": "it"}')).text == "seen it"
        assert (await made.call("run_script", {"script": "return await tools.y.look('that')"})).text == "seen that"


# ------------------------------------------------------------ what is not right, in whole texts


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("runscript", {}, "unknown_call: there is no tool 'runscript', so nothing ran\nhint: call one of: run_script, wait_script, y__look"),
        ("x__step", {"n": 1}, "unknown_call: there is no tool 'x__step', so nothing ran\nhint: call one of: run_script, wait_script, y__look"),
        ("run_script", {}, 'bad_call: run_script was not called: it takes one text, script, and was given nothing\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", {"code": "1"}, 'bad_call: run_script was not called: it takes one text, script, and was given code\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", '{"code": "1"}', 'bad_call: run_script was not called: it takes one text, script, and was given code\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", {"script": 1}, 'bad_call: run_script was not called: it takes one text, script, and was given script\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", {"script": "1", "why": "x"}, 'bad_call: run_script was not called: it takes one text, script, and was given script, why\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", "", 'bad_call: run_script was not called: it takes one text, script, and was given nothing\nhint: give { "script": "…JavaScript…" }'),
        ("run_script", '{"script": "return 1', 'bad_call: run_script was not called: its arguments are no JSON object\nhint: give { "script": "…JavaScript…" }'),
        ("y__look", "[1]", 'bad_call: y__look was not called: its arguments are no JSON object\nhint: give { "what": … }'),
        ("y__look", "it", 'bad_call: y__look was not called: its arguments are no JSON object\nhint: give { "what": … }'),
        ("wait_script", "soon", 'bad_call: wait_script was not called: its arguments are no JSON object\nhint: give { "number": …, "seconds": …, "stop": … }'),
        ("wait_script", {}, "nothing_runs: there is nothing to wait for: no script runs\nhint: start a script with run_script"),
        ("wait_script", "", "nothing_runs: there is nothing to wait for: no script runs\nhint: start a script with run_script"),
        *[
            ("wait_script", wrong, 'bad_call: wait_script was not called: it takes number, seconds and stop, all of which may be left out\nhint: give { "seconds": 10 } or { "stop": true }')
            for wrong in ({"seconds": "10"}, {"seconds": True}, {"seconds": float("nan")}, {"number": "one"}, {"stop": "yes"}, {"cell": 1})
        ],
    ],
)  # fmt: skip
async def test_a_call_that_is_not_right_is_a_result_that_says_the_next_step(name: str, arguments: Any, text: str) -> None:
    store = MemoryStore()
    async with surface(setup=Setup(callers={"y.look": "both"}), store=store, yield_seconds=30) as made:
        result = await made.call(name, arguments)
        assert (result.text, result.is_error, result.outcome, result.running) == (text, True, None, 0)
        assert (await made.call("run_script", {"script": "return 1"})).text == "1"
    assert sum(isinstance(entry, Ended) for entry in store.entries("s")) == 1  # nothing of it was a turn


# ------------------------------------------------------------ how scripts come


@pytest.mark.parametrize(
    "arguments",
    [
        {"script": "return 'ok'"}, '{"script": "return \'ok\'"}', "return 'ok'", "  // a script as it is\nreturn 'ok'",
        "[1, 2].length; return 'ok'",
    ],
)  # fmt: skip
async def test_a_script_comes_by_name_as_json_or_as_it_is(arguments: Any) -> None:
    async with surface() as made:
        assert (await made.call("run_script", arguments)).text == "ok"


async def test_a_script_that_fails_is_an_error_with_its_outcome() -> None:
    async with surface() as made:
        failed = await made.call("run_script", {"script": "show(1); throw new Error('no')"})
        empty = await made.call("run_script", {"script": " "})
        silent = await made.call("run_script", {"script": "const a = 1;"})
    assert failed.is_error and failed.text.startswith("1\nError: no") and failed.outcome is not None and not failed.outcome.ok
    assert empty.is_error and empty.text.startswith("empty_script: the script is empty, so nothing ran")
    assert not silent.is_error and silent.text.startswith("notice: the script gave nothing to see")


# ------------------------------------------------------------ scripts that go on


async def test_a_script_that_takes_longer_yields_and_the_rest_is_waited_for() -> None:
    steps = Steps()
    async with surface(steps, yield_seconds=0) as made:
        assert (await started(made, steps)).running == 1
        first = await made.call("wait_script", {"seconds": 0})
        assert first.running == 1 and not first.is_error and first.text in (f"a\n{RUNS}", RUNS)
        assert (await made.call("wait_script", {"seconds": 0, "number": 1, "stop": None})).text == RUNS
        steps.go(0)
        last = await made.call("wait_script", {"seconds": 30, "number": None})
        assert (last.text, last.running, last.is_error) == ("b\nend", 0, False)
        gone = await made.call("wait_script", {})
    assert gone.text == "nothing_runs: there is nothing to wait for: no script runs\nhint: start a script with run_script"


async def test_a_script_that_yields_at_once_has_its_number() -> None:
    steps = Steps()
    async with surface(steps, yield_seconds=0) as made:
        first = await made.call("run_script", {"script": WAITS})
        assert first.running == 1 and first.text.endswith(RUNS)


async def test_a_number_that_is_another_scripts_says_which_one_runs() -> None:
    steps = Steps()
    async with surface(steps, yield_seconds=0) as made:
        await started(made, steps)
        other = await made.call("wait_script", {"number": 7})
    assert other.is_error
    assert other.text == "nothing_runs: there is nothing to wait for: script 1 runs\nhint: start a script with run_script"


async def test_while_a_script_runs_nothing_else_is_started() -> None:
    steps = Steps()
    async with surface(steps, setup=Setup(callers={"y.*": "both"}), yield_seconds=0) as made:
        await started(made, steps)
        for name, arguments in (("run_script", {"script": "return 1"}), ("y__look", {"what": "it"})):
            busy = await made.call(name, arguments)
            assert (busy.text, busy.is_error) == (BUSY, True)


async def test_stop_ends_the_script_and_tells_the_rest() -> None:
    steps = Steps()
    async with surface(steps, yield_seconds=0) as made:
        await started(made, steps)
        stopped = await made.call("wait_script", {"stop": True})
        assert stopped.is_error and "Stopped: the script was stopped; still open: x.step (line 1)" in stopped.text
        assert (await made.call("run_script", {"script": "return context.turn"})).running in (0, 2)


async def test_a_script_that_ended_while_nobody_waited_is_told_with_the_next_call() -> None:
    steps = Steps()
    async with surface(steps, setup=Setup(callers={"y.*": "both"}), yield_seconds=0) as made:
        for turn, (name, arguments) in enumerate((("run_script", {"script": "return 'next'"}), ("y__look", {"what": "it"}))):
            steps.free.clear()
            steps.reached.clear()
            first = await started(made, steps)
            steps.go(0)
            going = made._going
            assert going is not None and first.running == going.turn
            await going._over.wait()
            told = await made.call(name, arguments)
            shown = "" if "a\n" in first.text else "a\n"
            assert told.text.startswith(f"script {first.running} had ended:\n{shown}b\nend\n\n"), turn
            if told.running:
                await made.call("wait_script", {"seconds": 30})


async def test_what_had_no_room_does_not_leave_an_empty_line() -> None:
    steps = Steps()
    script = "for (let n = 0; n < 12; n++) { show(`${n} `.repeat(400)); await tools.x.step({ n }) }"
    async with surface(steps, yield_seconds=0, setup=Setup(shown=ShownLimits(shown_turn_bytes=1_500))) as made:
        await made.call("run_script", {"script": script})
        texts = []
        for n in range(12):
            await steps.at(n)
            texts.append((await made.call("wait_script", {"seconds": 0})).text)
            steps.go(n)
    assert texts[-1] == RUNS and all(text.endswith(RUNS) for text in texts)


async def test_two_scripts_at_once_without_yielding_run_one_after_the_other() -> None:
    got: list[str] = []
    async with surface() as made:

        async def one() -> None:
            got.append((await made.call("run_script", {"script": "return context.turn"})).text)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            tasks.start_soon(one)
    assert sorted(got) == ["1", "2"]


# ------------------------------------------------------------ cancellation


@pytest.mark.parametrize("yield_seconds", [None, 30.0])
async def test_cancelling_the_call_ends_the_script_and_the_next_one_runs(yield_seconds: float | None) -> None:
    steps, store = Steps(), MemoryStore()
    async with surface(steps, store=store, yield_seconds=yield_seconds) as made:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.call, "run_script", {"script": WAITS})
            await steps.at(0)
            tasks.cancel_scope.cancel()
        assert (await made.call("run_script", {"script": "return 'next'"})).text == "next"
    assert [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)] == ["cancelled", "finished"]


async def test_cancelling_a_wait_ends_the_script_and_what_was_told_stays_in_view() -> None:
    steps, store, parts = Steps(), MemoryStore(), list[Happened]()
    async with surface(steps, store=store, yield_seconds=0, watch=parts.append) as made:
        first = await started(made, steps)
        if not any(isinstance(one, TurnYielded) for one in parts):
            first = await made.call("wait_script", {"seconds": 0})
        assert first.text == f"a\n{RUNS}"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.call, "wait_script", {"seconds": 60})
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        result = await made.call("run_script", {"script": "return 'next'"})
        if result.running:
            result = await made.call("wait_script", {"seconds": 30})
        assert result.text == "next"
        assert made.session.transcript()[0] == (1, "a")
    assert [entry.ending.how for entry in store.entries("s") if isinstance(entry, Ended)] == ["cancelled", "finished"]
