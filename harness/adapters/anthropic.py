"""The tool layer over Anthropic's Messages: definitions to send, and a reply to the user message that answers it.

Needs no package: a reply is a dict, or the object of the SDK. Calls of one reply run one after the other, in its order; each gets
a result under its own id, marked where it is an error.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from harness.adapters.replies import cut_off, member
from harness.adapters.surface import Result, Surface

_CUT: Final = ("max_tokens", "model_context_window_exceeded")  # reasons to stop in the middle of a block


def tools(surface: Surface, *, cache_control: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """For `tools` of a request. `cache_control`, such as {"type": "ephemeral"}, stands at the last: all of them are cached."""
    made: list[dict[str, Any]] = [
        {"name": one.name, "description": one.description, "input_schema": dict(one.parameters)} for one in surface.definitions
    ]
    if cache_control is not None:
        made[-1]["cache_control"] = dict(cache_control)
    return made


def assistant(message: Any) -> dict[str, Any]:
    """The reply as the history wants it: every block as it came, text and thinking too."""
    return {"role": "assistant", "content": [_plain(block) for block in member(message, "content")]}


async def respond(surface: Surface, message: Any) -> dict[str, Any] | None:
    """The user message that answers a reply; None: it calls nothing, and `stop_reason` says why the model stopped.

    A call that was cut off at the limit of tokens is not run, and the model is told.
    """
    made = await results(surface, member(message, "content"), stop_reason=member(message, "stop_reason", ""))
    return {"role": "user", "content": made} if made else None


async def results(surface: Surface, blocks: Iterable[Any], *, stop_reason: str = "tool_use") -> list[dict[str, Any]]:
    """One `tool_result` for each `tool_use` among the blocks; for agents that have other tools too."""
    listed = list(blocks)
    made = []
    for at, block in enumerate(listed):
        if member(block, "type") != "tool_use":
            continue
        name, given = member(block, "name"), member(block, "input", {})
        if stop_reason in _CUT and at == len(listed) - 1:
            result = Result(text=cut_off(name, stop_reason), is_error=True)
        else:
            result = await surface.call(name, given)
        one = {"type": "tool_result", "tool_use_id": member(block, "id"), "content": result.text}
        made.append(one | {"is_error": True} if result.is_error else one)
    return made


def _plain(block: Any) -> dict[str, Any]:
    return dict(block) if isinstance(block, Mapping) else block.model_dump(exclude_none=True)
