"""Diffs: whole while they have room; else every file with its counts, and what was added before what was removed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.condense.diff import diff_of, is_diff
from harness.limits import ShownLimits

from .making import HANDLE, shown

SMALL = ShownLimits(shown_value_bytes=1_500, output_bytes=200)


def file_diff(path: str, *hunks: list[str]) -> list[str]:
    lines = [f"diff --git a/{path} b/{path}", "index 0123456..89abcde 100644", f"--- a/{path}", f"+++ b/{path}"]
    for at, hunk in enumerate(hunks):
        old, new = (sum(line[:1] in (" ", sign) for line in hunk) for sign in "-+")
        lines += [f"@@ -{at * 50 + 1},{old} +{at * 50 + 1},{new} @@ def part_{at}():", *hunk]
    return lines


def test_a_small_diff_is_whole_with_one_line_for_the_names_of_a_file() -> None:
    condensed = shown("\n".join(file_diff("src/a.py", [" one", "-two", "+three", " four"])), "output", exit_code=0)
    assert condensed.whole
    assert condensed.text.split("\n") == [
        "diff --git a/src/a.py b/src/a.py +1 -1", "@@ -1,3 +1,3 @@ def part_0():", " one", "-two", "+three", " four"
    ]  # fmt: skip


def test_what_is_more_than_the_names_of_a_file_stays() -> None:
    text = "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\nindex 01..02 100644\n"
    assert shown(text + "Binary files differ", "output").text.split("\n")[1:4] == text.split("\n")[1:4]


def test_every_file_is_named_with_its_counts_and_added_lines_come_before_removed_ones() -> None:
    removed = [f"-old line {at} that is no longer there" for at in range(60)]
    added = [f"+new line {at}" for at in range(6)]
    lines = [*file_diff("src/a.py", [" before", *removed, *added, " after"]), *file_diff("src/b.py", [" x", "+y", " z"])]
    text = shown("\n".join(lines), "output", limits=SMALL).text
    assert "diff --git a/src/a.py b/src/a.py +6 -60" in text and "diff --git a/src/b.py b/src/b.py +1 -0" in text
    assert all(line in text.split("\n") for line in [*added, "+y"])
    assert f'cut: await recall("{HANDLE}")]' in text and len(text.encode()) <= 1_500


def test_a_diff_has_the_bytes_of_a_file_slice_and_other_output_has_its_own() -> None:
    lines = file_diff("src/a.py", [f"+line {at} of the new file" for at in range(20)])
    assert shown("\n".join(lines), "output", limits=SMALL).whole
    assert not shown("\n".join(line[1:] for line in lines), "output", limits=SMALL).whole


def test_the_log_before_a_diff_stays_and_a_mention_of_one_makes_none() -> None:
    log = ["commit 0123", "Author: someone", "", "    a message", ""]
    text = "\n".join([*log, *file_diff("a.py", ["+x"])])
    assert is_diff(text) and shown(text, "output").text.split("\n")[:5] == log
    assert not is_diff("see diff --git a/x b/x") and not is_diff("x\n" * 500 + "diff --git a/x b/x")


def test_a_line_of_a_hunk_that_looks_like_a_header_is_a_line() -> None:
    lines = file_diff("a.md", ["+diff --git a/x b/x", "--- a/x", "+++ b/x", " end"])
    assert diff_of(lines).body.lines == [f"{lines[0]} +2 -1", *lines[4:]]


signs = st.lists(st.sampled_from([" a", "-b", "+c", "+", "-", " ", "+diff --git x", "@@ -1 +1 @@"]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.py", "b c.py"]), signs), max_size=5), st.lists(signs, max_size=2))
def test_no_line_is_lost_but_the_names_that_stand_twice(files: list[tuple[str, list[str]]], loose: list[list[str]]) -> None:
    lines = [line for path, hunk in files for line in file_diff(path, hunk)] + [line for part in loose for line in part]
    diff = diff_of(lines)
    assert len(diff.body.numbers) == len(diff.body.lasts) == len(diff.body.lines)
    for line, number in zip(diff.body.lines, diff.body.numbers, strict=True):
        assert line.startswith(lines[number - 1])
    gone = set(range(1, len(lines) + 1)) - set(diff.body.numbers)
    assert all(lines[number - 1].startswith(("index ", "--- a/", "+++ b/")) for number in gone)
