"""What a tool is. `@tool(...)` attaches facts to a function and returns it unchanged; reflect.py makes the `Tool` from it.

A tool function can be awaited in a test that imports nothing but its pack: nothing here wraps it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from catalog.effects import EVERYTHING, Effect, Effects, Keys, effects_of
from catalog.problem import BadPack

Shape: TypeAlias = Literal["json", "text", "slice", "hits", "output", "patch"]
Approval: TypeAlias = bool | Callable[[Mapping[str, Any]], bool]
Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])

ATTRIBUTE = "__turnscript_tool__"
_CANNOT_TELL = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)  # what a small function of arguments raises


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an author says of a tool beyond its types."""

    effect: Effect = "external"
    reads: Keys = ()
    writes: Keys = ()
    approval: Approval = False
    timeout_seconds: float | None = None
    shape: Shape = "json"
    polled: bool = False  # asking again and again is what it is for
    volatile: tuple[str, ...] = ()  # members of the result that differ each time and mean nothing
    declared: bool = False  # did the author say anything about effects?


def tool(
    *,
    reads: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] = (),
    writes: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] = (),
    effect: Effect | None = None,
    approval: Approval = False,
    timeout_seconds: float | None = None,
    shape: Shape = "json",
    polled: bool = False,
    volatile: Iterable[str] = (),
) -> Callable[[Function], Function]:
    """Mark an async function as a tool.

    reads, writes: resource keys such as "file:{path}", or a function from the arguments to keys.
    effect: "pure", "reads", "writes" or "external"; from reads and writes when not given. Say nothing at all, and the
        call may touch everything: it runs alone and is never cached.
    approval: whether a person is asked first; a function decides by the arguments.
    timeout_seconds: the longest one call may take; 60 unless told.
    shape: how a shown result is condensed.
    polled: asking again and again is what it is for, so that equal calls are never refused as repeats.
    volatile: members of the result that differ each time and mean nothing, such as "duration_seconds".
    """
    facts = facts_of(
        reads=reads, writes=writes, effect=effect, approval=approval, timeout_seconds=timeout_seconds, shape=shape, polled=polled,
        volatile=volatile,
    )  # fmt: skip

    def mark(function: Function) -> Function:
        setattr(function, ATTRIBUTE, facts)
        return function

    return mark


def facts_of(
    *,
    reads: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] = (),
    writes: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] = (),
    effect: Effect | None = None,
    approval: Approval = False,
    timeout_seconds: float | None = None,
    shape: Shape = "json",
    polled: bool = False,
    volatile: Iterable[str] = (),
) -> Facts:
    read, written = _keys("reads", reads), _keys("writes", writes)
    if effect is not None and effect not in get_args(Effect):
        raise BadPack(f"effect={effect!r}: choose one of {', '.join(get_args(Effect))}")
    if effect in ("pure", "reads") and written:
        raise BadPack(f'effect="{effect}" with writes={writes!r}: a tool that writes has effect="writes" or "external"')
    if effect == "pure" and read:
        raise BadPack(f'effect="pure" with reads={reads!r}: a tool that reads has effect="reads"')
    if effect == "writes" and not written:
        raise BadPack('effect="writes" without writes=[…]: say which resources, such as writes=["file:{path}"]')
    if shape not in get_args(Shape):
        raise BadPack(f"shape={shape!r}: choose one of {', '.join(get_args(Shape))}")
    if timeout_seconds is not None and not timeout_seconds > 0:
        raise BadPack(f"timeout_seconds={timeout_seconds!r}: give a number of seconds above 0")
    derived: Effect = effect or ("writes" if written else "reads" if read else "external")
    declared = effect is not None or bool(read) or bool(written)
    return Facts(
        effect=derived, reads=read, writes=written, approval=approval, timeout_seconds=timeout_seconds, shape=shape,
        polled=polled, volatile=tuple(volatile), declared=declared,
    )  # fmt: skip


def _keys(where: str, told: Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]]) -> Keys:
    if callable(told):
        return told
    if isinstance(told, str):
        raise BadPack(f'{where}="{told}": give a list, such as {where}=["{told}"]')
    return tuple(told)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tool:
    """One function on offer, and everything that is known about it without calling it."""

    pack: str
    name: str
    doc: str
    input_schema: dict[str, Any]  # JSON Schema of one object: the arguments by name
    output_schema: dict[str, Any] | None  # None: not known
    order: tuple[str, ...]  # the arguments in the order in which they may be given without names
    facts: Facts
    function: Callable[..., Awaitable[Any]]
    resource: str | None  # the parameter that takes the pack's resource
    parse: Callable[[dict[str, Any]], dict[str, Any]]  # JSON by name to what the function takes; ValueError when it does not fit
    dump: Callable[[Any], Any]  # what the function gave, to JSON
    exact_null: bool = False  # null stays null; otherwise null for an optional argument means its default

    @property
    def full_name(self) -> str:
        return f"{self.pack}.{self.name}"

    def called(self, pack: str, name: str) -> "Tool":
        """The same tool under another name."""
        return replace(self, pack=pack, name=name)

    @property
    def summary(self) -> str:
        """The first sentence of the doc, on one line."""
        paragraph = " ".join(self.doc.strip().split("\n\n", 1)[0].split())
        end = paragraph.find(". ")
        return paragraph if end < 0 else paragraph[: end + 1]

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.input_schema.get("required", ()))

    @property
    def properties(self) -> dict[str, Any]:
        found: dict[str, Any] = self.input_schema.get("properties", {})
        return found

    def with_defaults(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the call means them: the given ones, and the default of each other one that has one."""
        declared = {
            name: named[name] if name in named else schema["default"]
            for name, schema in self.properties.items()
            if name in named or (isinstance(schema, dict) and "default" in schema)
        }
        # A schema may let in more than it names: what decides on a call, and what is shown of it, sees that too.
        return declared | {name: value for name, value in named.items() if name not in declared}

    def effects(self, named: Mapping[str, Any]) -> Effects:
        """What a call with these arguments touches; everything, when the author's function cannot tell."""
        try:
            return effects_of(self.facts.effect, self.facts.reads, self.facts.writes, self.with_defaults(named))
        except _CANNOT_TELL:
            return Effects("external", (EVERYTHING,), (EVERYTHING,))

    def asks(self, named: Mapping[str, Any]) -> bool:
        """Must a person approve a call with these arguments? Yes, when the author's function cannot tell."""
        wanted = self.facts.approval
        try:
            return bool(wanted(self.with_defaults(named))) if callable(wanted) else wanted
        except _CANNOT_TELL:
            return True
