"""What the web pack's tools share: its settings, the connections under the rules for hosts, and the cache."""

from collections.abc import Callable
from ssl import SSLContext

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, field_validator

from catalog import Host, ToolProblem
from tool_packs.addresses import Address, Pattern, Reach, parse, read_patterns
from tool_packs.connect import Dial, Resolve, dial, resolve_host, tls
from tool_packs.page_text import page_text
from tool_packs.web_cache import FolderCache, Kept, MemoryCache, WebCache
from tool_packs.web_fetch import Bounds, Getter
from tool_packs.web_search import Hit, read_hits, search_address


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    allow: list[str] = []
    allow_private: bool = False  # loopback, 10/8, 172.16/12, 192.168/16, fc00::/7 and 100.64/10, for hosts that `allow` names
    max_bytes: int = Field(5 * 1024 * 1024, ge=1)  # of one unpacked answer; the longest pages people write have 2 MB
    timeout_seconds: float = Field(30, gt=0)  # for one URL with all its redirects
    max_redirects: int = Field(5, ge=0, le=20)
    user_agent: str = Field("turnscript", min_length=1, pattern=r"^[\x20-\x7e]+$")
    cache_hours: float = Field(24, ge=0)
    search_url: str = ""
    search_key_variable: str = ""  # the variable that holds the endpoint's key, sent as Authorization: Bearer

    @field_validator("allow")
    @classmethod
    def _are_patterns(cls, told: list[str]) -> list[str]:
        read_patterns(told)
        return told

    @field_validator("search_url")
    @classmethod
    def _is_url(cls, told: str) -> str:
        try:
            if told:
                parse(told)
        except ToolProblem as problem:
            raise ValueError(problem.message) from None
        return told


class Web:
    """The connections and the cache. `resolve`, `dial` and `make_tls` are the seams to the network."""

    def __init__(
        self,
        settings: Settings,
        host: Host,
        *,
        resolve: Resolve = resolve_host,
        dial: Dial = dial,
        make_tls: Callable[[], SSLContext] = tls,
    ) -> None:
        self.settings = settings
        self.host = host
        self.cache: WebCache = MemoryCache() if host.cache is None else FolderCache(host.cache / "web")
        bounds = Bounds(
            bytes_max=settings.max_bytes,
            timeout_seconds=settings.timeout_seconds,
            redirects_max=settings.max_redirects,
            user_agent=settings.user_agent,
        )
        reach = Reach(read_patterns(settings.allow), settings.allow_private)
        self.pages = Getter(reach, bounds, resolve=resolve, dial=dial, make_tls=make_tls)
        self.search: Getter | None = None
        if settings.search_url:  # whoever configured it meant it, wherever it stands; but it leads nowhere else
            endpoint = parse(settings.search_url)
            only = Reach((Pattern(endpoint.host, endpoint.port),), allow_private=True)
            still = Bounds(
                bytes_max=settings.max_bytes,
                timeout_seconds=settings.timeout_seconds,
                redirects_max=0,
                user_agent=settings.user_agent,
            )
            self.search = Getter(only, still, resolve=resolve, dial=dial, make_tls=make_tls)

    async def page(self, address: Address, *, fresh: bool) -> tuple[Kept, bool]:
        """The page, and whether it was kept from before."""
        self.pages.reach.check(address.host, address.port)
        key = f"{'private ' if self.settings.allow_private else ''}{address.url}"
        kept = None if fresh else await self.cache.get(key)
        if kept is not None and self._still_good(kept):
            return kept, True
        got = await self.pages.get(address)
        made = await anyio.to_thread.run_sync(page_text, got.body, got.content_type, got.address.url, abandon_on_cancel=True)
        page = Kept(
            address.url,
            got.address.url,
            got.status,
            made.media_type,
            made.title,
            made.source,
            made.text,
            len(got.body),
            self.host.clock(),
        )
        if not got.no_store and self.settings.cache_hours:
            await self.cache.put(key, page)
        return page, False

    def _still_good(self, kept: Kept) -> bool:
        """Young enough, and from a host that may still be reached: the settings may have changed since."""
        age = self.host.clock() - kept.fetched_at
        if not 0 <= age < self.settings.cache_hours * 3600:
            return False
        try:
            final = parse(kept.final_url)
            self.pages.reach.check(final.host, final.port)
        except ToolProblem:
            return False
        return True

    async def hits(self, query: str) -> list[Hit]:
        if self.search is None:
            raise ToolProblem(
                "not_configured",
                "no search endpoint is set",
                hint='ask a person to set [packs.web] search_url = "https://…/search" in turnscript.toml, such as a SearXNG',
            )
        headers: dict[str, str] = {}
        if variable := self.settings.search_key_variable:
            key = self.host.environment.get(variable, "").strip()
            if not key or not key.isascii() or not key.isprintable():
                raise ToolProblem(
                    "not_configured",
                    f"{variable} is empty or holds what no key has; the key for searches stands there",
                    hint=f"ask a person to set {variable}",
                )
            headers["Authorization"] = f"Bearer {key}"
        try:
            return read_hits((await self.search.get(search_address(self.settings.search_url, query), headers=headers)).body)
        except ToolProblem as problem:
            raise _without_secrets(problem, self.settings) from None

    async def aclose(self) -> None:
        await self.pages.aclose()
        if self.search is not None:
            await self.search.aclose()


def _without_secrets(problem: ToolProblem, settings: Settings) -> ToolProblem:
    """The endpoint's address may carry a key, and its answer may repeat one: neither is told."""
    status = problem.data.get("status") if isinstance(problem.data, dict) else None
    what = {
        "bad_status": f"it answered {status}",
        "timed_out": f"it did not answer within {settings.timeout_seconds:g} s",
        "too_many_redirects": "it redirects, which is not followed",
        "redirect_refused": "it redirects, which is not followed",
        "not_reached": "it could not be reached",
        "unknown_host": "its host could not be resolved",
    }.get(problem.code, "its answer could not be used")
    host = parse(settings.search_url).host
    hint = problem.hint if problem.code == "bad_answer" else "try again later, or ask a person to check [packs.web] search_url"
    return ToolProblem(
        "search_failed", f"the search at {host} failed: {what}", hint=hint, data={"status": status} if status else None
    )
