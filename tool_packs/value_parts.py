"""Parts of a JSON value: kinds, lines, pointers and paths, leaves, a sketch of the shape. Pure."""

import re
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import orjson

from catalog import ToolProblem

Kind: TypeAlias = Literal["text", "list", "object", "number", "boolean", "null"]

SKETCH_CHARS = 2_000
SKETCH_DEPTH = 5
SKETCH_KEYS = 30
_STEP = re.compile(r"""\.?([^.\[\]"']+)|\[(\d+)\]|\[?"((?:[^"\\]|\\.)*)"\]?|\['([^']*)'\]""")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def kind_of(value: Any) -> Kind:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, dict) else "list" if isinstance(value, list) else "number"


def lines_of(text: str) -> list[str]:
    """By line feeds alone, so that numbers agree with what searches; a last line feed ends a line and begins none."""
    lines = text.split("\n")
    if lines and not lines[-1] and len(lines) > 1:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def reach(value: Any, pointer: str | None) -> Any:
    """The part at a JSON pointer (/a/0/b) or a path (a[0].b). ToolProblem `no_such_part` says how far it led."""
    steps = _steps(pointer or "")
    for index, step in enumerate(steps):
        where = "/" + "/".join(steps[:index]) if index else "the top"
        if isinstance(value, dict):
            if step not in value:
                raise _no_member(value, step, where)
            value = value[step]
        elif isinstance(value, list):
            if not (step.isascii() and step.isdigit() and len(step) < 12 and int(step) < len(value)):
                last = f"/{len(value) - 1}" if value else "none: it is empty"
                raise ToolProblem(
                    "no_such_part",
                    f"{where} is a list of {len(value):,} items; {step!r} is none of them",
                    hint=f"items are /0 to {last}",
                )
            value = value[int(step)]
        else:
            raise ToolProblem(
                "no_such_part", f"{where} is a {kind_of(value)}, which has no part {step!r}", hint="stop the pointer there"
            )
    return value


def leaves(value: Any) -> list[tuple[str, int, str]]:
    """Every text line and plain value in a JSON value: pointer, line, `key: text`. In its order, however deep."""
    found: list[tuple[str, int, str]] = []
    todo: list[tuple[str, str, Any]] = [("", "", value)]
    while todo:
        pointer, key, one = todo.pop()
        if isinstance(one, dict):
            todo.extend((f"{pointer}/{_escaped(name)}", name, inner) for name, inner in reversed(one.items()))
        elif isinstance(one, list):
            todo.extend((f"{pointer}/{index}", "", one[index]) for index in range(len(one) - 1, -1, -1))
        else:
            head = f"{_one_line(key)}: " if key else ""
            texts = lines_of(one) if isinstance(one, str) else [orjson.dumps(one).decode()]
            found.extend((pointer, number, head + text) for number, text in enumerate(texts, 1))
    return found


def sketch(value: Any) -> str:
    """As a TypeScript type with counts: { files: { path: string, line: number }[412] }."""
    made = _sketch(value, SKETCH_DEPTH)
    return made if len(made) <= SKETCH_CHARS else made[:SKETCH_CHARS] + "…"


def _sketch(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return "string" if "\n" not in value else f"string of {len(lines_of(value)):,} lines"
    if isinstance(value, dict):
        if not depth:
            return f"{{ {len(value):,} members }}" if value else "{}"
        shown = [f"{_name(key)}: {_sketch(inner, depth - 1)}" for key, inner in list(value.items())[:SKETCH_KEYS]]
        rest = [f"… {len(value) - SKETCH_KEYS:,} more"] if len(value) > SKETCH_KEYS else []
        return "{ " + ", ".join(shown + rest) + " }" if value else "{}"
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_sketch(inner, depth - 1) for inner in value[:20])) if depth else []
        if not kinds:
            return f"[{len(value):,}]"
        joined = " | ".join(kinds[:3]) + (" | …" if len(kinds) > 3 else "")
        return f"({joined})[{len(value):,}]" if len(kinds) > 1 else f"{joined}[{len(value):,}]"
    return kind_of(value)


def _steps(pointer: str) -> list[str]:
    if not pointer or pointer == "/":
        return []
    if pointer.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]
    steps: list[str] = []
    at = 1 if pointer.startswith(("$.", "$[")) else 0
    while at < len(pointer):
        step = _STEP.match(pointer, at)
        if step is None:
            raise ToolProblem("bad_argument", f"{pointer!r} is no pointer", hint="write /files/0/path or files[0].path")
        steps.append(next(part for part in step.groups() if part is not None))
        at = step.end()
    return steps


def _no_member(value: dict[str, Any], step: str, where: str) -> ToolProblem:
    near = get_close_matches(step, list(value)[:1_000], n=1)
    names = ", ".join(list(value)[:20]) + (f" and {len(value) - 20:,} more" if len(value) > 20 else "")
    hint = f"did you mean {near[0]}?" if near else f"it has {names}" if names else "it is empty"
    return ToolProblem("no_such_part", f"{where} is an object without {step!r}", hint=hint)


def _name(key: str) -> str:
    return key if _IDENTIFIER.fullmatch(key) else orjson.dumps(key).decode()


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _one_line(key: str) -> str:
    return key.replace("\n", " ")
