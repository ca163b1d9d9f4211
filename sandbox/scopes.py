"""A script's syntax tree with parents at hand, and which name means what where: scopes, declarations, reassignments.

Names are resolved by text and scope, nothing is run. What cannot be said for certain (declared twice, assigned again) is spoiled.
Light imports only: a zygote loads this before it forks.
"""

from tree_sitter._binding import Node

FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "function_expression", "generator_function", "arrow_function",
    "method_definition",
})  # fmt: skip
_SCOPES = FUNCTIONS | {
    "program", "statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body", "class_static_block",
}  # fmt: skip
_NO_NAMES = frozenset({"string", "regex", "comment", "number", "property_identifier", "statement_identifier"})


class Binding:
    """One declared name. `value`: what it is declared with; `route`: the members of it that lead to the name, None: unclear."""

    __slots__ = ("kind", "name", "references", "route", "spoiled", "value")

    def __init__(self, name: str, kind: str, value: Node | None = None, route: tuple[str, ...] | None = None) -> None:
        self.name = name
        self.kind = kind
        self.value = value
        self.route = route
        self.spoiled = False
        self.references: list[int] = []


class Tree:
    """Nodes by number, in the order of the text. Only named ones; `parents` and `scopes` hold numbers."""

    def __init__(self, raw: bytes, root: Node) -> None:
        self.raw = raw
        self.nodes: list[Node] = []
        self.kinds: list[str] = []
        self.parents: list[int] = []
        self.scopes: list[int] = []
        self.references: list[int] = []  # identifiers that stand for a value
        self._numbers: dict[int, int] = {}
        self._outer: list[int] = []
        self._is_function: list[bool] = []
        self._names: list[dict[str, Binding]] = []
        self._declared: set[int] = set()  # ids of nodes that declare a name
        self._assigned: list[tuple[str, int]] = []
        self.globals_assigned: set[str] = set()
        self._walk(root)
        self._settle()

    # ------------------------------------------------------------ reading

    def text(self, node: Node) -> str:
        return self.raw[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def number(self, node: Node) -> int:
        return self._numbers[node.id]

    def field(self, number: int, name: str) -> Node | None:
        found: Node | None = self.nodes[number].child_by_field_name(name)
        return found

    def is_field(self, number: int, name: str) -> bool:
        """Is this node what its parent calls so?"""
        found = self.field(self.parents[number], name)
        return found is not None and found.id == self.nodes[number].id

    def resolve(self, name: str, scope: int) -> Binding | None:
        """None: nothing in the script declares it here, so it is a global."""
        while scope >= 0:
            found = self._names[scope].get(name)
            if found is not None:
                return found
            scope = self._outer[scope]
        return None

    def binding_of(self, number: int) -> Binding | None:
        return self.resolve(self.text(self.nodes[number]), self.scopes[number])

    # ------------------------------------------------------------ building

    def _walk(self, root: Node) -> None:
        waiting: list[tuple[Node, int, int]] = [(root, -1, -1)]
        while waiting:
            node, parent, scope = waiting.pop()
            number, kind = len(self.nodes), node.type
            outside = scope
            if kind in _SCOPES:
                self._outer.append(scope)
                self._is_function.append(kind in FUNCTIONS or kind == "program")
                self._names.append({})
                scope = len(self._names) - 1
            self.nodes.append(node)
            self.kinds.append(kind)
            self.parents.append(parent)
            self.scopes.append(scope)
            self._numbers[node.id] = number
            self._declare(node, kind, scope, outside)
            if kind not in _NO_NAMES:
                waiting += [(child, number, scope) for child in reversed(node.named_children)]

    def _declare(self, node: Node, kind: str, scope: int, outside: int) -> None:
        if kind == "variable_declarator":
            holder = self.parents[-1]
            word = self.nodes[holder].children[0].type
            home = self._function_scope(scope) if self.kinds[holder] == "variable_declaration" else scope
            self._pattern(node.child_by_field_name("name"), home, word, node.child_by_field_name("value"), ())
        elif kind in FUNCTIONS:
            name = node.child_by_field_name("name")
            if name is not None and kind != "method_definition":
                self._pattern(name, outside if kind.endswith("_declaration") else scope, "function", node, ())
            for field in ("parameters", "parameter"):
                for one in _children(node.child_by_field_name(field)):
                    self._pattern(one, scope, "parameter", None, None)
        elif kind in ("class_declaration", "class"):
            self._pattern(node.child_by_field_name("name"), scope, "class", None, None)
        elif kind == "catch_clause":
            self._pattern(node.child_by_field_name("parameter"), scope, "catch", None, None)
        elif kind == "for_in_statement":
            left, word = node.child_by_field_name("left"), node.child_by_field_name("kind")
            if word is None:
                self._assign(left, scope)
            else:
                self._pattern(left, self._function_scope(scope) if word.type == "var" else scope, "loop", None, None)
        elif kind in ("assignment_expression", "augmented_assignment_expression"):
            self._assign(node.child_by_field_name("left"), scope)
        elif kind == "update_expression":
            self._assign(node.child_by_field_name("argument"), scope)

    def _function_scope(self, scope: int) -> int:
        while not self._is_function[scope]:
            scope = self._outer[scope]
        return scope

    def _pattern(self, node: Node | None, scope: int, kind: str, value: Node | None, route: tuple[str, ...] | None) -> None:
        for name, place, way in names_in(self.raw, node, route):
            self._declared.add(place.id)
            names = self._names[scope]
            if name in names:
                names[name].spoiled = True
            else:
                names[name] = Binding(name, kind, value, way)

    def _assign(self, node: Node | None, scope: int) -> None:
        self._assigned += [(name, scope) for name, _, _ in names_in(self.raw, node, None)]

    def _settle(self) -> None:
        for name, scope in self._assigned:
            binding = self.resolve(name, scope)
            if binding is None:
                self.globals_assigned.add(name)
            else:
                binding.spoiled = True
        for number, kind in enumerate(self.kinds):
            if kind in ("identifier", "shorthand_property_identifier") and self.nodes[number].id not in self._declared:
                self.references.append(number)
                binding = self.binding_of(number)
                if binding is not None:
                    binding.references.append(number)


def _children(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return list(node.named_children) if node.type == "formal_parameters" else [node]


def names_in(raw: bytes, pattern: Node | None, route: tuple[str, ...] | None) -> list[tuple[str, Node, tuple[str, ...] | None]]:
    """The names that a pattern binds, each with its node and the members that lead to it."""
    found: list[tuple[str, Node, tuple[str, ...] | None]] = []
    waiting = [(pattern, route)]
    while waiting:
        node, way = waiting.pop()
        if node is None:
            continue
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            name = raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
            taken = (*way, name) if way is not None and kind != "identifier" else way
            found.append((name, node, taken))
        elif kind == "pair_pattern":
            key = node.child_by_field_name("key")
            step = raw[key.start_byte : key.end_byte].decode("utf-8", "replace") if key.type == "property_identifier" else None
            waiting.append((node.child_by_field_name("value"), None if way is None or step is None else (*way, step)))
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            waiting.append((node.child_by_field_name("left"), None))
        elif kind == "object_pattern":
            waiting += [(child, way) for child in reversed(node.named_children)]
        elif kind in ("array_pattern", "rest_pattern"):
            waiting += [(child, None) for child in reversed(node.named_children)]
    return found
