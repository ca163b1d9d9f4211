"""One session as one file that stands alone, to be kept in a repository: JSON lines only, read well in a diff.

A big value stands as a line of its own before the line that first needs it: {"v": 1, "type": "$value", "sha256": …, "text": …},
or with "json" instead of "text". Written at one go and never appended to.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from harness.store.given_files import lines_of, reading
from harness.store.jsonl_disk import sync_folder
from harness.store.lines import VERSION, BadLine, Kept, MissingValue, read_line

_VALUE = "$value"
_NAME_CHARS = 100  # of the name of a file, in that of the one beside it: names have a most length


def write_single(path: str | Path, kept: Iterable[Kept]) -> None:
    """Whole or not at all: a file that was there is replaced in one step. It may be read by whom the umask lets: unlike a store,
    it is made to be handed on.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name[:_NAME_CHARS]}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.writelines(_told(kept))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(str(path.parent))


def read_single(path: str | Path) -> list[Kept]:
    """BadLine names file and line. A line that was edited is read as it is; `first_break` tells that its digest differs."""
    path = Path(path)
    values: dict[str, bytes] = {}
    kept: list[Kept] = []

    def value(sha: str) -> bytes:
        try:
            return values[sha]
        except KeyError:
            raise MissingValue(f"the value {sha[:12]}… that it needs is not there") from None

    with reading(path, links=True) as file:
        lines = lines_of(file)
        number = 0
        while True:
            number += 1
            try:
                raw = next(lines, b"")
                if not raw:
                    return kept
                if b'"$value"' in raw and (own := _value_of(raw)) is not None:
                    values[own[0]] = own[1]
                else:
                    kept.append(Kept(read_line(raw), value))
                    kept[-1].blobs()  # they stand before it
            except BadLine as error:
                raise BadLine(f"{path}, line {number}: {error}") from None


def _told(kept: Iterable[Kept]) -> Iterator[bytes]:
    written: set[str] = set()
    for one in kept:
        for sha, content in one.blobs().items():
            if sha not in written:
                written.add(sha)
                yield _value_line(sha, content)
        yield one.line.to_bytes() + b"\n"


def _value_line(sha: str, content: bytes) -> bytes:
    """As JSON where writing that again gives the same bytes, else as a text: the sha256 is of the bytes."""
    head = {"v": VERSION, "type": _VALUE, "sha256": sha}
    if content[:1] in (b"{", b"["):
        try:
            parsed = orjson.loads(content)
            if orjson.dumps(parsed) == content:
                return orjson.dumps({**head, "json": parsed}) + b"\n"
        except (orjson.JSONDecodeError, TypeError):
            pass  # it goes as a text
    text = content.decode("utf-8", "surrogatepass")
    try:
        return orjson.dumps({**head, "text": text}) + b"\n"
    except TypeError:  # half a surrogate pair
        return json.dumps({**head, "text": text}, separators=(",", ":")).encode() + b"\n"


def _value_of(raw: bytes) -> tuple[str, bytes] | None:
    """None for another line in which the word stands."""
    told = _object(raw)
    if told.get("type") != _VALUE:
        return None
    sha, text = told.get("sha256"), told.get("text")
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else orjson.dumps(told.get("json"))
    if hashlib.sha256(content).hexdigest() != sha:
        raise MissingValue(f"the value {str(sha)[:12]}… is not what it was: its sha256 differs; record the session again")
    return sha, content


def _object(raw: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            told = json.loads(raw)
        except (ValueError, RecursionError):
            raise BadLine("not a whole JSON object") from None
    return told if isinstance(told, dict) else {}
