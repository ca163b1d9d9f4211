"""From settings to the tools on offer: which profile, which packs, loaded by name. The only place that turns names into packs."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from catalog import BadPack, Offer, Pack, Profile, choose, known_packs, load_pack, pack
from catalog.reflect import reflect
from catalog.selection import PROFILES

DEFAULT_PROFILE = "read-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """What configuration says about tools: `profiles` beside the shipped ones, and each pack's own settings, unread."""

    profile: str = DEFAULT_PROFILE
    profile_from: str = ""  # where it was set, for the one who set it: "turnscript.toml: profile"
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    packs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    root: Path = Path()
    allow: tuple[str, ...] = ()  # patterns of tools that need no further approval
    folder: Path = Path()  # where paths of packs count from


def every_profile(settings: ToolSettings) -> dict[str, Profile]:
    return PROFILES | dict(settings.profiles)


def offer_from(settings: ToolSettings, *, more_packs: Iterable[str] = ()) -> Offer:
    """The offer of the profile that is set, and of the packs named besides, whole."""
    profile = _profile(settings)
    names = tuple(known_packs()) if profile.packs is None else profile.packs
    packs = [load_pack(name, folder=settings.folder) for name in names]
    chosen = {one.name for one in packs}
    added = [one for one in (load_pack(name, folder=settings.folder) for name in more_packs) if one.name not in chosen]
    tools = profile.tools
    if added and tools is not None:
        tools = (*tools, *(one.name for one in added))
    if not packs and not added:
        return choose([])
    return choose([*packs, *added], tools=tools, without=profile.without, rename=profile.rename, profile=profile.name)


def own_packs(settings: ToolSettings) -> tuple[Pack, ...]:
    """Packs of the profile that is set which have no name of their own: files and modules. The others are not loaded."""
    names = _profile(settings).packs or ()
    return tuple(load_pack(name, folder=settings.folder) for name in names if name not in known_packs())


def _profile(settings: ToolSettings) -> Profile:
    profiles = every_profile(settings)
    profile = profiles.get(settings.profile)
    if profile is None:
        near = get_close_matches(settings.profile, list(profiles), n=1, cutoff=0.4)
        guess = f"did you mean {near[0]}?" if near else f"there are: {', '.join(profiles)}"
        where = f"{settings.profile_from}: " if settings.profile_from else ""
        raise BadPack(f"{where}there is no profile {settings.profile!r}; {guess}")
    return profile


def offer_of(
    packs: Iterable[Pack | ModuleType | str] = (), tools: Mapping[str, Callable[..., Awaitable[Any]]] | None = None
) -> Offer:
    """From packs, modules and names, and from functions by the name that scripts use (`weather.now`)."""
    made = [one if isinstance(one, Pack) else pack(one) if isinstance(one, ModuleType) else load_pack(one) for one in packs]
    return choose([*made, *_packs_of_functions(tools or {})])


def _packs_of_functions(tools: Mapping[str, Callable[..., Awaitable[Any]]]) -> list[Pack]:
    grouped: dict[str, list[Any]] = {}
    for full_name, function in tools.items():
        name, dot, own = full_name.partition(".")
        if not dot or not name.isidentifier() or not own.isidentifier():
            raise BadPack(f"tools={{{full_name!r}: …}}: a tool's name is <pack>.<tool>, such as {'weather.now'!r}")
        grouped.setdefault(name, []).append(reflect(function, pack=name, name=own))
    return [pack(name, members, doc="") for name, members in grouped.items()]


PackToCome: TypeAlias = AbstractAsyncContextManager[Pack]  # one that is known when it is connected, such as another server's


def split(
    packs: Iterable[Pack | ModuleType | str | PackToCome],
) -> tuple[list[Pack | ModuleType | str], list[PackToCome]]:
    """Those that are there, and those to come."""
    ready: list[Pack | ModuleType | str] = []
    coming: list[PackToCome] = []
    for one in packs:
        if isinstance(one, Pack | ModuleType | str):
            ready.append(one)
        else:
            coming.append(one)
    return ready, coming


def with_pack(offer: Offer, pack: Pack, *, clash: str = "") -> Offer:
    """`clash`: what is said when another pack has that name."""
    tools = {tool.full_name: tool for tool in pack.tools}
    if any(tool.pack == pack.name for tool in offer.tools.values()):
        raise BadPack(clash or f"two packs are called {pack.name}; rename one of them, such as my_{pack.name}")
    return Offer({**offer.tools, **tools}, {**offer.homes, **dict.fromkeys(tools, pack)}, offer.refused)
