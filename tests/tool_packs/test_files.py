"""The pack files, on real files."""

import base64
import hashlib
import os
import struct
import subprocess
import zlib
from pathlib import Path

import anyio
import pytest

from catalog import Host, MemoryResults, ToolProblem, pack
from tool_packs import files as files_pack
from tool_packs.files import Files, Settings, image, list_, open, read, stat, tree
from tool_packs.images import image_facts
from tool_packs.indent import block_around
from tool_packs.long_files import stream_lines
from tool_packs.slices import Part, Slice

pytestmark = pytest.mark.anyio


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def write(files: Files, name: str, data: bytes | str) -> str:
    path = files.root.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def problem(awaited: object) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await awaited  # type: ignore[misc]
    return caught.value


# read: pages and ranges


async def test_read_gives_the_whole_file_with_its_facts(files: Files) -> None:
    data = b"def f():\n    return 1\n"
    write(files, "src/a.py", data)
    assert await read(files, "src/a.py") == Slice(
        path="src/a.py",
        lines=[(1, 2)],
        total_lines=2,
        text="def f():\n    return 1",
        more=False,
        parts=[],
        oid=hashlib.sha1(b"blob 22\0" + data).hexdigest(),
        bytes=22,
        encoding="utf-8",
        newline="lf",
        final_newline=True,
    )


@pytest.mark.parametrize("path", ["./src//a.py", "src/../src/a.py", "{root}/src/a.py"])
async def test_read_names_the_file_by_its_path_from_the_root(files: Files, path: str) -> None:
    write(files, "src/a.py", "x")
    assert (await read(files, path.format(root=files.root.path))).path == "src/a.py"


@pytest.mark.parametrize(
    ("offset", "limit", "lines", "more"),
    [
        (1, 3, [(1, 3)], True),
        (8, 3, [(8, 10)], False),
        (8, 100, [(8, 10)], False),
        (10, 1, [(10, 10)], False),
        (1, 9, [(1, 9)], True),
    ],
)
async def test_read_pages_through_a_file(files: Files, offset: int, limit: int, lines: list[tuple[int, int]], more: bool) -> None:
    write(files, "a", numbered(10))
    got = await read(files, "a", offset=offset, limit=limit)
    first, last = lines[0]
    assert (got.lines, got.more, got.total_lines) == (lines, more, 10)
    assert got.text == "\n".join(f"line {number}" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ([(1, 2), (5, 6)], [(1, 2), (5, 6)]),
        ([(6, 5), (2, 1)], [(1, 2), (5, 6)]),
        ([(1, 3), (4, 5)], [(1, 5)]),
        ([(3, 8), (1, 4), (8, 9)], [(1, 9)]),
        ([(9, 99)], [(9, 10)]),
        ([(2, 2), (2, 2)], [(2, 2)]),
    ],
)
async def test_ranges_are_turned_round_sorted_and_merged(
    files: Files, asked: list[tuple[int, int]], given: list[tuple[int, int]]
) -> None:
    write(files, "a", numbered(10))
    got = await read(files, "a", ranges=asked)
    parts = [Part(first=a, last=b, text="\n".join(f"line {n}" for n in range(a, b + 1))) for a, b in given]
    assert got.lines == given
    assert got.parts == (parts if len(parts) > 1 else [])
    assert got.text == "\n".join(part.text for part in parts)


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        ({"offset": 0}, "bad_range", "offset is 0; 1 is the least", "lines are counted from 1"),
        ({"limit": 0}, "bad_range", "limit is 0; 1 is the least", "lines are counted from 1"),
        ({"offset": 11}, "past_end", "a has 10 lines; line 11 is past the end", "ask for lines 1 to 10"),
        ({"ranges": []}, "bad_range", "ranges is an empty list", "give [[first, last], …], or leave it out"),
        ({"ranges": [(0, 3)]}, "bad_range", "a range's first line is 0; 1 is the least", "lines are counted from 1"),
        ({"ranges": [(1, 2), (50, 60)]}, "past_end", "a has 10 lines; line 50 is past the end", "ask for lines 1 to 10"),
        ({"ranges": [(1, 1)] * 1001}, "bad_range", "ranges has 1,001 ranges; 1,000 is the most", "read the whole file and pick lines from its text"),
        ({"around": 0}, "bad_range", "around is 0; 1 is the least", "lines are counted from 1"),
        ({"around": 11}, "past_end", "a has 10 lines; line 11 is past the end", "ask for lines 1 to 10"),
        ({"around": 1, "levels": -1}, "bad_range", "levels is -1; 0 is the least", "0 is the whole file, 1 the block around the line"),
        ({"around": 1, "ranges": [(1, 2)]}, "bad_range", "ranges and around were both given", "give one of them"),
        ({"offset": 3, "ranges": [(1, 2)]}, "bad_range", "offset=3 and ranges were both given", "give one of them"),
    ],
)  # fmt: skip
async def test_lines_that_cannot_be_are_told_with_the_numbers(
    files: Files, arguments: dict[str, object], code: str, message: str, hint: str
) -> None:
    write(files, "a", numbered(10))
    told = await problem(read(files, "a", **arguments))  # type: ignore[arg-type]
    assert (told.code, told.message, told.hint) == (code, message, hint)


async def test_an_empty_file_has_no_lines_and_is_no_problem(files: Files) -> None:
    write(files, "empty", "")
    got = await read(files, "empty")
    assert (got.lines, got.text, got.total_lines, got.more, got.final_newline) == ([], "", 0, False, False)
    assert got.oid == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    told = await problem(read(files, "empty", offset=2))
    assert (told.code, told.message) == ("past_end", "empty is empty; line 2 is past the end")


async def test_missing_files_folders_and_fifos_have_their_own_problems(files: Files) -> None:
    write(files, "src/main.py", "x")
    os.mkfifo(files.root.path / "fifo")
    missing = await problem(read(files, "src/mian.py"))
    assert (missing.code, missing.hint) == ("not_found", "did you mean src/main.py?")
    assert (await problem(read(files, "src"))).code == "is_directory"
    assert (await problem(read(files, "fifo"))).code == "not_a_file"
    assert (await problem(read(files, "../x"))).code == "outside_root"


# read: encodings and line ends


@pytest.mark.parametrize(
    ("data", "text", "total", "newline", "final"),
    [
        (b"a\nb\n", "a\nb", 2, "lf", True),
        (b"a\nb", "a\nb", 2, "lf", False),
        (b"a", "a", 1, "lf", False),
        (b"\n", "", 1, "lf", True),
        (b"\n\n", "\n", 2, "lf", True),
        (b"a\r\nb\r\n", "a\nb", 2, "crlf", True),
        (b"a\r\nb", "a\nb", 2, "crlf", False),
        (b"a\r\nb\n", "a\nb", 2, "mixed", True),
        (b"a\rb\n", "a\rb", 1, "lf", True),
        ("a\u2028b\x0bc\n".encode(), "a\u2028b\x0bc", 1, "lf", True),
    ],
)
async def test_lines_end_with_lf_or_crlf_and_text_has_lf_alone(
    files: Files, data: bytes, text: str, total: int, newline: str, final: bool
) -> None:
    write(files, "a", data)
    got = await read(files, "a")
    assert (got.text, got.total_lines, got.newline, got.final_newline) == (text, total, newline, final)


@pytest.mark.parametrize(
    ("data", "encoding", "guessed"),
    [
        ("naïve ☃\n".encode(), "utf-8", False),
        ("naïve ☃\n".encode("utf-8-sig"), "utf-8-sig", False),
        (b"\xff\xfe" + "naïve ☃\n".encode("utf-16-le"), "utf-16-le", False),
        (b"\xfe\xff" + "naïve ☃\n".encode("utf-16-be"), "utf-16-be", False),
        (b"\xff\xfe\0\0" + "naïve ☃\n".encode("utf-32-le"), "utf-32-le", False),
    ],
)
async def test_marked_encodings_are_decoded(files: Files, data: bytes, encoding: str, guessed: bool) -> None:
    write(files, "a", data)
    got = await read(files, "a")
    assert (got.text, got.encoding, got.guessed, got.bytes) == ("naïve ☃", encoding, guessed, len(data))


async def test_other_text_is_read_a_byte_a_character_and_says_it_guessed(files: Files) -> None:
    write(files, "a", "caf\xe9 r\xe9sum\xe9\n".encode("latin-1"))
    got = await read(files, "a")
    assert (got.text, got.encoding, got.guessed) == ("café résumé", "latin-1", True)


@pytest.mark.parametrize("data", [b"a\0b", b"\x89PNG\r\n\x1a\n\0\0", bytes(range(1, 256)), b"\xff\xfea\0\0\xd8"])
async def test_binary_files_are_refused_with_what_to_do_instead(files: Files, data: bytes) -> None:
    write(files, "a.bin", data)
    told = await problem(read(files, "a.bin"))
    assert (told.code, told.message) == ("binary_file", f"a.bin is a binary file of {len(data)} bytes, not text")
    assert told.hint == "files.stat gives its size; files.image takes png, jpeg, gif and webp"


# read: long files


SMALL = Settings(whole_bytes=100, streamed_bytes=8_000_000, text_bytes=4_000_000)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
async def test_a_long_file_is_read_in_parts_exactly_as_if_whole(tmp_path: Path, end: str, final: bool, mark: bytes) -> None:
    """Lines of many lengths, so that chunks end within lines, between CR and LF, and within characters."""
    body = "".join(f"{number} {'é☃x' * (number % 97)}{end}" for number in range(1, 12_001))
    data = mark + (body if final else body.removesuffix(end)).encode()
    assert len(data) > 3 * 1024 * 1024
    (tmp_path / "long").write_bytes(data)
    whole, parts = Files(tmp_path), Files(tmp_path, settings=SMALL)
    for arguments in (
        {"offset": 1, "limit": 3},
        {"offset": 5_000, "limit": 2_000},
        {"ranges": [(1, 1), (2_900, 3_100), (7_777, 7_777), (11_990, 99_999)]},
        {"offset": 12_000, "limit": 1},
        {"offset": 11_999, "limit": 2},
    ):
        assert await read(parts, "long", **arguments) == await read(whole, "long", **arguments)  # type: ignore[arg-type]
    assert (await problem(read(parts, "long", offset=12_001))).code == "past_end"


@pytest.mark.parametrize("cut", range(-3, 4))
async def test_line_ends_at_the_edge_of_a_chunk_are_neither_lost_nor_doubled(tmp_path: Path, cut: int) -> None:
    (tmp_path / "edge").write_bytes(b"x" * (1024 * 1024 + cut) + b"\r\nsecond\r\n\r\nfourth")
    whole, parts = Files(tmp_path), Files(tmp_path, settings=SMALL)
    for ranges in ([(1, 4)], [(2, 2)], [(1, 1), (3, 3)], [(4, 4)], [(2, 9)]):
        assert await read(parts, "edge", ranges=ranges) == await read(whole, "edge", ranges=ranges)


async def test_long_files_that_cannot_be_read_in_parts_say_why(tmp_path: Path) -> None:
    files = Files(tmp_path, settings=Settings(whole_bytes=10, streamed_bytes=1000, text_bytes=50))
    write(files, "long", "0123456789\n" * 50)
    write(files, "huge", "x" * 1001)
    write(files, "wide", b"\xff\xfe" + "wide text".encode("utf-16-le"))
    write(files, "binary", b"text and then\0")
    write(files, "old", ("\xe9t\xe9\n" * 10).encode("latin-1"))
    assert (await problem(read(files, "long"))).message == "these lines of long hold 550 bytes; 50 is the most in one result"
    assert (
        await problem(read(files, "long", around=3))
    ).message == "long has 550 bytes; the block around a line is found in files of at most 10"
    told = await problem(read(files, "huge"))
    assert (told.message, told.hint) == (
        "huge has 1,001 bytes; lines are read in files of at most 1,000",
        "search it with search.grep",
    )
    assert (
        await problem(read(files, "wide"))
    ).message == "wide is utf-16-le text of 20 bytes, too long to read in parts in this encoding"
    assert (await problem(read(files, "binary"))).code == "binary_file"
    got = await read(files, "old", ranges=[(2, 3)])
    assert (got.text, got.encoding, got.guessed, got.total_lines) == ("été\nété", "latin-1", True, 10)


async def test_a_result_that_would_not_fit_into_a_script_is_refused(tmp_path: Path) -> None:
    files = Files(tmp_path, settings=Settings(text_bytes=50))
    write(files, "wide", "☃" * 20)
    assert (await problem(read(files, "wide"))).message == "these lines of wide hold 60 bytes; 50 is the most in one result"


async def test_a_cancelled_reading_ends_before_the_end_of_the_file(tmp_path: Path) -> None:
    """A thread that did not look up would finish, and its result would come through."""
    (tmp_path / "long").write_bytes(b"some text of a line\n" * 3_000_000)
    with anyio.move_on_after(0.001) as scope:
        await read(Files(tmp_path, settings=Settings(whole_bytes=10)), "long")
    assert scope.cancelled_caught


class Enough(BaseException):
    pass


def test_what_the_pulse_raises_ends_the_reading_of_a_long_file(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"line\n" * 2_000_000)
    fd = os.open(tmp_path / "long", os.O_RDONLY)

    def pulse() -> None:
        raise Enough

    try:
        with pytest.raises(Enough):
            stream_lines(fd, 10_000_000, [(1, 1)], path="long", most_text=100, pulse=pulse)
        assert os.lseek(fd, 0, os.SEEK_CUR) == 1024 * 1024
        os.lseek(fd, 0, os.SEEK_SET)
        with pytest.raises(ToolProblem) as caught:
            stream_lines(fd, 9_999_999, [(1, 1)], path="long", most_text=100, pulse=lambda: None)
    finally:
        os.close(fd)
    assert caught.value.message == "long changed while it was read: 9,999,999 bytes at first, 10,000,000 at the end"


# read: blocks by indentation


PYTHON = '''\
import os

# about the class
@frozen
class Shop:
    """Sells."""

    def open(
        self,
        day: int,
    ) -> bool:
        if day == 7:
            return False

        else:
            return True

    # closes
    def close(self) -> None:
        self.shut = True


def main() -> None:
    Shop()
'''
BRACES = """\
int a(void) {
\treturn 1;
}

// twice
int b(int x)
{
  if (x) {
    return 2;
  } else {
    return 3;
  }
}

int c;
"""


@pytest.mark.parametrize(
    ("text", "anchor", "options", "expected"),
    [
        (PYTHON, 13, {}, (12, 16)),  # the if and its else
        (PYTHON, 13, {"levels": 2}, (8, 16)),  # the method, its signature over several lines
        (PYTHON, 13, {"levels": 3}, (3, 20)),  # the class, comment and decorator above
        (PYTHON, 13, {"levels": 3, "header": False}, (5, 20)),
        (PYTHON, 13, {"levels": 9}, (3, 20)),
        (PYTHON, 13, {"levels": 0}, (1, 24)),
        (PYTHON, 20, {}, (18, 20)),
        (PYTHON, 20, {"header": False}, (19, 20)),
        (PYTHON, 20, {"siblings": True}, (6, 20)),
        (PYTHON, 24, {}, (23, 24)),
        (PYTHON, 23, {}, (23, 24)),  # an anchor on the first line of its block
        (PYTHON, 1, {}, (1, 1)),
        (BRACES, 2, {}, (1, 3)),
        (BRACES, 9, {}, (8, 12)),
        (BRACES, 9, {"levels": 2}, (5, 13)),
        (BRACES, 15, {}, (15, 15)),
        (PYTHON, 13, {"levels": 0, "limit": 5}, (11, 15)),
        (PYTHON, 1, {"levels": 0, "limit": 5}, (1, 5)),
        (PYTHON, 24, {"levels": 0, "limit": 5}, (20, 24)),
    ],
)
async def test_around_gives_the_block_that_a_reader_means(
    files: Files, text: str, anchor: int, options: dict[str, object], expected: tuple[int, int]
) -> None:
    write(files, "code", text)
    got = await read(files, "code", around=anchor, **options)  # type: ignore[arg-type]
    assert got.lines == [expected]
    assert got.text == "\n".join(text.split("\n")[expected[0] - 1 : expected[1]])


def test_a_tab_counts_as_four_columns_and_blank_lines_belong_to_what_is_above() -> None:
    lines = ["def f():", "\tone", "", "    two", "", "", "def g():", "    three"]
    assert block_around(lines, 3, levels=1, siblings=False, header=True, limit=100) == (0, 3)
    assert block_around(lines, 1, levels=1, siblings=False, header=True, limit=100) == (0, 3)


# list


@pytest.fixture
def project(files: Files) -> Files:
    for name in (
        "README.md",
        "src/app.py",
        "src/deep/er/leaf.py",
        "src/app.log",
        "build/out.bin",
        ".env",
        ".github/ci.yml",
        "docs/a b.md",
    ):
        write(files, name, name)
    write(files, ".gitignore", "*.log\n/build/\n")
    write(files, "src/.gitignore", "!app.log\ndeep/er/\n")
    write(files, ".git/HEAD", "ref: refs/heads/main")
    os.symlink("../src", files.root.path / "docs" / "cycle")
    os.symlink("/etc", files.root.path / "etc")
    return files


async def names(files: Files, *arguments: object, **options: object) -> list[str]:
    return [entry.path for entry in (await list_(files, *arguments, **options)).entries]  # type: ignore[arg-type]


async def test_list_is_breadth_first_and_honours_gitignore_at_every_level(project: Files) -> None:
    got = await list_(project, depth=9)
    assert [(entry.path, entry.kind, entry.bytes, entry.target) for entry in got.entries] == [
        ("README.md", "file", 9, None),
        ("docs", "dir", None, None),
        ("etc", "link", None, "/etc"),
        ("src", "dir", None, None),
        ("docs/a b.md", "file", 11, None),
        ("docs/cycle", "link", None, "../src"),
        ("src/app.log", "file", 11, None),
        ("src/app.py", "file", 10, None),
        ("src/deep", "dir", None, None),
    ]
    assert (got.total, got.more, got.ignored, got.hidden, got.unreadable, got.stopped) == (9, False, 2, 4, [], False)


@pytest.mark.parametrize(
    ("path", "options", "expected"),
    [
        (".", {"depth": 1}, ["README.md", "docs", "etc", "src"]),
        (".", {"depth": 1, "ignored": True}, ["README.md", "build", "docs", "etc", "src"]),
        (".", {"depth": 1, "hidden": True}, [".env", ".github", ".gitignore", "README.md", "docs", "etc", "src"]),
        ("src", {}, ["src/app.log", "src/app.py", "src/deep"]),
        ("build", {}, ["build/out.bin"]),  # asked for by name, so it is shown
        ("src/deep/er", {}, ["src/deep/er/leaf.py"]),
        (".", {"glob": "*.py", "depth": 9}, ["src/app.py"]),
        (".", {"glob": "docs/**", "depth": 9}, ["docs/a b.md", "docs/cycle"]),
        (".", {"offset": 2, "limit": 2, "depth": 1}, ["docs", "etc"]),
        ("docs/cycle", {"depth": 1}, ["docs/cycle/app.log", "docs/cycle/app.py", "docs/cycle/deep"]),
    ],
)
async def test_list_gives_what_is_asked_for(project: Files, path: str, options: dict[str, object], expected: list[str]) -> None:
    if path == "docs/cycle":
        (project.root.path / ".gitignore").unlink()
    assert await names(project, path, **options) == expected


async def test_list_pages_say_whether_there_is_more(project: Files) -> None:
    page = await list_(project, depth=1, limit=3)
    assert (len(page.entries), page.total, page.more) == (3, 4, True)
    assert not (await list_(project, depth=1, offset=4, limit=3)).more
    told = await problem(list_(project, depth=1, offset=5))
    assert (told.code, told.message) == ("past_end", ". has 4 entries within depth 1; entry 5 is past the end")


@pytest.mark.parametrize(
    ("path", "options", "code", "message"),
    [
        ("README.md", {}, "not_a_directory", "README.md is a file, not a folder"),
        ("srk", {}, "not_found", "nothing is at srk"),
        ("etc", {}, "outside_root", "etc leads outside the root through a link"),
        (".", {"depth": 0}, "bad_range", "depth is 0; 1 is the least"),
        (".", {"limit": 0}, "bad_range", "limit is 0; 1 is the least"),
        (".", {"offset": -1}, "bad_range", "offset is -1; 1 is the least"),
        (".", {"glob": " "}, "bad_glob", "glob is empty"),
        (".", {"glob": "*a*a*a*b"}, "bad_glob", "'*a*a*a*b' has too many stars"),
    ],
)
async def test_list_tells_what_is_wrong(project: Files, path: str, options: dict[str, object], code: str, message: str) -> None:
    told = await problem(list_(project, path, **options))  # type: ignore[arg-type]
    assert (told.code, told.message) == (code, message)


async def test_an_empty_folder_is_an_empty_list(files: Files) -> None:
    got = await list_(files)
    assert (got.entries, got.total, got.more) == ([], 0, False)


async def test_names_that_are_no_utf8_are_shown_so_that_json_can_carry_them(files: Files) -> None:
    write(files, os.fsdecode(b"caf\xe9"), "x")
    write(files, "new\nline", "x")
    tool = next(one for one in pack(files_pack).tools if one.name == "list")
    dumped = tool.dump(await list_(files))
    assert [entry["path"] for entry in dumped["entries"]] == ["caf\\xe9", "new\nline"]
    (await list_(files)).model_dump_json()


async def test_a_walk_ends_at_its_cap_and_says_so(tmp_path: Path) -> None:
    files = Files(tmp_path, settings=Settings(entries=3))
    for name in "abcde":
        write(files, name, "x")
    got = await list_(files)
    assert (got.total, got.stopped) == (3, True)
    assert (await tree(files)).stopped


def git_ignores(root: Path, path: str) -> bool:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return subprocess.run(["git", "-C", str(root), "check-ignore", "-q", path]).returncode == 0


async def test_patterns_made_to_take_for_ever_are_passed_over(files: Files) -> None:
    """With its stars this pattern would be tried in about 10^20 ways."""
    write(files, "a" * 255, "")
    write(files, ".gitignore", "*a" * 20 + "b\n" + "**/a/" * 20 + "b\n*.log\n")
    write(files, "x.log", "")
    assert await names(files) == ["a" * 255]


async def test_bad_patterns_and_linked_gitignores_do_not_stop_a_listing(files: Files) -> None:
    write(files, "rules", "*.txt\n")
    write(files, "sub/a.txt", "")
    write(files, "a.txt", "")
    write(files, "b.log", "")
    write(files, ".gitignore", b"!\n/\n*.log\n\xff\xfe\n")
    os.symlink("../rules", files.root.path / "sub" / ".gitignore")
    assert await names(files) == ["a.txt", "rules", "sub", "sub/a.txt"]


@pytest.mark.parametrize(
    "path",
    ["a.log", "b/x.log", "b/keep.log", "c", "d/e/f.tmp", "d/e/g", "out/deep/x", "sp ace", "!bang", "#hash", "x/y/z.o", "x/z.o"],
)
async def test_listing_agrees_with_git(files: Files, path: str) -> None:
    rules = "*.log\n!keep.log\n/c\nd/**/*.tmp\nout/\nsp\\ ace\n\\!bang\n\\#hash\nx/*.o\n"
    write(files, ".gitignore", rules)
    write(files, path, "x")
    assert (path not in await names(files, depth=9)) == git_ignores(files.root.path, path)


async def test_the_exclude_file_of_the_repository_counts_too(files: Files) -> None:
    write(files, ".git/info/exclude", "secret.txt\n")
    write(files, "secret.txt", "")
    write(files, "open.txt", "")
    assert await names(files) == ["open.txt"]


# stat and tree


async def test_stat_tells_files_folders_and_links_apart(project: Files) -> None:
    path = project.root.path / "README.md"
    path.chmod(0o640)
    os.utime(path, (0, 86_400))
    os.symlink("not-there", project.root.path / "dangling")
    got = await stat(project, "README.md")
    assert (got.kind, got.bytes, got.mode, got.modified, got.leads_to) == ("file", 9, "640", "1970-01-02T00:00:00Z", None)
    assert (await stat(project, "src")).kind == "dir"
    found = [await stat(project, name) for name in ("docs/cycle", "etc", "dangling")]
    assert [(one.kind, one.target, one.leads_to) for one in found] == [
        ("link", "../src", "dir"),
        ("link", "/etc", "outside"),
        ("link", "not-there", "nothing"),
    ]
    assert (await problem(stat(project, "gone"))).code == "not_found"


async def test_tree_adds_up_what_lies_below_each_folder(project: Files) -> None:
    write(project, "src/app.py", "x" * 2500)
    got = await tree(project)
    assert got.text == ". 6 files, 2.5 KB\n  docs/ 2 files, 11 B\n  src/ 2 files, 2.5 KB\n    deep/ 0 files, 0 B"
    assert [(one.path, one.files, one.folders, one.bytes) for one in got.folders] == [
        (".", 6, 3, 2531),
        ("docs", 2, 0, 11),
        ("src", 2, 1, 2511),
        ("src/deep", 0, 0, 0),
    ]
    assert (await tree(project, "src", depth=1, ignored=True)).text == "src 3 files, 2.5 KB\n  deep/ 1 file, 19 B"
    assert (await problem(tree(project, "README.md"))).code == "not_a_directory"


# image


def png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(b"\0" * (width + 1) * height)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def jpeg(width: int, height: int) -> bytes:
    app = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    exif = b"\xff\xe1\x00\x08\xff\xc0\x00\x00\x00\x00"  # holds what looks like a frame header
    return b"\xff\xd8" + app + exif + b"\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\0" * 9


GIF = b"GIF89a" + struct.pack("<HH", 300, 200) + b"\0" * 10
VP8X = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (399).to_bytes(3, "little") + (299).to_bytes(3, "little")
VP8L = b"RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + (399 | 299 << 14).to_bytes(4, "little") + b"\0" * 5
VP8 = b"RIFF\x1e\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 400, 300)


@pytest.mark.parametrize(
    ("data", "media_type", "size"),
    [
        (png(7, 5), "image/png", (7, 5)),
        (jpeg(640, 480), "image/jpeg", (640, 480)),
        (GIF, "image/gif", (300, 200)),
        (VP8X, "image/webp", (400, 300)),
        (VP8L, "image/webp", (400, 300)),
        (VP8, "image/webp", (400, 300)),
        (png(7, 5)[:18], "image/png", (None, None)),
        (b"\xff\xd8\xff\xe0", "image/jpeg", (None, None)),
        (b"RIFF\0\0\0\0WEBP", "image/webp", (None, None)),
    ],
)
async def test_image_is_kept_whole_behind_a_handle(tmp_path: Path, data: bytes, media_type: str, size: tuple[int, int]) -> None:
    results = MemoryResults()
    files = Files(tmp_path, results)
    write(files, "pictures/x", data)
    got = await image(files, "pictures/x")
    assert (got.kind, got.path, got.media_type, got.bytes, (got.width, got.height)) == (
        "attachment",
        "pictures/x",
        media_type,
        len(data),
        size,
    )
    kept = results.get(got.handle)
    assert (base64.b64decode(kept.pop("data")), kept) == (
        data,
        {"kind": "attachment", "path": "pictures/x", "media_type": media_type},
    )


async def test_what_is_no_image_or_too_large_is_refused(tmp_path: Path) -> None:
    files = Files(tmp_path, settings=Settings(image_bytes=100))
    write(files, "a.png", "text")
    write(files, "b.png", png(50, 50) + b"\0" * 100)
    told = await problem(image(files, "a.png"))
    assert (told.code, told.message) == ("not_an_image", "a.png is no png, jpeg, gif or webp image; it has 4 bytes")
    assert (await problem(image(files, "b.png"))).code == "too_large"
    assert (await problem(image(files, "c.png"))).code == "not_found"


@pytest.mark.parametrize("data", [png(7, 5), jpeg(640, 480), GIF, VP8X, VP8L, VP8])
def test_a_cut_header_gives_no_size_and_never_fails(data: bytes) -> None:
    for end in range(len(data)):
        image_facts(data[:end])


# the pack


async def test_the_pack_opens_in_the_root_it_is_told_or_the_hosts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_text("inside")
    made = pack(files_pack)
    async with made.opened({"root": "sub"}, Host(root=tmp_path)) as resource:
        assert (await read(resource, "a")).text == "inside"
    assert (await read(await open(Settings(), Host(root=tmp_path)), "sub/a")).text == "inside"
    with pytest.raises(ToolProblem) as caught:
        await open(Settings(root=Path("gone")), Host(root=tmp_path))
    assert caught.value.code == "bad_root"


def test_the_tools_declare_what_they_read_and_ask_nobody() -> None:
    tools = {one.name: one for one in pack(files_pack).tools}
    assert {name: one.effects({"path": "a/b"}).reads for name, one in tools.items()} == {
        "read": ("file:a/b",),
        "list": ("tree:a/b",),
        "stat": ("file:a/b",),
        "tree": ("tree:a/b",),
        "image": ("file:a/b",),
    }
    assert tools["list"].effects({}).reads == ("tree:.",)
    assert tools["read"].facts.shape == "slice"
    assert not any(one.asks({"path": "a"}) for one in tools.values())
    assert all(len(one.summary) < 100 for one in tools.values())
    assert all(schema.get("description") for one in tools.values() for schema in one.properties.values())
