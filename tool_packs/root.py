"""One folder that packs work in, and nothing outside it: reading, writing and removing by paths that a script gave.

Holds against `..`, absolute paths, links, and links swapped while a call runs; beneath.py does the opening. Paths are
normalised by their text first, as keys of effects are. Every failure is a ToolProblem; path_problems.py has the words.
"""

import errno
import fcntl
import os
import posixpath
import secrets
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catalog import ToolProblem
from tool_packs.beneath import Beneath
from tool_packs.path_problems import brief, not_found, problem_of, readable

_PATH_BYTES = 4_095  # PATH_MAX of Linux, without the NUL
_CHUNK = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Root:
    def __init__(self, path: Path | str, *, openat2: bool | None = None) -> None:
        """openat2: None uses it where the kernel has it; False walks the components in any case."""
        given = Path(path).absolute()
        try:
            self.path = given.resolve(strict=True)
            fd = os.open(self.path, _FOLDER | os.O_CLOEXEC)
        except (OSError, RuntimeError, ValueError) as error:  # a link in a circle, a NUL
            raise _bad_root(path, error) from None
        self._close = weakref.finalize(self, os.close, fd)
        names = tuple(dict.fromkeys((str(self.path), posixpath.normpath(given))))
        self._names = names
        self._beneath = Beneath(fd, names=names, openat2=openat2)

    def __repr__(self) -> str:
        return f"Root({str(self.path)!r})"

    @property
    def by_kernel(self) -> bool:
        """Does the kernel confine (openat2), or the walk?"""
        return self._beneath.by_kernel

    def close(self) -> None:
        """The descriptor that holds the folder; a root that nobody holds any more closes by itself."""
        self._close()

    def relative(self, path: str) -> str:
        """The normalised path as seen from the root, by its text alone; "." is the root itself."""
        if not path:
            raise ToolProblem("bad_path", "the path is empty", hint='"." is the root folder', data={"path": path})
        if "\0" in path:
            raise ToolProblem("bad_path", f"{path[:80]!r} has a NUL in it", hint="no file name has one", data={"path": path})
        try:
            size = len(os.fsencode(path))
        except UnicodeEncodeError:
            raise ToolProblem("bad_path", f"{path[:80]!a} is no text", hint="half a surrogate pair is in it") from None
        if size > _PATH_BYTES:
            said = f"the path has {size:,} bytes; {_PATH_BYTES:,} is the most"
            raise ToolProblem("bad_path", said, hint="is this the content of a file? give its path", data={"bytes": size})
        tidy = self._from_root(path) if path.startswith("/") else posixpath.normpath(path)
        if tidy is None or tidy == ".." or tidy.startswith("../"):
            raise ToolProblem(
                "outside_root",
                f"{brief(path)} is outside the root {self.path}",
                hint="only paths below the root can be used; give one relative to it",
                data={"path": readable(path), "root": str(self.path)},
            )
        return tidy

    def open(self, path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
        """A descriptor of a regular file, or of a folder when O_DIRECTORY is among the flags."""
        name = self.relative(path)
        with self._told(name):
            # Without O_NONBLOCK the opening of a FIFO waits for somebody at its other end, for ever.
            fd = self._beneath.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY, mode)
            try:
                found = os.fstat(fd).st_mode
                if stat.S_ISDIR(found) and not flags & os.O_DIRECTORY:
                    raise OSError(errno.EISDIR, "")
                if not stat.S_ISREG(found) and not stat.S_ISDIR(found):
                    raise OSError(errno.ENXIO, "")
                os.set_blocking(fd, True)
            except BaseException:
                os.close(fd)
                raise
            return fd

    def folder(self, path: str, *, create: bool = False) -> int:
        """A descriptor of a folder; with `create`, missing ones on the way are made."""
        name = self.relative(path)
        with self._told(name):
            try:
                return self._beneath.open(name, _FOLDER)
            except FileNotFoundError:
                if not create:
                    raise
            self._make(name)
            return self._beneath.open(name, _FOLDER)

    def create_folders(self, path: str) -> None:
        os.close(self.folder(path, create=True))

    def read_bytes(self, path: str, *, most_bytes: int) -> tuple[bytes, os.stat_result]:
        """The whole content of a regular file and what was known of it when it was opened."""
        fd = self.open(path)
        try:
            with self._told(path):
                facts = os.fstat(fd)
                if facts.st_size > most_bytes:
                    raise _too_large(path, facts.st_size, most_bytes)
                # One byte more than allowed: a file may grow meanwhile, and those of /proc say 0.
                parts, left = list[bytes](), most_bytes + 1
                while left and (part := os.read(fd, min(left, max(_CHUNK, facts.st_size + 1)))):
                    parts.append(part)
                    left -= len(part)
        finally:
            os.close(fd)
        if not left:
            raise _too_large(path, most_bytes + 1, most_bytes)
        return b"".join(parts), facts

    def stat(self, path: str, *, follow: bool = True) -> os.stat_result:
        name = self.relative(path)
        with self._told(name), self._beneath.located(name, follow=follow) as (folder, last):
            return os.stat(last, dir_fd=folder, follow_symlinks=False)

    def link(self, path: str) -> str | None:
        """Where a link leads, as it is written; None for what is no link."""
        name = self.relative(path)
        with self._told(name), self._beneath.located(name, follow=False) as (folder, last):
            if not stat.S_ISLNK(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                return None
            return os.readlink(last, dir_fd=folder)

    def exists(self, path: str) -> bool:
        """Is a file or folder there? A link counts by what it leads to. Cheaper than a stat that fails, which looks for names."""
        name = self.relative(path)
        try:
            with self._beneath.located(name) as (folder, last):
                os.stat(last, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise problem_of(error, name) from None
        return True

    def replace(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """All or nothing: written beside it under another name, synced, then renamed over it. Missing folders are made; a link
        stays, what it leads to is replaced; mode and owner of an existing file are kept unless `mode` is given."""
        name = self.relative(path)
        with self._told(name):
            if name == ".":
                raise OSError(errno.EISDIR, "")
            parent = posixpath.dirname(name) or "."
            os.close(self.folder(parent, create=True))
            with self._beneath.located(name) as (folder, last):
                _replace(folder, last, data, mode)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other call that asks for this, in any thread or process, is inside at the same time."""
        # A descriptor of its own: threads that share one share its lock.
        fd = os.open(".", _FOLDER | os.O_CLOEXEC, dir_fd=self._beneath.fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def remove(self, path: str) -> None:
        """A file or a link; of a link only the link itself."""
        name = self.relative(path)
        with self._told(name), self._beneath.located(name, follow=False) as (folder, last):
            if stat.S_ISDIR(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                raise OSError(errno.EISDIR, "")
            os.unlink(last, dir_fd=folder)

    def remove_folder(self, path: str) -> None:
        """An empty one."""
        name = self.relative(path)
        with self._told(name), self._beneath.located(name, follow=False) as (folder, last):
            os.rmdir(last, dir_fd=folder)

    def _from_root(self, path: str) -> str | None:
        tidy = "/" + posixpath.normpath(path).lstrip("/")
        for name in self._names:
            top = name.rstrip("/")
            if tidy in (name, top):
                return "."
            if tidy.startswith(top + "/"):
                return tidy[len(top) + 1 :]
        return None

    def _make(self, name: str) -> None:
        parts = name.split("/")
        for depth in range(1, len(parts) + 1):
            try:
                with self._beneath.located("/".join(parts[:depth])) as (folder, last):
                    os.mkdir(last, dir_fd=folder)
            except FileExistsError:
                pass  # opening it says whether it is a folder

    @contextmanager
    def _told(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            if os.fstat(self._beneath.fd).st_nlink == 0:
                raise _bad_root(self.path, FileNotFoundError(errno.ENOENT, "it was deleted")) from None
            raise not_found(path, self._beneath) from None
        except OSError as error:
            raise problem_of(error, path) from None


def _replace(folder: int, name: str, data: bytes, mode: int | None) -> None:
    old = _regular(folder, name)
    wanted = mode if mode is not None or old is None else old.st_mode
    temporary = f".{secrets.token_hex(8)}.tmp"
    fd = os.open(temporary, _NEW, 0o666 if wanted is None else 0o600, dir_fd=folder)
    try:
        try:
            _write(fd, data)
            if old is not None:
                _own(fd, old)
            if wanted is not None:
                os.fchmod(fd, stat.S_IMODE(wanted) & 0o1777)  # as a write does, new content takes set-user-id away
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    _sync_folder(folder)


def _regular(folder: int, name: str) -> os.stat_result | None:
    """What is there now. A rename would pass over the write protection of a file, so that is asked for here."""
    try:
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise OSError(errno.EISDIR, "")
    if stat.S_ISLNK(old.st_mode):
        return None  # swapped in since it was located: the rename takes its place and follows nothing
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.ENXIO, "")
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids):
        raise OSError(errno.EACCES, "")
    return old


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _own(fd: int, old: os.stat_result) -> None:
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) == (old.st_uid, old.st_gid):
        return
    try:
        os.fchown(fd, old.st_uid, old.st_gid)
    except PermissionError:
        pass  # only root may give files away


def _sync_folder(folder: int) -> None:
    try:
        fd = os.open(".", _FOLDER | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        return  # a folder one may write in but not read: its entry reaches the disk a little later
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems have no sync of folders
            raise
    finally:
        os.close(fd)


def _too_large(path: str, size: int, most: int) -> ToolProblem:
    said = f"{brief(path)} has {size:,} bytes; {most:,} is the most that is read at once"
    return ToolProblem(
        "too_large", said, hint="read a range of its lines, or search it", data={"bytes": size, "most_bytes": most}
    )


def _bad_root(path: Path | str, error: Exception) -> ToolProblem:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ToolProblem("bad_root", f"the root {str(path)!r} cannot be used: {reason}", hint="name a folder that is there")
