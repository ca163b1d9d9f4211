"""Names of packs and tools that a script got wrong: what is there instead, and the tool that was probably meant."""

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.declare import signature
from catalog.nearest import nearest, parts
from catalog.search import search
from catalog.tool import Tool

_LISTED_MAX = 12
SILENT = frozenset({"then", "toJSON", "constructor", "toString", "valueOf"})  # asked of any object; the sandbox gives undefined


@dataclass(frozen=True, slots=True)
class Wrong:
    """`step`: which part of the name is wrong, 0 for the pack. `key`: what else would be the same mistake."""

    code: str
    message: str
    hint: str
    step: int
    key: str


class Names:
    """The tools on offer by full name, and the refused ones with the reason."""

    def __init__(self, tools: Mapping[str, Tool], refused: Mapping[str, str]) -> None:
        self._tools = tools
        self._refused = refused
        self._packs: dict[str, list[str]] = {}
        for name in tools:
            pack, _, own = name.partition(".")
            self._packs.setdefault(pack, []).append(own)

    def listed(self, pack: str) -> str:
        return _some(self._packs.get(pack, ()))

    def wrong(self, path: tuple[str, ...]) -> Wrong | None:
        """`path`: at least the pack."""
        if path[0] in SILENT or (len(path) > 1 and path[1] in SILENT):
            return None
        if path[0] not in self._packs:
            return self._wrong_pack(path)
        if len(path) > 1 and path[1] not in self._packs[path[0]]:
            return self._wrong_tool(path[0], path[1])
        return None

    def _wrong_pack(self, path: tuple[str, ...]) -> Wrong:
        pack, tool = path[0], path[1] if len(path) > 1 else ""
        name = f"{pack}.{tool}" if tool else pack
        of_pack = [one for one in self._refused if one.startswith(pack + ".")]
        if name in self._refused:
            return Wrong("not_offered", self._refused[name], f"packs on offer: {_some(self._packs)}", 1, name)
        if of_pack:
            return Wrong("not_offered", self._refused[of_pack[0]], f"packs on offer: {_some(self._packs)}", 0, pack)
        if not self._packs:
            return Wrong("unknown_tool", f"there is no pack {pack}", "this script was given no tools", 0, pack)
        homes = [full for full in self._tools if full.partition(".")[2] == pack]
        if homes and len(homes) <= 3:
            told = f"{pack} is a tool of the pack {' and of '.join(full.partition('.')[0] for full in homes)}"
            return Wrong("unknown_tool", f"{told}; write tools.{homes[0]}", self._how(homes[0]), 0, pack)
        near = nearest(pack, self._packs)
        meant = f"{near}.{tool}" if near and tool in self._packs[near] else None
        elsewhere = meant or (self._elsewhere(tool) if tool and near is None else None)
        if elsewhere is None and near is None:
            elsewhere = self._by_words(name)
        guess = f"; did you mean {elsewhere or near}?" if elsewhere or near else ""
        hint = self._how(elsewhere) if elsewhere else f"packs: {_some(self._packs)}"
        return Wrong("unknown_tool", f"there is no pack {pack}{guess}", hint, 0, pack)

    def _wrong_tool(self, pack: str, tool: str) -> Wrong:
        name = f"{pack}.{tool}"
        if name in self._refused:
            return Wrong("not_offered", self._refused[name], f"{pack} has: {self.listed(pack)}", 1, name)
        near = nearest(tool, self._packs[pack])
        same = [full for full in self._tools if full.partition(".")[2] == tool]
        meant = same[0] if len(same) == 1 else f"{pack}.{near}" if near else None
        meant = meant or self._elsewhere(tool) or self._by_words(name)
        if meant is None:
            return Wrong("unknown_tool", f"there is no tool {name}", f"{pack} has: {self.listed(pack)}", 1, name)
        return Wrong("unknown_tool", f"there is no tool {name}; did you mean {meant}?", self._how(meant), 1, name)

    def _elsewhere(self, tool: str) -> str | None:
        """The tool of that name, or nearly, wherever it is; None when there are several."""
        near = nearest(tool, {full.partition(".")[2] for full in self._tools})
        homes = [full for full in self._tools if full.partition(".")[2] == near]
        return homes[0] if len(homes) == 1 else None

    def _by_words(self, name: str) -> str | None:
        """`fs.readFile` and `shell.exec` have the right words, or their synonyms."""
        pack = name.partition(".")[0]
        query = " ".join(dict.fromkeys(parts(name)))
        hits = search(self._tools.values(), query, limit=5) if query else []
        own = [hit for hit in hits if hit.tool.pack == pack]
        best = (own or hits)[:1]
        return best[0].tool.full_name if best else None

    def _how(self, name: str) -> str:
        return f"write tools.{signature(self._tools[name])}"


def _some(names: Mapping[str, object] | list[str] | tuple[str, ...]) -> str:
    told = list(names)
    rest = f", and {len(told) - _LISTED_MAX} more" if len(told) > _LISTED_MAX else ""
    return ", ".join(told[:_LISTED_MAX]) + rest
