"""The short lines that say what is missing and how to get it. A mark names the handle of the whole value, ready to be copied.

Texts only: nothing of ours ever reads a mark back.
"""


def whole_by(handle: str) -> str:
    return f'await recall("{handle}")'


def lines_told(first: int, last: int, total: int = 0) -> str:
    """`lines 41-180 of 412`; a total of 0 is not told."""
    which = f"lines {first}-{last}" if last > first else f"line {first}"
    return f"{which} of {total}" if total else which


def gap(told: str, *, handle: str) -> str:
    """`[lines 41-180 of 412 cut: await recall("T12.3")]`"""
    return f"[{told}: {whole_by(handle)}]"


def rows_cut(missing: int, total: int, *, handle: str) -> str:
    return f"[{missing:,} of {total:,} rows cut: {whole_by(handle)}]"


def characters_cut(missing: int, *, handle: str) -> str:
    return f"…[{missing:,} characters cut: {whole_by(handle)}]…"


def sketched(size: int, *, handle: str) -> str:
    return f"[a sketch of {size:,} bytes of JSON; all of it: {whole_by(handle)}]"


def shortest(handle: str, room: int) -> str:
    """When there is no room for more. Nothing, when there is not even room for the handle."""
    for text in (f"[cut: {whole_by(handle)}]", f"[cut: {handle}]"):
        if len(text.encode()) <= room:
            return text
    return ""


def clipped(text: str, room: int, *, handle: str, keep: tuple[int, int] | None = None) -> str:
    """At most `room` bytes of one line; the characters that are missing are counted in it.

    `keep`: the characters that matter most; else three quarters of the room go to the begin, the rest to the end.
    """
    if len(text.encode()) <= room:
        return text
    spare = room - 2 * len(characters_cut(len(text), handle=handle).encode()) if keep else 0
    if keep is not None and spare >= 16:
        return _around(text, spare, keep, handle=handle)
    spare = room - len(characters_cut(len(text), handle=handle).encode())
    if spare < 8:
        return shortest(handle, room)
    begin = _fitting(text, spare * 3 // 4)
    end = _fitting(text[::-1], spare - len(begin.encode()))[::-1]
    return begin + characters_cut(len(text) - len(begin) - len(end), handle=handle) + end


def _around(text: str, spare: int, keep: tuple[int, int], *, handle: str) -> str:
    first, last = keep
    middle = _fitting(text[first:last], spare)
    left = _fitting(text[:first][::-1], (spare - len(middle.encode())) // 2)[::-1]
    right = _fitting(text[first + len(middle) :], spare - len(middle.encode()) - len(left.encode()))
    before, after = first - len(left), len(text) - first - len(middle) - len(right)
    return (
        (characters_cut(before, handle=handle) if before else "")
        + left + middle + right
        + (characters_cut(after, handle=handle) if after else "")
    )  # fmt: skip


def _fitting(text: str, room: int) -> str:
    """The longest begin of at most that many bytes."""
    part = text[: max(0, room)]
    if part.isascii():
        return part
    return part.encode()[: max(0, room)].decode("utf-8", "ignore")
