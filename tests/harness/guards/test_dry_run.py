"""A dry run: what reads runs as ever, what has an effect is named, and the report is true."""

from typing import Any

import pytest

from catalog import tool
from harness import Policy, Rule, Setup
from harness.approval import allowing
from tests.harness.guards.rig import caught, talking, together

pytestmark = pytest.mark.anyio


class World:
    def __init__(self) -> None:
        self.done: list[str] = []

    def tools(self) -> list[Any]:
        @tool(reads=["thing:{name}"])
        async def read(name: str) -> str:
            self.done.append(f"read {name}")
            return f"{name} is here"

        @tool(writes=["thing:{name}", "log:all"], approval=True)
        async def write(name: str) -> str:
            self.done.append(f"write {name}")
            return "written"

        @tool(effect="external", reads=["url:{url}"])
        async def fetch(url: str) -> str:
            self.done.append(f"fetch {url}")
            return "page"

        @tool(effect="external")
        async def run(command: str) -> str:
            self.done.append(f"run {command}")
            return "ran"

        return [read, write, fetch, run]


async def test_reads_run_and_effects_are_named_with_what_they_would_do() -> None:
    world = World()
    source = """const a = await tools.x.read('a');
for (const f of [() => tools.x.write('a'), () => tools.x.fetch('u'), () => tools.x.run('make')]) try { await f() } catch (e) { show(e.message) }
if (a === 'never') await tools.x.write('b');
return a"""
    async with talking(*world.tools()) as session:
        outcome = await session.run(source, mode="dry_run")
    assert world.done == ["read a"] and outcome.mode == "dry_run"
    assert outcome.text == (
        "x.write was not called: this is a dry run, and it would write log:all, thing:a\n"
        "x.fetch was not called: this is a dry run, and it would reach outside (url:u)\n"
        "x.run was not called: this is a dry run, and it would have effects that cannot be told in advance\n"
        "a is here\n"
        "[T1.5]\n"
        "dry run: nothing was changed\n"
        "ran, reading only: x.read 1\n"
        'would call x.write({"name":"a"}) (line 2): write log:all, thing:a, asks first\n'
        'would call x.fetch({"url":"u"}) (line 2): reach outside (url:u)\n'
        'would call x.run({"command":"make"}) (line 2): have effects that cannot be told in advance\n'
        'in the text, not reached: 3:26  x.write("b")  writes, asks first, under a condition'
    )  # fmt: skip
    assert outcome.ledger.refused == {"dry_run": 3}


async def test_the_problem_has_the_facts_for_a_script() -> None:
    async with talking(*World().tools()) as session:
        outcome = await session.run(
            "try { await tools.x.write('a') } catch (e) { return [e.name, e.hint, e.data] }", mode="dry_run"
        )
    assert outcome.value == [
        "dry_run",
        "nothing was changed; catch it to go on: the report then lists the calls behind it too",
        {"writes": ["log:all", "thing:a"], "asks": True, "denied": False},
    ]


async def test_the_report_says_what_rules_would_say() -> None:
    policy = Policy((Rule(tool="x.run", then="deny"), *allowing(["x.write"]), Rule(tool="x.fetch", then="ask")))
    async with talking(*World().tools(), setup=Setup(mode="dry_run", policy=policy)) as session:
        outcome = await session.run(together("tools.x.write('a')", "tools.x.fetch('u')", "tools.x.run('make')"))
    assert outcome.value == ["dry_run"] * 3
    assert outcome.text.split("nothing was changed\n")[1].splitlines() == [
        'would call x.write({"name":"a"}) (line 1): write log:all, thing:a',
        'would call x.fetch({"url":"u"}) (line 1): reach outside (url:u), asks first',
        'would call x.run({"command":"make"}) (line 1): have effects that cannot be told in advance, but a rule denies it (deny x.run)',
    ]


async def test_nobody_is_asked_and_nothing_is_counted() -> None:
    setup = Setup(mode="dry_run")
    async with talking(*World().tools(), setup=setup) as session:
        outcome = await session.run(caught("tools.x.write('a')"))
        assert outcome.decisions == () and session._ground.on.purses[0].calls == 0


async def test_secrets_and_long_arguments_stay_out_of_the_report() -> None:
    setup = Setup(mode="dry_run", secrets={"KEY": "s3cr3t-value-of-the-shop"})
    async with talking(*World().tools(), setup=setup) as session:
        outcome = await session.run(together("tools.x.run('use s3cr3t-value-of-the-shop')", "tools.x.run('x'.repeat(9000))"))
    assert "s3cr3t" not in outcome.text and len(outcome.text) < 800


async def test_many_effects_are_counted_after_twenty() -> None:
    async with talking(*World().tools(), setup=Setup(mode="dry_run")) as session:
        outcome = await session.run("for (let i = 0; i < 30; i++) try { await tools.x.run('x' + i) } catch {}\nreturn 1")
    assert outcome.text.count("would call x.run") == 20 and "and 10 more calls with effects" in outcome.text


async def test_one_dry_run_does_not_make_the_next_turn_one() -> None:
    world = World()
    async with talking(*world.tools()) as session:
        await session.run(caught("tools.x.run('a')"), mode="dry_run")
        assert (await session.run("return await tools.x.run('a')")).value == "ran"


async def test_a_mode_that_there_is_not_runs_nothing() -> None:
    """`dry-run` with a hyphen must not be taken for `enabled`."""
    world = World()
    async with talking(*world.tools()) as session:
        with pytest.raises(ValueError, match="there is no mode 'dry-run'; choose enabled, dry_run, disabled"):
            await session.run("return await tools.x.run('a')", mode="dry-run")  # type: ignore[arg-type]
    assert world.done == []
