"""Running ripgrep below a root: where it is, in which folder it runs, and its errors in words for a script.

The folder is opened through the root and ripgrep runs inside it, so no path of a script reaches its command line; a single file
is its standard input. Rule: it is ended with its call, whether that is done, cancelled or too slow.
"""

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio

from catalog import ToolProblem
from tool_packs.path_problems import brief
from tool_packs.processes import Group
from tool_packs.root import Root

_READ_BYTES = 65_536
_ERROR_BYTES = 16_384
_ALWAYS = ("--no-config", "--no-messages", "--color=never", "--no-require-git", "--no-ignore-global", "--no-follow")
_SYNTAX = re.compile(r"regex parse error:\n(?P<shown>.*)\nerror: (?P<reason>.*)", re.DOTALL)
_CARET = re.compile(r"^    (?P<pattern>.*)\n    (?P<space> *)(?P<caret>\^+)", re.MULTILINE)
_WRAPPED = len("(?:")  # ripgrep shows a pattern in a group of its own making

Sink = Callable[[bytes], None]


def locate(path: str | None, *, beside: Sequence[str | None] = ()) -> str:
    """The program that came with the package, else the one on PATH."""
    folders = beside or (sysconfig.get_path("scripts"), str(Path(sys.executable).parent))
    found = shutil.which("rg", path=os.pathsep.join([*filter(None, folders), path or os.defpath]))
    if found is None:
        said = "ripgrep (rg) is neither beside the Python that runs this nor on PATH"
        raise ToolProblem("no_ripgrep", said, hint="install it: pip install ripgrep")
    return str(Path(found).absolute())


@dataclass(frozen=True, slots=True)
class Place:
    """What is searched: a folder, or one file. The descriptor stays open until `close`."""

    path: str  # as seen from the root
    fd: int
    is_file: bool

    def close(self) -> None:
        os.close(self.fd)

    def named(self, below: str) -> str:
        """A path that ripgrep told, as seen from the root."""
        if self.is_file:
            return self.path
        below = below.removeprefix("./")
        return below if self.path == "." else f"{self.path}/{below}"


def place_of(root: Root, path: str) -> Place:
    """ToolProblem `not_found`, `outside_root`, … Waits for the disk."""
    name = root.relative(path)
    try:
        return Place(name, root.folder(name), is_file=False)
    except ToolProblem as problem:
        if problem.code != "not_a_directory":
            raise
    return Place(name, root.open(name), is_file=True)


@dataclass(frozen=True, slots=True)
class Ripgrep:
    program: str
    root: Root
    timeout_seconds: float

    async def run(self, place: Place, options: Sequence[str], sink: Sink) -> None:
        """Feeds what it prints to the sink. ToolProblem `bad_pattern`, `bad_glob`, `too_slow`, `search_failed`."""
        argv = [self.program, *_ALWAYS, *(["--no-ignore-parent"] if place.path == "." else []), *options, "--"]
        argv.append("-" if place.is_file else "./")
        errors = bytearray()
        group = await self._start(argv, place)
        try:
            with anyio.move_on_after(self.timeout_seconds) as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_pump, group.outputs[0], sink)
                    tasks.start_soon(_pump, group.outputs[1], lambda data: errors.extend(data[: _ERROR_BYTES - len(errors)]))
                await group.exited()
        finally:
            await group.end()
        if scope.cancelled_caught:
            said = f"the search in {brief(place.path)} was ended after {self.timeout_seconds:g} seconds"
            raise ToolProblem("too_slow", said, hint="search a smaller folder, or fewer files with glob")
        text = errors.decode("utf-8", "replace").strip()
        if text or group.returncode not in (0, 1, 2):  # 2 without words: a file that could not be read
            raise _problem(text or f"it ended with {group.returncode}")

    async def _start(self, argv: list[str], place: Place) -> Group:
        given: IO[bytes] | None = None
        try:
            if place.is_file:
                os.lseek(place.fd, 0, os.SEEK_SET)
                given = os.fdopen(os.dup(place.fd), "rb")
            return Group(argv, cwd=self._folder(place), environment={}, given=given or "none", apart=True)
        except OSError as error:
            raise ToolProblem("search_failed", f"ripgrep cannot be started: {error.strerror}", hint="try again once") from None
        finally:
            if given is not None:
                given.close()

    def _folder(self, place: Place) -> str:
        """By its descriptor where there is /proc: a name could lead elsewhere by now."""
        if place.is_file:
            return str(self.root.path)
        by_descriptor = f"/proc/self/fd/{place.fd}"
        return by_descriptor if sys.platform.startswith("linux") else str(self.root.path / place.path)


async def _pump(fd: int, sink: Sink) -> None:
    while True:
        await anyio.wait_readable(fd)
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            continue  # woken for nothing
        if not data:
            return
        sink(data)


def _problem(text: str) -> ToolProblem:
    text = text.removeprefix("rg: ")
    syntax = _SYNTAX.search(text)
    if syntax is not None:
        return _bad_pattern(syntax["reason"].strip().split("\n", 1)[0], _CARET.search(syntax["shown"]))
    first = text.split("\n", 1)[0]
    if "not allowed in a regex" in first:
        hint = "pass multiline: true to match over several lines"
        return ToolProblem("bad_pattern", "the pattern has a line break in it, and lines are searched one by one", hint=hint)
    if "size limit" in first:
        return ToolProblem("bad_pattern", f"the pattern is too large: {first}", hint="use smaller numbers in {…}")
    if "parsing glob" in first:
        return ToolProblem("bad_glob", first, hint='globs are like "*.py", "src/**/*.ts" or "!*.min.js"')
    return ToolProblem("search_failed", f"ripgrep: {first[:500]}", hint="search in another way")


def _bad_pattern(reason: str, caret: re.Match[str] | None) -> ToolProblem:
    where, data = "", dict[str, object]()
    # For a bracket that has no other, it is the closing one of its own making that it points at.
    if caret is not None and 0 <= (start := len(caret["space"]) - _WRAPPED) < len(caret["pattern"]) - _WRAPPED - 1:
        part = caret["pattern"][len(caret["space"]) :][: len(caret["caret"])]
        where = f", at character {start + 1}: {part!r}"
        data = {"character": start + 1, "part": part}
    hint = "put \\ before ( [ { * + ? . | where they are meant as they are, or pass fixed: true to search for plain text"
    if "look-around" in reason:
        reason, hint = "look-ahead and look-behind are not supported", "match more, and filter the hits in the script"
    if "backreferences" in reason:
        reason, hint = "references to groups are not supported", "match more, and filter the hits in the script"
    return ToolProblem("bad_pattern", f"the pattern is no regular expression: {reason}{where}", hint=hint, data=data or None)
