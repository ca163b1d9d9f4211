"""Look at the git repository of the root: status, differences, history, files at a commit, and who wrote a line.

Nothing here changes the repository or runs what it configures; git_process.py has the walls. Paths are relative to the root, and
nothing outside it is shown, even when the root is a folder within a larger repository.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz, process

from catalog import Host, MemoryResults, Results, ToolProblem, tool
from tool_packs.git_parse import blame_of, fields_of, files_of, status_of, whole_sections
from tool_packs.git_process import MOST_BYTES, Repository, open_repository
from tool_packs.git_refs import commit_id, is_empty, no_commits
from tool_packs.git_results import Blame, Commit, Diff, FileDiff, Log, Shown, Status
from tool_packs.reading import ranges_wanted, slice_of
from tool_packs.root import Root
from tool_packs.slices import Slice, merged

_COMMIT = "%H%x00%P%x00%an%x00%ae%x00%aI%x00%D%x00%s%x00%b%x00%cI"
_COMMIT_FIELDS = 9
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=dirty", "--submodule=short")
_PATCH = ("-p", "--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "--indent-heuristic")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?P<time>[T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:?\d{2})?)?")
_AGO = re.compile(r"\d{1,6} (second|minute|hour|day|week|month|year)s? ago|yesterday")


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path | None = None  # the folder to work in; the host's when not given; a relative one is below the host's
    entries: int = 2_000  # files in one list
    hunk_bytes: int = 1024 * 1024  # of lines in one diff; the rest is behind a handle
    patch_bytes: int = 12 * 1024 * 1024  # of what is behind the handle: 16 MiB is what one result may bring into a script
    file_bytes: int = 12 * 1024 * 1024  # of a file at a commit


class Git:
    """The root and what git may know of the environment; what the tools of this pack work with."""

    def __init__(
        self,
        root: Path | str | Root,
        results: Results | None = None,
        settings: Settings | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.root = root if isinstance(root, Root) else Root(root)
        self.results = results if results is not None else MemoryResults()
        self.settings = settings or Settings()
        self.environment = dict(environment or {})

    async def repository(self) -> Repository:
        """Asked for anew by each call: what it found may have changed since."""
        return await open_repository(self.root, self.environment)


async def open(settings: Settings, host: Host) -> Git:
    root = host.root if settings.root is None else host.root / settings.root
    return Git(root, host.results, settings, host.environment)


@tool(reads=["tree:.", "git:."])
async def status(git: Git) -> Status:
    """Tell the branch and which files are staged, changed, in conflict or not tracked."""
    repository = await git.repository()
    told = await repository.run(
        "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", "."
    )
    _whole(told.cut)
    return status_of(told.out, repository.local, git.settings.entries)


@tool(reads=["tree:.", "git:."])
async def diff(
    git: Git,
    base: str | None = None,
    target: str | None = None,
    *,
    staged: bool = False,
    paths: list[str] | None = None,
    context: int = 3,
) -> Diff:
    """Compare commits, the index and the files on disk: changed files with counts, and their hunks.

    Without base and target: files on disk against the index, or with staged the index against the last commit.

    Args:
        base: A commit to compare with: a branch, a tag, an id, HEAD~1.
        target: A second commit; without it the files on disk are compared with base.
        staged: Compare what is staged instead of the files on disk.
        paths: Only these files and folders.
        context: Unchanged lines around each change.
    """
    if target is not None and (base is None or staged):
        raise ToolProblem("bad_arguments", "target goes with base, and not with staged", hint="give base and target")
    if not 0 <= context <= 1_000:
        raise ToolProblem("bad_range", f"context is {context:,}; 0 to 1,000 is possible", hint="3 is usual")
    repository = await git.repository()
    commits = [await commit_id(repository, ref) for ref in (base, target) if ref is not None]
    sides = [*(["--cached"] if staged else []), *(["--ours"] if not commits and not staged else []), *commits]
    scope = ["--", *_paths(git, paths)]
    facts = await repository.run("diff", "--raw", "--numstat", "-z", *_DIFF, *sides, *scope)
    _whole(facts.cut)
    patch = await repository.run("diff", *_PATCH, f"-U{context}", *_DIFF, *sides, *scope, most_bytes=git.settings.patch_bytes)
    files = files_of(facts.out, whole_sections(patch.out) if patch.cut else patch.out, repository.local)
    shown = _capped(files[: git.settings.entries], git.settings.hunk_bytes)
    cut = any(one.cut for one in files) or any(one.cut for one in shown)
    handle = git.results.keep(patch.text, label="git.diff") if cut else None
    return Diff(
        compared=_compared(base, target, staged), files=shown, added=sum(one.added or 0 for one in files),
        deleted=sum(one.deleted or 0 for one in files), cut=cut, handle=handle, more=len(files) > len(shown),
    )  # fmt: skip


@tool(reads=["tree:.", "git:."])
async def log(
    git: Git,
    ref: str = "HEAD",
    *,
    path: str | None = None,
    author: str | None = None,
    since: str | None = None,
    text: str | None = None,
    offset: int = 1,
    limit: int = 20,
) -> Log:
    """List commits, newest first, by path, author, date or words of their message.

    Args:
        ref: Where to begin: a branch, a tag, an id.
        path: Only commits that changed this file or folder.
        author: Only commits whose author's name or address has this in it.
        since: Only commits after this: "2025-01-31", "2025-01-31 12:00" or "2 weeks ago".
        text: Only commits whose message has this in it; case does not count.
        offset: The first commit to give, counted from 1.
        limit: The most commits to give.
    """
    for name, number, most in (("offset", offset, 10_000_000), ("limit", limit, 1_000)):
        if not 1 <= number <= most:
            raise ToolProblem("bad_range", f"{name} is {number:,}; 1 to {most:,} is possible", hint="page with offset")
    repository = await git.repository()
    if ref == "HEAD" and await is_empty(repository):
        return Log(commits=[], more=False)
    wanted = [f"--skip={offset - 1}", f"--max-count={limit + 1}", "--fixed-strings", "--regexp-ignore-case"]
    wanted += [f"--author={author}"] if author else []
    wanted += [f"--since={_since(since)}"] if since else []
    wanted += [f"--grep={text}"] if text else []
    # "." at the top of the repository would leave out commits without files, and merges.
    scope = _paths(git, [path] if path else None) if path or repository.prefix else []
    start = await commit_id(repository, ref)
    told = await repository.run("log", "-z", f"--format={_COMMIT}", *wanted, start, "--", *scope)
    _whole(told.cut)
    commits = [_commit(row) for row in fields_of(told.out, _COMMIT_FIELDS)]
    return Log(commits=commits[:limit], more=len(commits) > limit)


@tool(reads=["tree:.", "git:."])
async def show(git: Git, ref: str = "HEAD") -> Shown:
    """Show one commit: author, date, message, and the files it changed with counts.

    Args:
        ref: The commit: a branch, a tag, an id, HEAD~1.
    """
    repository = await git.repository()
    commit = await commit_id(repository, ref)
    told = await repository.run("log", "-z", "--max-count=1", f"--format={_COMMIT}", commit)
    row = fields_of(told.out, _COMMIT_FIELDS)[0]
    head = _commit(row)
    sides = [head.parents[0], commit] if head.parents else ["--root", "--no-commit-id", commit]
    facts = await repository.run("diff-tree", "-r", "--raw", "--numstat", "-z", *_DIFF, *sides, "--", ".")
    _whole(facts.cut)
    files = files_of(facts.out, None, repository.local)
    return Shown(
        **head.model_dump(), committed=row[8], files=files[: git.settings.entries], added=sum(one.added or 0 for one in files),
        deleted=sum(one.deleted or 0 for one in files), more=len(files) > git.settings.entries,
    )  # fmt: skip


@tool(reads=["tree:.", "git:."], shape="slice")
async def read(
    git: Git,
    path: str,
    ref: str = "HEAD",
    *,
    offset: int = 1,
    limit: int = 2000,
    ranges: list[tuple[int, int]] | None = None,
) -> Slice:
    """Read lines of a file as it was at a commit.

    Args:
        path: The file, relative to the root.
        ref: The commit: a branch, a tag, an id, HEAD~1.
        offset: The first line, counted from 1.
        limit: The most lines.
        ranges: Instead of a page: [[first, last], …], both included.
    """
    want = ranges_wanted(offset, limit, ranges)
    name = git.root.relative(path)
    repository = await git.repository()
    commit = await commit_id(repository, ref)
    told = await repository.run("ls-tree", "-z", commit, "--", name)
    if not told.out or name == ".":
        raise await _missing(repository, name, commit, ref)
    mode, kind, oid = told.text.split("\t", 1)[0].split(" ")
    if kind != "blob" or mode == "120000":
        what = {"tree": "a folder", "commit": "a submodule"}.get(kind, "a link")
        raise ToolProblem("not_a_file", f"{name} is {what} at {ref}, not a file", hint="name a file", data={"path": name})
    most = git.settings.file_bytes
    size = int((await repository.run("cat-file", "-s", oid)).text)
    if size > most:
        said = f"{name} has {size:,} bytes at {ref}; {most:,} is the most"
        raise ToolProblem("too_large", said, hint="git.diff and git.blame take parts of it", data={"bytes": size})
    return slice_of((await repository.run("cat-file", "blob", oid)).out, name, want, most)


@tool(reads=["tree:.", "git:."])
async def blame(git: Git, path: str, ref: str | None = None, *, ranges: list[tuple[int, int]] | None = None) -> Blame:
    """Tell which commit and author brought each line of a file.

    Args:
        path: The file, relative to the root.
        ref: The commit to look at; without it the file on disk.
        ranges: Only these lines: [[first, last], …], both included.
    """
    name = git.root.relative(path)
    lines = [f"-L{first},{last}" for first, last in merged(ranges)] if ranges is not None else []
    repository = await git.repository()
    if await is_empty(repository):
        raise no_commits()
    commit = [] if ref is None else [await commit_id(repository, ref)]
    told = await repository.run("blame", "--line-porcelain", "--no-textconv", *lines, *commit, "--", name, ok=(0, 128))
    if told.code == 128:
        raise await _unblamed(repository, name, commit[0] if commit else "HEAD", ref or "HEAD", told.error)
    _whole(told.cut)
    if b"\0" in told.out:
        raise ToolProblem("binary_file", f"{name} is a binary file: it has no lines", hint="git.log shows its commits")
    return Blame(path=name, parts=blame_of(told.out))


async def _unblamed(repository: Repository, name: str, commit: str, ref: str, error: str) -> ToolProblem:
    short = re.search(r"has only (\d+) lines?", error)
    if short:
        said = f"{name} has {int(short[1]):,} lines; the range begins past the end"
        return ToolProblem("past_end", said, hint="give lines within it", data={"total_lines": int(short[1])})
    if "no such path" in error or "cannot stat path" in error or "no such ref" in error:
        return await _missing(repository, name, commit, ref)
    first = error.strip().splitlines()[0][:300] if error.strip() else "no reason given"
    return ToolProblem("git_failed", f"git: {first.removeprefix('fatal: ')}", hint="check the names given")


async def _missing(repository: Repository, name: str, commit: str, ref: str) -> ToolProblem:
    """With the nearest tracked names, whole paths compared."""
    told = await repository.run("ls-tree", "-r", "-z", "--name-only", commit, "--", ".", ok=(0, 128))
    names = told.text.split("\0")[:-1]
    near = [found for found, _, _ in process.extract(name, names, scorer=fuzz.ratio, limit=3, score_cutoff=60.0)]
    hint = f"did you mean {' or '.join(near)}?" if near else "git.show lists the files of a commit"
    return ToolProblem("not_found", f"{name} is not in the commit {ref}", hint=hint, data={"path": name, "near": near})


def _paths(git: Git, paths: list[str] | None) -> list[str]:
    return [git.root.relative(path) for path in paths] if paths else ["."]


def _commit(row: list[str]) -> Commit:
    commit, parents, author, email, date, refs, subject, body = row[:8]
    named = [ref for ref in refs.split(", ") if ref]
    return Commit(
        commit=commit.strip(), parents=parents.split(), author=author, email=email, date=date, refs=named, subject=subject,
        body=body.strip(),
    )  # fmt: skip


def _capped(files: list[FileDiff], most: int) -> list[FileDiff]:
    """Whole hunks, file by file, until the bytes are used up."""
    left, shown = most, []
    for one in files:
        kept = []
        for hunk in one.hunks:
            left -= len(hunk.text.encode())
            if left < 0:
                break
            kept.append(hunk)
        shown.append(one.model_copy(update={"hunks": kept, "cut": one.cut or len(kept) < len(one.hunks)}))
    return shown


def _compared(base: str | None, target: str | None, staged: bool) -> str:
    right = "the index" if staged else target or "the files on disk"
    return f"{base or ('HEAD' if staged else 'the index')} with {right}"


def _since(text: str) -> str:
    """git takes any text for a date, and today's time of day for a date without one."""
    date = _DATE.fullmatch(text)
    if date is not None:
        return text if date["time"] else f"{text} 00:00:00"
    if _AGO.fullmatch(text):
        return text
    raise ToolProblem("bad_date", f"{text[:80]!r} is no date", hint='such as "2025-01-31", "2025-01-31 12:00" or "2 weeks ago"')


def _whole(cut: bool) -> None:
    if cut:
        said = f"git gave more than {MOST_BYTES:,} bytes"
        raise ToolProblem("too_large", said, hint="narrow it: name paths, or a smaller range", data={"most_bytes": MOST_BYTES})
