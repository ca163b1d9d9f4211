"""Replacing passages, writing, moving and deleting whole files, on real files."""

import stat
from pathlib import Path

import pytest

from catalog import ToolProblem
from tool_packs import patch
from tool_packs.patch import Edit, Patch
from tool_packs.patch_changes import Changed

pytestmark = pytest.mark.anyio

FILE = "import os\n\n\nclass Cart:\n    def total(self):\n        return 1\n\n    def clear(self):\n        return 2\n"
AGAIN = "nothing was changed; read the file again and copy its lines as they are"


def tree(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def names(top: Path) -> list[str]:
    return sorted(path.name for path in top.iterdir())


@pytest.mark.parametrize(
    ("before", "old", "new", "every", "after", "counts"),
    [
        (b"a b c\n", "b", "B", False, b"a B c\n", (1, 1)),
        (b"a\nb\nc\n", "b\n", "", False, b"a\nc\n", (0, 1)),
        (b"a\nb\nc\n", "a\nb", "x\ny\nz", False, b"x\ny\nz\nc\n", (3, 2)),
        (b"a a\na\nb\n", "a", "aa", True, b"aa aa\naa\nb\n", (2, 2)),
        (b"aaa\n", "aa", "b", True, b"ba\n", (1, 1)),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", False, b"x\r\ny\r\nz\r\nc\r\n", (3, 2)),
        (b"a\r\nb\r\n", "a\r\nb", "x", False, b"x\r\n", (1, 2)),
        (b"a\nb\r\nc\n", "b", "x\ny", False, b"a\nx\r\ny\r\nc\n", (2, 1)),
        (b"a\nb\r\nc\n", "a", "x\ny", False, b"x\ny\nb\r\nc\n", (2, 1)),
        (b"a\r\nb", "b", "x\ny", False, b"a\r\nx\r\ny", (2, 1)),
        (b"a\r\nb\r\n", "\nb\n", "\n", False, b"a\r\n", (0, 1)),
        (b"a\nb", "b", "c", False, b"a\nc", (1, 1)),
        (b"\xef\xbb\xbfa\n", "a", "b", False, b"\xef\xbb\xbfb\n", (1, 1)),
        (b"\xff a\n", "a", "b", False, b"\xff b\n", (1, 1)),
        ("é – ü\n".encode(), "– ü", "- u", False, "é - u\n".encode(), (1, 1)),
    ],
)
async def test_replace_exchanges_one_passage_and_keeps_the_rest(
    tmp_path: Path, before: bytes, old: str, new: str, every: bool, after: bytes, counts: tuple[int, int]
) -> None:
    (tmp_path / "f").write_bytes(before)
    applied = await patch.replace(Patch(tmp_path), "f", old, new, all=every)
    assert (tmp_path / "f").read_bytes() == after
    assert applied.files == [Changed(action="M", path="f", added=counts[0], removed=counts[1])]


@pytest.mark.parametrize(
    ("old", "new", "code", "message", "hint"),
    [
        (
            "def",
            "x",
            "several_matches",
            "old is in shop.py 2 times, at lines 5, 8",
            "nothing was changed; add lines around it until only one place matches, or pass all: true to replace each",
        ),
        (
            "class Cart:\n  def total(self):\n",
            "x",
            "no_match",
            "shop.py does not contain old exactly; lines 4 to 5 would match but for white space",
            f"{AGAIN}; closest:\n4: class Cart:\n5:     def total(self):",
        ),
        (
            "Class cart",
            "x",
            "no_match",
            "shop.py does not contain old exactly; line 4 would match but for upper and lower case",
            f"{AGAIN}; closest:\n4: class Cart:",
        ),
        (
            "import\u00a0os",
            "x",
            "no_match",
            "shop.py does not contain old exactly; line 1 would match but for white space",
            f"{AGAIN}; closest:\n1: import os",
        ),
        (
            "    def clear(self):\n        return 3\n",
            "x",
            "no_match",
            "shop.py does not contain old: line 2 of old is '        return 3', but line 9 of the file is '        return 2'",
            f"{AGAIN}; closest:\n8:     def clear(self):\n9:         return 2\n10: ",
        ),
        ("def totall", "x", "no_match", "shop.py does not contain old", f"{AGAIN}; closest:\n5:     def total(self):"),
        ("something else", "x", "no_match", "shop.py does not contain old", AGAIN),
        (
            "",
            "x",
            "empty_old",
            "old is empty: which part of shop.py should be replaced?",
            "copy the lines to replace into old; patch.write writes a whole file",
        ),
        (
            "os\r\n",
            "os\n",
            "no_change",
            "old and new are the same text",
            "nothing was changed; line endings stay as the file has them, patch.write can change those",
        ),
    ],
)
async def test_replace_that_fails_says_what_comes_closest(
    tmp_path: Path, old: str, new: str, code: str, message: str, hint: str
) -> None:
    (tmp_path / "shop.py").write_text(FILE)
    with pytest.raises(ToolProblem) as caught:
        await patch.replace(Patch(tmp_path), "shop.py", old, new)
    assert (caught.value.code, caught.value.message, caught.value.hint) == (code, message, hint)
    assert (tmp_path / "shop.py").read_text() == FILE


async def test_edits_are_made_in_order_on_what_the_ones_before_left_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one two\n")
    work = Patch(tmp_path)
    await patch.edit(work, "f", [Edit(old="one", new="three"), Edit(old="three two", new="four")])
    assert (tmp_path / "f").read_text() == "four\n"
    with pytest.raises(ToolProblem) as caught:
        await patch.edit(work, "f", [Edit(old="four", new="five"), Edit(old="four", new="six")])
    assert (caught.value.code, caught.value.message) == ("no_match", "edit 2 of 2: f does not contain old")
    assert caught.value.data["edit"] == 2
    assert (tmp_path / "f").read_text() == "four\n"


@pytest.mark.parametrize(
    ("old", "text", "after"),
    [
        (None, "a\nb", b"a\nb"),
        (None, "a\r\n", b"a\r\n"),
        (b"x\ny\n", "a\n", b"a\n"),
        (b"x\r\ny\r\n", "a\nb\n", b"a\r\nb\r\n"),
        (b"x\r\ny\n", "a\nb\n", b"a\nb\n"),
        (b"x\r\n", "a\nb\r\n", b"a\nb\r\n"),
        (b"\xef\xbb\xbfx\n", "a\n", b"\xef\xbb\xbfa\n"),
        (b"\0\1", "text\n", b"text\n"),
    ],
)
async def test_write_makes_a_whole_file_and_keeps_the_endings_of_one_it_replaces(
    tmp_path: Path, old: bytes | None, text: str, after: bytes
) -> None:
    path = tmp_path / "new" / "f"
    if old is not None:
        path.parent.mkdir()
        path.write_bytes(old)
        with pytest.raises(ToolProblem) as caught:
            await patch.write(Patch(tmp_path), "new/f", text)
        assert (caught.value.code, caught.value.message) == ("exists", "new/f is there already")
        assert path.read_bytes() == old
    applied = await patch.write(Patch(tmp_path), "new/f", text, overwrite=True)
    assert path.read_bytes() == after
    assert [row.action for row in applied.files] == ["A" if old is None else "M"]


async def test_write_counts_the_lines_that_differ(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n2\n3\n4\n5\n")
    applied = await patch.write(Patch(tmp_path), "f", "1\n2\nthree\n4\n5\n", overwrite=True)
    assert (applied.added, applied.removed) == (1, 1)


async def test_move_takes_content_and_permissions_along(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_bytes(b"#!\0")
    (tmp_path / "run.sh").chmod(0o711)
    (tmp_path / "there").write_text("")
    work = Patch(tmp_path)
    with pytest.raises(ToolProblem) as caught:
        await patch.move(work, "run.sh", "there")
    assert caught.value.code == "exists"
    applied = await patch.move(work, "run.sh", "bin/run.sh")
    assert applied.files == [Changed(action="R", path="bin/run.sh", moved_from="run.sh")]
    assert tree(tmp_path) == {"bin/run.sh": b"#!\0", "there": b""}
    assert stat.S_IMODE((tmp_path / "bin/run.sh").stat().st_mode) == 0o711


async def test_delete_removes_a_file_or_a_link_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n2\n")
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "lost").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    work = Patch(tmp_path, most_bytes=3)
    for name in ("link", "lost", "f"):
        applied = await patch.delete(work, name)
        assert applied.files[0].action == "D"
    with pytest.raises(ToolProblem) as caught:
        await patch.delete(work, "folder")
    assert caught.value.code == "is_directory"
    with pytest.raises(ToolProblem) as caught:
        await patch.delete(work, "f")
    assert caught.value.code == "not_found"
    assert names(tmp_path) == ["folder"]
