"""From what a script asked for to a `Call`: arguments bound, effects told with one name for each file."""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from catalog import Effects, Toolbox, ToolProblem
from harness.cache import Freshness, cache_key
from harness.call import Call
from sandbox import Site


@dataclass(frozen=True, slots=True)
class CallOf:
    """For one session. `digests`, by tool: all that its results depend on besides the arguments. `settings`, by pack."""

    toolbox: Toolbox
    freshness: Freshness
    digests: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]

    def __call__(self, turn: int, number: int, tool: str, args: list[Any], site: Site) -> Call:
        """ToolProblem says what is wrong with the arguments, or that there is no such tool."""
        known = self.toolbox.tools.get(tool)
        if known is None:  # the sandbox was told of tools that are not open: unknown tool, no call
            raise ToolProblem("unknown_tool", f"there is no tool {tool}", hint="help() lists the packs")
        bound = self.toolbox.bind(tool, args)
        effects = known.effects(bound.named)
        return Call(
            turn=turn, number=number, tool=known, bound=bound, site=site,
            effects=_one_name_each(effects, partial(self._canonical, tool)),
            places={name: self._names(tool, value) for name, value in bound.named.items() if _is_place(value, effects)},
            key=cache_key(tool, self.digests.get(tool, ""), known.with_defaults(bound.named)),
        )  # fmt: skip

    def _canonical(self, tool: str, key: str) -> str:
        """As seen from the session's root; a pack with a root of its own names files from there."""
        own = self.settings.get(self.toolbox.offer.homes[tool].name, {}).get("root")
        kind, colon, path = key.partition(":")
        if own and colon and kind in ("file", "tree"):
            key = f"{kind}:{posixpath.join(str(own), path)}"
        return self.freshness.canonical(key)

    def _names(self, tool: str, path: str) -> tuple[str, ...]:
        """Of a path that a tool is given: as seen from the root, and where links lead."""
        key = self._canonical(tool, f"file:{path}")
        return tuple(dict.fromkeys(one.partition(":")[2] for one in (key, self.freshness.real(key))))


def _one_name_each(effects: Effects, canonical: Callable[[str], str]) -> Effects:
    reads, writes = (tuple(sorted({canonical(key) for key in keys})) for keys in (effects.reads, effects.writes))
    return Effects(effects.effect, reads, writes)


def _is_place(value: Any, effects: Effects) -> bool:
    """Does this argument name a file or a folder that the call touches?"""
    if not isinstance(value, str):
        return False
    name = posixpath.normpath(value or ".")
    return any(key in (f"file:{name}", f"tree:{name}") for key in (*effects.reads, *effects.writes))
