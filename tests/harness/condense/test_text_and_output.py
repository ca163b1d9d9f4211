"""Texts and what commands print."""

import json

from harness.condense import Flags
from harness.condense.terminal import settled
from harness.limits import ShownLimits

from .making import HANDLE, numbered, seeing, shown


def test_a_short_text_is_shown_as_it_is() -> None:
    condensed = shown("one\ntwo")
    assert (condensed.text, condensed.whole, condensed.produced, condensed.trimmed) == ("one\ntwo", True, 7, {})


def test_of_a_long_text_the_ends_stay_and_the_mark_counts_the_lines_between() -> None:
    condensed = shown(numbered(500))
    lines = condensed.text.split("\n")
    mark = next(line for line in lines if line.startswith("["))
    at = lines.index(mark)
    last = 500 - (len(lines) - at - 1)
    assert mark == f'[lines {at + 1}-{last} of 500 cut: await recall("{HANDLE}")]'
    assert lines[:at] == numbered(500).split("\n")[:at]
    assert lines[at + 1 :] == numbered(500).split("\n")[last:]
    assert len(lines) - 1 == 160 and not condensed.whole


def test_lines_that_repeat_are_counted_and_blank_runs_become_one() -> None:
    assert shown("a\nwait\nwait\nwait\nwait\n\n\n\nb").text == "a\nwait\n… ×4\n\nb"


def test_two_blank_lines_stay_because_sources_have_them() -> None:
    assert shown("a\n\n\nb").text == "a\n\n\nb"


def test_a_ruler_is_four_of_its_signs_and_their_number() -> None:
    assert shown(f"a\n{'─' * 120}\n{'=' * 39}\n# {'=' * 40}", "output").text == f"a\n──── ×120\n{'=' * 39}\n# ==== ×40"
    value = {"path": "a.py", "lines": [[1, 1]], "text": "=" * 100}
    assert shown(value, "slice").text.split("\n")[1] == "=" * 100


def test_a_run_that_stands_twice_in_one_text_is_shown_once() -> None:
    block = [f"a line of a licence, number {at}" for at in range(8)]
    text = "\n".join(["first", *block, "second", *block, "end"])
    condensed = shown(text, "output")
    assert condensed.text.split("\n")[10:] == [f"[8 lines already shown in {HANDLE}, lines 2-9]", "end"]
    assert condensed.whole and condensed.produced == len(condensed.text) + sum(condensed.trimmed.values())
    assert shown(text, "output", flags=Flags(overlap_trim=False)).text == text


def test_the_mark_names_lines_of_the_source_where_repeats_were_folded() -> None:
    text = "same\n" * 300 + numbered(300)
    mark = next(line for line in shown(text).text.split("\n") if line.startswith("["))
    assert " of 600 cut" in mark
    first, last = map(int, mark.split()[1].split("-"))
    shown_lines = shown(text).text.split("\n")
    assert shown_lines[shown_lines.index(mark) + 1] == text.split("\n")[last]
    assert shown_lines[shown_lines.index(mark) - 1] == text.split("\n")[first - 2]


def test_colours_go_and_a_progress_bar_has_its_last_state() -> None:
    assert settled("\x1b[1;31mred\x1b[0m\r\n 1%\r50%\r100%\r\n\x1b]0;title\x07x") == "red\n100%\nx"


def test_the_exit_code_stands_first_when_it_is_not_zero() -> None:
    assert shown("no such file\n", "output", exit_code=2).text == "exit code 2\nno such file"
    assert shown("fine\n", "output", exit_code=0).text == "fine"


def test_the_value_of_the_shell_pack_is_its_output_with_what_else_happened() -> None:
    value = {
        "output": "a\n",
        "stderr": "b\n",
        "exit_code": 124,
        "timed_out": True,
        "signal": None,
        "notice": None,
        "handle": None,
    }
    assert shown(value, "output").text == "exit code 124, timed out\na\nstderr:\nb"


def test_a_line_that_tells_of_trouble_stays_between_the_ends() -> None:
    lines = numbered(1_000).split("\n")
    lines[500] = "fatal: could not open the lock"
    condensed = shown("\n".join(lines), "output")
    assert "fatal: could not open the lock" in condensed.text.split("\n")
    assert len(condensed.text.encode()) <= ShownLimits().output_bytes


def test_an_output_in_view_becomes_a_reference() -> None:
    condensed = shown(numbered(30), "output", view=seeing(numbered(30)))
    assert condensed.text == "[30 lines already shown in T1.1, lines 1-30]" and condensed.whole
    assert condensed.trimmed["in_view"] == condensed.produced - len(condensed.text)


def test_the_asked_for_lines_and_bytes_are_kept_to() -> None:
    assert len(shown(numbered(100), lines_max=10).text.split("\n")) == 11
    assert len(shown(numbered(100), bytes_max=300).text) <= 300


def test_without_room_for_a_mark_there_is_no_text() -> None:
    condensed = shown(numbered(100), room=5)
    assert (condensed.text, condensed.whole) == ("", False)
    assert shown(numbered(100), room=12).text == f"[cut: {HANDLE}]"


def test_one_long_line_of_json_is_shown_as_json() -> None:
    value = {"number": 7, "body": "\n".join(f"line {at} of an issue" for at in range(60)), "labels": ["a", "b"]}
    condensed = shown(json.dumps(value), "output", exit_code=0)
    lines = condensed.text.split("\n")
    assert (
        condensed.whole
        and lines[0] == '{"number":7,"body":"[60 lines: below]","labels":["a","b"]}'
        and "line 3 of an issue" in lines
    )
    assert condensed.produced == len(condensed.text) + sum(condensed.trimmed.values())
    assert shown(json.dumps(value)[:-1], "output").text == json.dumps(value)[:-1]
