"""What one record of another agent's session says, in our words, and what a format has to tell so that it can be imported.

The formats make these, one format a file; nothing here reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from harness.entries import Git

Role: TypeAlias = Literal["", "user", "assistant", "system", "reasoning", "call", "output", "compaction"]
Status: TypeAlias = Literal["", "returned", "failed", "cancelled", "running"]
_FOREMOST: Final[tuple[Role, ...]] = ("call", "output", "user", "assistant", "compaction", "system", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Role "" says nothing to anybody: a count of tokens, a state, a copy of another record, or a kind that nobody knows."""

    role: Role = ""
    text: str = ""  # said, asked for or answered; of an output, without the header that the agent put before it
    tool: str = ""  # of a call, and of an output that names it
    call_id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of a call; {"input": text} where they are no object
    status: Status = ""  # of an output; "" where the record does not tell
    paths: tuple[str, ...] = ()  # files that arguments or a patch name, as they name them
    bytes: int = 0  # of an output's text in UTF-8, as the model got it, header included


NOTHING: Final = Reading()


def as_one(readings: Sequence[Reading]) -> Reading:
    """Several things that one record says, as one: a call before its output before what was said; all texts, all files."""
    if not readings:
        return NOTHING
    if len(readings) == 1:
        return readings[0]
    first = min(readings, key=lambda one: _FOREMOST.index(one.role) if one.role else len(_FOREMOST))
    return Reading(
        role=first.role,
        text="\n".join(one.text for one in readings if one.text),
        tool=first.tool,
        call_id=first.call_id,
        arguments=first.arguments,
        status=next((one.status for one in readings if one.status), ""),
        paths=tuple(dict.fromkeys(path for one in readings for path in one.paths)),
        bytes=sum(one.bytes for one in readings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a record tells about its session. `task`: what was worked on; an id of that is not yet one of the session."""

    session: str = ""
    root: str = ""
    model: str = ""
    git: Git | None = None
    agent: str = ""  # program and version
    task: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """A person spoke. Where a format writes that down twice, the channels differ and the text does not."""

    text: str
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One agent's way to write down a session. The functions take records as parsed JSON, and never raise for odd ones."""

    name: str
    is_record: Callable[[Any], bool]  # surely one of this format: decides what a file is
    kind: Callable[[Any], str]
    known: Callable[[str], bool]  # whether records of this kind have a meaning here, be it none
    readings: Callable[[str, Any], tuple[Reading, ...]]  # of a kind and its record
    about: Callable[[Any], About]
    heard: Callable[[Any], Heard | None]
    at: Callable[[Any], float | None]
    list_name: str = ""  # of the list in a session that is one JSON document
    is_document: Callable[[Any], bool] = lambda value: False
