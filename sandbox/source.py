"""Script text to the text the engine compiles.

The script becomes the body of one async function, below `FIRST_LINE - 1` lines of our own, so every line number
above that is the author's and top-level `await` and `return` work. A last expression gets `return (…)` around it; what
was inserted where is said in `Prepared`, so that positions map back (see positions.py).
What the grammar of JavaScript cannot read is read as TypeScript, too (see typescript.py); the engine is the judge of both.
This runs beside the engine, inside the worker's walls: tree-sitter meets hostile text here, and a parser that
takes too long ends with the script. Light imports only: a zygote loads this before it forks.
"""

import re
from functools import cache

from tree_sitter._binding import Language, Node, Parser, Query, QueryCursor  # not the packages: what their __init__ loads would
from tree_sitter_javascript._binding import language  # make every fork slower (see launch.py)

from sandbox import typescript
from sandbox.outline import outline
from sandbox.positions import CALLS_MAX, COMPLETION, FIRST_LINE

# HTML-like comments: the engine reads them as comments, the grammar as operators, so what hides behind one is refused.
_HTML_COMMENT = re.compile(rb"<!--|(?:^|(?<=[\n\r]))[ \t]*(?:/\*[^\n\r]*?\*/[ \t]*)*-->")
_TEXT_NODES = ("string_fragment", "template_string", "comment", "regex_pattern", "string", "escape_sequence")
_HEAD = "\n" * (FIRST_LINE - 2) + "(async () => {\n"
_TAIL = "\n})"
_CHECK_HEAD, _CHECK_TAIL = "\n" * (FIRST_LINE - 2) + "(async () => {{\n", "\n}})"

_language = Language(language())
_parser = Parser(_language)
_CALLS = "[(call_expression) (new_expression)] @it"
_AWAITS = "(await_expression) @it"
_DECORATORS = "(decorator) @it"
_THROWS = "(throw_statement) @it"
_IMPORTS = "(import_statement) @it (export_statement) @it (call_expression function: (import)) @it (meta_property) @it"


@cache
def _query(pattern: str) -> Query:
    """Compiled at its first use: a millisecond each, and few scripts throw or import."""
    return Query(_language, pattern)


class Prepared:
    """One reading of a script.

    `source`: the script, without its types if it had any; as long as the author's. `texts`: what to compile, best first.
    `check`: compile this before, to see that the braces match; or None. `may_run`: False when only its syntax error is of use.
    `inserted`: byte offset of the completion in the author's text, or -1. `outline`: for each call expression its
    start, the end of what is called, and its end, as byte offsets, flat. `throws`: start and end of each throw
    statement, flat. `shift`: engine line, column and width of the insertion. `refused`: what the script may not hold
    ("import", "comment", "decorator", "enum", …) and its byte offset, or None. `root`: the syntax tree.
    """

    __slots__ = ("check", "inserted", "may_run", "outline", "refused", "root", "shift", "source", "texts", "throws")

    def __init__(self, source: str, raw: bytes, root: Node) -> None:
        plain = _HEAD + source + _TAIL
        # Text that closes our function and goes on outside it cannot do the same with two braces instead of one. The grammar is
        # no judge of that: there are texts that it and the engine read differently.
        self.check = _CHECK_HEAD + source + _CHECK_TAIL if b"}" in raw or root.has_error else None
        last = None if root.has_error else _last_expression(root)
        self.source, self.root, self.may_run = source, root, True
        self.texts = [plain]
        self.inserted = -1
        self.shift = [0, 0, 0]
        if last is not None:
            start, end = last.start_byte, last.end_byte
            body = raw[:start] + COMPLETION.encode() + raw[start:end] + b")" + raw[end:]
            self.texts = [_HEAD + body.decode() + _TAIL, plain]
            self.inserted = start
            self.shift = [FIRST_LINE + last.start_point[0], last.start_point[1], len(COMPLETION)]
        self.outline = _outline(raw, root)
        self.throws = _throws(raw, root)
        self.refused = _refused(raw, root)


def prepare(source: str) -> list[Prepared]:
    """The readings to try, in order: the first that compiles is the script; if none does, the last one's error is told."""
    raw = source.encode()
    root = _parser.parse(raw).root_node
    if root.has_error:
        return _with_types(source, raw, root)
    if typescript.may_call_with_types(raw):
        erased = typescript.erase(raw, only_calls=True)
        if erased.sound and erased.text != raw:
            return [_read(erased.text)]
    return [Prepared(source, raw, root)]


def _with_types(source: str, raw: bytes, root: Node) -> list[Prepared]:
    """The grammar of JavaScript has found an error: there are types in the text, or the error is the engine's to tell."""
    plain, erased = Prepared(source, raw, root), typescript.erase(raw)
    if erased.text == raw and erased.refused is None:
        return [plain]
    typed = _read(erased.text)
    if not erased.sound:  # a slip somewhere among types: with those out of the way the engine can say where
        typed.may_run = False
        return [plain] if plain.refused is not None else [plain, typed]
    typed.refused = erased.refused or typed.refused
    return [typed] if plain.refused is not None or erased.refused is not None else [plain, typed]


def _read(raw: bytes) -> Prepared:
    return Prepared(raw.decode(), raw, _parser.parse(raw).root_node)


def outlined(readings: list[Prepared]) -> list[object]:
    """The uses of tools, by the reading that the grammar understands; none when there is none, or the script is refused."""
    for reading in reversed(readings):
        if reading.may_run and reading.refused is None and not reading.root.has_error:
            return outline(reading.source.encode(), reading.root)
    return []


def mark_awaits(source: str) -> str:
    """The same script with `$await(offset, …)` around everything it awaits."""
    raw = source.encode()
    root = _parser.parse(raw).root_node
    inserts: list[tuple[int, int, bytes]] = []  # at, order, text: at one place, what closes comes before what opens
    last = _last_expression(root)
    if last is not None:
        inserts += [(last.start_byte, 1, COMPLETION.encode()), (last.end_byte, 0, b")")]
    for node in _found(_AWAITS, root):
        value = node.children[-1]
        inserts += [(value.start_byte, 2, b"$await(%d," % node.start_byte), (value.end_byte, -1, b")")]
    done, parts = 0, []
    for at, _, text in sorted(inserts):
        parts += [raw[done:at], text]
        done = at
    return _HEAD + (b"".join(parts) + raw[done:]).decode() + _TAIL


def _found(pattern: str, root: Node) -> list[Node]:
    """What the query names `it`, in the order of the text: the binding's own order is not always the same."""
    return sorted(QueryCursor(_query(pattern)).captures(root).get("it", []), key=lambda node: (node.start_byte, -node.end_byte))


def _last_expression(root: Node) -> Node | None:
    for child in reversed(root.children):
        if child.type in ("comment", "empty_statement", "html_comment"):
            continue
        return child.children[0] if child.type == "expression_statement" else None
    return None


def _outline(raw: bytes, root: Node) -> list[int]:
    if b"(" not in raw:
        return []
    flat: list[int] = []
    for node in _found(_CALLS, root)[:CALLS_MAX]:
        called = node.children[1 if node.type == "new_expression" else 0]
        flat += (node.start_byte, called.end_byte, node.end_byte)
    return flat


def _throws(raw: bytes, root: Node) -> list[int]:
    if b"throw" not in raw:
        return []
    return [at for node in _found(_THROWS, root)[:CALLS_MAX] for at in (node.start_byte, node.end_byte)]


def _refused(raw: bytes, root: Node) -> tuple[str, int] | None:
    if b"import" in raw or b"export" in raw:
        places = [
            node.start_byte
            for node in _found(_IMPORTS, root)
            if raw[node.start_byte : node.start_byte + 6] in (b"import", b"export")
        ]
        if places:
            return "import", min(places)
    if b"@" in raw:
        places = [node.start_byte for node in _found(_DECORATORS, root)]
        if places:
            return "decorator", min(places)
    if b"<!--" in raw or b"-->" in raw:
        places = [match.start() for match in _HTML_COMMENT.finditer(raw) if _in_code(root, match.start())]
        if places:
            return "comment", min(places)
    return None


def _in_code(root: Node, at: int) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    return node is None or node.type not in _TEXT_NODES
