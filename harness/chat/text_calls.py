"""A model without tool calling as one that calls: its scripts stand in its replies, between <tool-calls> and </tool-calls>.

What it is told are words alone: results come back as messages of the user.
"""

import json
from collections.abc import Sequence

from harness.adapters.text import Piece as Told
from harness.adapters.text import Reasoning, ReplyStream, Script, Text, Unclear, tool_results
from harness.chat.messages import (
    AssistantSaid,
    Message,
    Piece,
    Prompt,
    ReasoningCame,
    Reply,
    TextCame,
    ToolCall,
    ToolSaid,
    UserSaid,
)
from harness.chat.model import Hear, Model
from harness.detect import detect, near_miss


class TextCalls:
    """`inner` is never told of tools. The text of a reply keeps the script, since the model must see what it wrote; those who
    listen hear only the rest.
    """

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        stream = ReplyStream()

        def pass_on(piece: Piece) -> None:
            match piece:
                case TextCame():
                    _hear_all(stream.feed(piece.text), hear)
                case ReasoningCame():
                    _hear_all(stream.feed(Reasoning(piece.text)), hear)
                case _:
                    hear(piece)

        words = Prompt(system=prompt.system, messages=_in_words(prompt.messages))
        reply = await self._inner.reply(words, pass_on)
        last = stream.end()
        _hear_all(last, hear)
        calls = _calls(stream.text, last, prompt, number=len(prompt.messages))
        return Reply(text=stream.text, reasoning=reply.reasoning, calls=calls, usage=reply.usage, stop=reply.stop)


def _calls(text: str, last: Sequence[Told], prompt: Prompt, *, number: int) -> tuple[ToolCall, ...]:
    script, id = next((piece for piece in last if isinstance(piece, Script)), None), f"text_{number}"
    if script is not None:
        tool = prompt.tools[0]
        return (ToolCall(id=id, name=tool.name, arguments=json.dumps({tool.argument: script.source})),)
    # <code> and <script> may stand in an answer; a tag with calls in it was meant for us.
    if any(isinstance(piece, Unclear) for piece in last) or "call" in near_miss(text).lower():
        return (ToolCall(id=id, name="", arguments=text, unclear=True),)
    return ()


def _hear_all(told: Sequence[Told], hear: Hear) -> None:
    for piece in told:
        match piece:
            case Text():
                hear(TextCame(piece.text))
            case Reasoning():
                hear(ReasoningCame(piece.text))
            case _:
                pass


def _in_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Roles take turns: what comes from our side in a row is one message."""
    made: list[Message] = []
    for message in messages:
        match message:
            case AssistantSaid():
                made.append(AssistantSaid(_with_script(message)))
            case _:
                said = tool_results(message.text, turn=message.turn) if isinstance(message, ToolSaid) else message.text
                before = made.pop().text + "\n\n" if made and isinstance(made[-1], UserSaid) else ""
                made.append(UserSaid(before + said))
    return tuple(made)


def _with_script(message: AssistantSaid) -> str:
    """Of a session that began with a model that calls tools: its scripts stand in no reply."""
    if not message.calls or detect(message.text) is not None:
        return message.text
    try:
        (script,) = json.loads(message.calls[0].arguments).values()
    except (ValueError, AttributeError, RecursionError):
        return message.text
    return f"{message.text}\n<tool-calls>\n{script}\n</tool-calls>".lstrip()
