"""From a worker's outline to checked `Use` records. Pure.

The worker is not trusted: sizes, counts, kinds and ranges are checked, and what does not fit raises `WireError`.
"""

from typing import Any

from sandbox import values
from sandbox.errors import WireError
from sandbox.messages import BUILTINS, Member, Sketch, Use

REPLY_BYTES = 8 * 1024 * 1024  # 20,000 sketches, 256 KiB of texts and the longest names, each byte of them escaped, fit
USES_MAX = 2_000  # the same numbers that outline.py and literals.py keep
SKETCHES_MAX = 20_000
_DEPTH_MAX = 32
_TEXT_CHARS = 2_048
_NAME_CHARS = 200
_STEPS_MAX = 12
_PLAIN = (str, int, float, bool, type(None))
_KINDS = frozenset({"value", "text", "undefined", "function", "promise", "list", "object", "unknown"})
_ROOTS = BUILTINS | {"tools"}
_FATES = frozenset({
    "awaited", "returned", "dropped", "assigned", "unused", "aliased", "passed", "chained", "caught", "kept", "used", "void",
    "member", "iterated", "text", "compared", "tested", "unjoined", "lost",
})  # fmt: skip


def read_uses(reply: bytes | memoryview | str) -> tuple[Use, ...]:
    if len(reply) > REPLY_BYTES:
        raise WireError(f"an outline of {len(reply)} bytes; {REPLY_BYTES} are allowed")
    listed = values.decode(reply, _DEPTH_MAX)
    if type(listed) is not list or len(listed) > USES_MAX:
        raise WireError(f"an outline is a list of at most {USES_MAX} uses")
    reader = _Reader()
    try:
        return tuple(reader.use(*row) for row in listed)
    except (TypeError, ValueError) as error:  # a wrong number or kind of fields
        raise WireError("not a use of a tool") from error


class _Reader:
    def __init__(self) -> None:
        self._left = SKETCHES_MAX + USES_MAX

    def use(
        self, root: str, steps: list[Any], start: int, end: int, called: bool, args: list[Any], more_args: bool,
        fate: str, detail: str, detail_at: int, guarded: bool, repeated: bool, conditional: bool, within: bool,
    ) -> Use:  # fmt: skip
        _demand(type(root) is str and root in _ROOTS and type(fate) is str and fate in _FATES)
        _demand(type(steps) is list and len(steps) <= _STEPS_MAX and type(args) is list)
        path = [(_name(name), _span(first, last)) for name, first, last in steps]
        return Use(
            root, tuple(name for name, _ in path), tuple(place for _, place in path), *_span(start, end), _flag(called),
            tuple(self._sketch(arg) for arg in args), _flag(more_args), fate, _name(detail), _span(detail_at, detail_at)[0],
            _flag(guarded), _flag(repeated), _flag(conditional), _flag(within),
        )  # fmt: skip

    def _sketch(self, told: list[Any]) -> Sketch:
        kind, start, end, content, is_open = told
        self._left -= 1
        _demand(self._left >= 0 and type(kind) is str and kind in _KINDS)
        start, end = _span(start, end)
        if kind == "value":
            _demand(type(content) in _PLAIN and (type(content) is not str or len(content) <= _TEXT_CHARS))
            return Sketch(kind, start, end, content)
        if kind not in ("list", "object"):
            return Sketch(kind, start, end)
        _demand(type(content) is list)
        if kind == "list":
            return Sketch(kind, start, end, items=tuple(self._sketch(item) for item in content), open=_flag(is_open))
        return Sketch(kind, start, end, members=tuple(self._member(*member) for member in content), open=_flag(is_open))

    def _member(self, name: str, start: int, end: int, told: list[Any]) -> Member:
        _demand(type(name) is str and len(name) <= _TEXT_CHARS)
        return Member(name, *_span(start, end), self._sketch(told))


def _demand(holds: bool) -> None:
    if not holds:
        raise WireError("not a use of a tool")


def _name(value: Any) -> str:
    _demand(type(value) is str and len(value) <= _NAME_CHARS)
    return str(value)


def _flag(value: Any) -> bool:
    _demand(type(value) is bool)
    return bool(value)


def _span(start: Any, end: Any) -> tuple[int, int]:
    _demand(type(start) is int and type(end) is int and 0 <= start <= end < 2**31)
    return start, end
