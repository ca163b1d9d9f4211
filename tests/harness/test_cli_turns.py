"""`turnscript run` as turns of a session: what the model would see, approvals at a real terminal, modes, switches, the ledger."""

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.harness.test_cli import COMMAND, ROOT, turnscript

LINES = "\n".join(f"line {number} of the notes" for number in range(1, 21)) + "\n"
READ = 'show(await tools.files.read({ path: "notes.txt" }));'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text(LINES)
    (tmp_path / "read.js").write_text(READ)
    (tmp_path / "write.js").write_text('(await tools.patch.write({ path: "new.txt", text: "hello\\n" })).added')
    return tmp_path


def as_json(*args: str, cwd: Path, **more: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(turnscript("run", *args, "--json", cwd=cwd, **more).stdout)
    return told


def test_scripts_are_turns_of_one_session_and_lines_in_view_are_not_shown_twice(folder: Path) -> None:
    done = turnscript("run", "read.js", "read.js", cwd=folder)
    assert done.stdout.splitlines() == [
        "[T1.1]",
        "notes.txt 1-20 of 20",
        *LINES.splitlines(),
        "notes.txt 1-20 of 20",
        "[20 lines already shown in T1.1, lines 2-21: notes.txt 1-20]",
    ]
    assert done.stderr == "── turn 1: read.js\n── turn 2: read.js\n"


def test_each_control_has_a_switch_that_is_recorded(folder: Path) -> None:
    plain = turnscript("run", "read.js", "read.js", "--no-overlap-trim", cwd=folder)
    assert plain.stdout.count("line 7 of the notes") == 2
    assert as_json("read.js", "read.js", cwd=folder)["ledger"]["cache_hits"] == 1
    assert as_json("read.js", "read.js", "--no-cache", cwd=folder)["ledger"]["cache_hits"] == 0


def test_switches_may_stand_in_the_file(folder: Path) -> None:
    (folder / "turnscript.toml").write_text("[flags]\ncache = false\noverlap_trim = false\n")
    told = as_json("read.js", "read.js", cwd=folder)
    assert told["ledger"]["cache_hits"] == 0 and told["ledger"]["references"] == 0


def test_a_dry_run_reads_and_names_what_it_would_do(folder: Path) -> None:
    (folder / "job.js").write_text(
        'const page = await tools.files.read({ path: "notes.txt" });\n'
        'await tools.patch.write({ path: "new.txt", text: "page.text" });\nawait tools.patch.delete({ path: "notes.txt" });'
    )
    done = turnscript("run", "job.js", "--profile", "all", "--mode", "dry-run", cwd=folder)
    assert done.returncode == 1 and not (folder / "new.txt").exists()
    assert done.stdout == (
        "[T1.2]\ndry run: nothing was changed\n"
        "ran, reading only: files.read 1\n"
        'would call patch.write({"path":"new.txt","text":"page.text"}) (line 2): write file:new.txt, asks first\n'
        'in the text, not reached: 3:7  patch.delete({ path: "notes.txt" })  writes, asks first\n'
    )


def test_a_disabled_session_runs_nothing_and_says_so(folder: Path) -> None:
    done = turnscript("run", "read.js", cwd=folder, TURNSCRIPT_MODE="disabled")
    assert (done.stdout, done.returncode) == ("", 1)
    assert done.stderr == (
        "scripts_disabled: scripts are disabled in this session, so nothing ran\n"
        "  hint: go on without tools, or ask a person to enable them\n"
    )


def test_a_wrong_mode_is_one_line(folder: Path) -> None:
    done = turnscript("run", "read.js", "--mode", "dry", cwd=folder)
    assert (done.stderr, done.returncode) == (
        "turnscript: --mode: there is no mode 'dry'; choose enabled, dry-run, disabled\n",
        2,
    )


def test_a_reply_is_searched_for_its_one_script(folder: Path) -> None:
    (folder / "reply.md").write_text(
        "I look:\n\n```js\n<tool-calls>1</tool-calls>\n```\n\n<tool-calls>\n6 * 7\n</tool-calls>\nDone."
    )
    assert turnscript("run", "reply.md", "--reply", cwd=folder).stdout == "42\n"
    (folder / "two.md").write_text("<tool-calls>1</tool-calls><tool-calls>2</tool-calls>")
    done = turnscript("run", "two.md", "--reply", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "turnscript: two.md: second_block: the reply has 2 <tool-calls> blocks, so nothing ran; one script"
    )


def test_the_ledger_is_a_table(folder: Path) -> None:
    done = turnscript("run", "read.js", "read.js", "--ledger", cwd=folder)
    assert "bytes produced" in done.stdout and "1 hits, 1 misses, 0 shared" in done.stdout


def test_results_on_disk_serve_a_later_session(folder: Path) -> None:
    (folder / "list.js").write_text('(await tools.search.grep({ pattern: "line", glob: "*.txt" })).total')
    old = time.time() - 60
    for path in [*folder.iterdir(), folder]:
        os.utime(path, (old, old))
    args = ("list.js", "--cache", str(folder.parent / "cache-of-results"))
    first, second = as_json(*args, cwd=folder), as_json(*args, cwd=folder)
    assert [call["source"] for call in first["calls"]] == ["tool"]
    assert [(call["source"], call["of"]) for call in second["calls"]] == [("disk", "an earlier session")]
    (folder / "notes.txt").write_text("line\n")
    third = as_json(*args, cwd=folder)
    assert (third["calls"][0]["source"], third["value"]) == ("tool", 1)


def test_rules_and_allowances_come_from_the_file(folder: Path) -> None:
    (folder / "turnscript.toml").write_text(
        'profile = "all"\nallow = ["patch.*"]\n'
        '[[approval]]\ntool = "patch.write"\narguments = { path = "secret*" }\nthen = "deny"\n'
        '[budget.turn]\n"files.read" = { calls = 1 }\n'
    )
    (folder / "job.js").write_text(
        "const told = [];\n"
        'for (const path of ["secret.txt", "open.txt"])\n'
        '  try { await tools.patch.write({ path, text: "x" }); told.push(path) } catch (e) { told.push(e.message) }\n'
        'await tools.files.read({ path: "notes.txt" });\n'
        'try { await tools.files.read({ path: "notes.txt" }) } catch (e) { told.push(e.message, e.hint, budget.tools) }\n'
        "told"
    )
    assert as_json("job.js", cwd=folder)["value"] == [
        "patch.write refused: a rule of this session denies this call (deny patch.write with path: secret*)",
        "open.txt",
        "files.read refused: this turn has made 1 of 1 calls of files.read; ran so far: files.read 1",
        "work with what you have, or go on in the next turn",
        {"files.read": {"calls": 0}},
    ]
    assert not (folder / "secret.txt").exists()


WRONG = [
    ("mode = 'off'", "mode: there is no mode 'off'; choose enabled, dry-run, disabled"),
    ("[flags]\ncach = false", "flags: unknown key 'cach'; did you mean cache?"),
    ("[flags]\ncache = 0", "flags.cache must be true or false, not 0"),
    ("[budget]\nweek = {}", "budget: unknown key 'week'; known: turn, session"),
    ("[budget.turn]\nweb = { call = 1 }", "budget.turn.web: unknown key 'call'; did you mean calls?"),
    ("[budget.turn]\nweb = { calls = -1 }", "budget.turn.web.calls: -1 is not a number above 0"),
    ("[[approval]]\ntool = 'x.*'\nthen = 'perhaps'", 'approval 1.then must be "allow", "ask" or "deny"'),
    ("approval = 3", "approval must be a list of tables"),
    ("plan_reads = 1", "plan_reads must be true or false, not 1"),
    ("[secrets]\npattern = true", "secrets: unknown key 'pattern'; did you mean patterns?"),
]


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_a_wrong_setting_is_one_line_with_the_place(folder: Path, text: str, told: str) -> None:
    (folder / "turnscript.toml").write_text(text)
    done = turnscript("run", "read.js", cwd=folder)
    assert done.returncode == 2 and done.stderr.startswith("turnscript: turnscript.toml: " + told), done.stderr


def test_a_script_that_reads_must_follow_a_plan_where_that_is_asked(folder: Path) -> None:
    (folder / "plan.js").write_text(
        'return await tools.reads.plan({ files: [{ path: "notes.txt", ranges: [[1, 20]] }], bytes: 2000 });'
    )
    args = ("read.js", "plan.js", "read.js")
    refused, planned, read = as_json(*args, "--plan-reads", cwd=folder)["turns"]
    assert (refused["calls"][0]["code"], refused["calls"][0]["try_again"]) == ("plan_needed", "changed")
    assert (planned["ok"], read["ok"]) == (True, True)
    assert all(turn["ok"] for turn in as_json("read.js", "read.js", "--plan-reads", "--no-two-pass", cwd=folder)["turns"])


def test_a_turn_that_left_the_view_may_be_shown_again(folder: Path) -> None:
    done = turnscript(
        "run", "read.js", "write.js", "read.js", "--view-turns", "1", "--profile", "all", "--allow", "patch.*", cwd=folder
    )
    assert done.stdout.count("line 7 of the notes") == 2


def test_the_host_may_relax_the_first_turn(folder: Path) -> None:
    (folder / "ask.js").write_text("budget.bytes")
    assert turnscript("run", "ask.js", cwd=folder).stdout == "24576\n"
    assert turnscript("run", "ask.js", "--relax", "a long report", cwd=folder).stdout == "32768\n"
    assert as_json("ask.js", "--relax", "a long report", cwd=folder)["ledger"]["relaxed"] == ["by the host: a long report"]


def test_a_named_set_of_limits_changes_what_is_shown(folder: Path) -> None:
    (folder / "notes.txt").write_text("".join(f"line {number}\n" for number in range(1, 501)))
    assert turnscript("run", "read.js", cwd=folder).stdout.count("line") < 200
    assert turnscript("run", "read.js", "--shown", "tight", cwd=folder).stdout.count("line") == 500
    done = turnscript("run", "read.js", "--shown", "tighter", cwd=folder)
    assert done.stderr == "turnscript: --shown: there is no set 'tighter'; choose usual, tight\n"


MISSPELT = [
    (
        '[[approval]]\ntool = "files.raed"\nthen = "deny"',
        "the rule (deny files.raed): no tool fits files.raed; did you mean files.read?",
    ),
    (
        '[[approval]]\ntool = "files.read"\narguments = { pth = "x*" }\nthen = "deny"',
        "the rule (deny files.read with pth: x*): files.read has no argument pth; did you mean path?",
    ),
    ('allow = ["ptch.*"]', "the rule (allow ptch.*): there is no pack ptch; did you mean patch?"),
    ("[budget.turn]\nfils = { calls = 1 }", "budget.turn.fils: there is no pack fils; did you mean files?"),
    ('cache = "kept"', "cache kept: it lies below the root ., whose changes it would be; choose a folder outside"),
]


@pytest.mark.parametrize(("text", "told"), MISSPELT)
def test_a_rule_that_could_never_hold_is_an_error(folder: Path, text: str, told: str) -> None:
    (folder / "turnscript.toml").write_text(text)
    done = turnscript("run", "read.js", cwd=folder)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"turnscript: {told}\n", 2)


def test_a_rule_for_a_pack_that_is_not_on_offer_is_none(folder: Path) -> None:
    (folder / "turnscript.toml").write_text('allow = ["patch.*", "web.fetch"]')
    assert turnscript("run", "read.js", cwd=folder).returncode == 0


def test_a_root_that_is_not_there_is_one_line(folder: Path) -> None:
    done = turnscript("run", "read.js", "--root", "/nope", cwd=folder)
    assert (done.stderr, done.returncode) == (
        "turnscript: root /nope: there is no such folder; give the folder that tools work in\n",
        2,
    )


def test_a_secret_of_the_environment_is_not_shown(folder: Path) -> None:
    (folder / "notes.txt").write_text("the token is s3cr3t-Value-0f-the-host\n")
    done = turnscript("run", "read.js", cwd=folder, DEPLOY_TOKEN="s3cr3t-Value-0f-the-host")
    assert "s3cr3t" not in done.stdout and "the token is [secret DEPLOY_TOKEN]" in done.stdout


def at_a_terminal(*args: str, cwd: Path, answers: list[str]) -> tuple[str, int]:
    """Run with a terminal of its own; each question is answered with the next line."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
        os.execve(COMMAND[0], [*COMMAND, "run", *args], env)
    seen = b""
    waiting = list(answers)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        asked = seen.count(b"[t]ool: ")
        seen += data
        for _ in range(seen.count(b"[t]ool: ") - asked):
            os.write(terminal, (waiting.pop(0) if waiting else "n").encode() + b"\n")
    os.close(terminal)
    return seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_person_at_the_terminal_is_asked_and_may_say_yes(folder: Path) -> None:
    told, code = at_a_terminal("write.js", "--profile", "all", cwd=folder, answers=["y"])
    assert "1 of 1: patch.write (line 1, writes file:new.txt; the tool asks before this)" in told
    assert (code, (folder / "new.txt").read_text()) == (0, "hello\n")


def test_a_person_at_the_terminal_may_say_no(folder: Path) -> None:
    told, code = at_a_terminal("write.js", "--profile", "all", cwd=folder, answers=["what?", "n"])
    assert "denied: patch.write needs a person's approval, and it was not given" in told
    assert code == 1 and not (folder / "new.txt").exists()


def test_without_a_terminal_nobody_answers(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "run", "write.js", "--profile", "all"], capture_output=True, text=True, cwd=folder, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1 and "it was not given: nobody answered" in done.stderr
