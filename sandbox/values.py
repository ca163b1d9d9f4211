"""JSON text to values and back, with one documented result for what JSON cannot say.

Out of the engine: a lone surrogate becomes U+FFFD. Into the engine: integers beyond 2**53 - 1 become decimal text (as a
BigInt does on its way out), lone surrogates U+FFFD, NaN and infinities null. Depth is capped both ways, since the
other side, or the code that gets the value, may walk it by recursion.
"""

import re
from math import isfinite
from typing import Any

import orjson

from sandbox.errors import WireError

_SAFE = 2**53 - 1
CONTAINERS_MAX = 500_000  # in one reply: a small one becomes 60 to 100 bytes of Python
_TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_LARGE = 1 << 20
_SMALL = 4096  # up to here counting brackets is cheaper than walking the value


class TooDeep(ValueError):
    pass


def decode(text: str | bytes | memoryview, depth_max: int) -> Any:
    """Parse text from the other side. Raises WireError for what no engine would send."""
    if len(text) > _LARGE and _brackets(text) > CONTAINERS_MAX and _containers(text) > CONTAINERS_MAX:
        raise WireError(f"more than {CONTAINERS_MAX} lists and objects at once")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _decode_with_surrogates(text)
    except RecursionError:
        raise WireError("JSON is nested too deeply") from None
    if (len(text) > _SMALL or _brackets(text) > depth_max) and depth_over(value, depth_max):
        raise WireError(f"JSON is nested deeper than {depth_max} levels")
    return value


def _decode_with_surrogates(text: str | bytes | memoryview) -> Any:
    """The engine writes a lone surrogate as \\ud800, which orjson refuses and Python's own parser lets through."""
    import json  # only on this rare road

    raw = text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")
    if "\\ud" not in raw.lower():
        raise WireError("not JSON")
    try:
        return _mend(json.loads(raw, parse_constant=_refuse, parse_float=_finite))
    except (ValueError, RecursionError):
        raise WireError("not JSON") from None


def _brackets(text: str | bytes | memoryview) -> int:
    """How many brackets open at all: no value is deeper than that."""
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    raw = bytes(text)
    return raw.count(b"[") + raw.count(b"{")


def _containers(text: str | bytes | memoryview) -> int:
    """How many lists and objects open, outside of text."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)
    bare = _TEXTS.sub(b"", raw)
    return bare.count(b"[") + bare.count(b"{")


def encode(value: Any, depth_max: int) -> bytes:
    """JSON of a host's value. Raises TooDeep, or TypeError for what is not JSON at all."""
    if isinstance(value, list | dict | tuple) and depth_over(value, depth_max):
        raise TooDeep(f"the value is nested deeper than {depth_max} levels")
    try:
        return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return orjson.dumps(_mend(value), option=orjson.OPT_NON_STR_KEYS)


def depth_over(value: Any, depth_max: int) -> bool:
    """Is a list or dict nested deeper than that? Level by level, without recursion."""
    level: list[Any] = [value] if isinstance(value, list | dict | tuple) else []
    for _ in range(depth_max):
        if not level:
            return False
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | dict | tuple)
        ]
    return bool(level)


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text)


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and not isinstance(value, bool) and not -_SAFE <= value <= _SAFE:
        return str(value)
    if isinstance(value, dict):
        return {_mend(key) if isinstance(key, str) else key: _mend(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mend(item) for item in value]
    return value
