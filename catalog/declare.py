"""What a model reads of a tool: its signature in one line, its declaration in TypeScript.

Pure functions of the tools. The text is valid TypeScript (the signature nearly so: it shows defaults); equal types of several
tools are declared once, different ones that want the same name are numbered. Packs and tools keep the order in which they came.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from catalog.schema_types import Document, read_schema
from catalog.schema_words import document_text
from catalog.tool import Tool
from catalog.typescript import (
    UNKNOWN,
    Both,
    Definition,
    Either,
    Field,
    Fields,
    Many,
    Named,
    NameOf,
    Record,
    TooLong,
    Tuple,
    Type,
    Word,
    block,
    capital,
    comment,
    key,
    line,
)

SIGNATURE_CHARS = 300
_RESULT_CHARS = 60  # kept free in it for what the call gives
_MEMBER_CHARS = 80
_CHOICE_CHARS = 40
_LISTS_MAX = 3
_KEPT = 4_096  # tools whose texts are remembered
_TAKEN = frozenset({
    "Promise", "Record", "Array", "Partial", "Object", "String", "Number", "Boolean", "Date", "Map", "Set", "Error", "Function",
    "Symbol",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Read:
    """A tool's two schemas as types."""

    tool: Tool
    arguments: Document
    result: Document


@lru_cache(maxsize=_KEPT)
def _read(tool: Tool) -> _Read:
    stem = capital(tool.name)
    title = tool.output_schema.get("title") if tool.output_schema is not None else None
    arguments = read_schema(tool.input_schema, name=f"{stem}Arguments")
    result = read_schema(
        True if tool.output_schema is None else tool.output_schema,
        name=title if isinstance(title, str) and title else f"{stem}Result",
        by_name=isinstance(title, str),
    )
    return _Read(tool, arguments, result)


# ---------------------------------------------------------------- one line


@lru_cache(maxsize=_KEPT)
def signature(tool: Tool) -> str:
    """`files.read({ path: string, limit?: number = 2000 }): Promise<{ text: string }>`, at most 300 characters.

    Arguments come first: what a call gives has the room they leave, down to the names of its fields.
    """
    read = _read(tool)
    room = SIGNATURE_CHARS - len(tool.full_name) - len("(): Promise<>")
    given = "" if _takes_nothing(tool, read.arguments) else _arguments_line(read.arguments, room - _RESULT_CHARS)
    return f"{tool.full_name}({given}): Promise<{_result_line(read.result, room - len(given))}>"


def _result_line(document: Document, most: int) -> str:
    for unroll in (3, 2, 1):
        try:
            return line(document.type, document.find, unroll=unroll, most=most)
        except TooLong:
            continue
    return _field_names(document.type, document, most)


def _field_names(made: Type, document: Document, most: int, lists: int = 0) -> str:
    match document.unrolled(made):
        case Many(of) if lists < _LISTS_MAX:
            return f"{_field_names(of, document, most - 2, lists + 1)}[]"
        case Fields(fields):
            return f"{{ {', '.join(_fitting([key(one.name) for one in fields], ', ', most - len('{ , … }')))} }}"
        case other:
            return _coarse(other)


def _fitting(words: Sequence[str], between: str, most: int) -> list[str]:
    """The first words that fit together, and `…` for the others."""
    told: list[str] = []
    for word in words:
        most -= len(word) + len(between)
        if most < 0:
            return [*told, "…"]
        told.append(word)
    return told


def _arguments_line(document: Document, most: int) -> str:
    made = document.unrolled(document.type)
    for unroll in (1, 0):
        try:
            return line(made, document.find, unroll=unroll, most=most)
        except TooLong:
            continue
    return _cut_members(made, document, most) if isinstance(made, Fields) else _coarse(made)


def _cut_members(made: Fields, document: Document, most: int) -> str:
    """As many members as fit, the required ones first; then names alone; then `…`."""
    left = most - len("{ , … }")
    told: list[str] = []
    for one in made.fields:
        bare = f"{key(one.name)}{'' if one.required else '?'}"
        text = next((text for text in (f"{bare}: {_member_line(one, document)}", bare) if len(text) + 2 <= left), None)
        if text is None:
            break
        told.append(text)
        left -= len(text) + 2
    rest = ["…"] if len(told) < len(made.fields) or made.left_out else []
    return f"{{ {', '.join([*told, *rest])} }}"


def _member_line(one: Field, document: Document) -> str:
    try:
        return line(one.type, document.find, unroll=0, most=_MEMBER_CHARS)
    except TooLong:
        return _coarse(one.type)


def _coarse(made: Type) -> str:
    match made:
        case Word():
            return made.text if len(made.text) <= _MEMBER_CHARS else "string"
        case Many(Either() as of):
            return f"({_coarse(of)})[]"
        case Many(of):
            return f"{_coarse(of)}[]"
        case Tuple():
            return "[…]"
        case Either(parts):
            first, *others = [_coarse(one) for one in parts]
            return " | ".join([first, *_fitting(others, " | ", _CHOICE_CHARS - len(first))])
        case _:
            return "{ … }"


def _takes_nothing(tool: Tool, document: Document) -> bool:
    """No properties, and the author did not open the door to any."""
    open_door = tool.input_schema.get("additionalProperties") not in (None, False)
    return document.type in (UNKNOWN, Record(Word("never"))) or (document.type == Record(UNKNOWN) and not open_door)


# ---------------------------------------------------------------- TypeScript


@lru_cache(maxsize=_KEPT)
def declaration(tool: Tool) -> str:
    return declarations([tool])


def declarations(tools: Iterable[Tool]) -> str:
    """One `declare const tools`, then the types that it mentions."""
    reads = [_read(tool) for tool in tools]
    documents = [document for read in reads for document in (read.arguments, read.result)]
    names, types = _named(documents)
    packs: dict[str, list[str]] = {}
    for index, read in enumerate(reads):
        methods = packs.setdefault(read.tool.pack, [])
        methods.append(_method(read, names[2 * index], names[2 * index + 1]))
    rows = ["declare const tools: {"]
    for pack, methods in packs.items():
        rows += [f"  {key(pack)}: {{", "\n".join(methods), "  };"]
    return "\n".join([*rows, "};", *(_definition(name, one, names[index]) for name, one, index in types)]) + "\n"


def _method(read: _Read, argument_name: NameOf, result_name: NameOf) -> str:
    tags = [*read.arguments.tags, *(["@note too large to show whole"] if read.arguments.cut or read.result.cut else [])]
    doc = comment(document_text(read.tool.doc), tags)
    rows = doc.split("\n") if doc else []
    given = ""
    if not _takes_nothing(read.tool, read.arguments):
        made = read.arguments.type
        optional = not read.tool.required and isinstance(read.arguments.unrolled(made), Fields | Record)
        given = f"args{'?' if optional else ''}: {block(made, argument_name, 2)}"
    rows.append(f"{key(read.tool.name)}({given}): Promise<{block(read.result.type, result_name, 2)}>;")
    return "\n".join(f"    {row}" for row in rows)


def _definition(name: str, one: Definition, name_of: NameOf) -> str:
    doc = comment(one.doc)
    body = block(one.type, name_of)
    text = f"interface {name} {body}" if isinstance(one.type, Fields) else f"type {name} = {body};"
    return "\n" + (f"{doc}\n" if doc else "") + text


# ---------------------------------------------------------------- names of types


def _named(documents: Sequence[Document]) -> tuple[list[NameOf], list[tuple[str, Definition, int]]]:
    """For each document the names of its definitions; and every type to declare, once, with the document it is read in."""
    kinds = _kinds(documents)
    names: dict[int, str] = {}
    used: set[str] = set(_TAKEN)
    types: list[tuple[str, Definition, int]] = []
    for index, document in enumerate(documents):
        for one in document.definitions:
            kind = kinds[index, one.name.pointer]
            if kind not in names:
                names[kind] = _free(one.name.wanted, used)
                types.append((names[kind], one, index))
    return [partial(_name_in, index, kinds, names) for index in range(len(documents))], types


def _name_in(index: int, kinds: dict[tuple[int, str], int], names: dict[int, str], named: Named) -> str:
    return names[kinds[index, named.pointer]]


def _kinds(documents: Sequence[Document]) -> dict[tuple[int, str], int]:
    """Which definitions are the same type: equal to the eye at first, then split as long as what they mention differs."""
    known: dict[object, int] = {}
    rows = {(index, one.name.pointer): one for index, document in enumerate(documents) for one in document.definitions}
    kinds = {place: known.setdefault((one.name.wanted, one.type, one.doc), len(known)) for place, one in rows.items()}
    mentions = {place: [(place[0], named.pointer) for named in _mentioned(one.type)] for place, one in rows.items()}
    while True:
        known = {}
        finer = {
            place: known.setdefault((kind, *(kinds[other] for other in mentions[place])), len(known))
            for place, kind in kinds.items()
        }
        if len(known) == len(set(kinds.values())):
            return finer
        kinds = finer


def _mentioned(made: Type) -> Iterator[Named]:
    match made:
        case Named():
            yield made
        case Many() | Record():
            yield from _mentioned(made.of)
        case Either() | Both():
            for one in made.parts:
                yield from _mentioned(one)
        case Tuple():
            for one in (*made.items, *([made.rest] if made.rest else [])):
                yield from _mentioned(one)
        case Fields():
            for member in made.fields:
                yield from _mentioned(member.type)
        case Word():
            return


def _free(wanted: str, used: set[str]) -> str:
    made, number = wanted, 1
    while made in used:
        number += 1
        made = f"{wanted}{number}"
    used.add(made)
    return made
