"""What `help(…)` answers inside a script: the packs, one pack, one tool, or a ranked search; at three levels of detail.

Texts, or a list of names at level "name", so that a script can go on with them. Every answer is bounded, and what was left out is
counted with the way to it. Pure: the offer in, a JSON value out; misuse is a ToolProblem.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from catalog.declare import declaration, signature
from catalog.problem import ToolProblem
from catalog.search import search
from catalog.selection import Offer
from catalog.tool import Tool

HELP_BYTES = 8_192  # as much as one shown value may have
LEVELS = ("name", "signature", "full")
_HITS = 8
_MOST_HITS = 50
_SUMMARY_CHARS = 120
_NEAR = 0.4  # of the whole name
_NEAR_PART = 0.7  # of the part after the dot
_USAGE = 'help(), help("pack"), help("pack.tool") or help("what you want to do"), each also with { level: "name", limit: 5 }'


@dataclass(frozen=True, slots=True)
class _Asked:
    words: str
    level: str | None
    limit: int | None


def answer_help(offer: Offer, args: Sequence[Any]) -> Any:
    """`args` as the script gave them."""
    asked = _read(args)
    packs = _by_pack(offer.tools.values())
    if not asked.words:
        return _overview(offer, packs)
    name = asked.words.removeprefix("tools.").removesuffix("()")
    if name in offer.tools:
        return _tools([offer.tools[name]], asked, asked.level or "full")
    if name in packs:
        return _tools(packs[name], asked, asked.level or "signature", head=f"{name}: {_pack_summary(offer, packs[name])}")
    same = [tool for tool in offer.tools.values() if tool.name == name]
    if same:
        return _tools(same, asked, asked.level or ("full" if len(same) == 1 else "signature"))
    if "." in name and " " not in name:
        return _unknown(offer, name)
    return _found(offer, asked)


def _read(args: Sequence[Any]) -> _Asked:
    words, options = args[0] if args else None, args[1] if len(args) > 1 else None
    if isinstance(words, dict) and len(args) == 1:
        raise _misuse("its first argument is a name or words, not an object")
    if len(args) > 2:
        raise _misuse(f"it takes a name or words, and an object with options; {len(args)} arguments came")
    if not isinstance(words, str | None) or not isinstance(options, dict | None):
        raise _misuse("it takes text, then an object with options")
    options = options or {}
    level, limit = options.get("level"), options.get("limit")
    if strange := sorted(set(options) - {"level", "limit"}):
        raise _misuse(f"there is no option {strange[0]}")
    if level is not None and level not in LEVELS:
        raise _misuse(f"level must be {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {level!r}")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise _misuse(f"limit must be a whole number from 1 to {_MOST_HITS}, not {limit!r}")
    return _Asked(" ".join((words or "").split()), level, limit)


def _misuse(text: str) -> ToolProblem:
    return ToolProblem("bad_arguments", f"help: {text}", hint=f"write {_USAGE}")


# ---------------------------------------------------------------- the four answers


def _overview(offer: Offer, packs: Mapping[str, list[Tool]]) -> str:
    if not packs:
        return "No tools are on offer in this session; write plain JavaScript."
    rows = [f"{name} ({len(tools)}): {_pack_summary(offer, tools)}" for name, tools in packs.items()]
    count = f"{_count(len(offer.tools), 'tool')} in {_count(len(packs), 'pack')}"
    tail = ['Next: help("pack") lists a pack, help("pack.tool") declares a tool in full, help("what you want to do") searches.']
    return _bounded([f"{count}; call one as await tools.<pack>.<tool>({{ … }}):"], rows, tail, "packs")


def _tools(tools: list[Tool], asked: _Asked, level: str, *, head: str = "") -> Any:
    chosen = tools[: asked.limit] if asked.limit is not None else tools
    if level == "name":
        return [tool.full_name for tool in chosen]
    left = len(tools) - len(chosen)
    tail = [f"… and {left:,} more; give a higher limit"] if left else []
    if level == "full":
        return _bounded([head] if head else [], [full_text(tool) for tool in chosen], tail, "tools")
    return _bounded([head] if head else [], [line_text(tool) for tool in chosen], tail, "tools")


def _found(offer: Offer, asked: _Asked) -> Any:
    limit = min(asked.limit or _HITS, _MOST_HITS)
    docs = {tool.pack: offer.homes[name].doc for name, tool in offer.tools.items()}
    tools = [hit.tool for hit in search(offer.tools.values(), asked.words, limit=limit, pack_docs=docs)]
    if asked.level == "name":
        return [tool.full_name for tool in tools]
    if not tools:
        packs = ", ".join(_by_pack(offer.tools.values()))
        return _bounded([], [f'No tool fits "{asked.words}". Packs: {packs}. Try other words, or help("pack").'], [], "lines")
    head = f'Best of {_count(len(offer.tools), "tool")} for "{asked.words[:80]}":'
    if asked.level == "full":
        return _bounded([head], [full_text(tool) for tool in tools], [], "tools")
    return _bounded([head], [line_text(tool) for tool in tools], ['help("pack.tool") gives the full declaration.'], "tools")


def _unknown(offer: Offer, name: str) -> str:
    if name in offer.refused:
        return f"{offer.refused[name]}."
    near = nearest_names(name, list(offer.tools))
    told = f"Nearest: {', '.join(near)}." if near else "help() lists the packs."
    return f"There is no tool {name[:80]}. {told}"


def nearest_names(name: str, names: Sequence[str], *, most: int = 3) -> list[str]:
    """By spelling, of whole names and of the part after the dot; the nearest first."""
    own, owns = name.rpartition(".")[2], [one.rpartition(".")[2] for one in names]
    alike = DamerauLevenshtein.normalized_similarity
    whole = process.extract(name, names, scorer=alike, limit=most, score_cutoff=_NEAR)
    parts = process.extract(own, owns, scorer=alike, limit=most, score_cutoff=_NEAR_PART)
    scored = [(score, index) for _, score, index in whole] + [(score, index) for _, score, index in parts]
    order = sorted(scored, key=lambda pair: (-pair[0], pair[1]))
    return list(dict.fromkeys(names[index] for _, index in order))[:most]


# ---------------------------------------------------------------- rows


def line_text(tool: Tool) -> str:
    """One row of a list: the signature and the first sentence."""
    words = tool.summary
    words = words if len(words) <= _SUMMARY_CHARS else words[: _SUMMARY_CHARS - 1].rstrip() + "…"
    return f"{signature(tool)}{' // ' + words if words else ''}"


def full_text(tool: Tool) -> str:
    """The declaration, and what calling it means for others."""
    facts = tool.facts
    told = [f"effect: {facts.effect}" if facts.declared else ""]
    told.append("asks a person first, depending on the arguments" if callable(facts.approval) else "")
    told.append("asks a person first" if facts.approval is True else "")
    told.append(f"may take up to {facts.timeout_seconds:g} seconds" if facts.timeout_seconds is not None else "")
    said = "; ".join(text for text in told if text)
    return declaration(tool) + (f"// {said}\n" if said else "")


def _pack_summary(offer: Offer, tools: list[Tool]) -> str:
    told = offer.homes[tools[0].full_name].summary
    if told:
        return told if len(told) <= _SUMMARY_CHARS else told[: _SUMMARY_CHARS - 1].rstrip() + "…"
    names = ", ".join(tool.name for tool in tools[:6])
    return names + (", …" if len(tools) > 6 else "")


def _by_pack(tools: Any) -> dict[str, list[Tool]]:
    packs: dict[str, list[Tool]] = {}
    for tool in tools:
        packs.setdefault(tool.pack, []).append(tool)
    return packs


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _bounded(head: list[str], rows: list[str], tail: list[str], what: str) -> str:
    """As many rows as fit; the first one is cut rather than left out."""
    room = HELP_BYTES - sum(len(row.encode()) + 1 for row in (*head, *tail)) - 120  # for the line that says what is missing
    kept: list[str] = []
    for row in rows:
        size = len(row.encode()) + 1
        if size > room:
            break
        kept.append(row)
        room -= size
    if kept or not rows:
        missing = len(rows) - len(kept)
        more = [f'… {missing:,} more {what}; help("words", {{ limit: 5 }}) narrows it down'] if missing else []
        return "\n".join([*head, *kept, *more, *tail])
    text = rows[0].encode()[:room].decode(errors="ignore").rpartition("\n")[0] or rows[0][: room // 4]
    rest = f", and {_count(len(rows) - 1, what.removesuffix('s'))}" if len(rows) > 1 else ""
    return "\n".join([*head, text, f'… cut: {len(rows[0]) - len(text):,} more characters{rest}; use level: "signature"', *tail])
