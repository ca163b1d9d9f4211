"""Takes everything away from a worker but memory, the clock and its one socket, in layers. Linux is the full case.

Each layer says of itself: on, off (it failed, with the reason) or unavailable (this system has no such thing). `inherit` runs
once in a zygote after its warm-up, `apply` in each worker before the first byte of a script; the last layer, seccomp, ends the
process at the first forbidden system call. By ctypes, with no extra package. Light imports only: a zygote loads this.
"""

import ctypes
import os
import struct
import sys
from functools import cache

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

ON, OFF, UNAVAILABLE = "on", "off", "unavailable"

# What a system is meant to have. A layer of this list that is not on makes the pool refuse to start.
ESSENTIAL = {
    "linux": ("environment", "descriptors", "rlimits", "no_new_privileges", "seccomp"),
    "darwin": ("environment", "descriptors", "rlimits"),
}

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SIGKILL = 9
_SLACK_BYTES = 192 * 1024 * 1024  # address space beside the script's heap: text of results on their way in, Python itself


class Layer(tuple[str, str, str]):
    """Name, state and reason, as they travel in a READY frame."""

    __slots__ = ()

    def __new__(cls, name: str, state: str, reason: str = "") -> "Layer":
        return super().__new__(cls, (name, state, reason))


def inherit(heap_bytes: int) -> list[Layer]:
    """The layers that forked workers get from their zygote, once for all of them. After this no file can be opened."""
    layers = [_environment()]
    resident = _virtual_bytes()
    if sys.platform == "linux":
        _filter(0)  # a worker's one descriptor
        layers += [
            _prctl("no_new_privileges", _PR_SET_NO_NEW_PRIVS, 1),
            _prctl("undumpable", _PR_SET_DUMPABLE, 0),
            _landlock(),
        ]
    else:
        layers += [Layer(name, UNAVAILABLE, f"not on {sys.platform}") for name in ("no_new_privileges", "undumpable", "landlock")]
    limits = {"CORE": 0, "FSIZE": 0, "MEMLOCK": 0}
    if sys.platform == "linux":  # other kernels do not honour it
        limits["AS"] = resident + heap_bytes + _SLACK_BYTES
    return [*layers, _rlimits(limits)]


def apply(fd: int, cpu_seconds: int, inherited: list[Layer], *, parent: int = 0, seccomp: bool = True) -> list[Layer]:
    """The layers each worker puts on itself; `fd` stays readable and writable. `seccomp=False` is for ablation tests."""
    layers = [layer for layer in inherited if layer[0] != "rlimits"] + [_descriptors(fd)]
    ours = _rlimits({"NPROC": 0, "NOFILE": 1, "CPU": cpu_seconds})
    layers += [layer for layer in inherited if layer[0] == "rlimits" and layer[1] != ON] or [ours]
    if sys.platform != "linux":
        return layers + [Layer(name, UNAVAILABLE, f"not on {sys.platform}") for name in ("parent_death", "seccomp")]
    layers.append(_prctl("parent_death", _PR_SET_PDEATHSIG, _SIGKILL))
    if parent and os.getppid() != parent:
        os._exit(0)  # it died before it could be heard
    layers.append(_seccomp(fd) if seccomp else Layer("seccomp", OFF, "left out on request"))
    return layers


def missing(layers: list[Layer]) -> list[Layer]:
    """The essential layers that are not on."""
    wanted = ESSENTIAL.get(sys.platform, ("environment",))
    return [layer for layer in layers if layer[0] in wanted and layer[1] != ON]


# ---------------------------------------------------------------- the layers


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _environment() -> Layer:
    os.environ.clear()  # the zygote was started with nothing but TZ, which the C library has read by now
    return Layer("environment", ON)


def _descriptors(fd: int) -> Layer:
    try:
        most = os.sysconf("SC_OPEN_MAX")
        if fd > 0:
            os.closerange(0, fd)
        os.closerange(fd + 1, min(most, 65_536) if most > 0 else 65_536)
    except OSError as error:
        return Layer("descriptors", OFF, str(error))
    return Layer("descriptors", ON)


def _rlimits(wanted: dict[str, int]) -> Layer:
    if resource is None:
        return Layer("rlimits", UNAVAILABLE, f"not on {sys.platform}")
    for name, value in wanted.items():
        try:
            hard = value + 1 if name == "CPU" else value  # the soft one first, since its signal says why
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, hard))
        except (AttributeError, OSError, ValueError) as error:
            return Layer("rlimits", OFF, f"{name}: {error}")
    return Layer("rlimits", ON)


def _virtual_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 256 * 1024 * 1024


def _prctl(name: str, option: int, value: int) -> Layer:
    if _libc().prctl(option, value, 0, 0, 0) == 0:
        return Layer(name, ON)
    return Layer(name, OFF, os.strerror(ctypes.get_errno()))


# Landlock: handle every right of the kernel's version and grant none. Rights are bits; how many there are depends on the version.
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_LANDLOCK_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}  # from version 5 on: 16
_TCP_BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11


def _landlock() -> Layer:
    libc = _libc()
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    if version < 1:
        return Layer("landlock", UNAVAILABLE, f"this kernel has no Landlock ({os.strerror(ctypes.get_errno())})")
    rights = struct.pack(
        "=QQQ",
        (1 << _LANDLOCK_FS_BITS.get(version, 16)) - 1,
        _TCP_BIND_AND_CONNECT if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_LANDLOCK_CREATE, ctypes.c_char_p(rights), ctypes.c_size_t(size), ctypes.c_uint(0))
    if ruleset < 0:
        return Layer("landlock", OFF, os.strerror(ctypes.get_errno()))
    done = libc.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))
    reason = os.strerror(ctypes.get_errno())
    os.close(ruleset)
    return Layer("landlock", ON, f"version {version}") if done == 0 else Layer("landlock", OFF, reason)


# Seccomp: the whole list. read and write only on the one descriptor, mmap and mprotect never executable.
_SYSCALLS = {
    "x86_64": (0xC000003E, {
        "read": 0, "write": 1, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14,
        "rt_sigreturn": 15, "mremap": 25, "madvise": 28, "setitimer": 38, "exit": 60, "getrusage": 98, "futex": 202,
        "clock_gettime": 228, "exit_group": 231,
    }),
    "aarch64": (0xC00000B7, {
        "read": 63, "write": 64, "mmap": 222, "mprotect": 226, "munmap": 215, "brk": 214, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "mremap": 216, "madvise": 233, "setitimer": 103, "exit": 93,
        "getrusage": 165, "futex": 98, "clock_gettime": 113, "exit_group": 94,
    }),
}  # fmt: skip
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _ARGS_AT = 0, 4, 16
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_PROT_EXEC = 4


def filter_program(machine: str, fd: int) -> bytes | None:
    """The allow-list as BPF, or None for a machine whose numbers we do not know."""
    if machine not in _SYSCALLS:
        return None
    arch, numbers = _SYSCALLS[machine]
    rows: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH_AT), (_JUMP_IF_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER_AT),
    ]  # fmt: skip
    for name, number in numbers.items():
        if name in ("read", "write"):
            rows += [
                (_JUMP_IF_EQUAL, 0, 6, number),
                (_LOAD, 0, 0, _ARGS_AT), (_JUMP_IF_EQUAL, 0, 3, fd),
                (_LOAD, 0, 0, _ARGS_AT + 4), (_JUMP_IF_EQUAL, 0, 1, 0),
                (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL),
            ]  # fmt: skip
        elif name in ("mmap", "mprotect"):
            rows += [
                (_JUMP_IF_EQUAL, 0, 4, number),
                (_LOAD, 0, 0, _ARGS_AT + 16), (_JUMP_IF_BITS, 1, 0, _PROT_EXEC),
                (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL),
            ]  # fmt: skip
        else:
            rows += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    rows.append((_RETURN, 0, 0, _KILL))
    return b"".join(struct.pack("=HBBI", *row) for row in rows)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


@cache
def _filter(fd: int) -> tuple[_Program | None, object, Layer]:
    """The filter ready to be installed, what it points at, and what to say then. Made once in a zygote, used in every fork."""
    machine = os.uname().machine
    program = filter_program(machine, fd)
    if program is None:
        return None, None, Layer("seccomp", UNAVAILABLE, f"no list of system calls for {machine}")
    buffer = ctypes.create_string_buffer(program, len(program))
    told = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    return told, buffer, Layer("seccomp", ON, f"{len(_SYSCALLS[machine][1])} system calls allowed")


def _seccomp(fd: int) -> Layer:
    told, _, layer = _filter(fd)
    if told is None or _libc().prctl(_PR_SET_SECCOMP, 2, ctypes.byref(told), 0, 0) == 0:
        return layer
    return Layer("seccomp", OFF, os.strerror(ctypes.get_errno()))
