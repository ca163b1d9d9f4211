"""What holds for every verb: help with examples, --json, exit codes, plain text when piped, completion; and docs/cli.md says so."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests.harness.cli.cli_page import PAGE, verbs, written
from tests.harness.test_cli import COMMAND, ROOT, turnscript

VERBS = dict(verbs())
PRINTS_JSON_ANYWAY = {"turnscript session format"}
NOT_YET = {"turnscript tools"}  # --format json-schema
SERVES = {path for path in VERBS if path.startswith("turnscript serve")}  # until it is ended; it prints no result


def typed(*arguments: str, stdin: str = "") -> tuple[str, str, int]:
    done = CliRunner().invoke(app, [*arguments], input=stdin, prog_name="turnscript")
    return done.stdout, done.stderr, done.exit_code


@pytest.mark.parametrize("path", VERBS)
def test_every_verb_has_help_with_an_example_of_itself(path: str) -> None:
    out, err, code = typed(*path.split()[1:], "--help")
    assert (err, code) == ("", 0) and "Examples:" in out
    assert re.search(rf"{path}\b", " ".join(out.partition("Examples:")[2].split()))


@pytest.mark.parametrize("path", sorted(set(VERBS) - PRINTS_JSON_ANYWAY - NOT_YET - SERVES))
def test_every_verb_that_prints_has_json(path: str) -> None:
    assert "--json" in [name for parameter in VERBS[path].params for name in parameter.opts]


def test_the_page_lists_every_verb_and_option() -> None:
    assert PAGE.read_text() == written(PAGE.read_text()), "write it anew: python -m tests.harness.cli.cli_page"


def test_the_page_lists_every_exit_code() -> None:
    table = PAGE.read_text().partition("## Exit codes")[2].partition("##")[0]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", table, flags=re.MULTILINE)}
    modules = [module for name, module in sys.modules.items() if name.startswith("harness.cli.")]
    ours = {value for module in modules for name, value in vars(module).items() if name.startswith("EXIT_")}
    assert listed == ours | {0}


def test_json_of_the_verbs_that_write_or_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert json.loads(typed("new-pack", "weather", "--json")[0]) == {
        "pack": "weather", "file": "weather_pack.py", "test": "test_weather_pack.py",
    }  # fmt: skip
    assert {one["name"] for one in json.loads(typed("limits", "--json")[0])} >= {"calls", "turn_seconds"}
    assert json.loads(typed("check", "-", "--json", stdin="1")[0])["certain"] == []
    assert json.loads(typed("session", "list", "--json", "--store", "memory:")[0]) == []
    assert json.loads(typed("session", "migrate", "--schema", f"sqlite:{tmp_path}/a.db", "--json")[0]) == {
        "schema": f"sqlite:{tmp_path}/a.db", "newest": True,
    }  # fmt: skip


def test_a_recording_that_is_kept_is_told_as_json(tmp_path: Path) -> None:
    home = {"TURNSCRIPT_HOME": str(tmp_path / "home")}
    session = json.loads(turnscript("run", "-", "--json", stdin="1", cwd=tmp_path, **home).stdout)["session"]
    done = turnscript("replay", "--keep", "last", "-o", "a.session.jsonl", "--json", cwd=tmp_path, **home)
    size = (tmp_path / "a.session.jsonl").stat().st_size
    assert json.loads(done.stdout) == {"session": session, "file": "a.session.jsonl", "turns": 1, "bytes": size}
    assert (done.stderr, done.returncode) == ("", 0)


CODES = [
    ("run -", "1", 0),
    ("run -", "throw new Error('x')", 1),
    ("run - --limit engine_seconds=0.1", "for (;;);", 3),
    ("run - --seed x", "1", 2),
    ("run nowhere.js", "", 2),
    ("check -", "tools.files.raed('x')", 1),
    ("session show nowhere", "", 2),
    ("session search nothing-like-it", "", 1),
    ("session verify", "", 2),
    ("replay nowhere", "", 2),
    ("doctor", "", 0),
    ("nothing", "", 2),
]


@pytest.mark.parametrize(("line", "stdin", "code"), CODES, ids=[f"{line} {code}" for line, _, code in CODES])
def test_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, stdin: str, code: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNSCRIPT_HOME", str(tmp_path / "home"))
    _, err, ended = typed(*line.split(), stdin=stdin)
    assert ended == code
    if code == 2:
        assert err.startswith("turnscript: ") and err.count("\n") == 1


MISUSE = [
    ("run --jsn", "turnscript: no such option: --jsn"),
    ("rnu", "turnscript: no such command 'rnu'. Did you mean 'run'? type: turnscript --help\n"),
    ("session lst", "turnscript: no such command 'lst'. Did you mean 'list'? type: turnscript session --help\n"),
    ("session show", "turnscript: missing argument 'ID'; type: turnscript session show --help\n"),
    ("run - --seed x", "turnscript: invalid value for '--seed': "),
]


@pytest.mark.parametrize(("line", "told"), MISUSE)
def test_misuse_is_one_line_with_the_command_to_type(line: str, told: str) -> None:
    out, err, code = typed(*line.split())
    assert (out, code) == ("", 2) and err.startswith(told) and err.count("\n") == 1
    assert re.search(r"type: turnscript( \w+)* --help\n$", err)


@pytest.mark.parametrize("path", ["", "session"])
def test_a_group_alone_shows_its_help(path: str) -> None:
    out, err, code = typed(*path.split())
    assert code == 2 and "Commands:" in out + err and "Examples:" in out + err


def test_piped_output_has_no_colours() -> None:
    for line in ("doctor", "limits", "tools", "run --help", "run nowhere.js"):
        done = turnscript(*line.split(), TERM="xterm-256color", COLORTERM="truecolor")
        assert "\x1b" not in done.stdout + done.stderr and done.stdout + done.stderr


def test_completion_names_the_verbs() -> None:
    done = turnscript(_TURNSCRIPT_COMPLETE="complete_bash", COMP_WORDS="turnscript se", COMP_CWORD="1")
    assert "session" in done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_installed_for_the_shell_it_is_typed_in(tmp_path: Path) -> None:
    words = " ".join(f"'{word}'" if " " not in word else f'"{word}"' for word in COMMAND)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "SHELL": str(shutil.which("bash"))}
    done = subprocess.run(
        ["bash", "-c", f"{words} --install-completion; true"], capture_output=True, text=True, env=env, timeout=60
    )
    assert "bash completion installed" in done.stdout, done.stderr
    assert "turnscript" in (tmp_path / ".bash_completions" / "turnscript.sh").read_text()


def test_the_version_is_told() -> None:
    assert re.fullmatch(r"turnscript \d+\.\d+\.\d+\n", typed("--version")[0])
