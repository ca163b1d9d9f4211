"""Catalogues of tools whose prompt cost is measured: a synthetic one of any size, and the real ones of public MCP servers.

Deterministic: the same size gives the same tools. Names are what every compared system accepts: letters, digits, underscores.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

DOMAINS = {
    "calendar": "the team calendar", "mail": "the mailbox", "drive": "the document store", "crm": "the customer database",
    "billing": "the billing system", "tickets": "the ticket queue", "warehouse": "the warehouse", "weather": "the weather desk",
    "maps": "the map service", "payments": "the payment provider", "analytics": "the numbers store", "alerts": "the alert desk",
    "deploys": "the deployment service", "people": "the staff directory", "contracts": "the contract archive",
    "inventory": "the inventory", "chat": "the chat workspace", "wiki": "the wiki", "travel": "the travel desk",
    "builds": "the build server",
}  # fmt: skip
VERBS = {
    "search": "Search", "list": "List", "get": "Get", "create": "Create", "update": "Update", "delete": "Delete",
    "archive": "Archive", "export": "Export", "assign": "Assign", "watch": "Watch",
}  # fmt: skip
NOUNS = ("events", "records", "reports", "members", "rules")


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as every system can be told of it. `pack` is how ours groups it; `name` is flat, for the others."""

    pack: str
    name: str
    description: str
    parameters: dict[str, Any]


def synthetic(count: int) -> list[Declared]:
    """Up to 1,000 tools with 4 parameters each, over 20 packs."""
    if not 1 <= count <= len(DOMAINS) * len(VERBS) * len(NOUNS):
        raise ValueError(f"{count} tools: give 1 to {len(DOMAINS) * len(VERBS) * len(NOUNS)}")
    return [_tool(number) for number in range(count)]


def _tool(number: int) -> Declared:
    domain = list(DOMAINS)[number % len(DOMAINS)]
    verb = list(VERBS)[number // len(DOMAINS) % len(VERBS)]
    noun = NOUNS[number // (len(DOMAINS) * len(VERBS))]
    one = noun.removesuffix("s")
    properties = {
        "query": {
            "type": "string",
            "description": f"Words or an id that say which {noun} are meant, such as {one}_{number + 100}.",
        },
        "limit": {"type": "integer", "description": f"Most {noun} to work on.", "default": 20},
        "since": {"type": "string", "description": "Only what changed after this ISO 8601 date.", "default": ""},
        "include_archived": {"type": "boolean", "description": f"Whether archived {noun} count too.", "default": False},
    }
    return Declared(
        pack=domain,
        name=f"{domain}_{verb}_{noun}",
        description=f"{VERBS[verb]} {noun} in {DOMAINS[domain]}. Gives the {noun} with ids, titles and dates, newest first.",
        parameters={"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False},
    )


def real(data: Path) -> list[Declared]:
    """Every tool of the stored MCP catalogues, each name once. ValueError when the folder holds none."""
    found: dict[str, Declared] = {}
    for path in sorted((data / "mcp_catalogs" / "mcp-registry").glob("*.tools.json")):
        for tool in json.loads(path.read_text(encoding="utf-8")):
            _add(found, path.name.removesuffix(".tools.json"), tool)
    bench = data / "mcp_catalogs" / "LiveMCPBench" / "tools.json"
    for server in json.loads(bench.read_text(encoding="utf-8")) if bench.is_file() else []:
        for key, told in server["tools"].items():
            for tool in told["tools"]:
                _add(found, key, tool)
    if not found:
        raise ValueError(f"{data}: no catalogue in mcp_catalogs/mcp-registry or mcp_catalogs/LiveMCPBench")
    return list(found.values())


def _add(found: dict[str, Declared], server: str, tool: dict[str, Any]) -> None:
    schema = dict(tool.get("inputSchema") or {"type": "object", "properties": {}})
    pack = _identifier(server)
    name = f"{pack}_{_identifier(tool['name'])}"
    found.setdefault(name, Declared(pack, name, tool.get("description") or "", schema))


def _identifier(name: str) -> str:
    made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower() or "tool"
    return f"_{made}" if made[0].isdigit() else made


def as_json(tools: list[Declared]) -> list[dict[str, Any]]:
    return [asdict(tool) for tool in tools]
