"""What a script's text shows of its calls, as the catalogue sees it: the shape that `sandbox` gives, without importing it.

Places are byte offsets into the script. A sketch of kind "value" is a literal, "list" and "object" hold sketches, the other
kinds ("text", "undefined", "function", "promise", "unknown") say what is known instead of a value.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import orjson

UNKNOWN = "…"
_TEXT_CHARS = 60


class Sketch(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def value(self) -> Any: ...
    @property
    def items(self) -> Sequence["Sketch"]: ...
    @property
    def members(self) -> Sequence["Member"]: ...
    @property
    def open(self) -> bool: ...


class Member(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def sketch(self) -> Sketch: ...


class Use(Protocol):
    @property
    def root(self) -> str: ...
    @property
    def path(self) -> Sequence[str]: ...
    @property
    def places(self) -> Sequence[tuple[int, int]]: ...
    @property
    def start(self) -> int: ...
    @property
    def called(self) -> bool: ...
    @property
    def args(self) -> Sequence[Sketch]: ...
    @property
    def more_args(self) -> bool: ...
    @property
    def fate(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def detail_at(self) -> int: ...
    @property
    def guarded(self) -> bool: ...
    @property
    def repeated(self) -> bool: ...
    @property
    def conditional(self) -> bool: ...
    @property
    def within(self) -> bool: ...


Place: TypeAlias = Callable[[int], tuple[int, int, str]]  # byte offset to line, column and the line with a caret under the place


def is_known(sketch: Sketch) -> bool:
    """To the last member: the call will get exactly this."""
    if sketch.kind in ("list", "object"):
        inside = [*sketch.items, *(member.sketch for member in sketch.members)]
        return not sketch.open and all(is_known(one) for one in inside)
    return sketch.kind in ("value", "undefined")


def value_of(sketch: Sketch) -> Any:
    """The JSON that a known sketch becomes on its way to the host."""
    match sketch.kind:
        case "list":
            return [value_of(item) for item in sketch.items]
        case "object":
            return {member.name: value_of(member.sketch) for member in sketch.members if member.sketch.kind != "undefined"}
        case _:
            return sketch.value


def every(sketch: Sketch) -> Iterator[Sketch]:
    """It and all that is inside, in the order of the text."""
    yield sketch
    for one in (*sketch.items, *(member.sketch for member in sketch.members)):
        yield from every(one)


def shown(sketch: Sketch) -> str:
    """As a script would write it, with … for what is not known."""
    match sketch.kind:
        case "value":
            text = orjson.dumps(sketch.value).decode()
            return text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 2] + '…"'
        case "list":
            return f"[{', '.join([*map(shown, sketch.items), *([UNKNOWN] if sketch.open else [])])}]"
        case "object":
            members = [f"{_key(member.name)}: {shown(member.sketch)}" for member in sketch.members]
            told = ", ".join([*members, *([UNKNOWN] if sketch.open else [])])
            return f"{{ {told} }}" if told else "{}"
        case "undefined":
            return "undefined"
        case _:
            return UNKNOWN


def _key(name: str) -> str:
    return name if name.isidentifier() else orjson.dumps(name).decode()
