"""Looking into JSON that others wrote: a member of the wrong type is as good as none. Every format reads through these."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson


def members(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def joined(content: Any) -> str:
    """The texts of a message: one string, or parts with a member `text`. Pictures and the like have none."""
    return content if isinstance(content, str) else "\n".join(_texts(content))


def _texts(content: Any) -> Iterator[str]:
    for part in listed(content):
        text = part if isinstance(part, str) else text_of(members(part).get("text"))
        if text:
            yield text


def parsed(text: Any) -> Mapping[str, Any]:
    """Arguments of a call: an object, or one written as a string. Other text stands under `input`."""
    if isinstance(text, dict):
        return text
    if not isinstance(text, str) or not text:
        return {}
    try:
        value = orjson.loads(text)
    except ValueError:
        return {"input": text}
    return value if isinstance(value, dict) else {"input": text}


def seconds(stamp: Any) -> float | None:
    """Since 1970, from ISO 8601 or a number. A time without a zone is taken as UTC."""
    if isinstance(stamp, int | float) and not isinstance(stamp, bool):
        return round(float(stamp), 6) if 0 < stamp < 1e11 else None
    if not isinstance(stamp, str):
        return None
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return round(when.timestamp(), 6) if when.year >= 1970 else None


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def json_text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a surrogate pair
        return str(value)
