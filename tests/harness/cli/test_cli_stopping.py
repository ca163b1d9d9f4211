"""Ctrl-C, SIGTERM and a reader that goes away: real processes, ended in the middle of a turn."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.test_cli import COMMAND, ROOT, turnscript

PACK = '''
"""A pack whose one tool never ends."""
from pathlib import Path
import anyio
from catalog import tool


@tool(reads=["clock:now"])
async def forever() -> None:
    """Wait."""
    Path("up").touch()
    await anyio.sleep_forever()
'''
SCRIPT = "show('before'); store('n', 41); await tools.waits.forever()"


def to_it(process: "subprocess.Popen[str]", number: int) -> None:
    process.send_signal(number)


def to_its_group(process: "subprocess.Popen[str]", number: int) -> None:
    os.killpg(process.pid, number)


def stopped(folder: Path, send: Callable[..., None], number: int, *options: str) -> tuple[int, str, str]:
    """A run that is sent this signal while its tool waits: exit code, stdout, stderr."""
    (folder / "waits_pack.py").write_text(PACK)
    (folder / "job.js").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TURNSCRIPT_HOME": str(folder / "home")}
    process = subprocess.Popen(
        [*COMMAND, "run", "job.js", "--pack", "./waits_pack.py", *options], cwd=folder, env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (folder / "up").exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    try:
        send(process, number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, out, err


SIGNALS = [
    (to_it, signal.SIGINT, 130, "interrupted"),
    (to_its_group, signal.SIGINT, 130, "interrupted"),  # as a terminal does it
    (to_it, signal.SIGTERM, 143, "terminated"),
]


@pytest.mark.parametrize(("send", "number", "code", "word"), SIGNALS, ids=["SIGINT", "SIGINT to the group", "SIGTERM"])
def test_a_run_that_is_stopped_is_kept_as_cancelled_and_says_how_to_go_on(
    tmp_path: Path, send: Callable[..., None], number: int, code: int, word: str
) -> None:
    home = str(tmp_path / "home")
    ended = stopped(tmp_path, send, number)
    found = re.fullmatch(
        rf"turnscript: {word}; what ran is kept: turnscript session show (\w{{8}}); go on: turnscript run --resume (\w{{8}}) FILE\n",
        ended[2],
    )
    assert ended[:2] == (code, "") and found is not None and found[1] == found[2]
    shown = turnscript("session", "show", found[1], cwd=tmp_path, TURNSCRIPT_HOME=home)
    assert (shown.returncode, shown.stderr) == (0, "") and "cancelled" in shown.stdout
    told = json.loads(turnscript("session", "show", found[1], "--json", cwd=tmp_path, TURNSCRIPT_HOME=home).stdout)
    assert [one["ending"]["how"] for one in told["entries"] if one["type"] == "ended"] == ["cancelled"]
    resumed = turnscript("run", "-", "--resume", found[1], stdin="context.turn", cwd=tmp_path, TURNSCRIPT_HOME=home)
    assert (resumed.stdout, resumed.stderr, resumed.returncode) == ("2\n", "", 0)


def test_a_run_that_keeps_nothing_only_says_that_it_was_interrupted(tmp_path: Path) -> None:
    assert stopped(tmp_path, to_it, signal.SIGINT, "--no-record") == (130, "", "turnscript: interrupted\n")


def test_the_commands_to_type_name_the_store_that_was_given(tmp_path: Path) -> None:
    code, _, err = stopped(tmp_path, to_it, signal.SIGINT, "--store", "sqlite:my sessions.db", "--session", "mine")
    where = "mine --store 'sqlite:my sessions.db'"
    assert (code, err) == (
        130,
        f"turnscript: interrupted; what ran is kept: turnscript session show {where}; go on: turnscript run --resume {where} FILE\n",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_has_done_what_it_should(tmp_path: Path, number: int) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TURNSCRIPT_HOME": str(tmp_path / "home"), "TURNSCRIPT_SERVE_TOKEN": "t"}
    with subprocess.Popen(
        [*COMMAND, "serve", "mcp", "--http", "--port", "0"], cwd=tmp_path, env=env, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("turnscript: serving MCP at http://127.0.0.1:")
        process.send_signal(number)
        try:
            said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, said) == (0, ("", ""))


PIPED = ["limits", "limits --json", "session format --entry", "run --help"]


@pytest.mark.parametrize("typed", PIPED)
def test_a_reader_that_goes_away_is_no_error(typed: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *typed.split()], stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT,
        timeout=60,
    )  # fmt: skip
    os.close(writing)
    assert (done.stderr, done.returncode) == ("", 1)
