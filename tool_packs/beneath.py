"""Opening what lies beneath one folder and nothing else, on descriptors; plain OSError, EXDEV for what leads outside.

Linux asks the kernel (openat2, RESOLVE_BENEATH). Elsewhere, and where the kernel gives no verdict, components are walked one by
one with O_NOFOLLOW and links are resolved here. Rule: no path is looked at first and opened by its name later, so that
a link swapped in between changes nothing.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SYS_OPENAT2 = 437  # the same on every Linux architecture but alpha
_RESOLVE_BENEATH, _RESOLVE_NO_MAGICLINKS = 0x08, 0x02
_TRIES = 64  # the kernel says EAGAIN when a folder was renamed while it walked; then the walk below decides
_LINKS = 40  # as many as Linux follows
_STEPS = 16_384  # components walked for one path, those of links included
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # O_PATH: no read permission needed


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Beneath:
    """One folder, held by a descriptor, so that it stays the same one when somebody renames it."""

    def __init__(self, fd: int, *, names: tuple[str, ...], openat2: bool | None) -> None:
        self.fd = fd
        self._names = names  # absolute paths of the folder: links that begin with one of them stay inside
        self._syscall = None if openat2 is False or not sys.platform.startswith("linux") else _libc_syscall()
        if self._syscall is not None and not self._kernel_has_it():
            self._syscall = None
        if openat2 and self._syscall is None:
            raise OSError(errno.ENOSYS, "this kernel has no openat2")

    @property
    def by_kernel(self) -> bool:
        return self._syscall is not None

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """Links that stay beneath are followed, the last one too unless O_NOFOLLOW is given."""
        flags |= os.O_CLOEXEC
        if self._syscall is not None:
            try:
                return self._openat2(path, flags, mode)
            except OSError as error:
                # EXDEV is also said of absolute links that lead back inside: the walk knows those.
                if error.errno not in (errno.EXDEV, errno.EAGAIN):
                    raise
        return self._open_by_walk(path, flags, mode)

    @contextmanager
    def located(self, path: str, *, follow: bool = True) -> Iterator[tuple[int, str]]:
        """The folder that holds the last component, and its name there, which was no link when looked at ("." for a folder
        that a path or link ends in by dots). With follow=False the last name may be a link."""
        folder, name = self._walk(path, follow)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _openat2(self, path: str, flags: int, mode: int) -> int:
        how = _How(flags, mode if flags & os.O_CREAT else 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
        name = ctypes.c_char_p(os.fsencode(path))
        for _ in range(_TRIES):
            assert self._syscall is not None
            fd: int = self._syscall(_SYS_OPENAT2, self.fd, name, ctypes.byref(how), ctypes.sizeof(how))
            if fd >= 0:
                return fd
            code = ctypes.get_errno()
            if code not in (errno.EAGAIN, errno.EINTR):
                raise OSError(code, os.strerror(code))
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _kernel_has_it(self) -> bool:
        """A seccomp filter may refuse it with EPERM where the kernel would not."""
        try:
            os.close(self._openat2(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0))
        except OSError as error:
            return error.errno not in (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL)
        return True

    def _open_by_walk(self, path: str, flags: int, mode: int) -> int:
        for _ in range(_LINKS):
            with self.located(path, follow=not flags & os.O_NOFOLLOW) as (folder, name):
                try:
                    return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=folder)
                except OSError as error:
                    if flags & os.O_NOFOLLOW or not _swapped(error, name, folder):
                        raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _walk(self, path: str, follow: bool) -> tuple[int, str]:
        todo = path.split("/")[::-1]
        passed: list[str] = []  # true names of the folders from the root to `here`
        here, links = os.open(".", _PASS, dir_fd=self.fd), 0
        try:
            for _ in range(_STEPS):
                name = todo.pop() if todo else "."
                if name in ("", ".") and todo:
                    continue
                if name == "..":
                    # Never the real "..": a folder moved meanwhile would lead anywhere. Begin again, one name shorter.
                    if not passed:
                        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                    todo += passed[-2::-1]
                    passed, here = [], self._again(here)
                    continue
                if name in ("", "."):
                    return here, "."
                target = _link(name, here) if todo or follow else None
                if target is not None:
                    links += 1
                    if links > _LINKS:
                        break
                    inside = self._inside(target)
                    if inside is not None:
                        passed, here = [], self._again(here)
                    todo += (target if inside is None else inside).split("/")[::-1]
                elif not todo:
                    return here, name
                else:
                    below = _enter(name, here)
                    if below is None:
                        todo.append(name)
                        continue
                    os.close(here)
                    here = below
                    passed.append(name)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        except BaseException:
            os.close(here)
            raise

    def _again(self, here: int) -> int:
        fresh = os.open(".", _PASS, dir_fd=self.fd)
        os.close(here)
        return fresh

    def _inside(self, target: str) -> str | None:
        """An absolute link's target as seen from the root; None for a relative one."""
        if not target.startswith("/"):
            return None
        for name in self._names:
            if target == name or target.startswith(name.rstrip("/") + "/"):
                return target[len(name.rstrip("/")) :].lstrip("/") or "."
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


_LINK_SIGNS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)  # what O_NOFOLLOW says of a link; ENOTDIR with O_DIRECTORY


def _link(name: str, folder: int) -> str | None:
    """Where a link leads; None for what is no link, or not there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _enter(name: str, folder: int) -> int | None:
    """A folder; None when a link was swapped in since it was looked at."""
    try:
        return os.open(name, _PASS, dir_fd=folder)
    except OSError as error:
        if _swapped(error, name, folder):
            return None
        raise


def _swapped(error: OSError, name: str, folder: int) -> bool:
    """Did the opening meet a link that was not there before, so that looking again is right? By now it may be gone again."""
    if error.errno not in _LINK_SIGNS:
        return False
    try:
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return True
    return error.errno != errno.ENOTDIR or stat.S_ISLNK(kind) or stat.S_ISDIR(kind)


def _libc_syscall() -> "ctypes._NamedFuncPointer":
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return call
