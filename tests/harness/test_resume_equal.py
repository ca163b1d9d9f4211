"""A session that is closed and resumed after every turn shows the model the same as one that never stopped."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import Pack, pack, tool
from harness import Answer, Flags, Harness, Request, Setup
from harness.approval import Policy, Rule
from harness.guards.budget import Allowance
from harness.limits import TurnLimits
from harness.store.jsonl import JsonlStore
from sandbox import Start

pytestmark = pytest.mark.anyio

READING = [
    "show(await tools.files.read({ path: 'a.py' })); store('seen', ['a.py'])",
    "show(await tools.files.read({ path: 'a.py', lines: [[10, 60]] })); return load('seen')",
    "const found = await tools.search.grep({ pattern: 'value 1' }); show(found); store('found', found.files)",
    "show('x'.repeat(9_000)); console.log('printed'); return { n: [1, 2, 3] }",
    "show((await recall('T4.1')).length); return await recall('T4.3')",
    "throw new Error('a script that fails')",
    "await relax('to see more'); show(await tools.files.read({ path: 'b.py' }))",
    "store('seen', undefined); return [load('seen') ?? null, load('found').length, budget.tools, context.turn]",
    "show(await tools.files.read({ path: 'a.py' })); show(await tools.files.read({ path: 'b.py' }))",
]
SPENDING = [
    "return [(await tools.x.fetch(1)).n, budget.tools]",
    "return [(await tools.x.fetch(2)).n, budget.tools]",
    "try { await tools.x.fetch(3) } catch (e) { return [e.name, e.message, budget.tools] }",
]
BIG = [
    "try { await tools.x.big(60_000) } catch (e) { return [e.name, e.data.handle] }",
    "return (await recall('r1')).length",
    "try { await tools.x.big(70_000) } catch (e) { return [e.name, e.data.handle] }",
]
PLANNED = [
    "return await tools.reads.plan({ files: [{ path: 'a.py', ranges: [[1, 20], [30, 40]] }], bytes: 4_000 })",
    "show(await tools.files.read({ path: 'a.py', lines: [[1, 20]] }))",
    "try { await tools.files.read({ path: 'b.py' }) } catch (e) { return [e.name, e.message] }",
    "show(await tools.files.read({ path: 'a.py', lines: [[30, 40]] }))",
]
ASKING = [
    "return await tools.x.write('a')",
    "return await tools.x.write('a')",
    "try { return await tools.x.write('no') } catch (e) { return [e.name, e.message] }",
    "try { return await tools.x.write('no') } catch (e) { return [e.name, e.message] }",
]

REPEATING = ["return await tools.x.fetch(1).then((v) => v.n, (e) => e.name)"] * 4
LEAVING = [
    "const left = tools.x.never().catch(() => 0); await tools.x.fetch(1); return typeof left",
    "return [budget.tools, await tools.x.never().catch((e) => e.message)]",
]
RECALLING = [
    "show('y'.repeat(30_000))",
    "return (await recall('T1.1')).length",
    "return await recall('T1.1').then((v) => v.length, (e) => e.message)",
]
DENIED = [
    "show(await tools.files.read({ path: 'a.py' }))",
    "await tools.x.change('a.py').catch((e) => show(e.name))",
    "show(await tools.files.read({ path: 'a.py' }))",
]


class Once:
    """Says yes or no for the session, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def decide(self, requests: Sequence[Request]) -> list[Answer]:
        self.asked += len(requests)
        return [
            Answer(request=one.id, verdict="deny" if "no" in str(one.arguments) else "allow", remember="arguments")
            for one in requests
        ]


def own_pack() -> Pack:
    @tool(effect="external", reads=["net:{n}"])
    async def fetch(n: int) -> dict[str, int]:
        return {"n": n}

    @tool(effect="external", reads=["net:{n}"])
    async def big(n: int) -> str:
        return "b" * n

    @tool(writes=["thing:{name}"], approval=True)
    async def write(name: str) -> str:
        return f"wrote {name}"

    @tool(writes=["file:{path}"])
    async def change(path: str) -> str:
        return f"changed {path}"

    @tool(effect="reads", reads=["net:never"])
    async def never() -> None:
        await anyio.sleep_forever()

    return pack("x", [fetch, big, write, change, never], doc="Of this test.")


CASES: dict[str, tuple[list[str], Setup]] = {
    "reading": (READING, Setup()),
    "without trimming": (READING, Setup(flags=Flags(overlap_trim=False))),
    "budget of a tool": (SPENDING, Setup(session_budget={"x.fetch": Allowance(calls=2)})),
    "kept results": (BIG, Setup(turn=TurnLimits(turn_result_bytes=50_000))),
    "plan": (PLANNED, Setup(plan_reads=True)),
    "results that repeat": (REPEATING, Setup()),
    "calls that were left open": (LEAVING, Setup(session_budget={"x.never": Allowance(calls=1)})),
    "recalled bytes": (RECALLING, Setup(turn=TurnLimits(session_result_bytes=50_000))),
    "a write that was denied": (DENIED, Setup(policy=Policy((Rule(tool="x.change", then="deny"),)))),
    "answers for the session": (ASKING, Setup(policy=Policy((Rule(tool="x.write", then="ask"),)))),
}


def folder_with_files(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("\n".join(f"def value_{n}(): return {n}  # value {n}" for n in range(1, 90)) + "\n")
    (folder / "b.py").write_text("\n".join(f"other line {n} of another file, value {n}" for n in range(1, 50)) + "\n")
    return folder


@pytest.mark.parametrize("name", CASES)
async def test_resumed_after_every_turn_or_never_stopped_shows_the_same(tmp_path: Path, name: str) -> None:
    scripts, setup = CASES[name]
    root = folder_with_files(tmp_path / "root")
    start = Start(source="", now=1_000.0)
    whole_approver, parts_approver = Once(), Once()
    packs: list[Any] = ["files", "search", own_pack()]
    async with Harness(packs, root=root, setup=setup, approver=whole_approver) as harness, harness.session("s") as session:
        whole = [await session.run(script, start=start, limits={"turn_seconds": 600}) for script in scripts]
        whole_ledger, whole_view = session.ledger, session.transcript()
    store = JsonlStore(tmp_path / "sessions")
    parts = []
    async with Harness(packs, root=root, setup=setup, approver=parts_approver, store=store) as harness:
        for at, script in enumerate(scripts):
            async with harness.session("s", resume=at > 0) as session:
                parts.append(await session.run(script, start=start, limits={"turn_seconds": 600}))
                parts_ledger, parts_view = session.ledger, session.transcript()
    assert [one.text for one in parts] == [one.text for one in whole]
    assert parts_view == whole_view and parts_approver.asked == whole_approver.asked
    assert _counted(parts_ledger) == _counted(whole_ledger)
    shutil.rmtree(root)


def _counted(ledger: Any) -> dict[str, Any]:
    return {name: value for name, value in ledger.as_json().items() if not name.endswith("_seconds")}


async def test_a_forgotten_turn_between_two_processes(tmp_path: Path) -> None:
    root = folder_with_files(tmp_path / "root")
    store = JsonlStore(tmp_path / "sessions")
    texts = []
    async with Harness(["files", "search"], root=root, store=store) as harness:
        for at, script in enumerate([*READING[:3], *READING[:3]]):
            async with harness.session("s", resume=at > 0) as session:
                texts.append((await session.run(script)).text)
                if at == 2:
                    await session.forget([1])
    async with Harness(["files", "search"], root=root) as harness, harness.session("t") as session:
        for at, script in enumerate([*READING[:3], *READING[:3]]):
            assert (await session.run(script)).text == texts[at]
            if at == 2:
                await session.forget([1])
    await anyio.lowlevel.checkpoint()
