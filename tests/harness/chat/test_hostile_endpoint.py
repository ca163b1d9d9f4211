"""An endpoint that means harm: whatever it sends, the chat says one line and can go on, in bounded memory and time."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness import Harness, MemoryStore
from harness.adapters.surface import Surface
from harness.chat import Chat
from harness.chat import endpoint as limits
from harness.chat.messages import AssistantSaid, Prompt, Reply, ToolCall, Usage, UserSaid
from harness.chat.model import ModelFailed
from harness.chat.openai import _Gathered
from harness.chat.sse import Event
from tests.harness.chat.endpoint import Kind, Play, said, serving
from tests.harness.chat.test_endpoints import KEY, KINDS, PROMPT, Patience, model

pytestmark = pytest.mark.anyio
DEEP = b"[" * 100_000
NO_JSON = "the endpoint sent what is no JSON object"


def events(*told: Mapping[str, Any] | bytes) -> Play:
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in told]
    return Play(body=b"".join(b"data: %s\n\n" % line for line in lines))


def delta(finish: Any = "stop", **told: Any) -> dict[str, Any]:
    return {"choices": [{"delta": told, "finish_reason": finish}]}


async def replied(kind: Kind, *plays: Play, prompt: Prompt = PROMPT, patience: Patience | None = None) -> Reply:
    with serving(plays) as endpoint:
        async with model(kind, endpoint.url, patience) as made:
            return await made.reply(prompt, lambda piece: None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "play, said",
    [(events(DEEP), NO_JSON), (Play(status=400, body=DEEP), "refused the request (400: [[[")],
    ids=["event", "error"],
)
async def test_brackets_without_end_are_no_json(kind: Kind, play: Play, said: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        await replied(kind, play)
    assert said in str(failed.value)


@pytest.mark.parametrize(
    "kind, play",
    [
        ("openai", events(delta({"odd": 1}, content="x"), b"[DONE]")),
        ("openai", events(delta(["odd"], content="x", tool_calls={"odd": 1}), b"[DONE]")),
        (
            "anthropic",
            events(
                {"type": "content_block_delta", "index": [1], "delta": {"type": "input_json_delta", "partial_json": "x"}},
                {"type": "content_block_delta", "index": {}, "delta": {"type": "text_delta", "text": "x"}},
                {"type": "message_delta", "delta": {"stop_reason": ["odd"]}},
                {"type": "message_stop"},
            ),
        ),
    ],
)
async def test_words_of_another_type_are_passed_over(kind: Kind, play: Play) -> None:
    assert await replied(kind, play) == Reply(text="x")


async def test_a_count_of_tokens_that_cannot_be_is_not_counted() -> None:
    usage = b'{"usage": {"prompt_tokens": 1%s, "completion_tokens": -5}}' % (b"0" * 400)
    assert (await replied("openai", events(delta(content="x"), usage, b"[DONE]"))).usage == Usage(read=0, written=0)


async def test_a_time_to_wait_that_is_no_number_is_ours() -> None:
    patience = Patience()
    await replied("openai", Play(status=429, headers={"retry-after": "nan"}), said("openai", "x"), patience=patience)
    assert patience.seconds == [1.0]


@pytest.mark.parametrize(
    "kind, play",
    [
        ("openai", events({"error": {"message": f"{'x' * 290} {KEY} is wrong"}})),
        ("anthropic", events({"type": "error", "error": {"message": f"{KEY} is wrong"}})),
        ("openai", events(f"{'x' * 70} {KEY} is wrong".encode())),
    ],
)
async def test_an_endpoint_that_quotes_the_key_in_its_stream_has_it_in_no_message(kind: Kind, play: Play) -> None:
    with pytest.raises(ModelFailed) as failed:
        await replied(kind, play)
    assert KEY[:6] not in str(failed.value) and "…" in str(failed.value)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_that_does_not_end_is_not_kept_without_end(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_REPLY_BYTES", 100_000)
    with pytest.raises(ModelFailed, match="sent more than 100,000 bytes and did not end; nothing of the session is lost"):
        await replied(kind, Play(body=b": nothing\n\n" * 20_000, chunk_bytes=10_000))


def test_arguments_in_many_pieces_are_put_together_once() -> None:
    gathered = _Gathered(lambda piece: None)
    for _ in range(1_000):
        gathered.take(Event("", json.dumps(delta(None, tool_calls=[{"index": 0, "function": {"arguments": "x"}}]))))
    assert gathered._calls[0].arguments == ["x"] * 1_000  # a text that grew would be copied a thousand times
    assert gathered.reply().calls == (ToolCall(id="call_0", name="", arguments="x" * 1_000),)


HALF: list[Callable[[], Play]] = [
    lambda: events(rb'{"choices": [{"delta": {"content": "a\ud800b"}, "finish_reason": "stop"}]}', b"[DONE]"),
    lambda: events(
        rb'{"choices": [{"delta": {"tool_calls": [{"id": "\udfff", "function": {"name": "\ud800", "arguments": "\ud800"}}]},'
        rb' "finish_reason": "tool_calls"}]}',
        b"[DONE]",
    ),
]


@pytest.mark.parametrize("half", HALF, ids=["text", "call"])
async def test_half_a_character_does_not_end_the_chat(half: Callable[[], Play]) -> None:
    fine = said("openai", "Fine.")
    with serving([half(), fine, fine]) as endpoint:
        async with (
            model("openai", endpoint.url) as made,
            Harness(tools={}, store=MemoryStore()) as harness,
            harness.session() as session,
        ):
            chat = Chat(Surface(session), made)
            await chat.ask("caf\udce9")
            assert (await chat.ask("and now?")).text == "Fine."


async def test_arguments_that_are_nested_without_end_are_told_back_as_none() -> None:
    call = ToolCall(id="a", name="run_script", arguments='{"script":' * 50_000)
    prompt = Prompt(system="", messages=(UserSaid("x"), AssistantSaid("", (call,)), UserSaid("y")))
    assert (await replied("anthropic", said("anthropic", "Fine."), prompt=prompt)).text == "Fine."
