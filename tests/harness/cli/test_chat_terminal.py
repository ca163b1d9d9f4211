"""`turnscript chat` in a real terminal, by tmux: keys, Ctrl-C, and what is written to the screen."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.harness.chat.endpoint import Play, said, script, serving

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
SECONDS = 15.0
_NUMBERS = count()
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
WAITS = "while [ ! -e go ]; do sleep 0.02; done; echo went"
RUNS = f"const kept = 'once';\nconst ran = await tools.shell.run({{ command: {json.dumps(WAITS)} }});\nshow(ran.stdout ?? ran);"


class Terminal:
    """One pane, 100 by 50. `log`: every byte that was written to it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._tmux = ["tmux", "-L", name, "-f", "/dev/null"]
        self.log = folder / "screen.log"
        self._folder = folder

    def start(self, *arguments: str, **environment: str) -> None:
        env = {"PYTHONPATH": os.getcwd(), "TURNSCRIPT_HOME": str(self._folder / "home"), **environment}
        words = [*(f"{name}={value}" for name, value in env.items()), sys.executable, "-c", "from harness.cli import app; app()"]
        command = f"read x; exec env -u COLUMNS -u LINES {shlex.join([*words, 'chat', '--root', str(self._folder), *arguments])}"
        self._do("new-session", "-d", "-x", "100", "-y", "50", "-s", "c", shlex.join(["sh", "-c", command]))
        self._do("set-option", "-t", "c", "remain-on-exit", "on")
        self._do("pipe-pane", "-t", "c", f"cat > {shlex.quote(str(self.log))}")
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self._do("send-keys", "-t", "c", *keys)

    def type(self, text: str) -> None:
        self._do("send-keys", "-t", "c", "-l", text)
        self.press("Enter")

    def screen(self, *options: str) -> str:
        """Without options: its text."""
        return self._do("capture-pane", "-p", "-t", "c", *options)

    def until(self, text: str, *, times: int = 1) -> str:
        end = time.monotonic() + SECONDS
        while (screen := self.screen()).count(text) < times:
            assert time.monotonic() < end, f"no {text!r} on the screen:\n{screen}"
            time.sleep(0.02)
        return screen

    def until_prompt(self) -> str:
        """The last line that is not blank is the prompt."""
        end = time.monotonic() + SECONDS
        while not (screen := self.screen()).rstrip().endswith("\n›"):
            assert time.monotonic() < end, f"no prompt on the screen:\n{screen}"
            time.sleep(0.02)
        return screen

    def written(self) -> str:
        return ANSI.sub("", self.log.read_text(errors="replace")).replace("\r", "\n")

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def _do(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, f"chat{os.getpid()}x{next(_NUMBERS)}")
    try:
        yield made
    finally:
        made.close()


def endpoint_options(url: str) -> list[str]:
    return ["--url", url, "--model", "small", "--profile", "core-codex"]


def openai(text: str, *calls: Any, **rest: Any) -> Play:
    return said("openai", text, *calls, chunk_bytes=17, **rest)


def test_a_call_is_allowed_by_one_key_and_only_what_runs_is_drawn_again(terminal: Terminal, tmp_path: Path) -> None:
    plays = [openai("I run it, and say so once.", script(RUNS)), openai("It went.", tokens=(60_000, 1_000))]
    with serving(plays) as endpoint:
        terminal.start(*endpoint_options(endpoint.url))
        terminal.until_prompt()
        terminal.type("Please run it")
        terminal.until("this [t]ool always")
        terminal.press("x")  # no answer: it is asked on
        terminal.press("y")
        terminal.until("shell.run: allowed")
        terminal.until("shell.run  line 2  1.")  # a second, with eight drawings in it
        (tmp_path / "go").touch()
        terminal.until("52 % left (61,000 of 128,000 tokens)")
        terminal.until_prompt()
        terminal.press("C-d")
        screen = terminal.until("turnscript chat --resume")
    assert re.search(r"✓ shell.run  line 2  \d+\.\d{3} s  \d+ bytes", screen) and "│ went" in screen
    assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", screen)  # nothing of the block is left
    assert "tokens" in screen and "60,100 read, 1,020 written" in screen
    written = terminal.written()
    for line in (
        "I run it, and say so once.", "const kept = 'once';", "allow shell.run?", "shell.run: allowed", "✓ shell.run", "│ went",
        "turn 1 finished", "It went.",
    ):  # fmt: skip
        assert written.count(line) == 1, line
    assert len(re.findall("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] shell.run", written)) > 2  # the block was drawn again


def test_ctrl_c_stops_the_turn_and_at_the_prompt_the_chat(terminal: Terminal, tmp_path: Path) -> None:
    plays = [openai("I wait.", script(RUNS)), openai("Then not."), openai("Again.", script(RUNS)), openai("Done.")]
    with serving(plays) as endpoint:
        terminal.start(*endpoint_options(endpoint.url), "Wait for it")
        terminal.until("this [t]ool always")
        terminal.press("t")
        terminal.until("allowed, always for this tool")
        terminal.press("C-c")
        terminal.until("turn 1 cancelled")
        terminal.until("stopped; what was done until then is done and on record")
        terminal.until_prompt()
        terminal.type("Leave it")
        terminal.until("Then not.")
        terminal.until_prompt()
        (tmp_path / "go").touch()
        terminal.type("Once more")  # allowed for the session: nobody is asked
        terminal.until("Done.")
        terminal.until_prompt()
        terminal.press("C-c")
        screen = terminal.until("turnscript chat --resume")
    assert screen.count("allow shell.run?") == 1
    id = re.search(r"session ([0-9a-f]{32}): ", screen)
    assert id is not None
    env = {**os.environ, "TURNSCRIPT_HOME": str(tmp_path / "home")}
    show = [sys.executable, "-c", "from harness.cli import app; app()", "session", "show", id[1]]
    told = subprocess.run(show, capture_output=True, text=True, env=env, check=True).stdout
    assert re.findall(r"^── turn (\d), .*?, (cancelled|finished)", told, flags=re.MULTILINE) == [
        ("1", "cancelled"),
        ("2", "finished"),
    ]
    last = endpoint.requests[1]["body"]["messages"]
    assert last[-2]["content"].startswith("stopped by the person") and last[-1]["content"] == "Leave it"


def test_keys_from_before_the_question_and_ctrl_c_allow_nothing_and_the_terminal_is_as_before(terminal: Terminal) -> None:
    hold = threading.Event()
    with serving([openai("", script(RUNS), hold=hold), openai("Fine.")]) as endpoint:
        terminal.start(*endpoint_options(endpoint.url), "Wait for it", NO_COLOR="1")
        assert endpoint.came.acquire(timeout=SECONDS)
        terminal.press("y")
        hold.set()
        terminal.until("this [t]ool always")
        terminal.press("C-c")
        assert "allowed" not in terminal.until("turn 1 cancelled")
        terminal.until_prompt()
        terminal.type("typed with an echo")
        terminal.until("Fine.")
        terminal.until_prompt()
        assert "› typed with an echo" in terminal.screen()
        terminal.press("C-d")
        terminal.until("turnscript chat --resume")
    assert re.findall(r"\x1b\[[0-9;]*3[0-7]m", terminal.log.read_text()) == []


def test_a_failure_is_one_line_and_enter_asks_again(terminal: Terminal) -> None:
    broken = Play(status=400, body=b'{"error": {"message": "odd"}}')
    with serving([broken, openai("Now it works.")]) as endpoint:
        terminal.start(*endpoint_options(endpoint.url), "Hello")
        terminal.until("(400: odd)")
        terminal.until_prompt()
        terminal.press("Enter")
        terminal.until("Now it works.")
    assert len(endpoint.requests) == 2 and endpoint.requests[0]["body"] == endpoint.requests[1]["body"]
