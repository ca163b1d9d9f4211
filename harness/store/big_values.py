"""Big values of a line stand beside it, once, under the sha256 of their bytes: {"$text": …} or {"$json": …} in their place.

A text above `TEXT_CHARS`, and a value above `VALUE_BYTES`, is big. An object of a user's own that looks like such a reference is
written with one more $. Whoever wrote a value may be hostile: what references come to has a bound.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from harness.entries import Json
from harness.store.line_json import LEVELS, dumps, loads

TEXT_CHARS: Final = 2_048  # a longer text is kept once, however often it stands in a session
VALUE_BYTES: Final = 8_192
Blob: TypeAlias = Callable[[str], bytes]  # sha256 to content; MissingValue
_MARKS: Final = ("$text", "$json")
# A value that stands in many places of a line is kept once: what all come to together has a bound, or 40 references that lead
# to each other stand for 2^40 values. Below `_PUT_BACK_BYTES` nobody counts.
_PUT_BACK_BYTES: Final = 64 * 1024 * 1024
_PUT_BACK_TIMES: Final = 64


class BadLine(ValueError):
    """One line of a session that cannot be read: what is wrong with it."""


class MissingValue(BadLine):
    """A value that a line refers to is not there, or not what it was."""


def references(payload: Json) -> dict[str, str]:
    """The sha256 of every big value that stands in a payload, with its mark. A $json may hold others."""
    found: dict[str, str] = {}
    waiting = [payload]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            mark = _mark(one)
            if mark in _MARKS:
                found[str(one[mark])] = mark
            else:
                waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def shrunk(value: Json, blobs: dict[str, bytes]) -> Json:
    """The value with what is big replaced, as deep inside as it stands; small ones are not looked into."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        data = dumps(value)
        if len(data) <= TEXT_CHARS and b'{"$' not in data:
            return value
    return _walked(value, blobs)[0]


def _walked(value: Json, blobs: dict[str, bytes]) -> tuple[Json, int]:
    """What stands in its place, and about how many bytes that takes."""
    match value:
        case str():
            if len(value) <= TEXT_CHARS:
                return value, len(value) + 2
            return _blob("$text", value.encode("utf-8", "surrogatepass"), blobs)
        case list():
            rows = [_walked(one, blobs) for one in value]
            return _unless_big([one for one, _ in rows], sum(size + 1 for _, size in rows), blobs)
        case dict():
            pairs = {name: _walked(one, blobs) for name, one in value.items()}
            size = sum(len(name) + 4 + size for name, (_, size) in pairs.items())
            escape = "$" if _mark(value) else ""
            return _unless_big({f"{escape}{name}": one for name, (one, _) in pairs.items()}, size, blobs)
        case _:
            return value, 8


def _unless_big(value: Json, size: int, blobs: dict[str, bytes]) -> tuple[Json, int]:
    return (value, size) if size <= VALUE_BYTES else _blob("$json", dumps(value), blobs)


def _blob(mark: str, data: bytes, blobs: dict[str, bytes]) -> tuple[Json, int]:
    sha = hashlib.sha256(data).hexdigest()
    blobs[sha] = data
    return {mark: sha}, len(sha) + 12


class PutBack:
    """Big values back in their places, for one line. One that stands in several places is read once, and is the same object."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._known: dict[tuple[str, str], tuple[Json, int, int]] = {}  # by mark and sha256: value, bytes, level it was put at
        self._kept = 0  # bytes of different values
        self._bytes = 0  # of all that was put back

    def value(self, value: Json, level: int = 0) -> Json:
        if level > LEVELS:
            raise BadLine(f"nested deeper than {LEVELS} levels")
        match value:
            case list():
                return [self.value(one, level + 1) for one in value]
            case dict():
                name = _mark(value)
                if not name:
                    return {key: self.value(one, level + 1) for key, one in value.items()}
                if name in _MARKS:
                    return self._content(name, value[name], level)
                return {name[1:]: self.value(value[name], level + 1)}
            case _:
                return value

    def _content(self, mark: str, sha: Json, level: int) -> Json:
        if not isinstance(sha, str):
            raise BadLine(f"{mark} needs the sha256 of a value, not {sha!r}"[:200])
        known = self._known.get((mark, sha))
        if known is None or known[2] < level:
            known = self._read(mark, sha, level)
            self._known[mark, sha] = known
        else:
            self._bytes += known[1]
        most = max(_PUT_BACK_BYTES, _PUT_BACK_TIMES * self._kept)
        if self._bytes > most:
            raise BadLine(f"its big values come to more than {most:,} bytes, put back in their places")
        return known[0]

    def _read(self, mark: str, sha: str, level: int) -> tuple[Json, int, int]:
        before = self._bytes
        data = self._blob(sha)
        if hashlib.sha256(data).hexdigest() != sha:
            raise MissingValue(f"the value {sha[:12]}… is not what it was: its sha256 differs")
        self._kept += len(data)
        self._bytes += len(data)
        value = _text(data, sha) if mark == "$text" else self.value(parsed(data, sha), level + 1)
        return value, self._bytes - before, level


def _text(data: bytes, sha: str) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise MissingValue(f"the value {sha[:12]}… is no text") from None


def parsed(data: bytes, sha: str) -> Json:
    try:
        return loads(data)
    except ValueError as error:
        raise MissingValue(f"the value {sha[:12]}… is no JSON: {error}") from None


def _mark(value: Mapping[str, Json]) -> str:
    """The one name of an object that could be taken for a reference; it is written with another $ in front."""
    if len(value) != 1:
        return ""
    name = next(iter(value))
    return name if name.startswith("$") else ""
