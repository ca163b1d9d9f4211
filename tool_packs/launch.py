"""How a command becomes a running group: its argv, its environment, its folder, and the words for what cannot start.

Rule: a program gets the variables that the settings name, those that keep it quiet, and those of the call; nothing else of the
host. What is denied by pattern is not handed on even when it is named.
"""

import errno
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rapidfuzz import fuzz, process

from catalog import ToolProblem
from tool_packs.processes import Group, Input
from tool_packs.root import Root

HANDED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PNPM_HOME", "BUN_INSTALL", "XDG_*_HOME",
)  # fmt: skip
DENIED = (
    "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*", "*API_KEY*", "*_KEY", "*_AUTH", "*_AUTH_*", "LD_*", "DYLD_*",
    "BASH_ENV", "ENV",
)  # fmt: skip
QUIET = {
    "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",  # so that git status only reads
}  # fmt: skip
_PATH = "/usr/local/bin:/usr/bin:/bin"
_NEAR = 70.0  # of 100: one wrong letter in a name of four


def environment_of(
    host: Mapping[str, str], given: Mapping[str, str], *, handed_on: Iterable[str] = HANDED_ON, denied: Iterable[str] = DENIED
) -> dict[str, str]:
    allowed, refused = tuple(handed_on), tuple(denied)
    kept = {name: value for name, value in host.items() if _matches(name, allowed) and not _matches(name.upper(), refused)}
    for name, value in given.items():
        if not name or "=" in name or not _is_passable(name + value):
            said = f"env: {name[:80]!a} cannot be set" + ("" if _is_passable(name + value) else ": NUL, or half a surrogate pair")
            raise ToolProblem("bad_env", said, hint="names are like PYTHONPATH: not empty, without =")
    return {"PATH": _PATH, **kept, **QUIET, **given}


def _is_passable(text: str) -> bool:
    """Can the system hand it to a program?"""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def argv_of(command: str | Sequence[str], shell: str) -> list[str]:
    """A text is for the shell; a list is the program and its arguments as they are."""
    argv = [shell, "-c", command] if isinstance(command, str) else list(command)
    if not (command.strip() if isinstance(command, str) else argv and argv[0]):
        raise ToolProblem("bad_command", "the command is empty", hint='give a text such as "ls -l", or a list ["ls", "-l"]')
    if not all(_is_passable(part) for part in argv):
        said = "the command has a NUL or half a surrogate pair in it"
        raise ToolProblem("bad_command", said, hint="no program takes one; have printf make it, or give it as stdin")
    return argv


def folder_of(root: Root, cwd: str) -> str:
    """Where to start, as the system names it. A check, not a wall: a command may go elsewhere by itself."""
    try:
        os.close(root.folder(cwd))
        return str(root.path / root.relative(cwd))
    except ToolProblem as problem:
        raise ToolProblem(
            "bad_cwd", f"the command cannot start in {cwd!r}: {problem.message}", hint=problem.hint, data={"cwd": cwd}
        ) from None


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that starting it takes; made where files may be looked at, used where nothing may wait."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]

    def __post_init__(self) -> None:
        check_program(self.argv[0], self.cwd, self.environment.get("PATH", _PATH))

    def start(self, *, given: Input = "none", apart: bool = False) -> Group:
        try:
            return Group(self.argv, cwd=self.cwd, environment=self.environment, given=given, apart=apart)
        except OSError as error:
            raise _cannot_start(self.argv, error) from None


def check_program(name: str, cwd: str, path: str) -> None:
    if "/" in name:
        if not Path(cwd, name).exists():
            raise ToolProblem(
                "command_not_found", f"there is no program at {name}", hint="a name without / is looked for on PATH"
            )
        return
    if shutil.which(name, path=path) is None:
        near = nearest_programs(name, path)
        raise ToolProblem(
            "command_not_found",
            f"no program {name!r} is on PATH",
            hint=f"did you mean {' or '.join(near)}?" if near else _no_program_hint(name),
            data={"command": name, "near": near},
        )


def nearest_programs(name: str, path: str) -> list[str]:
    names: set[str] = set()
    for folder in path.split(os.pathsep):
        try:
            names.update(entry.name for entry in Path(folder or ".").iterdir())
        except OSError:
            continue
    found = process.extract(name, sorted(names), scorer=fuzz.ratio, limit=3, score_cutoff=_NEAR)
    return [near for near, _, _ in found]


def _no_program_hint(name: str) -> str:
    if any(char in name for char in " |&;<>$"):
        return "a list is one program and its arguments; give a text to have it read by the shell"
    return "install it, or use another program"


def _cannot_start(argv: Sequence[str], error: OSError) -> ToolProblem:
    program = argv[0]
    if error.errno == errno.E2BIG:
        size = sum(len(os.fsencode(part)) + 1 for part in argv)
        return ToolProblem(
            "command_too_long",
            f"the command has {size:,} bytes; the system takes about 131,000 in one argument",
            hint="give the long part as stdin, or write it to a file first",
            data={"bytes": size},
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        said = f"{program} may not be started: {error.strerror}"
        return ToolProblem(
            "permission_denied", said, hint="is it a program? chmod +x makes a script one", data={"command": program}
        )
    said = f"{program} cannot be started: {error.strerror or error}"
    return ToolProblem("cannot_start", said, hint="a script needs a first line like #!/bin/sh", data={"command": program})
