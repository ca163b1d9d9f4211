"""docs/sessions.md: every command on the page prints what stands below it."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.config import read_settings
from tests.harness.cli.typed import Typed, two_sessions

PAGE = Path(__file__).parents[3] / "docs" / "sessions.md"


def commands(page: str) -> Iterator[tuple[str, str]]:
    """With what stands below them, in the order of the page."""
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, told = typed.partition("\n")
            yield command, told


def printed(command: str) -> str:
    """By our command in this process, with its output piped on; by others in a shell."""
    ours, *piped = command.split(" | ")
    if not ours.startswith("turnscript session "):
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    done = Typed(Path("sessions"), *shlex.split(ours)[2:], COLUMNS="110")
    if not piped:
        return done.out + done.err
    return subprocess.run(" | ".join(piped), shell=True, input=done.out, capture_output=True, text=True, check=True).stdout


def test_every_command_prints_what_stands_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    two_sessions(Path("sessions"))
    told = list(commands(PAGE.read_text()))
    assert len(told) == 14
    assert [(command, printed(command)) for command, _ in told] == told


def test_the_settings_on_the_page_are_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "turnscript.toml").write_text(block)
    settings = read_settings(folder=tmp_path, environment={})
    assert (settings.store, settings.durability) == ("sqlite:/var/lib/turnscript/sessions.db", "fsync")
