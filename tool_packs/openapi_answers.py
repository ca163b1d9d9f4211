"""From an answer to what a script gets: JSON as it is, text as text, anything else under a handle; a failure as a problem."""

from base64 import b64encode
from http import HTTPStatus
from typing import Any

import orjson

from catalog import Results, ToolProblem
from tool_packs.openapi_http import Reply
from tool_packs.openapi_parameters import is_json

_EXCERPT_CHARS = 300
_TEXTS = (
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/javascript",
    "application/x-www-form-urlencoded",
)
_HINTS = {
    400: "the server says what it did not accept; change the arguments",
    401: "ask a person to check the credentials of this API",
    403: "these credentials may not do that; ask a person",
    404: "check the id or name; list what there is first",
    405: "use another operation",
    409: "it conflicts with what is there; read the current state first",
    410: "it is gone; list what there is",
    422: "the server says what it did not accept; change the arguments",
    429: "the server asks for fewer calls; wait before the next one",
}


def value_of(reply: Reply, *, method: str, results: Results, bytes_max: int) -> Any:
    if not 200 <= reply.status < 300:
        raise _failed(reply, method)
    if method == "HEAD":
        return {"status": reply.status, "headers": reply.headers}
    if not reply.whole:
        raise ToolProblem(
            "too_large", f"{method} {reply.url} gave more than {bytes_max:,} bytes, the most that is taken",
            hint="ask for less, by a filter or a page size, or ask a person to raise max_bytes for this API",
            data={"max_bytes": bytes_max, "content_length": reply.headers.get("content-length")},
        )  # fmt: skip
    if not reply.body:
        return None
    media_type = _media_type(reply)
    if is_json(media_type):
        return _parsed(reply, method)
    text = _text(reply, media_type)
    if text is not None:
        return text
    kept = results.keep({"media_type": media_type, "base64": b64encode(reply.body).decode()}, label=reply.url)
    return {"media_type": media_type, "bytes": len(reply.body), "handle": kept}


def _parsed(reply: Reply, method: str) -> Any:
    try:
        return orjson.loads(reply.body)
    except orjson.JSONDecodeError as error:
        raise ToolProblem(
            "bad_answer", f"{method} {reply.url} says that it gives JSON, and gives none: {error}",
            hint="try again once; then use another operation", data={"text": _excerpt(reply)},
        ) from None  # fmt: skip


def _text(reply: Reply, media_type: str) -> str | None:
    """None: it is no text."""
    if media_type and not (media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith(("+xml", "+yaml"))):
        return None
    charset = "utf-8"
    for part in reply.headers.get("content-type", "").split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.lower() == "charset":
            charset = value.strip('"') or charset
    try:
        return reply.body.decode(charset if media_type else "utf-8", "replace" if media_type else "strict")
    except (LookupError, UnicodeDecodeError):
        return reply.body.decode("utf-8", "replace") if media_type else None


def _failed(reply: Reply, method: str) -> ToolProblem:
    known = reply.status in HTTPStatus._value2member_map_
    name = f" {HTTPStatus(reply.status).phrase}" if known else ""
    excerpt = _excerpt(reply)
    hint = _HINTS.get(reply.status, "the server failed; try again later" if reply.status >= 500 else "use another operation")
    wait = reply.headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit() and len(wait) < 7:
        hint += f" (it says: after {int(wait)} s)"
    return ToolProblem(
        f"http_{reply.status}", f"{method} {reply.url} answered {reply.status}{name}" + (f": {excerpt}" if excerpt else ""),
        hint=hint, data={"status": reply.status, "body": _body(reply)},
    )  # fmt: skip


def _body(reply: Reply) -> Any:
    """Parsed where that can be done; it is bounded already."""
    if reply.whole and is_json(_media_type(reply)):
        try:
            return orjson.loads(reply.body)
        except orjson.JSONDecodeError:
            pass
    return reply.body.decode("utf-8", "replace")


def _excerpt(reply: Reply) -> str:
    text = " ".join(reply.body.decode("utf-8", "replace").split())
    return text if len(text) <= _EXCERPT_CHARS else text[:_EXCERPT_CHARS] + "…"


def _media_type(reply: Reply) -> str:
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()
