"""Who may call a tool: scripts, the model directly, or both. A direct call is a turn of one call, so it passes the same guards,
and is condensed and put on record as any other.
"""

import hashlib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

import orjson

from catalog import Offer

Use: TypeAlias = Literal["script", "direct", "both"]
Callers: TypeAlias = Mapping[str, Use]  # pattern of tools to who may call them; the first that fits decides
Caller: TypeAlias = Literal["script", "direct"]
USES: Final = ("script", "direct", "both")
_NAME_CHARS: Final = 64  # the most that models' interfaces take
_LITERAL_BYTES: Final = 65_536  # of arguments that stand in the script's text; more arrive as its context
_NO_LITERAL: Final = re.compile(r'"__proto__"|\d{16}')  # no member there; a number that may be too large to be exact
GIVEN: Final = "arguments"  # their name there


def use_of(tool: str, callers: Callers) -> Use:
    """Scripts only, unless told."""
    return next((use for pattern, use in callers.items() if fnmatchcase(tool, pattern)), "script")


def offer_to(offer: Offer, callers: Callers, caller: Caller) -> Offer:
    """What this caller may call; the rest is refused with the way to call it. Without rules nothing is kept from anybody."""
    if not callers:
        return offer
    tools = {name: tool for name, tool in offer.tools.items() if use_of(name, callers) in (caller, "both")}
    refused = {
        name: f"{name} is called directly, not from a script: call the tool {direct_name(name)}"
        if caller == "script"
        else f"{name} is called from scripts: await tools.{name}({{ … }})"
        for name in offer.tools
        if name not in tools
    }
    return Offer(tools, {name: offer.homes[name] for name in tools}, {**offer.refused, **refused})


def direct_name(tool: str) -> str:
    """What a model's interface calls it: `files.read` is files__read."""
    made = tool.replace(".", "__").replace("$", "_")
    if len(made) <= _NAME_CHARS and "$" not in tool:  # what is replaced or cut gets a mark of its own, so that no two are one
        return made
    return f"{made[: _NAME_CHARS - 9]}_{hashlib.sha256(tool.encode()).hexdigest()[:8]}"


def direct_script(tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The script of a direct call, and its context."""
    try:
        text = orjson.dumps(arguments, option=orjson.OPT_INDENT_2 if len(arguments) > 1 else 0).decode()
    except TypeError:  # half a character, a number of 30 digits: what becomes of them on the way in, becomes of them here
        text = ""
    if not text or len(text) > _LITERAL_BYTES or _NO_LITERAL.search(text):
        return f"return await tools.{tool}(context.{GIVEN});\n", {GIVEN: dict(arguments)}
    return f"return await tools.{tool}({text});\n", {}
