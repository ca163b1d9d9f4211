"""One look at the disk: the stamps of files and trees go into a digest, and files with stamps too young to be trusted are listed.

A stamp is device, inode, mode, size, mtime and ctime. Nobody can set a ctime, so a write with a restored mtime shows too. Unseen
stay: further stores to a mapped page until it is written back (some 30 s; on tmpfs never), since only the first is stamped; on a
network, what another machine did within the time for which attributes are kept (NFS: 3 to 60 s).
"""

# A Path for each of 20,000 entries would cost more than its stat.
# ruff: noqa: PTH112, PTH114, PTH115, PTH116, PTH118, PTH208

import hashlib
import os
import stat
from itertools import islice
from pathlib import Path

# What listings and searches of a folder read in the folders above it; ripgrep goes up to the top of the file system.
_RULES = (".gitignore", ".ignore", ".rgignore", ".gitattributes", ".git/info/exclude")
_POINTER_BYTES = 8_192  # of a `.git` file


class CannotTell(Exception):
    """The state is not known: too many entries, a device, a path outside, changes while looking."""


class Look:
    def __init__(self, root: str, *, trusted_before_ns: int, tick_ns: int, entries_max: int) -> None:
        """root: its true path. Stamps from `trusted_before_ns` on are racy; all are rounded down to `tick_ns`."""
        self.racy: set[str] = set()
        self._root = root
        self._trusted = trusted_before_ns
        self._tick = tick_ns
        self._left = entries_max
        self._digest = hashlib.blake2b(digest_size=32, person=b"turnscript1")

    def digest(self) -> str:
        return self._digest.hexdigest()

    def file(self, path: str) -> None:
        """What stands at a path: of a link both the link and where it leads."""
        self._told("file", path, self._inside(path))
        facts = self._any(path)
        if facts is not None and stat.S_ISDIR(facts.st_mode):
            self._doubt(path, facts)

    def tree(self, path: str) -> None:
        """Everything below, hidden and ignored too, and the rules above. A link at the top is followed, links below are not."""
        real = self._inside(path)
        self._told("tree", path, real)
        facts = self._any(path)
        for folder in sorted({*_above(path), *_above(real)}):
            self._rules(folder)
        if facts is None or not stat.S_ISDIR(facts.st_mode):
            return
        self._below(real)
        if real == self._root:
            for folder in git_folders(real):
                self._told("git", folder)
                self._below(folder)

    def beside(self, path: str) -> None:
        """A file elsewhere that matters too; mostly absent."""
        try:
            self._any(path)
        except (PermissionError, CannotTell) as error:
            self._told(type(error).__name__, path)  # no tool reads it either

    def _inside(self, path: str) -> str:
        real = real_path(path, self._root)
        if real != self._root and not real.startswith(self._root.rstrip("/") + "/"):
            raise CannotTell(f"{path} leads outside the root")
        return real

    def _rules(self, folder: str) -> None:
        for name in _RULES:
            self.beside(os.path.join(folder, name))
        # Its stamp changes with each git command; that it is there is what counts above the tree.
        self._told("git", str(os.path.lexists(os.path.join(folder, ".git"))))

    def _any(self, path: str) -> os.stat_result | None:
        """Of one name; gives the facts of what it leads to, None when nothing is there."""
        try:
            facts = os.lstat(path)
            self._row(path, facts)
            if stat.S_ISLNK(facts.st_mode):
                self._told("to", os.readlink(path))
                facts = os.stat(path)
                self._row(path, facts)
        except (FileNotFoundError, NotADirectoryError):
            self._told("absent", path)
            return None
        if stat.S_ISREG(facts.st_mode):
            self._doubt(path, facts)
        elif not stat.S_ISDIR(facts.st_mode):
            raise CannotTell(f"{path} is a FIFO, a device or a socket")
        return facts

    def _below(self, top: str) -> None:
        todo = [top]
        while todo:
            folder = todo.pop()
            objects = folder.endswith("/.git/objects")
            rows = [folder]
            for entry in self._entries(folder):
                facts = entry.stat(follow_symlinks=False)
                mode = facts.st_mode
                rows.append(self._text(entry.name, facts))
                if stat.S_ISREG(mode):
                    self._doubt(entry.path, facts)
                elif stat.S_ISDIR(mode) and objects and len(entry.name) == 2:
                    # git's objects never change under their names, and there are thousands: the stamp of their folder tells.
                    self._doubt(entry.path, facts)
                elif stat.S_ISDIR(mode):
                    todo.append(entry.path)
                elif stat.S_ISLNK(mode):
                    rows.append(self._led(entry.path))
            self._told(*rows)

    def _entries(self, folder: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(folder) as found:
                entries = list(islice(found, self._left + 1))
        except PermissionError:
            self._told("refused", folder)  # to the tools too; its mode is in its stamp
            return []
        self._left -= len(entries)
        if self._left < 0:
            raise CannotTell("too many entries")
        entries.sort(key=_name)
        return entries

    def _led(self, path: str) -> str:
        """Where a link in a tree leads, and the stamp of what is there."""
        target = os.readlink(path)
        try:
            facts = os.stat(path)
        except OSError as error:
            return f"{target}\0{error.errno}"
        if stat.S_ISREG(facts.st_mode):
            self._doubt(path, facts)
        return self._text(target, facts)

    def _doubt(self, path: str, facts: os.stat_result) -> None:
        if facts.st_ctime_ns >= self._trusted or facts.st_mtime_ns >= self._trusted:
            self.racy.add(path)

    def _row(self, path: str, facts: os.stat_result) -> None:
        self._told(self._text(path, facts))

    def _text(self, name: str, of: os.stat_result) -> str:
        tick = self._tick
        return f"{name}\0{of.st_dev} {of.st_ino} {of.st_mode} {of.st_size} {of.st_mtime_ns // tick} {of.st_ctime_ns // tick}"

    def _told(self, *rows: str) -> None:
        # No name holds a NUL: two of them end a row for certain.
        self._digest.update("\0\0".join((*rows, "")).encode("utf-8", "surrogateescape"))


def real_path(path: str, root: str) -> str:
    """Where a path leads by links. `root` is a true path: of names below it, only what is below is asked for, which is quick."""
    top = root.rstrip("/") + "/"
    return path if path.startswith(top) and _has_no_link(path, len(top) - 1) else os.path.realpath(path)


def _has_no_link(path: str, at: int) -> bool:
    while at >= 0:
        at = path.find("/", at + 1)
        try:
            if stat.S_ISLNK(os.lstat(path if at < 0 else path[:at]).st_mode):
                return False
        except OSError:
            return False
    return True


def content_id(path: str, most_bytes: int) -> tuple[str, int]:
    """Of a file its git blob id, of a folder a digest of its names; and the bytes that were read."""
    # Without O_NONBLOCK the opening of a FIFO that took the file's place would wait for ever.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(fd)
        if stat.S_ISDIR(facts.st_mode):
            names = "\0".join(sorted(os.listdir(fd)))
            return hashlib.sha1(os.fsencode(names), usedforsecurity=False).hexdigest(), len(names)
        size = facts.st_size
        if not stat.S_ISREG(facts.st_mode) or size > most_bytes:
            raise CannotTell(f"{path} has {size:,} bytes; {most_bytes:,} is the most")
        blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        left = size
        while part := os.read(fd, min(1 << 20, left + 1)):
            blob.update(part)
            left -= len(part)
            if left < 0:
                break
        if left:
            raise CannotTell(f"{path} changes while it is read")
        return blob.hexdigest(), size
    finally:
        os.close(fd)


def git_folders(root: str) -> list[str]:
    """Of the repository that the root belongs to, where outside the root: of a linked work tree, or of a larger one around it."""
    for folder in (root, *_above(root)):
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return [] if folder == root and not os.path.islink(git) else [git]
        pointer = _first_line(git)
        if pointer.startswith("gitdir:"):
            own = os.path.join(folder, pointer.removeprefix("gitdir:").strip())
            shared = _first_line(os.path.join(own, "commondir"))
            return [own, os.path.normpath(os.path.join(own, shared))] if shared else [own]
    return []


def _first_line(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return os.fsdecode(file.read(_POINTER_BYTES).split(b"\n", 1)[0])
    except OSError:
        return ""


def _above(path: str) -> list[str]:
    return [str(folder) for folder in Path(path).parents]


def _name(entry: "os.DirEntry[str]") -> str:
    return entry.name
