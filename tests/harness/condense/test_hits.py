"""Search hits, from the search pack's values and from what grep prints."""

from typing import Any

from harness.condense import shape_of
from harness.condense.hits import by_folder

from .making import HANDLE, seeing, shown


def pack_value(files: int, rows: int, *, text: str = "x = compute()") -> dict[str, Any]:
    return {
        "files": [
            {"path": f"src/mod{at}.py", "count": rows, "matches": [{"line": 10 * row + 1, "column": 1, "text": text, "before": [], "after": []} for row in range(rows)]}
            for at in range(files)
        ],
        "total": files * rows, "total_files": files, "searched": 99, "binary": 0, "truncated": False,
    }  # fmt: skip


def test_rows_stand_below_their_file() -> None:
    assert shown(pack_value(2, 2), "hits").text == (
        "src/mod0.py (2)\n1:x = compute()\n11:x = compute()\nsrc/mod1.py (2)\n1:x = compute()\n11:x = compute()"
    )


def test_grep_output_is_grouped_and_nothing_is_lost() -> None:
    text = "a.py:1:one\na.py-2-around\n--\nb/c.py:7:two\na.py:9:three\nBinary file x matches\n"
    assert shown(text, "hits").text == "a.py (2)\n1:one\n2-around\n9:three\nb/c.py (1)\n7:two\nBinary file x matches"


def test_a_path_with_a_number_in_it_keeps_its_name() -> None:
    text = "log-12-x.txt:3:hit\nlog-12-x.txt-4-after\nlog-12-x.txt:5:hit"
    assert shown(text, "hits").text == "log-12-x.txt (2)\n3:hit\n4-after\n5:hit"


def test_the_heading_form_of_rg_is_read() -> None:
    text = "src/a.py\n1:one\n2-two\n\nsrc/b.py\n3:three\n"
    assert shown(text, "hits").text == "src/a.py (1)\n1:one\n2-two\nsrc/b.py (1)\n3:three"


def test_every_file_is_named_before_any_shows_many_rows() -> None:
    condensed = shown(pack_value(120, 200), "hits")
    lines = condensed.text.split("\n")
    assert {f"src/mod{at}.py (200)" for at in range(120)} <= set(lines)
    assert sum(line.startswith("1:") for line in lines) == 120
    kept = len(lines) - 1
    assert lines[-1] == f'[{120 * 201 - kept:,} of {120 * 201:,} rows cut: await recall("{HANDLE}")]'


def test_a_long_row_is_cut_around_what_was_looked_for() -> None:
    text = "a" * 900 + "needle" + "b" * 900
    condensed = shown(pack_value(3, 40, text=text), "hits", terms=("needle",))
    row = condensed.text.split("\n")[1]
    assert "needle" in row and len(row) <= 200 and row.count("characters cut") == 2


def test_paths_that_fit_stand_one_a_line_and_others_by_folder() -> None:
    few = "src/a.py\nsrc/b.py\nREADME.md"
    assert shown(few, "hits").text == few
    many = "\n".join(f"src/package/folder/file_{at}.py" for at in range(800))
    condensed = shown(many, "hits")
    assert condensed.text.startswith("src/package/folder/: file_0.py, file_1.py, ")
    assert condensed.trimmed["condensed"] > 10_000


def test_folders_hold_the_names_of_their_files() -> None:
    assert by_folder(["a/x.py", "b/c/y.py", "a/z.py", "top", "a/sub/"]) == ["a/: x.py, z.py, sub/", "b/c/: y.py", "top"]


def test_rows_that_a_script_made_are_grouped_too() -> None:
    rows = [
        {"path": "a.py", "line": 3, "text": "x"},
        {"path": "b.py", "line": 1, "text": "y"},
        {"path": "a.py", "line": 9, "text": "z"},
    ]
    assert shown(rows, "hits").text == "a.py\n3:x\n9:z\nb.py\n1:y"


def test_a_search_that_gave_a_part_says_how_much_there_is() -> None:
    value = {**pack_value(1, 1), "total": 900, "total_files": 31, "truncated": True}
    assert shown(value, "hits").text.split("\n")[0] == "found 900 in 31 files; the search gave a part of them"


def test_what_is_no_list_of_hits_is_shown_as_the_output_it_is() -> None:
    assert shown("total 3\nsome words here\nother words", "hits").text == "total 3\nsome words here\nother words"


def test_hits_are_recognised() -> None:
    assert shape_of("a.py:1:x\nb.py:2:y\nc.py:3:z") == "hits"
    assert shape_of(pack_value(1, 1)) == "hits"


def test_rows_that_no_choice_could_show_are_counted_as_cut() -> None:
    text = "\n".join(f"src/mod{at // 10}.py:{at + 1}:value_{at} = compute(argument_{at})" for at in range(20_000))
    condensed = shown(text, "hits")
    total = 20_000 + 2_000
    rows = condensed.text.split("\n")
    assert rows[-1] == f'[{total - len(rows) + 1:,} of {total:,} rows cut: await recall("{HANDLE}")]'
    assert rows[0] == "src/mod0.py (10)" and len(condensed.text.encode()) <= 8_192
    assert condensed.produced == len(condensed.text.encode()) + sum(condensed.trimmed.values())
    assert condensed.trimmed["cap"] > 0.5 * condensed.produced


def test_very_many_rows_are_not_all_compared_with_what_is_in_view() -> None:
    """Rows with a short period are the worst: each window stands in many places, and each run is long."""
    compared = []
    for count in (2_000, 20_000):
        rows = [f"{at % 7 + 1}:the same row, number {at % 7}" for at in range(count)]
        view = seeing("\n".join(rows))
        shown("\n".join(f"src/a.py:{row}" for row in rows), "hits", view=view)
        compared.append(view.compared)
    assert compared[1] <= 2 * compared[0] <= 40_000
