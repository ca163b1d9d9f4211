"""Whole values behind handles as MCP resources: `turnscript://handle/T3.1`. Pure."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import orjson
from mcp import McpError, types
from pydantic import AnyUrl

from harness.compose import ShownItem

SCHEME: Final = "turnscript://handle/"
_NOT_FOUND: Final = -32002  # as the protocol has it
_READ_BYTES: Final = 4 * 1024 * 1024  # of one resource, which a client takes into memory whole
_PAGE: Final = 100
_CURSOR_CHARS: Final = 9  # more items are never in view
TEMPLATE: Final = types.ResourceTemplate(
    uriTemplate=SCHEME + "{handle}", name="handle", title="A whole value",
    description="What a script showed or kept, whole, by the handle that stands before it, such as T3.1.",
)  # fmt: skip


def listed(items: Iterable[ShownItem], cursor: str | None) -> types.ListResourcesResult:
    """What is in view, the newest first, a page at a time."""
    newest = list(items)[::-1]
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _CURSOR_CHARS):
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="this cursor is not from this list; begin without one"))
    start = int(cursor or 0)
    page = newest[start : start + _PAGE]
    more = str(start + _PAGE) if start + _PAGE < len(newest) else None
    return types.ListResourcesResult(resources=[_resource(item) for item in page], nextCursor=more)


def _resource(item: ShownItem) -> types.Resource:
    what = {"value": "shown", "console": "printed", "error": "the error"}[item.kind]
    cut = "" if item.whole else "; what was shown of it is cut"
    return types.Resource(
        uri=AnyUrl(SCHEME + item.handle), name=item.handle, description=f"{what} in turn {item.handle[1:].partition('.')[0]}{cut}"
    )  # fmt: skip


def handle_in(uri: AnyUrl) -> str:
    text = str(uri)
    if not text.startswith(SCHEME):
        raise not_found(f"there is no resource {text[:200]}", f"resources are {SCHEME}HANDLE, such as {SCHEME}T3.1")
    return unquote(text.removeprefix(SCHEME))


def content(uri: AnyUrl, handle: str, value: Any) -> types.ReadResourceResult:
    """A text as it is, anything else as JSON."""
    is_text = isinstance(value, str)
    text = value if is_text else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    size = len(text.encode("utf-8", "replace"))
    if size > _READ_BYTES:
        part = f'recall("{handle}") in a script, and show a part of it'
        raise not_found(f"{handle} has {size:,} bytes, and a resource may have {_READ_BYTES:,}", part)
    kind = "text/plain" if is_text else "application/json"
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mimeType=kind, text=text)])


def not_found(what: str, hint: str) -> McpError:
    return McpError(types.ErrorData(code=_NOT_FOUND, message=f"{what}; {hint}" if hint else what))
