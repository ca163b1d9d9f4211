"""Where a shown value comes from: is it what a call of this turn gave, or the text in it? By equality, since only JSON crosses
the wall.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.call import Call, Outcome
from harness.condense.record import Origin
from harness.printed_files import as_files

Json: TypeAlias = Any
_TERMS_MAX = 32
_TERM_CHARS = (2, 80)
_TEXT_CHARS_MIN = 80  # shorter texts are shown whole anyway


@dataclass(frozen=True, slots=True)
class Source:
    """`shape` as the tool declared it. `origin`: of a text that is a stretch of a file. `instead`: what to show for the value."""

    shape: str
    origin: Origin | None = None
    command: str = ""
    exit_code: int | None = None
    instead: Json = None


class Provenance:
    """Of one turn."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, ...], list[tuple[Json, Source]]] = {}
        self._texts: dict[str, Source] = {}
        self._terms: dict[str, None] = {}

    def add(self, call: Call, outcome: Outcome) -> None:
        if call.tool.facts.shape == "hits":
            for term in _terms(call):
                self._terms[term] = None
        if not outcome.ok:
            return
        value, shape = outcome.value, call.tool.facts.shape
        command = _command(call)
        if isinstance(value, str):
            self._text(value, Source(shape, command=command))
        elif isinstance(value, dict):
            exit_code = value.get("exit_code")
            code = exit_code if isinstance(exit_code, int) else None
            source = _printed_files(call, value) or Source(shape, command=command, exit_code=code)
            self._values.setdefault(tuple(value), []).append((value, source))
            if source.instead is not None:
                self._text(value["output"], source)
            for name, text, origin in _texts_in(value):
                kind = "slice" if origin is not None else str(value.get("kind", shape)) if name == "output" else "text"
                self._text(text, Source({"search": "hits", "build": "build"}.get(kind, kind), origin, command, code))

    def of(self, value: Json) -> Source | None:
        if isinstance(value, str):
            return self._texts.get(value) or self._part(value)
        if isinstance(value, dict):
            return next((source for known, source in self._values.get(tuple(value), ()) if known == value), None)
        return None

    @property
    def terms(self) -> tuple[str, ...]:
        """What the script looked for."""
        return tuple(self._terms)[:_TERMS_MAX]

    def _text(self, text: str, source: Source) -> None:
        if len(text) >= _TEXT_CHARS_MIN:
            self._texts.setdefault(text, source)

    def _part(self, part: str) -> Source | None:
        """Whole lines out of a stretch of a file that a call gave, as a script cuts them out."""
        lines = part.removesuffix("\n")
        if len(part) < _TEXT_CHARS_MIN or "\n" not in lines:
            return None
        for text, source in self._texts.items():
            at = text.find(lines) if source.origin is not None else -1
            end = at + len(lines)
            if at >= 0 and source.origin is not None and text[at - 1 : at] in ("", "\n") and text[end : end + 1] in ("", "\n"):
                origin = source.origin
                return Source("slice", Origin(origin.path, origin.oid, origin.first + text.count("\n", 0, at)), source.command)
        return None


def _texts_in(value: dict[str, Json]) -> Iterator[tuple[str, str, Origin | None]]:
    """The texts that a script would show of a result, each with where it stands if it is one stretch of a file."""
    path, oid, lines = value.get("path"), value.get("oid", ""), value.get("lines")
    for name in ("text", "output", "stderr", "content"):
        text = value.get(name)
        if not isinstance(text, str):
            continue
        stretch = isinstance(path, str) and isinstance(lines, list) and len(lines) == 1
        yield name, text, Origin(str(path), str(oid), _first(lines)) if stretch else None
    parts = value.get("parts")
    for part in parts if isinstance(parts, list | tuple) else ():
        if (
            isinstance(path, str)
            and isinstance(part, dict)
            and isinstance(part.get("text"), str)
            and isinstance(part.get("first"), int)
        ):
            yield "text", part["text"], Origin(path, str(oid), part["first"])


def _printed_files(call: Call, value: dict[str, Json]) -> Source | None:
    reads, output = value.get("reads"), value.get("output")
    if call.tool.facts.shape != "output" or not isinstance(reads, list) or not isinstance(output, str):
        return None
    shown = as_files(output, reads, str(call.bound.named.get("cwd", ".")))
    return None if shown is None else Source("slice", shown[1], _command(call), value.get("exit_code"), shown[0])


def _terms(call: Call) -> Iterator[str]:
    for name in ("pattern", "query", "symbol", "name"):
        told = call.bound.named.get(name)
        if isinstance(told, str) and _TERM_CHARS[0] <= len(told) <= _TERM_CHARS[1]:
            yield told


def _command(call: Call) -> str:
    told = call.bound.named.get("command")
    return told if isinstance(told, str) else " ".join(map(str, told)) if isinstance(told, list) else ""


def _first(lines: Any) -> int:
    """Of `[[first, last]]`; tools and recordings may say anything."""
    match lines:
        case [[int(first), *_], *_]:
            return max(1, first)
    return 1
