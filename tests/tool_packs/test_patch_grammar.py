"""The text of a patch becomes sections, or a problem that names the line."""

import re

import pytest

from catalog import ToolProblem
from tests.tool_packs.recorded_patches import SESSIONS, recorded
from tool_packs.patch_grammar import AddFile, DeleteFile, Hunk, Line, UpdateFile, parse, paths_in

UPDATE_EXAMPLE = """\
*** Begin Patch
*** Update File: app.py
@@ def main():
     first()
-    second()
+    third()
*** End Patch"""
ADD_EXAMPLE = "*** Begin Patch\n*** Add File: notes.txt\n+first line\n+second line\n*** End Patch"


def between(*rows: str) -> str:
    return "\n".join(["*** Begin Patch", *rows, "*** End Patch"])


def hunk(*rows: str, anchors: tuple[str, ...] = (), at: int = 3, body_at: int | None = None, end_of_file: bool = False) -> Hunk:
    lines = tuple(Line(row[0], row[1:]) for row in rows)  # type: ignore[arg-type]
    return Hunk(anchors, lines, end_of_file, at, at + 1 if body_at is None else body_at)


WHOLE = between(
    "*** Add File: new.txt",
    "+one",
    "+",
    "+two",
    "*** Delete File: old.txt",
    "*** Update File: a.py",
    "*** Move to: lib/a.py",
    "@@ class A:",
    "@@     def f(self):",
    " kept",
    "-gone",
    "+come",
    "@@",
    "+last",
    "*** End of File",
    "*** Update File: b.py",
    "-x",
)
PARSED = (
    AddFile("new.txt", ("one", "", "two"), 2),
    DeleteFile("old.txt", 6),
    UpdateFile(
        "a.py",
        "lib/a.py",
        (
            hunk(" kept", "-gone", "+come", anchors=("class A:", "    def f(self):"), at=9, body_at=11),
            hunk("+last", at=14, end_of_file=True),
        ),
        7,
    ),
    UpdateFile("b.py", None, (hunk("-x", at=18, body_at=18),), 17),
)


def test_a_whole_patch_becomes_its_sections() -> None:
    assert parse(WHOLE) == PARSED


@pytest.mark.parametrize(
    "wrapped",
    [
        WHOLE + "\n",
        "\n\n" + WHOLE + "\n\n  \n",
        WHOLE.replace("\n", "\r\n"),
        "\ufeff" + WHOLE,
        f"<<EOF\n{WHOLE}\nEOF",
        f"<<'EOF'\n{WHOLE}\nEOF\n",
        f'<<"EOF"\n{WHOLE}\nEOF',
        f"apply_patch <<'PATCH'\n{WHOLE}\nPATCH",
        f"apply_patch << 'PATCH'\n{WHOLE}\nPATCH",
        f"apply_patch << 'PATCH'\n{WHOLE}",
        f"$ applypatch <<-EOF\n{WHOLE}\nEOF",
        f"apply_patch\n{WHOLE}",
        f"```\n{WHOLE}\n```",
        f"```patch\n{WHOLE}\n```\n",
        f"```bash\napply_patch <<'EOF'\n{WHOLE}\nEOF\n```",
        "\n".join("    " + row for row in WHOLE.split("\n")),
        "\n".join("\t" + row if row else row for row in WHOLE.split("\n")),
        WHOLE.replace("*** Begin Patch", "  *** Begin Patch\t").replace("*** End Patch", " *** End Patch  "),
        WHOLE.replace("*** Add File: new.txt", "   *** Add File:   new.txt  "),
        WHOLE.replace("*** Delete File: old.txt", "\t*** Delete File:old.txt "),
        WHOLE.replace("*** Move to: lib/a.py", "  *** Move to: lib/a.py "),
        WHOLE.replace("*** End of File", "*** End of File  "),
    ],
)
def test_what_is_wrapped_around_a_patch_or_pads_its_markers_changes_nothing(wrapped: str) -> None:
    assert parse(wrapped) == PARSED


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["@@", " a", "-b"], [hunk(" a", "-b")]),
        ([" a", "-b"], [hunk(" a", "-b", body_at=3)]),
        (["@@", "", " a"], [hunk(" ", " a")]),
        (["@@", " a", "", "+b", ""], [hunk(" a", " ", "+b", " ")]),
        (["", "@@", "+b"], [hunk("+b", at=4)]),
        (["@@ ", "+b"], [hunk("+b")]),
        (["@@def f():", "+b"], [hunk("+b", anchors=("def f():",))]),
        (["@@ def f(): @@", "+b"], [hunk("+b", anchors=("def f():",))]),
        (["@@ -1,2 +3,4 @@ def f():", "+b"], [hunk("+b")]),
        (["@@ -1 +1 @@", "+b"], [hunk("+b")]),
        (["@@", "@@ class A", "+b"], [hunk("+b", anchors=("class A",), body_at=5)]),
        (["@@", " a", "*** End of File", "", "@@", "+b"], [hunk(" a", end_of_file=True), hunk("+b", at=7)]),
        (["@@", "--- a", "+++ b"], [hunk("--- a", "+++ b")]),
        (["@@", " *** End Patch", "+*** Begin Patch"], [hunk(" *** End Patch", "+*** Begin Patch")]),
        (["@@", "  *** Update File: b", "+x"], [hunk("  *** Update File: b", "+x")]),
        (["@@", "+a\x0cb\u2028c\x85d"], [hunk("+a\x0cb\u2028c\x85d")]),
    ],
)
def test_hunks_are_read_as_models_write_them(rows: list[str], expected: list[Hunk]) -> None:
    assert parse(between("*** Update File: f", *rows)) == (UpdateFile("f", None, tuple(expected), 2),)


def test_padded_markers_inside_an_update_are_markers_only_when_asked_for() -> None:
    patch = between("*** Update File: a", "@@", "-x", "  *** End of File", "  *** Delete File: b")
    assert len(parse(patch)) == 1
    assert parse(patch, padded=True) == (
        UpdateFile("a", None, (hunk("-x", end_of_file=True),), 2),
        DeleteFile("b", 6),
    )


def test_an_added_file_may_be_empty_and_blank_lines_may_part_sections() -> None:
    patch = between("*** Add File: empty", "", "*** Add File: b", "+x", "", " ", "*** Delete File: c", "")
    assert parse(patch) == (AddFile("empty", (), 2), AddFile("b", ("x",), 4), DeleteFile("c", 8))


def test_a_rename_needs_no_hunk() -> None:
    assert parse(between("*** Update File: a", "*** Move to: b")) == (UpdateFile("a", "b", (), 2),)


PREFIXES = "' ' (kept), '-' (removed) or '+' (added)"
SECTION = "'*** Add File: path', '*** Delete File: path' or '*** Update File: path'"


@pytest.mark.parametrize(
    ("patch", "message", "example"),
    [
        ("", "patch line 1: the patch is empty: ''; expected '*** Begin Patch'", UPDATE_EXAMPLE),
        ("```\n```", "patch line 1: the patch is empty: ''; expected '*** Begin Patch'", UPDATE_EXAMPLE),
        (
            "hello",
            "patch line 1: the first marker is missing: 'hello'; expected '*** Begin Patch'",
            UPDATE_EXAMPLE,
        ),
        (
            "Here it is:\n" + between("*** Delete File: a"),
            "patch line 1: text before '*** Begin Patch', which is line 2: 'Here it is:'; expected '*** Begin Patch'",
            UPDATE_EXAMPLE,
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
            "patch line 1: this is a unified diff, which is another format: '--- a/x'; expected '*** Begin Patch'",
            UPDATE_EXAMPLE,
        ),
        (
            "*** Begin Patch",
            "patch line 1: the last marker is missing: was the patch cut off?: '*** Begin Patch'; expected '*** End Patch'",
            UPDATE_EXAMPLE,
        ),
        (
            "*** Begin Patch\n*** Add File: a\n+x",
            "patch line 3: the last marker is missing: was the patch cut off?: '+x'; expected '*** End Patch'",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Delete File: a") + "\npytest -q",
            "patch line 4: text after '*** End Patch', which is line 3: 'pytest -q'; expected '*** End Patch'",
            UPDATE_EXAMPLE,
        ),
        (between(), f"patch line 2: the patch names no file: '*** End Patch'; expected {SECTION}", UPDATE_EXAMPLE),
        (
            between("*** Frobnicate File: foo"),
            f"patch line 2: this starts no section: '*** Frobnicate File: foo'; expected {SECTION}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Delete File: a", "-x"),
            f"patch line 3: this starts no section: '-x'; expected {SECTION}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Delete File: a", "*** End Patch", "*** Begin Patch", "*** Delete File: b"),
            "patch line 3: a second patch in the same text: '*** End Patch'; expected one patch a call, nothing after its end",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Add File:  "),
            "patch line 2: no path after the marker: '*** Add File:'; expected '*** Add File: path'",
            ADD_EXAMPLE,
        ),
        (
            between("*** Update File: a", "*** Move to: "),
            "patch line 3: no path after the marker: '*** Move to:'; expected '*** Move to: new/path'",
            "*** Update File: old.py\n*** Move to: new.py",
        ),
        (
            between("*** Add File: a", "+x", "y"),
            "patch line 4: a line of an added file without '+': 'y'; expected '+' before each line, blank ones too",
            ADD_EXAMPLE,
        ),
        (
            between("*** Add File: a", "+x", "", "+y"),
            "patch line 4: a line of an added file without '+': ''; expected '+' before each line, blank ones too",
            ADD_EXAMPLE,
        ),
        (
            between("*** Update File: a.py"),
            "patch line 2: the update of a.py has no hunk: '*** Update File: a.py'; "
            f"expected '@@', then lines that start with {PREFIXES}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@"),
            f"patch line 3: the hunk has no lines: '@@'; expected lines that start with {PREFIXES}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@ x", "*** End of File"),
            f"patch line 3: the hunk has no lines: '@@ x'; expected lines that start with {PREFIXES}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@", " x", "@@", "*** Delete File: b"),
            f"patch line 5: the hunk has no lines: '@@'; expected lines that start with {PREFIXES}",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@", "bad"),
            f"patch line 4: a line of an update without its prefix: 'bad'; expected {PREFIXES}; a new hunk starts with '@@'",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@", " x", "-y", "bad", "+z"),
            f"patch line 6: a line of an update without its prefix: 'bad'; expected {PREFIXES}; a new hunk starts with '@@'",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@", " x", "\ty"),
            "patch line 5: a line of an update without its prefix (it starts with a tab: put one space before a kept line): "
            f"'\\ty'; expected {PREFIXES}; a new hunk starts with '@@'",
            UPDATE_EXAMPLE,
        ),
        (
            between("*** Update File: a", "@@", " x", "*** End of File", "+y"),
            "patch line 6: a line after '*** End of File': '+y'; expected '@@' for a new hunk, or a new section",
            UPDATE_EXAMPLE,
        ),
    ],
)
def test_a_bad_patch_names_its_line_what_was_expected_and_a_right_example(patch: str, message: str, example: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        parse(patch)
    assert (caught.value.code, caught.value.message) == ("bad_patch", message)
    assert caught.value.hint == f"nothing was changed; a right one:\n{example}"
    assert caught.value.data["line"] == int(message.split()[2].rstrip(":"))
    if example.startswith("*** Begin"):
        assert parse(example)


def test_a_long_bad_line_is_shortened_in_the_message() -> None:
    with pytest.raises(ToolProblem) as caught:
        parse(between("x" * 100_000))
    assert len(caught.value.message) < 400


def test_every_path_that_a_patch_may_touch_is_named_even_when_the_patch_is_bad() -> None:
    assert paths_in(WHOLE) == ["new.txt", "old.txt", "a.py", "lib/a.py", "b.py"]
    assert paths_in("  *** Update File: x \r\nrubbish\n*** Delete File: y") == ["x", "y"]


def test_reading_costs_no_more_than_the_length_of_the_patch() -> None:
    blank = between("*** Update File: a", "@@", *[""] * 400_000, "-x")
    (section,) = parse(blank)
    assert isinstance(section, UpdateFile)
    assert len(section.hunks[0].lines) == 400_001


# Outputs of a real apply_patch for real calls: the grammar must agree with it call by call, and on the line it names.
REFUSED = re.compile(r"(?:invalid hunk at line|Invalid patch hunk on line) (\d+)")


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the recorded sessions are not here")
def test_recorded_patches_are_accepted_and_refused_as_they_were_when_recorded() -> None:
    accepted = refused = 0
    for call in recorded():
        if not call.patch:
            continue
        patch, said = call.patch, call.said
        told = REFUSED.search(said)
        if told is None:
            assert "Success. Updated" in said or "Failed to find" in said
            assert parse(patch)
            accepted += 1
            continue
        with pytest.raises(ToolProblem) as caught:
            parse(patch)
        assert caught.value.data["line"] == int(told[1])
        refused += 1
    assert accepted > 500 and refused > 10
