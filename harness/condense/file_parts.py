"""Which lines of which files a value holds: `files.read`'s value, several of them, or a text with its origin. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.condense.page import size_of
from harness.condense.record import Item, Json, Origin
from harness.condense.text import encodable, lines_of


@dataclass(frozen=True, slots=True)
class Stretch:
    """One unbroken run of a file's lines. `size`: bytes of the lines with their ends; `produced`: of the text as it came."""

    origin: Origin
    lines: Sequence[str]
    size: int
    produced: int

    @property
    def last(self) -> int:
        return self.origin.first + len(self.lines) - 1

    def name(self) -> str:
        return self.origin.path.replace("\n", "\\n")

    def heading(self) -> str:
        return f"[{self.name()} {self.origin.first}-{self.last}]" if self.lines else f"[{self.name()} empty]"


@dataclass(frozen=True, slots=True)
class Parts:
    stretches: list[Stretch]
    head: tuple[str, ...] = ()
    total: int = 0  # lines of the one file; 0: not known


def is_slice(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("path"), str) and isinstance(value.get("text"), str)


def is_slices(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(is_slice(one) and "lines" in one for one in value)


def stretches_of(item: Item) -> Parts:
    value = item.value
    if isinstance(value, str):
        return Parts([_stretch(item.origin or Origin(""), encodable(value))])
    if isinstance(value, list):
        several = [_of_value(one) for one in value]
        return several[0] if len(several) == 1 else Parts([stretch for parts in several for stretch in parts.stretches])
    return _of_value(value)


def _of_value(value: Json) -> Parts:
    path = encodable(value["path"])
    oid = value.get("oid") if isinstance(value.get("oid"), str) else ""
    parts = value.get("parts") or []
    if _are_parts(parts):
        stretches = [_stretch(Origin(path, oid, part["first"]), encodable(part["text"]) + "\n") for part in parts]
    else:
        text = encodable(value["text"])
        # The last line of a slice has no end, so a blank one shows as a text that ends with one.
        stretches = [_stretch(Origin(path, oid, _first(value)), text + "\n" if text.endswith("\n") else text)]
    total = value.get("total_lines")
    count = total if type(total) is int else 0
    return Parts(stretches, (_title(stretches, count),), count)


def _stretch(origin: Origin, text: str) -> Stretch:
    size = size_of(text)
    return Stretch(origin, lines_of(text), size + (bool(text) and not text.endswith("\n")), size)


def _are_parts(parts: Json) -> bool:
    return (
        isinstance(parts, list)
        and len(parts) > 1
        and all(isinstance(part, dict) and isinstance(part.get("text"), str) and type(part.get("first")) is int for part in parts)
    )


def _first(value: Json) -> int:
    match value.get("lines"):
        case [[int(first), int()], *_]:
            return max(1, first)
    return 1


def _title(stretches: Sequence[Stretch], total: int) -> str:
    """`src/a.py 1-160 of 412`"""
    which = ", ".join(f"{one.origin.first}-{one.last}" for one in stretches[:8] if one.lines)
    more = f" and {len(stretches) - 8} more" if len(stretches) > 8 else ""
    return f"{stretches[0].name()} {which or 'empty'}{more}{f' of {total}' if total else ''}"
