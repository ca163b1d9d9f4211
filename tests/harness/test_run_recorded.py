"""`turnscript run` keeps what it runs: sessions go on from the command line, and a turn that died is finished there."""

import json
import re
from pathlib import Path

from tests.harness.test_cli import turnscript

PACK = '''
"""A pack that can end its process."""
import os
import signal
from pathlib import Path
from catalog import tool


@tool(writes=["thing:{name}"], approval=False)
async def act(name: str, die: bool = False) -> str:
    """Act.

    Args:
        name: what on.
        die: end the process afterwards.
    """
    with Path("acts").open("a") as file:
        file.write(name + "\\n")
    if die and not Path("died").exists():
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "acted on " + name
'''
DYING = """
const first = await tools.acts.act("first");
const second = await tools.acts.act({ name: "second", die: true }).catch((e) => e.name);
const third = await tools.acts.act("third");
return [first, second, third];
"""


def run(folder: Path, *args: str, stdin: str = "") -> tuple[int, str, str]:
    done = turnscript("run", *args, stdin=stdin, cwd=folder, TURNSCRIPT_HOME=str(folder / "home"))
    return done.returncode, done.stdout, done.stderr


def test_a_session_is_kept_and_goes_on(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "-", "--json", "--model", "m-1", "--label", "task=7", stdin="store('n', 41); return 1")
    session = json.loads(out)["session"]
    assert code == 0 and re.fullmatch("[0-9a-f]{32}", session)
    assert run(tmp_path, "-", "--resume", session[:10], stdin="return [context.turn, load('n')]") == (0, "[2,41]\n", "")
    assert run(tmp_path, "-", "--resume", "last", stdin="return context.turn") == (0, "3\n", "")
    shown = turnscript("session", "list", "--json", cwd=tmp_path, TURNSCRIPT_HOME=str(tmp_path / "home"))
    (row,) = json.loads(shown.stdout)
    assert (row["session"], row["turns"], row["model"]) == (session, 3, "m-1")


def test_no_record_keeps_nothing(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "-", "--json", "--no-record", stdin="return 1")
    assert code == 0 and json.loads(out)["session"] is None and not (tmp_path / "home").exists()


def test_a_place_that_cannot_be_written_is_told_and_the_script_runs(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    code, out, err = run(tmp_path, "-", stdin="return 1")
    assert (code, out) == (0, "1\n") and err.startswith("notice: this session is not kept: session ")
    code, out, err = run(tmp_path, "-", "--store", str(tmp_path / "home" / "x"), stdin="return 1")
    assert (code, out) == (2, "") and err.startswith("turnscript: session ") and "give a folder that can be written" in err


def test_other_stores_by_their_address(tmp_path: Path) -> None:
    for address in ("sqlite:here.db", "jsonl:here"):
        code, _, err = run(tmp_path, "-", "--store", address, "--session", "mine", stdin="store('n', 1); return 1")
        assert (code, err) == (0, "")
        assert run(tmp_path, "-", "--store", address, "--resume", "mine", stdin="return load('n')") == (0, "1\n", "")
        code, _, err = run(tmp_path, "-", "--store", address, "--session", "mine", stdin="return 1")
        assert (code, err) == (2, "turnscript: session mine is kept already; resume it, or take another id\n")


def test_wrong_use_is_one_line_with_the_next_step(tmp_path: Path) -> None:
    for args, told in (
        (("--continue", "x.js"), "--continue needs the session: --resume ID, or --resume last"),
        (
            ("-", "--no-record", "--resume", "last"),
            "--no-record keeps nothing, so --store, --session and --resume have no place beside it; leave it out",
        ),
        (("-", "--session", "a", "--resume", "b"), "--session names a new session, --resume one that is kept; give one of them"),
        (("-", "--resume", "b", "--unsure", "maybe"), "--unsure maybe: choose refuse or run"),
        (("-", "--label", "x"), "--label x: write name=value, such as --label task=1234"),
        ((), "give the file of a script, or - for standard input; --resume ID --continue finishes an interrupted turn"),
        (
            ("-", "--resume", "last"),
            "no session is kept here yet; `turnscript run` writes one, `turnscript session import` takes others in",
        ),
    ):
        code, out, err = run(tmp_path, *args)
        assert (code, out, err) == (2, "", f"turnscript: {told}\n")


def test_a_turn_that_died_is_finished_and_nothing_runs_twice(tmp_path: Path) -> None:
    (tmp_path / "acts.py").write_text(PACK)
    (tmp_path / "dying.js").write_text(DYING)
    usual = ("--pack", "./acts.py", "--allow", "acts.*")
    code, _, _ = run(tmp_path, "dying.js", *usual, "--session", "s")
    assert code == -9 and (tmp_path / "acts").read_text() == "first\nsecond\n"
    shown = turnscript("session", "show", "s", cwd=tmp_path, TURNSCRIPT_HOME=str(tmp_path / "home")).stdout
    assert "nobody knows what became of acts.act (line 3)" in shown
    code, out, err = run(tmp_path, *usual, "--resume", "s", "--continue")
    assert (code, out) == (0, '["acted on first","unsure","acted on third"]\n')
    assert err == (
        "notice: turn 1 was interrupted: it had made acts.act (line 2) returned; running then, so nobody knows what they did: "
        "acts.act (line 3)\n"
    )
    assert (tmp_path / "acts").read_text() == "first\nsecond\nthird\n"
    code, _, err = run(tmp_path, *usual, "--resume", "s", "--continue")
    assert (code, err) == (2, "turnscript: session s: no turn was interrupted; give a script to go on with\n")


def test_a_resumed_session_works_where_it_worked(tmp_path: Path) -> None:
    (old := tmp_path / "old").mkdir()
    (new := tmp_path / "new").mkdir()
    for folder in (old, new):
        (folder / "which").write_text(folder.name)
    home = {"TURNSCRIPT_HOME": str(tmp_path / "home")}
    script = "return (await tools.files.read({ path: 'which' })).text"
    assert turnscript("run", "-", "--session", "s", stdin=script, cwd=old, **home).stdout == "old\n"
    assert turnscript("run", "-", "--resume", "s", stdin=script, cwd=new, **home).stdout == "old\n"
    other = turnscript("run", "-", "--resume", "s", "--root", ".", stdin=script, cwd=new, **home)
    assert other.returncode == 2 and other.stderr.endswith("new; give that root\n")


def test_a_turn_that_died_is_not_continued_without_its_packs_and_not_lost_by_trying(tmp_path: Path) -> None:
    (tmp_path / "acts.py").write_text(PACK)
    (tmp_path / "dying.js").write_text(DYING)
    usual = ("--pack", "./acts.py", "--allow", "acts.*")
    run(tmp_path, "dying.js", *usual, "--session", "s")
    code, _, err = run(tmp_path, "--resume", "s", "--continue")
    assert code == 2 and "turn 1 does not go on yet: acts.act was on offer and is not here; give the packs it had (acts)" in err
    assert run(tmp_path, *usual, "--resume", "s", "--continue")[:2] == (0, '["acted on first","unsure","acted on third"]\n')
