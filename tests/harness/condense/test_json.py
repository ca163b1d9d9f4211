"""JSON values, problems, patches, and which shape a value has."""

import json

import pytest

from harness.condense import shape_of

from .making import HANDLE, numbered, shown


def test_a_small_value_is_compact_json() -> None:
    assert shown({"a": [1, 2], "b": None}, "json").text == '{"a":[1,2],"b":null}'


def test_a_value_that_fits_stands_one_item_a_line_and_is_whole() -> None:
    value = [{"id": at, "name": f"item number {at}"} for at in range(20)]
    condensed = shown(value, "json")
    assert condensed.whole and condensed.text.split("\n")[1] == '  {"id":0,"name":"item number 0"},'
    assert json.loads(condensed.text) == value
    assert len(condensed.text.split("\n")) == 22


def test_a_sketch_tells_counts_first_items_ranges_and_what_differs() -> None:
    value = [{"id": at, "kind": "b" if at % 7 == 0 else "a"} for at in range(900)]
    value[500] = {"odd": 1}  # type: ignore[dict-item]
    lines = shown(value, "json", room=1_500).text.split("\n")
    assert lines[0] == "[900 items]" and lines[1] == '  {"id":0,"kind":"b"}'
    assert '  differs, item 500: {"odd":1}' in lines
    assert "  id: 0 to 899" in lines and "  kind: a ×770, b ×129" in lines
    assert lines[-1].startswith("[a sketch of ") and HANDLE in lines[-1]


def test_a_long_text_in_a_sketch_says_how_long_it_is() -> None:
    value = {"a": "x" * 9_000, "b": list(range(5_000))}
    assert "… (9,000 characters)" in shown(value, "json").text


def test_texts_of_several_lines_are_shown_as_lines() -> None:
    condensed = shown({"title": "t", "body": 'one = 1\n  two = 2\n\nfour = "4"'}, "json")
    assert condensed.text == '{"title":"t","body":"[4 lines: below]"}\n[/body, 4 lines]\none = 1\n  two = 2\n\nfour = "4"'
    assert condensed.whole


def test_of_several_long_texts_each_keeps_its_begin() -> None:
    value = {name: numbered(300, width=40).replace("x", name) for name in ("first", "second", "third")}
    lines = shown(value, "json").text.split("\n")
    for name in value:
        at = lines.index(f"[/{name}, 300 lines]")
        assert lines[at + 1].startswith("line 1 ")
    assert any(line.startswith("[lines ") and "of /first cut" in line and HANDLE in line for line in lines)


def test_a_problem_has_its_message_its_place_and_the_next_step_first() -> None:
    value = {
        "name": "no_match",
        "message": "hunk 2 was not found",
        "line": 3,
        "column": 7,
        "hint": "read the file",
        "data": {"near": 5},
    }
    assert (
        shown(value, "json").text == 'no_match: hunk 2 was not found\nat line 3, column 7\nnext: read the file\ndata: {"near":5}'
    )


def test_the_long_data_of_a_problem_is_sketched_and_the_rest_is_kept() -> None:
    value = {"code": "no_match", "message": "hunk 2 was not found", "hint": "read the file", "data": {"near": list(range(9_000))}}
    condensed = shown(value, "patch", room=600)
    assert condensed.text.startswith("no_match: hunk 2 was not found\nnext: read the file\n")
    assert not condensed.whole and "[9000 items]" in condensed.text and HANDLE in condensed.text


def test_a_patch_is_acknowledged_by_its_files() -> None:
    value = {
        "files": [
            {"action": "M", "path": "a.py", "moved_from": None, "added": 3, "removed": 1, "fuzz": ["hunk 1: white space"]},
            {"action": "R", "path": "c.py", "moved_from": "b.py", "added": 0, "removed": 0, "fuzz": []},
        ],
        "added": 3,
        "removed": 1,
    }
    assert shown(value, "patch").text == "M a.py +3 -1\n  hunk 1: white space\nR c.py from b.py +0 -0\n2 files, +3 -1"


def test_an_integer_beyond_64_bits_is_shown() -> None:
    assert shown({"n": 10**30}, "json").text == json.dumps({"n": 10**30}, separators=(",", ":"))


CASES = [
    ({"path": "a", "lines": [[1, 2]], "text": "x"}, None, None, "slice"),
    ([{"path": "a", "lines": [[1, 2]], "text": "x"}], None, None, "slice"),
    ({"output": "x", "exit_code": 0, "kind": "other"}, None, None, "output"),
    ({"output": "x", "exit_code": 1, "kind": "build"}, "output", None, "build"),
    ({"output": "a.py:1:x", "exit_code": 0, "kind": "search"}, "output", None, "hits"),
    ({"files": [{"action": "M", "path": "a"}], "added": 1, "removed": 1}, None, None, "patch"),
    ({"a": 1}, None, None, "json"),
    ("plain words", None, None, "text"),
    ("plain words", "slice", None, "slice"),
    ("plain words", "json", None, "text"),
    ("plain words", "slice", "output", "output"),
    ("plain words", None, "nonsense", "text"),
    ("===== test session starts =====\nx", None, None, "build"),
]


@pytest.mark.parametrize(("value", "declared", "told", "shape"), CASES)
def test_the_shape_is_told_declared_or_seen(value: object, declared: str | None, told: str | None, shape: str) -> None:
    assert shape_of(value, declared=declared, told=told) == shape


def test_a_value_of_several_lines_reads_as_json_with_its_commas() -> None:
    value = {"refused": "it ran twice " * 20, "next": "use that result " * 9, "inner": [1, {"deep": "x" * 120}, []], "last": None}
    assert json.loads(shown(value, "json").text) == value


def test_a_sketch_has_at_most_the_lines_that_were_asked_for() -> None:
    value = {"path": "b.py", "lines": [f"a line of the file, number {at}" for at in range(16)]}
    lines = shown(value, "json", lines_max=7).text.split("\n")
    assert len(lines) <= 8 and lines[-1].startswith("[a sketch of") and '  "path": "b.py"' in lines
