"""The tool layer over OpenAI's two protocols, Responses and Chat Completions: definitions to send, and calls to outputs.

Needs no package: calls are dicts, or the objects of the SDK. Calls of one reply run one after the other, in its order; each gets
an output under its own id, whatever was wrong with it. The protocols have no mark for an error: the text says it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from harness.adapters.definitions import Definition
from harness.adapters.replies import cut_off, member
from harness.adapters.surface import Surface

AS_IT_IS: Final = "\n\nThe input is the script itself: plain JavaScript, without JSON, quotes or fences around it."


def responses_tools(surface: Surface, *, free: bool = False) -> list[dict[str, Any]]:
    """For `tools` of a Responses request. `free`: the model writes the script as it is, by a custom tool."""
    return [
        {"type": "custom", "name": one.name, "description": one.description + AS_IT_IS, "format": {"type": "text"}}
        if free and one.free
        else {"type": "function", **_function(one)}
        for one in surface.definitions
    ]


def chat_tools(surface: Surface, *, free: bool = False) -> list[dict[str, Any]]:
    """For `tools` of a Chat Completions request."""
    return [
        {
            "type": "custom",
            "custom": {"name": one.name, "description": one.description + AS_IT_IS, "format": {"type": "text"}},
        }
        if free and one.free
        else {"type": "function", "function": _function(one)}
        for one in surface.definitions
    ]


async def respond(surface: Surface, items: Iterable[Any], *, status: str = "completed") -> list[dict[str, Any]]:
    """From `response.output` to the items to append to the next request's input; without calls, none.

    `status`: of the response; where it is "incomplete", a call at its end was cut off, and is not run.
    """
    listed = list(items)
    made = []
    for at, item in enumerate(listed):
        kind = member(item, "type")
        if kind not in ("function_call", "custom_tool_call"):
            continue
        name = member(item, "name")
        cut = member(item, "status", "") == "incomplete" or (status == "incomplete" and at == len(listed) - 1)
        given = member(item, "arguments") if kind == "function_call" else as_it_is(surface, name, member(item, "input"))
        text = await _text(surface, name, given, cut="incomplete" if cut else "")
        made.append({"type": f"{kind}_output", "call_id": member(item, "call_id"), "output": text})
    return made


async def respond_chat(
    surface: Surface, tool_calls: Iterable[Any] | None, *, finish_reason: str = "tool_calls"
) -> list[dict[str, Any]]:
    """From `message.tool_calls` to the messages to append; without calls, none.

    `finish_reason`: of the choice; where it is "length", the last call was cut off, and is not run.
    """
    listed = list(tool_calls or ())
    made = []
    for at, call in enumerate(listed):
        kind = member(call, "type", "function")
        inner = member(call, kind)
        name = member(inner, "name")
        given = as_it_is(surface, name, member(inner, "input")) if kind == "custom" else member(inner, "arguments")
        cut = finish_reason == "length" and at == len(listed) - 1
        text = await _text(surface, name, given, cut="length" if cut else "")
        made.append({"role": "tool", "tool_call_id": member(call, "id"), "content": text})
    return made


def as_it_is(surface: Surface, name: str, text: str) -> Mapping[str, Any] | str:
    """A script without JSON around it. It may begin with a brace; models wrap it all the same now and then."""
    if name != surface.script.name:
        return text
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    wrapped = isinstance(read, dict) and list(read) == [surface.script.argument]
    return text if wrapped else {surface.script.argument: text}


async def _text(surface: Surface, name: str, given: Mapping[str, Any] | str, *, cut: str) -> str:
    return cut_off(name, cut) if cut else (await surface.call(name, given)).text


def _function(one: Definition) -> dict[str, Any]:
    """Only the script's own schema is of the strict kind: every member required, and no others."""
    return {
        "name": one.name, "description": one.description, "parameters": dict(one.parameters), "strict": one.kind == "script",
    }  # fmt: skip
