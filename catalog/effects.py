"""What a call touches, as resource keys, so that guards need no knowledge of tools.

A tool declares templates (`file:{path}`, `tree:{root}`, `url:{url}`) or a function of the arguments; for one call they become
keys. `tree:` covers every `file:` and `tree:` below it; `*` is everything: what a tool that declared nothing may touch.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Effect: TypeAlias = Literal["pure", "reads", "writes", "external"]
Keys: TypeAlias = tuple[str, ...] | Callable[[Mapping[str, Any]], Iterable[str]]

EVERYTHING = "*"
_FIELD = re.compile(r"\{([^{}]*)\}")
_PATHS = ("file", "tree")


@dataclass(frozen=True, slots=True)
class Effects:
    """Of one call: sorted keys, each once."""

    effect: Effect
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def effects_of(effect: Effect, reads: Keys, writes: Keys, arguments: Mapping[str, Any]) -> Effects:
    """`arguments` by name, with defaults filled in. External without a declared key may touch everything."""
    read, written = _keys(reads, arguments), _keys(writes, arguments)
    if effect == "external" and not read and not written:
        return Effects(effect, (EVERYTHING,), (EVERYTHING,))
    return Effects(effect, read, written)


def fields_of(template: str) -> list[str]:
    """The argument names that a template uses."""
    return _FIELD.findall(template)


def overlap(one: str, other: str) -> bool:
    """May the two keys mean the same thing?"""
    if EVERYTHING in (one, other) or one == other:
        return True
    return _covers(one, other) or _covers(other, one)


def _keys(told: Keys, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    if callable(told):
        return tuple(sorted({_tidy(key) for key in told(arguments)}))
    return tuple(sorted({_tidy(key) for template in told for key in _filled(template, arguments)}))


def _filled(template: str, arguments: Mapping[str, Any]) -> list[str]:
    """One key, or one for each item of a list argument; a missing argument leaves the key out."""
    names = fields_of(template)
    if not names:
        return [template]
    given = arguments.get(names[0])
    if given is None:
        return []
    values = given if isinstance(given, list) else [given]
    keys = [template.replace("{" + names[0] + "}", str(value).replace("{", "\x00")) for value in values]
    return [key.replace("\x00", "{") for filled in keys for key in (_filled(filled, arguments) if names[1:] else [filled])]


def _tidy(key: str) -> str:
    """`file:./a//b` and `file:a/b` are one key; `tree:` alone is the root."""
    kind, colon, name = key.partition(":")
    if not colon or kind not in _PATHS:
        return key
    return f"{kind}:{posixpath.normpath(name or '.')}"


def _covers(tree: str, key: str) -> bool:
    kind, _, top = tree.partition(":")
    other, colon, name = key.partition(":")
    if kind != "tree" or not colon or other not in _PATHS:
        return False
    if top == "." and not name.startswith(("/", "../")):
        return True
    return name == top or name.startswith(top.rstrip("/") + "/")
