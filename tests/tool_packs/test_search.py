"""The pack `search` on real trees: what is found, what is left out, what is counted, and that no process outlives its call."""

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import ToolProblem, pack
from tool_packs import search
from tool_packs.ripgrep import locate
from tool_packs.search import Search
from tool_packs.search_hits import FileHits, Hits, Match
from tool_packs.search_names import ranked

pytestmark = pytest.mark.anyio


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "repository"
    top.mkdir()
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    texts: dict[str, bytes] = {
        ".gitignore": b"build/\n*.log\n",
        "app.py": b"import os\n\ndef main():\n    find_me = 1\n    return find_me  # find_me\n",
        "src/lib.py": b"find_me\nFIND_ME\nfind_me_not\n",
        "src/win.txt": b"one\r\nfind_me\r\nthree\r\n",
        "src/deep/übung – 日本.md": "naïve find_me\n".encode(),
        "-e": b"find_me in a file named like an option\n",
        "build/out.py": b"find_me\n",
        "x.log": b"find_me\n",
        ".hidden/h.py": b"find_me\n",
        "image.bin": b"\x00\x01find_me\n",
        "late.bin": b"find_me\n" + b"x" * 100 + b"\x00",
        "latin.txt": b"caf\xe9 find_me\n",
        "src/build/.gitkeep": b"",
    }
    for name, data in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    (top / ".git" / "find_me").write_text("find_me\n")
    return top


def lines(hits: Hits) -> dict[str, list[int]]:
    return {file.path: [match.line for match in file.matches] for file in hits.files}


async def problem_of(call: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await call
    return caught.value


async def test_grep_gives_files_in_order_with_lines_columns_and_counts(repository: Path) -> None:
    hits = await search.grep(Search(repository), "find_me")
    assert hits == Hits(
        files=[
            FileHits(path="-e", count=1, matches=[Match(line=1, column=1, text="find_me in a file named like an option")]),
            FileHits(
                path="app.py",
                count=2,
                matches=[
                    Match(line=4, column=5, text="    find_me = 1"),
                    Match(line=5, column=12, text="    return find_me  # find_me"),
                ],
            ),
            FileHits(path="latin.txt", count=1, matches=[Match(line=1, column=6, text="caf\ufffd find_me")]),
            FileHits(path="src/deep/übung – 日本.md", count=1, matches=[Match(line=1, column=7, text="naïve find_me")]),
            FileHits(
                path="src/lib.py",
                count=2,
                matches=[Match(line=1, column=1, text="find_me"), Match(line=3, column=1, text="find_me_not")],
            ),
            FileHits(path="src/win.txt", count=1, matches=[Match(line=2, column=1, text="find_me")]),
        ],
        total=8,
        total_files=6,
        searched=8,
        binary=2,
        truncated=False,
    )


async def test_nothing_found_is_an_empty_result_that_says_how_many_files_were_searched(repository: Path) -> None:
    hits = await search.grep(Search(repository), "nowhere to be seen")
    assert hits == Hits(files=[], total=0, total_files=0, searched=8, binary=0, truncated=False)
    assert (await search.grep(Search(repository), "find_me", glob="*.rs")).searched == 0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"path": "src"}, {"src/deep/übung – 日本.md": [1], "src/lib.py": [1, 3], "src/win.txt": [2]}),
        ({"path": "./src/../src/lib.py"}, {"src/lib.py": [1, 3]}),
        ({"path": "-e"}, {"-e": [1]}),
        ({"path": "build"}, {"build/out.py": [1]}),
        ({"path": "x.log"}, {"x.log": [1]}),
        ({"path": "image.bin"}, {}),
        ({"path": ".hidden"}, {".hidden/h.py": [1]}),
        ({"glob": "*.py"}, {"app.py": [4, 5], "src/lib.py": [1, 3]}),
        ({"glob": ["*.py", "!src/**"]}, {"app.py": [4, 5]}),
        ({"glob": "!*.{py,md,txt}"}, {"-e": [1]}),
        ({"glob": "src/*.py"}, {"src/lib.py": [1, 3]}),
        ({"glob": "./src/*.py"}, {"src/lib.py": [1, 3]}),
        ({"glob": "src/*.py", "path": "src"}, {"src/lib.py": [1, 3]}),
        ({"glob": "**/*.md"}, {"src/deep/übung – 日本.md": [1]}),
        ({"glob": "*.log"}, {}),
        ({"glob": "*.log", "ignored": True}, {"x.log": [1]}),
        ({"glob": "h.py"}, {}),
        ({"glob": "h.py", "hidden": True}, {".hidden/h.py": [1]}),
        ({"glob": ["*", "*.log"], "path": ".git"}, {".git/find_me": [1]}),
        ({"glob": "find_me", "hidden": True, "ignored": True}, {}),
        (
            {"glob": "*.py", "hidden": True, "ignored": True},
            {".hidden/h.py": [1], "app.py": [4, 5], "build/out.py": [1], "src/lib.py": [1, 3]},
        ),
        ({"ignore_case": True, "path": "src/lib.py"}, {"src/lib.py": [1, 2, 3]}),
        ({"word": True, "path": "src/lib.py"}, {"src/lib.py": [1]}),
    ],
)
async def test_what_is_searched_follows_path_globs_and_what_git_ignores(
    repository: Path, options: dict[str, Any], found: dict[str, list[int]]
) -> None:
    assert lines(await search.grep(Search(repository), "find_me", **options)) == found


@pytest.mark.parametrize(
    ("pattern", "options", "found"),
    [
        ("-e", {}, [6]),
        ("--files", {}, [7]),
        ("--pre=touch", {}, [8]),
        ("a.c", {}, [1, 2]),
        ("a.c", {"fixed": True}, [2]),
        ("(a", {"fixed": True}, [3]),
        ("end$", {}, [4, 5]),
        ("^end", {}, [4, 5]),
        ("ué", {}, [9]),
        (r"end\nend", {"multiline": True}, [4]),
        ("end\nend", {"multiline": True, "fixed": True}, [4]),
        ("(?s)abc.*end$", {"multiline": True}, [1]),
    ],
)
async def test_a_pattern_is_a_pattern_and_never_an_option(
    tmp_path: Path, pattern: str, options: dict[str, Any], found: list[int]
) -> None:
    (tmp_path / "f").write_bytes("abc\na.c\nf(a)\nend\nend\nx -e y\n--files\n--pre=touch f\nué\n".encode())
    assert lines(await search.grep(Search(tmp_path), pattern, **options)) == {"f": found}


async def test_a_match_over_several_lines_gives_them_all(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0\r\n1 begin\r\n2\r\n3 end\r\n4\r\n")
    hits = await search.grep(Search(tmp_path), "begin.*end", multiline=True, context=1)
    assert hits.files[0].matches == [Match(line=2, column=3, text="1 begin\n2\n3 end", before=["0"], after=["4"])]


async def test_context_is_given_with_each_match_even_when_the_limit_cuts_what_follows(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nhit 1\nb\nhit 2\nhit 3\nc\nd\nhit 4\n")
    hits = await search.grep(Search(tmp_path), "hit", context=2, limit=3)
    assert hits.files == [
        FileHits(
            path="f",
            count=4,
            matches=[
                Match(line=2, column=1, text="hit 1", before=["a"], after=["b", "hit 2"]),
                Match(line=4, column=1, text="hit 2", before=["hit 1", "b"], after=["hit 3", "c"]),
                Match(line=5, column=1, text="hit 3", before=["b", "hit 2"], after=["c", "d"]),
            ],
        )
    ]
    assert (hits.total, hits.truncated) == (4, True)


async def test_limits_cut_what_is_given_and_never_the_counts(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("hit\n" * 5)
    work = Search(tmp_path)
    few = await search.grep(work, "hit", limit=7)
    assert lines(few) == {"a": [1, 2, 3, 4, 5], "b": [1, 2]}
    assert (few.total, few.total_files, few.truncated) == (15, 3, True)
    each = await search.grep(work, "hit", per_file_limit=1)
    assert lines(each) == {"a": [1], "b": [1], "c": [1]}
    assert ([file.count for file in each.files], each.truncated) == ([5, 5, 5], True)
    names = await search.grep(work, "hit", files_only=True)
    assert ([(file.path, file.count, file.matches) for file in names.files], names.truncated) == (
        [("a", 5, []), ("b", 5, []), ("c", 5, [])],
        False,
    )
    two = await search.grep(work, "hit", files_only=True, limit=2)
    assert ([file.path for file in two.files], two.total_files, two.truncated) == (["a", "b"], 3, True)
    assert not (await search.grep(work, "hit", limit=15)).truncated


async def test_a_line_of_a_megabyte_is_cut_around_its_match_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "min.js").write_text("x" * 500_000 + "needle" + "y" * 500_000 + "\n" + "z" * 9_000 + "needle\n")
    hits = await search.grep(Search(tmp_path), "needle")
    first, second = hits.files[0].matches
    assert (first.column, first.cut, len(first.text)) == (500_001, True, 10_000)
    assert first.text.index("needle") == 2_000
    assert (second.column, second.cut, len(second.text)) == (9_001, False, 9_006)


async def test_a_line_too_large_to_carry_is_counted_and_not_given(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"needle" + b"x" * 34_000_000 + b"\nneedle\n")
    (tmp_path / "b").write_bytes(b"needle\n")
    hits = await search.grep(Search(tmp_path), "needle")
    assert lines(hits) == {"a": [2], "b": [1]}
    assert (hits.total, hits.truncated) == (3, True)


async def test_names_that_are_no_text_are_made_readable(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("hit\n")
    work = Search(tmp_path)
    assert lines(await search.grep(work, "hit")) == {"bad\\xff.txt": [1]}
    assert lines(await search.grep(work, "hit", glob="*.txt")) == {"bad\\xff.txt": [1]}
    assert (await search.glob(work, "*.txt")).paths == ["bad\\xff.txt"]


HINT = "put \\ before ( [ { * + ? . | where they are meant as they are, or pass fixed: true to search for plain text"


@pytest.mark.parametrize(
    ("pattern", "message", "hint"),
    [
        ("f(", "the pattern is no regular expression: unclosed group", HINT),
        ("a)b", "the pattern is no regular expression: unopened group", HINT),
        (
            "x[z-a]",
            "the pattern is no regular expression: invalid character class range, the start must be <= the end, at character 3: 'z-a'",
            HINT,
        ),
        ("*.py", "the pattern is no regular expression: repetition operator missing expression, at character 1: '*'", HINT),
        (
            "a(?=b)",
            "the pattern is no regular expression: look-ahead and look-behind are not supported, at character 2: '(?='",
            "match more, and filter the hits in the script",
        ),
        (
            r"(a)\1",
            "the pattern is no regular expression: references to groups are not supported, at character 4: '\\\\1'",
            "match more, and filter the hits in the script",
        ),
        (
            r"a\nb",
            "the pattern has a line break in it, and lines are searched one by one",
            "pass multiline: true to match over several lines",
        ),
        ("", "the pattern is empty: every line would match", '"." matches each line with text'),
        ("a\0b", "the pattern has a NUL in it", "write it as \\x00"),
        ("a\ud800", "the pattern has half a surrogate pair in it", "write the whole character"),
        ("x" * 70_000, "the pattern has 70,000 bytes; 65,536 is the most", "search for less, and filter the hits in the script"),
    ],
)
async def test_a_bad_pattern_says_what_and_where(tmp_path: Path, pattern: str, message: str, hint: str) -> None:
    (tmp_path / "f").write_text("x\n")
    problem = await problem_of(search.grep(Search(tmp_path), pattern))
    assert (problem.code, problem.message, problem.hint) == ("bad_pattern", message, hint)


@pytest.mark.parametrize("told", ["x[", "", "!", "a\0b", "./", "a\ud800", "x" * 70_000])
async def test_a_bad_glob_is_a_problem_with_right_ones(repository: Path, told: str) -> None:
    for call in (search.grep(Search(repository), "x", glob=told), search.glob(Search(repository), told)):
        problem = await problem_of(call)
        assert problem.code == "bad_glob"
        assert problem.hint == 'globs are like "*.py", "src/**/*.ts" or "!*.min.js"'


async def test_nothing_outside_the_root_is_searched(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "in").mkdir(parents=True)
    (top / "in" / "f").write_text("secret\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("secret\n")
    (top / "away").symlink_to(tmp_path / "outside")
    (top / "file").symlink_to(tmp_path / "outside" / "f")
    (top / "link").symlink_to("in")
    work = Search(top)
    for path in ("..", "/etc", "../outside/f", "away", "file", "away/f"):
        assert (await problem_of(search.grep(work, "secret", path=path))).code == "outside_root"
        assert (await problem_of(search.files(work, "f", path=path))).code == "outside_root"
    assert lines(await search.grep(work, "secret")) == {"in/f": [1]}
    assert lines(await search.grep(work, "secret", path="link")) == {"link/f": [1]}
    assert lines(await search.grep(work, "secret", path=str(top / "in"))) == {"in/f": [1]}
    assert (await problem_of(search.grep(work, "secret", path="nowhere"))).code == "not_found"
    assert (await problem_of(search.glob(work, "*", path="in/f"))).code == "not_a_directory"


async def test_a_gitignore_above_the_root_hides_nothing_in_it(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    top = tmp_path / "top"
    top.mkdir()
    (top / "f").write_text("hit\n")
    assert lines(await search.grep(Search(top), "hit")) == {"f": [1]}


async def test_a_gitignore_of_the_root_holds_in_a_folder_that_is_searched_alone(repository: Path) -> None:
    (repository / "src" / "a.log").write_text("find_me\n")
    assert "src/a.log" not in lines(await search.grep(Search(repository), "find_me", path="src"))


# names


RANKED = [
    ("search", ["search.py", "search_hits.py", "web_search.py", "research.py", "search/index.js"]),
    ("search.py", ["search.py", "web_search.py", "research.py", "search_hits.py"]),
    ("README", ["README.md", "docs/README.md", "readme_tool.py"]),
    ("hits", ["search_hits.py"]),
    ("srchts", ["search_hits.py"]),
    ("src main", ["src/main.py", "src/domain.py"]),
    ("src/ma", ["src/main.py", "src/domain.py"]),
    ("main.py", ["src/main.py", "src/domain.py"]),
    ("GetUser", ["GetUserName.ts"]),
    ("user", ["GetUserName.ts"]),
    ("serach_hits", ["search_hits.py"]),
    ("qqqqqq", []),
]
NAMES = [
    "src/main.py", "src/domain.py", "search.py", "search_hits.py", "web_search.py", "research.py", "search/index.js", "README.md",
    "docs/README.md", "readme_tool.py", "GetUserName.ts",
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), RANKED)
def test_names_are_ranked_as_people_expect_whatever_order_they_come_in(query: str, expected: list[str]) -> None:
    shuffled = NAMES.copy()
    random.Random(query).shuffle(shuffled)
    assert [one.path for one in ranked(query, shuffled)] == expected


def test_ranking_ends_on_names_and_queries_made_to_take_long() -> None:
    names = ["a" * 250 + "/" + "a" * 250] * 200
    assert ranked("a" * 40 + "b", names) == []
    assert len(ranked("[^]-\\", ["x[^]-\\y"])) == 1


async def test_files_are_found_by_what_is_remembered(repository: Path) -> None:
    work = Search(repository)
    found = await search.files(work, "lib")
    assert [one.path for one in found.files] == ["src/lib.py"]
    assert (found.total, found.searched, found.truncated) == (1, 10, False)
    assert [one.path for one in (await search.files(work, "日本")).files] == ["src/deep/übung – 日本.md"]
    assert (await search.files(work, "h.py")).files[0].path == ".hidden/h.py"
    assert [one.path for one in (await search.files(work, "h.py", hidden=False)).files] == []
    assert [one.path for one in (await search.files(work, "out.py")).files] == []
    assert [one.path for one in (await search.files(work, "out.py", ignored=True)).files] == ["build/out.py"]
    assert [one.path for one in (await search.files(work, "lib", path="src")).files] == ["src/lib.py"]
    few = await search.files(work, "t", limit=2)
    assert (len(few.files), few.total > 2, few.truncated) == (2, True, True)
    problem = await problem_of(search.files(work, "  "))
    assert (problem.code, problem.hint) == ("empty_query", 'search.glob with "*" lists every file')


async def test_glob_lists_by_pattern_and_newest_first_when_asked(repository: Path) -> None:
    work = Search(repository)
    assert (await search.glob(work, "*.py")).paths == [".hidden/h.py", "app.py", "src/lib.py"]
    assert (await search.glob(work, "*.py", hidden=False)).paths == ["app.py", "src/lib.py"]
    assert (await search.glob(work, "src/*")).paths == ["src/lib.py", "src/win.txt"]
    assert (await search.glob(work, "*.{txt,md}", path="src")).paths == ["src/deep/übung – 日本.md", "src/win.txt"]
    assert (await search.glob(work, "*.log")).paths == []
    assert (await search.glob(work, "*.log", ignored=True)).paths == ["x.log"]
    assert not any(path.startswith(".git/") for path in (await search.glob(work, "*", ignored=True)).paths)
    for age, name in enumerate(("src/lib.py", "app.py", ".hidden/h.py")):
        os.utime(repository / name, ns=(0, 10**18 - age))
    newest = await search.glob(work, "*.py", newest=True, limit=2)
    assert (newest.paths, newest.total, newest.truncated) == (["src/lib.py", "app.py"], 3, True)


# the program


def fake(path: Path, body: str) -> str:
    """A program in ripgrep's place that does what the real one does only on a bad day."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


SLOW = "sleep 600 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait"


def alive(pids: Path) -> list[int]:
    """Those that still run; a killed grandchild stays a zombie until somebody else reaps it."""
    found = []
    for pid in pids.read_text().split():
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(") ")[2][0] not in "ZX":
            found.append(int(pid))
    leader = int(pids.read_text().split()[0])
    return found + [leader] * Path(f"/proc/{leader}").exists()


async def gone(pids: Path) -> bool:
    with anyio.fail_after(10):
        while alive(pids):
            await anyio.sleep(0.01)
    return True


async def test_a_cancelled_search_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    work = Search(tmp_path, rg=fake(tmp_path / "rg", SLOW.format(pids=pids)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(search.grep, work, "x")
        with anyio.fail_after(20):
            while not await anyio.Path(pids).exists():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert await gone(pids)


async def test_a_search_that_takes_too_long_is_ended_and_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    work = Search(tmp_path, rg=fake(tmp_path / "rg", SLOW.format(pids=pids)), timeout_seconds=2)
    problem = await problem_of(search.files(work, "x"))
    assert (problem.code, problem.message) == ("too_slow", "the search in . was ended after 2 seconds")
    assert problem.hint == "search a smaller folder, or fewer files with glob"
    assert await gone(pids)


async def test_descriptors_are_closed_whatever_happens(repository: Path) -> None:
    work = Search(repository)
    await search.grep(work, "find_me", glob="*.py")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await search.grep(work, "find_me", glob="*.py")
        await search.grep(work, "find_me", path="app.py")
        await problem_of(search.grep(work, "("))
        await problem_of(search.grep(work, "x", glob="["))
        await problem_of(search.files(work, "x", path="app.py"))
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_a_program_that_breaks_down_is_told(tmp_path: Path) -> None:
    work = Search(tmp_path, rg=fake(tmp_path / "rg", "echo rg: out of luck >&2; echo more >&2; exit 2"))
    problem = await problem_of(search.grep(work, "x"))
    assert (problem.code, problem.message) == ("search_failed", "ripgrep: out of luck")
    work = Search(tmp_path, rg=fake(tmp_path / "rg2", "kill -9 $$"))
    assert (await problem_of(search.grep(work, "x"))).message == "ripgrep: it ended with -9"
    work = Search(tmp_path, rg=str(tmp_path / "nothing"))
    assert (await problem_of(search.grep(work, "x"))).message == "ripgrep cannot be started: No such file or directory"


def test_ripgrep_is_looked_for_beside_python_first_and_then_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    on_path = fake(tmp_path / "path" / "rg", "")
    assert locate(str(tmp_path / "path"), beside=[str(tmp_path / "none")]) == on_path
    assert locate(None) == locate(str(tmp_path / "path"))
    with pytest.raises(ToolProblem) as caught:
        locate(str(tmp_path / "empty"), beside=[str(tmp_path / "none")])
    assert caught.value.code == "no_ripgrep"
    assert caught.value.message == "ripgrep (rg) is neither beside the Python that runs this nor on PATH"
    assert caught.value.hint == "install it: pip install ripgrep"


def test_every_tool_of_the_pack_only_reads_and_explains_its_arguments() -> None:
    tools = {tool.name: tool for tool in pack(search).tools}
    assert list(tools) == ["grep", "files", "glob"]
    for tool in tools.values():
        assert tool.facts.effect == "reads" and tool.facts.shape == "hits" and not tool.asks({})
        assert tool.effects({"path": "src"}).reads == ("tree:src",)
        assert tool.effects({}).reads == ("tree:.",)
        assert len(tool.summary) < 100
        assert all("description" in schema for schema in tool.properties.values())
