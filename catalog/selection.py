"""Which tools are on offer: profiles name packs, single tools, exclusions and new names; the result is one ordered offer.

What exists but is not on offer is kept with the reason, so that a script that names it is told so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase

from catalog.pack import Pack
from catalog.problem import BadPack
from catalog.tool import Tool

_NEAR, _SLIP = 0.4, 0.75  # how alike a name must be to be guessed at: within a pack, and across packs


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`packs`: their names, None for all that are known. `tools`: patterns such as `files.*`, None for all of the packs."""

    name: str
    packs: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="read-only",
            packs=("files", "search", "git", "plan", "results"),
            why="look at a folder and its history; nothing in it changes, and nothing asks",
        ),
        Profile(
            name="file-ops",
            packs=("files", "search", "patch"),
            tools=("files.read", "files.list", "search.grep", "search.files", "patch.apply"),
            why="read, search and edit files; no commands",
        ),
        Profile(
            name="core-codex",
            packs=("shell", "patch", "files", "search"),
            tools=("shell.run", "patch.apply", "files.read", "files.list", "search.grep", "search.files"),
            why="what a coding agent in the style of Codex has",
        ),
        Profile(
            name="anthropic-standard",
            packs=("shell", "files", "plan"),
            tools=("shell.run", "files.read", "plan.update", "files.list"),
            why="commands, reading and a plan",
        ),
        Profile(name="research", packs=("web", "results", "plan"), why="fetch and search the web within the allowed hosts"),
        Profile(name="all", why="every pack that ships or is installed"),
        Profile(name="none", packs=(), why="no tools at all"),
    )
}


@dataclass(frozen=True, slots=True)
class Offer:
    """`tools` by the name that scripts use; `homes`: the pack that each one's resource comes from; `refused`: name to reason."""

    tools: Mapping[str, Tool]
    homes: Mapping[str, Pack]
    refused: Mapping[str, str]

    @property
    def packs(self) -> list[Pack]:
        """Those with a tool on offer, each once."""
        return list({id(pack): pack for pack in self.homes.values()}.values())


def choose(
    packs: Iterable[Pack],
    *,
    tools: Iterable[str] | None = None,
    without: Iterable[str] = (),
    rename: Mapping[str, str] | None = None,
    profile: str = "",
) -> Offer:
    """The offer from these packs. A pattern that fits nothing and a name used twice are errors: nothing is ignored."""
    every = {tool.full_name: (tool, pack) for pack in _each_once(packs) for tool in pack.tools}
    wanted, excluded = None if tools is None else tuple(tools), tuple(without)
    for key, patterns in (("tools", wanted or ()), ("without", excluded), ("rename", tuple(rename or {}))):
        for pattern in patterns:
            _must_fit(pattern, every, key=key, profile=profile)
    place = f"profile {profile}" if profile else "this selection"
    offered: dict[str, Tool] = {}
    homes: dict[str, Pack] = {}
    refused: dict[str, str] = {}
    for name, (tool, pack) in every.items():
        if (wanted is not None and not _fits(name, wanted)) or _fits(name, excluded):
            refused[name] = f"{name} exists, but {place} does not offer it"
            continue
        shown = _renamed(tool, rename or {})
        if shown.full_name in offered:
            raise BadPack(f"two tools would be called {shown.full_name}; rename one of them")
        offered[shown.full_name] = shown
        homes[shown.full_name] = pack
        if shown.full_name != name:
            refused[name] = f"{name} is called {shown.full_name} here"
    return Offer(offered, homes, {name: why for name, why in refused.items() if name not in offered})


def _each_once(packs: Iterable[Pack]) -> list[Pack]:
    by_name: dict[str, Pack] = {}
    for pack in packs:
        if by_name.setdefault(pack.name, pack) is not pack:
            raise BadPack(f"two packs are called {pack.name} ({by_name[pack.name].source} and {pack.source}); rename one of them")
    return list(by_name.values())


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(name == pattern or name.startswith(pattern + ".") or fnmatchcase(name, pattern) for pattern in patterns)


def _must_fit(pattern: str, names: Mapping[str, object], *, key: str, profile: str) -> None:
    if any(_fits(name, [pattern]) for name in names):
        return
    packs = list(dict.fromkeys(name.partition(".")[0] for name in names))
    home = pattern.partition(".")[0]
    # A guess at another pack's tool must be a slip of the pen: patch.apply is not search.grep, file.read is files.read.
    near = get_close_matches(pattern, names, n=1, cutoff=_NEAR if home in packs else _SLIP)
    near = near or get_close_matches(home, [one for one in packs if one != home], n=1, cutoff=_SLIP)
    fault = f"no tool fits {pattern!r}"
    if near:
        next_step = f"did you mean {near[0]}?"
    elif home in packs or not profile:
        next_step = f"there are: {', '.join(names)}"
    else:
        fault += f" of its {key}, since {home} is not among its packs ({', '.join(packs)})"
        next_step = f"add {home} to packs, or set {key} too: a profile that extends another takes over the {key} of that one"
    raise BadPack(f"profile {profile}: {fault}; {next_step}" if profile else f"{fault}; {next_step}")


def _renamed(tool: Tool, rename: Mapping[str, str]) -> Tool:
    """By the tool's own entry, else by its pack's: `"files.read" = "fs.view"`, `"files" = "fs"`."""
    name = rename.get(tool.full_name)
    if name is None:
        pack = rename.get(tool.pack)
        return tool if pack is None else tool.called(pack, tool.name)
    pack, dot, own = name.partition(".")
    if not dot or not own.isidentifier() or not pack.isidentifier():
        raise BadPack(f"rename {tool.full_name!r} to {name!r}: a tool's name is <pack>.<tool>")
    return tool.called(pack, own)
