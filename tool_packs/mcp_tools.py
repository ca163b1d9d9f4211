"""From what another server lists to tools: names that scripts can write, schemas that are safe to judge by, what a call touches.

A server is believed where it is strict with itself. That a tool only reads is its claim: such a call runs unasked, unless the
settings say `approval = "always"`. That a tool is harmless, or may be repeated, is believed of trusted servers only.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from catalog import BadPack, Facts, Host, Tool, facts_of, tool_from_schema
from catalog.effects import Effect
from catalog.nearest import nearest
from catalog.schema import identifier
from tool_packs.mcp_schemas import input_schema_of, output_schema_of
from tool_packs.mcp_settings import McpSettings, Server

DOC_CHARS_MAX = 8_192
NAME_CHARS_MAX = 256
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]")  # what a terminal or reader obeys


@dataclass(frozen=True, slots=True)
class Listed:
    """One tool as the server lists it, read and cut. `name` is its own; the hints are None where it gives none."""

    name: str
    doc: str
    input_schema: Any
    output_schema: Any
    reads_only: bool | None
    destroys: bool | None
    may_repeat: bool | None


def listed_from(told: Any) -> Listed | None:
    """None for an item that is no tool: it has no name."""
    if not isinstance(told, Mapping) or not isinstance(told.get("name"), str) or not told["name"]:
        return None
    hints = told.get("annotations") if isinstance(told.get("annotations"), Mapping) else {}
    assert isinstance(hints, Mapping)
    said = next((one for one in (told.get("description"), told.get("title"), hints.get("title")) if isinstance(one, str)), "")
    return Listed(
        told["name"][:NAME_CHARS_MAX], clean_text(said, DOC_CHARS_MAX), told.get("inputSchema"), told.get("outputSchema"),
        *(hints.get(hint) if isinstance(hints.get(hint), bool) else None for hint in _HINTS),
    )  # fmt: skip


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint")


def clean_text(text: str, most: int) -> str:
    """Without what a terminal would obey, and cut."""
    plain = _CONTROL.sub("", text[: most * 2]).strip()
    return plain if len(plain) <= most and len(text) <= most * 2 else f"{plain[:most]}… (cut)"


def chosen(listed: Iterable[Listed], settings: McpSettings) -> list[Listed]:
    """Those that `tools` and `without` leave."""
    return [
        one
        for one in listed
        if (settings.tools is None or _fits(one.name, settings.tools)) and not _fits(one.name, settings.without)
    ]


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, one) or fnmatchcase(identifier(name), one) for one in patterns)


def check_names(server: Server, names: Iterable[str]) -> None:
    """A pattern or a name in the settings that fits no tool is an error: nothing is ignored."""
    known, settings = list(names), server.settings
    for key, patterns in (
        ("tools", settings.tools or ()), ("without", settings.without), ("rename", settings.rename), ("effects", settings.effects)
    ):  # fmt: skip
        for pattern in patterns:
            if not any(_fits(name, [pattern]) for name in known):
                near = nearest(pattern, known)
                guess = f"did you mean {near}?" if near else f"there are: {', '.join(known[:20])}{', …' if known[20:] else ''}"
                raise BadPack(f"{server.where} {key}: no tool fits {pattern!r}; {guess}")


def script_names(server: Server, names: Iterable[str]) -> list[str]:
    """Of the server's own names. Two that scripts would write alike are numbered, in the server's order."""
    rename = server.settings.rename
    taken: dict[str, None] = {}
    for own in names:
        wanted = rename.get(own) or rename.get(identifier(own)) or own
        base = name = identifier(wanted)[:NAME_CHARS_MAX]
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken[name] = None
    return list(taken)


def effect_of(listed: Listed, settings: McpSettings) -> Effect:
    told = settings.effects.get(listed.name) or settings.effects.get(identifier(listed.name))
    return told or ("reads" if listed.reads_only else "external")


def may_ask_again(listed: Listed, settings: McpSettings) -> bool:
    """After the connection broke, when nobody knows whether the call had run."""
    return effect_of(listed, settings) in ("pure", "reads") or (settings.trust and listed.may_repeat is True)


def facts_from(listed: Listed, server: Server) -> Facts:
    """Without a declared key, a tool that does not only read may touch everything: it runs alone."""
    settings, effect = server.settings, effect_of(listed, server.settings)
    match settings.approval:
        case "always":
            asks = True
        case "never":
            asks = False
        case _:
            asks = effect in ("writes", "external") and not (settings.trust and listed.destroys is False)
    # Our own clock says more than the guard's, so it is the first to ring: one attempt to connect, the call, and once more.
    seconds = 2 * (settings.call_seconds + settings.startup_seconds) + 10
    return facts_of(
        effect=effect, reads=(server.key,) if effect == "reads" else (), writes=(server.key,) if effect == "writes" else (),
        approval=asks, timeout_seconds=seconds,
    )  # fmt: skip


def tool_of(listed: Listed, name: str, server: Server, function: Callable[[Host, dict[str, Any]], Any]) -> Tool:
    """`function` takes the host that a session lends, and the arguments by name."""
    schema = input_schema_of(listed.input_schema)
    doc = listed.doc or f"{listed.name} of the MCP server {server.name}."
    made = tool_from_schema(
        name, schema.schema, _never, pack=server.name, facts=facts_from(listed, server),
        doc=f"{doc}\n\n(The server judges the arguments: {schema.note}.)" if schema.note else doc,
        output_schema=output_schema_of(listed.output_schema),
    )  # fmt: skip

    async def call(host: Host, arguments: dict[str, Any]) -> Any:
        return await function(host, arguments)

    return replace(made, name=name, resource="host", function=call)


async def _never(arguments: dict[str, Any]) -> Any:
    raise AssertionError("replaced by a function that takes the host too")
