"""`session show`: facts, then turn by turn what ran, what the model was shown, and what nobody knows."""

import json
from pathlib import Path
from typing import Literal

import pytest

from harness.call import Outcome
from harness.entries import Began, Ended, Ending, Entry, Facts, Forgot, Item, Opened, Running, Settled
from harness.ledger import Ledger
from sandbox import Problem, Site
from tests.harness.cli.typed import FIRST, SECOND, Typed, keep, two_sessions
from tests.harness.sample_session import NOON


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return two_sessions(tmp_path)


def test_a_session_is_told_from_its_facts_to_its_end(folder: Path) -> None:
    done = Typed(folder, "show", FIRST)
    head = json.loads(Typed(folder, "list", "--json", "--skip", "1").out)[0]["digest"]
    turn = (
        '   1 | const file = await tools.files.read({ path: "src/long.txt" });\n'
        "   2 | return file.text.length\n"
        "\n"
        "call  line  tool        arguments                 status    by    source   bytes  seconds\n"
        '   1     1  files.read  {"path": "src/long.txt"}  returned  tool  tool    11,890    0.750\n'
        "\n"
        "shown to the model, 6 bytes:\n"
        "  11890\n"
        "notice: 1 call was slow\n"
        "ledger: 6 bytes produced, 5 shown; 1 returned; 0.000 of 0.000 seconds in tools\n"
        "\n"
    )
    assert done.out == (
        f"session {FIRST}\n"
        f"  title      How long is the file of {FIRST}?\n"
        "  opened     2026-05-28 20:26:40\n"
        "  last line  2026-05-28 20:28:11, closed\n"
        "  root       /home/ada/project\n"
        "  git        main c0ffee\n"
        "  model      sonnet\n"
        "  tools      files.read\n"
        f"  record     13 lines, 3 turns, head {head}\n"
        "\n"
        f"user: How long is the file of {FIRST}?\n"
        "\n"
        f"── turn 1, 2026-05-28 20:26:50, finished, 0.000 s\n{turn}"
        f"── turn 2, 2026-05-28 20:27:00, finished, 0.000 s\n{turn}"
        "── turn 3, 2026-05-28 20:27:10, without an end\n"
        "   1 | await tools.files.write({ path: 'a', text: 'b' })\n"
        "\n"
        "call  line  tool         arguments                   status       by    source  bytes  seconds\n"
        '   1     1  files.read   {"path": "a"}               failed       tool  -           0    0.100\n'
        '   2     1  files.write  {"path": "a", "text": "b"}  was running  -     -           -        -\n'
        "\n"
        "interrupted: the process ended before the script did; 1 call had ended; nobody knows what became of files.write (line 1)\n"
        "\n"
        "── reopened, 2026-05-28 20:28:10; turn 3 was found without an end\n"
        "\n"
        "── closed, 2026-05-28 20:28:11\n"
    )


def test_any_beginning_that_only_one_has_and_last_name_a_session(folder: Path) -> None:
    assert Typed(folder, "show", "3").out == Typed(folder, "show", FIRST).out
    assert Typed(folder, "show", "last").out == Typed(folder, "show", SECOND).out


WRONG = [
    (["show", "zz"], "no session is kept under 'zz'; `turnscript session list` names those that are"),
    (["show", "3f2a9c1b77d84e0d9a1b2c3d4e5f607"], f"2 sessions begin with '3f2a9c1b77d84e0d9a1b2c3d4e5f607': {FIRST}, {FIRST[:-1]}f; give more of the id"),
    (["show", SECOND, "--turn", "9"], f"session {SECOND} has no turn 9; its last one is 2"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "told"), WRONG)
def test_what_is_not_there_is_told_in_one_line(folder: Path, typed: list[str], told: str) -> None:
    keep(folder, f"{FIRST[:-1]}f", Opened(session=f"{FIRST[:-1]}f", at=NOON, facts=Facts()))
    done = Typed(folder, *typed)
    assert (done.out, done.err, done.code) == ("", f"turnscript: {told}\n", 2)


def test_last_in_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    assert Typed(tmp_path, "show", "last").err.startswith("turnscript: no session is kept here yet; `turnscript run` writes one")


def test_one_turn_alone(folder: Path) -> None:
    out = Typed(folder, "show", FIRST, "--turn", "2").out
    assert out.startswith("── turn 2, 2026-05-28 20:27:00, finished") and "turn 1" not in out and "session" not in out


def test_raw_prints_the_lines_as_they_are_kept(folder: Path) -> None:
    lines = [json.loads(line) for line in Typed(folder, "show", FIRST, "--raw").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, 14))
    assert list(lines[0]) == ["v", "seq", "timestamp", "type", "payload", "digest"]
    assert {json.loads(line)["turn"] for line in Typed(folder, "show", FIRST, "--raw", "--turn", "2").out.splitlines()} == {2}


def test_json_has_every_entry_with_its_big_values(folder: Path) -> None:
    told = json.loads(Typed(folder, "show", FIRST, "--json").out)
    assert (told["session"], len(told["entries"])) == (FIRST, 13)
    assert len(told["entries"][3]["outcome"]["value"]["text"]) == 11_890


def test_refusals_limits_and_calls_never_told_say_so(tmp_path: Path) -> None:
    problem = Problem("budget", "files.read: 3 of 3 calls are used up")
    left = Settled(
        session="s", at=NOON, turn=1, call=2, tool="shell.run", site=Site(0, 0), arguments=("ls",), outcome=Outcome(status="cancelled", by="turn"), seconds=2.5
    )  # fmt: skip
    keep(
        tmp_path, "s",
        Opened(session="s", at=NOON, facts=Facts(mode="dry_run", labels={"user": "ada"})),
        Began(session="s", at=NOON, turn=1, script="x\n", sha256="", mode="dry_run", relaxed="a big file"),
        Settled(session="s", at=NOON, turn=1, call=1, tool="files.read", site=Site(3, 1), arguments={}, outcome=Outcome(status="refused", by="budget", problem=problem)),
        Ended(
            session="s", at=NOON, turn=1, ending=Ending(how="exceeded", limit="engine_seconds", allowed=2), text="\x1b[31mred\n\nend", left=(left,),
            ledger=Ledger(trimmed={"in_view": 7, "cap": 0}, redacted={"TOKEN": 2}, cache_hits=1, turn_seconds=3, tool_seconds=1),
        ),
        Forgot(session="s", at=NOON, turns=(1,), mended={}),
    )  # fmt: skip
    out = Typed(tmp_path, "show", "s").out
    assert "  mode       dry-run\n" in out and "  labels     user=ada\n" in out and ", not closed\n" in out
    assert "── turn 1, 2026-05-28 20:26:40, exceeded engine_seconds, 3.000 s, dry-run, relaxed: a big file\n" in out
    assert (
        "   1     3  files.read  {}         refused: files.read: 3 of 3 calls are used up  budget  -           0    0.000\n"
        in out
    )
    assert (
        '   2     -  shell.run   ["ls"]     cancelled, not told                            turn    -           0    2.500\n'
        in out
    )
    assert "  \\u001b[31mred\n\n  end\n" in out
    assert (
        "ledger: 0 bytes produced, 0 shown; 7 trimmed (in view); 1 from the cache; 2 times TOKEN redacted; 1.000 of 3.000 seconds in tools\n"
        in out
    )
    assert "── turns 1 left the model's view" in out


def cut_short(folder: Path, how: Literal["cancelled", "interrupted"], *calls: Entry, text: str = "") -> str:
    keep(
        folder, "s",
        Opened(session="s", at=NOON, facts=Facts()),
        Began(session="s", at=NOON, turn=1, script="x", sha256=""),
        *calls,
        Ended(session="s", at=NOON + 3.5, turn=1, ending=Ending(how=how), text=text),
    )  # fmt: skip
    return Typed(folder, "show", "s", "--turn", "1").out


CALLS = (
    Settled(session="s", at=NOON, turn=1, call=1, tool="files.read", site=Site(1, 1), arguments={}, outcome=Outcome(status="returned"), seconds=0.5),
    Running(session="s", at=NOON + 1.25, turn=1, call=2, tool="shell.run", site=Site(2, 1), arguments={"command": "make"}),
)  # fmt: skip


def test_a_cancelled_turn_says_how_long_it_took_and_what_is_known_of_calls_under_way(tmp_path: Path) -> None:
    assert cut_short(tmp_path, "cancelled", *CALLS) == (
        "── turn 1, 2026-05-28 20:26:40, cancelled, 3.500 s\n"
        "   1 | x\n"
        "\n"
        "call  line  tool        arguments            status       by    source  bytes  seconds\n"
        "   1     1  files.read  {}                   returned     tool  -           0    0.500\n"
        '   2     2  shell.run   {"command": "make"}  was running  -     -           -    2.250\n'
        "\n"
        "cancelled: the turn was stopped; 1 call had ended; nobody knows what became of shell.run (line 2); "
        "reads that were under way are not on record\n"
    )


def test_a_turn_that_was_cancelled_before_a_call_ended_does_not_say_that_there_was_none(tmp_path: Path) -> None:
    assert cut_short(tmp_path, "cancelled", text="half\n") == (
        "── turn 1, 2026-05-28 20:26:40, cancelled, 3.500 s\n"
        "   1 | x\n"
        "\n"
        "no calls are on record\n"
        "\n"
        "cancelled: the turn was stopped; 0 calls had ended; reads that were under way are not on record\n"
        "\n"
        "shown to the model, 5 bytes:\n"
        "  half\n"
    )


def test_nobody_knows_how_long_an_interrupted_turn_took(tmp_path: Path) -> None:
    out = cut_short(tmp_path, "interrupted", *CALLS)
    assert (
        out.startswith("── turn 1, 2026-05-28 20:26:40, interrupted\n") and "was running  -     -           -        -\n" in out
    )
    assert out.endswith("1 call had ended; nobody knows what became of shell.run (line 2)\n")


def test_an_imported_session_is_a_conversation(tmp_path: Path) -> None:
    def item(turn: int, payload: dict[str, object]) -> Item:
        raw = {"timestamp": "2026-05-28T20:26:40Z", "type": "response_item", "payload": payload}
        return Item(session="s", at=NOON, turn=turn, format="codex", kind=f"response_item/{payload['type']}", raw=raw)

    keep(
        tmp_path, "s",
        Opened(session="s", at=NOON, facts=Facts(format="codex", model="gpt")),
        item(1, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List it.\nAll of it."}]}),
        item(1, {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"}),
        item(1, {"type": "function_call_output", "call_id": "c1", "output": "a\nb\n"}),
        item(1, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a and b" + "!" * 2000}]}),
    )  # fmt: skip
    out = Typed(tmp_path, "show", "s").out
    assert "  imported   from codex\n" in out
    assert '── turn 1, 2026-05-28 20:26:40\nuser: List it.\n  All of it.\ncall shell {"command": ["ls"]}\n' in out
    assert "output (4 bytes" in out and "): a b\nassistant: a and b!!!" in out and "… (1,007 characters more)" in out
    assert Typed(tmp_path, "list").out == (
        "session  opened            turns  model  format  title\ns        2026-05-28 20:26      1  gpt    codex   List it.\n"
    )
