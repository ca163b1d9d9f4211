"""`turnscript chat` without a terminal: the answer on standard output, what happens on standard error, everything as JSON lines."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests.harness.chat.endpoint import said, script, serving

COMMAND = [sys.executable, "-c", "from harness.cli import app; app()", "chat"]
LOOK = "const page = await tools.files.read({ path: 'a.py' });\nreturn page.text;"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("x = 1  # TODO\n")
    return tmp_path / "project"


def typed(project: Path, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, without a terminal."""
    env = {**os.environ, "PYTHONPATH": os.getcwd(), "TURNSCRIPT_STORE": str(project.parent / "kept"), **environment}
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=project,
        env=env,
        timeout=60,
        start_new_session=True,
    )


def here(project: Path, *arguments: str, **environment: str) -> Any:
    """In this process."""
    env = {"TURNSCRIPT_STORE": str(project.parent / "kept"), **environment}
    return CliRunner().invoke(app, ["chat", "--root", str(project), *arguments], env=env)


def replies(project: Path, *listed: Any) -> list[str]:
    (project.parent / "replies.json").write_text(json.dumps(listed))
    return ["--scripted", str(project.parent / "replies.json")]


def test_a_question_is_answered_on_standard_output_and_what_happened_is_told_beside_it(project: Path) -> None:
    plays = [said("anthropic", "I look.", script(LOOK), chunk_bytes=13), said("anthropic", "One TODO.", tokens=(90_000, 2_000))]
    with serving(plays) as endpoint:
        done = typed(
            project, "--kind", "anthropic", "--url", endpoint.url, stdin="What is\nleft?\n",
            TURNSCRIPT_MODEL_NAME="small", TURNSCRIPT_MODEL_KEY="k",
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "One TODO.\n")
    rows = [line.rstrip() for line in done.stderr.splitlines()]
    assert rows[:3] == ["I look.", "  1 const page = await tools.files.read({ path: 'a.py' });", "  2 return page.text;"]
    assert rows[3].startswith("  ✓ files.read  line 1  ") and rows[3].endswith('{"path": "a.py"}')
    assert rows[4] == "  │ x = 1  # TODO" and rows[5].startswith("  turn 1 finished, ") and ", 1 call, 1" in rows[5]
    assert rows[6:] == ["context ██████░░░░░░░░░░░░░░ 28 % left (92,000 of 128,000 tokens)"]
    assert "\x1b" not in done.stderr + done.stdout
    (asked,) = endpoint.requests[0]["body"]["messages"]
    assert asked["content"][0]["text"] == "What is\nleft?"


PAGE = (Path(__file__).parents[3] / "docs" / "chat.md").read_text().partition("## Replies from a file")[2].partition("\n## ")[0]


def test_the_replies_of_the_page_are_given_one_by_one(project: Path) -> None:
    listed = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    done = here(project, "How many?", *replies(project, *listed))
    assert (done.exit_code, done.stdout) == (0, "That is how many there are.\n")
    rows = [line.rstrip() for line in done.stderr.splitlines()]
    assert "I look." in done.stderr and "  │ 1" in rows and any(row.startswith("  turn 1 finished") for row in rows)


def test_the_page_names_every_member_of_a_reply(project: Path) -> None:
    told = here(project, "go", *replies(project, {"txt": "a"})).stderr
    assert told.startswith("turnscript: --scripted: ") and "txt: Extra inputs are not permitted" in told
    members = told.rstrip().rpartition("an object of ")[2].split(", ")
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)) == sorted(members)


def test_a_nearly_full_context_says_how_to_go_on(project: Path) -> None:
    done = here(project, "go", *replies(project, {"text": "Yes.", "usage": {"read": 96_000}}))
    assert done.stderr.endswith(
        "25 % left (96,000 of 128,000 tokens)\n"
        "the context is nearly full: ask for a summary, end with Ctrl-D, and begin a new chat with it\n"
    )


def test_a_session_goes_on_where_it_was(project: Path) -> None:
    assert here(project, "first", *replies(project, {"script": LOOK}, "One.")).exit_code == 0
    plays = [said("openai", "Still one.")]
    with serving(plays) as endpoint:
        done = here(project, "second", "--resume", "last", "--url", endpoint.url, "--model", "small")
    assert (done.exit_code, done.stdout) == (0, "Still one.\n")
    told = endpoint.requests[0]["body"]["messages"][1:]
    assert [(one["role"], one["content"]) for one in told] == [
        ("user", "first"), ("assistant", None), ("tool", "x = 1  # TODO"), ("assistant", "One."), ("user", "second"),
    ]  # fmt: skip


def test_without_a_terminal_nobody_allows_what_asks(project: Path) -> None:
    run = "await tools.shell.run({ command: 'touch made' })"
    done = typed(project, "go", "--profile", "core-codex", *replies(project, {"script": run}, "No."))
    assert "✗ shell.run" in done.stderr and "denied by approval" in done.stderr and not (project / "made").exists()
    done = here(project, "go", "--profile", "core-codex", "--allow", "shell.run", *replies(project, {"script": run}, "Yes."))
    assert (done.stdout, (project / "made").exists()) == ("Yes.\n", True)


def test_every_event_is_a_json_line(project: Path) -> None:
    done = here(project, "go", "--json", *replies(project, {"text": "I look.", "script": LOOK}, "One."))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["event"] for one in lines] == [
        "asks", "text", "text", "replied", "turn_began", "call_began", "call_ended", "turn_ended", "asks", "text", "replied",
        "answer", "closed",
    ]  # fmt: skip
    assert lines[-2] == {"event": "answer", "how": "answered", "text": "One.", "problem": None, "steps": 2}
    assert lines[-1]["ledger"]["calls"] == {"returned": 1} and len(lines[-1]["session"]) == 32


def test_scripts_in_replies_run_where_the_model_calls_no_tools(project: Path) -> None:
    done = here(project, "go", "--text-calls", *replies(project, {"text": "I look.", "script": LOOK}, "One."))
    assert (done.exit_code, done.stdout) == (0, "One.\n") and "✓ files.read" in done.stderr


def test_a_script_that_takes_long_goes_on_and_is_asked_for(project: Path) -> None:
    long = {"name": "exec", "arguments": {"source": "show('begun'); await sleep(300); return 'ended'"}}
    wait = {"name": "wait", "arguments": {"yield_time_ms": 20_000}}
    listed = replies(project, {"calls": [long]}, {"calls": [wait]}, "It ended.")
    done = here(project, "go", "--preset", "codex", "--yield-seconds", "0.1", "--json", *listed)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    (yielded,) = (one for one in lines if one["event"] == "turn_yielded")
    (ended,) = (one for one in lines if one["event"] == "turn_ended")
    assert (yielded["text"], ended["text"], done.exit_code) == ("begun", "begun\nended", 0)


def test_a_model_that_fails_is_one_line_and_the_session_is_kept(project: Path) -> None:
    done = here(project, "go", *replies(project, {"script": LOOK}, {"error": "the line is dead; ask again"}))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "the line is dead; ask again" in done.stderr.splitlines()
    shown = CliRunner().invoke(app, ["session", "show", "last", "--store", str(project.parent / "kept")])
    assert "user: go" in shown.stdout and "turn 1" in shown.stdout


def test_what_is_used_wrongly_is_one_line_with_the_next_step(project: Path) -> None:
    listed = replies(project, "a")
    for arguments, told in [
        (["go"], 'no model is named; give --model NAME, or name = "…" under [model] in turnscript.toml'),
        ([*listed], 'there is no question; give one: turnscript chat "What is left to do here?"'),
        (["go", "--no-record", "--resume", "last"], "--no-record keeps nothing, so --store and --resume have no place beside it; leave it out"),
        (["go", "--text-calls", "--preset", "codex"], "--text-calls leaves the model no tool to wait with; use it with --preset run_script and no --yield-seconds"),
        (["go", "--scripted", "none.json"], "--scripted: none.json: No such file or directory; give a file with a JSON list of replies"),
    ]:  # fmt: skip
        done = here(project, *arguments, TURNSCRIPT_MODEL_NAME="")
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"turnscript: {told}\n")


def test_a_failure_of_the_endpoint_is_exit_code_1(project: Path) -> None:
    with serving([]) as endpoint:
        gone = endpoint.url
    done = here(project, "go", "--url", gone, "--model", "small")
    assert done.exit_code == 1 and "start the server there, or give another --url" in done.stderr


def test_interrupted_a_question_is_stopped_and_the_session_is_kept(project: Path) -> None:
    hold = threading.Event()
    half = said("openai", "A long answer that does not end", chunk_bytes=900, hold=hold)
    env = {**os.environ, "PYTHONPATH": os.getcwd(), "TURNSCRIPT_STORE": str(project.parent / "kept")}
    with serving([half]) as endpoint:
        process = subprocess.Popen(
            [*COMMAND, "speak", "--url", endpoint.url, "--model", "small"], cwd=project, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert endpoint.came.acquire(timeout=30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines() == ["stopped; what was done until then is done and on record"]
    shown = CliRunner().invoke(app, ["session", "show", "last", "--store", str(project.parent / "kept")])
    assert "user: speak" in shown.stdout
