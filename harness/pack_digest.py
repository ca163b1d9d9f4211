"""What the results of a pack's tools depend on besides their arguments: its code, its settings, the root.

For keys of kept results.
"""

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from catalog import Offer, Pack


def digests(offer: Offer, settings: Mapping[str, Mapping[str, Any]], root: Path) -> dict[str, str]:
    """By the name of the tool on offer."""
    by_pack = {id(pack): _digest(pack, settings.get(pack.name, {}), root) for pack in offer.packs}
    return {name: f"{by_pack[id(pack)]}:{offer.tools[name].function.__qualname__}" for name, pack in offer.homes.items()}


def _digest(pack: Pack, settings: Mapping[str, Any], root: Path) -> str:
    told = orjson.dumps(
        [version("turnscript"), pack.source, settings, str(root.resolve())], option=orjson.OPT_SORT_KEYS, default=str
    )
    made = hashlib.sha256(told)
    for path in _sources(pack):
        facts = path.stat()
        made.update(f"{path}\0{facts.st_size} {facts.st_mtime_ns}\0".encode())
    return made.hexdigest()[:32]


def _sources(pack: Pack) -> list[Path]:
    """The files of its code: all of its package, or the one module."""
    files = {Path(tool.function.__code__.co_filename) for tool in pack.tools if hasattr(tool.function, "__code__")}
    if "." in pack.source:
        files |= {other for path in files for other in path.parent.glob("*.py")}
    return sorted(path for path in files if path.is_file())
