"""What to do about an error that the engine words for its own makers: the next step, read off the author's text. Pure.

Only guesses that the text itself supports: a name that stands elsewhere in it, the word before the place. "" when there is none.
"""

import re
from difflib import get_close_matches

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_OF_NOTHING = re.compile(r"cannot (?:read|set) property '([^']*)' of (undefined|null)")
_CHAIN = re.compile(r"[\w$]+(?:\s*\??\.\s*[\w$]+|\[[^\[\]\n]*\]|\([^()\n]*\))*")
_SEARCHED = 50_000  # characters of a script
_NAMES = 2_000
_WORLD = (
    "tools", "show", "console", "store", "load", "recall", "budget", "relax", "context", "help", "sleep",
    "JSON", "Object", "Array", "Promise", "Math", "String", "Number", "Map", "Set", "Date",
)  # fmt: skip


def nothing_there(message: str, rest: str) -> str:
    """`item.prize` where `rest`, the line from the place on, is `item.prize.amount` and 'amount' of undefined was read."""
    told = _OF_NOTHING.fullmatch(message)
    if told is None:
        return ""
    chain = _CHAIN.match(rest)
    if chain is None:
        return ""
    found = re.search(rf"\s*\??\.\s*{re.escape(told[1])}(?![\w$])|\[\s*(['\"`]?){re.escape(told[1])}\1\s*\]", chain[0])
    return f"{chain[0][: found.start()]} is {told[2]}" if found and found.start() else ""


def nearest_name(name: str, source: str) -> str:
    """A name that the script itself uses, or one of the script's world, spelt nearly like this one."""
    known = dict.fromkeys(_WORLD) | dict.fromkeys(match[0] for match in _NAME.finditer(source, 0, _SEARCHED))
    known.pop(name, None)
    near = get_close_matches(name, list(known)[:_NAMES], n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else ""


def syntax(message: str, before: str) -> str:
    """`before`: the author's line up to the place."""
    if re.search(r"(?<![\w$.])await\s*$", before):
        return "await works at the top level and in async functions: write async before the parameters of this function"
    if message == "unexpected token: 'object'":
        return "JSON.parse was given an object, not text: it is parsed already, use it as it is"
    return ""
