"""Anthropic's Messages: an agent's loop over HTTP on loopback, with replies as the API sends them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
import pytest

from harness.adapters.anthropic import assistant, respond, results, tools
from harness.adapters.surface import Surface
from tests.harness.adapters.shop import CATCHES, FAILS, ORDERS, RUNS, SHELL, SHOWS, WAITS, Shop
from tests.harness.adapters.test_openai import Endpoint
from tests.tool_packs.servers import serving

pytestmark = pytest.mark.anyio

TEXT = {"type": "text", "text": "I look."}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


def used(given: Any, id: str = "t1", name: str = "run_script") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {"script": given} if isinstance(given, str) else given}


def replied(*blocks: dict[str, Any], stop_reason: str = "tool_use") -> dict[str, Any]:
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop_reason}


DONE = replied(TEXT, stop_reason="end_turn")


async def by_messages(surface: Surface, *replies: dict[str, Any]) -> list[dict[str, Any]]:
    """An agent's loop, until a reply calls nothing; the results that the model was sent."""
    endpoint, messages = Endpoint(*replies, DONE), [{"role": "user", "content": "go"}]
    with serving(endpoint) as server:
        async with httpx.AsyncClient() as client:
            while True:
                body = {"model": "m", "max_tokens": 99, "messages": messages, "tools": tools(surface)}
                reply = (await client.post(f"{server.url}/v1/messages", json=body)).json()
                made = await respond(surface, reply)
                messages.append(assistant(reply))
                if made is None:
                    break
                messages.append(made)
    users = [one for one in endpoint.sent[-1]["messages"][1:] if one["role"] == "user"]
    return [block for one in users for block in one["content"]]


@asynccontextmanager
async def opened(shop: Shop, preset: str = "run_script", **rest: Any) -> AsyncIterator[Surface]:
    async with shop.harness() as harness, harness.session("s") as session:
        yield Surface(session, preset, **rest)


async def test_the_text_of_a_script_reaches_the_model_as_it_is() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        made = await by_messages(surface, replied(THINKING, TEXT, used(SHOWS)))
    assert made == [{"type": "tool_result", "tool_use_id": "t1", "content": 'a  b\nc\n{"n":[1,2]}'}]
    assert shop.texts() == [made[0]["content"]]


async def test_calls_of_one_reply_run_in_its_order_and_errors_are_marked() -> None:
    async with opened(Shop()) as surface:
        calls = [
            used("store('n', 1)", "t9"),
            TEXT,
            used("return load('n') + 1", "t2"),
            used(FAILS, "t3"),
            used({}, "t4"),
            used({}, "t5", "nope"),
        ]
        made = await by_messages(surface, replied(*calls))
    assert [(one["tool_use_id"], one.get("is_error", False)) for one in made] == [
        ("t9", False), ("t2", False), ("t3", True), ("t4", True), ("t5", True),
    ]  # fmt: skip
    assert made[1]["content"] == "2"
    assert made[2]["content"].startswith("tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)")
    assert made[3]["content"].startswith("bad_call: run_script was not called")
    assert made[4]["content"].startswith("unknown_call: there is no tool 'nope'")


@pytest.mark.parametrize(
    ("says", "script", "text", "ran"),
    [
        (True, ORDERS, "ordered lamp", ["order lamp"]),
        (False, ORDERS, "denied", []),
        (True, SHELL, "forbidden", []),
        (True, CATCHES, "shop.broken failed: ValueError: the till is stuck", []),
    ],
    ids=["yes", "no", "a rule denies", "caught"],
)
async def test_calls_inside_a_script_pass_the_guards(says: bool, script: str, text: str, ran: list[str]) -> None:
    shop = Shop(says=says)
    async with opened(shop) as surface:
        (made,) = await by_messages(surface, replied(used(script)))
    assert (made["content"], made.get("is_error"), shop.ran) == (text, None, ran)
    assert shop.asked == ([("shop.order", {"item": "lamp"})] if script is ORDERS else [])


async def test_cancelling_the_agent_ends_the_script_and_the_next_one_runs() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        async with anyio.create_task_group() as tasks:
            shop.on_wait = tasks.cancel_scope.cancel
            tasks.start_soon(respond, surface, replied(used(WAITS)))
        assert shop.endings() == ["cancelled"]
        (made,) = await by_messages(surface, replied(used("return 'next'")))
    assert made["content"] == "next" and shop.endings() == ["cancelled", "finished"]


async def test_a_script_that_takes_long_is_told_in_parts_and_stopped_by_the_wait_tool() -> None:
    shop, began = Shop(), anyio.Event()
    shop.on_wait = began.set
    async with opened(shop, "codex", yield_seconds=0.1) as surface:
        (first,) = await by_messages(surface, replied(used({"source": WAITS}, name="exec")))
        await began.wait()
        second, stopped = await by_messages(
            surface, replied(used({"yield_time_ms": 0}, "t2", "wait")), replied(used({"terminate": True}, "t3", "wait"))
        )
    assert RUNS in first["content"] and RUNS in second["content"] and "is_error" not in first
    assert (first["content"] + second["content"]).count("begun") == 1
    assert (stopped["is_error"], shop.endings()) == (True, ["exceeded"])


async def test_a_tool_that_the_model_calls_by_itself_passes_the_same_guards() -> None:
    shop = Shop(says=False, callers={"shop.order": "direct", "shop.price": "direct"})
    async with opened(shop) as surface:
        price, order = used({"item": "lamp"}, "t1", "shop__price"), used({"item": "lamp"}, "t2", "shop__order")
        made = await by_messages(surface, replied(price, order))
    assert [(one["content"].split(":")[0], one.get("is_error")) for one in made] == [("7", None), ("denied", True)]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_a_call_that_was_cut_off_is_not_run_and_the_ones_before_it_are(reason: str) -> None:
    shop = Shop()
    async with opened(shop) as surface:
        whole, half = await by_messages(surface, replied(used("return 1"), used("return 'ha", "t2"), stop_reason=reason))
    assert (whole["content"], half["is_error"], len(shop.endings())) == ("1", True, 1)
    assert half["content"].splitlines()[0] == (
        f"cut_off: the reply ended at its limit of tokens ({reason}) within this call, so run_script was not called"
    )


async def test_a_reply_without_calls_needs_no_answer_whatever_its_reason_to_stop() -> None:
    async with opened(Shop()) as surface:
        for reason in ("end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"):
            assert await respond(surface, replied(TEXT, stop_reason=reason)) is None


@dataclass
class Block:
    """As the SDK has them: members, and `model_dump`."""

    type: str
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    text: str | None = None

    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None or not exclude_none}


@dataclass
class Message:
    content: list[Block]
    stop_reason: str | None


async def test_objects_of_an_sdk_are_read_as_dicts_are_and_text_is_kept() -> None:
    message = Message([Block("text", text="I look."), Block("tool_use", "t1", "run_script", {"script": "return 1"})], "tool_use")
    async with opened(Shop()) as surface:
        made = await respond(surface, message)
    assert made == {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}]}
    assert assistant(message) == {"role": "assistant", "content": [TEXT, used("return 1")]}


async def test_an_agent_with_other_tools_gives_only_the_blocks_that_are_ours() -> None:
    message = replied(used({}, "t1", "its_own"), used("return 1", "t2"))
    async with opened(Shop()) as surface:
        ours = {one.name for one in surface.definitions}
        made = await results(surface, [block for block in message["content"] if block["name"] in ours])
        with pytest.raises(ValueError, match="dict has no id: give the reply as it came"):
            await results(surface, [{"type": "tool_use", "name": "run_script", "input": {}}])
    assert [one["tool_use_id"] for one in made] == ["t2"]


async def test_definitions_carry_the_schema_and_where_the_cache_ends() -> None:
    async with opened(Shop(callers={"shop.price": "both"}), "codex") as surface:
        plain, cached = tools(surface), tools(surface, cache_control={"type": "ephemeral", "ttl": "1h"})
        schema = surface.script.parameters
    assert [one["name"] for one in plain] == ["exec", "wait", "shop__price"] and plain[0]["input_schema"] == schema
    assert cached == [*plain[:-1], {**plain[-1], "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
