"""Every use of a tool that a script's text shows, before anything of it runs: which, with what, and what becomes of the promise.

Facts only; what they are worth is judged by whoever knows the tools. Aliases are followed while they are plain; a name that the
script declares or assigns itself is never taken for ours. What may be caught or tested for is marked `guarded`.
Light imports only: a zygote loads this before it forks. It meets hostile text, inside the worker's walls.
"""

from tree_sitter._binding import Node

from sandbox.fates import Fates
from sandbox.literals import Literals, cooked
from sandbox.scopes import FUNCTIONS, Binding, Tree

USES_MAX = 2_000
NAME_BYTES = 200
ROOTS = ("tools", "recall", "help", "sleep", "relax")  # all but the first are called themselves, and give a promise
_STEPS_MAX = 4  # tools.pack.tool and what somebody reads off it
_ALIASES_MAX = 8  # one of another of another …
_LOOPS = ("for_statement", "for_in_statement", "while_statement", "do_statement")
_REPEATS = ("map", "forEach", "flatMap", "filter", "some", "every", "find", "findIndex", "findLast", "reduce", "from")
_TESTS = ("typeof", "!", "===", "!==", "==", "!=", "in", "instanceof", "&&", "||", "??")

Step = tuple[str, int, int]
Path = tuple[str, tuple[Step, ...]]  # the root, and each member with the place of its name


class _Found:
    """One use: root, steps, start, end, called, arguments, more arguments, fate, detail, its place; then the flags."""

    __slots__ = ("conditional", "guarded", "names", "repeated", "told", "within")

    def __init__(self, told: list[object], names: tuple[str, ...], flags: tuple[bool, bool, bool, bool]) -> None:
        self.told = told
        self.names = names
        self.guarded, self.repeated, self.conditional, self.within = flags

    def row(self) -> list[object]:
        return [*self.told, self.guarded, self.repeated, self.conditional, self.within]


def outline(raw: bytes, root: Node) -> list[object]:
    """A row for each use, ready to be written as JSON; uses.py reads it."""
    if not any(name.encode() in raw for name in ROOTS):
        return []
    return [use.row() for use in _Outline(Tree(raw, root)).uses()]


class _Outline:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._fates = Fates(tree)
        self._literals = Literals(tree, self._is_tool_call)
        self._aliases: dict[int, Path | None] = {}
        self._tested: set[tuple[str, ...]] = set()
        self._looked_around = False  # Object.keys(tools), tools[name]: the script finds out by itself what there is
        self._catches = any(kind == "catch_clause" for kind in tree.kinds) or b".catch(" in tree.raw or b"allSettled" in tree.raw

    def uses(self) -> list[_Found]:
        found: list[_Found] = []
        for number in self._tree.references:
            path = self._path_of_name(number, 0)
            if path is not None:
                found += self._at(number, path)
            if len(found) > USES_MAX:
                break
        found = [use for use in found if len(use.names) <= _STEPS_MAX and all(len(name) <= NAME_BYTES for name in use.names)]
        del found[USES_MAX:]
        for use in found:
            asked = any(use.names[: len(tested)] == tested for tested in self._tested)
            use.guarded = use.guarded or asked or (self._looked_around and use.conditional)
        return found

    # ------------------------------------------------------------ what a name means

    def _path_of_name(self, number: int, depth: int) -> Path | None:
        tree = self._tree
        name = tree.text(tree.nodes[number])
        binding = tree.resolve(name, tree.scopes[number])
        if binding is None:
            return (name, ()) if name in ROOTS and name not in tree.globals_assigned else None
        return self._path_of_binding(binding, depth)

    def _path_of_binding(self, binding: Binding, depth: int) -> Path | None:
        if id(binding) not in self._aliases:
            self._aliases[id(binding)] = None  # what leads back to itself means nothing
            if not binding.spoiled and binding.route is not None and binding.value is not None and depth < _ALIASES_MAX:
                path = self._path_of(binding.value, depth + 1)
                if path is not None and path[0] == "tools":
                    steps = (*path[1], *((name, 0, 0) for name in binding.route))
                    self._aliases[id(binding)] = ("tools", steps)
        return self._aliases[id(binding)]

    def _path_of(self, node: Node, depth: int = 0) -> Path | None:
        """`tools.files["read"]` and the like; None for anything else."""
        steps: list[Step] = []
        while len(steps) <= _STEPS_MAX:
            if node.type == "identifier":
                path = self._path_of_name(self._tree.number(node), depth)
                return None if path is None else (path[0], (*path[1], *reversed(steps)))
            if node.type == "parenthesized_expression" and node.named_child_count == 1:
                node = node.named_children[0]
                continue
            step = self._step(node)
            if step is None:
                return None
            steps.append(step)
            node = node.child_by_field_name("object")
        return None

    def _step(self, node: Node) -> Step | None:
        if node.type == "member_expression":
            name = node.child_by_field_name("property")
            if name.type == "property_identifier" and name.end_byte - name.start_byte <= NAME_BYTES:
                return self._tree.text(name), name.start_byte, name.end_byte
        elif node.type == "subscript_expression":
            name = node.child_by_field_name("index")
            if name.type in ("string", "template_string") and name.end_byte - name.start_byte <= NAME_BYTES:
                text = self._tree.text(name)
                value = cooked(text[1:-1]) if "${" not in text else None
                return None if value is None else (value, name.start_byte, name.end_byte)
        return None

    def _is_tool_call(self, node: Node) -> bool:
        path = self._path_of(node.child_by_field_name("function"))
        return path is not None and (path[0] != "tools" or len(path[1]) == 2)

    # ------------------------------------------------------------ one use

    def _at(self, number: int, path: Path) -> list[_Found]:
        """The use that begins at this name; several when it is taken apart."""
        tree = self._tree
        root, steps = path
        first = tree.nodes[number]
        steps = tuple(step if step[1] else (step[0], first.start_byte, first.end_byte) for step in steps)
        optional = False
        top = number
        while tree.parents[top] >= 0 and len(steps) < _STEPS_MAX:
            parent = tree.parents[top]
            kind = tree.kinds[parent]
            if kind in ("member_expression", "subscript_expression") and tree.is_field(top, "object") and root == "tools":
                if tree.field(parent, "optional_chain") is not None:
                    optional = True
                    if steps:
                        self._tested.add(tuple(step[0] for step in steps))
                step = self._step(tree.nodes[parent])
                if step is None:
                    self._looked_around = True
                    return [self._use(root, steps, number, top, optional)] if steps else []
                steps = (*steps, step)
            elif kind != "parenthesized_expression":
                break
            top = parent
        parent, kind = tree.parents[top], tree.kinds[tree.parents[top]]
        if kind == "call_expression" and tree.is_field(top, "function"):
            optional = optional or tree.field(parent, "optional_chain") is not None
            return [self._use(root, steps, number, parent, optional, tree.field(parent, "arguments"))]
        if root != "tools":
            return []
        if kind == "variable_declarator" and tree.is_field(top, "value"):
            return self._taken_apart(number, top, steps, optional)
        self._note_test(top, steps)
        if not steps:
            self._looked_around = True
            return []
        return [self._use(root, steps, number, top, optional)]

    def _taken_apart(self, number: int, top: int, steps: tuple[Step, ...], optional: bool) -> list[_Found]:
        """`const { read, write: put } = tools.files`: each of them is looked up at once."""
        tree = self._tree
        pattern = tree.field(tree.parents[top], "name")
        if pattern is None or pattern.type != "object_pattern":
            return [self._use("tools", steps, number, top, optional, fate="aliased")] if steps else []
        found = [self._use("tools", steps, number, top, optional, fate="aliased")] if steps else []
        for child in pattern.named_children:
            key = child.child_by_field_name("key") if child.type == "pair_pattern" else child
            if key.type in ("property_identifier", "shorthand_property_identifier_pattern"):
                taken = (*steps, (tree.text(key), key.start_byte, key.end_byte))
                found.append(self._use("tools", taken, number, top, optional, fate="aliased"))
            elif child.type == "object_assignment_pattern":
                self._tested.add((*(step[0] for step in steps), tree.text(child.child_by_field_name("left"))))
            elif child.type == "rest_pattern":
                self._looked_around = True
        return found

    def _use(
        self,
        root: str,
        steps: tuple[Step, ...],
        number: int,
        top: int,
        optional: bool,
        arguments: Node | None = None,
        *,
        fate: str = "",
    ) -> _Found:
        node = self._tree.nodes[top]
        became = (fate, "", 0) if fate else self._fates.of(top)
        sketches, is_open = self._arguments(arguments)
        caught, repeated, conditional, within = self._around(top)
        told = [
            root, [list(step) for step in steps], self._tree.nodes[number].start_byte, node.end_byte, arguments is not None,
            sketches, is_open, *became,
        ]  # fmt: skip
        names = tuple(step[0] for step in steps)
        guarded = optional or caught or became[0] == "caught"
        return _Found(told, names, (guarded, repeated, conditional, within))

    def _arguments(self, node: Node | None) -> tuple[list[object], bool]:
        if node is None:
            return [], False
        if node.type != "arguments":  # a template behind a tool's name
            return [], True
        given = [child for child in node.named_children if child.type != "comment"]
        plain = next((index for index, child in enumerate(given) if child.type == "spread_element"), len(given))
        return [self._literals.sketch(child) for child in given[:plain]], plain < len(given)

    def _around(self, number: int) -> tuple[bool, bool, bool, bool]:
        """Caught, repeated, conditional, inside a function of the script's own."""
        tree = self._tree
        caught = repeated = conditional = within = False
        at, parent = number, tree.parents[number]
        while parent >= 0:
            kind = tree.kinds[parent]
            if kind == "try_statement":
                caught = caught or (tree.is_field(at, "body") and tree.field(parent, "handler") is not None)
            elif kind in _LOOPS:
                repeated = repeated or not tree.is_field(at, "right")
            elif kind in ("if_statement", "ternary_expression"):
                conditional = conditional or not tree.is_field(at, "condition")
            elif kind in ("switch_case", "switch_default", "catch_clause"):
                conditional = True
            elif kind == "binary_expression":
                operator = tree.field(parent, "operator")
                lazily = operator is not None and operator.type in ("&&", "||", "??")
                conditional = conditional or (lazily and tree.is_field(at, "right"))
            elif kind in FUNCTIONS:
                method = self._fates.callback_of(parent)
                repeated = repeated or method in _REPEATS
                if method not in _REPEATS and method not in ("then", "finally"):
                    within = True
            at, parent = parent, tree.parents[parent]
        return caught or (within and self._catches), repeated, conditional, within

    def _note_test(self, top: int, steps: tuple[Step, ...]) -> None:
        """`typeof tools.web`, `"web" in tools`, `if (tools.web)`: the script asks before it uses."""
        tree = self._tree
        parent = tree.parents[top]
        kind, operator = tree.kinds[parent], tree.field(parent, "operator")
        names = tuple(step[0] for step in steps)
        if kind == "binary_expression" and operator is not None and operator.type == "in" and tree.is_field(top, "right"):
            left = tree.field(parent, "left")
            if left is not None and left.type == "string":
                self._tested.add((*names, tree.text(left)[1:-1]))
        elif steps and (
            (operator is not None and operator.type in _TESTS)
            or (kind in ("if_statement", "ternary_expression", "while_statement") and tree.is_field(top, "condition"))
        ):
            self._tested.add(names)
