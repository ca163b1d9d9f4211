"""A recording that is made again: what changed is told, and a good one is not replaced by a broken one unless that is meant."""

import os
import stat
from pathlib import Path

import pytest

from harness import Policy, Setup, allowing
from harness.replay.recorded import read_recording
from tests.harness.replay.making import edit, furnish, recording
from tests.harness.replay.typed import Typed

READ = "const page = await tools.files.read({ path: 'a.txt' });\nreturn page.text"
CAUGHT = "try { return (await tools.shell.run('touch made')).output } catch (error) { return 'caught' }"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return furnish(tmp_path / "root")


@pytest.fixture
def path(tmp_path: Path, root: Path) -> Path:
    return recording(tmp_path / "read.session.jsonl", READ, "return 2", root=root)


def test_a_turn_that_fails_now_is_not_written_unless_by_force(path: Path, root: Path) -> None:
    before = path.read_bytes()
    (root / "a.txt").unlink()
    done = Typed(path, "--record", "all", "--root", root)
    assert done.code == 1 and path.read_bytes() == before
    first, _, command = done.err.partition("; if that is meant: ")
    assert first.startswith(f"turnscript: {path}: not written: turn 1 finished on record, and fails now: not_found: ")
    assert command == f"turnscript replay {path} --record all --root {root} --force\n"
    assert done.out.startswith("1 session: 1 not written; ")
    assert Typed(*command.split()[2:]).code == 0
    ended = read_recording(path).turns[0].ended
    assert ended is not None and ended.ending.how == "failed" and Typed(path).code == 0


def test_new_does_not_write_a_turn_that_fails_now(path: Path, root: Path) -> None:
    edit(path, "path: 'a.txt'", "path: 'no.txt'")
    before = path.read_bytes()
    done = Typed(path, "--record", "new", "--root", root)
    assert done.code == 1 and "not written: turn 1 finished on record, and fails now: not_found: " in done.err
    assert path.read_bytes() == before


def test_a_call_that_is_denied_now_is_not_written_though_the_script_takes_it(tmp_path: Path, root: Path) -> None:
    allowed = Setup(policy=Policy(allowing(["shell.run"])))
    path = recording(tmp_path / "x.session.jsonl", CAUGHT, root=root, packs=["shell"], setup=allowed)
    before = path.read_bytes()
    done = Typed(path, "--record", "all", "--root", root)
    assert "not written: turn 1, line 1: shell.run returned on record, and was denied now: denied: " in done.err
    assert done.code == 1 and path.read_bytes() == before
    assert Typed(path, "--record", "all", "--root", root, "--allow", "shell.run").code == 0


def test_what_failed_on_record_may_fail_again(tmp_path: Path, root: Path) -> None:
    path = recording(tmp_path / "x.session.jsonl", "return (await tools.files.read({ path: 'no.txt' })).text", root=root)
    assert Typed(path, "--record", "all", "--root", root).code == 0


def test_what_changed_is_told_turn_by_turn(path: Path, root: Path) -> None:
    (root / "a.txt").write_text("another\n")
    edit(path, "return 2", "await tools.files.stat({ path: 'a.txt' }); return 3")
    assert Typed(path, "--record", "all", "--root", root).out.splitlines()[:3] == [
        f"recorded {path}  2 turns, 2 calls, # ms",
        "    turn 1: 1 call, 7 bytes shown; before 1 call, 13 bytes shown",
        "    turn 2: 1 call, 1 byte shown; before 0 calls, 1 byte shown",
    ]
    edit(path, "return 3", "return 4")
    assert Typed(path, "--record", "all", "--root", root).out.splitlines()[1:3] == [
        "    turn 1: 1 call, 7 bytes shown; as before",
        "    turn 2: 1 call, 1 byte shown; other text than before",
    ]


def test_the_hint_repeats_what_was_given(path: Path, root: Path) -> None:
    (root / "a.txt").write_text("another\n")
    done = Typed(path, "--verify", "--root", root, "--allow", "patch.*", "--pack", "files")
    assert f"\nrecord again: turnscript replay {path} --record all --pack files --root {root} --allow 'patch.*'\n" in done.out


def test_the_file_can_be_read_by_whom_the_umask_lets(tmp_path: Path, root: Path) -> None:
    before = os.umask(0o027)
    try:
        path = recording(tmp_path / "x.session.jsonl", "return 1", root=root)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
