"""A process that is killed in the middle of a turn: run as a program by test_resume.py, never imported by the harness.

Its tools write to a file of their own what they did, with an fsync, so that the test knows what really ran.
"""

import os
import signal
import sys
from pathlib import Path

import anyio

from catalog import Pack, pack, tool
from harness import Harness, Setup
from harness.approval import Policy, allowing
from harness.store.jsonl import JsonlStore

SCRIPT = """
store("before", 1);
const first = await tools.x.look("a");
const done = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => tools.x.act(n).catch((e) => e.name)));
const after = await tools.x.act(100).catch((e) => e.name);
show({ first, done, after });
store("after", done.length);
return Date.now();
"""


def tools(journal: Path, *, die_at: int = -1) -> Pack:
    """`die_at`: the process is killed inside the act with this number, when its work is done and before anybody knows."""

    def note(text: str) -> None:
        with journal.open("a") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())

    @tool(reads=["thing:{name}"], effect="reads")
    async def look(name: str) -> dict[str, str]:
        note(f"look {name}")
        return {"name": name, "pid": str(os.getpid())}

    @tool(writes=["thing:{n}"])
    async def act(n: int) -> dict[str, int]:
        await anyio.sleep(0.002 * (n * 5 % 8))
        note(f"act {n}")
        if n == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"n": n, "pid": os.getpid()}

    return pack("x", [look, act], doc="Things that leave traces.")


def harness(folder: Path, *, die_at: int = -1) -> Harness:
    return Harness(
        [tools(folder / "journal", die_at=die_at)], root=folder, store=JsonlStore(folder / "sessions"),
        setup=Setup(policy=Policy(allowing(["x.*"]))),
    )  # fmt: skip


async def main(folder: Path, die_at: int) -> None:
    async with harness(folder, die_at=die_at) as made, made.session("killed") as session:
        await session.run("store('earlier', 41); show('lines of the first turn\\n'.repeat(40)); return 1")
        await session.run(SCRIPT)
    print("lived")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]))
