"""JSON as lines have it: numbers of any size and half characters come back as they were, and nesting has a bound.

orjson where it can; `json` reads and writes the rest.
"""

import json
from typing import Any, Final

import orjson

from harness.entries import Json

LEVELS: Final = 250  # of nesting; pydantic writes no more
_DIGITS: Final = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord(" ") for byte in range(256))
_LONG: Final = b"0" * 19


def dumps(value: Json) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # half a surrogate pair, a number beyond 64 bits
        return json.dumps(value, separators=(",", ":")).encode()


def loads(text: bytes) -> Json:
    """ValueError for what is no JSON, and for what is nested too deep."""
    try:
        value = _read_json(text)
    except RecursionError:
        raise ValueError(f"nested deeper than {LEVELS} levels") from None
    if text.count(b"[") + text.count(b"{") > LEVELS and _is_deep(value):
        raise ValueError(f"nested deeper than {LEVELS} levels")
    return value


def _read_json(text: bytes) -> Json:
    if _LONG in text.translate(_DIGITS):  # a number beyond 64 bits, perhaps: orjson would read it as a float
        return json.loads(text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def _is_deep(value: Json) -> bool:
    try:
        orjson.dumps(value)  # which takes 254 levels, and is quicker than looking
    except TypeError:
        waiting = [(value, 1)]
        while waiting:
            one, level = waiting.pop()
            if level > LEVELS:
                return True
            inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
            waiting += [(each, level + 1) for each in inner if isinstance(each, dict | list)]
    return False


def plain(value: Any) -> Json:
    match value:
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return value
