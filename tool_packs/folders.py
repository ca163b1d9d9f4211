"""Walking the folders below a root: breadth first, sorted, links never followed, what git ignores left out.

Gives entries as they are met; how many are shown and how is files.py's affair.
"""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from catalog import ToolProblem
from tool_packs.ignore import GIT, RULES, Ignore, ignore_for
from tool_packs.root import Root

Kind: TypeAlias = Literal["file", "dir", "link", "other"]


@dataclass(frozen=True, slots=True)
class Met:
    path: str
    kind: Kind
    depth: int  # 1 for what lies in the folder itself
    facts: os.stat_result | None


@dataclass(slots=True)
class Walk:
    """What to leave out, and how much was."""

    ignored: bool  # walk what git ignores too
    hidden: bool  # walk names that begin with a dot too
    depth: int | None
    most: int  # entries met before the walk ends
    measure: bool = False  # also size and time of each
    pulse: Callable[[], None] = lambda: None  # called for each entry: what it raises ends the walk
    left_ignored: int = 0
    left_hidden: int = 0
    unreadable: list[str] = field(default_factory=list)
    stopped: bool = False  # at `most`

    def below(self, root: Root, top: str) -> Iterator[Met]:
        """`top` normalised. A folder that is itself ignored and yet asked for is walked whole."""
        ignore, inside_ignored = ignore_for(root, top) if not self.ignored else (Ignore(), True)
        todo = deque([(top, 1, ignore)])
        met = 0
        while todo:
            folder, depth, rules = todo.popleft()
            names = self._names(root, folder, depth)
            if depth > 1 and not inside_ignored and any(name == RULES for name, _, _ in names):
                rules = rules.entered(root, folder)
            for name, kind, facts in names:
                self.pulse()
                path = name if folder == "." else f"{folder}/{name}"
                if self._left_out(name, path, kind, None if inside_ignored else rules):
                    continue
                if met == self.most:
                    self.stopped = True
                    return
                met += 1
                yield Met(path, kind, depth, facts)
                if kind == "dir" and (self.depth is None or depth < self.depth):
                    todo.append((path, depth + 1, rules))

    def _left_out(self, name: str, path: str, kind: Kind, rules: Ignore | None) -> bool:
        if name == GIT:
            return True
        if not self.hidden and name.startswith("."):
            self.left_hidden += 1
            return True
        if rules is not None and rules.ignores(path, folder=kind == "dir"):
            self.left_ignored += 1
            return True
        return False

    def _names(self, root: Root, folder: str, depth: int) -> list[tuple[str, Kind, os.stat_result | None]]:
        try:
            fd = root.folder(folder)
        except ToolProblem:
            if depth == 1:
                raise
            self.unreadable.append(folder)  # refused, or gone since it was met
            return []
        try:
            with os.scandir(fd) as entries:
                found = [(entry.name, _kind(entry), self._facts(entry, fd)) for entry in entries]
        except OSError:
            self.unreadable.append(folder)
            return []
        finally:
            os.close(fd)
        return sorted(found, key=lambda row: row[0])

    def _facts(self, entry: "os.DirEntry[str]", fd: int) -> os.stat_result | None:
        if not self.measure:
            return None
        try:
            return os.stat(entry.name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            return None


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def time_text(facts: os.stat_result) -> str:
    """When the content last changed, as text that sorts."""
    try:
        moment = datetime.fromtimestamp(int(facts.st_mtime), UTC)
    except (OverflowError, ValueError, OSError):  # times beyond the year 9999 can be set on a file
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _kind(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if entry.is_file(follow_symlinks=False) else "other"
