"""Our side of the prompt cost: the brief as the description of one tool that takes a script, and what `help` answers."""

from __future__ import annotations

from typing import Any

from benchmarks.catalogues import Declared
from benchmarks.peer_runners.lines import function_json
from catalog import Tool, choose, pack, tool_from_schema
from catalog.brief import ALLOWANCE_BYTES, brief
from catalog.help import answer_help
from catalog.mended import mended

SCRIPT = {"type": "object", "properties": {"script": {"type": "string"}}, "required": ["script"], "additionalProperties": False}


async def _never(_: dict[str, Any]) -> None:
    """Declared only: nobody calls it."""


def declared(tools: list[Declared]) -> list[Tool]:
    return [
        tool_from_schema(short_name(one), mended(one.parameters).schema, _never, pack=one.pack, doc=one.description)
        for one in tools
    ]


def short_name(tool: Declared) -> str:
    return tool.name.removeprefix(f"{tool.pack}_")


def our_prompt(tools: list[Declared], *, allowance_bytes: int = ALLOWANCE_BYTES) -> dict[str, str]:
    text = brief(declared(tools), allowance_bytes=allowance_bytes)
    return {"tools": function_json("script", text, SCRIPT)}


def our_discovery(tools: list[Declared], query: str, answer: str) -> tuple[str, str]:
    """What `help(words)` gives, and `help("pack.tool")` for the one that was meant."""
    by_pack: dict[str, list[Tool]] = {}
    for tool in declared(tools):
        by_pack.setdefault(tool.pack, []).append(tool)
    offer = choose([pack(name, found) for name, found in by_pack.items()])
    meant = next(tool for tool in tools if tool.name == answer)
    return answer_help(offer, [query]), answer_help(offer, [f"{meant.pack}.{short_name(meant)}"])
