"""The pack git, on real repositories; none of them may make git run anything."""

import os
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path

import anyio
import pytest

from catalog import Host, MemoryResults, ToolProblem, pack
from tool_packs import git as git_pack
from tool_packs.git import Git, Settings, blame, diff, log, open, read, show, status
from tool_packs.git_process import _run
from tool_packs.git_results import Change, FileDiff, Hunk

pytestmark = pytest.mark.anyio

WHO = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
}  # fmt: skip


class Repo:
    """A repository that a test builds; commits are an hour apart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hours = 0
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, check: bool = True, **environment: str) -> str:
        date = f"2025-01-31T{self.hours:02}:00:00+01:00"
        told = {"PATH": os.environ["PATH"], **WHO, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, **environment}
        done = subprocess.run(["git", *arguments], cwd=self.path, env=told, capture_output=True, text=True, errors="replace")
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, data: bytes | str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    def commit(self, message: str, **environment: str) -> str:
        self.hours += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, **environment)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Two commits on main: a file that is changed, one that is not."""
    made = Repo(tmp_path / "repo")
    made.write("a.txt", "one\ntwo\nthree\n")
    made.write("src/keep.py", "def keep():\n    return 1\n")
    made.commit("First commit\n\nWith a body.")
    made.write("a.txt", "one\nTWO\nthree\nfour\n")
    made.commit("Second commit")
    return made


def git_of(repo: Repo, **settings: int) -> Git:
    return Git(repo.path, settings=Settings(**settings), environment={"PATH": os.environ["PATH"]})


async def problem(awaited: Awaitable[object]) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await awaited
    return caught.value


# status


async def test_status_of_a_clean_branch(repo: Repo) -> None:
    got = await status(git_of(repo))
    assert (got.branch, got.detached, got.commit, got.clean) == ("main", False, repo.git("rev-parse", "HEAD"), True)
    assert (got.staged, got.unstaged, got.conflicts, got.untracked, got.more) == ([], [], [], [], False)


async def test_status_tells_staged_from_unstaged_and_untracked(repo: Repo) -> None:
    repo.git("mv", "src/keep.py", "src/kept now.py")
    repo.write("new.txt", "staged")
    repo.git("add", "new.txt")
    repo.write("new.txt", "and changed again")
    (repo.path / "a.txt").unlink()
    repo.write("odd\nname", "x")
    repo.write("folder/x", "x")
    repo.write(os.fsdecode(b"caf\xe9"), "x")
    got = await status(git_of(repo))
    assert got.staged == [
        Change(path="new.txt", change="added"),
        Change(path="src/kept now.py", change="renamed", old_path="src/keep.py"),
    ]
    assert got.unstaged == [Change(path="a.txt", change="deleted"), Change(path="new.txt", change="modified")]
    assert got.untracked == ["caf\\xe9", "folder/", "odd\nname"]
    assert not got.clean
    short = await status(git_of(repo, entries=1))
    assert (len(short.staged), len(short.untracked), short.more) == (1, 1, True)


async def test_status_of_an_empty_repository_and_of_a_detached_head(repo: Repo, tmp_path: Path) -> None:
    empty = await status(git_of(Repo(tmp_path / "empty")))
    assert (empty.branch, empty.commit, empty.clean) == ("main", None, True)
    repo.git("checkout", "-q", "--detach")
    got = await status(git_of(repo))
    assert (got.branch, got.detached) == (None, True)


async def test_status_tells_how_far_a_branch_is_from_its_upstream(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.hours = 5
    clone.commit("ahead")
    repo.commit("behind one")
    repo.commit("behind two")
    clone.git("fetch", "-q")
    got = await status(git_of(clone))
    assert (got.upstream, got.ahead, got.behind) == ("origin/main", 1, 2)


def conflicted(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other", "HEAD~1")
    repo.write("a.txt", "one\nother\nthree\n")
    repo.commit("Other change")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "other", check=False)


async def test_a_conflict_is_told_by_status_and_diff(repo: Repo) -> None:
    conflicted(repo)
    repo.write("src/keep.py", "changed\n")
    assert (await status(git_of(repo))).conflicts == ["a.txt"]
    got = await diff(git_of(repo))
    assert [(one.path, one.change, one.added, one.deleted) for one in got.files] == [
        ("a.txt", "unmerged", 4, 0),
        ("src/keep.py", "modified", 1, 2),
    ]
    assert "+<<<<<<< HEAD" in got.files[0].hunks[0].text
    assert got.files[1].hunks[0].text == "-def keep():\n-    return 1\n+changed"


# diff


async def test_diff_gives_files_counts_and_hunks(repo: Repo) -> None:
    got = await diff(git_of(repo), "HEAD~1", "HEAD")
    assert (got.compared, got.added, got.deleted, got.cut, got.handle, got.more) == ("HEAD~1 with HEAD", 2, 1, False, None, False)
    hunk = Hunk(old_first=1, old_lines=3, new_first=1, new_lines=4, heading="", text=" one\n-two\n+TWO\n three\n+four")
    assert got.files == [FileDiff(path="a.txt", change="modified", added=2, deleted=1, binary=False, hunks=[hunk])]


@pytest.mark.parametrize(
    ("arguments", "compared", "changed"),
    [
        ({}, "the index with the files on disk", ["src/keep.py"]),
        ({"staged": True}, "HEAD with the index", ["a.txt"]),
        ({"base": "HEAD"}, "HEAD with the files on disk", ["a.txt", "src/keep.py"]),
        ({"base": "HEAD~1", "staged": True}, "HEAD~1 with the index", ["a.txt"]),
        ({"base": "HEAD", "paths": ["src"]}, "HEAD with the files on disk", ["src/keep.py"]),
        ({"base": "HEAD", "paths": ["./src/../a.txt"]}, "HEAD with the files on disk", ["a.txt"]),
    ],
)
async def test_diff_compares_what_it_is_asked_to(
    repo: Repo, arguments: dict[str, object], compared: str, changed: list[str]
) -> None:
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("src/keep.py", "changed\n")
    got = await diff(git_of(repo), **arguments)  # type: ignore[arg-type]
    assert (got.compared, [one.path for one in got.files]) == (compared, changed)


async def test_diff_tells_renames_binaries_types_modes_and_odd_names(repo: Repo) -> None:
    repo.write("bin", b"\0\1\2")
    repo.write("big move.txt", "\n".join(map(str, range(50))))
    repo.write("was a file", "x\n")
    repo.write("script", "#!/bin/sh\n")
    repo.commit("More")
    repo.write("bin", b"\0\1\3")
    repo.git("mv", "big move.txt", "moved\nname é.txt")
    (repo.path / "was a file").unlink()
    os.symlink("a.txt", repo.path / "was a file")
    (repo.path / "script").chmod(0o755)
    repo.write(os.fsdecode(b"caf\xe9"), "latin name\n")
    repo.write("zz", "last, so that every file before it is matched with its own hunks\n")
    repo.commit("Changes")
    got = await diff(git_of(repo), "HEAD~1", "HEAD")
    assert [(one.path, one.change, one.old_path, one.added, one.binary, len(one.hunks)) for one in got.files] == [
        ("bin", "modified", None, None, True, 0),
        ("caf\\xe9", "added", None, 1, False, 1),
        ("moved\nname é.txt", "renamed", "big move.txt", 0, False, 0),
        ("script", "modified", None, 0, False, 0),
        ("was a file", "type_changed", None, 1, False, 2),
        ("zz", "added", None, 1, False, 1),
    ]
    assert got.files[-1].hunks[0].text == "+last, so that every file before it is matched with its own hunks"
    assert got.files[4].hunks[1].text == "+a.txt\n\\ No newline at end of file"


async def test_lines_that_look_like_a_diff_do_not_mislead_the_reader(repo: Repo) -> None:
    repo.write("b", "diff --git a/x b/x\n@@ -1 +1 @@\n--- a/x\n+++ b/x\n")
    repo.write("c", "c\n")
    repo.git("add", "-A")
    got = await diff(git_of(repo), staged=True)
    assert [(one.path, one.added, [hunk.text for hunk in one.hunks]) for one in got.files] == [
        ("b", 4, ["+diff --git a/x b/x\n+@@ -1 +1 @@\n+--- a/x\n++++ b/x"]),
        ("c", 1, ["+c"]),
    ]


async def test_a_long_diff_is_cut_at_whole_hunks_and_kept_behind_a_handle(repo: Repo) -> None:
    results = MemoryResults()
    for name in ("x", "y", "z"):
        repo.write(name, f"{name * 30}\n")
    repo.git("add", "-A")
    git = Git(repo.path, results, Settings(hunk_bytes=70), {"PATH": os.environ["PATH"]})
    got = await diff(git, staged=True)
    assert [(one.path, len(one.hunks), one.cut, one.added) for one in got.files] == [
        ("x", 1, False, 1),
        ("y", 1, False, 1),
        ("z", 0, True, 1),
    ]
    assert got.cut and got.handle is not None
    assert results.get(got.handle).count("diff --git") == 3
    few = await diff(git_of(repo, entries=2), staged=True)
    assert ([one.path for one in few.files], few.more, few.added) == (["x", "y"], True, 3)


async def test_a_diff_too_long_to_keep_says_which_files_lost_their_hunks(repo: Repo) -> None:
    results = MemoryResults()
    for name in ("x", "y", "z"):
        repo.write(name, f"{name * 300}\n")
    repo.git("add", "-A")
    got = await diff(Git(repo.path, results, Settings(patch_bytes=600), {"PATH": os.environ["PATH"]}), staged=True)
    assert [(one.path, len(one.hunks), one.cut, one.added) for one in got.files] == [
        ("x", 1, False, 1),
        ("y", 0, True, 1),
        ("z", 0, True, 1),
    ]
    assert got.cut and len(results.get(got.handle or "")) == 600


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"target": "HEAD"}, "bad_arguments", "target goes with base, and not with staged"),
        ({"base": "HEAD", "target": "HEAD", "staged": True}, "bad_arguments", "target goes with base, and not with staged"),
        ({"context": -1}, "bad_range", "context is -1; 0 to 1,000 is possible"),
        ({"base": "mian"}, "unknown_ref", "no commit is named mian"),
        ({"base": "--output=/tmp/x"}, "bad_ref", "'--output=/tmp/x' can be no name of a commit"),
        ({"base": "HEAD HEAD"}, "bad_ref", "'HEAD HEAD' can be no name of a commit"),
        ({"base": ""}, "bad_ref", "'' can be no name of a commit"),
        ({"base": "HEAD:a.txt"}, "unknown_ref", "no commit is named HEAD:a.txt"),
        ({"paths": ["../outside"]}, "outside_root", None),
    ],
)
async def test_diff_refuses_what_makes_no_sense(repo: Repo, arguments: dict[str, object], code: str, message: str | None) -> None:
    told = await problem(diff(git_of(repo), **arguments))  # type: ignore[arg-type]
    assert told.code == code
    assert message is None or told.message == message


async def test_an_unknown_name_is_answered_with_the_nearest_ones(repo: Repo) -> None:
    repo.git("branch", "feature/login")
    repo.git("tag", "v1.0.0")
    assert (await problem(show(git_of(repo), "feature/logn"))).hint == "did you mean feature/login?"
    assert (await problem(show(git_of(repo), "v1.0.1"))).hint == "did you mean v1.0.0?"
    assert (await problem(show(git_of(repo), "qqqqqqqqqq"))).hint == "git.log shows commits and their ids"


# log and show


async def test_log_gives_commits_newest_first(repo: Repo) -> None:
    repo.git("tag", "v1")
    got = await log(git_of(repo))
    second, first = got.commits
    assert (second.subject, second.body, second.refs, second.parents) == (
        "Second commit",
        "",
        ["HEAD -> main", "tag: v1"],
        [first.commit],
    )
    assert (first.subject, first.body, first.author, first.email, first.parents) == (
        "First commit",
        "With a body.",
        "Ada",
        "ada@example.com",
        [],
    )
    assert first.date == "2025-01-31T01:00:00+01:00"
    assert not got.more


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"limit": 2}, ["Fourth: FIX [x]", "Third"]),
        ({"offset": 3, "limit": 9}, ["Second commit", "First commit"]),
        ({"offset": 99}, []),
        ({"path": "a.txt"}, ["Second commit", "First commit"]),
        ({"path": "src"}, ["First commit"]),
        ({"path": "gone"}, []),
        ({"author": "grace"}, ["Third"]),
        ({"author": "ada@example.com"}, ["Fourth: FIX [x]", "Second commit", "First commit"]),
        ({"text": "fix [X]"}, ["Fourth: FIX [x]"]),
        ({"text": "a body"}, ["First commit"]),
        ({"since": "2025-01-31 03:30:00+01:00"}, ["Fourth: FIX [x]"]),
        ({"since": "2025-02-01"}, []),
        ({"since": "2025-01-30"}, ["Fourth: FIX [x]", "Third", "Second commit", "First commit"]),
        ({"since": "1 day ago"}, []),
        ({"ref": "HEAD~2"}, ["Second commit", "First commit"]),
    ],
)
async def test_log_finds_by_path_author_date_and_words(repo: Repo, arguments: dict[str, object], expected: list[str]) -> None:
    repo.hours = 2
    repo.commit("Third", GIT_AUTHOR_NAME="Grace", GIT_AUTHOR_EMAIL="grace@example.com")
    repo.commit("Fourth: FIX [x]")
    got = await log(git_of(repo), **arguments)  # type: ignore[arg-type]
    assert [one.subject for one in got.commits] == expected
    assert got.more == (arguments == {"limit": 2})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"limit": 0}, "bad_range"),
        ({"offset": 0}, "bad_range"),
        ({"limit": 1001}, "bad_range"),
        ({"since": "whenever"}, "bad_date"),
        ({"path": "/etc"}, "outside_root"),
    ],
)
async def test_log_refuses_what_it_cannot_take(repo: Repo, arguments: dict[str, object], code: str) -> None:
    assert (await problem(log(git_of(repo), **arguments))).code == code  # type: ignore[arg-type]


async def test_show_tells_a_commit_and_its_files(repo: Repo) -> None:
    got = await show(git_of(repo))
    assert (got.subject, got.added, got.deleted, got.committed) == ("Second commit", 2, 1, "2025-01-31T02:00:00+01:00")
    assert [(one.path, one.change, one.added, one.deleted) for one in got.files] == [("a.txt", "modified", 2, 1)]
    first = await show(git_of(repo), "HEAD~1")
    assert [(one.path, one.change) for one in first.files] == [("a.txt", "added"), ("src/keep.py", "added")]


async def test_show_of_a_merge_compares_with_its_first_parent(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write("side", "x\n")
    repo.commit("Side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    got = await show(git_of(repo))
    assert (got.subject, len(got.parents), [one.path for one in got.files]) == ("Merge", 2, ["side"])


# read and blame


async def test_read_gives_a_file_as_it_was(repo: Repo) -> None:
    got = await read(git_of(repo), "a.txt", "HEAD~1")
    assert (got.path, got.text, got.lines, got.total_lines) == ("a.txt", "one\ntwo\nthree", [(1, 3)], 3)
    assert got.oid == repo.git("rev-parse", "HEAD~1:a.txt")
    assert (await read(git_of(repo), "a.txt", ranges=[(2, 2), (4, 9)])).text == "TWO\nfour"


async def test_read_tells_what_is_no_file_at_a_commit(repo: Repo) -> None:
    os.symlink("a.txt", repo.path / "link")
    repo.write("bin", b"\0")
    repo.write("large", "x" * 101)
    repo.commit("Odd ones")
    git = git_of(repo, file_bytes=100)
    assert (await problem(read(git, "src"))).message == "src is a folder at HEAD, not a file"
    assert (await problem(read(git, "link"))).message == "link is a link at HEAD, not a file"
    assert (await problem(read(git, "bin"))).code == "binary_file"
    assert (await problem(read(git, "large"))).message == "large has 101 bytes at HEAD; 100 is the most"
    told = await problem(read(git, "src/kep.py"))
    assert (told.code, told.message, told.hint) == (
        "not_found",
        "src/kep.py is not in the commit HEAD",
        "did you mean src/keep.py?",
    )
    assert (await problem(read(git, "link", "HEAD~1"))).code == "not_found"
    assert (await problem(read(git, "a.txt", offset=99))).code == "past_end"
    assert (await problem(read(git, "."))).code == "not_found"


async def test_blame_groups_lines_by_the_commit_that_brought_them(repo: Repo) -> None:
    first, second = repo.git("rev-parse", "HEAD~1"), repo.git("rev-parse", "HEAD")
    repo.write("a.txt", "one\nTWO\nthree\nfour\nfive\n")
    got = await blame(git_of(repo), "a.txt")
    assert [(one.first, one.last, one.commit, one.author, one.summary, one.text) for one in got.parts] == [
        (1, 1, first, "Ada", "First commit", "one"),
        (2, 2, second, "Ada", "Second commit", "TWO"),
        (3, 3, first, "Ada", "First commit", "three"),
        (4, 4, second, "Ada", "Second commit", "four"),
        (5, 5, None, "not committed yet", "", "five"),
    ]
    assert got.parts[0].date == "2025-01-31T01:00:00+01:00"
    ranged = await blame(git_of(repo), "a.txt", "HEAD~1", ranges=[(3, 2)])
    assert [(one.first, one.last, one.text) for one in ranged.parts] == [(2, 3, "two\nthree")]
    assert [(one.first, one.last) for one in (await blame(git_of(repo), "a.txt", ranges=[(1, 1), (4, 99)])).parts] == [
        (1, 1),
        (4, 4),
        (5, 5),
    ]


async def test_blame_tells_what_is_wrong(repo: Repo) -> None:
    repo.write("bin", b"\0\n")
    repo.commit("Binary")
    git = git_of(repo)
    assert (await problem(blame(git, "a.txt", ranges=[(50, 60)]))).message == "a.txt has 4 lines; the range begins past the end"
    assert (await problem(blame(git, "b.txt"))).hint == "did you mean a.txt?"
    assert (await problem(blame(git, "b.txt", "HEAD~1"))).code == "not_found"
    assert (await problem(blame(git, "bin"))).code == "binary_file"
    assert (await problem(blame(git, "a.txt", ranges=[(0, 1)]))).code == "bad_range"


# repositories of every kind


async def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    told = await problem(status(Git(tmp_path, environment={"PATH": os.environ["PATH"]})))
    assert (told.code, told.message) == ("not_a_repository", f"the root {tmp_path} is in no git repository")


async def test_a_repository_without_commits_has_clear_answers(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "empty")
    repo.write("a", "new\n")
    repo.git("add", "a")
    git = git_of(repo)
    assert (await log(git)).commits == []
    assert [one.path for one in (await diff(git, staged=True)).files] == ["a"]
    for call in (show(git), read(git, "a"), blame(git, "a"), diff(git, "HEAD")):
        told = await problem(call)
        assert (told.code, told.message) == ("no_commits", "the repository has no commits yet")


async def test_a_root_within_a_repository_shows_only_what_is_below_it(repo: Repo) -> None:
    repo.write("src/keep.py", "changed\n")
    repo.write("a.txt", "changed above\n")
    repo.write("src/new.py", "x")
    git = Git(repo.path / "src", environment={"PATH": os.environ["PATH"]})
    got = await status(git)
    assert ([one.path for one in got.unstaged], got.untracked) == (["keep.py"], ["new.py"])
    assert [one.path for one in (await diff(git)).files] == ["keep.py"]
    assert [one.path for one in (await show(git, "HEAD~1")).files] == ["keep.py"]
    assert [one.subject for one in (await log(git)).commits] == ["First commit"]
    assert (await read(git, "keep.py")).text == "def keep():\n    return 1"
    assert (await problem(read(git, "kepp.py"))).hint == "did you mean keep.py?"
    assert (await blame(git, "keep.py", "HEAD")).parts[0].last == 2
    assert (await problem(read(git, "../a.txt"))).code == "outside_root"


async def test_a_linked_work_tree_and_a_submodule_are_repositories(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    assert (await status(Git(tmp_path / "linked", environment={"PATH": os.environ["PATH"]}))).branch == "linked"
    above = Repo(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.path), "sub")
    above.commit("With a submodule")
    got = await log(Git(above.path / "sub", environment={"PATH": os.environ["PATH"]}))
    assert [one.subject for one in got.commits] == ["Second commit", "First commit"]
    assert (await problem(read(git_of(above), "sub"))).message == "sub is a submodule at HEAD, not a file"


@pytest.mark.parametrize("how", ["file", "link", "worktree"])
async def test_a_forged_pointer_to_another_repository_is_refused(repo: Repo, tmp_path: Path, how: str) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    if how == "file":
        (forged / ".git").write_text(f"gitdir: {repo.path}/.git\n")
    elif how == "link":
        os.symlink(repo.path / ".git", forged / ".git")
    else:
        other = Repo(forged)
        other.git("config", "core.worktree", str(repo.path))
    told = await problem(log(Git(forged, environment={"PATH": os.environ["PATH"]})))
    assert told.code == "not_a_repository"


async def test_a_missing_program_is_a_clear_problem(repo: Repo, tmp_path: Path) -> None:
    told = await problem(status(Git(repo.path, environment={"PATH": str(tmp_path)})))
    assert (told.code, told.message) == ("no_git", f"no git program is on the path {tmp_path}")


# nothing of the repository runs


def planted(repo: Repo, tmp_path: Path) -> Path:
    """A repository whose every setting that names a command would leave a trace."""
    trace = tmp_path / "trace"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {trace}\ncat\n')
    trap.chmod(0o755)
    settings = [
        "core.fsmonitor", "core.pager", "pager.log", "pager.diff", "pager.status", "diff.external", "diff.evil.command", "diff.evil.textconv",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a=b.clean", "core.editor", "core.sshCommand", "gpg.program",
        "credential.helper", "sequence.editor", "core.askPass", "alias.status", "interactive.diffFilter",
    ]  # fmt: skip
    repo.write(".gitattributes", "*.txt filter=evil diff=evil\n*.py filter=a=b\n")
    repo.commit("Attributes")
    for name in settings:
        repo.git("config", name, f"!{trap}" if name.startswith("alias.") else str(trap))
    repo.git("config", "filter.evil.required", "true")
    repo.git("config", "log.showSignature", "true")
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction"):
        (repo.path / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\necho {hook} >> {trace}\n")
        (repo.path / ".git" / "hooks" / hook).chmod(0o755)
    (repo.path / "git").write_text(f"#!/bin/sh\necho planted git >> {trace}\n")
    (repo.path / "git").chmod(0o755)
    repo.write("a.txt", "changed\n")
    repo.write("src/keep.py", "changed\n")
    trace.unlink(missing_ok=True)
    return trace


async def test_nothing_that_a_repository_configures_is_run(repo: Repo, tmp_path: Path) -> None:
    trace = planted(repo, tmp_path)
    index = (repo.path / ".git" / "index").read_bytes()
    git = Git(repo.path, environment={"PATH": f".:{repo.path}:{os.environ['PATH']}"})
    assert [one.path for one in (await status(git)).unstaged] == ["a.txt", "src/keep.py"]
    assert [one.deleted for one in (await diff(git)).files] == [4, 2]
    await diff(git, "HEAD~1", "HEAD")
    await diff(git, staged=True)
    await log(git, text="commit")
    await show(git)
    await read(git, "a.txt")
    await blame(git, "a.txt")
    assert not trace.exists(), trace.read_text()
    assert (repo.path / ".git" / "index").read_bytes() == index
    repo.git("diff", check=False)
    assert trace.exists()  # the trap itself works


async def test_a_home_within_the_workspace_is_not_trusted(repo: Repo, tmp_path: Path) -> None:
    trace = planted(repo, tmp_path)
    (repo.path / ".gitconfig").write_text((repo.path / ".git" / "config").read_text())
    repo.git("config", "--remove-section", "filter.evil")
    git = Git(repo.path, environment={"PATH": os.environ["PATH"], "HOME": str(repo.path)})
    await status(git)
    await diff(git)
    assert not trace.exists(), trace.read_text()


async def test_a_file_named_like_an_option_or_a_pattern_is_only_a_file(repo: Repo) -> None:
    for name in ("--output=x", "*.txt", ":(top)a.txt", "-p"):
        repo.write(name, f"{name}\n")
    repo.commit("Odd")
    for name in ("--output=x", "*.txt", ":(top)a.txt", "-p"):
        assert (await read(git_of(repo), name)).text == name
        assert [one.subject for one in (await log(git_of(repo), path=name)).commits] == ["Odd"]
        assert len((await blame(git_of(repo), name)).parts) == 1
        assert [one.path for one in (await diff(git_of(repo), "HEAD~1", "HEAD", paths=[name])).files] == [name]


async def test_output_beyond_the_cap_ends_the_process(tmp_path: Path) -> None:
    endless = [sys.executable, "-c", "while True: print('y' * 1000)"]
    ran = await _run(endless, tmp_path, {}, 5_000)
    assert (ran.cut, len(ran.out), ran.code) == (True, 5_000, -9)


FAMILY = """
import os, time
child = os.fork()
if child:
    open("pids.new", "w").write(f"{os.getpid()} {child}")
    os.rename("pids.new", "pids")
time.sleep(1000)
"""


def alive(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
async def test_a_cancelled_call_leaves_neither_the_process_nor_its_children(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_run, [sys.executable, "-c", FAMILY], tmp_path, {}, 1_000_000)
        with anyio.fail_after(30):
            while "pids" not in os.listdir(tmp_path):
                await anyio.sleep(0.01)
        pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
        assert all(map(alive, pids))
        group.cancel_scope.cancel()
    with anyio.fail_after(30):
        while any(map(alive, pids)):
            await anyio.sleep(0.01)


# the pack


async def test_the_pack_opens_with_the_hosts_root_and_environment(repo: Repo) -> None:
    made = pack(git_pack)
    async with made.opened({}, Host(root=repo.path, environment={"PATH": os.environ["PATH"]})) as resource:
        assert (await status(resource)).branch == "main"
    assert (await open(Settings(root=Path("src")), Host(root=repo.path))).root.path == repo.path / "src"


def test_the_tools_only_read_and_describe_themselves() -> None:
    tools = pack(git_pack).tools
    assert [one.name for one in tools] == ["status", "diff", "log", "show", "read", "blame"]
    assert {one.effects({"path": "a"}).reads for one in tools} == {("git:.", "tree:.")}
    assert {one.effects({"path": "a"}).effect for one in tools} == {"reads"}
    assert all(len(one.summary) < 100 for one in tools)
    assert all(schema.get("description") for one in tools for schema in one.properties.values())
