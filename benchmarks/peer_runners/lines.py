"""The loop that every runner shares: a request a line on stdin, an answer a line on stdout, trouble as an answer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

Request = dict[str, Any]
Answer = dict[str, Any]
Handler = Callable[[Request], Awaitable[Answer]]


async def serve(handlers: dict[str, Handler]) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a peer that prints, in Python or below it, must not break the line protocol
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        try:
            answer = await handlers[request["do"]](request)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def ran(text: str, *, survived: bool, orders: list[int]) -> Answer:
    """`text` is what the model reads next; `survived` is False when the agent's loop got an exception instead."""
    return {"text": text, "survived": survived, "orders": len(orders)}


def function_json(name: str, description: str, parameters: Any) -> str:
    """A tool as it goes over the wire to a model, in OpenAI's function format: the same for every system."""
    tool = {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
