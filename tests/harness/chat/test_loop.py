"""The agent from the outside: a scripted model, a real session, and what each of them is told."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import tool
from harness import Harness, MemoryStore, Setup
from harness.adapters.surface import Surface
from harness.chat import Answer, Chat, ModelFailed, ScriptedModel, open_model
from harness.chat.history import messages_of
from harness.chat.loop import Heard, Replied
from harness.chat.messages import AssistantSaid, Prompt, Reply, TextCame, ToolSaid, Usage, UserSaid
from harness.chat.model import Hear, Model
from harness.chat.scripted import BadReplies
from harness.chat.text_calls import TextCalls
from harness.entries import Began, Ended, Entry, Message
from harness.interfaces import ModelSettings
from harness.session import Session
from tests.harness.chat.endpoint import Kind, said, script, serving

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


class Talk:
    """A chat, its session, and what was heard."""

    def __init__(self, chat: Chat, session: Session, store: MemoryStore, heard: list[Heard]) -> None:
        self.chat, self.session, self.store, self.heard = chat, session, store, heard

    async def entries(self) -> list[Entry]:
        return [line.entry(self.session.id) for line in await self.store.load(self.session.id)]

    async def on_record(self) -> list[tuple[str, str]]:
        found = []
        for entry in await self.entries():
            match entry:
                case Message():
                    found.append((entry.role, entry.text))
                case Began():
                    found.append(("began", entry.script))
                case Ended():
                    found.append((entry.ending.how, entry.text))
        return found


@asynccontextmanager
async def talking(
    model: Model, tools: dict[str, Any] | None = None, setup: Setup | None = None, **options: Any
) -> AsyncIterator[Talk]:
    store, heard = MemoryStore(), list[Heard]()
    async with (
        Harness(tools={"sum.add": add, **(tools or {})}, store=store, setup=setup) as harness,
        harness.session() as session,
    ):
        surface = Surface(session, prose="system")
        yield Talk(Chat(surface, model, listen=heard.append, **options), session, store, heard)


ADDS = {"text": "I add.", "reasoning": "sum it", "script": "return await tools.sum.add({ a: 1, b: 2 })"}


async def test_a_question_goes_to_the_model_its_script_runs_and_its_answer_comes_back() -> None:
    model = ScriptedModel([ADDS, "It is 3."])
    async with talking(model) as talk:
        assert await talk.chat.ask("What is 1 + 2?") == Answer(how="answered", text="It is 3.", steps=2)
        assert await talk.on_record() == [
            ("user", "What is 1 + 2?"), ("reasoning", "sum it"), ("assistant", "I add."),
            ("began", "return await tools.sum.add({ a: 1, b: 2 })"), ("finished", "3"), ("assistant", "It is 3."),
        ]  # fmt: skip
    first, second = model.heard
    assert first.messages == (UserSaid("What is 1 + 2?"),)
    assert "tools.<pack>.<tool>" in first.system and [one.name for one in first.tools] == ["run_script"]
    assert [type(one).__name__ for one in second.messages] == ["UserSaid", "AssistantSaid", "ToolSaid"]
    assert second.messages[-1].text == "3"


async def test_words_are_heard_as_they_come_and_tokens_are_guessed_where_nobody_counts() -> None:
    async with talking(ScriptedModel(["One two.", {"text": "x", "usage": {"read": 7, "written": 2}}])) as talk:
        await talk.chat.ask("a" * 400)
        await talk.chat.ask("again")
    assert [one.text for one in talk.heard if isinstance(one, TextCame)] == ["One ", "two.", "x"]
    guessed, counted = (one for one in talk.heard if isinstance(one, Replied))
    assert guessed.guessed and guessed.usage.read > 100 and guessed.usage.written == 2
    assert not counted.guessed and counted.usage == Usage(read=7, written=2)


async def test_calls_of_one_reply_are_answered_in_order_and_wrong_ones_say_so() -> None:
    calls = [
        {"name": "run_script", "arguments": {"script": "return 1"}},
        {"name": "nope"},
        {"name": "run_script", "arguments": "{"},
    ]
    async with talking(ScriptedModel([{"calls": calls}, "Done."])) as talk:
        assert (await talk.chat.ask("go")).how == "answered"
        said = [one for one in talk.chat.messages if isinstance(one, ToolSaid)]
    assert [one.text.partition(":")[0] for one in said] == ["1", "unknown_call", "bad_call"]
    assert [one.is_error for one in said] == [False, True, True] and said[0].turn == 1


async def test_a_model_that_never_answers_is_stopped_after_its_steps_and_may_go_on() -> None:
    async with talking(ScriptedModel([{"script": "return 1"}] * 3 + ["At last."]), steps_max=3) as talk:
        assert await talk.chat.ask("go") == Answer(
            how="steps", steps=3, problem="no answer after 3 replies; go on, or say what to do otherwise"
        )
        assert (await talk.chat.go_on()).text == "At last."


async def test_a_failure_loses_nothing_and_the_next_words_join_the_question() -> None:
    model = ScriptedModel([{"text": "I beg", "error": "the line went dead; ask again"}, "Fine."])
    async with talking(model) as talk:
        failed = await talk.chat.ask("first")
        assert failed == Answer(how="failed", problem="the line went dead; ask again", steps=1)
        assert (await talk.chat.ask("second")).text == "Fine."
        assert await talk.on_record() == [("user", "first"), ("assistant", "I beg"), ("user", "second"), ("assistant", "Fine.")]
    assert model.heard[1].messages == (UserSaid("first\n\nsecond"),)


async def test_after_a_failure_going_on_asks_the_same_again() -> None:
    model = ScriptedModel([{"error": "no"}, "Yes."])
    async with talking(model) as talk:
        await talk.chat.ask("first")
        assert (await talk.chat.go_on()).text == "Yes."
    assert model.heard[0].messages == model.heard[1].messages


async def test_a_question_that_is_stopped_in_a_turn_is_on_record_as_cancelled_and_the_chat_goes_on() -> None:
    began = anyio.Event()

    @tool(reads=["clock:now"])
    async def forever() -> None:
        began.set()
        await anyio.sleep_forever()

    calls = [{"name": "run_script", "arguments": {"script": "await tools.slow.forever()"}}] * 2
    model = ScriptedModel([{"text": "I wait.", "calls": calls}, "Fine."])
    answers: list[Answer] = []
    async with talking(model, {"slow.forever": forever}) as talk, anyio.create_task_group() as tasks:

        async def ask() -> None:
            answers.append(await talk.chat.ask("wait"))

        tasks.start_soon(ask)
        await began.wait()
        talk.chat.stop()
        while not answers:
            await anyio.lowlevel.checkpoint()
        assert answers == [Answer(how="stopped")]
        assert (await talk.chat.ask("and now?")).text == "Fine."
        assert [how for how, _ in await talk.on_record()] == ["user", "assistant", "began", "cancelled", "user", "assistant"]
    told = [one for one in model.heard[1].messages if isinstance(one, ToolSaid)]
    assert [one.text for one in told] == ["stopped by the person before it ended; what it had done until then is done"] * 2


class Stuck:
    """Says half of a reply, and no more."""

    def __init__(self) -> None:
        self.begun = anyio.Event()

    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        hear(TextCame("Half of"))
        self.begun.set()
        await anyio.sleep_forever()
        raise ModelFailed("never")


async def test_a_reply_that_is_stopped_keeps_what_came_of_it() -> None:
    model = Stuck()
    async with talking(model) as talk, anyio.create_task_group() as tasks:
        tasks.start_soon(talk.chat.ask, "speak")
        await model.begun.wait()
        talk.chat.stop()
        while len(talk.chat.messages) < 2:
            await anyio.lowlevel.checkpoint()
        assert talk.chat.messages[-1] == AssistantSaid("Half of\n[the person stopped this reply]")
        assert await talk.on_record() == [("user", "speak"), ("assistant", "Half of")]


async def test_an_answer_without_words_or_without_its_end_says_so() -> None:
    async with talking(ScriptedModel([""])) as talk:
        assert (await talk.chat.ask("go")).problem == "the model said nothing; ask again, or in other words"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_the_loop_runs_over_an_endpoint(kind: Kind) -> None:
    plays = [said(kind, "I add.", script("return await tools.sum.add({ a: 20, b: 22 })"), chunk_bytes=11), said(kind, "42.")]
    with serving(plays) as endpoint:
        async with open_model(ModelSettings(kind=kind, url=endpoint.url, name="small")) as model, talking(model) as talk:
            assert (await talk.chat.ask("20 + 22?")).text == "42."
    last = endpoint.requests[1]["body"]["messages"][-1]
    assert "42" in json.dumps(last) and last["role"] in ("tool", "user")


# ------------------------------------------------------------ scripts in replies


async def test_a_model_without_tool_calling_writes_its_script_into_the_reply() -> None:
    inner = ScriptedModel([ADDS, "It is 3."])
    async with talking(TextCalls(inner)) as talk:
        assert (await talk.chat.ask("1 + 2?")).text == "It is 3."
        assert ("finished", "3") in await talk.on_record()
    assert "".join(one.text for one in talk.heard if isinstance(one, TextCame)) == "I add.\nIt is 3."  # no script
    asked, wrote, back = inner.heard[1].messages
    assert inner.heard[1].tools == () and (asked, back) == (
        UserSaid("1 + 2?"), UserSaid('<tool-results turn="1">\n3\n</tool-results>')
    )  # fmt: skip
    assert wrote == AssistantSaid("I add.\n<tool-calls>\nreturn await tools.sum.add({ a: 1, b: 2 })\n</tool-calls>")


async def test_two_scripts_in_a_reply_run_neither_and_the_model_is_told() -> None:
    block = "<tool-calls>\nreturn 1\n</tool-calls>"
    async with talking(TextCalls(ScriptedModel([f"{block}\n{block}", "Sorry."]))) as talk:
        assert (await talk.chat.ask("go")).text == "Sorry."
        (told,) = (one for one in talk.chat.messages if isinstance(one, ToolSaid))
    assert told.is_error and "second_block" in told.text


# ------------------------------------------------------------ a session that goes on


async def test_a_session_that_goes_on_has_the_messages_that_it_had() -> None:
    model = ScriptedModel([ADDS, "It is 3.", {"script": "throw new Error('no')"}, "It failed."])
    async with talking(model) as talk:
        await talk.chat.ask("1 + 2?")
        await talk.chat.ask("And now?")
        live = talk.chat.messages
        made = messages_of(await talk.entries(), talk.session.transcript(), Surface(talk.session).script)
    assert [(type(one), one.text) for one in made] == [(type(one), one.text) for one in live]
    calls = [one.calls[0] for one in made if isinstance(one, AssistantSaid) and one.calls]
    assert [json.loads(one.arguments) for one in calls] == [{"script": ADDS["script"]}, {"script": "throw new Error('no')"}]
    assert [one.call for one in made if isinstance(one, ToolSaid)] == calls


async def test_turns_that_left_the_view_are_not_told_again() -> None:
    async with talking(ScriptedModel([ADDS, "It is 3."])) as talk:
        await talk.chat.ask("1 + 2?")
        await talk.session.forget([1])
        made = messages_of(await talk.entries(), talk.session.transcript(), Surface(talk.session).script)
    assert [one.text for one in made if isinstance(one, ToolSaid)] == ["(no longer in view)"]


# ------------------------------------------------------------ the scripted model


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", 'give a JSON list of replies, such as ["Hello."]'),
        ("[", "not JSON"),
        ('["a", {"txt": "b"}]', "reply 2.txt: Extra inputs are not permitted; a reply is a text, or an object of"),
    ],
)
async def test_a_list_of_replies_that_is_none_says_where(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "replies.json").write_text(text)
    with pytest.raises(BadReplies) as raised:
        ScriptedModel.from_file(tmp_path / "replies.json")
    assert told in str(raised.value) and "replies.json" in str(raised.value)


async def test_a_scripted_model_without_a_reply_left_fails_as_a_model_does() -> None:
    async with talking(ScriptedModel([])) as talk:
        assert (await talk.chat.ask("go")).problem == "the scripted model has no reply left; add one to its list"
