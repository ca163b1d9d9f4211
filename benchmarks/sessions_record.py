"""One record for the sessions of every agent: the outputs in order, and what the calls behind them edited and named.

The baseline is `persisted_bytes`: the text of a tool's output, header and body, as the agent wrote it down. Classes and reads
come from product code, as they would in a session of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tool_packs.bash_text import Unreadable
from tool_packs.commands import classify
from tool_packs.read_parts import Stretch, parts_of
from tool_packs.reads import FileRead, reads_of
from tool_packs.steps import read_command, steps_of

Class: TypeAlias = Literal["read", "search", "git", "build", "patch", "other"]
Command: TypeAlias = str | Sequence[str]

_PATH = re.compile(r"(?:[\w.@+~-]*/)+[\w.@+-]*\w|\b[\w-]+\.(?:[a-z]{1,4}|json|yaml|toml|html)\b")
_ADDRESS = re.compile(r"\b[a-z]+://\S+")
# An agent that cut an output before it wrote it down: line numbers behind the cut are not known.
_CUT_BEFORE = re.compile(r"…\d+ (?:tokens|chars) truncated…|\[\.\.\. omitted \d+ of \d+ lines|<warning>\nThe output of your last")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call. `outputs_before`: how many outputs of the session the model had when it wrote the call."""

    tool: str
    outputs_before: int
    reply: int  # which reply of the model it stands in: calls of one reply would be one script
    command: Command = ""
    old_lines: tuple[tuple[str, ...], ...] = ()  # for each edit the lines that it names
    named: str = ""  # text in which the call names paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    asked: Asked
    header_bytes: int  # exit code, wall time, envelope
    body: str
    kind: Class
    reads: tuple[FileRead, ...] = ()
    path: str = ""  # of a tool that reads one file; its lines may have numbers in front
    exit_code: int | None = None
    forgets: bool = False  # before it, the agent compacted: no earlier output is in view

    @property
    def persisted_bytes(self) -> int:
        return self.header_bytes + len(self.body.encode())


@dataclass(frozen=True, slots=True)
class Session:
    agent: str
    name: str
    steps: tuple[Step, ...]

    @property
    def persisted_bytes(self) -> int:
        return sum(step.persisted_bytes for step in self.steps)


def shell_step(asked: Asked, header_bytes: int, body: str, *, exit_code: int | None, forgets: bool, poll: bool = False) -> Step:
    """The output of a command; a poll carries a part of it, so its lines are nobody's first ones."""
    found = reads_of(asked.command, body) if not poll and not exit_code else []
    cut = _CUT_BEFORE.search(body) is not None
    reads = tuple(read.model_copy(update={"first": None}) if cut else read for read in found)
    return Step(
        asked=asked, header_bytes=header_bytes, body=body, kind=class_of(asked.command), reads=reads, exit_code=exit_code,
        forgets=forgets,
    )  # fmt: skip


def class_of(command: Command) -> Class:
    kind = classify(command)
    if kind != "other":
        return kind
    if any(isinstance(part, Stretch) for part in parts_of(command)):
        return "read"
    try:
        programs = {step.program for step in steps_of(read_command(command))[0]}
    except Unreadable:
        return "other"
    if "apply_patch" in programs:
        return "patch"
    return "git" if "git" in programs else "other"


def paths_in(text: str) -> set[str]:
    """What looks like the path of a file, without ./ in front; addresses of the web are none."""
    return {found.removeprefix("./") for found in _PATH.findall(_ADDRESS.sub(" ", text)) if len(found) > 3}


def patch_old_lines(patch: str) -> tuple[tuple[str, ...], ...]:
    """Of each file that an apply_patch text updates, the lines of context and the removed ones."""
    edits: list[list[str]] = []
    for line in patch.splitlines():
        if line.startswith("*** "):
            if line.startswith("*** Update File:") or not line.startswith(("*** Move", "*** End of File")):
                edits.append([])
        elif edits and line[:1] in (" ", "-"):
            edits[-1].append(line[1:])
    return tuple(tuple(lines) for lines in edits if lines)


def command_text(command: Command) -> str:
    return command if isinstance(command, str) else " ".join(command)


def total_bytes(sessions: Iterable[Session]) -> int:
    return sum(session.persisted_bytes for session in sessions)
