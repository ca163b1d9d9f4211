"""One name for one thing: resource keys as seen from the root, and the key of a call in a cache. Text only: no disk is asked.

Two names of one file by links, or by case where the file system ignores it, stay two keys: a write by one name does not drop what
was read by the other. The stamps tell, so a state must be looked at before a kept result is served.
"""

import hashlib
import json
import posixpath
from collections.abc import Mapping
from functools import lru_cache
from math import copysign
from pathlib import Path
from typing import Any

import orjson

from catalog.effects import EVERYTHING

_PATHS = ("file", "tree")


@lru_cache(maxsize=4096)  # several guards ask for the same keys, call after call
def canonical(key: str, *roots: Path) -> str:
    """`file:/root/a` and `file:a` are one file. What lies elsewhere is absolute; a tree that holds the root is everything.

    roots: the names of the one root folder; relative paths are below the first.
    """
    kind, colon, name = key.partition(":")
    if not colon or kind not in _PATHS:
        return key
    tops = [posixpath.normpath(root) for root in roots]
    path = "/" + posixpath.normpath(posixpath.join(tops[0], name)).lstrip("/")  # normpath keeps two slashes in front
    for top in tops:
        if path == top:
            return f"{kind}:."
        if path.startswith(top.rstrip("/") + "/"):
            return f"{kind}:{path[len(top.rstrip('/')) + 1 :]}"
    if kind == "tree" and any(top.startswith(path.rstrip("/") + "/") for top in tops):
        return EVERYTHING
    return f"{kind}:{path}"


def cache_key(tool: str, digest: str, named: Mapping[str, Any]) -> str:
    """Equal for equal calls only.

    digest: of all else that the result depends on: the tool's definition, its pack's settings, the root.
    named: arguments by name, defaults filled in. Their order does not count, nor whether 1 is written 1.0.
    """
    told = [tool, digest, _plain(named)]
    try:
        text = orjson.dumps(told, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        text = json.dumps(told, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer() and (value or copysign(1.0, value) > 0):  # -0.0 is not 0
        return int(value)
    return value
