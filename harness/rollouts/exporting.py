"""A session written out as lines: an imported one in the format that it came from, one of our own as a rollout of Codex.

Records come out equal to those that were read, as JSON; blanks, the order of members and which lines were glued are not kept.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import orjson

from harness.entries import Entry, Item, Opened
from harness.rollouts import FORMATS
from harness.rollouts.codex_export import codex_rollout
from harness.rollouts.splitting import DOCUMENT


def export_rollout(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Lines with their ends. ValueError when it begins with no `Opened`."""
    rest = iter(entries)
    opened = next(rest, None)
    if not isinstance(opened, Opened):
        raise ValueError("a session begins with an entry `opened`; export from its first line on")
    if not opened.facts.format:
        yield from (dumped(line) for line in codex_rollout(chain([opened], rest)))
        return
    items = (entry for entry in rest if isinstance(entry, Item))
    first = next(items, None)
    if first is None:
        return
    form = FORMATS.get(first.format)
    if first.kind == DOCUMENT and form is not None and form.list_name and isinstance(first.raw, dict | list):
        yield from _document(first, items)
    else:
        yield from (_line(item) for item in chain([first], items))


def _document(rest: Item, items: Iterator[Item]) -> Iterator[bytes]:
    """The document in one line, and behind it what was no part of it."""
    elements: list[Any] = []
    others: list[Item] = []
    for item in items:
        others.append(item) if item.text is not None else elements.append(item.raw)
    if isinstance(rest.raw, list):
        yield dumped(elements)
    else:
        yield dumped({**rest.raw, FORMATS[rest.format].list_name: elements})
    yield from (_line(item) for item in others)


def _line(item: Item) -> bytes:
    if item.text is None:
        return dumped(item.raw)
    try:
        return item.text.encode("latin-1" if item.kind == "bytes" else "utf-8") + b"\n"
    except UnicodeEncodeError:  # a session that no import wrote
        return item.text.encode("utf-8", "surrogatepass") + b"\n"


def dumped(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half a surrogate pair, deep nesting
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"
