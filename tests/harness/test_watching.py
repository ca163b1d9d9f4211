"""Those who watch a session: what they are told, in which order, and that they change nothing."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import load_pack, tool
from harness import Answer, Harness, MemoryStore, Request, Setup
from harness.entries import Ended
from harness.watching import (
    Answered,
    Asked,
    CallBegan,
    CallEnded,
    CallProgressed,
    Happened,
    TurnBegan,
    TurnEnded,
    TurnYielded,
)

pytestmark = pytest.mark.anyio
SECRET = "sesame-9f8a7b6c5d4e"


@tool(effect="pure")
async def echo(text: str) -> str:
    return text


@tool(writes=["thing:{name}"], approval=True)
async def act(name: str) -> str:
    return f"acted on {name}"


TOOLS = {"x.echo": echo, "x.act": act}


class Yes:
    async def decide(self, requests: Sequence[Request]) -> list[Answer]:
        return [Answer(request=one.id, verdict="allow") for one in requests]


class Breaks:
    async def decide(self, requests: Sequence[Request]) -> list[Answer]:
        raise OSError("nobody home")


def names(told: Sequence[Happened]) -> list[str]:
    return [type(one).__name__ for one in told]


async def test_a_turn_is_told_from_its_beginning_to_its_end() -> None:
    told: list[Happened] = []
    async with Harness(tools=TOOLS, approver=Yes(), watch=told.append) as harness, harness.session("s") as session:
        script = "const a = await tools.x.echo('one');\nreturn [a, await tools.x.act({ name: 'two' })]"
        outcome = await session.run(script)
    echoed, acted = outcome.calls
    asked, answered = told[4], told[5]
    assert isinstance(asked, Asked) and isinstance(answered, Answered)
    (request,) = asked.requests
    assert (request.tool, request.call, request.shown) == ("x.act", "T1 call 2", {"name": "two"})
    of: dict[str, Any] = {"session": "s", "turn": 1}
    assert told == [
        TurnBegan(script=script, **of),
        CallBegan(call=1, tool="x.echo", line=1, shown={"text": "one"}, arguments={"text": "one"}, **of),
        CallEnded(record=echoed, **of),
        CallBegan(call=2, tool="x.act", line=2, shown={"name": "two"}, arguments={"name": "two"}, **of),
        Asked(requests=(request,), **of),
        Answered(requests=(request,), answers=(Answer(request=request.id, verdict="allow"),), **of),
        CallEnded(record=acted, **of),
        TurnEnded(outcome=outcome, **of),
    ]
    assert told[-2].call == 2  # type: ignore[union-attr]


async def test_calls_made_together_begin_in_the_order_of_the_script_and_are_asked_for_together() -> None:
    told: list[Happened] = []
    async with Harness(tools=TOOLS, approver=Yes(), watch=told.append) as harness, harness.session() as session:
        await session.run("return await Promise.all(['a', 'b'].map((name) => tools.x.act({ name })))")
    assert names(told) == ["TurnBegan", "CallBegan", "CallBegan", "Asked", "Answered", "CallEnded", "CallEnded", "TurnEnded"]
    assert [one.call for one in told if isinstance(one, CallBegan)] == [1, 2]
    assert [len(one.requests) for one in told if isinstance(one, Asked | Answered)] == [2, 2]


@pytest.mark.parametrize("approver", [None, Breaks()], ids=["nobody", "one that breaks"])
async def test_an_answer_that_does_not_come_is_told_as_no_answer(approver: Any) -> None:
    told: list[Happened] = []
    async with Harness(tools=TOOLS, approver=approver, watch=told.append) as harness, harness.session() as session:
        await session.run("return await tools.x.act('it').catch((e) => e.name)")
    assert [one.answers for one in told if isinstance(one, Answered)] == [()]
    assert [one.record.outcome.status for one in told if isinstance(one, CallEnded)] == ["denied"]


async def test_arguments_for_peoples_eyes_have_no_secrets() -> None:
    told: list[Happened] = []
    setup = Setup(secrets={"DOOR": SECRET})
    async with Harness(tools=TOOLS, setup=setup, watch=told.append) as harness, harness.session() as session:
        await session.run(f"return await tools.x.echo('say {SECRET}')")
    (began,) = (one for one in told if isinstance(one, CallBegan))
    assert SECRET not in str(began.shown) and "DOOR" in str(began.shown)
    assert began.arguments == {"text": f"say {SECRET}"} and SECRET not in repr(began)


SLOW = '''"""Takes as long as it is told."""
import anyio
from catalog import Host, tool
class Work:
    def __init__(self, host: Host) -> None:
        self.host, self.said, self.go_on = host, anyio.Event(), anyio.Event()
        WORKS.append(self)
WORKS = []
async def open(settings: dict, host: Host) -> Work:
    return Work(host)
@tool(reads=["clock:now"])
async def work(thing: Work) -> int:
    """Work."""
    thing.host.progress("slow.work", "half way")
    thing.said.set()
    await thing.go_on.wait()
    return 7
'''


async def test_what_a_slow_call_says_and_the_parts_of_a_long_turn_are_told(tmp_path: Path) -> None:
    told: list[Happened] = []
    (tmp_path / "slow.py").write_text(SLOW)
    slow = load_pack("./slow.py", folder=tmp_path)
    async with Harness([slow], watch=told.append) as harness, harness.session("s") as session:
        (work,) = sys.modules["turnscript_pack_slow"].WORKS
        going = session.begin("show('first'); return await tools.slow.work()")
        await work.said.wait()
        part = await going.wait(0)
        work.go_on.set()
        while (outcome := await going.wait(1)) is None:
            pass
    assert names(told) == ["TurnBegan", "CallBegan", "CallProgressed", "TurnYielded", "CallEnded", "TurnEnded"]
    assert told[2] == CallProgressed(session="s", turn=1, tool="slow.work", text="half way")
    assert told[3] == TurnYielded(session="s", turn=1, part=part)  # type: ignore[arg-type]
    assert told[5] == TurnEnded(session="s", turn=1, outcome=outcome)  # type: ignore[arg-type]


async def test_a_turn_that_the_host_stops_ends_without_an_outcome() -> None:
    told: list[Happened] = []
    started, store = anyio.Event(), MemoryStore()

    @tool(reads=["clock:now"])
    async def forever() -> None:
        started.set()
        await anyio.sleep_forever()

    async with Harness(tools={"x.forever": forever}, watch=told.append, store=store) as harness, harness.session("s") as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run, "await tools.x.forever()")
            await started.wait()
            tasks.cancel_scope.cancel()
        assert told[-1] == TurnEnded(session="s", turn=1, outcome=None)
        assert names(told) == ["TurnBegan", "CallBegan", "TurnEnded"]
        await session.run("return 1")
    assert names(told)[3:] == ["TurnBegan", "TurnEnded"]
    endings = [one.entry("s") for one in await store.load("s")]
    assert [one.ending.how for one in endings if isinstance(one, Ended)] == ["cancelled", "finished"]


async def test_a_call_that_was_open_when_its_script_ended_ends_as_cancelled() -> None:
    told: list[Happened] = []

    @tool(reads=["clock:now"])
    async def forever() -> None:
        await anyio.sleep_forever()

    async with Harness(tools={"x.forever": forever}, watch=told.append) as harness, harness.session() as session:
        await session.run("tools.x.forever().catch(() => 0); await sleep(1); return 1")
    assert names(told) == ["TurnBegan", "CallBegan", "CallEnded", "TurnEnded"]
    assert [one.record.outcome.status for one in told if isinstance(one, CallEnded)] == ["cancelled"]


async def test_a_call_whose_arguments_are_no_good_begins_and_ends() -> None:
    told: list[Happened] = []
    async with Harness(tools=TOOLS, watch=told.append) as harness, harness.session() as session:
        await session.run("const n = 1; return await tools.x.echo({ text: Number(n) }).catch((e) => e.name)")
    assert names(told) == ["TurnBegan", "CallBegan", "CallEnded", "TurnEnded"]
    (ended,) = (one for one in told if isinstance(one, CallEnded))
    assert (ended.record.outcome.status, ended.record.outcome.by) == ("failed", "check")


async def test_a_tool_that_is_called_directly_is_a_turn_that_says_so() -> None:
    told: list[Happened] = []
    setup = Setup(callers={"x.*": "both"})
    async with Harness(tools=TOOLS, setup=setup, watch=told.append) as harness, harness.session() as session:
        await session.call("x.echo", {"text": "a"})
    assert [one.direct for one in told if isinstance(one, TurnBegan)] == [True]
    assert names(told) == ["TurnBegan", "CallBegan", "CallEnded", "TurnEnded"]


async def test_a_session_can_have_a_watch_of_its_own_besides_the_one_of_all() -> None:
    of_all: list[Happened] = []
    of_one: list[Happened] = []
    async with Harness(tools=TOOLS, watch=of_all.append) as harness:
        async with harness.session("a") as session:
            await session.run("return 1")
        async with harness.session("b", watch=of_one.append) as session:
            await session.run("return 1")
    assert ({one.session for one in of_all}, {one.session for one in of_one}) == ({"a", "b"}, {"b"})


async def test_a_watch_that_raises_changes_nothing() -> None:
    heard: list[Happened] = []

    def breaks(happened: Happened) -> None:
        heard.append(happened)
        raise RuntimeError("a display that is gone")

    script = "show(await tools.x.echo('one')); return await tools.x.act('two')"
    stores = MemoryStore(), MemoryStore()
    texts = []
    for store, watch in zip(stores, (None, breaks), strict=True):
        async with Harness(tools=TOOLS, approver=Yes(), store=store, watch=watch) as harness, harness.session("s") as session:
            outcome = await session.run(script)
            texts.append((outcome.text, outcome.value, outcome.notices, [one.outcome.status for one in outcome.calls]))
    assert texts[0] == texts[1]
    kept = [[one.line.type for one in await store.load("s")] for store in stores]
    assert kept[0] == kept[1]
    assert names(heard)[0] == "TurnBegan" and names(heard)[-1] == "TurnEnded" and len(heard) == 8
