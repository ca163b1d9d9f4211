"""Which folder a client's session works in: the client's first root, where that is allowed, else the root of the harness."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import anyio
from mcp import McpError, types
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel

from harness.visible import visible

_ANSWER_SECONDS: Final = 5.0  # a client that declares roots and does not name them works in the harness's
_NAME_CHARS: Final = 300  # of a folder, in a notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """`notice`: why it is not the one that the client named."""

    folder: Path
    notice: str = ""


class _Root(BaseModel):
    uri: str


class _Roots(BaseModel):
    """As the client says it: the SDK's own takes no list in which one is no file."""

    roots: list[_Root]


async def root_for(session: ServerSession, request: types.RequestId, own: Path, *, anywhere: bool) -> Root:
    """`anywhere`: the client may name any folder, and not only one below `own`."""
    params = session.client_params
    if params is None or params.capabilities.roots is None:
        return Root(folder=own)
    named = first_folder(await _roots(session, request))
    return Root(folder=own) if named is None else await chosen(named, own, anywhere=anywhere)


def first_folder(uris: Iterable[str]) -> Path | None:
    """Of this machine: file:///folder."""
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.startswith("/"):
            return Path(unquote(parts.path))
    return None


async def chosen(named: Path, own: Path, *, anywhere: bool) -> Root:
    limit = Path(await anyio.Path(own).resolve())
    try:
        real = Path(await anyio.Path(named).resolve())
        is_folder = await anyio.Path(named).is_dir()
    except (OSError, ValueError, RuntimeError):  # a name that is too long, has a zero in it, or leads round in circles
        real, is_folder = named, False
    told, kept = _named(named), f"tools work in {limit}"
    if not is_folder:
        return Root(folder=own, notice=f"the client's root {told} is no folder here, so {kept}")
    if anywhere or real.is_relative_to(limit):
        return Root(folder=real)
    return Root(
        folder=own, notice=f"the client's root {told} lies outside, so {kept}; start the server with --client-roots to follow it"
    )  # fmt: skip


def _named(folder: Path) -> str:
    """As JSON text: a line end in a name would begin what looks like another notice."""
    text = visible(json.dumps(str(folder), ensure_ascii=False)[1:-1])
    return text if len(text) <= _NAME_CHARS else f"{text[: _NAME_CHARS - 1]}…"


async def _roots(session: ServerSession, request: types.RequestId) -> list[str]:
    """Asked for on the stream of the request at hand: over HTTP a client need not have another one open."""
    try:
        answer = await session.send_request(
            types.ServerRequest(types.ListRootsRequest()), _Roots,
            request_read_timeout_seconds=timedelta(seconds=_ANSWER_SECONDS),
            metadata=ServerMessageMetadata(related_request_id=request),
        )  # fmt: skip
    except (McpError, ValueError):  # no answer in time, an error, or one that is no list of roots
        return []
    return [root.uri for root in answer.roots]
