"""How an entry is written down: one JSON object a line, numbered, chained by digests, with big values beside it.

    {"v": 1, "seq": 7, "timestamp": "2026-11-18T12:04:02.123Z", "type": "settled", "turn": 2, "payload": {…}, "digest": "…"}

Big values stand beside it (`big_values.py`). The digest covers the text before it and the digest of the line before, so an edited
or missing line shows, and a line has the same digest in every store. Pure: where lines are kept is the stores' business.

Whoever wrote a line may be hostile: what it says of itself has bounds, and what it cannot mean is a BadLine, whatever it is.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from harness.entries import Entry, Json
from harness.store.big_values import BadLine, Blob, MissingValue, PutBack, parsed, references, shrunk
from harness.store.line_json import dumps, loads, plain
from harness.visible import visible

__all__ = [
    "START",
    "VERSION",
    "BadLine",
    "Blob",
    "Kept",
    "Line",
    "MissingValue",
    "decode",
    "digest_of",
    "encode",
    "first_break",
    "iso",
    "read_line",
    "references",
]

VERSION: Final = 1
_WHOLE = frozenset({"script", "text"})  # always in the line: what people look for in a file
_DIGEST: Final = b',"digest":"'
START: Final = "0" * 64  # the digest before the first line
_TYPE: Final = re.compile(r"[a-z_]{1,40}")
_SEQ_MAX: Final = 2**53
_TURN_MAX: Final = 2**31 - 1
_AT_MAX: Final = 253_402_214_400.0  # 9999-12-31: the day before the calendar ends, for zones ahead of UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    seq: int  # from 1
    at: float
    type: str
    turn: int  # 0 for what belongs to no turn
    payload: Mapping[str, Json]
    digest: str
    version: int = VERSION
    body: bytes = field(default=b"", repr=False, compare=False)  # the text that the digest covers; made where it is not given

    def __post_init__(self) -> None:
        if not self.body:
            object.__setattr__(self, "body", dumps(_envelope(self)))

    def to_bytes(self) -> bytes:
        """As it was written, without the line end."""
        return self.body[:-1] + _DIGEST + self.digest.encode() + b'"}'


@dataclass(frozen=True, slots=True)
class Kept:
    """A line as a store has it; its entry is read when asked for."""

    line: Line
    blob: Blob

    def entry(self, session: str) -> Entry:
        return decode(self.line, session, self.blob)

    def blobs(self) -> dict[str, bytes]:
        """All big values of the line, and those inside them."""
        found: dict[str, bytes] = {}
        waiting = references(self.line.payload)
        while waiting:
            sha, mark = waiting.popitem()
            found[sha] = self.blob(sha)
            if mark == "$json":
                waiting |= {sha: mark for sha, mark in references(parsed(found[sha], sha)).items() if sha not in found}
        return found


@cache
def _adapter() -> TypeAdapter[Entry]:
    """Made when the first line is: it takes as long as a tenth of a start."""
    return TypeAdapter(Entry)


def encode(entry: Entry, *, seq: int, before: str) -> tuple[Line, dict[str, bytes]]:
    """The line, and the big values that go beside it by their sha256. `before`: the digest of the line before."""
    try:
        told: dict[str, Any] = _adapter().dump_python(entry, mode="json", exclude_defaults=True)
    except UnicodeEncodeError:  # half a surrogate pair in the name of a member
        told = plain(_adapter().dump_python(entry, exclude_defaults=True))
    blobs: dict[str, bytes] = {}
    payload = {
        name: value if name in _WHOLE else shrunk(value, blobs)
        for name, value in told.items()
        if name not in ("type", "session" if entry.type != "opened" else "", "at", "turn")
    }
    line = Line(
        seq=seq, at=round(entry.at, 6), type=entry.type, turn=getattr(entry, "turn", None) or 0, payload=payload, digest=""
    )
    return replace(line, digest=digest_of(line, before)), blobs


def decode(line: Line, session: str, blob: Blob) -> Entry:
    """BadLine for what is no entry."""
    payload = PutBack(blob).value(dict(line.payload))
    if not isinstance(payload, dict):
        raise BadLine(f"line {line.seq}: its payload is no object")
    told = {"session": session, **payload, "type": line.type, "at": line.at}
    if line.turn:
        told["turn"] = line.turn
    try:
        return _adapter().validate_python(told)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "entry"
        raise BadLine(_on_one_line(f"line {line.seq}: {where}: {first['msg']}")) from None


def read_line(text: bytes) -> Line:
    """From the bytes of a line. BadLine says what is wrong."""
    # Only what the digest covers is read: behind it stands nothing but the digest and where big values are.
    covered, found, rest = text.rpartition(_DIGEST)
    body = covered + b"}" if found else b""
    try:
        told = loads(body or text)
        behind = loads(b"{" + found[1:] + rest) if found else {}
    except ValueError:
        raise BadLine("not a whole JSON object") from None
    if not isinstance(told, dict) or not isinstance(behind, dict):
        raise BadLine("not a JSON object")
    told |= {"digest": behind["digest"]} if found else {}
    version = told.get("v")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise BadLine(f"format {version!r}; this turnscript reads {VERSION}" + ("; install a newer one" if newer else ""))
    try:
        return Line(
            seq=_number(told, "seq", 1, _SEQ_MAX), at=_seconds(_of(str, told, "timestamp")), type=_type(_of(str, told, "type")),
            turn=_number(told, "turn", 0, _TURN_MAX) if "turn" in told else 0, payload=_of(dict, told, "payload"),
            digest=_of(str, told, "digest"), version=version, body=body,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadLine(_on_one_line(f"no line of a session: {error}")) from None


def digest_of(line: Line, before: str) -> str:
    """Over the text as it was written, so that no other way to write a number can change it."""
    return hashlib.sha256(before.encode() + b"\n" + line.body).hexdigest()


def first_break(lines: Iterable[Line], *, before: str = START, after: int = 0) -> str:
    """What is wrong with the first line that does not follow from the one before; "" when all do."""
    for line in lines:
        if line.seq != after + 1:
            return f"line {after + 1} is missing: after it comes line {line.seq}"
        if digest_of(line, before) != line.digest:
            return f"line {line.seq} ({line.type}) is not as it was written: its digest differs"
        before, after = line.digest, line.seq
    return ""


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# ---------------------------------------------------------------- the members of a line


def _envelope(line: Line) -> dict[str, Json]:
    turn = {"turn": line.turn} if line.turn else {}
    return {
        "v": line.version,
        "seq": line.seq,
        "timestamp": iso(line.at),
        "type": line.type,
        **turn,
        "payload": line.payload,
    }


def _seconds(timestamp: str) -> float:
    when = datetime.fromisoformat(timestamp)
    if when.tzinfo is None:
        raise ValueError(f"the timestamp {timestamp} has no zone")
    at = when.timestamp()
    if not 0 <= at < _AT_MAX:
        raise ValueError(f"the timestamp {timestamp} is not between the years 1970 and 9999")
    return at


def _type(told: str) -> str:
    if not _TYPE.fullmatch(told):
        raise ValueError(f"the type {told[:40]!r} is no word")
    return told


def _number(told: Mapping[str, Json], name: str, least: int, most: int) -> int:
    value: int = _of(int, told, name)
    if not least <= value <= most:
        raise ValueError(f"{name} is not between {least} and {most}")
    return value


def _on_one_line(text: str) -> str:
    """Names and words of a file, for people: without what a terminal would obey."""
    return visible(" ".join(text.split()))[:400]


def _of(kind: type, told: Mapping[str, Json], name: str) -> Any:
    value = told[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}"[:200])
    return value
