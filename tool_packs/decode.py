"""From the bytes of a file to its text: which encoding, which line ends, or that it is no text at all. Pure.

UTF-8, and UTF-16/32 with a mark at the start, are certain. Text that is none of them is read as latin-1, a byte a character, and
says that this was a guess. A NUL, or many control characters, makes it binary. Text always has "\\n" alone between lines.
"""

import codecs
import hashlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog import ToolProblem

Newline: TypeAlias = Literal["lf", "crlf", "mixed"]

_MARKS = (  # UTF-32's mark begins with UTF-16's, so it is asked for first
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
_SAMPLE = 8_192
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\b\x1b") + b"\x7f"
_CONTROLS_MOST = 0.05  # of the sample: more is not text in any one-byte encoding


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str  # "\n" between lines, whatever the file has
    encoding: str
    guessed: bool
    newline: Newline


def blob_id(data: bytes) -> str:
    """The id git gives this content."""
    return blob_hash(len(data), data).hexdigest()


def blob_hash(size: int, data: bytes = b"") -> "hashlib._Hash":
    made = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    made.update(data)
    return made


def decode(data: bytes, path: str) -> Decoded:
    text, encoding, guessed = _text(data, path)
    pairs = text.count("\r\n")
    newline = newline_kind(pairs, text.count("\n"))
    return Decoded(text.replace("\r\n", "\n") if pairs else text, encoding, guessed, newline)


def newline_kind(pairs: int, all_ends: int) -> Newline:
    if pairs == 0:
        return "lf"
    return "crlf" if pairs == all_ends else "mixed"


def is_binary(sample: bytes) -> bool:
    """Of bytes that are not marked as UTF-16 or UTF-32."""
    return b"\0" in sample


def looks_binary(sample: bytes) -> bool:
    """Of bytes that are not UTF-8 either."""
    sample = sample[:_SAMPLE]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > _CONTROLS_MOST * len(sample)


def mark_of(data: bytes) -> tuple[bytes, str, str] | None:
    """The mark at the start: its bytes, the name of the encoding, the codec for what follows."""
    return next((row for row in _MARKS if data.startswith(row[0])), None)


def binary_file(path: str, size: int) -> ToolProblem:
    return ToolProblem(
        "binary_file",
        f"{path} is a binary file of {size:,} bytes, not text",
        hint="files.stat gives its size; files.image takes png, jpeg, gif and webp",
        data={"path": path, "bytes": size},
    )


def _text(data: bytes, path: str) -> tuple[str, str, bool]:
    mark = mark_of(data)
    if mark is not None:
        start, name, codec = mark
        try:
            return data[len(start) :].decode(codec), name, False
        except UnicodeDecodeError:
            if b"\0" in data:
                raise binary_file(path, len(data)) from None
    if is_binary(data):
        raise binary_file(path, len(data))
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError:
        if looks_binary(data):
            raise binary_file(path, len(data)) from None
        return data.decode("latin-1"), "latin-1", True
