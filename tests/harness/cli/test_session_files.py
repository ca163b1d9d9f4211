"""`session export`, `import` and `migrate`: out of a store, into one, and from one to another."""

import json
import os
import subprocess
import sys
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit

import pytest

from harness.store.jsonl import read_single
from tests.harness.cli.typed import FIRST, SECOND, Typed, keep, two_sessions
from tests.harness.sample_session import NOON, sample

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return two_sessions(tmp_path / "sessions")


def raw(folder: Path, session: str) -> bytes:
    return Typed(folder, "show", session, "--raw").bytes


# ------------------------------------------------------------ export


def test_a_single_file_stands_alone(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.session.jsonl"
    done = Typed(folder, "export", "3f2", "-o", str(file))
    assert (done.out, done.err, done.code) == ("", f"{file}: session {FIRST}, {file.stat().st_size:,} bytes\n", 0)
    assert b"".join(one.line.to_bytes() + b"\n" for one in read_single(file)) == raw(folder, FIRST)
    assert Typed(folder, "export", "3f2").bytes == file.read_bytes()


def test_a_file_that_is_there_is_replaced_only_by_force(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.session.jsonl"
    file.write_text("mine")
    done = Typed(folder, "export", "last", "-o", str(file))
    assert (done.err, done.code, file.read_text()) == (
        f"turnscript: {file} is there already; give --force to replace it\n",
        2,
        "mine",
    )
    told = json.loads(Typed(folder, "export", "last", "-o", str(file), "--force", "--json").out)
    assert told == {"session": SECOND, "file": str(file), "as": "session", "bytes": file.stat().st_size}


def test_a_session_of_ours_becomes_a_codex_rollout(folder: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in Typed(folder, "export", FIRST, "--as", "codex").out.splitlines()]
    assert (lines[0]["type"], lines[0]["payload"]["id"]) == ("session_meta", FIRST)
    file = tmp_path / "rollout.jsonl"
    assert Typed(folder, "export", FIRST, "--as", "codex", "-o", str(file)).code == 0
    assert [json.loads(line) for line in file.read_text().splitlines()] == lines


WRONG = [
    (["export", "last", "--as", "xml"], "--as xml: choose session, codex, source"),
    (["export", "last", "--as", "source"], f"session {SECOND} was not imported; give --as codex, or --as session"),
    (["export", "last", "--json"], "--json tells what was written to a file; give one with -o FILE, the session itself is JSON already"),
    (["export", "last", "-o", "/nowhere/at/all"], "there is no folder /nowhere/at; make it first"),
    (["import", "/nowhere/at/all"], "there is no /nowhere/at/all; nothing was imported"),
    (["import", ".", "--format", "codec"], "--format codec: choose codex, claude, swe_agent, mini_swe_agent, openhands"),
    (["migrate", "--from", "memory:"], "give both stores: --from jsonl:sessions --to sqlite:sessions.db"),
    (["migrate", "--from", "a", "--to", "a"], "--from and --to are both a; give two stores"),
    (["migrate", "--from", "a", "--to", "b", "--apply", "--verify-only"], "--apply copies and verifies, --verify-only copies nothing; give one of them"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "told"), WRONG)
def test_wrong_use_is_one_line_with_the_next_step(folder: Path, typed: list[str], told: str) -> None:
    done = Typed(folder, *typed)
    assert (done.out, done.err, done.code) == ("", f"turnscript: {told}\n", 2)


# ------------------------------------------------------------ import


def codex_file(folder: Path) -> Path:
    rows = [
        {"timestamp": "2026-05-28T20:26:40.000Z", "type": "session_meta", "payload": {"id": "c-1", "timestamp": "2026-05-28T20:26:40.000Z", "cwd": "/p", "originator": "codex_cli_rs", "cli_version": "0.50.0"}},
        {"timestamp": "2026-05-28T20:26:41.000Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]}},
        {"timestamp": "2026-05-28T20:26:42.000Z", "type": "response_item", "payload": {"type": "novel_item", "x": 1}},
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "rollout-2026.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_folder_is_walked_and_counted_by_kind(tmp_path: Path) -> None:
    file = codex_file(tmp_path / "in" / "deep")
    (tmp_path / "in" / "notes.txt").write_text("nothing of this kind")
    done = Typed(tmp_path / "store", "import", str(tmp_path / "in"))
    assert "│ codex  │ response_item/message    │     1 │   1 │\n" in done.out
    assert f"1 session taken in, 0 there already; 3 items, {file.stat().st_size:,} bytes\n" in done.out
    assert done.out.endswith("kinds that nobody knows, kept as they are: codex response_item/novel_item (1)\n")
    assert done.err.startswith(f"passed over: {tmp_path}/in/notes.txt: ") and done.err.count("\n") == 1
    assert done.code == 0
    again = Typed(tmp_path / "store", "import", str(tmp_path / "in"))
    assert "0 sessions taken in, 1 there already" in again.out
    assert "│ codex  │ response_item/message    │     1 │   0 │\n" in again.out
    back = Typed(tmp_path / "store", "export", "c-1", "--as", "source").out
    assert [json.loads(line) for line in back.splitlines()] == [json.loads(line) for line in file.read_text().splitlines()]


def test_what_is_new_in_a_file_that_has_grown_is_told_apart(tmp_path: Path) -> None:
    file = codex_file(tmp_path / "in")
    Typed(tmp_path / "store", "import", str(file))
    with file.open("a") as more:
        more.write(file.read_text().splitlines()[1].replace("Look.", "Again.") + '\n{"torn\n')
    done = Typed(tmp_path / "store", "import", str(file))
    assert "│ codex  │ response_item/message    │     2 │   1 │\n" in done.out
    assert "0 sessions taken in, 1 grown by 2 items, 0 there already; 5 items, " in done.out
    assert done.err == f"kept as text, no JSON that can be read: {file}, line 5\n"
    assert done.out.endswith("kept as they are: codex response_item/novel_item (1)\n")


def test_another_session_under_the_same_id_names_the_command_that_removes_it(tmp_path: Path) -> None:
    file = codex_file(tmp_path / "in")
    Typed(tmp_path / "store", "import", str(file))
    file.write_text(file.read_text().replace("Look.", "Other."))
    done = Typed(tmp_path / "store", "import", str(file))
    told = f"turnscript: {file}: session c-1 is kept already, and its record 2 is another; remove it first: turnscript "
    assert done.err == f"{told}session prune --session c-1 --apply\n" and done.code == 2
    assert Typed(tmp_path / "store", *done.err.strip().partition("first: turnscript session ")[2].split()).code == 0
    assert "1 session taken in" in Typed(tmp_path / "store", "import", str(file)).out


def test_single_files_of_our_own_are_taken_in_as_they_are(folder: Path, tmp_path: Path) -> None:
    Typed(folder, "export", FIRST, "-o", str(tmp_path / "a.session.jsonl"))
    codex_file(tmp_path / "in")
    Typed(folder, "export", SECOND, "-o", str(tmp_path / "in" / "b.session.jsonl"))
    told = json.loads(Typed(tmp_path / "new", "import", str(tmp_path / "a.session.jsonl"), str(tmp_path / "in"), "--json").out)
    assert [(one["session"], one["state"], one["lines"]) for one in told["sessions"]] == [
        (FIRST, "copied", 13),
        (SECOND, "copied", 9),
    ]
    assert ([one["session"] for one in told["imported"]], told["failed"], told["passed_over"]) == (["c-1"], {}, {})
    assert raw(tmp_path / "new", FIRST) == raw(folder, FIRST)
    again = Typed(tmp_path / "new", "import", str(tmp_path / "a.session.jsonl"))
    assert (again.out, again.code) == ("0 sessions taken in, 1 there already\n", 0)


def test_a_single_file_that_was_edited_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.session.jsonl"
    Typed(folder, "export", FIRST, "-o", str(file))
    file.write_text(file.read_text().replace('"text":"11890\\n"', '"text":"1\\n"', 1))
    done = Typed(tmp_path / "new", "import", str(file))
    assert (
        done.err
        == f"turnscript: {file}: session {FIRST}: in the source: line 5 (ended) is not as it was written: its digest differs\n"
    )
    assert (done.out, done.code) == ("0 sessions taken in, 0 there already; 1 file could not be taken in\n", 2)
    assert Typed(tmp_path / "new", "list", "--json").out == "[]\n"


def test_a_file_of_another_kind_is_told_by_name(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("nothing of this kind")
    done = Typed(tmp_path / "store", "import", str(file))
    assert done.err.startswith(f"turnscript: {file}: no session of codex, claude") and done.code == 2


# ------------------------------------------------------------ migrate


def test_migrating_is_a_dry_run_until_apply_and_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    stores = ("--from", f"jsonl:{folder}", "--to", f"sqlite:{tmp_path}/all.db")
    dry = Typed(folder, "migrate", *stores)
    assert "│ 9b1cfa34 │ to copy │     9 │            0 │ 14,916 │" in dry.out
    assert dry.out.endswith("2 sessions: 2 to copy; 22 lines and 31,029 bytes of lines and values\n")
    assert (dry.err, dry.code) == ("nothing was copied; type it again with --apply\n", 0)
    assert not (tmp_path / "all.db").exists()
    early = Typed(folder, "migrate", *stores, "--verify-only")
    assert early.err.startswith(f"turnscript: there is no store at sqlite:{tmp_path}/all.db; ") and early.code == 2
    one = Typed(folder, "migrate", *stores, "--apply", "--session", "3f2")
    assert one.out.endswith("1 session: 1 copied; 13 lines and 16,113 bytes of lines and values\n")
    rest = Typed(folder, "migrate", *stores, "--apply")
    assert rest.out.endswith("2 sessions: 1 copied, 1 there already; 9 lines and 14,916 bytes of lines and values\n")
    assert Typed(folder, "migrate", "--from", stores[3], "--to", str(tmp_path / "new"), "--apply", "--session", "3f2").code == 0
    assert Typed(folder, "migrate", "--from", stores[1], "--to", str(tmp_path / "new"), "--verify-only").code == 1
    checked = json.loads(Typed(folder, "migrate", *stores, "--verify-only", "--json").out)
    assert [(row["session"], row["state"]) for row in checked] == [(SECOND, "there"), (FIRST, "there")]
    assert Typed(folder, "show", FIRST, "--raw", "--store", f"sqlite:{tmp_path}/all.db").bytes == raw(folder, FIRST)


def test_a_broken_session_is_named_and_the_others_are_copied(folder: Path, tmp_path: Path) -> None:
    file = next(folder.rglob(f"*{FIRST}.jsonl"))
    file.write_text(file.read_text().replace('"text":"11890\\n"', '"text":"1\\n"', 1))
    done = Typed(folder, "migrate", "--from", str(folder), "--to", str(tmp_path / "to"), "--apply", COLUMNS="200")
    assert done.code == 1 and "in the source: line 5 (ended) is not as it was written: its digest differs" in done.out
    assert "2 sessions: 1 copied, 1 broken; 9 lines" in done.out
    assert [row["session"] for row in json.loads(Typed(tmp_path / "to", "list", "--json").out)] == [SECOND]


def test_nothing_to_copy_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    done = Typed(tmp_path, "migrate", "--from", f"{tmp_path}/a", "--to", f"{tmp_path}/b")
    assert (done.out, done.err, done.code) == ("", f"no session is kept in {tmp_path}/a; nothing to copy\n", 0)


def test_a_database_gets_the_newest_tables(tmp_path: Path) -> None:
    done = Typed(tmp_path, "migrate", "--schema", f"sqlite:{tmp_path}/all.db")
    assert (done.out, done.code) == (f"sqlite:{tmp_path}/all.db has the newest tables\n", 0)


# ------------------------------------------------------------ as a process


def test_a_migration_that_a_full_disk_ends_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    keep(source, "long", *sample("long", turns=1_500))
    stores = ("--from", str(source), "--to", str(target))
    lines = raw(source, "long").splitlines(keepends=True)
    room = sum(map(len, lines[:3_000]))
    command = [
        sys.executable,
        "-c",
        "from harness.cli import app; app(prog_name='turnscript')",
        "session",
        "migrate",
        *stores,
        "--apply",
    ]
    full = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (room, room)),
    )  # fmt: skip
    assert (full.stdout, full.returncode) == ("", 2)
    assert full.stderr.startswith("turnscript: ") and full.stderr.count("\n") == 1
    there = raw(target, "long").splitlines(keepends=True)
    assert 0 < len(there) < 3_000 and there == lines[: len(there)]
    told = json.loads(Typed(source, "migrate", *stores, "--apply", "--json").out)
    assert [(row["state"], row["lines"], row["there"]) for row in told] == [("copied", len(lines), len(there))]
    assert raw(target, "long") == b"".join(lines)


def test_piped_output_has_no_colour_and_a_closed_pipe_is_no_fault(folder: Path) -> None:
    keep(folder, "long", *sample("long", at=NOON + 9_000, turns=300))
    command = (
        f"{sys.executable} -c \"from harness.cli import app; app(prog_name='turnscript')\" session show long --raw | head -c 9"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TURNSCRIPT_STORE": str(folder), "FORCE_COLOR": ""}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=env, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ('{"v":1,"s', "", 0)
    listed = command.partition("show")[0] + "list"
    done = subprocess.run(listed, shell=True, capture_output=True, text=True, env=env, cwd=ROOT, timeout=60)
    assert "3f2a9c1b" in done.stdout and "\x1b" not in done.stdout


VERBS = ("list", "show", "search", "export", "import", "migrate", "verify", "prune")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples_in_its_help(folder: Path, verb: str) -> None:
    out = Typed(folder, verb, "--help").out
    assert f"turnscript session {verb} " in out.partition("Examples:")[2] and "--json" in out
    assert ("--store" in out) is (verb != "migrate")
