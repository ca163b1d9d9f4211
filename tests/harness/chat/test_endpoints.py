"""Both protocols against a server on this machine: replies in awkward pieces, and everything that goes wrong as one line."""

import json
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from harness.adapters.definitions import Definition
from harness.chat.anthropic import AnthropicModel
from harness.chat.messages import (
    AssistantSaid,
    Piece,
    Prompt,
    ReasoningCame,
    Reply,
    TextCame,
    ToolCall,
    ToolSaid,
    Usage,
    UserSaid,
    Waits,
)
from harness.chat.model import ModelFailed
from harness.chat.openai import OpenAIModel
from harness.chat.opening import open_model
from harness.interfaces import ModelSettings
from harness.setup import BadConfig
from tests.harness.chat.endpoint import Kind, Play, said, script, serving

pytestmark = pytest.mark.anyio
KINDS: list[Kind] = ["openai", "anthropic"]
TOOL = Definition(kind="script", name="run_script", description="Runs.", parameters={"type": "object"}, argument="script")
PROMPT = Prompt(system="Be short.", messages=(UserSaid("hello"),), tools=(TOOL,))
KEY = "sk-very-secret-0123456789"


class Patience:
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


@asynccontextmanager
async def model(kind: Kind, url: str, patience: Patience | None = None) -> AsyncIterator[OpenAIModel | AnthropicModel]:
    settings = ModelSettings(kind=kind, url=url, name="small", key=KEY, timeout_seconds=5)
    async with httpx.AsyncClient(timeout=5) as client:
        made = OpenAIModel if kind == "openai" else AnthropicModel
        yield made(settings, client, sleep=(patience or Patience()).sleep)


async def replied(kind: Kind, *plays: Play, patience: Patience | None = None) -> tuple[Reply, list[Piece]]:
    heard: list[Piece] = []
    with serving(plays) as endpoint:
        async with model(kind, endpoint.url, patience) as made:
            return await made.reply(PROMPT, heard.append), heard


async def failure(kind: Kind, *plays: Play) -> str:
    with pytest.raises(ModelFailed) as raised:
        await replied(kind, *plays)
    told = str(raised.value)
    assert "\n" not in told and KEY not in told
    return told.replace(told.partition("127.0.0.1:")[2].partition("/")[0], "PORT") if "127.0.0.1:" in told else told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 7, 64])
async def test_a_reply_is_gathered_from_pieces_cut_anywhere(kind: Kind, size: int) -> None:
    play = said(
        kind, "Grüße, 你好 😀.", script("return 'é'"), ("wait_script", {"stop": True}), reasoning="hmm …", chunk_bytes=size
    )
    reply, heard = await replied(kind, play)
    assert reply == Reply(
        text="Grüße, 你好 😀.", reasoning="hmm …", usage=Usage(read=100, written=20),
        calls=(
            ToolCall(id="call_0_run_script", name="run_script", arguments=json.dumps({"script": "return 'é'"})),
            ToolCall(id="call_1_wait_script", name="wait_script", arguments='{"stop": true}'),
        ),
    )  # fmt: skip
    assert "".join(piece.text for piece in heard if isinstance(piece, TextCame)) == reply.text
    assert "".join(piece.text for piece in heard if isinstance(piece, ReasoningCame)) == reply.reasoning
    assert len(heard) > 4  # as it came, not at the end


async def test_openai_is_asked_in_its_own_words() -> None:
    call = ToolCall(id="a", name="run_script", arguments='{"script": "1"}')
    messages = (UserSaid("q"), AssistantSaid("I look.", (call,)), ToolSaid(call, "1"), AssistantSaid("One."), UserSaid("more"))
    with serving([said("openai", "ok")]) as endpoint:
        async with model("openai", endpoint.url) as made:
            await made.reply(replace(PROMPT, messages=messages), lambda piece: None)
    (asked,) = endpoint.requests
    assert asked["path"] == "/v1/chat/completions" and asked["headers"]["authorization"] == f"Bearer {KEY}"
    function = {"name": "run_script", "description": "Runs.", "parameters": {"type": "object"}}
    assert asked["body"] == {
        "model": "small", "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 8_192,
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "run_script", "arguments": '{"script": "1"}'}}]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": "more"},
        ],
    }  # fmt: skip


async def test_anthropic_is_asked_in_its_own_words_and_roles_take_turns() -> None:
    call, bad = ToolCall(id="a", name="run_script", arguments='{"script": "1"}'), ToolCall(id="b", name="x", arguments="{half")
    messages = (UserSaid("q"), AssistantSaid("", (call, bad)), ToolSaid(call, "1"), ToolSaid(bad, "bad", True), UserSaid("more"))
    with serving([said("anthropic", "ok")]) as endpoint:
        async with model("anthropic", endpoint.url) as made:
            await made.reply(replace(PROMPT, messages=messages), lambda piece: None)
    (asked,) = endpoint.requests
    cached: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
    assert asked["path"] == "/v1/messages" and asked["headers"]["x-api-key"] == KEY and asked["headers"]["anthropic-version"]
    assert asked["body"] == {
        "model": "small", "stream": True, "max_tokens": 8_192,
        "system": [{"type": "text", "text": "Be short.", **cached}],
        "tools": [{"name": "run_script", "description": "Runs.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "run_script", "input": {"script": "1"}},
                {"type": "tool_use", "id": "b", "name": "x", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1", "is_error": False},
                {"type": "tool_result", "tool_use_id": "b", "content": "bad", "is_error": True},
                {"type": "text", "text": "more", **cached}]},
        ],
    }  # fmt: skip


def error(status: int, message: str, **headers: str) -> Play:
    return Play(status=status, headers=headers, body=json.dumps({"error": {"message": message}}).encode())


PATHS = {"openai": "chat/completions", "anthropic": "messages"}
ERRORS = [
    (error(401, f"bad key {KEY}"), "refused the key (401: bad key …); set TURNSCRIPT_MODEL_KEY, or key_variable in [model] to the variable that holds the key"),
    (error(404, "no small"), "knows no model 'small', or is not the place (404: no small); check --model and --url"),
    (error(400, "too\nlong"), "refused the request (400: too long); check --model, --kind and the length of the chat"),
    (error(429, "slow down", **{"retry-after": "3600"}), "wants 3,600 seconds of patience (429: slow down); nothing of the session is lost; ask again then"),
    (Play(headers={"content-type": "text/html"}, body=b"<html>"), "answered with text/html, not a stream of events; check --url and --kind"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("play", "told"), ERRORS, ids=[told[:20] for _, told in ERRORS])
async def test_what_cannot_pass_is_said_at_once_with_the_next_step(kind: Kind, play: Play, told: str) -> None:
    assert await failure(kind, play) == f"http://127.0.0.1:PORT/v1/{PATHS[kind]} {told}"


@pytest.mark.parametrize("kind", KINDS)
async def test_what_may_pass_is_asked_again_after_the_time_that_the_endpoint_names_or_a_doubled_one(kind: Kind) -> None:
    patience = Patience()
    busy, broken = error(429, "slow down", **{"retry-after": "7"}), error(503, "no room")
    reply, heard = await replied(kind, busy, broken, said(kind, "At last."), patience=patience)
    assert reply.text == "At last." and patience.seconds == [7.0, 2.0]
    assert [piece for piece in heard if isinstance(piece, Waits)] == [
        Waits(seconds=7.0, why="429: slow down"), Waits(seconds=2.0, why="503: no room"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
async def test_tries_are_bounded(kind: Kind) -> None:
    told = await failure(kind, *[error(500, "oops")] * 9)
    assert told.endswith("failed 4 times (500: oops); nothing of the session is lost; ask again later")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_that_is_cut_off_is_no_reply(kind: Kind) -> None:
    whole = said(kind, "A long answer.").body
    half = whole[: whole.index(b"ong") + 20]
    again = "nothing of the session is lost; ask again"
    assert (await failure(kind, Play(body=half))).endswith(f"was cut off; {again}")  # a good end of a half body
    told = await failure(kind, Play(body=half, cut=True))
    assert "broke off" in told and told.endswith(again)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_json_is_said(kind: Kind) -> None:
    told = await failure(kind, Play(body=b"data: {half\n\n"))
    assert told == (
        "the endpoint sent what is no JSON object ('{half'); nothing of the session is lost; ask again, or check --url and --kind"
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_in_the_middle_of_a_stream_is_said(kind: Kind) -> None:
    body = b'data: {"type": "error", "error": {"message": "over\\nloaded"}}\n\n'
    assert await failure(kind, Play(body=body)) == (
        "the endpoint failed in the middle of its reply (over loaded); nothing of the session is lost; ask again"
    )


async def test_a_server_that_never_says_done_is_believed_when_it_gave_a_reason_to_stop() -> None:
    body = said("openai", "Hi.").body.replace(b"data: [DONE]\n\n", b"")
    assert (await replied("openai", Play(body=body)))[0].text == "Hi."


async def test_nobody_there_is_said_with_the_next_step() -> None:
    with serving([]) as endpoint:
        gone = endpoint.url
    async with model("openai", gone) as made:
        with pytest.raises(ModelFailed, match=r"^cannot connect to .*; start the server there, or give another --url$"):
            await made.reply(PROMPT, lambda piece: None)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (ModelSettings(url="http://x/v1"), 'no model is named; give --model NAME, or name = "…" under [model] in turnscript.toml'),
        (ModelSettings(name="small"), "https://api.openai.com/v1 needs a key: set TURNSCRIPT_MODEL_KEY; for a server of your own give --url, such as http://localhost:11434/v1"),
    ],
)  # fmt: skip
async def test_what_is_missing_is_named_before_anything_is_sent(settings: ModelSettings, told: str) -> None:
    with pytest.raises(BadConfig) as raised:
        async with open_model(settings):
            pass
    assert str(raised.value) == told


@pytest.mark.parametrize("kind", KINDS)
async def test_a_model_is_opened_from_settings(kind: Kind) -> None:
    with serving([said(kind, "Hi.")]) as endpoint:
        async with open_model(ModelSettings(kind=kind, url=endpoint.url, name="small")) as made:
            assert (await made.reply(PROMPT, lambda piece: None)).text == "Hi."


async def test_an_endpoint_that_says_nothing_is_not_waited_for_for_ever() -> None:
    play = said("openai", "Never.", hold=threading.Event())
    with serving([play]) as endpoint:
        async with open_model(ModelSettings(url=endpoint.url, name="small", timeout_seconds=0.2)) as made:
            with pytest.raises(ModelFailed) as raised:
                await made.reply(PROMPT, lambda piece: None)
    assert str(raised.value).endswith(
        "sent nothing for 0.2 seconds; nothing of the session is lost; ask again, or raise timeout_seconds in [model]"
    )


async def test_a_missing_extra_is_one_line_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(BadConfig) as raised:
        async with open_model(ModelSettings(url="http://x/v1", name="small")):
            pass
    assert str(raised.value) == "talking to a model needs: pip install 'turnscript[web]'"
