"""TypeScript types as a small tree, and how the tree is written: in one line for lists, over many lines with documentation.

Where types come from is schema_types.py; the names of definitions are given by declare.py.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_ON_ONE_LINE = 72
_PLAIN_DEFAULTS = ("", "null", "false", '""', "[]", "{}")  # what one would guess


@dataclass(frozen=True, slots=True)
class Word:
    """A keyword or a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """Stands for a definition: `wanted` is the name it would like, `pointer` where its schema is."""

    wanted: str
    pointer: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Many:
    of: "Type"


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple["Type", ...]
    least: int  # so many must be there
    rest: "Type | None"


@dataclass(frozen=True, slots=True)
class Record:
    of: "Type"


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple["Type", ...]


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple["Type", ...]


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: "Type"
    required: bool
    doc: str = ""
    tags: tuple[str, ...] = ()
    default: str = ""  # as JSON


@dataclass(frozen=True, slots=True)
class Fields:
    fields: tuple[Field, ...]
    open: bool = False  # others are welcome, and the author says so
    left_out: int = 0  # properties beyond what one schema may cost


Type: TypeAlias = Word | Named | Many | Tuple | Record | Either | Both | Fields

UNKNOWN = Word("unknown")
NULL = Word("null")


@dataclass(frozen=True, slots=True)
class Definition:
    name: Named
    type: Type
    doc: str


# ---------------------------------------------------------------- putting types together


def either(types: Iterable[Type]) -> Type:
    """A union without repeats; `unknown` swallows the rest."""
    flat: dict[Type, None] = {}
    for one in types:
        flat.update(dict.fromkeys(one.parts if isinstance(one, Either) else (one,)))
    flat.pop(Word("never"), None)
    if UNKNOWN in flat:
        return UNKNOWN
    if {Word("true"), Word("false")} <= flat.keys():
        flat = dict.fromkeys(Word("boolean") if one == Word("true") else one for one in flat if one != Word("false"))
    if not flat:
        return Word("never")
    if NULL in flat:
        del flat[NULL]
        flat[NULL] = None
    return next(iter(flat)) if len(flat) == 1 else Either(tuple(flat))


def both(types: Iterable[Type]) -> Type:
    """An intersection; what says nothing is left out."""
    flat: dict[Type, None] = {}
    for one in types:
        flat.update(dict.fromkeys(one.parts if isinstance(one, Both) else (one,)))
    flat.pop(UNKNOWN, None)
    if not flat:
        return UNKNOWN
    return next(iter(flat)) if len(flat) == 1 else Both(tuple(flat))


# ---------------------------------------------------------------- writing

NameOf = Callable[[Named], str]


def block(made: Type, name_of: NameOf, indent: int = 0) -> str:
    """Over several lines, with the documentation of every member. The first line is not indented."""
    match made:
        case Word():
            return made.text
        case Named():
            return name_of(made)
        case Many():
            inner = block(made.of, name_of, indent)
            return f"({inner})[]" if isinstance(made.of, Either | Both) else f"{inner}[]"
        case Record():
            return f"Record<string, {block(made.of, name_of, indent)}>"
        case Tuple():
            rest = None if made.rest is None else block(Many(made.rest), name_of, indent)
            return _tuple(made, [block(one, name_of, indent) for one in made.items], rest)
        case Either():
            return " | ".join(block(one, name_of, indent) for one in made.parts)
        case Both():
            return " & ".join(_bracketed(one, block(one, name_of, indent)) for one in made.parts)
        case Fields():
            return _fields(made, name_of, indent)


def _bracketed(made: Type, text: str) -> str:
    return f"({text})" if isinstance(made, Either) else text


def _tuple(made: Tuple, items: list[str], rest: str | None) -> str:
    told = [item if index < made.least else f"({item})?" for index, item in enumerate(items)]
    return f"[{', '.join([*told, *([f'...{rest}'] if rest else [])])}]"


def _fields(made: Fields, name_of: NameOf, indent: int) -> str:
    pad = "  " * (indent + 1)
    rows: list[str] = []
    for one in made.fields:
        rows += [pad + row for row in comment(one.doc, one.tags).split("\n") if row]
        rows.append(f"{pad}{key(one.name)}{'' if one.required else '?'}: {block(one.type, name_of, indent + 1)};")
    if made.left_out:
        rows.append(f"{pad}/* and {made.left_out:,} more */")
    if made.open or made.left_out:
        rows.append(f"{pad}[key: string]: unknown;")
    short = f"{{ {' '.join(row.strip() for row in rows).removesuffix(';')} }}"
    if len(short) <= _ON_ONE_LINE and not any("/*" in row or "\n" in row for row in rows):
        return short
    return "{\n" + "\n".join(rows) + "\n" + "  " * indent + "}"


def comment(doc: str, tags: Iterable[str] = ()) -> str:
    """A JSDoc comment: one line where the words are one line; "" when there are none."""
    rows = [row.rstrip() for row in doc.split("\n")] if doc else []
    told = " ".join(tags)
    if len(rows) <= 1:
        text = " ".join(part for part in (*rows, told) if part)
        return f"/** {text} */" if text else ""
    return "\n".join(["/**", *(f" * {row}".rstrip() for row in [*rows, *([told] if told else [])]), " */"])


class TooLong(Exception):
    """What was written in one line has passed its cap."""


def line(made: Type, find: Callable[[Named], "tuple[str, Type]"], *, unroll: int, most: int) -> str:
    """In one line, without documentation but with defaults. `find` gives a definition's name and type;
    so many names deep are unrolled. Raises TooLong past `most` characters, having done no more work than that."""
    left, inside = most, list[str]()  # inside: the definitions being unrolled; none is unrolled in itself

    def spend(text: str) -> str:
        nonlocal left
        left -= len(text)
        if left < 0:
            raise TooLong
        return text

    def unrolls(one: Named, unroll: int) -> bool:
        return unroll > 0 and one.pointer not in inside

    def write(one: Type, unroll: int) -> str:
        match one:
            case Word():
                return spend(one.text)
            case Named():
                name, inner = find(one)
                if not unrolls(one, unroll):
                    return spend(name)
                inside.append(one.pointer)
                text = write(inner, unroll - 1)
                inside.pop()
                return text
            case Many():
                of = find(one.of)[1] if isinstance(one.of, Named) and unrolls(one.of, unroll) else one.of
                inner_text = write(one.of, unroll)
                return f"({inner_text})[]" if isinstance(of, Either | Both) else f"{inner_text}[]"
            case Record():
                return f"Record<string, {write(one.of, unroll)}>"
            case Tuple():
                rest = None if one.rest is None else write(Many(one.rest), unroll)
                return _tuple(one, [write(item, unroll) for item in one.items], rest)
            case Either():
                return " | ".join(write(part, unroll) for part in one.parts)
            case Both():
                return " & ".join(_bracketed(part, write(part, unroll)) for part in one.parts)
            case Fields():
                return f"{{ {', '.join(member(field, unroll) for field in one.fields)}{', …' if one.left_out else ''} }}"

    def member(one: Field, unroll: int) -> str:
        default = f" = {one.default}" if one.default not in _PLAIN_DEFAULTS else ""
        return spend(f"{key(one.name)}{'' if one.required else '?'}: ") + write(one.type, unroll) + spend(default)

    text = write(made, unroll)
    if len(text) > most:
        raise TooLong
    return text


def key(name: str) -> str:
    """A property's name as TypeScript takes it; one word that its grammars trip over is quoted."""
    return name if _NAME.fullmatch(name) and name != "abstract" else quoted(name)


def quoted(text: str) -> str:
    return json.dumps(safe(text), ensure_ascii=False)


def safe(text: str) -> str:
    """Without control characters, odd line ends and halves of characters."""
    return _UNSAFE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def type_name(wanted: str) -> str:
    """An identifier out of any text: `Page[Item]` is PageItem, `rich_text` is RichText, `2d-point` is _2dPoint."""
    made = "".join(capital(word) for word in re.split(r"[^A-Za-z0-9_$]+", wanted[:80]) if word) or "Type"
    return f"_{made}" if made[0].isdigit() else made


def capital(word: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in word.split("_") if part) or word
