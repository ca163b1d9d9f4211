"""Both of OpenAI's protocols, by its own client against a server on loopback that says what a model would."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from openai import AsyncOpenAI

from harness.adapters.openai import chat_tools, respond, respond_chat, responses_tools
from harness.adapters.surface import Surface
from tests.harness.adapters.shop import CATCHES, FAILS, ORDERS, RUNS, SHELL, SHOWS, WAITS, Shop
from tests.tool_packs.servers import Asked, Server, answer, serving

pytestmark = pytest.mark.anyio


class Endpoint:
    """Gives the replies one after the other, and keeps what it was sent."""

    def __init__(self, *replies: dict[str, Any]) -> None:
        self.replies = replies
        self.sent: list[dict[str, Any]] = []

    def __call__(self, asked: Asked, wire: Any, server: Server) -> None:
        self.sent.append(json.loads(asked.body))
        wire.sendall(answer(body=json.dumps(self.replies[len(self.sent) - 1]).encode(), content_type="application/json"))


@asynccontextmanager
async def client_of(endpoint: Endpoint) -> AsyncIterator[AsyncOpenAI]:
    with serving(endpoint) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            yield client


def called(name: str, arguments: str, id: str = "c1", **rest: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": f"f{id}", "call_id": id, "name": name, "arguments": arguments, **rest}


def written(script: str, id: str = "c1", name: str = "run_script") -> dict[str, Any]:
    return {"type": "custom_tool_call", "id": f"f{id}", "call_id": id, "name": name, "input": script}


def replied(*items: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": status, "output": list(items)}


SAID = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
}


async def by_responses(surface: Surface, *replies: dict[str, Any], free: bool = False) -> list[dict[str, Any]]:
    """An agent's loop, until a reply calls nothing; what the model was sent in answer."""
    endpoint, items, outputs = Endpoint(*replies, replied(SAID)), [{"role": "user", "content": "go"}], []
    async with client_of(endpoint) as client:
        while True:
            reply = await client.responses.create(model="m", input=items, tools=responses_tools(surface, free=free))
            made = await respond(surface, reply.output, status=reply.status or "completed")
            if not made:
                break
            outputs += made
            items = [*items, *(one.model_dump(exclude_none=True) for one in reply.output), *made]
    assert [one for one in endpoint.sent[-1]["input"] if one in outputs] == outputs  # they went over the wire as they are
    return outputs


@asynccontextmanager
async def opened(shop: Shop, preset: str = "run_script", **rest: Any) -> AsyncIterator[Surface]:
    async with shop.harness() as harness, harness.session("s") as session:
        yield Surface(session, preset, **rest)


def script(text: str) -> str:
    return json.dumps({"script": text})


async def test_the_text_of_a_script_reaches_the_model_as_it_is() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        outputs = await by_responses(surface, replied(called("run_script", script(SHOWS))))
    assert outputs == [{"type": "function_call_output", "call_id": "c1", "output": 'a  b\nc\n{"n":[1,2]}'}]
    assert shop.texts() == [outputs[0]["output"]]


async def test_a_free_form_script_needs_no_json_and_may_begin_with_a_brace() -> None:
    async with opened(Shop()) as surface:
        outputs = await by_responses(
            surface, replied(written("{ const n = 1; show(n) }")), replied(written(script("return 2"), "c2")), free=True
        )
    assert outputs == [
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "2"},
    ]


async def test_calls_of_one_reply_run_in_its_order_and_keep_their_ids() -> None:
    async with opened(Shop()) as surface:
        first, second, third = called("run_script", script("store('n', 1)"), "c9"), SAID, written("return load('n') + 1", "c3")
        outputs = await by_responses(
            surface, replied(first, second, third, called("nope", "{}", "c4"), called("run_script", "{bad", "c5"))
        )
    assert [one["call_id"] for one in outputs] == ["c9", "c3", "c4", "c5"]
    assert outputs[1]["output"] == "2"
    assert outputs[2]["output"] == "unknown_call: there is no tool 'nope', so nothing ran\nhint: call one of: run_script"
    assert outputs[3]["output"].startswith("bad_call: run_script was not called: its arguments are no JSON object")


@pytest.mark.parametrize(
    ("text", "first_line"),
    [
        (CATCHES, "shop.broken failed: ValueError: the till is stuck"),
        (SHELL, "forbidden"),
        (FAILS, "tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)"),
    ],
    ids=["caught", "denied", "not caught"],
)
async def test_a_nested_call_that_does_not_go_well_is_for_the_script_and_then_for_the_model(text: str, first_line: str) -> None:
    shop = Shop()
    async with opened(shop) as surface:
        (output,) = await by_responses(surface, replied(called("run_script", script(text))))
    assert output["output"].splitlines()[0] == first_line
    assert shop.ran == []


@pytest.mark.parametrize(("says", "text", "ran"), [(True, "ordered lamp", ["order lamp"]), (False, "denied", [])])
async def test_a_call_inside_a_script_asks_the_approver_of_the_session(says: bool, text: str, ran: list[str]) -> None:
    shop = Shop(says=says)
    async with opened(shop) as surface:
        (output,) = await by_responses(surface, replied(called("run_script", script(ORDERS))))
    assert (output["output"], shop.asked, shop.ran) == (text, [("shop.order", {"item": "lamp"})], ran)


async def test_cancelling_the_agent_ends_the_script_and_the_next_one_runs() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        async with anyio.create_task_group() as tasks:
            shop.on_wait = tasks.cancel_scope.cancel
            tasks.start_soon(respond, surface, [called("run_script", script(WAITS))])
        assert shop.endings() == ["cancelled"]
        (output,) = await by_responses(surface, replied(called("run_script", script("return 'next'"))))
    assert output["output"] == "next" and shop.endings() == ["cancelled", "finished"]


async def test_a_script_that_takes_long_is_told_in_parts_and_stopped_by_the_wait_tool() -> None:
    shop, began = Shop(), anyio.Event()
    shop.on_wait = began.set
    async with opened(shop, "codex", yield_seconds=0.1) as surface:
        (first,) = await respond(surface, [written(WAITS, name="exec")])
        await began.wait()
        (second,) = await respond(surface, [called("wait", '{"yield_time_ms": 0}', "c2")])
        (stopped,) = await by_responses(surface, replied(called("wait", '{"terminate": true}', "c3")))
    assert RUNS in first["output"] and RUNS in second["output"]
    assert (first["output"] + second["output"]).count("begun") == 1
    assert stopped["type"] == "function_call_output" and "begun" not in stopped["output"]
    assert shop.endings() == ["exceeded"]


async def test_a_tool_that_the_model_calls_by_itself_passes_the_same_guards() -> None:
    shop = Shop(says=False, callers={"shop.order": "direct", "shop.price": "both", "shell.*": "direct"})
    async with opened(shop) as surface:
        outputs = await by_responses(
            surface,
            replied(called("shop__price", '{"item": "lamp", "pieces": 2}'), called("shop__order", '{"item": "lamp"}', "c2")),
            replied(called("shell__run", '{"command": "ls"}', "c3"), called("shop__price", '{"thing": 1}', "c4")),
        )
    firsts = [one["output"].split(":")[0] for one in outputs]
    assert (firsts, shop.ran) == (["14", "denied", "forbidden", "bad_arguments"], ["price lamp"])


async def test_a_call_that_was_cut_off_is_not_run() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        cut = replied(called("run_script", script("return 1"), "c1"), written("return 'half a scr", "c2"), status="incomplete")
        whole, half = await by_responses(surface, cut, free=True)
        (one,) = await respond(surface, [called("run_script", script("return 2"), status="incomplete")])
    assert whole["output"] == "1"
    assert (
        half["output"]
        == one["output"]
        == (
            "cut_off: the reply ended at its limit of tokens (incomplete) within this call, so run_script was not called\n"
            "hint: write a shorter script, or several, one after the other"
        )
    )
    assert len(shop.endings()) == 1


# ------------------------------------------------------------ Chat Completions


def chosen(*calls: dict[str, Any], finish_reason: str = "tool_calls") -> dict[str, Any]:
    message = {"role": "assistant", "content": None if calls else "Done.", **({"tool_calls": list(calls)} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason if calls else "stop"}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def function(name: str, arguments: str, id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def custom(script: str, id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "custom", "custom": {"name": "run_script", "input": script}}


async def by_chat(surface: Surface, *replies: dict[str, Any], free: bool = False) -> list[dict[str, Any]]:
    endpoint, messages, made = Endpoint(*replies, chosen()), [{"role": "user", "content": "go"}], [{}]
    async with client_of(endpoint) as client:
        while made:
            reply = await client.chat.completions.create(model="m", messages=messages, tools=chat_tools(surface, free=free))
            (choice,) = reply.choices
            made = await respond_chat(surface, choice.message.tool_calls, finish_reason=choice.finish_reason)
            messages = [*messages, choice.message.model_dump(exclude_none=True), *made]
    return [one for one in endpoint.sent[-1]["messages"] if one["role"] == "tool"]


async def test_chat_gets_one_tool_message_for_each_call_in_order() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        made = await by_chat(
            surface,
            chosen(function("run_script", script("store('n', 1); " + SHOWS), "c7"), custom("{ show(load('n')) }", "c2")),
            chosen(function("run_script", script(FAILS), "c3"), function("nope", "", "c4")),
            free=True,
        )
    assert [(one["tool_call_id"], one["content"].splitlines()[0]) for one in made] == [
        ("c7", "a  b"),
        ("c2", "1"),
        ("c3", "tool_failed: shop.broken failed: ValueError: the till is stuck  (line 1, column 7)"),
        ("c4", "unknown_call: there is no tool 'nope', so nothing ran"),
    ]
    assert made[0]["content"] == shop.texts()[0]


async def test_chat_does_not_run_what_was_cut_off() -> None:
    shop = Shop()
    async with opened(shop) as surface:
        (made,) = await by_chat(surface, chosen(custom("return 'ha"), finish_reason="length"), free=True)
    assert made["content"].startswith("cut_off: the reply ended at its limit of tokens (length)") and shop.endings() == []


# ------------------------------------------------------------ definitions


async def test_definitions_are_in_the_words_of_each_protocol() -> None:
    async with opened(Shop(callers={"shop.price": "both"}), "codex", prose="system") as surface:
        responses, chat, free = responses_tools(surface), chat_tools(surface), responses_tools(surface, free=True)
        free_chat = chat_tools(surface, free=True)
        description = surface.script.description
    assert [(one["type"], one["name"], one["strict"]) for one in responses] == [
        ("function", "exec", True), ("function", "wait", False), ("function", "shop__price", False),
    ]  # fmt: skip
    assert [one["function"] for one in chat] == [{key: one[key] for key in one if key != "type"} for one in responses]
    note = "\n\nThe input is the script itself: plain JavaScript, without JSON, quotes or fences around it."
    assert free[0] == {"type": "custom", "name": "exec", "description": description + note, "format": {"type": "text"}}
    assert free_chat[0]["custom"] == {key: free[0][key] for key in ("name", "description", "format")}
    assert free[1:] == responses[1:]


async def test_a_call_without_an_id_is_the_hosts_mistake() -> None:
    async with opened(Shop()) as surface:
        with pytest.raises(ValueError, match="dict has no call_id: give the reply as it came, dicts or the SDK's objects"):
            await respond(surface, [{"type": "function_call", "name": "run_script", "arguments": script("1")}])
        assert await respond(surface, []) == [] and await respond_chat(surface, None) == []
