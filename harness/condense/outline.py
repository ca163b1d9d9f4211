"""What lines of a file define, with line numbers: found line by line, by the words and signs of the file's language. Pure.

No parser: the text may be hostile, and tree-sitter needs seconds for some kilobytes that are made for it. Every pattern
here looks at one line, at most 240 characters of it, and has no unbounded repetition inside another.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LOOKED_AT = 240  # characters of a line
_DEEPEST = 3  # levels of indentation; what is deeper is not told

_WORDS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z:]{1,20}\))?|unsafe|override|open|"
    r"data|sealed|declare|inline|extern|const|virtual|partial|readonly|suspend|implicit|case|companion)[ \t]{1,4}){0,6}"
)
_NAME = r"([A-Za-z_$][\w$]{0,80}(?:(?:::|\.)[\w$~]{1,80}){0,3}[?!]?)"
_KEYWORD = re.compile(
    rf"{_WORDS}(class|def|func|function\*?|fn|interface|struct|enum|union|trait|impl|type|module|namespace|object|fun|record|"
    rf"protocol|extension|actor|sub|proc|macro_rules!)(?:<[^<>]{{0,60}}>)?[ \t]{{1,4}}(?:\([^()]{{0,80}}\)[ \t]{{0,4}})?{_NAME}"
)
_BOUND = re.compile(
    rf"(?:export[ \t]{{1,4}})?(?:const|let|var|val)[ \t]{{1,4}}{_NAME}[^=]{{0,80}}=[ \t]{{0,4}}"
    r"(?:async[ \t]{0,4})?(?:\(|function\b|class\b|[\w$]{1,40}[ \t]{0,4}=>|\w{1,20}\()"
)
_CONSTANT = re.compile(r"([A-Z][A-Z0-9_]{2,60})(?::[^=]{1,60})?[ \t]{0,4}=[ \t]")
_METHOD = re.compile(rf"{_WORDS}(?:(?:get|set)[ \t]{{1,4}})?(?:[*#]?){_NAME}(?:<[^<>]{{0,60}}>)?\([^;]{{0,200}}[{{,(]$")
_TYPED = re.compile(
    rf"{_WORDS}(?:[A-Za-z_][\w:]{{0,60}}(?:<[^;=]{{0,80}}>)?[ \t*&\[\]]{{1,8}}){{1,4}}{_NAME}[ \t]?\([^;=]{{0,200}}$"
)
_HEADING = re.compile(r"(#{1,4})[ \t]{1,4}(\S.{0,60})")
_SECTION = re.compile(r"\[{1,2}([^\[\]]{1,60})\]{1,2}[ \t]*$")
_MEMBER = re.compile(r"([A-Za-z_][\w.-]{0,60}):(?:[ \t]|$)")
_NOT_NAMES = frozenset({
    "if", "for", "while", "switch", "catch", "return", "function", "else", "do", "try", "with", "new", "await", "throw", "typeof",
    "delete", "super", "this", "assert", "sizeof", "yield", "defer", "go", "select", "case", "match", "when", "using", "lock",
    "foreach", "elif", "except", "in", "is", "not", "and", "or", "print", "raise", "import", "from", "use", "require", "describe",
    "constexpr", "static_assert", "defined", "expect", "it", "test",
})  # fmt: skip
_TYPES = frozenset({"class", "interface", "struct", "enum", "union", "trait", "impl", "namespace", "module", "object"})
_PROSE = (".md", ".markdown", ".mdx")
_SETTINGS = (".toml", ".ini", ".cfg", ".conf")
_TREES = (".yml", ".yaml")
_BRACED = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".php", ".dart")
_C_LIKE = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".java", ".cs", ".kt", ".scala", ".m", ".mm")


@dataclass(frozen=True, slots=True)
class Symbol:
    line: int  # of the file, from 1
    depth: int
    name: str


def outline(lines: Sequence[str], path: str, *, first: int = 1) -> list[Symbol]:
    """`first`: the number of the first line in the file."""
    name = path.lower()
    if name.endswith(_PROSE):
        return list(_headings(lines, first))
    if name.endswith(_SETTINGS):
        return [
            Symbol(at, 0, f"[{found[1]}]") for at, line in enumerate(lines, first) if (found := _SECTION.match(line[:_LOOKED_AT]))
        ]
    if name.endswith(_TREES):
        return [Symbol(at, 0, found[1]) for at, line in enumerate(lines, first) if (found := _MEMBER.match(line[:_LOOKED_AT]))]
    return list(_definitions(lines, first, braced=name.endswith(_BRACED), typed=name.endswith(_C_LIKE)))


def told(symbols: Sequence[Symbol], room: int) -> str:
    """`class Pool 81: take 95, release 120; main 150`: all that has room; of too many, the outer ones."""
    depths = sorted({symbol.depth for symbol in symbols}, reverse=True)
    for deepest in depths:
        text = _told([symbol for symbol in symbols if symbol.depth <= deepest])
        if len(text.encode()) <= room:
            return text
    outer = [symbol for symbol in symbols if symbol.depth == depths[-1]] if depths else []
    count = _count_that_fits(outer, room - 12)
    return f"{_told(outer[:count])}; {len(outer) - count} more" if count else ""


def _headings(lines: Sequence[str], first: int) -> Iterator[Symbol]:
    fenced = False
    for at, line in enumerate(lines, first):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (found := _HEADING.match(line[:_LOOKED_AT])):
            yield Symbol(at, len(found[1]) - 1, found[2].rstrip())


def _definitions(lines: Sequence[str], first: int, *, braced: bool, typed: bool) -> Iterator[Symbol]:
    for at, whole in enumerate(lines, first):
        line = whole[:_LOOKED_AT]
        body = line.lstrip()
        if not body or not (body[0].isalpha() or body[0] in "_$#*~"):
            continue
        depth = _depth(line[: len(line) - len(body)])
        if depth > _DEEPEST:
            continue
        name = _name(body.rstrip(), depth, braced=braced, typed=typed)
        if name:
            yield Symbol(at, depth, name)


def _name(body: str, depth: int, *, braced: bool, typed: bool) -> str:
    if found := _KEYWORD.match(body):
        kind = found[1].removesuffix("!")
        return f"{kind} {found[2]}" if kind in _TYPES else found[2]
    if depth == 0 and ((found := _BOUND.match(body)) or (found := _CONSTANT.match(body))):
        return found[1]
    if braced and depth and (found := _METHOD.match(body)) and found[1] not in _NOT_NAMES:
        return found[1]
    if typed and (found := _TYPED.match(body)) and found[1] not in _NOT_NAMES and body.split(None, 1)[0] not in _NOT_NAMES:
        return found[1]
    return ""


def _depth(indent: str) -> int:
    """Two or four blanks are a level; which of them does not matter for telling outer from inner."""
    width = len(indent.expandtabs(4))
    return (width + 3) // 4


def _told(symbols: Sequence[Symbol]) -> str:
    text = ""
    outer: Symbol | None = None
    for symbol in symbols:
        joint = "" if not text else "; "
        if outer is not None and symbol.depth > outer.depth:
            joint = ": " if text.endswith(f"{outer.name} {outer.line}") else ", "
        else:
            outer = symbol
        text += f"{joint}{symbol.name} {symbol.line}"
    return text


def _count_that_fits(symbols: Sequence[Symbol], room: int) -> int:
    used = 0
    for count, symbol in enumerate(symbols):
        used += len(f"; {symbol.name} {symbol.line}".encode())
        if used > room:
            return count
    return len(symbols)
