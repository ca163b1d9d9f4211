"""`session list` and `session search`: which sessions there are, and where a text stands."""

import json
from pathlib import Path

import pytest

from harness.entries import Ended, Ending, Message
from tests.contracts.entry_samples import settled
from tests.harness.cli.typed import FIRST, SECOND, Typed, keep, two_sessions
from tests.harness.sample_session import NOON, sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return two_sessions(tmp_path)


def test_a_list_names_sessions_by_short_ids_with_what_tells_them_apart(folder: Path) -> None:
    assert Typed(folder, "list").out == (
        "session   opened            turns  model   branch  title\n"
        f"9b1cfa34  2026-05-28 21:50      2  sonnet  main    How long is the file of {SECOND}?\n"
        f"3f2a9c1b  2026-05-28 20:26      3  sonnet  main    How long is the file of {FIRST}?\n"
    )


def test_json_has_whole_ids_and_times(folder: Path) -> None:
    rows = json.loads(Typed(folder, "list", "--json").out)
    assert [(row["session"], row["opened"], row["turns"], row["closed"]) for row in rows] == [
        (SECOND, "2026-05-28T21:50:00.000000Z", 2, True),
        (FIRST, "2026-05-28T20:26:40.000000Z", 3, True),
    ]


ASKED = [
    (["--text", "FILE OF 3F2A"], [FIRST]),
    (["--tool", "files.*"], [SECOND, FIRST]),
    (["--path", "long.txt"], [SECOND, FIRST]),
    (["--model", "opus"], []),
    (["--since", "2026-05-28T21:00:00"], [SECOND]),
    (["--until", "2026-05-28T21:00:00+00:00"], [FIRST]),
    (["--since", "1m"], []),
    (["--format", "own", "--most", "1"], [SECOND]),
    (["--most", "1", "--skip", "1"], [FIRST]),
]


@pytest.mark.parametrize(("asked", "found"), ASKED, ids=[" ".join(row[0]) for row in ASKED])
def test_everything_asked_for_must_hold(folder: Path, asked: list[str], found: list[str]) -> None:
    assert [row["session"] for row in json.loads(Typed(folder, "list", "--json", *asked).out)] == found


def test_ids_are_longer_where_they_begin_alike(folder: Path) -> None:
    other = FIRST[:12] + "f" * 20
    keep(folder, other, *sample(other, at=NOON + 1))
    assert f"\n{FIRST[:13]}  " in Typed(folder, "list").out
    assert f"\n{other[:13]}  " in Typed(folder, "list", "--until", "2026-05-28T20:30:00").out


def test_more_sessions_than_asked_for_are_hinted_at(folder: Path) -> None:
    done = Typed(folder, "list", "--most", "1")
    assert done.err == "there are more; go on with --skip 1\n"
    assert Typed(folder, "list", "--most", "2").err == ""


def test_sums_by_tool(folder: Path) -> None:
    assert json.loads(Typed(folder, "list", "--by", "tool", "--json", "--most", "1").out) == [
        {
            "group": "files.read", "sessions": 2, "turns": 5, "calls": 5, "statuses": {"returned": 4, "failed": 1},
            "result_bytes": 4 * 11_890, "produced": 24, "shown": 20,
        }
    ]  # fmt: skip
    assert "│ files.read │        2 │     5 │     5 │     1 failed │" in Typed(folder, "list", "--by", "tool").out


def test_on_a_narrow_terminal_columns_go_and_names_stay_whole(folder: Path) -> None:
    name = "a_named_pack.one_tool"
    call = settled(1, "s", NOON + 1, tool=name, size=123_456_789)
    keep(folder, "s", *list(sample("s"))[:1], call)
    done = Typed(folder, "list", "--by", "tool", COLUMNS="80")
    assert f"│ {name} │        1 │     1 │     1 │          │ 123,456,789 │\n" in done.out
    assert (done.err, done.code) == ("no room for bytes produced, bytes shown; --json has all\n", 0)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "a_named_pack" in Typed(folder, "list", "--by", "tool", COLUMNS="30").out


def test_sums_of_nothing_say_so(folder: Path) -> None:
    done = Typed(folder, "list", "--by", "tool", "--model", "opus")
    assert (done.out, done.err) == ("", f"no session in jsonl:{folder} fits all of this; leave something out\n")


def test_calls_that_a_script_was_never_told_of_count_and_are_found(folder: Path) -> None:
    left = settled({"path": "late.txt"}, "s", NOON + 2, tool="web.get", status="cancelled", size=5)
    end = Ended(session="s", at=NOON + 3, turn=1, ending=Ending(how="cancelled"), text="", left=(left,))
    keep(folder, "s", *list(sample("s"))[:1], end)
    (row,) = (row for row in json.loads(Typed(folder, "list", "--by", "tool", "--json").out) if row["group"] == "web.get")
    assert (row["sessions"], row["calls"], row["statuses"], row["result_bytes"]) == (1, 1, {"cancelled": 1}, 5)
    for asked in (("--tool", "web.*"), ("--path", "late.txt")):
        assert [one["session"] for one in json.loads(Typed(folder, "list", "--json", *asked).out)] == ["s"]


def test_the_help_of_search_says_what_is_searched(folder: Path) -> None:
    told = " ".join(Typed(folder, "search", "--help").out.split())
    assert "Searched are scripts, the texts that the model was shown, messages, and items of imported sessions." in told


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    done = Typed(tmp_path / "none", "list")
    assert (done.out, done.code) == ("", 0)
    assert done.err.startswith(f"no session is kept in jsonl:{tmp_path}/none yet; `turnscript run` writes one")


WRONG = [
    (["list", "--by", "hour"], "--by hour: choose model, tool, day, root, format"),
    (["list", "--since", "yesterday"], "--since yesterday: write a date such as 2026-11-18 or 2026-11-18T12:00, or a time ago such as 2d or 3h"),
    (["list", "--store", "mysql://x"], "no store at 'mysql://x': mysql: is not known; give one of: "),
    (["search", ""], "an empty text stands everywhere; `turnscript session list` names all sessions"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "told"), WRONG)
def test_wrong_use_is_one_line_with_the_next_step(tmp_path: Path, typed: list[str], told: str) -> None:
    done = Typed(tmp_path, *typed)
    assert done.err.startswith(f"turnscript: {told}") and done.err.count("\n") == 1
    assert (done.out, done.code) == ("", 2)


def test_a_search_tells_turn_and_line_of_every_place(folder: Path) -> None:
    assert Typed(folder, "search", "LONG.txt", "--until", "2026-05-28T21:00:00").out == (
        f"3f2a9c1b  2026-05-28 20:26:40  How long is the file of {FIRST}?\n"
        '  turn 1 script:1  const file = await tools.files.read({ path: "src/long.txt" });\n'
        '  turn 2 script:1  const file = await tools.files.read({ path: "src/long.txt" });\n'
    )


def test_a_search_finds_the_lines_of_what_was_shown_and_said(folder: Path) -> None:
    found = json.loads(Typed(folder, "search", "11890", "--json").out)
    assert found[0]["session"] == SECOND
    assert found[0]["hits"] == [{"turn": turn, "where": "shown", "line": 1, "text": "11890"} for turn in (1, 2)]
    said = json.loads(Typed(folder, "search", "how long", "--json").out)
    assert said[1]["hits"] == [{"turn": 0, "where": "user", "line": 1, "text": f"How long is the file of {FIRST}?"}]


def test_many_places_and_long_lines_are_cut(tmp_path: Path) -> None:
    text = "\n".join(["x" * 500 + " needle " + "y" * 500] * 7)
    keep(tmp_path, "s", *sample("s"), Message(session="s", at=NOON, role="assistant", text=text))
    rows = Typed(tmp_path, "search", "needle").out.splitlines()
    assert len(rows) == 7 and rows[-1] == "  … 2 more; turnscript session show s"
    assert rows[1].startswith("  assistant:1  …xxx") and " needle " in rows[1] and len(rows[1]) < 190


def test_what_stands_nowhere_ends_with_code_1(folder: Path) -> None:
    done = Typed(folder, "search", "no such words")
    assert (done.out, done.code) == ("", 1)
    nowhere = "'no such words' stands in no script, shown text, message or imported item of"
    rest = "results that were not shown are not searched: try a shorter text"
    assert done.err == f"{nowhere} jsonl:{folder}; {rest}\n"
    narrow = Typed(folder, "search", "no such words", "--model", "opus")
    assert narrow.err == f"{nowhere} a session in jsonl:{folder} that fits the rest of this; {rest}, or fewer options\n"


def test_a_file_that_is_no_session_does_not_spoil_the_list_and_is_named(folder: Path) -> None:
    bad = next(folder.rglob(f"*{FIRST}.jsonl"))
    bad.write_text("{}\n{}\n")
    done = Typed(folder, "list")
    assert SECOND[:8] in done.out and FIRST[:8] not in done.out
    assert done.err.startswith(f"turnscript: {bad} is left out of lists: ")


def test_a_control_character_in_a_title_does_not_reach_the_terminal(tmp_path: Path) -> None:
    keep(tmp_path, "s", *list(sample("s"))[:1], Message(session="s", at=NOON, role="user", text="\x1b[2Jgone"))
    assert "\\u001b[2Jgone" in Typed(tmp_path, "list").out
    assert "\x1b" not in Typed(tmp_path, "search", "gone").out
