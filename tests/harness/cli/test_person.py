"""The question of `turnscript run`, in a real terminal: answered, interrupted, and given up by whoever asked."""

import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from select import select

import anyio
import pytest

from harness.approval import Answer, Request
from harness.cli.person import Person
from tests.harness.test_cli import ROOT

SECONDS = 30.0
QUESTION = "always for this [t]ool: "
# The terminal becomes the process's own, as a shell has it: Ctrl-C is a signal, and /dev/tty is there.
COMMAND = [
    sys.executable, "-c",
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from harness.cli import app; app(prog_name='turnscript')",
]  # fmt: skip
WRITES = "await tools.shell.run({ command: 'touch made' })"


@dataclass(slots=True)
class Screen:
    """`ours` is where the person sits, `theirs` what the program has. `seen`: all that was written."""

    ours: int
    theirs: int
    seen: str = ""

    def until(self, text: str) -> None:
        while text not in self.seen:
            assert select([self.ours], [], [], SECONDS)[0], f"no {text!r} on the screen:\n{self.seen}"
            self.seen += os.read(self.ours, 65_536).decode()

    async def until_asked(self) -> None:
        while QUESTION not in self.seen:
            await anyio.wait_readable(self.ours)
            self.seen += os.read(self.ours, 65_536).decode()

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def next_line(self) -> str:
        """What the next program that reads a line from this terminal gets."""
        assert select([self.theirs], [], [], SECONDS)[0], "no line came"
        return os.read(self.theirs, 4_096).decode()


@pytest.fixture
def screen() -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    yield Screen(ours, theirs)
    os.close(ours)
    os.close(theirs)


def started(screen: Screen, folder: Path, script: str, *options: str) -> "subprocess.Popen[bytes]":
    (folder / "job.js").write_text(script)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TURNSCRIPT_HOME": str(folder / "home")}
    return subprocess.Popen(
        [*COMMAND, "run", "job.js", "--profile", "core-codex", *options], cwd=folder, env=env, start_new_session=True,
        stdin=screen.theirs, stdout=screen.theirs, stderr=screen.theirs,
    )  # fmt: skip


def test_ctrl_c_at_the_question_ends_the_run_at_once_and_leaves_the_terminal_as_it_was(screen: Screen, tmp_path: Path) -> None:
    before = termios.tcgetattr(screen.theirs)
    process = started(screen, tmp_path, WRITES)
    try:
        screen.until(QUESTION)
        screen.type("\x03")
        code = process.wait(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    screen.until(" FILE\r\n")
    said = screen.seen.partition(QUESTION)[2]
    assert re.fullmatch(
        r"\^C\r\nturnscript: interrupted; what ran is kept: turnscript session show \w{8}; go on: turnscript run --resume \w{8} FILE\r\n",
        said,
    ), said
    assert (code, (tmp_path / "made").exists()) == (130, False)
    assert termios.tcgetattr(screen.theirs) == before
    screen.type("ls\n")
    assert screen.next_line() == "ls\n"


def test_a_line_answers_and_the_run_goes_on(screen: Screen, tmp_path: Path) -> None:
    process = started(screen, tmp_path, WRITES)
    try:
        screen.until(QUESTION)
        screen.type("perhaps\n")
        screen.until(f"perhaps\r\nshell.run: allow? [y]es, [n]o, [a]lways with these arguments, {QUESTION}")
        screen.type("y\n")
        code = process.wait(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    assert (code, (tmp_path / "made").exists()) == (0, True)


def test_when_the_time_for_an_answer_is_over_the_run_goes_on_and_ends(screen: Screen, tmp_path: Path) -> None:
    script = f"try {{ {WRITES} }} catch (problem) {{ show('went on') }}"
    process = started(screen, tmp_path, script, "--limit", "approval_seconds=0.2")
    try:
        screen.until("went on")
        code = process.wait(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    assert (code, QUESTION in screen.seen, (tmp_path / "made").exists()) == (0, True, False)
    screen.type("ls\n")
    assert screen.next_line() == "ls\n"


def request(tool: str) -> Request:
    return Request(id=tool, session="s", call="T1 call 1", tool=tool, line=1, shown={}, writes=(), why="it asks", arguments={})


@pytest.mark.anyio
async def test_a_question_that_is_given_up_takes_neither_half_an_answer_nor_the_next_line(screen: Screen) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Person(Path(os.ttyname(screen.theirs))).decide, [request("a.one"), request("b.two")])
        await screen.until_asked()
        screen.type("ye")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    screen.type("next\n")
    assert screen.next_line() == "next\n"


@pytest.mark.anyio
async def test_each_request_has_its_own_line_and_the_end_of_input_answers_nothing(screen: Screen) -> None:
    answers: list[Answer] = []

    async def person() -> None:
        answers.extend(
            await Person(Path(os.ttyname(screen.theirs))).decide([request("a.one"), request("b.two"), request("c.three")])
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(person)
        await screen.until_asked()
        screen.type("t\nno\n\x04")
    assert answers == [
        Answer(request="a.one", verdict="allow", remember="tool"), Answer(request="b.two", verdict="deny"),
    ]  # fmt: skip


@pytest.mark.anyio
async def test_without_a_terminal_nobody_answers(tmp_path: Path) -> None:
    assert await Person(tmp_path / "none").decide([request("a.one")]) == []
