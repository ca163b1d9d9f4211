"""A member that is not there, told with the ones that are: the results of a turn's calls say what a script could have meant."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from catalog.nearest import nearest
from sandbox import Reject, Resolve, ScriptError

_MISSING = re.compile(r"cannot (?:read|set) property '[^']*' of undefined: .*?\.\s*([\w$]+) is undefined")
_NODES = 2_000  # looked at in all results together
_TOLD = 12


def with_members(error: ScriptError, settled: Iterable[Resolve | Reject]) -> ScriptError:
    """`item.prize is undefined` gets the hint `did you mean price?` when a result of this turn has it."""
    missing = _MISSING.fullmatch(error.message)
    if missing is None or error.hint or error.origin == "sandbox":
        return error
    members = _members(command.value for command in settled if isinstance(command, Resolve))
    if not members or missing[1] in members:
        return error
    near = nearest(missing[1], members)
    guess = f"did you mean {near}? " if near else ""
    listed = ", ".join(members[:_TOLD]) + (", …" if len(members) > _TOLD else "")
    return replace(error, hint=f"{guess}the results of this script's calls have: {listed}")


def _members(values: Iterable[Any]) -> list[str]:
    """The names of members, those nearest to the top first."""
    names: dict[str, None] = {}
    waiting = deque(values)
    for _ in range(_NODES):
        if not waiting:
            break
        value = waiting.popleft()
        if isinstance(value, dict):
            names |= dict.fromkeys(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value[:50])
    return list(names)
