"""Arguments judged before the call is made, by the rules of check.py, as far as the text shows them.

Where everything is known the call itself is tried (`bind`); where something is not, only what cannot become right is reported.
"""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from catalog.check import Fault, accepts, bind, faults
from catalog.problem import ToolProblem
from catalog.sketches import Sketch, Use, every, is_known, value_of
from catalog.tool import Tool

_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "$defs", "$schema", "title", "description"})
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_SAMPLES: dict[str, tuple[Any, str, str, str]] = {  # a kind that is known without its value: a sample, its JSON type, its words
    "text": ("…", "string", 'the text "…"', "text"),
    "list": ([], "array", "a list of 0 items", "a list"),
    "object": ({}, "object", "the object {}", "an object"),
}


@dataclass(frozen=True, slots=True)
class Slip:
    """One thing that is wrong with a call's arguments, and the byte offset where a caret belongs."""

    text: str
    at: int
    code: str = "bad_arguments"


@dataclass(frozen=True, slots=True)
class Given:
    """One argument by name: its sketch, and where the name stands (where the value does, for one that was given in order)."""

    at: int
    sketch: Sketch


def slips(tool: Tool, use: Use) -> list[Slip]:
    """What is certainly wrong with this call, in the order of the text."""
    found = [slip for arg in use.args for slip in _impossible(tool, arg)]
    if found:
        return found
    named, is_whole = _named(tool, use)
    if named is None:
        return []
    if isinstance(named, Slip):
        return [named]
    if is_whole and not use.more_args and all(is_known(arg) for arg in use.args):
        told = _tried(tool, [value_of(arg) for arg in use.args])
    else:
        told = _partly(tool, named, is_whole=is_whole and not use.more_args)
    texts: dict[int, list[str]] = {}
    for fault in _without_consequences(told):
        texts.setdefault(_place(fault, named, use), []).append(fault.text)
    return [Slip(f"{tool.full_name}: {'; '.join(texts[at])}", at) for at in sorted(texts)]


def _without_consequences(told: list[Fault]) -> list[Fault]:
    """`path` is missing because it was written `pth`: that is one slip, not two."""
    meant = {f"{fault.text.rpartition('did you mean ')[2].rstrip('?')} is missing" for fault in told if fault.text.endswith("?")}
    return [fault for fault in told if fault.text not in meant]


def _impossible(tool: Tool, arg: Sketch) -> list[Slip]:
    """What no argument can be, whatever the schema says."""
    texts = {
        "promise": ("an argument of {} is a promise: await the call that makes it", "not_awaited"),
        "function": ("an argument of {} is a function, and only data reaches a tool", "bad_arguments"),
    }
    return [
        Slip(texts[one.kind][0].format(tool.full_name), one.start, texts[one.kind][1]) for one in every(arg) if one.kind in texts
    ]


# ---------------------------------------------------------------- named or positional, as check.py has it


def _named(tool: Tool, use: Use) -> tuple[dict[str, Given] | Slip | None, bool]:
    """The arguments by name and whether these are all; None when the text does not tell how they will be read."""
    args = use.args
    if len(args) == 1 and not use.more_args:
        (only,) = args
        if only.kind == "unknown":
            return None, False
        if only.kind == "object":
            return _from_object(tool, only)
    return _in_order(tool, use)


def _from_object(tool: Tool, only: Sketch) -> tuple[dict[str, Given] | None, bool]:
    members = {member.name: Given(member.start, member.sketch) for member in only.members if member.sketch.kind != "undefined"}
    if any(name in tool.properties for name in members) or not tool.order:
        return members, not only.open
    if only.open:
        return None, False
    if members and (not is_known(only) and _may_be(tool, tool.order[0], "object")):
        return None, False
    if members and is_known(only) and accepts(tool, tool.order[0], value_of(only)):
        return {tool.order[0]: Given(only.start, only)}, True
    return members, True


def _in_order(tool: Tool, use: Use) -> tuple[dict[str, Given] | Slip | None, bool]:
    values, options = list(use.args), dict[str, Given]()
    last = values[-1] if len(values) > 1 else None
    may_be_options = last is not None and last.kind == "unknown"
    if last is not None and last.kind == "object" and not use.more_args:
        rest = tool.order[len(values) - 1 :]
        names = [member.name for member in last.members]
        if len(values) > len(tool.order) or (names and all(name in rest for name in names)):
            options = {
                member.name: Given(member.start, member.sketch) for member in last.members if member.sketch.kind != "undefined"
            }
            values.pop()
            may_be_options = last.open
        elif last.open:
            may_be_options = True
    most = len(tool.order)
    if len(values) - may_be_options > most:
        text = f"it takes {most} argument{'' if most == 1 else 's'}" if most else "it takes no arguments"
        return Slip(f"{tool.full_name}: {text}, and {len(values)} came", use.start), False
    if may_be_options:
        values = values[: len(values) - (last in values)]
    return {
        name: Given(value.start, value) for name, value in zip(tool.order, values, strict=False)
    } | options, not may_be_options


# ---------------------------------------------------------------- judging


def _tried(tool: Tool, values: list[Any]) -> list[Fault]:
    try:
        bind(tool, values)
    except ToolProblem as problem:
        return [Fault(row["path"], row["text"]) for row in problem.data["faults"]]
    return []


def _partly(tool: Tool, named: Mapping[str, Given], *, is_whole: bool) -> list[Fault]:
    """Some values are not known: what is missing, what nobody declared, and what is known and wrong."""
    if not set(tool.input_schema) <= _PLAIN:  # what one argument must be may depend on another, which may not be known
        return []
    closed = tool.input_schema.get("additionalProperties") is False
    is_whole = is_whole and not any(name in _parameters(tool) - tool.properties.keys() for name in named)
    known: dict[str, Any] = {}
    for name, given in named.items():
        if name not in tool.properties:
            if closed and name not in _parameters(tool):
                known[name] = None
        elif is_known(given.sketch):
            value = value_of(given.sketch)
            if value is not None or tool.exact_null or name in tool.required or accepts(tool, name, None):
                known[name] = value
    told = [fault for fault in faults(tool, known) if _counts(fault, tool, named, is_whole=is_whole)]
    for name, given in named.items():
        sample = _SAMPLES.get(given.sketch.kind)
        if name in tool.properties and name not in known and sample is not None and not _may_be(tool, name, given.sketch.kind):
            found = [fault for fault in faults(tool, {name: sample[0]}) if fault.path == name]
            told += [Fault(fault.path, fault.text.replace(sample[2], sample[3])) for fault in found]
    return told


def _counts(fault: Fault, tool: Tool, named: Mapping[str, Given], *, is_whole: bool) -> bool:
    """Not what only seems wrong because something else is not known."""
    if fault.text == f"{fault.path} is missing" and fault.path in tool.properties:
        return is_whole and fault.path not in named
    return bool(fault.path)


@cache
def _parameters(tool: Tool) -> frozenset[str]:
    """An argument with an alias may be given by its own name, too, of which the schema says nothing."""
    return frozenset(inspect.signature(tool.function).parameters)


def _may_be(tool: Tool, name: str, kind: str) -> bool:
    return _takes(tool.properties[name], tool.input_schema, _SAMPLES[kind][1], 0)


def _takes(schema: Any, root: Mapping[str, Any], kind: str, depth: int) -> bool:
    """May a value of this JSON type fit? True whenever the schema leaves it open."""
    if not isinstance(schema, Mapping) or depth > 16:
        return schema is not False
    reference = schema.get("$ref")
    if isinstance(reference, str):
        inside = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), True) if reference.startswith("#/$defs/") else True
        return _takes(inside, root, kind, depth + 1)
    types = schema.get("type")
    if types is not None and kind not in ([types] if isinstance(types, str) else types):
        return False
    if "enum" in schema or "const" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        return any(isinstance(one, {"string": str, "array": list, "object": dict}[kind]) for one in allowed)
    for word in ("anyOf", "oneOf"):
        if word in schema and not any(_takes(one, root, kind, depth + 1) for one in schema[word]):
            return False
    return all(_takes(one, root, kind, depth + 1) for one in schema.get("allOf", ()))


# ---------------------------------------------------------------- the place of a fault


def _place(fault: Fault, named: Mapping[str, Given], use: Use) -> int:
    """As deep as the text goes: the value, the name that nobody declared, or the call for what is missing."""
    steps = [(index, name) for index, name in _STEP.findall(fault.path)]
    if not steps or steps[0][1] not in named:
        return use.start
    given = named[steps[0][1]]
    if len(steps) == 1 and fault.text.startswith("there is no argument"):
        return given.at
    sketch, at = given.sketch, given.sketch.start
    for index, name in steps[1:]:
        member = next((one for one in reversed(sketch.members) if one.name == name), None)
        if index and int(index) < len(sketch.items) and not sketch.open:
            sketch = sketch.items[int(index)]
            at = sketch.start
        elif member is not None:
            sketch = member.sketch
            at = member.start if " has no member " in fault.text else sketch.start
        else:
            break
    return at
