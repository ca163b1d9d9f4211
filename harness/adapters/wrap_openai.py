"""Function definitions in OpenAI's form, and the functions behind them, as a pack. Nothing of OpenAI is imported: a definition
is a dict, of Chat Completions or of Responses.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from catalog import BadPack, Pack
from harness.adapters.wrapping import Effects, Foreign, called, pack_of


def openai_pack(
    name: str,
    definitions: Iterable[Mapping[str, Any]],
    functions: Mapping[str, Callable[..., Any]],
    *,
    effects: Effects | None = None,
    approval: Iterable[str] = (),
    doc: str = "Functions.",
) -> Pack:
    """Each function takes its arguments by name; a plain one runs in a thread. `effects` and `approval` by patterns of names."""
    foreign = [_foreign(name, one, functions) for one in definitions]
    unused = sorted(set(functions) - {one.name for one in foreign})
    if unused:
        raise BadPack(f"pack {name}: there is a function {unused[0]!r} and no definition for it; add one, or leave it out")
    return pack_of(name, foreign, doc=doc, effects=effects, approval=approval)


def _foreign(pack: str, told: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Foreign:
    kind = told.get("type", "function")
    if kind != "function":
        raise BadPack(f"pack {pack}: a definition of type {kind!r} is run by OpenAI itself; only functions can be wrapped")
    inner = told.get("function", told)  # Chat Completions has one more level than Responses
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise BadPack(f"pack {pack}: a definition has no name: {str(dict(told))[:120]}")
    function = functions.get(name)
    if function is None:
        raise BadPack(f"pack {pack}: there is no function for {name}; give {{{name!r}: …}}")
    schema = inner.get("parameters") or {"type": "object", "properties": {}}
    return Foreign(name=name, doc=str(inner.get("description") or ""), schema=schema, call=partial(_called, function))


async def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    return await called(function, **arguments)
