"""Items and views for the tests of condensing."""

from typing import Any

from harness.condense import Flags, condense
from harness.condense.record import Condensed, Item, Shape
from harness.limits import DEFAULT_SHOWN_LIMITS, ShownLimits
from harness.seen import Seen

HANDLE = "T2.1"
ROOM = 24_576
DEFAULT_FLAGS = Flags()


def shown(
    value: Any, shape: Shape = "text", *, view: Seen | None = None, limits: ShownLimits = DEFAULT_SHOWN_LIMITS, room: int = ROOM,
    small_file_free: bool = True, flags: Flags = DEFAULT_FLAGS, **rest: Any,
) -> Condensed:  # fmt: skip
    item = Item(handle=HANDLE, value=value, shape=shape, **rest)
    return condense(item, view or Seen(), limits, room=room, small_file_free=small_file_free, flags=flags)


def seeing(text: str, *, handle: str = "T1.1") -> Seen:
    view = Seen()
    view.add(1, handle, text)
    return view


def numbered(count: int, *, width: int = 20) -> str:
    return "\n".join(f"line {at} ".ljust(width, "x") for at in range(1, count + 1))
