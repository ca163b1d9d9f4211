"""Tools of real MCP servers, from files beside the repository: `TURNSCRIPT_DATA`, else `../shared/data`. Absent, tests skip."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from catalog import Tool, tool_from_schema
from catalog.mended import OPEN, mended
from catalog.schema import identifier

ROOT = Path(os.environ.get("TURNSCRIPT_DATA") or Path(__file__).parents[3] / "shared" / "data") / "mcp_catalogs"


@dataclass(frozen=True)
class Listed:
    """One tool as its server lists it; `form`: where its input schema comes from."""

    pack: str
    pack_doc: str
    tool: Tool
    form: str
    note: str


def there() -> bool:
    return ROOT.is_dir()


@cache
def listed() -> tuple[Listed, ...]:
    return tuple(_load(*row) for row in _rows())


def pack_docs() -> dict[str, str]:
    return {one.pack: one.pack_doc for one in listed()}


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.json"))


def schema_of_arguments(arguments: list[dict[str, Any]]) -> dict[str, Any]:
    """The registry's short form: name, type, desc, items; nothing in it says what is required but `required` itself."""
    kept = ("type", "items", "enum", "default")
    properties = {
        one["name"]: {key: one[key] for key in kept if key in one} | ({"description": one["desc"]} if one.get("desc") else {})
        for one in arguments
    }
    required = [one["name"] for one in arguments if one.get("required") is True]
    return {"type": "object", "properties": properties, "required": required}


async def _unused(arguments: dict[str, Any]) -> None:
    raise NotImplementedError


def _rows() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in files():
        data = json.loads(path.read_text())
        if path.parent.name == "LiveMCPBench":
            for server in data:
                for described in server["tools"].values():
                    yield from ((server["name"], server.get("description") or "", tool) for tool in described["tools"])
        else:
            stem = path.name.removesuffix(".json").removesuffix(".tools")
            yield from ((stem, "", tool) for tool in (data if isinstance(data, list) else data["tools"]))


def _load(pack: str, pack_doc: str, row: dict[str, Any]) -> Listed:
    given = row.get("inputSchema", row.get("input_schema"))
    form = "schema" if given is not None else "arguments" if row.get("arguments") else "none"
    schema = schema_of_arguments(row["arguments"]) if form == "arguments" else given if form == "schema" else OPEN
    right = mended(schema)
    name = identifier(pack)
    tool = tool_from_schema(
        row["name"], right.schema, _unused, pack=name, doc=row.get("description") or "", output_schema=row.get("outputSchema")
    )
    return Listed(name, pack_doc, tool, form, right.note)
