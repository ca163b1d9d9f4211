"""`turnscript session …` as it is typed, in this process, and a store with two sessions to look at."""

from pathlib import Path

import anyio
from typer.testing import CliRunner

from harness.cli import app
from harness.entries import Entry
from harness.store.opening import open_store
from tests.harness.sample_session import NOON, sample

FIRST = "3f2a9c1b77d84e0d9a1b2c3d4e5f6071"
SECOND = "9b1cfa3477d84e0d9a1b2c3d4e5f6072"


class Typed:
    """What was printed and the exit code."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        env = {"TURNSCRIPT_STORE": f"jsonl:{folder}", "COLUMNS": "120", **environment}
        done = CliRunner().invoke(app, ["session", *arguments], env=env)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        self.out, self.err, self.code = done.stdout, done.stderr, done.exit_code
        self.bytes = done.stdout_bytes


def keep(address: str | Path, session: str, *entries: Entry) -> None:
    async def kept() -> None:
        store = await open_store(str(address))
        writer = await store.write(session, at=entries[0].at)
        await writer.append(*entries)
        await store.close()

    anyio.run(kept)


def two_sessions(folder: Path) -> Path:
    """The first has an interrupted turn, the second is newer."""
    keep(folder, FIRST, *sample(FIRST))
    keep(folder, SECOND, *sample(SECOND, at=NOON + 5_000, interrupted=False))
    return folder
