"""One mistake in the ways in which the compared tool layers write a call. Text to text, marks and all; broken code stays broken."""

import re

_TOOLS = re.compile(r"tools\.(▸?)(\w+)(?:\.(▸?)(\w+))?")
_CALL = re.compile(r"(⟦?)\b((?:s[a-z]+_\w+)|shopGetItem|get_item)(⟧?)\(")
_NAMED = re.compile(r"(\w+)=(?!=)(.*)", re.DOTALL)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def camel_tools(source: str) -> str:
    """`tools.shop.get_item` is `tools.shopGetItem` in langchain-quickjs."""

    def camel(found: re.Match[str]) -> str:
        first, *rest = "_".join(word for word in (found[2], found[4]) if word).split("_")
        return f"tools.{found[1]}{found[3] or ''}" + first + "".join(word[:1].upper() + word[1:] for word in rest)

    return _TOOLS.sub(camel, source)


def last_expression(source: str) -> str:
    """Without `return` at the top: where the last expression is the value, a top-level return is a mistake of its own."""
    return re.sub(r"^return ", "", source, flags=re.MULTILINE)


def through_call_tool(source: str) -> str:
    """`shop_get_item(id=1)` is `call_tool("shop_get_item", {"id": 1})` in FastMCP."""
    found = _CALL.search(source)
    if found is None or "def " in source[max(0, found.start() - 4) : found.start()]:
        return source
    end = _closing(source, found.end())
    if end is None:
        return source
    pairs = [_pair(argument) for argument in _arguments(source[found.end() : end])]
    rest = through_call_tool(source[end + 1 :])
    return f'{source[: found.start()]}{found[1]}call_tool("{found[2]}"{found[3]}, {{{", ".join(pairs)}}}){rest}'


def _pair(argument: str) -> str:
    named = _NAMED.fullmatch(argument.strip())
    return f'"{named[1]}": {through_call_tool(named[2])}' if named else argument.strip()


def _closing(source: str, start: int) -> int | None:
    """Where the bracket that was opened before `start` closes."""
    depth, quote = 1, ""
    for index in range(start, len(source)):
        char = source[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _BRACKETS:
            depth += 1
        elif char in _BRACKETS.values():
            depth -= 1
            if depth == 0:
                return index
    return None


def _arguments(text: str) -> list[str]:
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        depth += (char in _BRACKETS and not quote) - (char in _BRACKETS.values() and not quote)
        if char == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part.strip()]
