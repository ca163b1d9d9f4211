"""No stale value is served: what a script gets is what the tool itself gives at that moment.

An interleaving is one script of random steps: reads, most of them asked before, and changes by tools, by commands and behind our
back. Those last are made by a tool that declares to touch nothing. After each read the same function is called past all guards,
and the two results must be equal.
"""

import os
import random
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from anyio.lowlevel import checkpoint

from catalog import Host, Toolbox, ToolProblem, open_toolbox, tool
from harness import Harness, Session, Setup
from harness.approval import Policy, allowing
from harness.cache import Freshness
from harness.guards.cache import Cache
from harness.limits import TurnLimits
from harness.offers import offer_of
from harness.setup import Flags
from sandbox import Pool

pytestmark = pytest.mark.anyio

PACKS = ("files", "patch", "shell", "search")
SETUP = Setup(turn=TurnLimits(repeats=1, session_calls=1_000_000), policy=Policy(allowing(["*"])))
FILES = ("a.txt", "b.txt", "sub/c.txt", "sub/d.txt")
READS: list[tuple[str, dict[str, Any]]] = [
    *(("files.read", {"path": path}) for path in (*FILES, "link", "folder/c.txt")),
    ("files.read", {"path": "a.txt", "ranges": [[1, 1]]}),
    *(("files.stat", {"path": path}) for path in ("a.txt", "link", "sub")),
    *(("files.list", {"path": path, "depth": 3}) for path in (".", "sub", "folder")),
    ("search.grep", {"pattern": "x"}),
    ("search.grep", {"pattern": "y", "path": "sub"}),
    ("search.glob", {"pattern": "*.txt", "newest": True}),
]
QUICK = [read for read in READS if not read[0].startswith("search.")]
CAUGHT = "const out = []; const caught = p => p.then(ok => ({ ok }), e => ({ failed: [e.name, e.message] }));\n"
# 20 ms is more than a tick of Linux; in tests nothing grows as old as the usual slack, and the stamps alone would never be trusted.
SHORT_SLACK_NS = 20_000_000


@pytest.fixture(params=[None, SHORT_SLACK_NS], ids=["young stamps", "old stamps"])
def slack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param is not None:
        monkeypatch.setattr("harness.ongoing.Freshness", partial(Freshness, slack_ns=request.param))
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))


def fresh_root(root: Path) -> Path:
    for folder in ("sub", "other"):
        (root / folder).mkdir(parents=True)
    for name in (*FILES, "other/c.txt"):
        (root / name).write_text("xyz\nzzz\n")
    (root / "link").symlink_to("a.txt")
    (root / "folder").symlink_to("sub")
    (root / "hard.txt").hardlink_to(root / "b.txt")
    return root


# ------------------------------------------------------------ behind our back


def same_size(path: Path, chance: random.Random) -> None:
    """In place, in one step."""
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), bytes(chance.choice(b"xyz") for _ in range(3)), 0)


def time_set_back(path: Path, chance: random.Random) -> None:
    facts = path.stat()
    same_size(path, chance)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def renamed_over(path: Path, chance: random.Random) -> None:
    """Another file of the same size and times."""
    other = path.with_name(".other")
    shutil.copy2(path, other)
    time_set_back(other, chance)
    other.replace(path)


def cut_and_grown(path: Path, chance: random.Random) -> None:
    os.truncate(path, 3)
    with path.open("a") as file:
        file.write("\n" + "xyz"[chance.randrange(3)] * 3 + "\n")


def exchanged(path: Path, chance: random.Random) -> None:
    other, aside = path.parent / ("d.txt" if path.parent.name == "sub" else "b.txt"), path.with_name(".aside")
    path.replace(aside)
    if other != path:
        other.replace(path)
    aside.replace(other)


def retargeted(path: Path, chance: random.Random) -> None:
    root = path.parent if path.parent.name != "sub" else path.parent.parent
    name, targets = chance.choice([("link", ["a.txt", "b.txt", "sub/c.txt", "nowhere"]), ("folder", ["sub", "other"])])
    new = root / ".new"
    new.symlink_to(chance.choice(targets))
    new.replace(root / name)


def ruled(path: Path, chance: random.Random) -> None:
    root = path.parent if path.parent.name != "sub" else path.parent.parent
    (root / ".gitignore").write_text(chance.choice(["b.txt\n", "*.md\n", "sub/\n", "c.txt\n"]))


def made_anew(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.write_text(chance.choice(["xyz\nzzz\n", "zyx\nzzz\n"]))


BEHIND: list[Callable[[Path, random.Random], None]] = [
    same_size,
    time_set_back,
    renamed_over,
    cut_and_grown,
    exchanged,
    retargeted,
    ruled,
    lambda path, chance: path.chmod(chance.choice([0o600, 0o640, 0o644])),
    lambda path, chance: os.utime(path, ns=(10**18, chance.randrange(10**18))),
    made_anew,
]


# ------------------------------------------------------------ one interleaving


@dataclass(slots=True)
class World:
    """`at` is the step that the script is at; what the tools themselves gave is noted under it."""

    root: Path
    truths: dict[int, list[Any]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    acts: list[Callable[[], None]] = field(default_factory=list)
    direct: Toolbox | None = None

    @property
    def tools(self) -> dict[str, Any]:
        @tool(effect="external", reads=["step:{step}"])
        async def act(step: int) -> None:
            self.acts[step]()

        @tool(effect="external", reads=["step:{step}"])
        async def truth(step: int, read: int) -> None:
            self.truths.setdefault(step, []).append(await self._truth(*self.asked[read]))

        return {"outside.act": act, "outside.truth": truth}

    async def _truth(self, name: str, args: dict[str, Any]) -> Any:
        assert self.direct is not None
        try:
            return {"ok": await self.direct.call(name, self.direct.bind(name, [args]))}
        except ToolProblem as problem:
            return {"failed": [problem.code, problem.message]}


class Interleaving:
    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._chance = random.Random(seed)
        self._lines: list[str] = []
        # What each value that the script gives must be among: of these truths of that step. None: all of them.
        self._wanted: list[tuple[int, slice]] = []
        self._steps = 0
        self._favourites = self._chance.sample(READS if seed % 3 == 0 else QUICK, 3)

    def script(self) -> str:
        self._world.truths.clear()
        self._world.asked.clear()
        self._world.acts.clear()
        for _ in range(self._chance.randint(5, 10)):
            self._world.acts.append(lambda: None)
            match self._chance.choices(
                ("read", "behind", "tool", "shell", "write between", "behind during"), (12, 3, 2, 0.4, 1, 1)
            )[0]:
                case "read":
                    self._read(self._some())
                case "behind":
                    self._act(self._chance.choice(BEHIND))
                    self._lines.append(f"await tools.outside.act({self._steps});")
                case "tool":
                    self._lines.append(f"await caught({self._patch(self._chance.choice(FILES))});")
                case "shell":
                    path, text = self._chance.choice(FILES), "".join(self._chance.choices("xyz", k=3))
                    self._lines.append(f"await tools.shell.run({_json(f'bash ./put.sh {path} {text}')});")
                case "write between":
                    self._write_between()
                case "behind during":
                    self._behind_during()
            self._steps += 1
        return CAUGHT + "\n".join(self._lines) + "\nreturn out"

    def check(self, values: list[Any]) -> None:
        assert len(values) == len(self._wanted)
        for value, (step, among) in zip(values, self._wanted, strict=True):
            truths = self._world.truths[step][among]
            assert value in truths, (step, value, truths, "\n".join(self._lines))

    def _some(self) -> tuple[str, dict[str, Any]]:
        if self._chance.random() < 0.8:
            return self._chance.choice(self._favourites)
        return self._chance.choice(QUICK)

    def _read(self, read: tuple[str, dict[str, Any]]) -> None:
        self._lines.append(f"out.push(await caught({_call(*read)}));{self._truth(read)}")
        self._wanted.append((self._steps, slice(None)))

    def _truth(self, read: tuple[str, dict[str, Any]]) -> str:
        self._world.asked.append(read)
        return f" await tools.outside.truth({self._steps}, {len(self._world.asked) - 1});"

    def _act(self, change: Callable[[Path, random.Random], None]) -> None:
        path = self._world.root / self._chance.choice(FILES)
        self._world.acts[self._steps] = partial(change, path, random.Random(self._chance.random()))

    def _patch(self, path: str) -> str:
        text = "".join(self._chance.choices("xyz", k=3)) + "\nzzz\n"
        if self._chance.random() < 0.3:
            return f"tools.patch.replace({_json(path)}, {_json(self._chance.choice('xyz'))}, {_json(text[:1])}, {{ all: true }})"
        return f"tools.patch.write({_json({'path': path, 'text': text, 'overwrite': True})})"

    def _write_between(self) -> None:
        """Made at once: the reads before the write give what was there before it, those behind it what is there after."""
        path = self._chance.choice(FILES)
        reads = [("files.read", {"path": path}), ("files.stat", {"path": path}), ("search.grep", {"pattern": "x"})]
        read = self._chance.choices(reads, (4, 1, 1))[0]
        call = f"caught({_call(*read)})"
        made = (
            f"const [one, two, , three, four] = await Promise.all([{call}, {call}, caught({self._patch(path)}), {call}, {call}]);"
        )
        self._lines.append(f"{{{self._truth(read)} {made} out.push(one, two, three, four);{self._truth(read)} }}")
        self._wanted += [(self._steps, slice(0, 1))] * 2 + [(self._steps, slice(1, 2))] * 2

    def _behind_during(self) -> None:
        """While reads run, a change of one step: each gives what was there before or after; a read behind it all the latter."""
        self._act(same_size)
        read = self._some()
        call = f"caught({_call(*read)})"
        made = f"out.push(...(await Promise.all([{call}, tools.outside.act({self._steps}), {call}, {call}])).filter(Boolean));"
        last = f"out.push(await {call});{self._truth(read)}"
        self._lines.append(f"{{{self._truth(read)} {made} {last} }}")
        self._wanted += [(self._steps, slice(None))] * 3 + [(self._steps, slice(1, 2))]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _call(name: str, args: dict[str, Any]) -> str:
    return f"tools.{name}({_json(args)})"


@asynccontextmanager
async def opened(world: World, setup: Setup, pool: Pool) -> AsyncIterator[Harness]:
    harness = Harness(PACKS, world.tools, root=world.root, setup=setup, pool=pool)
    async with open_toolbox(offer_of(PACKS), host=Host(root=world.root)) as world.direct, harness:
        yield harness


async def interleave(tmp_path: Path, seeds: range, *, setup: Setup = SETUP, each_session: int = 20) -> Counter[str]:
    """Gives how often a result came from where."""
    sources: Counter[str] = Counter()
    world = World(fresh_root(tmp_path / "root"))
    (world.root / "put.sh").write_text('printf "%s" "$2" | dd of="$1" conv=notrunc status=none\n')
    async with Pool(workers=2, reuse=True) as pool, opened(world, setup, pool) as harness:
        for first in range(seeds.start, seeds.stop, each_session):
            async with harness.session() as session:
                for seed in range(first, min(first + each_session, seeds.stop)):
                    one = Interleaving(world, seed)
                    outcome = await session.run(one.script())
                    assert outcome.ok, outcome.error
                    one.check(outcome.value)
                    sources.update(record.outcome.source for record in outcome.calls if record.tool in dict(READS))
    return sources


def served(sources: Counter[str]) -> float:
    print(dict(sources))
    return sum(sources[name] for name in ("memory", "disk", "shared")) / sum(sources.values())


async def test_no_stale_value_is_served(tmp_path: Path, slack: None) -> None:
    sources = await interleave(tmp_path, range(75))
    assert served(sources) > 0.4 and sources["shared"]


async def test_no_stale_value_is_served_from_disk_to_sessions_in_turn(tmp_path: Path, slack: None) -> None:
    setup = Setup(turn=SETUP.turn, policy=SETUP.policy, cache_folder=tmp_path / "cache")
    sources = await interleave(tmp_path, range(1_000, 1_025), setup=setup, each_session=2)
    assert served(sources) > 0.4 and sources["disk"] > 5


@pytest.mark.slow
async def test_in_ten_thousand_interleavings_no_stale_value_is_served(tmp_path: Path, slack: None) -> None:
    """2,500 on each of two backends, with young and with old stamps; half of them by a disk."""
    setup = Setup(turn=SETUP.turn, policy=SETUP.policy, cache_folder=tmp_path / "cache")
    for part, (start, each_session) in enumerate(((10_000, 20), (20_000, 2))):
        (tmp_path / str(part)).mkdir()
        sources = await interleave(
            tmp_path / str(part), range(start, start + 1_250), setup=setup if part else SETUP, each_session=each_session
        )
        assert served(sources) > 0.4


async def test_with_and_without_a_cache_a_script_gets_the_same(tmp_path: Path, slack: None) -> None:
    world = World(fresh_root(tmp_path / "root"))
    chance = random.Random(1)
    source = CAUGHT + "".join(f"out.push(await caught({_call(*read)}));\n" for read in READS) + "return out"
    async with Pool(workers=2, reuse=True) as pool, opened(world, SETUP, pool) as harness, harness.session() as session:
        hits = 0
        for change in BEHIND:
            change(world.root / chance.choice(FILES), chance)
            async with harness.session(setup=Setup(policy=SETUP.policy, flags=Flags(cache=False))) as without:
                plain = await without.run(source)
            kept = await session.run(source)
            assert kept.value == plain.value and plain.ledger.cache_hits == plain.ledger.cache_misses == 0
            hits += kept.ledger.cache_hits
        assert hits > 20


# ------------------------------------------------------------ equal calls in flight


@dataclass(slots=True)
class Counted:
    """A tool that counts how often it ran."""

    root: Path
    times: int = 0

    @property
    def tools(self) -> dict[str, Any]:
        async def look(path: str) -> list[Any]:
            self.times += 1
            text = (self.root / path / "c.txt").read_text()
            for _ in range(20):  # time for others to come
                await checkpoint()
            return [self.times, text]

        return {"x.tree": tool(reads=["tree:{path}"])(look), "x.file": tool(reads=["file:{path}/c.txt"])(_copy_of(look))}


def _copy_of(look: Callable[[str], Any]) -> Callable[[str], Any]:
    async def look_again(path: str) -> list[Any]:
        found: list[Any] = await look(path)
        return found

    return look_again


@asynccontextmanager
async def counting(tmp_path: Path, setup: Setup) -> AsyncIterator[tuple[Counted, Session]]:
    counted = Counted(fresh_root(tmp_path / "root"))
    harness = Harness(PACKS, counted.tools, root=counted.root, setup=setup)
    async with harness, harness.session() as session:
        yield counted, session


@pytest.mark.parametrize("name", ["tree", "file"])
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
async def test_equal_calls_in_flight_run_once_also_when_what_was_kept_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, disk: bool
) -> None:
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))
    setup = Setup(policy=SETUP.policy, cache_folder=tmp_path / "cache" if disk else None)
    async with counting(tmp_path, setup) as (counted, session):
        for turn in range(1, 4):
            (counted.root / "sub" / "c.txt").write_text(f"turn {turn}")
            outcome = await session.run(f'await Promise.all([1, 2, 3, 4, 5].map(() => tools.x.{name}("sub")))')
            assert outcome.ok and outcome.value == [[turn, f"turn {turn}"]] * 5, outcome.error
            assert (outcome.ledger.cache_misses, outcome.ledger.shared, outcome.ledger.cache_hits) == (1, 4, 0)
            ran = [record.call.label for record in outcome.calls if record.call and record.outcome.source == "tool"]
            assert [record.outcome.of for record in outcome.calls if record.outcome.source == "shared"] == ran * 4
            again = await session.run(f'await Promise.all([1, 2].map(() => tools.x.{name}("sub")))')
            assert (again.ledger.cache_hits, again.ledger.shared, counted.times) == (2, 0, turn)


@pytest.mark.parametrize("name", ["tree", "file"])
async def test_a_write_between_two_equal_reads_is_honoured(tmp_path: Path, name: str) -> None:
    async with counting(tmp_path, SETUP) as (counted, session):
        write = 'tools.patch.write({ path: "sub/c.txt", text: "new", overwrite: true })'
        outcome = await session.run(
            f'await Promise.all([tools.x.{name}("sub"), {write}, tools.x.{name}("sub"), tools.x.{name}("sub")])'
        )
        assert outcome.ok and [outcome.value[place] for place in (0, 2, 3)] == [[1, "xyz\nzzz\n"], [2, "new"], [2, "new"]]
        assert counted.times == 2


async def test_what_another_session_kept_is_named_so_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))
    setup = Setup(policy=SETUP.policy, cache_folder=tmp_path / "cache")
    world = World(fresh_root(tmp_path / "root"))
    async with Pool(workers=2, reuse=True) as pool, opened(world, setup, pool) as harness:
        async with harness.session() as first:
            await first.run('await tools.files.read("a.txt")')
        async with harness.session() as second:
            outcome = await second.run('await tools.files.read("a.txt"); await tools.files.read("a.txt")')
    assert [(record.outcome.source, record.outcome.of) for record in outcome.calls] == [
        ("disk", "an earlier session"),
        ("memory", "an earlier session"),
    ]
