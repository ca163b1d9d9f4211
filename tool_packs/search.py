"""Search the files below the root: their text by regular expression, their names by pattern or by what somebody remembers.

Everything leaves out what .gitignore names, and `.git`. ripgrep does the walking and the matching (ripgrep.py); its rows become
hits in search_hits.py, names are ranked in search_names.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, ToolProblem, tool
from tool_packs.ripgrep import Place, Ripgrep, locate, place_of
from tool_packs.root import Root
from tool_packs.search_hits import Collector, Hits, Wanted, path_of
from tool_packs.search_names import ranked

_TIMEOUT_SECONDS = 30.0
_PATTERN_BYTES = 65_536  # half of what the system takes in one argument
_LISTED_BYTES = 256 * 1024 * 1024  # of names: some millions of files


@dataclass(frozen=True, slots=True)
class Settings:
    timeout_seconds: float = _TIMEOUT_SECONDS  # of one search


class Search:
    """One root whose files are searched."""

    def __init__(
        self, root: Path | str, *, rg: str | None = None, environment: Mapping[str, str] | None = None,
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:  # fmt: skip
        """rg: the program; else the one beside this Python, else the one on the environment's PATH."""
        self.root = Root(root)
        self._rg = rg
        self._environment = environment or {}
        self._timeout = timeout_seconds

    def ripgrep(self) -> Ripgrep:
        """Looked for when it is needed: without it the pack still opens, and says what is missing."""
        return Ripgrep(self._rg or locate(self._environment.get("PATH")), self.root, self._timeout)


class Name(BaseModel):
    model_config = ConfigDict(frozen=True)
    path: str
    score: Annotated[float, Field(description="up to 100")]


class Found(BaseModel):
    model_config = ConfigDict(frozen=True)
    files: Annotated[list[Name], Field(description="the best first")]
    total: Annotated[int, Field(description="files that fit, given or not")]
    searched: Annotated[int, Field(description="files whose names were looked at")]
    truncated: bool


class Listed(BaseModel):
    model_config = ConfigDict(frozen=True)
    paths: list[str]
    total: Annotated[int, Field(description="files that fit, given or not")]
    truncated: bool


async def open(settings: Settings, host: Host) -> Search:
    return Search(host.root, environment=host.environment, timeout_seconds=settings.timeout_seconds)


Limit = Annotated[int, Field(ge=1, le=100_000)]


@tool(reads=["tree:{path}"], shape="hits")
async def grep(
    search: Search,
    pattern: str,
    *,
    path: str = ".",
    glob: str | list[str] | None = None,
    ignore_case: bool = False,
    fixed: bool = False,
    word: bool = False,
    multiline: bool = False,
    context: Annotated[int, Field(ge=0, le=100)] = 0,
    files_only: bool = False,
    limit: Limit = 1_000,
    per_file_limit: Annotated[int, Field(ge=1)] | None = None,
    hidden: bool = False,
    ignored: bool = False,
) -> Hits:
    """Search the text of files by a regular expression; gives matches with path, line and text.

    No match is an empty result. Files come in the order of their paths, binary ones are left out and counted.

    Args:
        pattern: a regular expression as ripgrep reads it (no look-around, no references to groups)
        path: the folder or the file to search
        glob: only files whose path below `path` fits, such as "*.py" or ["src/**/*.ts", "!*.test.ts"]; "!" leaves out
        ignore_case: capitals do not matter
        fixed: the pattern is plain text
        word: only whole words
        multiline: a match may span lines; "." matches line breaks too
        context: so many lines before and after each match
        files_only: only paths and counts, no lines
        limit: the most matches to give (files, with files_only); all are counted
        per_file_limit: the most matches to give of one file
        hidden: also files and folders whose names begin with a dot
        ignored: also what .gitignore names
    """
    options = ["--json", "--sort=path", "--binary", "--crlf", *_kept(hidden, ignored), f"--regexp={_pattern(pattern)}"]
    options += [f"--context={context}"] * (context > 0) + ["--ignore-case"] * ignore_case + ["--fixed-strings"] * fixed
    options += ["--word-regexp"] * word + ["--multiline", "--multiline-dotall"] * multiline
    ripgrep = search.ripgrep()
    wanted = Wanted(limit, per_file_limit, context, files_only)
    place = await to_thread.run_sync(place_of, search.root, path)
    try:
        globs = _globs(search.root, place, glob)
        only = None if place.is_file else await _names(ripgrep, place, globs, hidden, ignored)
        collector = Collector(wanted, only=only)
        await ripgrep.run(place, options + _glob_options(globs), collector.feed)
        return collector.hits(place.named)
    finally:
        place.close()


@tool(reads=["tree:{path}"], shape="hits")
async def files(
    search: Search, query: str, *, path: str = ".", limit: Limit = 64, hidden: bool = True, ignored: bool = False
) -> Found:
    """Find files by part of their name or path, as well as somebody remembers it.

    The whole name comes first, then its beginning, a part of it, a part of the folders, scattered letters ("tsrch" finds
    test_search.py); names with a typing error only when nothing else fits.

    Args:
        query: what is remembered; words parted by spaces must all fit, with "/" it is looked for in the whole path
        path: the folder to look in
        limit: the most files to give; all that fit are counted
        hidden: also files and folders whose names begin with a dot
        ignored: also what .gitignore names
    """
    if not query.strip():
        raise ToolProblem("empty_query", "the query is empty", hint='search.glob with "*" lists every file')
    names = await _listed(search, path, [], hidden, ignored)
    found = await to_thread.run_sync(ranked, query, names)
    given = [Name(path=one.path, score=one.score) for one in found[:limit]]
    return Found(files=given, total=len(found), searched=len(names), truncated=len(found) > limit)


@tool(reads=["tree:{path}"], shape="hits")
async def glob(
    search: Search, pattern: str, *, path: str = ".", newest: bool = False, limit: Limit = 1_000, hidden: bool = True,
    ignored: bool = False,
) -> Listed:  # fmt: skip
    """List files whose path fits a pattern such as "*.py" or "src/**/*.ts".

    Args:
        pattern: without "/" it is matched with the name in every folder; with one, with the path below `path`
        path: the folder to look in
        newest: the latest changed first, instead of the order of their paths
        limit: the most paths to give; all that fit are counted
        hidden: also files and folders whose names begin with a dot
        ignored: also what .gitignore names
    """
    paths = await _listed(search, path, [pattern], hidden, ignored)
    if newest:
        paths = await to_thread.run_sync(_newest, search.root, paths)
    return Listed(paths=paths[:limit], total=len(paths), truncated=len(paths) > limit)


async def _listed(search: Search, path: str, globs: list[str], hidden: bool, ignored: bool) -> list[str]:
    """Paths as seen from the root, in order."""
    ripgrep = search.ripgrep()
    place = await to_thread.run_sync(place_of, search.root, path)
    try:
        if place.is_file:
            said = f"{place.path} is a file, not a folder"
            raise ToolProblem("not_a_directory", said, hint="give the folder it is in", data={"path": place.path})
        names = await _names(ripgrep, place, _globs(search.root, place, globs), hidden, ignored)
        return sorted(place.named(name) for name in names)
    finally:
        place.close()


async def _names(ripgrep: Ripgrep, place: Place, globs: list[str], hidden: bool, ignored: bool) -> frozenset[str]:
    """What is searched, as seen from the place. To ripgrep a glob that names an ignored or hidden file asks for it; here globs
    only narrow: what fits them is taken from what there is without them."""
    kept = _kept(hidden, ignored)
    names = await _told(ripgrep, place, kept + _glob_options(globs))
    if (hidden and ignored) or all(glob.startswith("!") for glob in globs):
        return names
    return names & await _told(ripgrep, place, kept + _glob_options([]))


async def _told(ripgrep: Ripgrep, place: Place, options: list[str]) -> frozenset[str]:
    told = bytearray()

    def collect(data: bytes) -> None:
        if len(told) <= _LISTED_BYTES:
            told.extend(data)

    await ripgrep.run(place, ["--files", "--null", *options], collect)
    if len(told) > _LISTED_BYTES:
        said = f"the names of the files in {place.path} have more than {_LISTED_BYTES:,} bytes"
        raise ToolProblem("too_many_files", said, hint="search a smaller folder")
    return frozenset(path_of(name) for name in bytes(told).split(b"\0") if name)


def _kept(hidden: bool, ignored: bool) -> list[str]:
    return ["--hidden"] * hidden + ["--no-ignore"] * ignored


def _glob_options(globs: list[str]) -> list[str]:
    # The last that fits decides: .git stays out whatever the others ask for.
    return [f"--glob={glob}" for glob in globs] + ["--glob=!.git"]


def _globs(root: Root, place: Place, told: str | list[str] | None) -> list[str]:
    """As seen from the place. Some write them from the root, or absolute."""
    made = list[str]()
    for glob in [told] if isinstance(told, str) else told or []:
        sign, bare = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
        bare = bare.removeprefix(f"{root.path}/").removeprefix("./").removeprefix("" if place.path == "." else f"{place.path}/")
        if not bare.strip() or "\0" in bare or not 0 < _size(bare) <= _PATTERN_BYTES:
            raise ToolProblem("bad_glob", f"{glob[:80]!r} is no glob", hint='globs are like "*.py", "src/**/*.ts" or "!*.min.js"')
        made.append(sign + bare)
    return made


def _pattern(pattern: str) -> str:
    if not pattern:
        raise ToolProblem("bad_pattern", "the pattern is empty: every line would match", hint='"." matches each line with text')
    if "\0" in pattern:
        raise ToolProblem("bad_pattern", "the pattern has a NUL in it", hint="write it as \\x00")
    size = _size(pattern)
    if not size:
        raise ToolProblem("bad_pattern", "the pattern has half a surrogate pair in it", hint="write the whole character")
    if size > _PATTERN_BYTES:
        said = f"the pattern has {size:,} bytes; {_PATTERN_BYTES:,} is the most"
        raise ToolProblem("bad_pattern", said, hint="search for less, and filter the hits in the script")
    return pattern


def _size(text: str) -> int:
    """In bytes; 0 for what no argument can carry."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return 0


def _newest(root: Root, paths: list[str]) -> list[str]:
    def changed(path: str) -> int:
        try:
            return root.stat(path, follow=False).st_mtime_ns
        except ToolProblem:
            return 0  # gone meanwhile

    return sorted(paths, key=lambda path: (-changed(path), path))
