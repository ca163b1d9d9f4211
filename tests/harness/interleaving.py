"""One script of random steps over a few files, and what the tools themselves give at each step.

Reads, most of them asked before, and changes by tools, by commands and behind our back. Those last are made by a tool that
declares to touch nothing. After each read the same function is called past all guards; the two results must be equal.
"""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from catalog import Toolbox, ToolProblem, tool
from harness import Setup
from harness.approval import Policy, allowing
from harness.limits import TurnLimits

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
    newest: bool = True  # also what goes by the order of times

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
        # For each value that the script gives: it must be among these of the truths of that step.
        self._wanted: list[tuple[int, slice]] = []
        self._steps = 0
        self._favourites = self._chance.sample(READS[: None if world.newest else -1] if seed % 3 == 0 else QUICK, 3)

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
                    self._lines.append(f"await tools.shell.run({as_json(f'bash ./put.sh {path} {text}')});")
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
        self._lines.append(f"out.push(await caught({call_of(*read)}));{self._truth(read)}")
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
            return f"tools.patch.replace({as_json(path)}, {as_json(self._chance.choice('xyz'))}, {as_json(text[:1])}, {{ all: true }})"
        return f"tools.patch.write({as_json({'path': path, 'text': text, 'overwrite': True})})"

    def _write_between(self) -> None:
        """Made at once: the reads before the write give what was there before it, those behind it what is there after."""
        path = self._chance.choice(FILES)
        reads = [("files.read", {"path": path}), ("files.stat", {"path": path}), ("search.grep", {"pattern": "x"})]
        read = self._chance.choices(reads, (4, 1, 1))[0]
        call = f"caught({call_of(*read)})"
        made = (
            f"const [one, two, , three, four] = await Promise.all([{call}, {call}, caught({self._patch(path)}), {call}, {call}]);"
        )
        self._lines.append(f"{{{self._truth(read)} {made} out.push(one, two, three, four);{self._truth(read)} }}")
        self._wanted += [(self._steps, slice(0, 1))] * 2 + [(self._steps, slice(1, 2))] * 2

    def _behind_during(self) -> None:
        """While reads run, a change of one step: each gives what was there before or after; a read behind it all the latter."""
        self._act(same_size)
        read = self._some()
        call = f"caught({call_of(*read)})"
        made = f"out.push(...(await Promise.all([{call}, tools.outside.act({self._steps}), {call}, {call}])).filter(Boolean));"
        last = f"out.push(await {call});{self._truth(read)}"
        self._lines.append(f"{{{self._truth(read)} {made} {last} }}")
        self._wanted += [(self._steps, slice(None))] * 3 + [(self._steps, slice(1, 2))]


def as_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def call_of(name: str, args: dict[str, Any]) -> str:
    return f"tools.{name}({as_json(args)})"
