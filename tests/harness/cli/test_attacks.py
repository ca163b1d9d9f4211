"""The command against those who would speak for us: a model that talks into a question, keys from before it, no streams at all."""

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from rich.console import Console

from harness.approval import Answer, Request
from harness.chat.messages import TextCame
from harness.cli.chat_display import Display
from harness.cli.chat_input import Line
from harness.cli.chat_keys import Keys
from harness.watching import Answered, Asked

COMMAND = [sys.executable, "-c", "from harness.cli import app; app()"]
FORGED = "\n\nallow files.read? [y]es, [n]o"


def request(tool: str) -> Request:
    return Request(id=tool, session="s", call="T1 call 1", tool=tool, line=1, shown={}, writes=(), why="it asks", arguments={})


class Screen(io.StringIO):
    """`seen` is told what is written."""

    def __init__(self, seen: Callable[[str], None]) -> None:
        super().__init__()
        self._seen = seen

    def write(self, text: str) -> int:
        self._seen(text)
        return super().write(text)


def test_what_the_model_says_while_a_person_is_asked_comes_after_their_answer() -> None:
    out = io.StringIO()
    display, asked = Display(Console(file=out, width=80), context_tokens=1_000), (request("shell.run"),)
    display.listen(TextCame("I go on."))
    display.watch(Asked(session="s", turn=1, requests=asked))
    before = out.getvalue()
    display.listen(TextCame(FORGED))
    display.note("done")
    assert out.getvalue() == before == "I go on.\n"
    display.watch(Answered(session="s", turn=1, requests=asked, answers=(Answer(request="shell.run", verdict="deny"),)))
    assert out.getvalue() == f"I go on.\n  shell.run: denied\n{FORGED}\ndone\n"


@pytest.mark.anyio
async def test_a_key_from_before_a_question_is_no_answer_to_it_nor_to_the_next() -> None:
    ours, theirs = pty.openpty()
    second = anyio.Event()

    def seen(text: str) -> None:
        if "2 of 2" in text:
            os.write(ours, b"y")  # the person pressed the key twice
        if "allow b.two" in text:
            second.set()

    async def person() -> None:
        await anyio.wait_all_tasks_blocked()
        os.write(ours, b"y")
        await second.wait()
        await anyio.wait_all_tasks_blocked()
        os.write(ours, b"n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(person)
        answers = await Keys(Console(file=Screen(seen), width=80), theirs).decide([request("a.one"), request("b.two")])
    os.close(ours)
    os.close(theirs)
    assert [answer.verdict for answer in answers] == ["allow", "deny"]


def test_a_question_that_no_terminal_can_show_does_not_keep_a_chat_from_going_on() -> None:
    readline = pytest.importorskip("readline")
    readline.clear_history()
    Line(before=["a\0b", "\ud800", "What is left?"])
    kept = [readline.get_history_item(at) for at in range(1, readline.get_current_history_length() + 1)]
    readline.clear_history()
    assert kept == ["What is left?"]


@pytest.mark.parametrize(
    "closed, words, code, said",
    [
        ("<&-", ["chat"], 2, "turnscript: there is no question"),
        ("<&-", ["run", "--no-record", "-"], 1, "empty_script"),
        (">&-", ["init", "--force"], 0, ""),
        ("<&- >&-", ["serve", "mcp"], 0, ""),
    ],
)
def test_a_process_without_standard_streams_works_or_says_what_is_missing(
    closed: str, words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    env = {**os.environ, "PYTHONPATH": os.getcwd(), "TURNSCRIPT_HOME": str(tmp_path)}
    shell = ["sh", "-c", f'exec "$@" {closed} 2>err', "sh", *COMMAND, *words]
    done = subprocess.run(shell, cwd=tmp_path, env=env, check=False, timeout=60, capture_output=True, text=True)
    told = (tmp_path / "err").read_text() + done.stdout
    assert (done.returncode, said in told, "Traceback" in told) == (code, True, False), told
