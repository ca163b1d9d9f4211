"""Where verbs look: reading makes nothing, what may only be read is read, and every refusal says what to do."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from time import time

import pytest

from harness.entries import Closed
from tests.contracts.entry_samples import opened as began
from tests.harness.cli.typed import FIRST, SECOND, Typed, keep, two_sessions
from tests.harness.sample_session import sample

ROOT = Path(__file__).parents[3]
READING = [
    ["list"],
    ["list", "--by", "tool"],
    ["show", "last"],
    ["search", "x"],
    ["export", "last"],
    ["verify", "--all"],
    ["prune", "--keep", "1"],
    ["prune", "--keep", "1", "--apply"],
]


AS_NOBODY = """
import os, sys
from typer.testing import CliRunner
from harness.cli import app
for verb in (["list"], ["verify", "--all"]):  # loads what nobody may not be able to load
    CliRunner().invoke(app, ["session", *verb, "--store", sys.argv[-1]])
os.setgid(65534)
os.setuid(65534)
"""


def as_process(*arguments: str, nobody: bool = False, file_bytes: int | None = None) -> "subprocess.CompletedProcess[str]":
    """With the address as the last argument, also as somebody who is not root: root may write everywhere."""
    code = f"{AS_NOBODY if nobody else 'from harness.cli import app'}\napp(prog_name='turnscript')"
    command = [sys.executable, "-c", code, "session", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}

    def limited() -> None:
        if file_bytes is not None:
            setrlimit(RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60, env=env, preexec_fn=limited)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """That others may enter; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.mark.parametrize("typed", READING, ids=" ".join)
@pytest.mark.parametrize("address", ["sqlite:{}/in/s.db", "jsonl:{}/in", "{}/in"])
def test_an_address_that_was_typed_must_have_a_store(tmp_path: Path, address: str, typed: list[str]) -> None:
    place = address.format(tmp_path)
    done = Typed(tmp_path, *typed, "--store", place)
    assert done.err.startswith(
        f"turnscript: there is no store at {place.removeprefix('jsonl:')}; check the address, or begin one: "
    )
    assert (done.out, done.err.count("\n"), done.code) == ("", 1, 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("typed", READING, ids=" ".join)
@pytest.mark.parametrize("address", ["sqlite:{}/in/s.db", "jsonl:{}/in"])
def test_a_place_of_the_settings_that_is_not_there_yet_is_an_empty_store(tmp_path: Path, address: str, typed: list[str]) -> None:
    done = Typed(tmp_path, *typed, TURNSCRIPT_STORE=address.format(tmp_path))
    assert "there is no store" not in done.err and done.code == {"show": 2, "export": 2, "search": 1}.get(typed[0], 0)
    assert list(tmp_path.iterdir()) == []


def test_a_source_of_a_migration_must_be_there_and_a_dry_run_makes_no_target(tmp_path: Path) -> None:
    done = Typed(tmp_path, "migrate", "--from", f"{tmp_path}/none", "--to", f"sqlite:{tmp_path}/s.db")
    assert done.err.startswith(f"turnscript: there is no store at {tmp_path}/none; ") and done.code == 2
    source = two_sessions(tmp_path / "sessions")
    done = Typed(tmp_path, "migrate", "--from", str(source), "--to", f"sqlite:{tmp_path}/s.db")
    assert "2 sessions: 2 to copy" in done.out and done.code == 0
    assert list(tmp_path.iterdir()) == [source]


def test_a_file_of_another_kind_is_no_empty_store(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("return 1")
    done = Typed(tmp_path, "list", "--store", f"{tmp_path}/a.js")
    told = f"turnscript: {tmp_path}/a.js is no folder; sessions are files in a folder: give that, or sqlite:FILE for a database\n"
    assert (done.out, done.err, done.code) == ("", told, 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("folder_mode", [0o755, 0o777])
def test_a_database_that_may_only_be_read_is_listed(open_folder: Path, folder_mode: int) -> None:
    address = f"sqlite:{open_folder}/s.db"
    keep(address, FIRST, *sample(FIRST))
    (open_folder / "s.db").chmod(0o444)
    open_folder.chmod(folder_mode)
    done = as_process("list", "--store", address, nobody=True)
    assert (FIRST[:8] in done.stdout, done.stderr, done.returncode) == (True, "", 0)
    assert as_process("verify", "--all", "--store", address, nobody=True).stdout.startswith(f"good    {FIRST}  ")
    refused = as_process("prune", "--session", FIRST, "--apply", "--store", address, nobody=True)
    told = f"session {FIRST} cannot be removed: attempt to write a readonly database"
    assert refused.stderr == f"turnscript: {told}; it may only be read here: give a store that you may write\n"
    assert [path.name for path in open_folder.iterdir()] == ["s.db"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_not_be_read_says_what_to_do(open_folder: Path) -> None:
    two_sessions(open_folder / "in")
    done = as_process("list", "--store", f"{open_folder}/in", nobody=True)
    told = f"sessions in {open_folder}/in cannot be listed: Permission denied: {open_folder}/in"
    assert done.stderr == f"turnscript: {told}; make it readable for you, or give another store\n"
    inside = as_process("list", "--store", f"{open_folder}/in/deep", nobody=True)
    assert (
        inside.stderr == f"turnscript: cannot look at {open_folder}/in/deep: Permission denied; give a folder that you may read\n"
    )
    assert (done.returncode, inside.returncode) == (2, 2)


def test_a_database_for_which_there_is_no_room_says_so(tmp_path: Path) -> None:
    source = two_sessions(tmp_path / "sessions")
    stores = ("--from", str(source), "--to", f"sqlite:{tmp_path}/s.db")
    done = as_process("migrate", *stores, "--apply", file_bytes=20_000)
    assert done.stderr.startswith(f"turnscript: cannot open sqlite:{tmp_path}/s.db: ") and done.stderr.count("\n") == 1
    assert done.stderr.rstrip().endswith(("how big files may grow here (ulimit -f)", "make room on the disk"))


BROKEN = [
    ('"v":1,"seq":3', '"v":0,"seq":3', "line 3: format 0; this turnscript reads 1"),
    ('"v":1,"seq":3', '"v":1,"seq":3,', "line 3: not a whole JSON object"),
    (
        '"type":"message","payload":{',
        '"type":"message","payload":{"colour":1,',
        "line 2: message.colour: Unexpected keyword argument",
    ),
]


@pytest.mark.parametrize(("old", "new", "told"), BROKEN)
def test_a_session_that_cannot_be_read_says_what_to_do(tmp_path: Path, old: str, new: str, told: str) -> None:
    two_sessions(tmp_path)
    file = next(tmp_path.rglob(f"*{FIRST}.jsonl"))
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    done = Typed(tmp_path, "show", FIRST)
    assert (
        done.err.endswith(f"{told}; `turnscript session verify ID` tells how many lines before it are good\n") and done.code == 2
    )
    verdict = Typed(tmp_path, "verify", FIRST)
    assert verdict.out.endswith(f"or remove it: turnscript session prune --session {FIRST} --apply\n") and verdict.code == 1


def test_the_last_session_is_the_one_that_was_written_last(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    assert Typed(tmp_path, "verify", "last").out.startswith(f"good    {SECOND}  ")
    keep(tmp_path, FIRST, Closed(session=FIRST, at=time()))
    assert Typed(tmp_path, "verify", "last").out.startswith(f"good    {FIRST}  ")


@pytest.mark.parametrize("address", ["sqlite:{}/s.db", "jsonl:{}/s"])
def test_pruning_all_leaves_a_session_that_somebody_may_still_write(tmp_path: Path, address: str) -> None:
    place = address.format(tmp_path)
    keep(place, FIRST, began(FIRST, time()))
    keep(place, SECOND, *sample(SECOND))
    done = Typed(tmp_path, "prune", "--keep", "0", "--apply", "--store", place)
    assert done.out.endswith("2 sessions: 1 being written, 1 removed\n")
    assert Typed(tmp_path, "verify", "--all", "--store", place).out.startswith(f"good    {FIRST}  1 line")
