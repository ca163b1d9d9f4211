"""What condensing takes and gives. Plain records; the work is in the files beside this one, one shape each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.line_numbers import Numbering

Json: TypeAlias = Any
Shape: TypeAlias = Literal["json", "text", "slice", "hits", "output", "build", "patch"]
Cause: TypeAlias = Literal["cap", "in_view", "condensed"]  # why bytes of a value are not in its text


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from: a file's lines from `first` on. `oid` is the git blob id of the file's bytes, "" if not known."""

    path: str
    oid: str = ""
    first: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """Lines that are in the model's view already, instead of the lines themselves.

    They are lines `first` to `last` of the text shown under `handle` (from 1, both included; a reference in that text counts as
    the lines behind it, so the count stays true when they are put back). When they are lines of a known file, `path`, `lines` and
    `oid` say which, and `chunk_ids` name the content-addressed chunks that hold them. `numbering`: only line numbers differ.
    """

    handle: str
    first: int
    last: int
    path: str = ""
    lines: tuple[int, int] | None = None
    oid: str = ""
    chunk_ids: tuple[str, ...] = ()
    numbering: Numbering | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One value to show. Secrets are out of it and control characters made visible before it comes here."""

    handle: str  # under which the whole value can be recalled: "T12.3"
    value: Json
    shape: Shape
    origin: Origin | None = None  # of a text
    command: str = ""  # that printed a text
    exit_code: int | None = None
    terms: tuple[str, ...] = ()  # what the script looked for: lines with them are kept first
    lines_max: int | None = None  # what the script asked for with show(value, {lines, max_bytes}); never above the caps
    bytes_max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """`text` is what the model sees, without the handle's label. `trimmed`: bytes that are not in it, by cause.

    `whole`: nothing was cut; everything is there or behind a reference. `placed`: for each line of `text` that is a line of a
    known file, its index (from 0) and where it stands there.
    """

    text: str
    produced: int  # bytes of the value as it would be shown without any limit
    trimmed: Mapping[Cause, int] = field(default_factory=dict)
    whole: bool = True
    references: tuple[tuple[int, Reference], ...] = ()  # index of the line in text, reference
    placed: tuple[tuple[int, int, Origin], ...] = ()  # index of the first line, how many, where they stand
    small_file: bool = False  # the one exception of the turn was used
