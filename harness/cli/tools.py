"""`turnscript tools`: what is on offer, for people and for programs; `docs/tools.md` is its `--format md`."""

import json
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from catalog import Offer, Tool
from catalog.brief import brief
from catalog.declare import declarations, signature
from catalog.search import search
from harness.bridges import bridges_from
from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Profile
from harness.cli.packs import bridges_named, offer_of_settings
from harness.config import Settings, read_settings
from harness.offers import ToolSettings, every_profile, with_pack

FORMATS = ("table", "ts", "json-schema", "md", "prompt")
_MOST = 20
_Packs = Annotated[
    list[str] | None,
    typer.Option(
        "--pack", help="List this pack alone, or besides --profile: a name, a dotted module, or a path such as ./my_pack.py."
    ),
]


@faults_as_one_line
def tools(
    words: Annotated[list[str] | None, typer.Argument(help="Search for these words; the best fits come first.")] = None,
    profile: Profile = None,
    pack: _Packs = None,
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "table",
    profiles: Annotated[bool, typer.Option("--profiles", help="List the profiles instead.")] = False,
) -> None:
    """List the tools on offer: name, signature, what they touch, whether they ask.

    Examples:

      turnscript tools --profile all

      turnscript tools rename a file

      turnscript tools --pack ./weather_pack.py --format ts
    """
    settings = read_settings(profile=profile or (None if not pack else "none"))
    if profiles:
        Console().print(_profiles_table(settings.tools))
        return
    if form not in FORMATS:
        raise Fault(f"--format {form}: choose {', '.join(FORMATS)}")
    offer = offer_of_settings(settings, pack)
    bridges = settings.bridges if profile or not pack else bridges_named(settings, pack)
    if bridges:
        offer = anyio.run(_with_bridges, offer, replace(settings, bridges=bridges))
    found = (
        [hit.tool for hit in search(offer.tools.values(), " ".join(words), limit=_MOST)] if words else list(offer.tools.values())
    )
    if not found:
        raise Fault(f"no tool fits {' '.join(words or [])!r}" if words else "no tools are on offer; try --profile all")
    if form == "table":
        Console().print(_table(found))
    else:
        typer.echo(_text(form, offer, found), nl=form != "md")


async def _with_bridges(offer: Offer, settings: Settings) -> Offer:
    """What the servers list that the settings name; they are connected for as long as that takes."""
    async with AsyncExitStack() as stack:
        for coming in bridges_from(settings):
            offer = with_pack(offer, await stack.enter_async_context(coming))
    return offer


def _text(form: str, offer: Offer, found: list[Tool]) -> str:
    match form:
        case "ts":
            return declarations(found)
        case "json-schema":
            return json.dumps([_as_json(tool) for tool in found], indent=2, ensure_ascii=False)
        case "prompt":
            return brief(found)
        case _:
            return as_markdown(offer, found)


def _table(found: list[Tool]) -> Table:
    drawn = Table("tool", "arguments", "effect", "asks", "what it does")
    last = ""
    for tool in found:
        if last and tool.pack != last:
            drawn.add_section()
        last = tool.pack
        drawn.add_row(Text(tool.full_name, no_wrap=True), Text(_short(tool)), tool.facts.effect, asks(tool), Text(tool.summary))
    return drawn


def _short(tool: Tool) -> str:
    """The arguments by name with their defaults; the types are in --format ts."""
    told = []
    for name, schema in tool.properties.items():
        default = schema.get("default") if isinstance(schema, dict) else None
        ending = "" if name in tool.required else "?" if default is None else f"? = {json.dumps(default, ensure_ascii=False)}"
        told.append(name + ending)
    return ", ".join(told)


def _profiles_table(settings: ToolSettings) -> Table:
    drawn = Table("profile", "packs", "tools", "what for")
    for one in every_profile(settings).values():
        packs = "all" if one.packs is None else ", ".join(one.packs) or "none"
        only = "all of them" if one.tools is None else ", ".join(one.tools)
        drawn.add_row(one.name, packs, only + (f" without {', '.join(one.without)}" if one.without else ""), one.why)
    return drawn


def asks(tool: Tool) -> str:
    """Does it ask a person first?"""
    return "at times" if callable(tool.facts.approval) else "yes" if tool.facts.approval else "no"


def effect_text(tool: Tool) -> str:
    parts = []
    for verb, keys in (("reads", tool.facts.reads), ("writes", tool.facts.writes)):
        if keys:
            parts.append(f"{verb} by its arguments" if callable(keys) else f"{verb} {', '.join(f'`{key}`' for key in keys)}")
    return f"{tool.facts.effect}" + (f": {'; '.join(parts)}" if parts else "")


def _as_json(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.full_name,
        "description": tool.doc,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "effect": tool.facts.effect,
        "approval": asks(tool),
        "timeout_seconds": tool.facts.timeout_seconds,
        "shape": tool.facts.shape,
    }


def as_markdown(offer: Offer, found: list[Tool]) -> str:
    """A page for people: packs, tools, arguments, effects."""
    rows: list[str] = []
    last = ""
    for tool in found:
        if tool.pack != last:
            last = tool.pack
            rows += [f"## {last}", "", offer.homes[tool.full_name].doc.strip(), ""]
        rows += [f"### `{tool.full_name}`", "", "```ts", signature(tool), "```", "", tool.doc.strip(), ""]
        rows += _arguments(tool)
        rows += [f"Effect: {effect_text(tool)}. Asks for approval: {asks(tool)}.", ""]
    return "\n".join(rows).rstrip() + "\n"


def _arguments(tool: Tool) -> list[str]:
    if not tool.properties:
        return []
    rows = ["| argument | default | meaning |", "|---|---|---|"]
    for name, schema in tool.properties.items():
        told = schema if isinstance(schema, dict) else {}
        default = "required" if name in tool.required else f"`{json.dumps(told.get('default'), ensure_ascii=False)}`"
        words = " ".join(str(told.get("description", "")).split()).replace("|", "\\|")
        rows.append(f"| `{name}` | {default} | {words} |")
    return [*rows, ""]
