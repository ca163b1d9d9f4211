"""Search results from an endpoint that answers as SearXNG does: from its JSON to hits, and several lists into one. Pure.

The contract: GET <search_url>?q=<query>&format=json answers {"results": [{"url", "title"?, "content"?, "score"?}]}, best first.
"""

from itertools import zip_longest
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import orjson
from pydantic import BaseModel, ConfigDict

from catalog import ToolProblem
from tool_packs.addresses import Address, parse

SNIPPET_CHARS = 1_000
_TRACKING = frozenset({
    "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "igshid", "mc_cid", "mc_eid", "srsltid",
    "ref_src", "spm", "_ga", "_gl",
})  # fmt: skip


class Hit(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str
    title: str
    snippet: str
    score: float


def search_address(endpoint: str, query: str) -> Address:
    """The endpoint's own query parameters stay."""
    parts = urlsplit(endpoint)
    asked = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in ("q", "format")]
    return parse(urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode([*asked, ("q", query), ("format", "json")]), "")))


def read_hits(body: bytes) -> list[Hit]:
    try:
        rows = orjson.loads(body)["results"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        rows = None
    if not isinstance(rows, list):
        raise ToolProblem(
            "bad_answer",
            "the search endpoint did not answer with JSON that has a list of results",
            hint="ask a person to check [packs.web] search_url; SearXNG needs json among search.formats in its settings",
        )
    hits = [_hit(row, rank) for rank, row in enumerate(rows[:200], 1)]
    return [hit for hit in hits if hit is not None]


def merged(lists: list[list[Hit]], most: int) -> list[Hit]:
    """By rank, the lists in turn; each address once, whatever its fragment and tracking parameters."""
    found: dict[str, Hit] = {}
    for row in zip_longest(*lists):
        for hit in row:
            if hit is not None:
                found.setdefault(same_page(hit.url), hit)
    return list(found.values())[:most]


def same_page(url: str) -> str:
    """The URL without what does not change the page."""
    try:
        address = parse(url)
    except ToolProblem:
        return url
    path, mark, query = address.target.partition("?")
    kept = [pair for pair in query.split("&") if pair and not _is_tracking(pair.partition("=")[0].lower())]
    return f"{address.netloc}{path.rstrip('/')}{mark if kept else ''}{'&'.join(kept)}"


def _is_tracking(name: str) -> bool:
    return name in _TRACKING or name.startswith(("utm_", "pk_", "mtm_"))


def _hit(row: Any, rank: int) -> Hit | None:
    if not isinstance(row, dict) or not isinstance(row.get("url"), str):
        return None
    try:
        address = parse(row["url"])
    except ToolProblem:
        return None
    score = row.get("score")
    return Hit(
        url=row["url"].strip(),
        title=_words(row.get("title")) or f"{address.netloc}{address.target}"[:200],
        snippet=_words(row.get("content") or row.get("snippet")),
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else round(1 / rank, 4),
    )


def _words(value: Any) -> str:
    return " ".join(value.split())[:SNIPPET_CHARS] if isinstance(value, str) else ""
