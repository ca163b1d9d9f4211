"""Times as people type and read them: 2026-11-18, 2026-11-18T12:00, or 30m, 3h, 2d, 4w ago. Typed and shown in local time."""

import re
from datetime import datetime

from harness.cli.fault import Fault

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def span(option: str, told: str) -> float:
    """Seconds."""
    found = _AGO.fullmatch(told.strip())
    if found is None:
        raise Fault(f"{option} {told}: write a number and s, m, h, d or w, such as 30d")
    return float(found[1]) * _SECONDS[found[2]]


def moment(option: str, told: str | None, now: float) -> float | None:
    """Seconds since 1970."""
    if told is None:
        return None
    found = _AGO.fullmatch(told.strip())
    if found is not None:
        return now - float(found[1]) * _SECONDS[found[2]]
    try:
        return datetime.fromisoformat(told.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise Fault(
            f"{option} {told}: write a date such as 2026-11-18 or 2026-11-18T12:00, or a time ago such as 2d or 3h"
        ) from None


def local(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")
