"""The command as people type it: a real process, its two streams and its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.load import known_packs

COMMAND = [sys.executable, "-c", "from harness.cli import app; app(prog_name='turnscript')"]
ROOT = Path(__file__).parent.parent.parent


def turnscript(*args: str, stdin: str = "", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment}
    return subprocess.run([*COMMAND, *args], input=stdin, capture_output=True, text=True, env=env, cwd=cwd or ROOT, timeout=60)


JOB = "console.log('working', { n: 1 });\nshow('plain text');\nshow({ a: [1] });\nconst x = 2;\nx * 21"


def test_run_prints_what_the_model_would_see() -> None:
    done = turnscript("run", "-", stdin=JOB)
    assert (done.stdout, done.stderr, done.returncode) == ('working { n: 1 }\nplain text\n{"a":[1]}\n42\n', "", 0)


def test_run_whole_shows_values_on_stdout_and_console_on_stderr(tmp_path: Path) -> None:
    file = tmp_path / "job.js"
    file.write_text(JOB)
    done = turnscript("run", str(file), "--whole")
    assert (done.stdout, done.stderr, done.returncode) == (
        'plain text\n{"a": [1]}\n42\n',
        "log: working { n: 1 }\n",
        0,
    )


def test_run_reads_standard_input() -> None:
    assert turnscript("run", "-", stdin="6 * 7").stdout == "42\n"


FAILURES = [
    ("let b = ;", 1, "SyntaxError: unexpected token in expression: ';'  (line 1, column 9)\n  1 | let b = ;\n    |         ^\n"),
    ("const a = [];\nfor (;;) a.push('x'.repeat(1e6) + a.length)", 3, "LimitExceeded: the script needed more than 33,554,432 bytes of memory"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "code", "told"), FAILURES)
def test_a_script_that_fails_says_why_and_where(source: str, code: int, told: str) -> None:
    done = turnscript("run", "-", "--limit", "heap_bytes=33554432", stdin=source)
    assert done.stderr.startswith(told)
    assert (done.stdout, done.returncode) == ("", code)


def test_json_holds_everything_that_happened() -> None:
    done = turnscript(
        "run",
        "-",
        "--json",
        "--seed",
        "3",
        "--now",
        "0",
        "--context",
        '{"who": "ada"}',
        stdin="show(context.who); console.log(1); Date.now()",
    )
    report = json.loads(done.stdout)
    assert (report["ok"], report["value"], report["notices"]) == (True, 0, [])
    assert [event["event"] for event in report["events"]] == ["shown", "printed", "finished"]
    assert ["seccomp", "on"] in [layer[:2] for layer in report["layers"]]
    assert done.stderr == ""


WRONG_USE = [
    (
        ["run", "no/such/file.js"],
        "turnscript: no/such/file.js: No such file or directory; give the path of a script, or - for standard input\n",
    ),
    (["run", "."], "turnscript: .: Is a directory; give the path of a script, or - for standard input\n"),
    (["run", "-", "--limit", "call=1"], "turnscript: --limit call: there is no limit 'call'; did you mean calls?\n"),
    (["run", "-", "--context", "[1]"], 'turnscript: --context: give a JSON object, such as \'{"user": "ada"}\'\n'),
    (["run", "-", "--context", "{"], "turnscript: --context: not JSON: "),
    (["run", "-", "--isolation", "none"], "turnscript: --isolation none: choose locked, process or in_process\n"),
]


@pytest.mark.parametrize(("args", "told"), WRONG_USE)
def test_wrong_use_is_one_line_with_the_next_step(args: list[str], told: str) -> None:
    done = turnscript(*args, stdin="1")
    assert done.stderr.startswith(told) and done.stderr.count("\n") == 1
    assert (done.stdout, done.returncode) == ("", 2)


def test_a_script_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "latin.js"
    file.write_bytes(b"'caf\xe9'")
    done = turnscript("run", str(file))
    assert (done.stderr, done.returncode) == (f"turnscript: {file}: not UTF-8 at byte 4; save the script as UTF-8\n", 2)


def test_terminal_escapes_and_bidirectional_marks_are_made_visible() -> None:
    done = turnscript("run", "-", stdin="console.log('\\x1b[31mred'); show('a\\u202eb'); throw new Error('\\x1b]0;t\\x07')")
    assert done.stdout == "\\u001b[31mred\na\\u202eb\n"
    assert "\x1b" not in done.stderr and "Error: \\u001b]0;t" in done.stderr


def test_settings_come_from_the_folder_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text("[limits]\ncalls = 7\n")
    assert turnscript("run", "-", stdin="budget.calls", cwd=tmp_path).stdout == "7\n"
    assert turnscript("run", "-", stdin="budget.calls", cwd=tmp_path, TURNSCRIPT_LIMIT_CALLS="8").stdout == "8\n"


def test_in_process_works_when_told() -> None:
    done = turnscript("run", "-", "--isolation", "in_process", "--json", stdin="1")
    assert json.loads(done.stdout)["layers"] == [["process", "off", "the script runs in the host's own process"]]


def test_doctor_reports_every_layer_and_that_the_sandbox_is_sound() -> None:
    done = turnscript("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["sound"]
    states = {row["layer"]: row["state"] for row in report["layers"]}
    assert {"process", "environment", "descriptors", "rlimits", "seccomp", "landlock", "self-test"} <= set(states)
    assert [name for name, state in states.items() if state == "off"] == []
    table = turnscript("doctor").stdout
    assert "the sandbox starts locked down" in table and "\x1b" not in table


def test_limits_lists_every_limit_with_its_reason() -> None:
    rows = {row["name"]: row for row in json.loads(turnscript("limits", "--json").stdout)}
    assert rows["calls"] == {
        "name": "calls",
        "default": "256 calls",
        "why": "fan-out over a directory fits; a runaway loop does not",
    }
    assert "turn_seconds" in rows and all(row["why"] for row in rows.values())


def test_help_and_version() -> None:
    assert "echo '1 + 1' | turnscript run -" in turnscript("run", "--help").stdout
    assert turnscript("--version").stdout.startswith("turnscript ")


def test_run_offers_the_read_only_tools_of_this_folder_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert turnscript("run", "-", stdin="(await tools.files.read('a.txt')).total_lines", cwd=tmp_path).stdout == "2\n"
    assert turnscript("run", "-", "--root", str(tmp_path), stdin="(await tools.files.read('a.txt')).total_lines").stdout == "2\n"
    done = turnscript("run", "-", "--profile", "none", stdin="await tools.files.read('a.txt')", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "") and "there is no pack files" in done.stderr


PATCH = "await tools.patch.apply({ patch: `*** Begin Patch\n*** Add File: b.txt\n+hello\n*** End Patch` })"


def test_a_tool_that_asks_is_denied_unless_it_is_allowed(tmp_path: Path) -> None:
    done = turnscript("run", "-", "--profile", "core-codex", stdin=PATCH, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("denied: patch.apply needs a person's approval, and it was not given")
    assert not (tmp_path / "b.txt").exists()
    done = turnscript("run", "-", "--profile", "core-codex", "--allow", "patch.*", stdin=PATCH, cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "b.txt").read_text() == "hello\n"


def test_tools_are_listed_searched_and_declared() -> None:
    listed = turnscript("tools", "--profile", "all", COLUMNS="200").stdout
    for name in (
        "files.read",
        "patch.apply",
        "shell.run",
        "web.fetch",
        "agents.ask",
        "results.read",
        "git.log",
        "plan.update",
        "search.grep",
    ):
        assert name in listed
    first = turnscript("tools", "find", "text", "in", "files", "--profile", "all", "--format", "json-schema")
    assert json.loads(first.stdout)[0]["name"] == "search.grep"
    assert "read(args: {" in turnscript("tools", "--format", "ts").stdout
    assert "core-codex" in turnscript("tools", "--profiles", COLUMNS="200").stdout


def test_a_wrong_format_profile_or_pack_is_one_line() -> None:
    for args, told in (
        (["--format", "yaml"], "turnscript: --format yaml: choose table, ts, json-schema, md, prompt\n"),
        (["--profile", "readonly"], "turnscript: there is no profile 'readonly'; did you mean read-only?\n"),
        (["--pack", "./no.py"], "turnscript: no.py: there is no such file; give the path of a pack's module\n"),
        (
            ["--pack", "nope"],
            f"turnscript: there is no pack 'nope'; known: {', '.join(known_packs())}. "
            "A module is named with dots, a file by its path: ./nope.py\n",
        ),
    ):
        done = turnscript("tools", *args)
        assert (done.stderr, done.returncode) == (told, 2)


def test_a_new_pack_works_as_the_page_says(tmp_path: Path) -> None:
    """Every command of the page for authors, typed as it stands there."""
    page = (ROOT / "docs" / "writing-a-pack.md").read_text()
    console = page.split("```console\n", 1)[1].split("```", 1)[0]
    shim = tmp_path / "bin" / "turnscript"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from harness.cli import app; app(prog_name=\'turnscript\')" "$@"\n')
    shim.chmod(0o755)
    folder = tmp_path / "new"
    folder.mkdir()
    env = {
        **os.environ,
        "PATH": f"{shim.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{folder}",
    }
    shown = ""
    for command in [line.removeprefix("$ ") for line in console.splitlines() if line.startswith("$ ")]:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, env=env, timeout=60)
        shown += f"$ {command}\n{done.stdout}{done.stderr}"
    assert shown == console
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_weather_pack.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        timeout=120,
    )
    assert "4 passed" in tested.stdout, tested.stdout
    again = turnscript("new-pack", "weather", cwd=folder)
    assert again.returncode == 2 and again.stderr.startswith("turnscript: weather_pack.py exists already; nothing was written.")
    for name, near in (("My Pack", "my_pack"), ("9x", "my_9x"), ("_", "weather")):
        told = f"turnscript: new-pack {name}: a pack's name is small letters, digits and _, a letter first; try {near}\n"
        assert turnscript("new-pack", name, cwd=folder).stderr == told
        assert turnscript("new-pack", near, "--folder", f"for {name}", cwd=folder).returncode == 0


def test_tools_lists_a_pack_alone_and_besides_a_profile_that_is_named() -> None:
    def listed(*args: str) -> set[str]:
        done = turnscript("tools", "--pack", "./examples/weather_pack.py", "--format", "json-schema", *args, cwd=ROOT)
        return {one["name"].partition(".")[0] for one in json.loads(done.stdout)}

    assert listed() == {"weather"}
    assert listed("--profile", "file-ops") == {"files", "search", "patch", "weather"}


def test_a_profile_that_inherits_tools_of_packs_it_has_not_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text(
        'profile = "mine"\n[profiles.mine]\nextends = "core-codex"\npacks = ["files", "search"]\n'
    )
    assert turnscript("tools", cwd=tmp_path).stderr == (
        "turnscript: profile mine: no tool fits 'shell.run' of its tools, since shell is not among its packs (files, search); "
        "add shell to packs, or set tools too: a profile that extends another takes over the tools of that one\n"
    )


def test_check_judges_a_script_and_foretells_its_calls_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    source = "const one = await tools.files.read({ path: 'a.txt' });\nfor (const p of [1]) await tools.files.stat(`${p}`);\n"
    done = turnscript("check", "-", stdin=source, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (
        '2 calls in the text:\n  1:19  files.read({ path: "a.txt" })  reads\n  2:28  files.stat(…)  reads, in a loop\n',
        0,
    )
    done = turnscript("check", "-", "--json", stdin=source + "await tools.files.reed('a');", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and [row["code"] for row in report["certain"]] == ["unknown_tool"]
    assert turnscript("check", "-", stdin="1 + 1").stdout == "no calls of tools in the text\n"
