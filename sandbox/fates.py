"""What becomes of a promise that an expression gives: awaited, returned, kept, handed on, or dropped; by the text alone.

A fate is `(word, detail, place)`. Slips have words of their own: `member` (something is read off the promise itself),
`iterated`, `text`, `compared`, `tested`, `unjoined` (an array of promises is awaited), `lost` (nobody waits for the function
around it). A promise that goes through a plain variable has the fate of that variable.
Light imports only: a zygote loads this before it forks.
"""

from sandbox.scopes import FUNCTIONS, Binding, Tree

Fate = tuple[str, str, int]

SLIPS = ("member", "iterated", "text", "compared", "tested")
_OF_A_PROMISE = ("then", "catch", "finally", "constructor", "toString", "valueOf", "hasOwnProperty")
_JOINS = ("Promise.all", "Promise.allSettled", "Promise.race", "Promise.any")
_IMPATIENT = ("forEach", "filter", "some", "every", "find", "findIndex", "findLast", "sort")  # they wait for no promise
_DETAIL_CHARS = 60
_CLIMB_MAX = 64
_FOLLOW_MAX = 3


class Fates:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._last = _last_expression(tree)

    def of(self, number: int) -> Fate:
        return self._of(number, 0)

    def callback_of(self, function: int) -> str:
        """The method that a function is handed to: `xs.map(f)` is "map"; "" when it is not handed to one."""
        call = self._handed_to(function)
        called = self._tree.field(call, "function") if call >= 0 else None
        if called is None or called.type != "member_expression":
            return ""
        name: str = self._tree.text(called.child_by_field_name("property"))
        return name

    # ------------------------------------------------------------ climbing

    def _of(self, number: int, depth: int) -> Fate:
        tree = self._tree
        through_then = False
        for _ in range(_CLIMB_MAX):
            parent = tree.parents[number]
            if parent < 0:
                break
            fate = self._step(number, parent, depth)
            if fate is not None:
                return self._chain_dropped(parent) if fate[0] == "dropped" and through_then else fate
            through_then = through_then or tree.kinds[parent] == "member_expression"
            number = parent
        return "used", "", 0

    def _chain_dropped(self, number: int) -> Fate:
        """Nobody awaits `p.then(f)`; but inside `new Promise((resolve) => …)` f may be what settles it."""
        while number >= 0 and self._tree.kinds[number] not in FUNCTIONS:
            number = self._tree.parents[number]
        call = self._handed_to(number) if number >= 0 else -1
        return ("used" if call >= 0 and self._tree.kinds[call] == "new_expression" else "chained"), "", 0

    def _step(self, number: int, parent: int, depth: int) -> Fate | None:
        """The fate that the parent settles; None when it only hands the value up."""
        tree = self._tree
        kind, node = tree.kinds[parent], tree.nodes[number]
        match kind:
            case "await_expression":
                return self._of_function(parent, ("awaited", "", 0), depth)
            case "expression_statement":
                if self._last == parent:
                    return "returned", "", 0
                return "dropped", "", 0
            case "return_statement" | "arrow_function":
                return self._of_function(parent, ("returned", "", 0), depth)
            case "variable_declarator":
                return self._assigned(parent, depth)
            case "arguments":
                return self._passed(parent, depth)
            case "member_expression" | "subscript_expression":
                return self._chained(number, parent)
            case "for_in_statement" | "spread_element":
                return "iterated", "", node.start_byte
            case "template_substitution":
                return "text", "", node.start_byte
            case "unary_expression" | "binary_expression":
                return self._operand(number, parent)
            case "ternary_expression" | "if_statement" | "while_statement" | "do_statement":
                return ("tested", "", node.start_byte) if tree.is_field(number, "condition") else None
            case "sequence_expression":
                return None if tree.is_field(number, "right") else ("dropped", "", 0)
            case "parenthesized_expression" | "call_expression":  # the latter from .then(…) and Promise.all(…) only
                return None
            case "array":
                holder = tree.parents[tree.parents[parent]]
                if tree.kinds[tree.parents[parent]] == "arguments" and self._callee(holder) in _JOINS:
                    return None
                return "kept", "", 0
            case _:
                return "used", "", 0

    def _operand(self, number: int, parent: int) -> Fate | None:
        at = self._tree.nodes[number].start_byte
        operator = self._tree.field(parent, "operator")
        match operator.type if operator is not None else "":
            case "&&" | "||" | "??":
                return None
            case "!":
                return "tested", "", at
            case "void":
                return "void", "", 0
            case "typeof" | "delete" | "instanceof" | "in":
                return "used", "", 0
            case "+":
                return "text", "", at
            case _:
                return "compared", "", at

    def _chained(self, number: int, parent: int) -> Fate | None:
        tree = self._tree
        if not tree.is_field(number, "object"):
            return "used", "", 0
        name = tree.field(parent, "property")
        if name is None or tree.field(parent, "optional_chain") is not None:
            return "used", "", 0
        text = tree.text(name)[:_DETAIL_CHARS]
        if text not in _OF_A_PROMISE:
            return "member", text, name.start_byte
        call = tree.parents[parent]
        if text not in ("then", "catch", "finally") or not self._is_called(parent):
            return "used", "", 0
        given = tree.field(call, "arguments")
        if text == "catch" or (text == "then" and given is not None and given.named_child_count > 1):
            return "caught", "", 0
        return None

    def _passed(self, arguments: int, depth: int) -> Fate | None:
        call = self._tree.parents[arguments]
        name = self._callee(call)
        if name == "await":  # the grammar takes `await (x)` for a call, and `await (x).y` for a member of that
            holder = self._tree.parents[call]
            is_object = self._tree.kinds[holder] in ("member_expression", "subscript_expression")
            return self._chained(call, holder) if is_object else self._of_function(call, ("awaited", "", 0), depth)
        if name == "Promise.allSettled":
            return "caught", "", 0
        return None if name in _JOINS or name == "Promise.resolve" else ("passed", name, 0)

    def _callee(self, call: int) -> str:
        called = self._tree.field(call, "function") if self._tree.kinds[call] == "call_expression" else None
        text = self._tree.text(called) if called is not None and called.end_byte - called.start_byte <= _DETAIL_CHARS else ""
        return text if "\n" not in text else ""

    # ------------------------------------------------------------ through a variable

    def _assigned(self, declarator: int, depth: int) -> Fate:
        tree = self._tree
        name = tree.field(declarator, "name")
        if name is None or name.type != "identifier":
            if name is not None and name.type == "object_pattern" and name.named_child_count:
                first = name.named_children[0]
                return "member", tree.text(first)[:_DETAIL_CHARS], first.start_byte
            return ("iterated", "", name.start_byte) if name is not None and name.type == "array_pattern" else ("used", "", 0)
        binding = tree.resolve(tree.text(name), tree.scopes[declarator])
        if binding is None or binding.spoiled or depth >= _FOLLOW_MAX:
            return "assigned", "", 0
        if not binding.references:
            return "unused", tree.text(name)[:_DETAIL_CHARS], name.start_byte
        fates = [self._of(number, depth + 1) for number in binding.references[:50]]
        slip = next((fate for fate in fates if fate[0] in SLIPS), None)
        if slip is not None and not any(fate[0] == "awaited" for fate in fates):
            return slip
        return "assigned", "", 0

    # ------------------------------------------------------------ through the function around it

    def _of_function(self, number: int, fate: Fate, depth: int) -> Fate:
        """A promise that a function awaits or returns is the function's caller's to wait for."""
        tree = self._tree
        function = number
        while function >= 0 and tree.kinds[function] not in FUNCTIONS:
            function = tree.parents[function]
        if function < 0 or depth >= _FOLLOW_MAX:
            return fate
        call = self._handed_to(function)
        if call >= 0:
            return self._of_callback(function, call, fate, depth)
        if tree.kinds[tree.parents[function]] == "parenthesized_expression" and self._is_called(tree.parents[function]):
            outer = self._of(tree.parents[tree.parents[function]], depth + 1)
            return ("lost", "", tree.nodes[function].start_byte) if outer[0] in ("dropped", "unused") else fate
        binding = self._binding_of_function(function)
        for reference in binding.references[:50] if binding is not None and not binding.spoiled else ():
            if self._is_called(reference) and self._of(tree.parents[reference], depth + 1)[0] == "dropped":
                return "lost", tree.text(tree.nodes[reference])[:_DETAIL_CHARS], tree.nodes[reference].start_byte
        return fate

    def _of_callback(self, function: int, call: int, fate: Fate, depth: int) -> Fate:
        method = self.callback_of(function)
        if method in _IMPATIENT:
            name = self._tree.nodes[call].child_by_field_name("function").child_by_field_name("property")
            return "lost", method, name.start_byte
        if method in ("map", "flatMap"):
            outer = self._of(call, depth + 1)
            name = self._tree.nodes[call].child_by_field_name("function").child_by_field_name("property")
            if outer[0] == "awaited" and self._is_awaited_itself(call):
                return "unjoined", method, name.start_byte
            if outer[0] in ("dropped", "unused"):
                return "lost", method, name.start_byte
        return fate

    def _is_awaited_itself(self, call: int) -> bool:
        """Not by way of Promise.all: the array is what `await` gets."""
        parent = self._tree.parents[call]
        while self._tree.kinds[parent] == "parenthesized_expression":
            parent = self._tree.parents[parent]
        return self._tree.kinds[parent] == "await_expression"

    def _binding_of_function(self, function: int) -> Binding | None:
        tree = self._tree
        name = tree.field(function, "name")
        holder = tree.parents[function]
        if tree.kinds[function].endswith("_declaration") and name is not None:
            return tree.resolve(tree.text(name), tree.scopes[holder])
        if tree.kinds[holder] == "variable_declarator":
            name = tree.field(holder, "name")
            return tree.resolve(tree.text(name), tree.scopes[holder]) if name is not None and name.type == "identifier" else None
        return None

    def _is_called(self, number: int) -> bool:
        return self._tree.kinds[self._tree.parents[number]] == "call_expression" and self._tree.is_field(number, "function")

    def _handed_to(self, function: int) -> int:
        """The call that gets this function as an argument; -1 when there is none."""
        holder = self._tree.parents[function]
        return self._tree.parents[holder] if holder >= 0 and self._tree.kinds[holder] == "arguments" else -1


def _last_expression(tree: Tree) -> int:
    """The statement whose value the script gives when it has no return; -1 when there is none."""
    for child in reversed(tree.nodes[0].named_children):
        if child.type not in ("comment", "empty_statement", "html_comment"):
            return tree.number(child) if child.type == "expression_statement" else -1
    return -1
