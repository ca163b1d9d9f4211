"""Pages from the web as markdown, and web search. Only hosts that a person allowed are reached.

[packs.web]
allow = ["docs.python.org", "*.example.com", "127.0.0.1:8080"]   # a host without a port: 80 and 443; "*": any public host
search_url = "https://searx.example.com/search"                  # answers as SearXNG does with format=json
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, ToolProblem, tool
from tool_packs.addresses import parse
from tool_packs.web_cache import Kept
from tool_packs.web_resource import Settings, Web
from tool_packs.web_search import Hit, merged

URLS_MAX = 20  # in one call
QUERIES_MAX = 10
AT_ONCE = 8  # as many as a script may have calls
RESULTS_MAX = 25
QUERY_CHARS_MAX = 1_000

Made = TypeVar("Made")


class Page(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str
    final_url: str = Field(description="after redirects")
    status: int
    title: str
    text: str = Field(description="markdown of a page; JSON indented; other text as it is")
    media_type: str
    bytes: int
    fetched_at: str
    cached: bool
    truncated: bool = Field(description="text stops before the end; the whole is under handle")
    handle: str | None
    total_chars: int
    tokens: int = Field(description="estimate for text")


class Failure(BaseModel):
    model_config = ConfigDict(frozen=True)

    what: str = Field(description="the URL or query")
    code: str
    message: str
    hint: str


class Fetched(BaseModel):
    model_config = ConfigDict(frozen=True)

    pages: list[Page]
    failed: list[Failure]


class Found(BaseModel):
    model_config = ConfigDict(frozen=True)

    results: list[Hit]
    failed: list[Failure]


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Web]:
    web = Web(settings, host)
    try:
        yield web
    finally:
        with anyio.CancelScope(shield=True):
            await web.aclose()


@tool(effect="external", reads=["url:{urls}"], timeout_seconds=120)
async def fetch(web: Web, urls: str | list[str], *, max_chars: int = 51_200, raw: bool = False, fresh: bool = False) -> Fetched:
    """Fetch web pages as markdown, several at once. One URL that fails raises; in a list, it stands in `failed`.

    Args:
        urls: one http or https URL, or a list of up to 20. Only allowed hosts are reached.
        max_chars: the most characters of text for each page; the whole text is kept under the page's handle.
        raw: the source of the page instead of markdown.
        fresh: fetch again, even when the page was fetched in the last 24 hours.
    """
    if max_chars < 1:
        raise ToolProblem("bad_argument", f"max_chars is {max_chars}", hint="give a number from 1 up")

    async def one(url: str) -> Page:
        page, cached = await web.page(parse(url), fresh=fresh)
        return _shown(web, page, url=url, cached=cached, max_chars=max_chars, raw=raw)

    if isinstance(urls, str):
        return Fetched(pages=[await one(urls)], failed=[])
    made = await _each(_once("urls", urls, URLS_MAX), one)
    return Fetched(pages=[page for page in made.values() if isinstance(page, Page)], failed=_failed(made))


@tool(effect="external", reads=["search:{query}"], timeout_seconds=90)
async def search(web: Web, query: str | list[str], *, max_results: int = 10) -> Found:
    """Search the web; gives URLs with title and snippet, best first. Several queries become one list, each URL once.

    Args:
        query: what to search for, or a list of up to 10 queries that run at once.
        max_results: how many results in all, from 1 to 25.
    """
    if not 1 <= max_results <= RESULTS_MAX:
        raise ToolProblem("bad_argument", f"max_results is {max_results}", hint=f"give a number from 1 to {RESULTS_MAX}")
    wanted = _once("query", [query] if isinstance(query, str) else query, QUERIES_MAX)
    for one in wanted:
        if not one.strip() or len(one) > QUERY_CHARS_MAX:
            raise ToolProblem(
                "bad_argument",
                f"a query of {len(one):,} characters",
                hint=f"give some words, at most {QUERY_CHARS_MAX:,} characters",
            )
    if isinstance(query, str):
        return Found(results=merged([await web.hits(query)], max_results), failed=[])
    made = await _each(wanted, web.hits)
    return Found(results=merged([hits for hits in made.values() if isinstance(hits, list)], max_results), failed=_failed(made))


async def _each(wanted: list[str], work: Callable[[str], Awaitable[Made]]) -> dict[str, Made | ToolProblem]:
    """Work on all, some at once; what fails does not lose the others. In the order of `wanted`."""
    made: dict[str, Made | ToolProblem] = {}
    room = anyio.Semaphore(AT_ONCE)

    async def one(what: str) -> None:
        async with room:
            try:
                made[what] = await work(what)
            except ToolProblem as problem:
                made[what] = problem

    async with anyio.create_task_group() as group:
        for what in wanted:
            group.start_soon(one, what)
    return {what: made[what] for what in wanted}


def _failed(made: Mapping[str, object]) -> list[Failure]:
    return [
        Failure(what=what, code=problem.code, message=problem.message, hint=problem.hint)
        for what, problem in made.items()
        if isinstance(problem, ToolProblem)
    ]


def _shown(web: Web, page: Kept, *, url: str, cached: bool, max_chars: int, raw: bool) -> Page:
    whole = page.source if raw else page.text
    text = _cut(whole, max_chars)
    truncated = len(text) < len(whole)
    return Page(
        url=url,
        final_url=page.final_url,
        status=page.status,
        title=page.title,
        text=text,
        media_type=page.media_type,
        bytes=page.bytes,
        fetched_at=datetime.fromtimestamp(page.fetched_at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        cached=cached,
        truncated=truncated,
        handle=web.host.results.keep(whole, label=url) if truncated else None,
        total_chars=len(whole),
        tokens=math.ceil(len(text) / 4),
    )


def _cut(text: str, most: int) -> str:
    """At the end of a line when one is near."""
    if len(text) <= most:
        return text
    line = text.rfind("\n", most * 4 // 5, most)
    return text[: line if line > 0 else most]


def _once(name: str, told: list[str], most: int) -> list[str]:
    if not 1 <= len(told) <= most:
        raise ToolProblem("bad_argument", f"{name} has {len(told)} items", hint=f"give 1 to {most} in one call")
    return list(dict.fromkeys(told))
