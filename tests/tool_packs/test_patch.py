"""The pack `patch` on real files: what it changes, what it leaves alone, and what it says when it cannot."""

import os
import resource
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from catalog import ToolProblem, pack
from tests.tool_packs.recorded_patches import SESSIONS, recorded
from tool_packs import patch
from tool_packs.patch import Patch
from tool_packs.patch_changes import Applied, Changed
from tool_packs.patch_grammar import AddFile, UpdateFile, parse
from tool_packs.patch_match import revise

pytestmark = pytest.mark.anyio


def between(*rows: str) -> str:
    return "\n".join(["*** Begin Patch", *rows, "*** End Patch"])


def update(*rows: str, path: str = "f") -> str:
    return between(f"*** Update File: {path}", *rows)


def tree(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def names(top: Path) -> list[str]:
    return sorted(path.name for path in top.iterdir())


async def problem_of(work: Patch, text: str, **options: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await patch.apply(work, text, **options)
    return caught.value


# What a patch does to one file. Bytes, so that endings show.
CASES = {
    "a hunk without a header": (b"a\nb\nc\n", [" a", "-b", "+B"], b"a\nB\nc\n"),
    "removing only": (b"a\nb\nc\n", ["@@", " a", "-b", " c"], b"a\nc\n"),
    "removing all": (b"a\nb\n", ["@@", "-a", "-b"], b""),
    "kept lines only": (b"a\nb\n", ["@@", " a", " b"], b"a\nb\n"),
    "several hunks in order": (
        b"1\n2\n3\n4\n5\n",
        ["@@", "-1", "+one", "@@", " 3", "-4", "+four", "@@", "+six"],
        b"one\n2\n3\nfour\n5\nsix\n",
    ),
    "the first place after the last hunk": (
        b"x\ny\nx\ny\nx\n",
        ["@@", " x", "-y", "+1", "@@", " x", "-y", "+2"],
        b"x\n1\nx\n2\nx\n",
    ),
    "an anchor": (
        b"class A:\n    x\nclass B:\n    x\n",
        ["@@ class B:", "-    x", "+    y"],
        b"class A:\n    x\nclass B:\n    y\n",
    ),
    "nested anchors": (
        b"class A:\n  def f():\n    x\nclass B:\n  def e():\n    x\n  def f():\n    x\n",
        ["@@ class B:", "@@   def f():", "-    x", "+    y"],
        b"class A:\n  def f():\n    x\nclass B:\n  def e():\n    x\n  def f():\n    y\n",
    ),
    "an anchor without its indent or the end of its line": (
        b"class A:\n  def f(a):\n    x\n  def g():\n    x\n",
        ["@@ class A", "@@ def g", "-    x", "+    y"],
        b"class A:\n  def f(a):\n    x\n  def g():\n    y\n",
    ),
    "an anchor is not the beginning of a longer word": (
        b"def get_all():\n    x\ndef get():\n    x\n",
        ["@@ def get", "-    x", "+    y"],
        b"def get_all():\n    x\ndef get():\n    y\n",
    ),
    "an anchor repeated as the first line": (b"a\nf:\n  x\n", ["@@ f:", " f:", "-  x", "+  y"], b"a\nf:\n  y\n"),
    "added lines below an anchor": (b"a\nb\nc\n", ["@@ a", "+new"], b"a\nnew\nb\nc\n"),
    "added lines without an anchor go to the end": (b"a\nb\n", ["@@", "+c", "+d"], b"a\nb\nc\nd\n"),
    "added lines without an anchor go above a blank last line": (b"a\n\n", ["@@", "+b"], b"a\nb\n\n"),
    "added lines at the end and a hunk above": (b"a\nb\n", ["@@", "+c", "@@", "-a", "+A"], b"A\nb\nc\n"),
    "into an empty file": (b"", ["@@", "+a", "+b"], b"a\nb\n"),
    "into an empty file with a blank kept line": (b"", ["@@", "+a", ""], b"a\n"),
    "the end of the file": (b"x\ny\nx\ny\n", ["@@", " x", "-y", "+z", "*** End of File"], b"x\ny\nx\nz\n"),
    "an end marker on lines that are not at the end": (b"x\ny\nz\n", ["@@", " x", "-y", "*** End of File"], b"x\nz\n"),
    "added lines tied to the end": (b"a\nb\n", ["@@ a", "+c", "*** End of File"], b"a\nb\nc\n"),
    "a blank line that ends a hunk but not the text": (b"a\nb\n", ["@@", " a", "-b", "+c", ""], b"a\nc\n"),
    "blank lines between hunks": (b"a\nb\nc\n", ["@@", "-a", "+A", "", "", "@@", "-c", "+C"], b"A\nb\nC\n"),
    "a blank kept line with and without its space": (b"a\n\nb\n\nc\n", ["@@", " a", "", " b", " ", "-c"], b"a\n\nb\n\n"),
    "a range header of a unified diff": (b"a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"], b"a\nc\n"),
    "no final line feed, last line untouched": (b"a\nb", ["@@", "-a", "+A"], b"A\nb"),
    "no final line feed, last line replaced": (b"a\nb", ["@@", " a", "-b", "+c"], b"a\nc\n"),
    "no final line feed, lines added below": (b"a\nb", ["@@", " b", "+c"], b"a\nb\nc\n"),
    "no final line feed, last line removed": (b"a\nb", ["@@", "-b"], b"a\n"),
    "CR LF": (b"a\r\nb\r\nc\r\n", ["@@", " a", "-b", "+B", "+B2"], b"a\r\nB\r\nB2\r\nc\r\n"),
    "CR LF at the end": (b"a\r\nb", ["@@", " b", "+c"], b"a\r\nb\r\nc\r\n"),
    "mixed endings: replaced lines pass theirs on": (
        b"a\nb\r\nc\nd\r\ne\n",
        ["@@", "-b", "-c", "+B", "+C", "+more"],
        b"a\nB\r\nC\nmore\nd\r\ne\n",
    ),
    "mixed endings: new lines go by the line above": (b"a\r\nb\nc\r\n", ["@@", " a", "+x", " b", "+y"], b"a\r\nx\r\nb\ny\nc\r\n"),
    "a lone CR is part of a line": (b"a\rb\nc\n", ["@@", "-c", "+d"], b"a\rb\nd\n"),
    "a form feed and a line separator part no lines": (
        "a\x0cb\u2028c\nd\n".encode(),
        ["@@", " a\x0cb\u2028c", "-d", "+e"],
        "a\x0cb\u2028c\ne\n".encode(),
    ),
    "a byte order mark": (b"\xef\xbb\xbfa\nb\n", ["@@", "-a", "+A"], b"\xef\xbb\xbfA\nb\n"),
    "a byte order mark and a first line that stays": (b"\xef\xbb\xbfa\nb\n", ["@@", " a", "-b", "+B"], b"\xef\xbb\xbfa\nB\n"),
    "bytes that are no UTF-8 stay": (b"caf\xe9\nb\n", ["@@", "-b", "+c"], b"caf\xe9\nc\n"),
    "Unicode": ("naïve café 👩\u200d🚀\nb\n".encode(), ["@@", "-naïve café 👩\u200d🚀", "+été"], "été\nb\n".encode()),
}


@pytest.mark.parametrize("name", CASES)
async def test_an_update_changes_exactly_what_it_says(tmp_path: Path, name: str) -> None:
    before, rows, after = CASES[name]
    (tmp_path / "f").write_bytes(before)
    await patch.apply(Patch(tmp_path), update(*rows))
    assert (tmp_path / "f").read_bytes() == after


@pytest.mark.parametrize(
    ("before", "rows", "after", "fuzz"),
    [
        (b"a  \nb\n", [" a", "-b", "+c"], b"a  \nc\n", ["hunk 1: matched but for white space at line ends"]),
        (b"\ta\nb\n", ["@@", "     a", "-b", "+c"], b"\ta\nc\n", ["hunk 1: matched but for white space at both ends of lines"]),
        (
            "x – “y”\u00a0z\nb\n".encode(),
            ["@@", ' x - "y" z', "-b", "+c"],
            "x – “y”\u00a0z\nc\n".encode(),
            ["hunk 1: matched but for look-alike characters"],
        ),
        (b"a\nb \nb\n", ["@@", "-b"], b"a\nb \n", []),
        (b"b \nb\t\n", ["@@", "-b"], b"b\t\n", ["hunk 1: matched but for white space at line ends"]),
        (b" f:\nb\n", ["@@ f:", "-b"], b" f:\n", ["hunk 1: @@ matched but for white space at both ends of lines"]),
        (b"def f():\nb\n", ["@@ def f", "-b"], b"def f():\n", ["hunk 1: @@ matched but for the rest of the line"]),
        (b"a\n", ["@@", "-a", "+b", ""], b"b\n", ["hunk 1: matched but for a blank line at its end"]),
    ],
)
async def test_looser_matches_come_after_exact_ones_are_told_and_leave_kept_lines_as_they_are(
    tmp_path: Path, before: bytes, rows: list[str], after: bytes, fuzz: list[str]
) -> None:
    (tmp_path / "f").write_bytes(before)
    applied = await patch.apply(Patch(tmp_path), update(*rows))
    assert (tmp_path / "f").read_bytes() == after
    assert applied.files[0].fuzz == fuzz


async def test_one_patch_adds_updates_moves_and_deletes(tmp_path: Path) -> None:
    (tmp_path / "keep.py").write_text("a\nb\n")
    (tmp_path / "old.py").write_text("x\ny\n")
    (tmp_path / "old.py").chmod(0o755)
    (tmp_path / "same.bin").write_bytes(b"\0\1")
    (tmp_path / "gone.txt").write_text("1\n2\n3")
    applied = await patch.apply(
        Patch(tmp_path),
        between(
            "*** Add File: new/deep/file.txt", "+one", "+", "*** Update File: keep.py", "@@", "-a", "+A", "+AA",
            "*** Update File: old.py", "*** Move to: lib/new.py", "@@", "-y", "*** Update File: same.bin", "*** Move to: other.bin",
            "*** Delete File: gone.txt", "*** Add File: empty", f"*** Update File: {tmp_path}/keep.py", "@@", "-b",
        ),
    )  # fmt: skip
    assert tree(tmp_path) == {
        "empty": b"", "keep.py": b"A\nAA\n", "lib/new.py": b"x\n", "new/deep/file.txt": b"one\n\n", "other.bin": b"\0\1",
    }  # fmt: skip
    assert stat.S_IMODE((tmp_path / "lib/new.py").stat().st_mode) == 0o755
    assert applied == Applied(
        files=[
            Changed(action="A", path="new/deep/file.txt", added=2),
            Changed(action="M", path="keep.py", added=2, removed=1),
            Changed(action="R", path="lib/new.py", moved_from="old.py", removed=1),
            Changed(action="R", path="other.bin", moved_from="same.bin"),
            Changed(action="D", path="gone.txt", removed=3),
            Changed(action="A", path="empty"),
            Changed(action="M", path="keep.py", removed=1),
        ],
        added=4,
        removed=6,
    )


async def test_sections_of_one_patch_build_on_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    await patch.apply(
        Patch(tmp_path),
        between(
            "*** Update File: a", "*** Move to: b", "@@", "+2", "*** Update File: b", "@@", " 2", "+3", "*** Add File: a", "+new",
            "*** Delete File: b", "*** Add File: b", "+again",
        ),
    )  # fmt: skip
    assert tree(tmp_path) == {"a": b"new\n", "b": b"again\n"}


async def test_indented_markers_that_cannot_be_kept_lines_are_markers(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "b").write_text("2\n")
    await patch.apply(
        Patch(tmp_path), between("  *** Update File: a", "@@", "-1", "+one", "  *** Update File: b", "@@", "-2", "+two")
    )
    assert tree(tmp_path) == {"a": b"one\n", "b": b"two\n"}


async def test_indented_markers_that_stand_in_the_file_are_kept_lines(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(" *** Delete File: g\nx\n")
    (tmp_path / "g").write_text("")
    await patch.apply(Patch(tmp_path), update("@@", "  *** Delete File: g", "-x"))
    assert tree(tmp_path) == {"f": b" *** Delete File: g\n", "g": b""}


FILE = "import os\n\n\nclass Cart:\n    def total(self):\n        return 1\n\n    def clear(self):\n        return 2\n"
AGAIN = "nothing was changed; read the file again and copy its lines as they are"


@pytest.mark.parametrize(
    ("rows", "message", "hint"),
    [
        (
            ["@@ class Cart:", "     def total(self):", "-        return 7", "+        return 8"],
            "shop.py: hunk 1 (patch line 3) does not match: patch line 5 wants '        return 7', "
            "but line 6 of the file is '        return 1'",
            f"{AGAIN}; closest:\n5:     def total(self):\n6:         return 1\n7: \n8:     def clear(self):\n9:         return 2",
        ),
        (
            ["@@", "-import os", "@@", "-    def totl(self):"],
            "shop.py: hunk 2 (patch line 5) does not match: patch line 6 wants '    def totl(self):', the file has no such line",
            f"{AGAIN}; closest:\n5:     def total(self):\n8:     def clear(self):",
        ),
        (
            ["@@", "-entirely different"],
            "shop.py: hunk 1 (patch line 3) does not match: patch line 4 wants 'entirely different', nothing in the file comes near it",
            AGAIN,
        ),
        (
            ["@@", "         return 2", "-    # end"],
            "shop.py: hunk 1 (patch line 3) does not match: patch line 5 wants '    # end', but the file ends at line 9",
            f"{AGAIN}; closest:\n9:         return 2",
        ),
        (
            ["@@", "     def clear(self):", "@@", "-import os"],
            "shop.py: hunk 2 (patch line 5) matches only at line 1 of the file, but hunk 1 ended at line 8 and the search goes on "
            "from there",
            "nothing was changed; put hunks in the order of the file",
        ),
        (
            ["@@ def clear(self):", "-import os"],
            "shop.py: hunk 1 (patch line 3) matches only at line 1 of the file, but its @@ 'def clear(self):' is at line 8 and the "
            "search goes on from there",
            "nothing was changed; put hunks in the order of the file",
        ),
        (
            ["@@", " class Cart:", "-    size = 1", "+    def total(self):"],
            "shop.py: hunk 1 (patch line 3) does not match, but its result is there already, at line 4 of the file",
            "nothing was changed; was this applied before?",
        ),
        (
            ["@@ class Carts:", "-        return 1"],
            "shop.py: hunk 1 (patch line 3): no line of the file is 'class Carts:', which its @@ names",
            f"{AGAIN}; closest:\n4: class Cart:",
        ),
        (
            ["@@", "     def clear(self):", "@@ class Cart:", "-        return 2"],
            "shop.py: hunk 2 (patch line 5): @@ 'class Cart:' is at line 4 of the file, but hunk 1 ended at line 8",
            "nothing was changed; put hunks in the order of the file",
        ),
    ],
)
async def test_a_hunk_that_does_not_match_says_where_and_what_stands_there(
    tmp_path: Path, rows: list[str], message: str, hint: str
) -> None:
    (tmp_path / "shop.py").write_text(FILE)
    problem = await problem_of(Patch(tmp_path), update(*rows, path="shop.py"))
    assert (problem.code, problem.message, problem.hint) == ("no_match", message, hint)
    assert (tmp_path / "shop.py").read_text() == FILE


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        (["*** Add File: there", "+x"], "exists", "there is there already"),
        (["*** Update File: other", "*** Move to: there", "@@", "+x"], "exists", "there is there already"),
        (["*** Update File: there", "*** Move to: ./there"], "exists", "there is there already: both paths are the same"),
        (["*** Add File: new", "+x", "*** Add File: sub/../new", "+y"], "exists", "sub/../new is there already"),
        (["*** Delete File: nowhere"], "not_found", "nothing is at nowhere"),
        (["*** Update File: nowhere", "@@", "+x"], "not_found", "nothing is at nowhere"),
        (
            ["*** Delete File: there", "*** Update File: there", "@@", "+x"],
            "not_found",
            "there was deleted or moved away earlier in the same patch",
        ),
        (["*** Delete File: folder"], "is_directory", "folder is a folder, not a file"),
        (["*** Update File: folder", "@@", "+x"], "is_directory", "folder is a folder, not a file"),
        (["*** Add File: folder", "+x"], "is_directory", "folder is a folder, not a file"),
        (["*** Add File: there/x", "+x"], "not_a_directory", "there/x: a part of the path is a file, not a folder"),
        (["*** Add File: n", "+x", "*** Add File: n/m", "+x"], "not_a_directory", "n/m: n is a file, not a folder"),
        (["*** Update File: binary", "@@", "+x"], "binary", "binary is binary: byte 2 is NUL"),
        (
            ["*** Update File: link", "@@", "+x", "*** Update File: there", "@@", "+y"],
            "same_file",
            "link and there are one file, by a link",
        ),
        (["*** Add File: ../out", "+x"], "outside_root", "../out is outside the root {root}"),
        (["*** Update File: /etc/hostname", "@@", "+x"], "outside_root", "/etc/hostname is outside the root {root}"),
        (["*** Update File: there", "*** Move to: /tmp/x", "@@", "+x"], "outside_root", "/tmp/x is outside the root {root}"),
        (["*** Update File: out", "@@", "+x"], "outside_root", "out leads outside the root through a link"),
        (["*** Update File: big", "@@", "+x"], "too_large", "big has 101 bytes; 100 is the most that is read at once"),
        (
            ["*** Add File: a\ud800", "+x"],
            "bad_text",
            "the patch has half a surrogate pair at character 55: no file can hold that",
        ),
    ],
)
async def test_what_cannot_be_done_is_found_before_anything_is_written(
    tmp_path: Path, rows: list[str], code: str, message: str
) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "there").write_text("a\n")
    (top / "other").write_text("b\n")
    (top / "folder").mkdir()
    (top / "binary").write_bytes(b"a\0b")
    (top / "link").symlink_to("there")
    (top / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "outside").write_text("secret")
    (top / "big").write_text("x" * 101)
    before = tree(tmp_path)
    problem = await problem_of(Patch(top, most_bytes=100), between("*** Add File: first", "+x", *rows))
    assert (problem.code, problem.message) == (code, message.replace("{root}", str(top)))
    assert problem.hint
    assert tree(tmp_path) == before


async def test_overwrite_lets_added_and_moved_files_replace_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")
    (tmp_path / "b").write_text("old\n")
    (tmp_path / "c").write_text("c\n")
    applied = await patch.apply(
        Patch(tmp_path),
        between("*** Add File: a", "+new", "*** Update File: c", "*** Move to: b", "@@", "+d"),
        overwrite=True,
    )
    assert tree(tmp_path) == {"a": b"new\n", "b": b"c\nd\n"}
    assert [(row.action, row.path) for row in applied.files] == [("M", "a"), ("R", "b")]


async def test_a_link_stays_a_link_when_what_it_leads_to_is_updated(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a\n")
    (tmp_path / "link").symlink_to("real")
    await patch.apply(Patch(tmp_path), update("@@", "-a", "+b", path="link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "b\n"


async def test_a_file_that_does_not_change_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    before = (tmp_path / "f").stat()
    await patch.apply(Patch(tmp_path), update("@@", " a"))
    assert (tmp_path / "f").stat().st_ino == before.st_ino


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system itself refuses to write more than that: a disk that fails in the middle of a patch."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_write_that_fails_midway_takes_back_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "a").chmod(0o750)
    (tmp_path / "big").write_text("2\n")
    before = tree(tmp_path)
    work = Patch(tmp_path)
    huge = between(
        "*** Update File: a", "@@", "+x", "*** Add File: n/e/w", "+y", "*** Update File: a", "*** Move to: moved/a",
        "*** Update File: big", "@@", *["+" + "z" * 99] * 100,
    )  # fmt: skip
    with largest_file(4_096):
        problem = await problem_of(work, huge)
    assert (problem.code, problem.message) == ("too_large", "big: the system allows no file that large; no file was changed")
    assert tree(tmp_path) == before
    assert names(tmp_path) == ["a", "big"]
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o750


async def test_what_cannot_be_taken_back_is_named(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 50)
    (tmp_path / "big").write_text("2\n")
    work = Patch(tmp_path)
    text = between(
        "*** Update File: long", "@@", *["-" + "y" * 99] * 50, "*** Update File: big", "@@", *["+" + "z" * 99] * 100,
    )  # fmt: skip
    with largest_file(4_096):
        problem = await problem_of(work, text)
    assert (problem.code, problem.hint) == ("half_done", "read them before anything else")
    assert problem.message == "big: the system allows no file that large; and these could not be put back as they were: long"
    assert problem.data == {"changed": ["long"], "cause": "too_large"}


@contextmanager
def nobody(top: Path) -> Iterator[None]:
    """Permissions bind the superuser to nothing; then the test goes on as somebody else."""
    if os.geteuid():
        yield
        return
    for path in (top, *top.rglob("*")):
        os.chown(path, 65_534, 65_534, follow_symlinks=False)
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_folder_that_may_not_be_written_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    for folder in ("open", "locked"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f").write_text("1\n")
    (tmp_path / "open" / "h").symlink_to("../other")
    (tmp_path / "other").write_text("o\n")
    (tmp_path / "locked").chmod(0o555)
    before = tree(tmp_path)
    work = Patch(tmp_path)
    text = between(
        "*** Update File: open/f", "@@", "+2", "*** Add File: open/new/g", "+x", "*** Delete File: open/h", "*** Delete File: locked/f",
    )  # fmt: skip
    with nobody(tmp_path):
        problem = await problem_of(work, text)
    assert (problem.code, problem.message) == ("permission_denied", "locked/f: the system refuses access; no file was changed")
    assert tree(tmp_path) == before
    assert os.readlink(tmp_path / "open" / "h") == "../other"
    assert not (tmp_path / "open" / "new").exists()


async def test_what_somebody_else_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    draft = Patch(tmp_path).draft()
    draft.update("f", draft.text("f").encode() + b"mine\n")
    (tmp_path / "f").write_text("theirs\n")
    with pytest.raises(ToolProblem) as caught:
        draft.commit()
    assert (caught.value.code, caught.value.message) == ("changed", "f was changed by something else while the edit was made")
    assert (tmp_path / "f").read_text() == "theirs\n"


def test_every_tool_of_the_pack_asks_first_and_names_the_files_it_writes() -> None:
    tools = {tool.name: tool for tool in pack(patch).tools}
    assert list(tools) == ["apply", "replace", "edit", "write", "move", "delete"]
    assert all(tool.asks({}) and tool.facts.shape == "patch" and len(tool.summary) < 100 for tool in tools.values())
    text = between("*** Update File: ./a", "*** Move to: b/c", "@@", "+x", "*** Add File: d", "*** Delete File: e", "rubbish")
    assert tools["apply"].effects({"patch": text}).writes == ("file:a", "file:b/c", "file:d", "file:e")
    assert tools["apply"].effects({"patch": between("*** Delete File: /abs/olute")}).writes == ("*",)
    assert tools["move"].effects({"path": "a", "to": "b"}).writes == ("file:a", "file:b")
    assert tools["write"].effects({"path": "a", "text": ""}).writes == ("file:a",)
    for tool in tools.values():
        assert all("description" in schema for schema in tool.properties.values())


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the recorded sessions are not here")
def test_recorded_patches_match_and_miss_as_they_did_when_recorded() -> None:
    """On files whose whole text is known, because a patch added them and nothing but patches changed them since."""
    known: dict[str, str] = {}
    matched = missed = 0
    for call in recorded():
        for key in [key for key in known if key.partition(":")[2] in call.command and "write_text" in call.command]:
            del known[key]
        if not call.patch or "valid hunk header" in call.said or "update hunk" in call.said or "is empty" in call.said:
            continue
        accepted = "Success. Updated" in call.said
        for section in parse(call.patch):
            key = f"{call.session}:{section.path}"
            if isinstance(section, AddFile) and accepted:
                known[key] = "".join(line + "\n" for line in section.lines)
            elif isinstance(section, UpdateFile) and key in known and accepted:
                known[key] = revise(section.path, known[key], section.hunks).text
                matched += 1
            elif isinstance(section, UpdateFile) and key in known:
                with pytest.raises(ToolProblem):
                    revise(section.path, known[key], section.hunks)
                missed += 1
    assert matched > 100 and missed > 10


def steps(lines: int, hunks: int) -> int:
    """Python and C calls made while a patch is read and matched, whose every hunk needs the loosest tier."""
    text = "".join(f"line – {number} {'x' * 40}\n" for number in range(lines))
    rows = [row for number in range(0, lines, lines // hunks) for row in ("@@", f"-line - {number} {'x' * 40} ", "+new")]
    count = 0

    def tally(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        (section,) = parse(update(*rows))
        revise("f", text, section.hunks)  # type: ignore[union-attr]
    finally:
        sys.setprofile(None)
    return count


def test_reading_and_matching_cost_in_proportion_to_the_text_and_the_patch() -> None:
    small, large = steps(4_000, 100), steps(32_000, 800)
    assert large < 10 * small


def test_a_large_patch_on_a_large_file_of_alike_lines_ends() -> None:
    text = "}\n" * 300_000 + "{\n" + "}\n" * 300_000
    rows = ["@@", *[" }"] * 60_000, "-{", "+;", *["-}"] * 1_000]
    (section,) = parse(update(*rows))
    made = revise("f", text, section.hunks)  # type: ignore[union-attr]
    assert made.text == "}\n" * 300_000 + ";\n" + "}\n" * 299_000
