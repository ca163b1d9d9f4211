"""Takes the types out of TypeScript by blanking them: every byte and every line keeps its place, so positions stay true.

Only what has no meaning at run time goes; what makes code (enum, namespace, parameter properties) is refused with its place.
Where a blank would join two statements a `;` stands in it, and where a line break would end one too early a bracket moves.
Light imports only: a zygote loads this before it forks. The parser meets hostile text here, inside the worker's walls.
"""

import re
from itertools import pairwise

from tree_sitter._binding import Language, Node, Parser
from tree_sitter_typescript._binding import language_typescript

_parser = Parser(Language(language_typescript()))

_LINE_BREAK = re.compile(rb"([\r\n]|\xe2\x80[\xa8\xa9])")
# In plain JavaScript `f<T>(x)` is two comparisons. Cheap to look for; whether it is meant as a type, the tree must say.
_GENERIC_CALL = re.compile(rb"[\w$]<\s*[\w{\[('\"][^;]{0,300}(?<!=)>\(")

_TYPES = frozenset({  # wherever they stand
    "type_annotation", "type_predicate_annotation", "asserts_annotation", "type_parameters", "type_arguments",
    "implements_clause", "accessibility_modifier", "override_modifier",
})  # fmt: skip
_WHOLE = frozenset({  # statements, and members of a class
    "interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature", "method_signature",
    "abstract_method_signature", "index_signature",
})  # fmt: skip
_WORDS = {  # small words of a declaration, by what they stand in
    "optional_parameter": ("?",),
    "variable_declarator": ("!",),
    "non_null_expression": ("!",),
    "method_definition": ("?",),
    "public_field_definition": ("?", "!", "readonly"),
    "abstract_class_declaration": ("abstract",),
}
_MODIFIERS = ("accessibility_modifier", "override_modifier", "readonly")
_CUT_BY_A_BREAK = ("return_statement", "throw_statement", "yield_expression")  # a line break behind their word ends them
_STARTS = ("arrow_function", "expression_statement")
_OPENERS = (b"{", b"function", b"class", b"async", b"let")  # first in a statement they mean something else
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CALLS = ("call_expression", "subscript_expression")
_NESTED_MAX = 8  # namespaces in namespaces


class Erased:
    """`text`: the script without its types, as long as it was. `sound`: all of it could be read as TypeScript.

    `refused`: what cannot be blanked ("enum", "namespace", "property", "import", "cast") and its byte offset, or None.
    """

    __slots__ = ("refused", "sound", "text")

    def __init__(self, text: bytes, *, sound: bool, refused: tuple[str, int] | None) -> None:
        self.text = text
        self.sound = sound
        self.refused = refused


def may_call_with_types(raw: bytes) -> bool:
    """Is there anything like `f<T>(x)`, which the grammar of JavaScript takes for comparisons?"""
    return _GENERIC_CALL.search(raw) is not None


def erase(raw: bytes, *, only_calls: bool = False) -> Erased:
    """`only_calls`: the text is JavaScript too, so that nothing but the types of calls is in question."""
    root = _parser.parse(raw).root_node
    return _Eraser(raw, only_calls).erase(root)


class _Eraser:
    def __init__(self, raw: bytes, only_calls: bool) -> None:
        self._raw = raw
        self._text = bytearray(raw)
        self._only_calls = only_calls
        self._refused: tuple[str, int] | None = None
        self._put: dict[int, bytes] = {}

    def erase(self, root: Node) -> Erased:
        waiting, sound = [root], True
        while waiting:
            node = waiting.pop()
            if node.is_error or (node.is_missing and node.type not in (";", ",")):
                sound = False
            elif node.child_count:
                waiting += self._calls(node) if self._only_calls else self._rest(node)
        for at, byte in self._put.items():
            self._text[at : at + 1] = byte
        return Erased(bytes(self._text), sound=sound, refused=self._refused)

    # ------------------------------------------------------------ one node: blank what is a type, give the children to go on with

    def _rest(self, node: Node) -> list[Node]:
        kind, children = node.type, node.children
        if kind in _TYPES:
            end = self._end_of_type(node)
            self._range(node.start_byte, end)
            if end < node.end_byte:
                self._put[node.start_byte] = b";"
        elif kind in _WHOLE or _is_only_types(node):
            self._range(node.start_byte, self._end_of_type(node))
            self._put[node.start_byte] = b";"
        elif kind == "enum_declaration":
            self._refuse("enum", node)
        elif kind in ("internal_module", "module"):
            self._refuse("namespace", node)
        elif kind == "import_alias" or (kind in ("import_statement", "export_statement") and _is_assignment(children)):
            self._refuse("import", node)
        elif kind in ("as_expression", "satisfies_expression"):
            return self._as(node, children)
        elif kind == "type_assertion":
            return self._cast(node, children)
        elif kind == "public_field_definition":
            return self._field(node, children)
        elif kind == "method_definition":
            self._modifiers(children)
            return self._words(node, children)
        elif kind in ("required_parameter", "optional_parameter"):
            return self._parameter(node, children)
        elif kind == "arrow_function":
            self._arrow(children)
            return self._words(node, children)
        else:
            return self._words(node, children)
        return []

    def _calls(self, node: Node) -> list[Node]:
        children: list[Node] = node.children
        if node.type != "type_arguments":
            return children
        types = node.named_children
        if len(types) == 1 or any(one.type != "type_identifier" or self._raw[one.start_byte] in _CAPITALS for one in types):
            self._blank(node)  # f(a < b, c > (d)) stays the two comparisons that it may be
        return []

    def _words(self, node: Node, children: list[Node]) -> list[Node]:
        words = _WORDS.get(node.type)
        if words is not None:
            for child in children:
                if child.type in words:
                    self._blank(child)
        return children

    def _as(self, node: Node, children: list[Node]) -> list[Node]:
        """`x as T`. The grammar reads on over a line break where TypeScript ends the statement."""
        value, word, *types = children
        end = self._end_of_type(types[-1]) if types else word.end_byte
        self._range(word.start_byte, end)
        if end < node.end_byte or self._is_called_from_the_next_line(node):
            self._put[word.start_byte] = b";"
        return [value]

    def _is_called_from_the_next_line(self, node: Node) -> bool:
        parent = node.parent
        if parent is None or parent.type not in _CALLS or parent.start_byte != node.start_byte:
            return False
        return self._breaks(node.end_byte, parent.children[1].start_byte)

    def _end_of_type(self, node: Node) -> int:
        """`T` and `[0]` on the next line is not `T[0]`: an array or an indexed type stands on one line."""
        end: int = node.end_byte
        while node.child_count:
            children = node.children
            if node.type in ("lookup_type", "array_type"):
                if self._breaks(children[0].end_byte, children[1].start_byte):
                    end = children[0].end_byte
                node = children[0]
            else:
                node = children[-1]
        return end

    def _cast(self, node: Node, children: list[Node]) -> list[Node]:
        """`<T>x`. A brace or a line break that comes to stand first would mean something else; `0||x` is x."""
        self._blank(children[0])
        start, parent = node.start_byte, node.parent
        while parent is not None and parent.start_byte == start and parent.type not in _STARTS:
            parent = parent.parent
        kind = parent.type if parent is not None else ""
        breaks = kind in _CUT_BY_A_BREAK and self._breaks(start, children[1].start_byte)
        if breaks or (kind in _STARTS and self._raw[children[1].start_byte :].startswith(_OPENERS)):
            end = children[0].end_byte
            if any(found.end() == end - 1 for found in _LINE_BREAK.finditer(self._raw, end - 4, end)):
                self._refuse("cast", node)
            self._put.update({start: b"0", end - 2: b"|", end - 1: b"|"})
        return children[1:]

    def _field(self, node: Node, children: list[Node]) -> list[Node]:
        words = {child.type for child in children}
        if "declare" in words or "abstract" in words:
            self._blank(node)
            self._put[node.start_byte] = b";"
            return []
        self._modifiers(children)
        annotation = next((child for child in children if child.type == "type_annotation"), None)
        if annotation is not None and "=" not in words:
            self._put[annotation.start_byte] = b";"  # `get: T` above `f() {}` must not make a getter
        return self._words(node, children)

    def _modifiers(self, children: list[Node]) -> None:
        """Without `private` the next field must not go on where the last one ended."""
        if children[0].type in _MODIFIERS:
            self._put[children[0].start_byte] = b";"

    def _parameter(self, node: Node, children: list[Node]) -> list[Node]:
        if children[0].type in _MODIFIERS:
            self._refuse("property", children[0])
        elif children[0].type == "this":
            self._blank(node)
            after = node.next_sibling
            if after is not None and after.type == ",":
                self._blank(after)
            return []
        return self._words(node, children)

    def _arrow(self, children: list[Node]) -> None:
        """No line break may stand before `=>` nor behind `async`, so the parentheses move over the blank."""
        for before, after in pairwise(children):
            if before.type == "type_parameters" and self._breaks(before.start_byte, after.start_byte):
                self._put[before.start_byte] = b"("
                self._put[after.start_byte] = b" "
            elif before.type == "formal_parameters" and after.type in _TYPES and self._breaks(before.end_byte, after.end_byte):
                self._put[before.end_byte - 1] = b" "
                self._put[after.end_byte - 1] = b")"

    # ------------------------------------------------------------ bytes

    def _blank(self, node: Node) -> None:
        self._range(node.start_byte, node.end_byte)

    def _range(self, start: int, end: int) -> None:
        parts = _LINE_BREAK.split(self._raw[start:end])  # every other one is a line break
        parts[::2] = [b" " * len(part) for part in parts[::2]]
        self._text[start:end] = b"".join(parts)

    def _breaks(self, start: int, end: int) -> bool:
        return _LINE_BREAK.search(self._raw, start, end) is not None

    def _refuse(self, what: str, node: Node) -> None:
        if self._refused is None or node.start_byte < self._refused[1]:
            self._refused = (what, node.start_byte)


def _is_only_types(node: Node, depth: int = 0) -> bool:
    """`import type`, `export` of a type, a namespace that holds nothing else."""
    if depth > _NESTED_MAX:
        return False
    match node.type:
        case "import_statement":
            return any(child.type == "type" for child in node.children)
        case "export_statement":
            return any(
                child.type == "type" or child.type in _WHOLE or _is_only_types(child, depth + 1) for child in node.children
            )
        case "expression_statement":
            return node.children[0].type == "internal_module" and _is_only_types(node.children[0], depth + 1)
        case "internal_module" | "module":
            inside = node.children[-1].named_children
            return all(one.type in ("comment", "empty_statement", *_WHOLE) or _is_only_types(one, depth + 1) for one in inside)
    return False


def _is_assignment(children: list[Node]) -> bool:
    return any(child.type in ("=", "import_require_clause", "namespace") for child in children)
