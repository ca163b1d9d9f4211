"""From a name to a pack: one we ship, an entry point, a dotted module, or the path of a file. Loaded when asked for."""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from catalog.pack import Pack, has_tools, pack
from catalog.problem import BadPack

SHIPPED = ("files", "search", "patch", "shell", "git", "plan", "web", "agents", "results")
GROUP = "turnscript.packs"
_EXTRAS = {"mcp": "mcp", "openapi": "web"}


def known_packs() -> dict[str, str]:
    """Every pack that has a name of its own, and the module behind it: ours, then installed ones."""
    named = {name: f"tool_packs.{name}" for name in SHIPPED}
    return named | {point.name: point.value for point in _points()}


def load_pack(name: str, *, folder: Path | None = None) -> Pack:
    """`files`, `my_company.tickets`, `./packs/weather.py`; paths count from `folder`. BadPack says what is wrong with it."""
    if name.endswith(".py") or "/" in name:
        return _from_file((folder or Path()) / name)
    point = next((point for point in _points() if point.name == name), None)
    if point is not None:
        return _from_point(point)
    module = f"tool_packs.{name}" if name in SHIPPED else name
    if not _exists(module):
        near = get_close_matches(name, list(known_packs()), n=1, cutoff=0.5)
        guess = f"did you mean {near[0]}?" if near else f"known: {', '.join(known_packs())}."
        raise BadPack(f"there is no pack {name!r}; {guess} A module is named with dots, a file by its path: ./{name}.py")
    return _held(_imported(module), name)


class Connect(Protocol):
    """A bridge: from settings, as configuration has them, to a pack that is there while it is connected."""

    def __call__(
        self, name: str, settings: Mapping[str, Any], *, root: Path, folder: Path, environment: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Pack]: ...


def load_bridge(kind: str) -> Connect:
    """`mcp` or `openapi`: the function `connect` of its module. BadPack when its extra is not installed."""
    try:
        found: Connect = importlib.import_module(f"tool_packs.{kind}_bridge").connect
    except ModuleNotFoundError as error:
        raise BadPack(
            f"[{kind}.…] needs {error.name}, which is not installed: pip install 'turnscript[{_EXTRAS[kind]}]'"
        ) from None
    return found


def _points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _from_point(point: EntryPoint) -> Pack:
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise BadPack(f"pack {point.name} (entry point {point.value}): {error}") from error
    made = found if isinstance(found, Pack) else pack(found) if isinstance(found, ModuleType) else None
    if made is None:
        raise BadPack(f"pack {point.name} (entry point {point.value}): not a module and not a Pack")
    return made.renamed(point.name)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise BadPack(f"pack {module}: {error}") from error


def _from_file(path: Path) -> Pack:
    if not path.is_file():
        raise BadPack(f"{path}: there is no such file; give the path of a pack's module")
    name = f"turnscript_pack_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadPack(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks types up there
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError, NameError, TypeError, AttributeError, ValueError) as error:
        del sys.modules[name]
        if isinstance(error, BadPack):
            raise
        raise BadPack(f"{path}: {type(error).__name__}: {error}") from error
    if not hasattr(module, "PACK"):
        module.PACK = path.stem.removesuffix("_pack") or path.stem  # type: ignore[attr-defined]
    return _held(module, str(path))


def _held(module: ModuleType, where: str) -> Pack:
    """A module is a pack by its tools, or holds one that was made in it, such as another framework's tools."""
    made = {id(one): one for one in vars(module).values() if isinstance(one, Pack)}
    if has_tools(module):
        return pack(module)
    if len(made) > 1:
        raise BadPack(
            f"{where}: it holds the packs {', '.join(one.name for one in made.values())}; put each into a file of its own"
        )
    if not made:
        raise BadPack(f"{where}: no function is marked with @tool(…), and it holds no Pack")
    return next(iter(made.values()))
