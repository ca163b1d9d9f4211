"""An entry with every free text in it changed by one rule: values, arguments, shown texts, messages, facts. Names stay as they
are: tools, handles, statuses, digests. The script is not free text: its calls stand at places in it (`scrubbing.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias, TypeVar

from harness.approval import Decision
from harness.call import Outcome
from harness.compose import ShownItem
from harness.condense.record import Origin, Reference
from harness.entries import (
    Began,
    Closed,
    Ended,
    Ending,
    Facts,
    Forgot,
    Git,
    Held,
    Item,
    Message,
    Opened,
    PackFacts,
    Reopened,
    Running,
    Said,
    Settled,
    Yielded,
)
from sandbox import Budget, ScriptError, Site

Json: TypeAlias = Any
Change: TypeAlias = Callable[[Json], Json]  # the same object where there is nothing to change
T = TypeVar("T")

_ENTRY = frozenset({"type", "session", "turn", "at"})
_AS_THEY_ARE: Mapping[type, frozenset[str]] = {
    Opened: _ENTRY,
    Reopened: _ENTRY,
    Facts: frozenset({"turnscript", "mode", "flags", "limits", "tools"}),
    Git: frozenset({"commit"}),
    PackFacts: frozenset({"digest"}),
    Began: _ENTRY | {"script", "sha256", "mode", "limits", "budget"},
    Running: _ENTRY | {"tool", "site"},
    Settled: _ENTRY | {"tool", "site", "budget"},
    Outcome: frozenset({"status", "by", "source", "of", "in_view"}),
    Held: _ENTRY | {"handle"},
    Yielded: _ENTRY,
    Ended: _ENTRY | {"layers"},
    Ending: frozenset({"how", "limit", "pending", "unawaited"}),
    Said: frozenset({"how"}),
    ShownItem: frozenset({"handle", "kind", "trimmed"}),
    Reference: frozenset({"handle", "lines", "oid", "chunk_ids", "numbering"}),
    Origin: frozenset({"oid"}),
    Decision: frozenset({"request", "call", "tool", "verdict", "by", "remembered"}),
    ScriptError: frozenset({"origin"}),
    Site: frozenset({"line", "column", "ordinal"}),
    Budget: frozenset({"tools"}),
    Forgot: _ENTRY | {"turns"},
    Message: _ENTRY | {"role"},
    Item: _ENTRY | {"format", "kind"},
    Closed: _ENTRY,
}
_NOTHING: frozenset[str] = frozenset()


def each_text(value: Json, change: Callable[[str], str]) -> Json:
    """A JSON value with its texts and keys changed. Two keys that become one are still two members."""
    match value:
        case str():
            return change(value)
        case Mapping():
            members: dict[str, Json] = {}
            for name, member in value.items():
                members[_unused(change(name), members)] = each_text(member, change)
            return members
        case list():
            return [each_text(one, change) for one in value]
        case tuple():
            return tuple(each_text(one, change) for one in value)
        case _:
            return value


def changed(record: T, change: Change) -> T:
    """A record, and those inside it; itself where nothing changed."""
    kept = _AS_THEY_ARE.get(type(record), _NOTHING)
    new = {}
    for field in fields(record):  # type: ignore[arg-type]
        old = getattr(record, field.name)
        if field.name in kept or old is None or isinstance(old, bool | int | float):
            continue
        told = _inside(old, change)
        if told is not old:
            new[field.name] = told
    return replace(record, **new) if new else record  # type: ignore[type-var]


def _inside(value: Any, change: Change) -> Any:
    match value:
        case tuple():
            told = tuple(_inside(one, change) for one in value)
            return value if all(one is old for one, old in zip(told, value, strict=True)) else told
        case Mapping() if any(is_dataclass(one) for one in value.values()):
            rows = {name: _inside(one, change) for name, one in value.items()}
            return value if all(rows[name] is one for name, one in value.items()) else rows
        case _ if is_dataclass(value):
            return changed(value, change)
        case _:
            return change(value)


def _unused(name: str, members: Mapping[str, Json]) -> str:
    number, shown = 2, name
    while shown in members:
        shown, number = f"{name} ({number})", number + 1
    return shown
