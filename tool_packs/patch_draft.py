"""Files as they will be, in memory first: every check is made and every new text computed before a byte is written.

`commit` writes them all; when one write fails it takes the others back, so that a patch changes every file it names or none.
"""

import os
import posixpath
import stat
from dataclasses import dataclass

from catalog import ToolProblem
from tool_packs.path_problems import brief, readable
from tool_packs.root import Root

_CODEC = ("utf-8", "surrogateescape")  # bytes that are no UTF-8 go through unchanged


@dataclass(frozen=True, slots=True)
class _Found:
    """What was on the disk. `missing` is the problem that reading it gave; a file has bytes and facts instead."""

    data: bytes = b""
    facts: os.stat_result | None = None
    link: str | None = None
    missing: ToolProblem | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    data: bytes | None  # None: no file
    mode: int | None = None


def encoded(text: str) -> bytes:
    """As a text of the draft came from its bytes."""
    return text.encode(*_CODEC)


class Draft:
    def __init__(self, root: Root, *, most_bytes: int) -> None:
        self._root = root
        self._most = most_bytes
        self._found: dict[str, _Found] = {}
        self._wanted: dict[str, _Wanted] = {}

    def data(self, path: str) -> bytes:
        """A file as the draft has it now; ToolProblem `not_found`, or what reading it gave."""
        return self._data(self.name(path))

    def text(self, path: str) -> str:
        """The same as text; ToolProblem `binary`."""
        data = self.data(path)
        if b"\0" in data:
            said = f"{brief(path)} is binary: byte {data.index(0) + 1:,} is NUL"
            hint = "nothing was changed; only text can be edited"
            raise ToolProblem("binary", said, hint=hint, data={"path": readable(path)})
        return data.decode(*_CODEC)

    def mode(self, path: str) -> int | None:
        name = self.name(path)
        wanted, found = self._wanted.get(name), self._look(name)
        if wanted and wanted.mode is not None:
            return wanted.mode
        return None if found.facts is None else stat.S_IMODE(found.facts.st_mode)

    def create(self, path: str, data: bytes, *, overwrite: bool, mode: int | None = None) -> bytes | None:
        """A new file, or a whole new content for one; gives what was there. `exists` unless `overwrite`."""
        name = self.name(path)
        old = self._data(name) if self._exists(name) else None
        if old is not None and not overwrite:
            hint = "nothing was changed; update it instead, or pass overwrite: true to replace all of it"
            raise ToolProblem("exists", f"{brief(path)} is there already", hint=hint, data={"path": readable(path)})
        self._check_folders(name)
        self._wanted[name] = _Wanted(data, mode)
        return old

    def update(self, path: str, data: bytes) -> None:
        name = self.name(path)
        before = self._wanted.get(name)
        self._wanted[name] = _Wanted(data, before.mode if before else None)

    def name(self, path: str) -> str:
        """As seen from the root, normalised; ToolProblem `outside_root`."""
        return self._root.relative(path)

    def remove(self, path: str) -> None:
        name = self.name(path)
        self._data(name)
        self._wanted[name] = _Wanted(None)

    def commit(self) -> None:
        with self._root.alone():  # between the look and the rename nobody else renames
            self._commit()

    def _commit(self) -> None:
        changes = [(name, wanted) for name, wanted in self._wanted.items() if self._differs(name, wanted)]
        changes.sort(key=lambda change: change[1].data is None)  # removals last: a file that moves is never nowhere
        self._check_unchanged([name for name, _ in changes])
        folders = self._missing_folders([name for name, wanted in changes if wanted.data is not None])
        tried = list[str]()
        try:
            for name, wanted in changes:
                tried.append(name)
                if wanted.data is None:
                    self._root.remove(name)
                else:
                    self._root.replace(name, wanted.data, mode=wanted.mode)
        except BaseException as error:
            left = self._taken_back(tried, folders)
            if isinstance(error, ToolProblem):
                raise _told(error, left) from None
            raise

    def _data(self, name: str) -> bytes:
        wanted = self._wanted.get(name)
        if wanted is None:
            found = self._look(name)
            if found.missing is not None:
                raise found.missing
            return found.data
        if wanted.data is None:
            said = f"{brief(name)} was deleted or moved away earlier in the same patch"
            raise ToolProblem("not_found", said, hint="nothing was changed; name each file once", data={"path": readable(name)})
        return wanted.data

    def _exists(self, name: str) -> bool:
        if name in self._wanted:
            return self._wanted[name].data is not None
        return self._look(name).missing is None

    def _look(self, name: str) -> _Found:
        """Reads it once. Two names for one file are refused: the second write would undo the first."""
        if name in self._found:
            return self._found[name]
        try:
            data, facts = self._root.read_bytes(name, most_bytes=self._most)
            found = _Found(data, facts, self._root.link(name))
        except ToolProblem as problem:
            if problem.code != "not_found":
                raise
            found = _Found(missing=problem)
        for other, known in self._found.items():
            if found.facts and known.facts and os.path.samestat(found.facts, known.facts):
                said = f"{brief(other)} and {brief(name)} are one file, by a link"
                raise ToolProblem("same_file", said, hint="nothing was changed; name it once", data={"paths": [other, name]})
        self._found[name] = found
        return found

    def _check_folders(self, name: str) -> None:
        """Each folder on the way is one, or is still to be made."""
        above = posixpath.dirname(name)
        while above:
            wanted = self._wanted.get(above)
            if (wanted and wanted.data is not None) or not self._is_folder(above):
                said = f"{brief(name)}: {brief(above)} is a file, not a folder"
                raise ToolProblem("not_a_directory", said, hint="nothing was changed; choose another path")
            above = posixpath.dirname(above)

    def _is_folder(self, name: str) -> bool:
        return not self._root.exists(name) or stat.S_ISDIR(self._root.stat(name).st_mode)

    def _differs(self, name: str, wanted: _Wanted) -> bool:
        found = self._look(name)
        if found.missing is not None or wanted.data is None:
            return (found.missing is None) != (wanted.data is not None)
        return found.data != wanted.data or wanted.mode is not None

    def _check_unchanged(self, names: list[str]) -> None:
        """Between reading and writing somebody else may have written: theirs must not be lost."""
        for name in names:
            found = self._found[name]
            there = self._root.exists(name)
            now = self._root.stat(name) if there else None
            if _version(now) != _version(found.facts):
                said = f"{brief(name)} was changed by something else while the edit was made"
                raise ToolProblem(
                    "changed", said, hint="nothing was changed by this call; make it again", data={"path": readable(name)}
                )

    def _missing_folders(self, names: list[str]) -> list[str]:
        """Those that writing will make, the deepest first."""
        missing = set[str]()
        for name in names:
            above = posixpath.dirname(name)
            while above and above not in missing and not self._root.exists(above):
                missing.add(above)
                above = posixpath.dirname(above)
        return sorted(missing, key=lambda folder: -folder.count("/"))

    def _taken_back(self, tried: list[str], folders: list[str]) -> list[str]:
        """Gives the names that could not be put back as they were."""
        left = list[str]()
        for name in reversed(tried):
            try:
                self._put_back(name, self._found[name])
            except ToolProblem:
                left.append(readable(name))
        for folder in folders:
            try:
                self._root.remove_folder(folder)
            except ToolProblem:
                pass  # was not made, or something else put a file in it
        return left

    def _put_back(self, name: str, found: _Found) -> None:
        there = self._root.exists(name)
        if found.facts is None:
            if there:
                self._root.remove(name)
        elif found.link is not None and not there:
            folder = self._root.folder(posixpath.dirname(name) or ".")
            try:
                os.symlink(found.link, posixpath.basename(name), dir_fd=folder)
            finally:
                os.close(folder)
        elif not there or self._root.read_bytes(name, most_bytes=self._most)[0] != found.data:
            self._root.replace(name, found.data, mode=stat.S_IMODE(found.facts.st_mode))


def _version(facts: os.stat_result | None) -> tuple[int, ...] | None:
    return None if facts is None else (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _told(error: ToolProblem, left: list[str]) -> ToolProblem:
    if left:
        said = f"{error.message}; and these could not be put back as they were: {', '.join(left)}"
        return ToolProblem("half_done", said, hint="read them before anything else", data={"changed": left, "cause": error.code})
    return ToolProblem(error.code, f"{error.message}; no file was changed", hint=error.hint, data=error.data)
