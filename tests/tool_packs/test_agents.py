"""Another model asked over both protocols, from a server on loopback that fails in every way; and tasks that outlive a script."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Host, ToolProblem, pack
from tests.tool_packs.servers import Asked, Server, answer, serving
from tool_packs import agents as agents_pack
from tool_packs.agents import Agents, Settings, ask, cancel, done, list_, start, status
from tool_packs.models import retry_after
from tool_packs.tasks import READ_MAX, UNREAD_MAX, Tasks

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret-key"


def reply(api: str, text: str, stop: str | None = None) -> bytes:
    if api == "anthropic":
        body: dict[str, Any] = {
            "model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": stop or "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }  # fmt: skip
    else:
        body = {
            "model": "m-1", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": stop or "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }  # fmt: skip
    return answer(body=json.dumps(body).encode(), content_type="application/json")


def in_turn(*answers: bytes) -> Callable[[Asked, socket.socket, Server], None]:
    """One after the other, the last for ever."""

    def answering(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(answers[min(len(server.asked), len(answers)) - 1])

    return answering


class Made:
    """Agents against a server, with the waits between attempts written down instead of waited."""

    def __init__(self, tmp_path: Path, server: Server, **told: Any) -> None:
        self.waits: list[float] = []
        api = told.get("api", "openai")
        base = server.url if api == "anthropic" else f"{server.url}/v1"
        settings = Settings.model_validate(
            {"base_url": base, "model": "m", "key_variable": "MODEL_KEY", "timeout_seconds": 10, **told}
        )
        host = Host(root=tmp_path, environment={"MODEL_KEY": KEY}, clock=lambda: 1_700_000_000.0)
        self.agents = Agents(settings, host, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def problem_of(awaited: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await awaited
    assert KEY not in repr(caught.value) + repr(caught.value.data)
    return caught.value


async def test_openai_is_asked_as_its_protocol_says(tmp_path: Path) -> None:
    with serving(in_turn(reply("openai", "hello", "length"))) as server:
        made = Made(tmp_path, server)
        got = await ask(made.agents, "hi", system="be kind", temperature=0.5, max_tokens=9)
        await made.agents.aclose()
    assert got.model_dump() == {
        "text": "hello",
        "value": None,
        "model": "m-1",
        "usage": {"input": 7, "output": 3},
        "stop": "length",
    }
    (asked,) = server.asked
    assert (asked.method, asked.target, asked.headers["authorization"]) == ("POST", "/v1/chat/completions", f"Bearer {KEY}")
    assert json.loads(asked.body) == {
        "model": "m",
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "temperature": 0.5,
        "max_tokens": 9,
    }


async def test_anthropic_is_asked_as_its_protocol_says(tmp_path: Path) -> None:
    with serving(in_turn(reply("anthropic", "hello"))) as server:
        made = Made(tmp_path, server, api="anthropic")
        got = await ask(made.agents, "hi", system="be kind", model="other")
        await made.agents.aclose()
    assert got.model_dump() == {"text": "hello", "value": None, "model": "m-1", "usage": {"input": 7, "output": 3}, "stop": "end"}
    (asked,) = server.asked
    assert (asked.target, asked.headers["x-api-key"], asked.headers["anthropic-version"]) == ("/v1/messages", KEY, "2023-06-01")
    assert "authorization" not in asked.headers
    assert json.loads(asked.body) == {
        "model": "other",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 2000,
        "system": "be kind",
    }


async def test_no_key_and_the_newer_name_for_tokens_are_settings(tmp_path: Path) -> None:
    with serving(in_turn(reply("openai", "x"))) as server:
        made = Made(tmp_path, server, key_variable="", max_tokens_name="max_completion_tokens")
        await ask(made.agents, "hi")
        await made.agents.aclose()
    assert "authorization" not in server.asked[0].headers
    assert json.loads(server.asked[0].body)["max_completion_tokens"] == 2000


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("trouble", [429, 500, 502, 503, 529, "dead", "cut"])
async def test_passing_trouble_is_tried_again_with_longer_waits(tmp_path: Path, api: str, trouble: int | str) -> None:
    bad = (
        {"dead": b"", "cut": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"}.get(str(trouble))
        if isinstance(trouble, str)
        else answer(trouble)
    )
    with serving(in_turn(bad or b"", bad or b"", reply(api, "at last"))) as server:
        made = Made(tmp_path, server, api=api)
        assert (await ask(made.agents, "hi")).text == "at last"
        await made.agents.aclose()
    assert made.waits == [0.5, 1.0]


async def test_the_server_says_how_long_to_wait(tmp_path: Path) -> None:
    with serving(
        in_turn(answer(429, Retry_After="12"), answer(503, Retry_After="Tue, 14 Nov 2023 22:13:25 GMT"), reply("openai", "x"))
    ) as server:
        made = Made(tmp_path, server)
        await ask(made.agents, "hi")
        await made.agents.aclose()
    assert made.waits == [12.0, 5.0]


async def test_a_server_that_wants_a_long_wait_is_not_waited_for(tmp_path: Path) -> None:
    with serving(in_turn(answer(429, b"slow down", Retry_After="3600"))) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert (problem.code, problem.message, problem.hint) == (
        "model_failed",
        "m answered 429: slow down",
        "wait 3600 s before the next try",
    )
    assert made.waits == []


async def test_trouble_that_does_not_pass_ends_after_four_attempts(tmp_path: Path) -> None:
    with serving(in_turn(answer(500, f"failed with {KEY} in hand".encode()))) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert (problem.code, problem.message) == ("model_failed", "m answered 500 after 4 attempts: failed with [key] in hand")
    assert problem.data == {"status": 500, "attempts": 4}
    assert (len(server.asked), made.waits) == (4, [0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "change what is asked"),
        (401, "ask a person to check the key that [packs.agents] key_variable names"),
        (404, "check the model's name, or ask a person to check [packs.agents] base_url"),
        (302, "change what is asked"),
    ],
)
async def test_trouble_that_will_not_pass_is_not_tried_again(tmp_path: Path, status: int, hint: str) -> None:
    with (
        serving(in_turn(reply("openai", "stolen"))) as other,
        serving(in_turn(answer(status, f'{{"error": "bad {KEY}"}}'.encode(), Location=f"{other.url}/"))) as server,
    ):
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert (problem.message, problem.hint) == (f'm answered {status}: {{"error": "bad [key]"}}', hint)
    assert len(server.asked) == 1
    assert other.asked == []


async def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with serving(in_turn(b"")) as server:
        pass
    made = Made(tmp_path, server)
    problem = await problem_of(ask(made.agents, "hi"))
    await made.agents.aclose()
    assert problem.code == "not_reached"
    assert problem.message.startswith("the model's server could not be reached after 4 attempts: ")


async def test_a_model_that_never_answers_is_left_when_the_time_is_over(tmp_path: Path) -> None:
    with serving(lambda asked, wire, server: server.closing.wait() and None) as server:
        made = Made(tmp_path, server, timeout_seconds=0.3)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert (problem.code, problem.message) == ("timed_out", "m did not answer within 0.3 s")


ODD = [
    b"not json", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {}}]}', b'{"choices": [{"message": {"content": null}}]}',
    b'{"content": [{"type": "text", "text": "anthropic"}], "model": "m"}', b"null",
]  # fmt: skip


@pytest.mark.parametrize("body", ODD)
async def test_an_answer_that_is_none_is_told(tmp_path: Path, body: bytes) -> None:
    with serving(in_turn(answer(body=body, content_type="application/json"))) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert problem.code == "bad_answer"
    assert problem.message == f"the model's server did not answer as the openai protocol says: {body.decode()}"


async def test_an_answer_without_end_is_refused(tmp_path: Path) -> None:
    def endless(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            wire.sendall(b" " * 1_000_000)

    with serving(endless) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "hi"))
        await made.agents.aclose()
    assert problem.code == "too_large"


async def test_a_refusal_and_content_in_parts_are_read(tmp_path: Path) -> None:
    refusal = {"model": "m", "choices": [{"message": {"content": None, "refusal": "I will not"}, "finish_reason": "stop"}]}
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}]}}]}
    with serving(in_turn(answer(body=json.dumps(refusal).encode()), answer(body=json.dumps(parts).encode()))) as server:
        made = Made(tmp_path, server)
        first, second = await ask(made.agents, "hi"), await ask(made.agents, "hi")
        await made.agents.aclose()
    assert (first.text, first.stop, first.usage.input) == ("I will not", "refused", 0)
    assert (second.text, second.stop) == ("ab", "end")


# Schemas

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "pattern": {"type": "string"}}, "required": ["n"]}


@pytest.mark.parametrize("text", ['{"n": 1}', ' ```json\n{"n": 1}\n``` ', 'Here you are: {"n": 1} as asked.', '```\n{"n": 1}```'])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_a_value_that_fits_the_schema_is_found_in_the_answer(tmp_path: Path, api: str, text: str) -> None:
    with serving(in_turn(reply(api, text))) as server:
        made = Made(tmp_path, server, api=api)
        got = await ask(made.agents, "count", schema=SCHEMA)
        await made.agents.aclose()
    assert (got.value, got.text) == ({"n": 1}, text)
    assert "Answer with one JSON value that fits this JSON Schema" in server.asked[0].body.decode()


async def test_a_value_that_does_not_fit_is_asked_for_once_more_with_the_reason(tmp_path: Path) -> None:
    with serving(in_turn(reply("openai", '{"n": "one"}'), reply("openai", '{"n": 1}'))) as server:
        made = Made(tmp_path, server)
        got = await ask(made.agents, "count", schema=SCHEMA)
        await made.agents.aclose()
    assert (got.value, got.usage.input, got.usage.output) == ({"n": 1}, 14, 6)
    assert json.loads(server.asked[1].body)["messages"][1:] == [
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": '{"n": "one"}'},
        {
            "role": "user",
            "content": "That does not fit: 'one' is not of type 'integer' at n. Answer again with the JSON value alone.",
        },
    ]


async def test_two_values_that_do_not_fit_are_a_problem_with_the_last_text(tmp_path: Path) -> None:
    with serving(in_turn(reply("openai", "no"), reply("openai", '{"n": ', "length"))) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "count", schema=SCHEMA))
        await made.agents.aclose()
    assert problem.code == "answer_misfit"
    assert problem.message == "m answered twice, and neither answer fits the schema: there is no JSON value in the answer"
    assert problem.hint == "raise max_tokens: the answer was cut"
    assert problem.data == {"text": '{"n": ', "usage": {"input": 14, "output": 6}, "stop": "length"}


BAD_SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"type": "strin"}, "'strin' is not valid under any of the given schemas at type"),
    ({"properties": {"a": {"pattern": "(a+)+$"}}}, "pattern is not supported here; check that part in the script"),
    ({"anyOf": [{"patternProperties": {"x": {}}}]}, "patternProperties is not supported here; check that part in the script"),
    ({"$ref": "http://127.0.0.1:1/x"}, "$ref to 'http://127.0.0.1:1/x' is not supported here; check that part in the script"),
    ({"description": "x" * 70_000}, "it has 70,018 bytes; at most 65,536 are taken"),
]


@pytest.mark.parametrize(("schema", "why"), BAD_SCHEMAS)
async def test_a_schema_that_cannot_be_used_is_told_before_anything_is_sent(
    tmp_path: Path, schema: dict[str, Any], why: str
) -> None:
    with serving(in_turn(reply("openai", "{}"))) as server:
        made = Made(tmp_path, server)
        problem = await problem_of(ask(made.agents, "x", schema=schema))
    assert (problem.code, problem.message) == ("bad_schema", f"the schema cannot be used: {why}")
    assert server.asked == []


@pytest.mark.parametrize("schema", [{"$ref": "#/nowhere"}, {"$ref": "#"}])
async def test_a_schema_that_leads_nowhere_is_told(tmp_path: Path, schema: dict[str, Any]) -> None:
    with serving(in_turn(reply("openai", "{}"))) as server:
        made = Made(tmp_path, server)
        assert (await problem_of(ask(made.agents, "x", schema=schema))).code == "bad_schema"
        await made.agents.aclose()


# Settings

NOT_SET: list[tuple[dict[str, Any], str, str]] = [
    ({"base_url": ""}, "not_configured", "no model is set"),
    ({"model": ""}, "not_configured", "no model is set"),
    ({"key_variable": "OTHER_KEY"}, "not_configured", "OTHER_KEY is empty; it is where the model's key stands"),
    ({"key_variable": "BROKEN"}, "not_configured", "BROKEN holds characters that no key has; it is where the model's key stands"),
]


@pytest.mark.parametrize(("told", "code", "message"), NOT_SET)
async def test_what_is_not_configured_is_told(tmp_path: Path, told: dict[str, Any], code: str, message: str) -> None:
    settings = Settings.model_validate({"base_url": "http://127.0.0.1:1/v1", "model": "m", **told})
    host = Host(root=tmp_path, environment={"BROKEN": f"{KEY}\nX: y"})
    async with Agents(settings, host).opened() as agents:
        for tool in (ask, start):
            problem = await problem_of(tool(agents, "hi"))
            assert (problem.code, problem.message) == (code, message)
            assert problem.hint.startswith("ask a person to set ")


ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"prompt": "  "}, "the prompt is empty"),
    ({"prompt": "x", "max_tokens": 0}, "max_tokens is 0"),
    ({"prompt": "x", "max_tokens": 33_000}, "max_tokens is 33,000"),
    ({"prompt": "x", "temperature": 3}, "temperature is 3"),
    ({"prompt": "x", "model": "dear"}, "'dear' is not among the models that may be asked: m, cheap"),
]


@pytest.mark.parametrize(("told", "message"), ARGUMENTS)
async def test_arguments_that_make_no_sense_are_told(tmp_path: Path, told: dict[str, Any], message: str) -> None:
    settings = Settings(base_url="http://127.0.0.1:1/v1", model="m", models=["cheap"])
    assert (await problem_of(ask(Agents(settings, Host(root=tmp_path)), **told))).message == message


def test_settings_that_are_wrong_are_told() -> None:
    with pytest.raises(BadPack, match="pack agents: base_url: Value error, 'ftp://x': ftp: is not fetched"):
        pack(agents_pack).read_settings({"base_url": "ftp://x"})
    with pytest.raises(BadPack, match="carries a user name or password") as caught:
        pack(agents_pack).read_settings({"base_url": "https://user:pw@x"})
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("", 0), ("3", 3), ("1.5", 1.5), ("-1", 0), ("soon", 0), ("٣", 0), ("9" * 30, 0), ("Tue, 14 Nov 2023 22:13:30 GMT", 10)],
)
def test_retry_after_is_read_as_number_or_date(told: str, seconds: float) -> None:
    assert retry_after(told, 1_700_000_000.0) == seconds


# Tasks


async def test_a_task_goes_on_while_scripts_come_and_go(tmp_path: Path) -> None:
    with serving(in_turn(reply("openai", '{"n": 5}'))) as server:
        async with Made(tmp_path, server).agents.opened() as agents:
            task = await start(agents, "count\n to five", schema=SCHEMA)
            assert (task.id, task.prompt, task.started_at) == ("t1", "count to five", "2023-11-14T22:13:20Z")
            finished = await done(agents, "t1", wait_seconds=10)
            assert (finished.status, finished.problem) == ("done", None)
            assert finished.answer is not None
            assert finished.answer.value == {"n": 5}
            assert (await done(agents, "t1")).answer == finished.answer
            assert [one.status for one in await list_(agents)] == ["done"]


async def test_a_task_that_fails_says_why(tmp_path: Path) -> None:
    with serving(in_turn(answer(400, b"no"))) as server:
        async with Made(tmp_path, server).agents.opened() as agents:
            await start(agents, "x")
            finished = await done(agents, "t1", wait_seconds=10)
    assert (finished.status, finished.answer) == ("failed", None)
    assert finished.problem is not None
    assert finished.problem.model_dump() == {
        "code": "model_failed",
        "message": "m answered 400: no",
        "hint": "change what is asked",
    }


async def test_only_so_many_tasks_run_at_once_and_the_rest_wait_in_order(tmp_path: Path) -> None:
    """Each answer waits until its prompt is let go."""
    free: set[str] = set()

    def gated(asked: Asked, wire: socket.socket, server: Server) -> None:
        prompt = json.loads(asked.body)["messages"][0]["content"]
        while prompt not in free and not server.closing.wait(0.01):
            pass
        wire.sendall(reply("openai", prompt))

    async def until(agents: Agents, *wanted: str) -> None:
        with anyio.fail_after(10):
            while [one.status for one in await list_(agents)] != list(wanted):
                await anyio.sleep(0.01)

    with serving(gated) as server:
        async with Made(tmp_path, server, at_once=2).agents.opened() as agents:
            for prompt in "abcd":
                await start(agents, prompt)
            await until(agents, "running", "running", "queued", "queued")
            assert (await done(agents, "t3")).answer is None
            assert (await cancel(agents, "t4")).status == "cancelled"
            free.add("b")
            await until(agents, "running", "done", "running", "cancelled")
            assert (await cancel(agents, "t1")).status == "cancelled"
            free.add("c")
            last = await done(agents, "t3", wait_seconds=10)
            assert last.answer is not None
            assert last.answer.text == "c"
            assert (await cancel(agents, "t3")).status == "done"
    assert sorted(json.loads(asked.body)["messages"][0]["content"] for asked in server.asked) == ["a", "b", "c"]


async def test_who_waits_for_a_task_hears_of_its_cancelling(tmp_path: Path) -> None:
    with serving(lambda asked, wire, server: server.closing.wait() and None) as server:
        async with Made(tmp_path, server).agents.opened() as agents:
            await start(agents, "x")
            heard: list[str] = []

            async def wait() -> None:
                heard.append((await done(agents, "t1", wait_seconds=200)).status)

            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await anyio.lowlevel.checkpoint()
                await cancel(agents, "t1")
    assert heard == ["cancelled"]


async def test_waiting_for_a_task_ends_with_the_time_and_not_the_task(tmp_path: Path) -> None:
    with serving(lambda asked, wire, server: server.closing.wait() and None) as server:
        async with Made(tmp_path, server).agents.opened() as agents:
            await start(agents, "x")
            assert (await done(agents, "t1", wait_seconds=0.1)).status == "running"
            assert (await status(agents, "t1")).status == "running"


async def test_leaving_cancels_every_task(tmp_path: Path) -> None:
    closed: list[bytes] = []
    with serving(lambda asked, wire, server: closed.append(wire.recv(1))) as server:
        async with Made(tmp_path, server).agents.opened() as agents:
            await start(agents, "x")
            await start(agents, "y")
            with anyio.fail_after(10):
                while len(server.asked) < 2:
                    await anyio.sleep(0.01)
            tasks = agents.tasks.all()
    assert [task.status for task in tasks] == ["cancelled", "cancelled"]
    assert closed == [b"", b""]


async def test_an_unknown_task_is_told_with_the_known_ones(tmp_path: Path) -> None:
    settings = Settings(base_url="http://127.0.0.1:1/v1", model="m")
    async with Agents(settings, Host(root=tmp_path)).opened() as agents:
        problem = await problem_of(status(agents, "t1"))
        assert (problem.code, problem.message) == ("unknown_task", "there is no task 't1'; there is none")
        await start(agents, "x")
        await cancel(agents, "t1")
        for tool in (status, done, cancel):
            problem = await problem_of(tool(agents, "task1"))
            assert problem.message == "there is no task 'task1'; there is t1 (cancelled)"
            assert (await problem_of(tool(agents, "t11"))).hint == "did you mean t1?"


@pytest.mark.parametrize("seconds", [-1, 241])
async def test_a_wait_that_is_too_long_is_told(tmp_path: Path, seconds: float) -> None:
    async with Agents(Settings(), Host(root=tmp_path)).opened() as agents:
        problem = await problem_of(done(agents, "t1", wait_seconds=seconds))
    assert (problem.message, problem.hint) == (f"wait_seconds is {seconds}", "give a number from 0 to 240")


async def test_results_are_kept_until_read_and_a_bounded_number_after() -> None:
    async def work() -> int:
        return 1

    async with anyio.create_task_group() as group:
        tasks: Tasks[int] = Tasks(group, at_once=3, clock=lambda: 0.0)
        for _ in range(UNREAD_MAX):
            tasks.start(work, label="x")
        with pytest.raises(ToolProblem) as caught:
            tasks.start(work, label="x")
        assert caught.value.message == "64 tasks are queued, running or not read yet; at most 64 may be"
        assert caught.value.hint == "read one with done, such as t1, or cancel one"
        for task in tasks.all():
            assert (await tasks.wait(task.id, 10)).result == 1
        for _ in range(10):
            await tasks.wait(tasks.start(work, label="x").id, 10)
        assert len(tasks.all()) == READ_MAX
        assert tasks.all()[0].id == "t11"


async def test_the_pack_opens_and_asks_for_approval_where_money_is_spent(tmp_path: Path) -> None:
    made = pack(agents_pack)
    assert [(tool.name, tool.asks({})) for tool in made.tools] == [
        ("ask", True), ("start", True), ("status", False), ("done", False), ("cancel", False), ("list", False),
    ]  # fmt: skip
    assert made.tools[2].effects({"id": "t1"}).reads == ("task:t1",)
    async with made.opened({}, Host(root=tmp_path)) as agents:
        assert await list_(agents) == []
