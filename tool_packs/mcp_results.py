"""What a tool of another server gave, as one bounded JSON value: its structured content, its text, or the parts one by one.

Bytes (images, audio, blobs) do not go into the value: they are kept under a handle, and the part says how many there are.
"""

from collections.abc import Mapping
from typing import Any

from catalog import Results, ToolProblem

_ERROR_CHARS = 4_096
_SHORT_CHARS = 2_048  # of a name, a type or an address


def value_of(answer: Mapping[str, Any], *, tool: str, results: Results) -> Any:
    """Raises ToolProblem `mcp_error`, in the server's words, for an answer that is an error."""
    blocks = answer.get("content")
    parts = [part_of(one, tool=tool, results=results) for one in blocks] if isinstance(blocks, list) else []
    structured = answer.get("structuredContent")
    if answer.get("isError") is True:
        raise _failed(tool, parts, structured)
    if structured is not None:
        return structured
    return text_or_parts(parts)


def text_or_parts(parts: list[dict[str, Any]]) -> Any:
    """The text, when there is nothing but text."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def part_of(block: Any, *, tool: str, results: Results) -> dict[str, Any]:
    told = block if isinstance(block, Mapping) else {}
    kind = _short(told.get("type")) or "unknown"
    match kind:
        case "text" if isinstance(told.get("text"), str):
            return {"type": "text", "text": told["text"]}
        case "image" | "audio" if isinstance(told.get("data"), str):
            return {"type": kind, "mime": _short(told.get("mimeType"))} | _kept(told["data"], tool, kind, results)
        case "resource_link":
            return {"type": kind} | _facts(told)
        case "resource" if isinstance(told.get("resource"), Mapping):
            return {"type": kind} | contents_of(told["resource"], tool=tool, results=results)
        case _:
            return {"type": kind, "handle": results.keep(block, label=f"{tool}: {kind}")}


def contents_of(contents: Mapping[str, Any], *, tool: str, results: Results) -> dict[str, Any]:
    """Of a resource: its text, or its bytes under a handle."""
    if isinstance(contents.get("text"), str):
        return _facts(contents) | {"text": contents["text"]}
    blob = contents.get("blob")
    return _facts(contents) | _kept(blob if isinstance(blob, str) else "", tool, _short(contents.get("uri")), results)


def _facts(told: Mapping[str, Any]) -> dict[str, Any]:
    named = {"uri": told.get("uri"), "name": told.get("name"), "mime": told.get("mimeType"), "about": told.get("description")}
    return {key: short for key, value in named.items() if (short := _short(value))}


def _kept(data: str, tool: str, what: str, results: Results) -> dict[str, Any]:
    """`data` in base64, as it came; recall(handle) gives it back."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return {"bytes": max(size, 0), "handle": results.keep(data, label=f"{tool}: {what}")}


def _short(value: Any) -> str:
    return value[:_SHORT_CHARS] if isinstance(value, str) else ""


def _failed(tool: str, parts: list[dict[str, Any]], structured: Any) -> ToolProblem:
    said = "\n".join(part["text"] for part in parts if part["type"] == "text").strip() or "it failed and does not say why"
    cut = said if len(said) <= _ERROR_CHARS else f"{said[:_ERROR_CHARS]}…"
    return ToolProblem("mcp_error", f"{tool}: {cut}", hint="these are the server's words; mend the arguments", data=structured)
