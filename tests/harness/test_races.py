"""Calls made together: what touches the same runs in the order of the script, what does not runs at once.

A round is one script whose calls are all made before the first of them ends. What each call must give follows from the order of
the script alone, so every result is compared with the one that the model of the files says; a lost update, a half-written file, a
read before its write all differ from it.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from anyio.lowlevel import checkpoint

from catalog import tool
from harness import Harness, Session, Setup, TurnOutcome
from harness.approval import Policy, allowing
from harness.limits import TurnLimits
from sandbox import Pool

pytestmark = pytest.mark.anyio

NAMES = ("a.txt", "b.txt", "sub/c.txt")
FILLER_LINES = 400  # every one names its version: a mixture of two shows
SETUP = Setup(turn=TurnLimits(repeats=1), policy=Policy(allowing(["*"])))
PACKS = ("files", "patch", "shell", "search")
SED = 'sed -i "1s/.*/count = $2/" "$1"\n'  # in files of their own, because the pack knows such commands and points to patch
SLOW = 't=$(tail -n +2 "$1")\necho "count = $2" > "$1"\nprintf "%s\\n" "$t" >> "$1"\n'
CAUGHT = "const caught = p => p.then(ok => ({ ok }), e => ({ failed: `${e.name}: ${e.message}` }));\n"


def text_of(version: str, count: int) -> str:
    filler = "".join(f"{version} {line}\n" for line in range(FILLER_LINES))
    return f"count = {count}\n{filler}end {version}\n"


def is_whole(text: str) -> bool:
    first, *filler, last = text.splitlines()
    return (
        first.startswith("count = ")
        and len(filler) == FILLER_LINES
        and len({line.split()[0] for line in [*filler, last[4:]]}) == 1
    )


@asynccontextmanager
async def harness_at(root: Path, *, setup: Setup = SETUP, tools: Any = None) -> AsyncIterator[Harness]:
    (root / "sub").mkdir(parents=True)
    for name in NAMES:
        (root / name).write_text(text_of("v0", 0))
    (root / "sed.sh").write_text(SED)
    (root / "slow.sh").write_text(SLOW)
    async with Pool(workers=2, reuse=True) as pool, Harness(PACKS, tools, root=root, setup=setup, pool=pool) as harness:
        yield harness


@dataclass(slots=True)
class Round:
    """Calls as they are made, and what each must give. `held`: what a call touches, and whether it writes."""

    chance: random.Random
    files: dict[str, tuple[str, int]]  # version and count
    calls: list[str] = field(default_factory=list)
    expected: list[Any] = field(default_factory=list)
    held: list[tuple[frozenset[str], bool]] = field(default_factory=list)

    def add(self) -> None:
        name = self.chance.choice(NAMES)
        version, count = self.files[name]
        match self.chance.choice(
            ("replace", "edit", "apply", "apply_two", "write", "sed", "slow", *["read"] * 4, "stat", "grep", "head")
        ):
            case "replace":
                self._counted(name, "tools.patch.replace", name, f"count = {count}\n", f"count = {count + 1}\n")
            case "edit":
                edits = [{"old": f"count = {count}\n", "new": "count = ?\n"}, {"old": "count = ?", "new": f"count = {count + 1}"}]
                self._counted(name, "tools.patch.edit", name, edits)
            case "apply":
                self._counted(name, "tools.patch.apply", f"*** Begin Patch\n{self._hunk(name)}*** End Patch")
            case "apply_two":
                self._apply_two(*self.chance.sample(NAMES, 2))
            case "write":
                fresh = f"v{self.chance.randrange(10**6)}"
                self.files[name] = (fresh, count + 1)
                self._call(
                    {name}, True, None, "tools.patch.write", {"path": name, "text": text_of(fresh, count + 1), "overwrite": True}
                )
            case "sed":
                self.files[name] = (version, count + 1)
                self._call(set(NAMES), True, "", "shell", f"bash ./sed.sh {name} {count + 1}")
            case "slow":  # truncates, then writes in two parts
                self.files[name] = (version, count + 1)
                self._call(set(NAMES), True, "", "shell", f"bash ./slow.sh {name} {count + 1}")
            case "read":
                self._call({name}, False, text_of(version, count), "text", name)
            case "stat":
                self._call({name}, False, len(text_of(version, count)), "bytes", name)
            case "grep":
                rows = [[each, f"count = {self.files[each][1]}"] for each in sorted(NAMES)]
                self._call(set(NAMES), False, rows, "rows", {"pattern": "^count = ", "context": self.chance.randrange(2)})
            case "head":
                self._call(set(NAMES), False, f"count = {count}\n", "shell", f"head -n 1 {name}")

    def _counted(self, name: str, *call: Any) -> None:
        version, count = self.files[name]
        self.files[name] = (version, count + 1)
        self._call({name}, True, None, *call)

    def _hunk(self, name: str) -> str:
        count = self.files[name][1]
        return f"*** Update File: {name}\n@@\n-count = {count}\n+count = {count + 1}\n"

    def _apply_two(self, one: str, other: str) -> None:
        patch = f"*** Begin Patch\n{self._hunk(one)}{self._hunk(other)}*** End Patch"
        for name in (one, other):
            self.files[name] = (self.files[name][0], self.files[name][1] + 1)
        self._call({one, other}, True, None, "tools.patch.apply", patch)

    def _call(self, touched: set[str], writes: bool, expected: Any, function: str, *args: Any) -> None:
        self.calls.append(f"{function}({', '.join(orjson.dumps(arg).decode() for arg in args)})")
        self.expected.append(expected)
        self.held.append((frozenset(touched), writes))

    def script(self) -> str:
        short = """const text = async path => { const r = await tools.files.read({ path }); return r.text + "\\n" };
const bytes = async path => (await tools.files.stat(path)).bytes;
const shell = async command => (await tools.shell.run({ command })).output;
const rows = async q => (await tools.search.grep(q)).files.map(f => [f.path, f.matches[0].text]);
"""
        return f"{CAUGHT}{short}await Promise.all([\n" + ",\n".join(f"caught({call})" for call in self.calls) + "\n])"

    def check(self, outcome: TurnOutcome) -> None:
        assert outcome.ok, outcome.error
        for call, expected, found in zip(self.calls, self.expected, outcome.value, strict=True):
            assert "failed" not in found, (call[:200], found)
            assert expected is None or found["ok"] == expected, call[:200]
        order = {command.call_id: place for place, command in enumerate(outcome.settled)}
        places = [order[number] for number in sorted(order)]
        for later, (touched, writes) in enumerate(self.held):
            for earlier, (others, wrote) in enumerate(self.held[:later]):
                if touched & others and (writes or wrote):
                    assert places[earlier] < places[later], (self.calls[earlier][:80], self.calls[later][:80])


async def race(session: Session, root: Path, *, seeds: range) -> None:
    files = dict.fromkeys(NAMES, ("v0", 0))
    for seed in seeds:
        chance = random.Random(seed)
        one = Round(chance, files)
        for _ in range(chance.randint(4, 16)):
            one.add()
        one.check(await session.run(one.script()))
        assert {name: (root / name).read_text() for name in NAMES} == {name: text_of(*files[name]) for name in NAMES}


async def rounds(tmp_path: Path, seeds: range) -> None:
    for part in range(seeds.start, seeds.stop, 50):
        root = tmp_path / str(part)
        async with harness_at(root) as harness, harness.session() as session:
            await race(session, root, seeds=range(part, min(part + 50, seeds.stop)))


async def test_calls_made_together_give_what_the_order_of_the_script_says(tmp_path: Path) -> None:
    await rounds(tmp_path, range(30))


@pytest.mark.slow
async def test_a_thousand_rounds_give_what_the_order_of_the_script_says(tmp_path: Path) -> None:
    await rounds(tmp_path, range(1_000, 2_000))


async def test_scripts_of_two_sessions_never_see_half_a_file_and_lose_nothing_in_files_of_their_own(tmp_path: Path) -> None:
    """On one file they race: each call is whole, or told that the file changed; who is last wins."""
    root = tmp_path / "root"

    async def work(session: Session, own: str, other: str) -> None:
        version = own[0] * 3
        shared = orjson.dumps({"path": "b.txt", "text": text_of(version, 7), "overwrite": True}).decode()
        for turn in range(6):
            counts = range(turn * 3, turn * 3 + 3)
            edits = [f'tools.patch.replace("{own}", "count = {n}\\n", "count = {n + 1}\\n")' for n in counts]
            reads = [f'tools.files.read("{name}")' for name in (other, "b.txt", own)]
            calls = ", ".join(
                f"caught({call})" for call in [edits[0], f"tools.patch.write({shared})", *reads, *edits[1:], *reads]
            )
            outcome = await session.run(f"{CAUGHT}await Promise.all([{calls}])")
            assert outcome.ok, outcome.error
            written = outcome.value.pop(1)
            assert "ok" in written or written["failed"].startswith("changed: "), written
            assert all("ok" in found for found in outcome.value), outcome.value
            assert all(is_whole(found["ok"]["text"]) for found in outcome.value if "text" in found["ok"])
            counted = [outcome.value[place]["ok"]["text"].split("\n")[0] for place in (3, 8)]
            assert counted == [f"count = {turn * 3 + 1}", f"count = {turn * 3 + 3}"]

    async with (
        harness_at(root) as harness,
        harness.session() as one,
        harness.session() as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(work, one, "a.txt", "sub/c.txt")
        tasks.start_soon(work, other, "sub/c.txt", "a.txt")
    assert [(root / name).read_text() for name in ("a.txt", "sub/c.txt")] == [text_of("v0", 18)] * 2
    assert is_whole((root / "b.txt").read_text())


async def test_edits_of_one_file_by_two_sessions_are_both_kept_or_the_later_is_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    lines = {"one": 0, "other": 0}

    async def work(session: Session, who: str) -> None:
        for turn in range(25):
            patch = f"*** Begin Patch\n*** Update File: a.txt\n@@\n+{who} {turn}\n*** End Patch"
            outcome = await session.run(f"{CAUGHT}await caught(tools.patch.apply({orjson.dumps(patch).decode()}))")
            lines[who] += "ok" in outcome.value
            assert "ok" in outcome.value or outcome.value["failed"].startswith("changed: "), outcome.value

    async with (
        harness_at(root) as harness,
        harness.session() as one,
        harness.session() as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(work, one, "one")
        tasks.start_soon(work, other, "other")
    text = (root / "a.txt").read_text()
    assert {who: text.count(f"{who} ") for who in lines} == lines and sum(lines.values()) >= 25


# ------------------------------------------------------------ names that are not equal, but meet


async def test_who_makes_a_folder_is_waited_for_by_who_looks_at_it(tmp_path: Path) -> None:
    async with harness_at(tmp_path / "root") as harness, harness.session() as session:
        for turn in range(10):
            source = f'await Promise.all([tools.patch.write("new{turn}/x", "1"), tools.files.stat("new{turn}")])'
            outcome = await session.run(source)
            assert outcome.ok and outcome.value[1]["kind"] == "dir", outcome.error


async def test_a_listing_behind_a_change_of_the_rules_above_it_goes_by_them(tmp_path: Path) -> None:
    async with harness_at(tmp_path / "root") as harness, harness.session() as session:
        for turn in range(10):
            rules = ("*.txt\n", "*.md\n")[turn % 2]
            write = f'tools.patch.write({{path: ".gitignore", text: {orjson.dumps(rules).decode()}, overwrite: true}})'
            outcome = await session.run(f'(await Promise.all([{write}, tools.files.list("sub")]))[1].entries.length')
            assert outcome.value == turn % 2, outcome.error


async def test_edits_by_two_names_of_one_file_are_both_kept(tmp_path: Path) -> None:
    root = tmp_path / "root"
    async with harness_at(root) as harness, harness.session() as session:
        (root / "link.txt").symlink_to("a.txt")
        (root / "folder").symlink_to("sub")
        for turn in range(10):
            for name in ("a.txt", "sub/c.txt"):
                (root / name).write_text("one\ntwo\nthree\n")
            source = """await Promise.all([
tools.patch.replace("a.txt", "one", "1"), tools.patch.replace("link.txt", "two", "2"), tools.patch.replace("a.txt", "three", "3"),
tools.patch.replace("folder/c.txt", "one", "1"), tools.patch.replace("sub/c.txt", "two", "2"), tools.files.read("folder/c.txt"),
])"""
            outcome = await session.run(source)
            assert outcome.ok, outcome.error
            assert outcome.value[-1]["text"] == "1\n2\nthree", turn
            assert (root / "a.txt").read_text() == "1\n2\n3\n", turn


# ------------------------------------------------------------ how many at once


@dataclass(slots=True)
class Crowd:
    """Tools that count how many of them run, and wait until so many do."""

    wanted: int
    running: int = 0
    most: int = 0
    log: list[str] = field(default_factory=list)
    met: anyio.Event = field(default_factory=anyio.Event)

    async def _work(self, name: str, wanted: int) -> str:
        self.log.append(f"{name} begins")
        self.running += 1
        self.most = max(self.most, self.running)
        if self.running >= wanted:
            self.met.set()
        await self.met.wait()
        for _ in range(20):  # room for others to come in, were they let
            await checkpoint()
        self.running -= 1
        self.log.append(f"{name} ends")
        return name

    @property
    def tools(self) -> dict[str, Any]:
        @tool(effect="writes", writes=["file:{path}"])
        async def write(path: str) -> str:
            return await self._work(f"write {path}", self.wanted)

        @tool(reads=["file:{path}"])
        async def read(path: str, by: int = 0) -> str:
            return await self._work(f"read {path}", self.wanted)

        async def unknown(n: int) -> str:
            return await self._work(f"unknown {n}", 1)

        return {"x.read": read, "x.write": write, "x.unknown": unknown}


async def crowded(tmp_path: Path, calls: str, *, wanted: int) -> Crowd:
    crowd = Crowd(wanted)
    async with harness_at(tmp_path / "root", tools=crowd.tools) as harness, harness.session() as session:
        with anyio.fail_after(30):
            outcome = await session.run(f"await Promise.all([{calls}].flat())")
    assert outcome.ok, outcome.error
    return crowd


NUMBERS = "[...Array(20).keys()]"


@pytest.mark.parametrize(
    ("calls", "at_once"),
    [
        (NUMBERS + ".map(n => tools.x.write(`${n}`))", 8),
        (NUMBERS + ".map(n => tools.x.read(`${n}`))", 8),
        (NUMBERS + '.map(n => tools.x.read("same", n))', 8),
        (NUMBERS + '.map(n => n % 2 ? tools.x.read("same", n) : tools.x.read(`${n}`))', 8),
        (NUMBERS + '.map(n => tools.x.write("same"))', 1),
        (NUMBERS + '.map(n => tools.x.write(n % 2 ? "same" : `same/${n}`))', 1),
        (NUMBERS + ".map(n => tools.x.unknown(n))", 1),
    ],
    ids=["writes apart", "reads apart", "reads of one", "reads mixed", "writes of one", "a name and names below it", "unknown"],
)
async def test_so_many_calls_run_at_once(tmp_path: Path, calls: str, at_once: int) -> None:
    """Eight of them wait for each other: were fewer let in, none would end."""
    assert (await crowded(tmp_path, calls, wanted=at_once)).most == at_once


async def test_a_write_waits_for_earlier_reads_and_later_reads_wait_for_it(tmp_path: Path) -> None:
    calls = 'tools.x.read("f", 1), tools.x.read("f", 2), tools.x.write("f"), tools.x.read("f", 3), tools.x.read("f", 4)'
    crowd = await crowded(tmp_path, calls, wanted=2)
    places = [place for place, said in enumerate(crowd.log) if said.startswith("write f")]
    assert places == [4, 5] and crowd.log[4] == "write f begins", crowd.log


async def test_unknown_effects_are_a_barrier(tmp_path: Path) -> None:
    crowd = await crowded(tmp_path, 'tools.x.read("a"), tools.x.write("b"), tools.x.unknown(1), tools.x.read("c")', wanted=2)
    assert crowd.log[4:] == ["unknown 1 begins", "unknown 1 ends", "read c begins", "read c ends"]
