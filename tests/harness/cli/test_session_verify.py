"""`session verify` and `session prune`, on real files that somebody has changed."""

import json
import os
from pathlib import Path
from time import time

import anyio
import anyio.to_thread
import pytest

from harness.store.opening import open_store
from tests.harness.cli.typed import FIRST, SECOND, Typed, keep, two_sessions
from tests.harness.sample_session import sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return two_sessions(tmp_path)


def file_of(folder: Path, session: str) -> Path:
    return next(folder.rglob(f"*{session}.jsonl"))


def heads(folder: Path) -> dict[str, str]:
    return {row["session"]: row["digest"] for row in json.loads(Typed(folder, "list", "--json").out)}


def test_good_sessions_are_told_with_the_digest_to_keep(folder: Path) -> None:
    done, head = Typed(folder, "verify", "--all"), heads(folder)
    assert done.out == (
        f"good    {SECOND}  9 lines, 1 big value, head {head[SECOND]}\ngood    {FIRST}  13 lines, 1 big value, head {head[FIRST]}\n"
    )
    assert (done.err, done.code) == ("", 0)


def test_an_edited_file_is_named_by_line_type_and_turn(folder: Path) -> None:
    file = file_of(folder, FIRST)
    file.write_text(file.read_text().replace('"text":"11890\\n"', '"text":"11891\\n"', 1))
    done = Typed(folder, "verify", "3f2", "9b1")
    assert done.out == (
        f"broken  {FIRST}  at line 5 of turn 1: line 5 (ended) is not as it was written: its digest differs\n"
        f"  4 lines before it are good; put a whole copy in its place, or remove it: turnscript session prune --session {FIRST} --apply\n"
        f"good    {SECOND}  9 lines, 1 big value, head {heads(folder)[SECOND]}\n"
    )
    assert done.code == 1
    told = json.loads(Typed(folder, "verify", "3f2", "--json").out)[0]
    assert (told["good"], told["line"], told["type"], told["turn"], told["lines"]) == (False, 5, "ended", 1, 4)


def test_a_line_taken_out_of_a_file_is_named(folder: Path) -> None:
    file = file_of(folder, FIRST)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:6] + lines[7:]))
    assert "at line 7 of turn 2: line 7 is missing: after it comes line 8\n" in Typed(folder, "verify", FIRST).out


def test_a_cut_end_shows_against_the_digest_that_was_kept(folder: Path) -> None:
    file, head = file_of(folder, SECOND), heads(folder)[SECOND]
    assert Typed(folder, "verify", SECOND, "--head", head).out.endswith("\n  line 9 has the digest that was kept\n")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:6]))
    assert Typed(folder, "verify", SECOND).code == 0
    cut = Typed(folder, "verify", SECOND, "--head", head)
    assert cut.code == 1
    assert f"at line 7: no line has the digest {head[:12]}… that was kept: lines were cut off the end" in cut.out


def test_a_changed_big_value_is_named(folder: Path) -> None:
    file = file_of(folder, SECOND)
    blobs = file.with_name(file.name.removesuffix(".jsonl") + ".blobs")
    os.truncate(blobs, blobs.stat().st_size - 20)
    done = Typed(folder, "verify", SECOND)
    assert done.code == 1 and f"broken  {SECOND}  at line 4 of turn 1: line 4 (settled): " in done.out


WRONG = [
    (["verify"], "name sessions, or give --all; `turnscript session list` names them"),
    (["verify", "3f2", "--all"], "name sessions, or give --all; `turnscript session list` names them"),
    (["verify", "--all", "--head", "0" * 64], "--head is the digest of one session; name that one"),
    (["verify", "3f2", "--head", "abc"], "--head: 'abc' is no digest: 64 characters of 0 to 9 and a to f, as verify prints it"),
    (["prune"], "say which: --older 30d, --keep 100, or --session ID; one of them"),
    (["prune", "--keep", "1", "--older", "1d"], "say which: --older 30d, --keep 100, or --session ID; one of them"),
    (["prune", "--older", "soon"], "--older soon: write a number and s, m, h, d or w, such as 30d"),
]


@pytest.mark.parametrize(("typed", "told"), WRONG)
def test_wrong_use_is_one_line_with_the_next_step(folder: Path, typed: list[str], told: str) -> None:
    done = Typed(folder, *typed)
    assert (done.out, done.err, done.code) == ("", f"turnscript: {told}\n", 2)


def fates(folder: Path, *typed: str) -> dict[str, str]:
    return {row["session"]: row["fate"] for row in json.loads(Typed(folder, "prune", "--json", *typed).out)}


def test_pruning_is_a_dry_run_until_apply(folder: Path) -> None:
    done = Typed(folder, "prune", "--keep", "1")
    assert "│ 3f2a9c1b │ would go │ 2026-05-28 20:28:11 │" in done.out and SECOND[:8] not in done.out
    assert (done.err, done.code, len(heads(folder))) == ("nothing was removed; type it again with --apply\n", 0, 2)
    assert fates(folder, "--keep", "1", "--apply") == {FIRST: "removed"}
    assert list(heads(folder)) == [SECOND]
    assert not list(folder.rglob(f"*{FIRST}*"))


def test_old_ones_go_and_those_without_an_end_stay_while_they_are_fresh(folder: Path) -> None:
    keep(folder, "fresh", *sample("fresh", at=time() - 200, closed=False))
    assert fates(folder, "--older", "1s") == {"fresh": "being written", SECOND: "would go", FIRST: "would go"}
    assert fates(folder, "--older", "2w") == {SECOND: "would go", FIRST: "would go"}
    assert fates(folder, "--session", "fresh") == {"fresh": "would go"}


def test_a_session_that_is_being_written_is_named_and_stays(folder: Path) -> None:
    async def held() -> None:
        store = await open_store(str(folder))
        await store.write(FIRST, at=0)
        done = await anyio.to_thread.run_sync(lambda: fates(folder, "--keep", "0", "--apply"))
        await store.close()
        assert done == {FIRST: "being written", SECOND: "removed"}

    anyio.run(held)
    assert list(heads(folder)) == [FIRST]


def test_nothing_to_go_is_said(folder: Path) -> None:
    assert Typed(folder, "prune", "--keep", "9").err == f"no session in jsonl:{folder} is to go\n"
