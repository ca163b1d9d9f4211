"""What a walk over folders gives a script: pages of entries, or sums for each folder. The walk itself is in folders.py."""

import os
import stat

from pathspec import GitIgnoreSpec
from pydantic import BaseModel, ConfigDict

from catalog import ToolProblem
from tool_packs.folders import Kind, Met, Walk, time_text
from tool_packs.ignore import is_costly
from tool_packs.path_problems import readable
from tool_packs.root import Root
from tool_packs.tree_sizes import sums, text_of


class Entry(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    kind: Kind
    bytes: int | None = None  # of a file
    modified: str | None = None  # UTC
    target: str | None = None  # of a link, as it is written


class Listing(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    entries: list[Entry]
    total: int  # entries on all pages
    more: bool  # are there entries after these?
    ignored: int  # left out because git ignores them
    hidden: int  # left out because their names begin with a dot
    unreadable: list[str] = []  # folders that could not be looked into
    stopped: bool = False  # there were too many entries to count; total is a lower bound


class Folder(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    files: int  # in it and below it
    folders: int
    bytes: int


class Tree(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    files: int
    folders: list[Folder]  # down to the depth asked for; each counts everything below it
    bytes: int
    text: str  # the same, one line a folder
    unreadable: list[str] = []
    stopped: bool = False  # there were too many entries to count; the numbers are lower bounds


def listing(root: Root, path: str, walk: Walk, *, offset: int, limit: int, glob: str | None) -> Listing:
    top = _folder(root, path)
    spec = None if glob is None else _glob(glob)
    found = [met for met in walk.below(root, top) if spec is None or spec.match_file(met.path)]
    if offset > max(1, len(found)):
        said = f"{readable(top)} has {len(found):,} entries within depth {walk.depth}; entry {offset:,} is past the end"
        raise ToolProblem("past_end", said, hint="begin at offset 1", data={"total": len(found)})
    shown = found[offset - 1 : offset - 1 + limit]
    return Listing(
        path=readable(top), entries=[_entry(root, met) for met in shown], total=len(found),
        more=offset - 1 + limit < len(found), ignored=walk.left_ignored, hidden=walk.left_hidden,
        unreadable=[readable(folder) for folder in walk.unreadable], stopped=walk.stopped,
    )  # fmt: skip


def _entry(root: Root, met: Met) -> Entry:
    path = readable(met.path)
    try:
        facts = root.stat(met.path, follow=False)
        target = root.link(met.path) if met.kind == "link" else None
    except ToolProblem:
        return Entry(path=path, kind=met.kind)  # gone since it was met
    size = facts.st_size if met.kind == "file" else None
    return Entry(path=path, kind=met.kind, bytes=size, modified=time_text(facts), target=target and readable(target))


def sized(root: Root, path: str, walk: Walk, *, depth: int) -> Tree:
    top = _folder(root, path)
    every = sums(top, walk.below(root, top))
    shown = [one for one in every if one.depth <= depth]
    folders = [Folder(path=readable(one.path), files=one.files, folders=one.folders, bytes=one.bytes) for one in shown]
    return Tree(
        path=readable(top), files=every[0].files, folders=folders, bytes=every[0].bytes, text=readable(text_of(shown)),
        unreadable=[readable(folder) for folder in walk.unreadable], stopped=walk.stopped,
    )  # fmt: skip


def _folder(root: Root, path: str) -> str:
    name = root.relative(path)
    if not stat.S_ISDIR(root.stat(name).st_mode):
        raise ToolProblem("not_a_directory", f"{name} is a file, not a folder", hint="files.read reads it", data={"path": name})
    os.close(root.folder(name))
    return name


def _glob(glob: str) -> GitIgnoreSpec:
    """A pattern of .gitignore, where a leading ! or # would mean something else."""
    if not glob.strip():
        raise ToolProblem("bad_glob", "glob is empty", hint='such as "*.py" or "src/**/*.ts"')
    if is_costly(glob):
        raise ToolProblem("bad_glob", f"{glob[:80]!r} has too many stars", hint="at most three in a part, and three **")
    try:
        return GitIgnoreSpec.from_lines(["\\" + glob if glob[0] in "!#" else glob])
    except ValueError as error:
        raise ToolProblem("bad_glob", f"{glob!r} is no pattern: {error}", hint='such as "*.py" or "src/**/*.ts"') from None
