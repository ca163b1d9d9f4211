"""Which lines of files stay, and what is said of the others."""

from typing import Any

from harness.condense import Flags
from harness.condense.outline import outline, told
from harness.condense.record import Origin
from harness.limits import ShownLimits

from .making import HANDLE, numbered, seeing, shown


def file_value(
    lines: int, *, first: int = 1, total: int | None = None, width: int = 20, path: str = "src/a.py"
) -> dict[str, Any]:
    text = numbered(lines, width=width)
    return {
        "path": path,
        "lines": [[first, first + lines - 1]],
        "total_lines": total or lines,
        "text": text,
        "more": False,
        "oid": "o1",
    }


def module(functions: int) -> str:
    return "\n".join(
        line for at in range(functions) for line in (f"def step_{at}(x):", *(f"    x += {at}{row}" for row in range(18)), "")
    )


def test_a_short_file_is_whole_below_its_title() -> None:
    condensed = shown(file_value(3, first=40, total=412), "slice")
    assert condensed.text.split("\n")[0] == "src/a.py 40-42 of 412"
    assert condensed.whole and condensed.placed == ((1, 3, Origin("src/a.py", "o1", 40)),)


def test_exactly_the_lines_of_the_cap_are_whole() -> None:
    assert shown(file_value(160), "slice", small_file_free=False).whole
    assert not shown(file_value(161), "slice", small_file_free=False).whole


def test_a_small_file_is_whole_once_and_says_so() -> None:
    condensed = shown(file_value(400), "slice")
    assert condensed.whole and condensed.small_file
    again = shown(file_value(400), "slice", small_file_free=False)
    assert not again.whole and not again.small_file
    assert not shown(file_value(401), "slice").whole


def test_a_file_within_the_common_cap_leaves_the_exception_free() -> None:
    assert not shown(file_value(100), "slice").small_file


def test_a_gap_says_which_lines_it_hides_and_what_they_define() -> None:
    value = {**file_value(1), "text": module(40), "total_lines": 800, "lines": [[1, 800]]}
    lines = shown(value, "slice").text.split("\n")
    assert lines[-1].startswith("[lines ")
    assert " of 800 cut (" in lines[-1] and f'await recall("{HANDLE}")' in lines[-1]
    assert "(step_8 161; step_9 181; " in lines[-1] and " more): " in lines[-1]


def test_lines_with_what_the_script_looked_for_stay_with_their_neighbours() -> None:
    text = numbered(900).split("\n")
    text[700] = "    needle = here()"
    condensed = shown({**file_value(900), "text": "\n".join(text)}, "slice", terms=("needle",))
    lines = condensed.text.split("\n")
    at = lines.index("    needle = here()")
    assert lines[at - 4 : at + 5] == text[696:705]
    placed = {first: origin.first for first, _, origin in condensed.placed}
    assert placed[at - 4] == 697


def test_lines_in_view_become_one_reference_and_the_rest_is_shown() -> None:
    text = numbered(60)
    condensed = shown(text, "slice", view=seeing("\n".join(text.split("\n")[10:40])), origin=Origin("src/a.py", "o1", 1))
    lines = condensed.text.split("\n")
    assert len(lines) == 10 + 1 + 20 and condensed.whole
    assert [at for at, _ in condensed.references] == [10]
    assert condensed.references[0][1].lines == (11, 40)
    assert condensed.placed == ((0, 10, Origin("src/a.py", "o1", 1)), (11, 20, Origin("src/a.py", "o1", 41)))
    replaced = len("\n".join(text.split("\n")[10:40])) - len(lines[10])
    assert condensed.trimmed == {"in_view": replaced}


def test_without_overlap_trim_everything_is_shown_again() -> None:
    text = numbered(60)
    assert shown(text, "slice", view=seeing(text), flags=Flags(overlap_trim=False)).text == text


def test_several_files_each_have_the_cap_of_one() -> None:
    values = [file_value(150, path=f"src/{name}.py") for name in "abc"]
    condensed = shown(values, "slice")
    assert condensed.whole and condensed.text.split("\n")[0] == "[src/a.py 1-150]"
    long = shown([file_value(150, path="src/a.py"), file_value(900, path="src/b.py")], "slice", small_file_free=False)
    assert "[src/b.py 1-900]" in long.text.split("\n")
    kept = [count for _, count, origin in long.placed if origin.path == "src/a.py"]
    assert sum(kept) == 150


def test_the_exception_counts_all_stretches_of_a_file() -> None:
    two = [file_value(140), {**file_value(140), "lines": [[141, 280]]}]
    condensed = shown(two, "slice")
    assert condensed.whole and condensed.small_file
    assert not shown(two, "slice", small_file_free=False).whole


def test_parts_of_one_file_keep_their_numbers() -> None:
    parts = [{"first": 5, "last": 6, "text": "five\nsix"}, {"first": 90, "last": 90, "text": "ninety"}]
    value = {
        "path": "a.go",
        "lines": [[5, 6], [90, 90]],
        "total_lines": 100,
        "text": "five\nsix\nninety",
        "parts": parts,
        "oid": "o",
    }
    condensed = shown(value, "slice")
    assert condensed.text == "a.go 5-6, 90-90 of 100\n[a.go 5-6]\nfive\nsix\n[a.go 90-90]\nninety"
    assert condensed.placed == ((2, 2, Origin("a.go", "o", 5)), (5, 1, Origin("a.go", "o", 90)))


def test_one_line_longer_than_the_cap_is_cut_inside_and_counts_what_is_missing() -> None:
    text = "é" * 20_000
    condensed = shown(text, "slice", limits=ShownLimits(), origin=Origin("min.js"))
    begin, _, rest = condensed.text.partition("…[")
    missing, _, end = rest.partition("…")
    assert set(begin) == {"é"} and set(end) == {"é"}
    assert missing == f'{20_000 - len(begin) - len(end):,} characters cut: await recall("{HANDLE}")]'
    assert condensed.placed == ()


def names(text: str, path: str) -> str:
    return told(outline(text.split("\n"), path), 300)


def test_outlines_by_language() -> None:
    assert names("import os\n\nclass Pool:\n    def take(self):\n        pass\n\nasync def main():\n    pass", "a.py") == (
        "class Pool 3: take 4; main 7"
    )
    assert names("export class Box {\n  async open(key) {\n  }\n}\nexport const run = async () => {\n}\nif (x) {\n}", "a.ts") == (
        "class Box 1: open 2; run 5"
    )
    assert names("type Client struct {\n}\n\nfunc (c *Client) Run(x int) error {\n}", "a.go") == "Client 1; Run 4"
    assert names("pub struct Pool;\nimpl Pool {\n    pub fn take(&self) {}\n}", "a.rs") == "struct Pool 1; impl Pool 2: take 3"
    assert names("static int add(int a, int b)\n{\n    return a;\n}", "a.c") == "add 1"
    assert names("# Title\n```\n# no heading\n```\n## Part", "a.md") == "Title 1: Part 5"


def test_of_too_many_names_the_outer_ones_are_told() -> None:
    text = "\n".join(f"class Class{at}:\n    def method_of_it(self):" for at in range(60))
    label = told(outline(text.split("\n"), "a.py"), 200)
    assert label.startswith("class Class0 1; class Class1 3") and label.endswith(" more") and len(label) <= 200
