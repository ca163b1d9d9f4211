"""A pack is a module: its tools are the functions marked with `@tool`, in the order of the text.

Optional in it: `PACK` (the name scripts use; else the module's own, without `_pack`), a frozen `Settings`, and an async
`open(settings)` or `open(settings, host)` that gives the resource its tools take. Nothing runs when a pack is imported.
"""

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from catalog.host import Host
from catalog.problem import BadPack
from catalog.reflect import reflect
from catalog.tool import ATTRIBUTE, Tool

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")

Open = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pack:
    name: str
    doc: str
    tools: tuple[Tool, ...]
    settings: type | None = None
    open: Open | None = None
    source: str = ""  # where it came from: a module, a file

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadPack(f"pack {self.name!r}: a script writes tools.<pack>.<tool>, so the name must be an identifier")
        names = [tool.name for tool in self.tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadPack(f"pack {self.name}: {', '.join(twice)} is there more than once; rename one")

    @property
    def summary(self) -> str:
        return " ".join(self.doc.strip().split("\n\n", 1)[0].split())

    def renamed(self, name: str) -> "Pack":
        return replace(self, name=name, tools=tuple(replace(tool, pack=name) for tool in self.tools))

    def read_settings(self, told: Mapping[str, Any]) -> Any:
        """From configuration to the pack's own frozen record; None when it has none."""
        if self.settings is None:
            if told:
                raise BadPack(f"pack {self.name} takes no settings; remove {', '.join(sorted(told))}")
            return None
        try:
            return TypeAdapter(self.settings).validate_python(dict(told))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"]) or "settings"
            raise BadPack(f"pack {self.name}: {where}: {first['msg']}") from None

    @asynccontextmanager
    async def opened(self, told: Mapping[str, Any], host: Host) -> AsyncIterator[Any]:
        """The resource of this pack for as long as the block lasts; None when it has none."""
        settings = self.read_settings(told)
        if self.open is None:
            yield None
            return
        wanted = len(inspect.signature(self.open).parameters)
        made = self.open(*(settings, host)[:wanted])
        if isinstance(made, AbstractAsyncContextManager):
            async with made as resource:
                yield resource
            return
        resource = await made
        try:
            yield resource
        finally:
            close = getattr(resource, "aclose", None)
            if close is not None:
                await close()


def pack(
    source: ModuleType | str,
    tools: Iterable[Tool | Callable[..., Awaitable[Any]]] | None = None,
    *,
    doc: str = "",
) -> Pack:
    """A pack from a module, or from a name and a list of functions and tools."""
    if isinstance(source, ModuleType):
        return _from_module(source)
    made = [one if isinstance(one, Tool) else reflect(one, pack=source) for one in tools or ()]
    return Pack(name=source, doc=doc, tools=tuple(replace(one, pack=source) for one in made), source="code")


def has_tools(module: ModuleType) -> bool:
    return bool(_functions(module))


def _functions(module: ModuleType) -> list[Callable[..., Any]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isfunction(value) and hasattr(value, ATTRIBUTE) and value.__module__ == module.__name__
    ]


def _from_module(module: ModuleType) -> Pack:
    stem = module.__name__.rsplit(".", 1)[-1]
    name = getattr(module, "PACK", stem.removesuffix("_pack") or stem)
    opener = getattr(module, "open", None)
    resource = _resource(name, opener) if opener is not None else None
    functions = _functions(module)
    if not functions:
        raise BadPack(f"{module.__name__}: no function is marked with @tool(…)")
    functions.sort(key=lambda function: function.__code__.co_firstlineno)
    return Pack(
        name=name,
        doc=inspect.getdoc(module) or "",
        tools=tuple(reflect(function, pack=name, resource=resource, name=_tool_name(function)) for function in functions),
        settings=getattr(module, "Settings", None),
        open=opener,
        source=module.__name__,
    )


def _tool_name(function: Callable[..., Any]) -> str:
    """`list_` is `list` to a script: Python keeps some good names for itself."""
    return function.__name__.rstrip("_") or function.__name__


def _resource(name: str, opener: Open) -> type:
    """What `open` gives: the type it says it returns, out of its AsyncIterator when it is a context manager."""
    said = get_type_hints(inspect.unwrap(opener)).get("return")
    if get_origin(said) is not None and issubclass(get_origin(said) or object, AsyncIterator):
        (said, *_) = get_args(said)
    if not isinstance(said, type) or said is type(None):
        raise BadPack(f"pack {name}: open(…) must say what it returns, such as async def open(settings: Settings) -> Files")
    return said
