"""`turnscript replay` as it is typed: what is printed, what is written, and the exit codes."""

import json
import re
from pathlib import Path

import anyio
import pytest

from harness import Harness, Policy, Setup, allowing
from harness.replay.recorded import read_recording
from harness.store.opening import open_store
from tests.harness.replay.making import GREET, edit, furnish, recording
from tests.harness.replay.typed import Typed

READ = "const page = await tools.files.read({ path: 'a.txt' });\nreturn page.text"
LONG = "show((await tools.files.read({ path: 'long.txt' })).text)"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return furnish(tmp_path / "root")


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> Path:
    """Two recordings, one of them in a folder inside."""
    (tmp_path / "sessions" / "inside").mkdir(parents=True)
    recording(tmp_path / "sessions" / "long.session.jsonl", LONG, "return 2", root=root)
    recording(tmp_path / "sessions" / "inside" / "read.session.jsonl", READ, root=root)
    return tmp_path / "sessions"


def test_all_as_recorded(folder: Path) -> None:
    done = Typed(folder)
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == f"""\
ok       {folder}/inside/read.session.jsonl  1 turn, 1 call, # ms
ok       {folder}/long.session.jsonl         2 turns, 1 call, # ms
2 sessions: 2 as recorded; 3 turns, 2 calls in # s, # sessions a second
"""
    )


def test_one_that_differs_is_told_whole_and_the_exit_code_is_1(folder: Path) -> None:
    file = edit(folder / "inside" / "read.session.jsonl", "path: 'a.txt'", "path: 'b.txt'")
    done = Typed(folder)
    rest = '"offset": 1, "limit": 2000, "levels": 1, "header": true'
    assert (done.code, done.err) == (1, "")
    assert (
        done.out
        == f"""\
differs  {folder}/inside/read.session.jsonl  1 turn, 1 call, # ms
ok       {folder}/long.session.jsonl         2 turns, 1 call, # ms

{file}
turn 1, line 1: files.read is called with other arguments than on record
    path: recorded "a.txt"
          now      "b.txt"
  1 | const page = await tools.files.read({{ path: 'b.txt' }});
    |                    ^
  nearest on record: T1 call 1, line 1, files.read({{"path": "a.txt", {rest}}}), which returned 241 bytes
record again: turnscript replay {file} --record all

2 sessions: 1 as recorded, 1 not as recorded; 3 turns, 2 calls in # s, # sessions a second
"""
    )
    quiet = Typed(folder, "--quiet").out.splitlines()
    assert quiet[0].startswith("differs ") and quiet[2] == str(file) and len(quiet) == 10


def test_a_bad_file_is_named_with_its_line_and_does_not_stop_the_others(folder: Path) -> None:
    bad = folder / "long.session.jsonl"
    bad.write_text(bad.read_text()[:-40])
    empty = folder / "nothing.session.jsonl"
    empty.write_text("")
    done = Typed(folder)
    lines = bad.read_text().count("\n") + 1
    assert done.code == 2 and done.out.startswith(f"ok       {folder}/inside/read.session.jsonl  1 turn, 1 call, # ms\n")
    assert done.err == (
        f"turnscript: {bad}, line {lines}: not a whole JSON object\n"
        f"turnscript: {empty}: it does not begin with the line of type opened; record it again\n"
    )
    assert done.out.splitlines()[-1].startswith("3 sessions: 1 as recorded, 2 cannot be played; ")


def test_json_has_everything(folder: Path) -> None:
    edit(folder / "inside" / "read.session.jsonl", "path: 'a.txt'", "path: 'b.txt'")
    told = json.loads(Typed(folder, "--json").out)
    one, other = told["sessions"]
    assert told["ok"] is False and (one["state"], other["state"]) == ("differs", "ok")
    assert [row["kind"] for row in one["differences"]] == ["call"] and other["turns"] == 2


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "name recordings or folders of them, or a session of the store with --session; --keep makes a recording"),
        (["x", "--record", "some"], "--record some: choose none, once, new, all"),
        (["x", "--limit", "calls=3"], "a recording is played with its own settings; give --against to ask what others would show"),
        (["x", "--verify", "--record", "all"], "--verify, --record and --against are three different questions; ask one at a time"),
        (["--session", "a", "--record", "all"], "--record writes files; make one of the session first: turnscript replay --keep ID -o NAME.session.jsonl"),
        (["no_such"], "no_such: there is no such file or folder; give recordings (.session.jsonl), or folders that have some"),
        (["tests/harness/replay"], "no .session.jsonl below tests/harness/replay; make one: turnscript replay --keep ID -o NAME.session.jsonl"),
        (["--keep", "last"], "--keep needs a file to write: -o NAME.session.jsonl"),
        (["--keep", "last", "-o", "a.jsonl"], "--keep needs a file to write: -o NAME.session.jsonl"),
        (["x", "--keep", "last", "-o", "a.session.jsonl"], "--keep makes a recording and plays no others; give only -o, --store, --pack and --force with it"),
        (["x", "--against", "--limit", "cals=3"], "--limit cals: there is no limit 'cals'; did you mean calls?"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line(arguments: list[str], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent.parent)
    done = Typed(*arguments)
    assert (done.code, done.out, done.err) == (2, "", f"turnscript: {why}\n")


def test_against_shows_what_the_model_would_have_seen(folder: Path) -> None:
    done = Typed(folder, "--against", "--limit", "shown_turn_bytes=1000")
    assert (done.code, done.err) == (0, "")
    first, second, *rest = done.out.splitlines()
    assert first == f"{folder}/inside/read.session.jsonl: 13 bytes as recorded, 13 now"
    assert re.fullmatch(rf"{folder}/long.session.jsonl: [\d,]+ bytes as recorded, [\d,]+ now \(-\d+ %\)", second)
    assert re.fullmatch(r"  turn 1: [\d,]+ bytes as recorded, [\d,]+ now \(-\d+ %\)", rest[0]) and "    +++ now" in rest
    assert re.fullmatch(r"1 of 3 turns would be seen differently: [\d,]+ bytes as recorded, [\d,]+ now \(-\d+ %\)", rest[-1])
    assert Typed(folder).code == 0


def test_against_the_recorded_settings_nothing_differs(folder: Path) -> None:
    done = Typed(folder, "--against", "--quiet")
    assert re.fullmatch(r"0 of 3 turns would be seen differently: ([\d,]+) bytes as recorded, \1 now\n", done.out)


def test_against_other_tools_on_offer(folder: Path) -> None:
    assert Typed(folder, "--against", "--profile", "read-only", "--quiet").out.startswith(
        "0 of 3 turns would be seen differently"
    )
    done = Typed(folder / "inside", "--against", "--profile", "none")
    assert (
        done.code == 0
        and "    turn 1: the script finished on record, and failed now: unknown_tool: there is no pack files\n" in done.out
    )


def test_a_fault_is_played_over_the_recording(folder: Path) -> None:
    done = Typed(folder / "inside", "--fault", "files.read fails once with not_found: it is gone")
    assert done.code == 0 and "    -the text of a" in done.out and "+not_found: it is gone" in done.out
    assert done.out.splitlines()[-1].startswith("1 of 1 turn would be seen differently: ")


def test_a_fault_rule_for_no_tool_of_the_recording_is_named(folder: Path) -> None:
    done = Typed(folder / "inside", "--fault", "web.fetch fails")
    assert done.code == 2 and "web.fetch" in done.err


def test_verify_compares_with_live_tools(folder: Path, root: Path) -> None:
    assert Typed(folder, "--verify", "--root", root).code == 0
    (root / "a.txt").write_text("another\n")
    done = Typed(folder, "--verify", "--root", root)
    assert done.code == 1 and '    text: recorded "the text of a"\n          now      "another"\n' in done.out


def test_what_is_denied_is_told_as_not_verified(tmp_path: Path, root: Path) -> None:
    allowed = Setup(policy=Policy(allowing(["shell.run"])))
    path = recording(
        tmp_path / "x.session.jsonl",
        "return (await tools.shell.run('touch made')).exit_code",
        root=root,
        packs=["shell"],
        setup=allowed,
    )
    done = Typed(path, "--verify", "--root", root)
    assert done.code == 0 and done.err.startswith(f"not verified: {path}: turn 1, line 1: shell.run(")
    (root / "made").unlink()
    assert Typed(path, "--verify", "--root", root, "--allow", "shell.run").err == "" and (root / "made").exists()


def test_record_all_writes_the_file_anew(folder: Path, root: Path) -> None:
    (root / "a.txt").write_text("another\n")
    done = Typed(folder / "inside", "--record", "all", "--root", root)
    assert (
        done.code == 0
        and done.out.startswith("recorded ")
        and done.out.splitlines()[-1].startswith("1 session: 1 recorded anew; ")
    )
    ended = read_recording(folder / "inside" / "read.session.jsonl").turns[0].ended
    assert ended is not None and ended.text == "another"
    assert Typed(folder).code == 0


def test_a_session_of_a_store_is_kept_and_plays(tmp_path: Path, root: Path) -> None:
    address = f"jsonl:{tmp_path / 'store'}"

    async def run() -> None:
        store = await open_store(address)
        harness = Harness(["files"], root=root, store=store)
        async with harness, harness.session("3f2a9c1b77d8") as session:
            await session.run(f"return (await tools.files.read({{ path: '{root}/a.txt' }})).text")
        await store.close()

    anyio.run(run)
    assert Typed("--session", "last", "--store", address).code == 0
    file = tmp_path / "kept.session.jsonl"
    done = Typed("--keep", "3f2a", "-o", file, "--store", address)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{file}: session 3f2a9c1b77d8, 1 turn, {file.stat().st_size:,} bytes\n"
    assert str(root) not in file.read_text() and Typed(file).code == 0
    assert (
        Typed("--keep", "3f2a", "-o", file, "--store", address).err
        == f"turnscript: {file} is there already; give --force to replace it\n"
    )
    assert Typed("--keep", "3f2a", "-o", file, "--store", address, "--force").code == 0


def test_an_unknown_pack_is_given_by_its_file(tmp_path: Path, root: Path) -> None:
    own = tmp_path / "greet.py"
    own.write_text(GREET)
    path = tmp_path / "x.session.jsonl"
    recording(path, "return await tools.greet.hello({ name: 'Ada' })", root=root, packs=[str(own)], given=[str(own)])
    done = Typed(path)
    assert (done.code, done.err) == (
        2,
        f"turnscript: {path}: its pack greet is not known here; give its file or module: --pack PATH\n",
    )
    assert Typed(path, "--pack", own).code == 0


@pytest.mark.parametrize("typed", [("--session", "x"), ("--keep", "last", "-o", "kept.session.jsonl")], ids=" ".join)
def test_a_store_that_is_not_there_is_told_and_not_made(tmp_path: Path, typed: tuple[str, ...]) -> None:
    done = Typed(*typed, "--store", f"sqlite:{tmp_path}/new.db")
    assert (done.out, done.code) == ("", 2) and done.err.startswith(
        f"turnscript: there is no store at sqlite:{tmp_path}/new.db; "
    )
    assert list(tmp_path.iterdir()) == []
