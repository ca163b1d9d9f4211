"""A model's reply as it came over the wire, or as an SDK's objects: what the adapters of plain protocols read from it. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from harness.problems import told

_NONE: Final = object()


def member(item: Any, name: str, default: Any = _NONE) -> Any:
    """Of a dict or an object; null counts as missing, and what must be there raises."""
    found = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
    if found is not None:
        return found
    if default is _NONE:
        raise ValueError(f"{type(item).__name__} has no {name}: give the reply as it came, dicts or the SDK's objects")
    return default


def cut_off(name: str, reason: str) -> str:
    """What the model is told of a call whose end is missing."""
    problem = told("cut_off", name=name, reason=reason)
    return f"{problem.code}: {problem.message}\nhint: {problem.hint}"
