"""Records the sessions beside this file anew, with real tools in a folder of their own: `python tests/sessions/record.py [NAME]…`

They are played by every run of the tests. Each is there for one thing that a replay must give back exactly.
"""

import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from harness import Harness, MemoryStore, Policy, Session, Setup, allowing
from harness.guards.budget import Allowance
from harness.replay.keeping import cleaning, keep
from harness.replay.playing import Stage
from harness.replay.recorded import SUFFIX
from sandbox import Pool

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
CORE = ("files", "search", "patch", "shell", "results")
TOKEN = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"  # looks like one, and opens nothing
PASSWORD = "correct-horse-battery-staple-42"

READS = "return (await Promise.all(['a', 'b', 'c', 'd'].map(n => tools.files.read({ path: `${n}.txt` }).then(p => p.text, e => e.message))))"


async def _forgetting(session: Session) -> None:
    await session.message("user", "What is in the shop?")
    await session.run("show((await tools.files.read({ path: 'examples/tour/orders.py' })).text)")
    await session.run("show((await tools.files.read({ path: 'examples/tour/orders.py', offset: 20, limit: 20 })).text)")
    await session.forget([1])
    await session.run("show((await tools.files.read({ path: 'examples/tour/orders.py', offset: 10, limit: 20 })).text)")


async def _dry_run(session: Session) -> None:
    source = """
const page = await tools.files.read({ path: "a.txt" });
const done = await tools.patch.write({ path: "new.txt", text: page.text.toUpperCase() });
return [page.text, done];
"""
    await session.run(source, mode="dry_run")


async def _host_relaxes(session: Session) -> None:
    await session.run("store('found', { files: ['a.txt'], at: Date.now() }); store('gone', 1); store('gone', undefined)")
    await session.run("show('line of words '.repeat(2_500)); return load('found')")
    await session.run(
        "const whole = await recall('T2.1'); await relax('the whole text is wanted'); show(whole); return [whole.length, load('gone')]"
    )
    session.relax("for the last look")
    await session.run("return [await recall('T2.1').then(t => t.slice(0, 20)), Math.random(), load('found').files, context.turn]")


RACE = """
const order = [];
await Promise.all(Array.from({ length: 20 }, async (_, n) => {
  const slow = n % 2 === 0;
  await (slow ? tools.search.grep({ pattern: `${n}_`, path: "examples" }) : tools.files.stat({ path: "abcd"[n % 4] + ".txt" }));
  order.push([n, Date.now(), budget.bytes]);
}));
show(order.map(([n]) => n).join(" "));
return order.length;
"""


@dataclass(frozen=True, kw_only=True)
class Scene:
    scripts: Sequence[str] = ()
    acts: Callable[[Session], Awaitable[None]] | None = None  # instead of scripts one after the other
    packs: Sequence[str] = CORE
    setup: Setup = field(default_factory=Setup)


ALLOWED = Setup(policy=Policy(allowing(["shell.run", "patch.*"])))

SCENES = {
    "tour": Scene(scripts=[(EXAMPLES / "tour.js").read_text()], setup=ALLOWED),
    "parallel": Scene(scripts=[RACE], setup=ALLOWED),
    "mended": Scene(
        scripts=[
            "const page = await tools.files.read({ path: 'a.txt' });\nreturn page.txt.length;",
            "await tools.files.raed({ path: 'a.txt' })",
            "return (",
            "const page = await tools.files.read({ path: 'a.txt' });\nreturn page.text.length;",
        ]
    ),
    "denied": Scene(
        scripts=[
            "try { await tools.patch.write({ path: 'new.txt', text: 'x' }) } catch (e) { show([e.name, e.message, e.hint]) }",
            "await tools.shell.run('rm -f a.txt')",
        ]
    ),
    "dry_run": Scene(acts=_dry_run),
    "plan_reads": Scene(
        scripts=[
            "await tools.files.read({ path: 'examples/tour/orders.py' })",
            "return await tools.reads.plan({ files: [{ path: 'examples/tour/orders.py', ranges: [[1, 30]] }], bytes: 4_000 })",
            "show((await tools.files.read({ path: 'examples/tour/orders.py', offset: 1, limit: 20 })).text); await tools.files.read({ path: 'a.txt' })",
        ],
        setup=Setup(plan_reads=True),
    ),
    "overlap": Scene(acts=_forgetting),
    "stored": Scene(acts=_host_relaxes),
    "budget": Scene(
        scripts=[READS, READS, "return budget.tools"],
        setup=Setup(turn_budget={"files": Allowance(calls=2)}, session_budget={"files.read": Allowance(calls=5)}),
    ),
    "cut": Scene(
        scripts=[
            "show((await tools.files.read({ path: 'long.txt' })).text)",
            "const got = await tools.shell.run('seq 1 3000'); show(got); console.log('x'.repeat(9_000)); return got",
            "return (await recall('T1.1')).length",
        ],
        setup=ALLOWED,
    ),
    "unicode": Scene(
        scripts=[
            "const page = await tools.files.read({ path: 'größe.txt' }); show(page.text); return [...page.text].length",
            f"const run = await tools.shell.run('cat secret.env # {TOKEN}'); show(run.output); return '\\ud800 half a pair, \\u202e turned, and 🧭'",
            "return (await tools.shell.run(`echo ${context.root}/größe.txt; cat '${context.root}/größe.txt'`)).output",
        ],
        setup=replace(ALLOWED, secrets={"DB_PASSWORD": PASSWORD}),
    ),
}  # fmt: skip


def furnish(root: Path) -> Path:
    (root / "examples" / "tour").mkdir(parents=True)
    for path in (EXAMPLES / "tour").glob("*.py"):
        (root / "examples" / "tour" / path.name).write_text(path.read_text())
    for name in "abcd":
        (root / f"{name}.txt").write_text(f"the text of {name}\n")
    (root / "long.txt").write_text("".join(f"{n} is a number of this file, and {n * n} its square\n" for n in range(1, 701)))
    (root / "größe.txt").write_text("Größe: 12 µm – „schön“, שלום, 日本語, 👩‍🚀\n")
    (root / "secret.env").write_text(f"TOKEN={TOKEN}\nDB_PASSWORD={PASSWORD}\n")
    return root


async def record(name: str, pool: Pool, folder: Path = HERE) -> Path:
    scene, store, path = SCENES[name], MemoryStore(), folder / f"{name}{SUFFIX}"
    with tempfile.TemporaryDirectory(prefix="recording-") as place:
        root = furnish(Path(place))
        harness = Harness(scene.packs, root=root, setup=scene.setup, store=store, pool=pool)
        async with harness, harness.session(f"recorded-{name}", model="none", labels={"about": name}) as session:
            if scene.acts is not None:
                await scene.acts(session)
            for script in scene.scripts:
                await session.run(script)
        await keep(store.entries(f"recorded-{name}"), path, Stage(pool=pool), clean=cleaning(scene.setup, root))
    path.chmod(0o644)
    return path


async def main(names: Sequence[str]) -> None:
    async with Pool(workers=2) as pool:
        for name in names or SCENES:
            print(await record(name, pool))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
