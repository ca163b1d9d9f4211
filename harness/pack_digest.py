"""What the results of a pack's tools depend on besides their arguments: its code, its settings, the root.

For keys of kept results.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from catalog import Offer, Pack


@cache
def turnscript_version() -> str:
    return version("turnscript")


def pack_digests(offer: Offer, settings: Mapping[str, Mapping[str, Any]], root: Path) -> dict[str, str]:
    """By the name of the pack. Each folder is looked at once: many packs may share one."""
    stamps = cache(_stamps)
    return {pack.name: _digest(pack, settings.get(pack.name, {}), root, stamps) for pack in offer.packs}


def tool_digests(offer: Offer, by_pack: Mapping[str, str]) -> dict[str, str]:
    """By the name of the tool on offer."""
    return {name: f"{by_pack[pack.name]}:{offer.tools[name].function.__qualname__}" for name, pack in offer.homes.items()}


def _digest(pack: Pack, settings: Mapping[str, Any], root: Path, stamps: Callable[[str], dict[str, str]]) -> str:
    told = orjson.dumps(
        [turnscript_version(), pack.source, settings, str(root.resolve())], option=orjson.OPT_SORT_KEYS, default=str
    )
    made = hashlib.sha256(told)
    files = {tool.function.__code__.co_filename for tool in pack.tools if hasattr(tool.function, "__code__")}
    for folder in sorted({os.path.dirname(file) for file in files}):  # noqa: PTH120 - hundreds of them, at every start
        for path, stamp in stamps(folder).items():
            if "." in pack.source or path in files:  # all of its package, or the one module
                made.update(f"{path}\0{stamp}\0".encode())
    return made.hexdigest()[:32]


def _stamps(folder: str) -> dict[str, str]:
    """Of the Python files in a folder, in order."""
    try:
        with os.scandir(folder) as found:
            files = sorted((one.path, one.stat()) for one in found if one.name.endswith(".py") and one.is_file())
    except OSError:
        return {}
    return {path: f"{facts.st_size} {facts.st_mtime_ns}" for path, facts in files}
