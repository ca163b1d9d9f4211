"""Resources of another server as two tools: what there is, and one by its address. Only for servers that have any."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp import McpError

from catalog import Host, ToolProblem
from tool_packs.mcp_link import Link
from tool_packs.mcp_results import contents_of, text_or_parts
from tool_packs.mcp_tools import Listed, clean_text

_ITEMS_MAX = 1_000  # of a list; the rest is counted out loud
_PAGES_MAX = 50
_TEXT_CHARS = 1_000

RESOURCE_TOOLS = (
    Listed(
        "list_resources", "What this server has to read: resources by address (uri), and templates of addresses to fill in.",
        {"type": "object", "properties": {}, "additionalProperties": False}, None, True, None, True,
    ),
    Listed(
        "read_resource", "Read one resource by its address. Gives its text, or parts with handles where there are bytes.",
        {
            "type": "object", "required": ["uri"], "additionalProperties": False,
            "properties": {"uri": {"type": "string", "description": "as list_resources gives it, or a template filled in"}},
        },
        None, True, None, True,
    ),
)  # fmt: skip


def resource_call(link: Link, name: str, full_name: str) -> Callable[[Host, dict[str, Any]], Awaitable[Any]]:
    """The function behind one of the two."""

    async def every(host: Host, arguments: dict[str, Any]) -> Any:
        resources, more = await _items(link, "resources/list", "resources", "uri")
        try:
            templates, more_templates = await _items(link, "resources/templates/list", "resourceTemplates", "uriTemplate")
        except McpError:  # a server may have none, and then need not know the question
            templates, more_templates = [], False
        return {"resources": resources, "templates": templates, "more": more or more_templates}

    async def one(host: Host, arguments: dict[str, Any]) -> Any:
        answer = await link.ask("resources/read", {"uri": arguments["uri"]}, again=True)
        told = answer.get("contents")
        contents = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
        if not contents:
            said = f"{full_name}: {arguments['uri'][:200]!r} has no contents"
            raise ToolProblem("mcp_error", said, hint="list_resources says what there is")
        parts = [contents_of(one, tool=full_name, results=host.results) for one in contents]
        if len(parts) == 1 and "text" in parts[0]:
            return parts[0]["text"]
        return text_or_parts([{"type": "resource", **part} for part in parts])

    return every if name == "list_resources" else one


async def _items(link: Link, method: str, key: str, address: str) -> tuple[list[dict[str, Any]], bool]:
    """And whether there are more than are taken."""
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(_PAGES_MAX):
        page = await link.ask(method, {} if cursor is None else {"cursor": cursor}, again=True)
        told = page.get(key)
        found += [_item(one, address) for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return found[:_ITEMS_MAX], len(found) > _ITEMS_MAX
        if len(found) > _ITEMS_MAX:
            break
    return found[:_ITEMS_MAX], True


def _item(told: Mapping[str, Any], address: str) -> dict[str, Any]:
    named = {"uri": told.get(address), "name": told.get("name"), "mime": told.get("mimeType"), "about": told.get("description")}
    item: dict[str, Any] = {key: clean_text(value, _TEXT_CHARS) for key, value in named.items() if isinstance(value, str)}
    return item | ({"bytes": told["size"]} if isinstance(told.get("size"), int) else {})
