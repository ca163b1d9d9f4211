"""What the tools of the pack git give: records, no behaviour."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

Way: TypeAlias = Literal["added", "modified", "deleted", "renamed", "copied", "type_changed", "unmerged"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Change(_Record):
    path: str
    change: Way
    old_path: str | None = None  # where it was, when renamed or copied


class Status(_Record):
    branch: str | None  # None: no branch is checked out
    detached: bool
    commit: str | None  # None: the repository has no commits yet
    upstream: str | None
    ahead: int
    behind: int
    clean: bool
    staged: list[Change]
    unstaged: list[Change]
    conflicts: list[str]
    untracked: list[str]  # a folder with nothing tracked in it is one entry, with a slash
    more: bool = False  # there are more changes than these lists hold


class Hunk(_Record):
    old_first: int
    old_lines: int
    new_first: int
    new_lines: int
    heading: str
    text: str  # lines beginning with " ", "-" or "+", as in a diff


class FileDiff(_Record):
    path: str
    change: Way
    old_path: str | None = None
    added: int | None  # None: binary
    deleted: int | None
    binary: bool
    hunks: list[Hunk] = []
    cut: bool = False  # hunks of this file were left out


class Diff(_Record):
    compared: str
    files: list[FileDiff]
    added: int
    deleted: int
    cut: bool = False  # hunks were left out; the text is under `handle`, its first 12 MiB if it is longer
    handle: str | None = None
    more: bool = False  # there are more files than the list holds


class Commit(_Record):
    commit: str
    parents: list[str]
    author: str
    email: str
    date: str  # of the author, ISO 8601
    refs: list[str]
    subject: str
    body: str


class Log(_Record):
    commits: list[Commit]
    more: bool  # are there commits after these?


class Shown(Commit):
    committed: str  # when it was committed, ISO 8601
    files: list[FileDiff]  # against its first parent, without hunks
    added: int
    deleted: int
    more: bool = False  # there are more files than the list holds


class Blamed(_Record):
    """An unbroken run of lines that one commit brought."""

    first: int
    last: int
    commit: str | None  # None: not committed yet
    author: str
    date: str
    summary: str
    text: str


class Blame(_Record):
    path: str
    parts: list[Blamed]
