"""Running git so that a repository cannot run anything by it: no shell, pager, prompt, hook, filter, external diff or network.

What a repository's own configuration names as a command is switched off; the user's configuration is trusted. Output is capped,
and a cancelled call leaves no process behind.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from catalog import ToolProblem
from tool_packs.root import Root

MOST_BYTES = 16 * 1024 * 1024
_ERROR_BYTES = 8_192
_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
_HANDED_ON = ("HOME", "XDG_CONFIG_HOME", "TMPDIR")
_SWITCHES = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects",
    "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "-c", "blame.ignoreRevsFile=",
    "-c", "diff.external=", "-c", "submodule.recurse=false", "-c", "diff.submodule=short", "-c", "color.ui=false",
    "-c", "core.quotePath=false", "-c", "i18n.logOutputEncoding=UTF-8", "-c", "gc.auto=0", "-c", "log.showRoot=true",
)  # fmt: skip
_QUIET = {
    "LC_ALL": "C",  # errors are recognised by their words
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch what it lacks
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
}


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: bytes
    cut: bool  # there was more output than allowed
    error: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Repository:
    """Of the root. `prefix` is the root as seen from the top of the work tree, "" or with a slash at its end."""

    root: Root
    program: str
    environment: Mapping[str, str]
    prefix: str = ""

    async def run(self, *arguments: str, most_bytes: int = MOST_BYTES, ok: Sequence[int] = (0,)) -> Ran:
        ran = await _run([self.program, *_SWITCHES, *arguments], self.root.path, self.environment, most_bytes)
        if not ran.cut and ran.code not in ok:
            raise _refused(ran, self.root)
        return ran

    def local(self, path: bytes) -> str:
        """A path that git tells from the top of the work tree, as seen from the root."""
        text = path.decode("utf-8", "backslashreplace")
        if text.startswith(self.prefix):
            return text[len(self.prefix) :] or "."
        return os.path.relpath("/" + text, "/" + self.prefix)


async def open_repository(root: Root, environment: Mapping[str, str]) -> Repository:
    """Found from the root upwards, as git does; its own filters switched off."""
    searched = _search_path(environment.get("PATH", _PATH), root.path)
    program = shutil.which("git", path=searched)
    if program is None:
        raise ToolProblem("no_git", f"no git program is on the path {searched}", hint="install git, or do without this pack")
    handed = {
        name: environment[name] for name in _HANDED_ON if name in environment and not _is_below(environment[name], root.path)
    }
    bare = Repository(root, program, {**handed, **_QUIET, "PATH": searched})
    told = await bare.run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--show-prefix")
    lines = told.out.decode("utf-8", "surrogateescape").split("\n")
    if len(lines) != 4:
        raise ToolProblem("git_refused", "a line break is in the path of the repository", hint="rename the folder")
    linked = await bare.run("config", "--file", f"{lines[1]}/config", "core.worktree", ok=(0, 1))
    if not await to_thread.run_sync(_belongs, root.path, lines[0], lines[1], linked.text.rstrip("\n")):
        said = f"the .git above {root.path} points to a repository that does not point back: {lines[1]}"
        raise ToolProblem("not_a_repository", said, hint="files can be read; there is no history to show")
    return Repository(root, program, {**bare.environment, **await _no_filters(bare)}, lines[2])


def _belongs(root: Path, top: str, folder: str, linked: str) -> bool:
    """A `.git` file may point anywhere; those of linked work trees and submodules do. Then the repository must point back, or a
    file that anybody can write would open every repository of the machine."""
    work, store = Path(top).resolve(), Path(folder).resolve()
    if not root.is_relative_to(work):
        return False
    if store.is_relative_to(work):
        return True
    back = store / "gitdir"
    if back.is_file():
        return (store / back.read_text().strip()).resolve() == work / ".git"
    return bool(linked) and (store / linked).resolve() == work


async def _no_filters(bare: Repository) -> dict[str, str]:
    """Filters run on a file of the work tree when it is compared. By environment: their names may hold any character."""
    told = await bare.run("config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\.", ok=(0, 1))
    words = told.out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    own = {key.rpartition(".")[0] for scope, key in zip(words[::2], words[1::2], strict=True) if scope in ("local", "worktree")}
    settings = [(f"{name}.{key}", "") for name in sorted(own) for key in ("clean", "smudge", "process")]
    settings += [(f"{name}.required", "false") for name in sorted(own)]
    made = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        made |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return made


def _search_path(path: str, root: Path) -> str:
    """Without folders that the workspace could put a program of its own into."""
    folders = [folder for folder in path.split(os.pathsep) if folder.startswith("/") and not _is_below(folder, root)]
    return os.pathsep.join(folders) or _PATH


def _is_below(folder: str, root: Path) -> bool:
    """A home or a folder of programs within the workspace is not the user's word."""
    return Path(os.path.normpath(folder)).is_relative_to(root)


def _refused(ran: Ran, root: Root) -> ToolProblem:
    first = next((line for line in ran.error.splitlines() if line.strip()), f"exit code {ran.code}")[:300]
    if "not a git repository" in ran.error or "must be run in a work tree" in ran.error:
        said = f"the root {root.path} is in no git repository"
        return ToolProblem("not_a_repository", said, hint="files can be read; there is no history to show")
    if "dubious ownership" in ran.error:
        said = f"git refuses the repository of {root.path}, which belongs to another user"
        return ToolProblem("git_refused", said, hint="its owner allows it with git config --global --add safe.directory")
    return ToolProblem(
        "git_failed", f"git: {first.removeprefix('fatal: ')}", hint="check the names given", data={"code": ran.code}
    )


async def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], most_bytes: int) -> Ran:
    with anyio.CancelScope(shield=True):  # cancelled while it starts, a process would be ended without what it started itself
        process = await anyio.open_process(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment,
            start_new_session=True,
        )  # fmt: skip
    out, error = bytearray(), bytearray()
    cut = False
    try:
        assert process.stdout is not None and process.stderr is not None
        async with anyio.create_task_group() as group:
            group.start_soon(_drain, process.stderr, error)
            async for chunk in process.stdout:
                out += chunk
                if len(out) > most_bytes:
                    cut = True
                    _kill(process)
                    break
        code = await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            _kill(process)
            await process.aclose()
    return Ran(code, bytes(out[:most_bytes]), cut, error.decode("utf-8", "replace"))


async def _drain(stream: ByteReceiveStream, into: bytearray) -> None:
    async for chunk in stream:
        into += chunk[: max(0, _ERROR_BYTES - len(into))]


def _kill(process: Process) -> None:
    """With whatever it started: it leads a group of its own."""
    if process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # it ended meanwhile
