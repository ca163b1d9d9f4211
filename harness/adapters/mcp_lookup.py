"""The two tools beside the one that runs scripts: finding tools and declaring them. They need no session. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from catalog import Offer, ToolProblem
from catalog.help import LEVELS, answer_help
from harness.adapters.surface import Result
from harness.problems import told

SEARCH: Final = "search_tools"
DESCRIBE: Final = "describe_tools"
_NAMES_MAX: Final = 10
SEARCH_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What you want to do, in words; or the name of a pack or a tool."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many at most. Default: 8."},
        "level": {"type": "string", "enum": list(LEVELS), "description": "How much of each. Default: signature."},
    },
    "required": ["query"],
    "additionalProperties": False,
}
DESCRIBE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "names": {
            "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": _NAMES_MAX,
            "description": "Names of tools as scripts use them, such as files.read; or of packs.",
        }
    },
    "required": ["names"],
    "additionalProperties": False,
}  # fmt: skip
SEARCH_DOC: Final = "Find tools that scripts can call, best first. They are called from a script, not by themselves."
DESCRIBE_DOC: Final = "The full declarations of tools that scripts can call: arguments, results, effects."


def looked_up(offer: Offer, name: str, arguments: Mapping[str, Any]) -> Result:
    return _described(offer, arguments) if name == DESCRIBE else _found(offer, arguments)


def _found(offer: Offer, arguments: Mapping[str, Any]) -> Result:
    query, rest = arguments.get("query"), {name: value for name, value in arguments.items() if name != "query"}
    if not isinstance(query, str):
        return refused(SEARCH, "it takes words, query", '{ "query": "read a file" }, and limit and level if you like')
    try:
        return Result(text=_text(answer_help(offer, [query, rest])))
    except ToolProblem as problem:
        return refused(SEARCH, problem.message.removeprefix("help: "), '{ "query": "read a file", "limit": 5, "level": "full" }')


def _described(offer: Offer, arguments: Mapping[str, Any]) -> Result:
    names = arguments.get("names")
    if not isinstance(names, list) or not names or not all(isinstance(one, str) and one.strip() for one in names):
        return refused(DESCRIBE, "it takes a list of names", '{ "names": ["files.read"] }')
    if len(names) > _NAMES_MAX or len(arguments) > 1:
        return refused(DESCRIBE, f"it takes names, at most {_NAMES_MAX}, and nothing else", '{ "names": ["files.read"] }')
    packs = {tool.pack for tool in offer.tools.values()}
    wrong = [one for one in names if one not in offer.tools and one not in packs]
    texts = [_text(answer_help(offer, [one, {"level": "full"}])) for one in dict.fromkeys(names)]
    return Result(text="\n\n".join(texts), is_error=bool(wrong))


def _text(answer: Any) -> str:
    return "\n".join(answer) or "No tool fits." if isinstance(answer, list) else str(answer)


def refused(name: str, why: str, wanted: str) -> Result:
    problem = told("bad_call", name=name, why=why, wanted=wanted)
    return Result(text=f"{problem.code}: {problem.message}\nhint: {problem.hint}", is_error=True)
