"""What an argument is, as far as the text says: literal values, objects with known names, lists; the rest is unknown.

A sketch is a list `[kind, start, end, content, open]` with byte offsets, ready to be written as JSON:
value (content: the literal), text (some text, not known which), undefined, function, promise, list (content: sketches), object
(content: `[name, start, end, sketch]`), unknown. `open`: there may be more items or members than are listed.
Light imports only: a zygote loads this before it forks.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from tree_sitter._binding import Node

from sandbox.scopes import Tree

TEXT_BYTES = 2_048  # longer text is known to be text, and no more
TEXTS_BYTES = 256 * 1024  # all of them: one constant may stand in thousands of places
DEPTH_MAX = 6
SKETCHES_MAX = 20_000  # in one script

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_SAFE = 2**53 - 1
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function", "class")

Sketch = list[object]


class Literals:
    """`is_call`: does this call expression call a tool?"""

    def __init__(self, tree: Tree, is_call: Callable[[Node], bool]) -> None:
        self._tree = tree
        self._is_call = is_call
        self._left = SKETCHES_MAX
        self._room = TEXTS_BYTES

    def sketch(self, node: Node, depth: int = 0) -> Sketch:
        self._left -= 1
        if depth > DEPTH_MAX or self._left < 0:
            return _made("unknown", node)
        kind = node.type
        if kind == "object":
            return self._object(node, depth)
        if kind == "array":
            kinds = [child.type for child in node.children if child.type != "comment"]
            has_holes = any(before in ("[", ",") and after == "," for before, after in pairwise(kinds))
            items = [child for child in node.named_children if child.type not in ("comment", "spread_element")]
            listed = [self.sketch(item, depth + 1) for item in items[: max(self._left, 0)]]
            return _made("list", node, listed, has_holes or "spread_element" in kinds or len(listed) < len(items))
        if kind == "parenthesized_expression":
            inside = [child for child in node.named_children if child.type != "comment"]
            return self.sketch(inside[0], depth + 1) if len(inside) == 1 else _made("unknown", node)
        if kind in ("identifier", "shorthand_property_identifier"):
            return self._name(node, depth)
        return self._simple(node, kind)

    def _simple(self, node: Node, kind: str) -> Sketch:
        text = self._tree.text
        if kind in ("string", "template_string"):
            if any(child.type == "template_substitution" for child in node.named_children):
                return _made("text", node)
            size = node.end_byte - node.start_byte
            value = cooked(text(node)[1:-1]) if size <= min(TEXT_BYTES, self._room) else None
            if value is None:
                return _made("text", node)
            self._room -= size
            return _made("value", node, value)
        if kind == "number":
            return _number(node, text(node), 1)
        if kind == "unary_expression":
            operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
            if operator.type in ("-", "+") and argument.type == "number":
                return _number(node, text(argument), -1 if operator.type == "-" else 1)
        elif kind in ("true", "false"):
            return _made("value", node, kind == "true")
        elif kind == "null":
            return _made("value", node, None)
        elif kind == "undefined":
            return _made("undefined", node)
        elif kind in _FUNCTIONS:
            return _made("function", node)
        elif kind == "regex":
            return _made("text", node)  # on its way out a regular expression becomes its text
        elif kind == "binary_expression" and self._is_text(node):
            return _made("text", node)
        elif kind == "call_expression" and self._is_call(node):
            return _made("promise", node)
        return _made("unknown", node)

    def _is_text(self, node: Node) -> bool:
        """`a + "b" + c`: text, whatever a and c are."""
        while node.type == "binary_expression" and node.child_by_field_name("operator").type == "+":
            if node.child_by_field_name("right").type in ("string", "template_string"):
                return True
            node = node.child_by_field_name("left")
        return node.type in ("string", "template_string")

    def _name(self, node: Node, depth: int) -> Sketch:
        """A constant that is a plain value is that value."""
        binding = self._tree.binding_of(self._tree.number(node))
        if binding is None:
            return _made("undefined" if self._tree.text(node) == "undefined" else "unknown", node)
        if binding.kind == "const" and not binding.spoiled and binding.route == () and binding.value is not None:
            found = self._simple(binding.value, binding.value.type)
            if found[0] in ("value", "text", "promise"):
                return [found[0], node.start_byte, node.end_byte, *found[3:]]
        return _made("unknown", node)

    def _object(self, node: Node, depth: int) -> Sketch:
        members: list[object] = []
        is_open = False
        for child in node.named_children:
            key, value = child, child
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            elif child.type == "method_definition":
                key = child.child_by_field_name("name")
            elif child.type == "comment":
                continue
            name = self._key(key)
            if name is None or name == "__proto__" or self._left <= 0:
                is_open = True
            elif child.type == "method_definition":
                accessor = child.children[0].type in ("get", "set")
                members.append([name, key.start_byte, key.end_byte, _made("unknown" if accessor else "function", child)])
            else:
                members.append([name, key.start_byte, key.end_byte, self.sketch(value, depth + 1)])
        return _made("object", node, members, is_open)

    def _key(self, key: Node) -> str | None:
        if key.end_byte - key.start_byte > TEXT_BYTES:
            return None
        text = self._tree.text(key)
        if key.type in ("property_identifier", "shorthand_property_identifier"):
            return text if "\\" not in text else None
        if key.type == "string":
            return cooked(text[1:-1])
        return text if key.type == "number" and text.isdigit() and (text == "0" or text[0] != "0") else None


def _made(kind: str, node: Node, content: object = None, is_open: bool = False) -> Sketch:
    return [kind, node.start_byte, node.end_byte, content, is_open]


def _number(node: Node, text: str, sign: int) -> Sketch:
    """Python reads numbers as JavaScript writes them, and refuses 10n and 017, which are left unknown."""
    try:
        value: float = int(text, 0)
    except ValueError:
        try:
            value = float(text)
        except ValueError:
            return _made("unknown", node)
        if text.isdigit():  # 017
            return _made("unknown", node)
    if not -_SAFE <= value <= _SAFE:
        return _made("unknown", node)
    return _made("value", node, sign * (int(value) if value == int(value) else value))


def cooked(text: str) -> str | None:
    """What a literal means, its escapes read; None when that is no text that UTF-8 can carry."""
    if "\\" not in text:
        return text.replace("\r\n", "\n")
    value = _escape().sub(_unescaped, text)
    mended = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return None if "\ufffd" in mended and "\ufffd" not in text else mended


@cache
def _escape() -> re.Pattern[str]:
    """Compiled when it is first needed: a zygote need not wait for it."""
    return re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"
    letter = found[4]
    return "" if letter in ("\n", "\r", "\r\n", "\u2028", "\u2029") else _ESCAPES.get(letter, letter)


def json_text(value: object) -> str:
    """JSON of lists, texts, numbers, true, false and null: json itself is not loaded in a zygote."""
    if isinstance(value, str):
        return '"' + value.translate(_JSON) + '"'
    if isinstance(value, list):
        return "[" + ",".join([json_text(item) for item in value]) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


_JSON = {code: f"\\u{code:04x}" for code in (*range(32), 34, 92, 127)}
