"""A model that says what a list says: for tests, examples and demos. A file of replies is JSON.

A reply in such a list is a text, or an object with `text`, `reasoning`, `script` (a call of the tool that runs scripts), `calls`
(`[{ "name": …, "arguments": { … } }]`), `usage` (`{ "read": 1200, "written": 80 }`) or `error` (what it fails with).
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from anyio.lowlevel import checkpoint
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from harness.chat.messages import Prompt, ReasoningCame, Reply, TextCame, ToolCall, Usage
from harness.chat.model import Hear, ModelFailed

_WORD: Final = re.compile(r"\S+\s*|\s+")


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    arguments: dict[str, Any] | str = {}


class _Usage(BaseModel):
    model_config = ConfigDict(extra="forbid")
    read: int
    written: int = 0


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = ""
    reasoning: str = ""
    script: str | None = None
    calls: list[_Call] = []
    usage: _Usage | None = None
    error: str = ""


_LINES: Final = TypeAdapter(list[_Line])


class BadReplies(ValueError):
    """A list of replies that is none; the message says where."""


class ScriptedModel:
    """`heard`: the prompts it was given, for tests to look at."""

    def __init__(self, replies: Iterable[str | Mapping[str, Any]]) -> None:
        try:
            read = _LINES.validate_python([{"text": one} if isinstance(one, str) else one for one in replies])
        except ValidationError as error:
            first = error.errors()[0]
            number, *steps = first["loc"]
            where = ".".join(str(step) for step in (int(number) + 1, *steps))  # counted as people count
            raise BadReplies(
                f"reply {where}: {first['msg']}; a reply is a text, or an object of text, reasoning, script, calls, usage, error"
            ) from None
        self._left = read
        self._number = 0
        self.heard: list[Prompt] = []

    @classmethod
    def from_file(cls, path: Path) -> Self:
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadReplies(f"{path}: {error.strerror}; give a file with a JSON list of replies") from None
        except ValueError as error:
            raise BadReplies(f"{path}: not JSON: {error}") from None
        if not isinstance(read, list):
            raise BadReplies(f'{path}: give a JSON list of replies, such as ["Hello."]')
        try:
            return cls(read)
        except BadReplies as error:
            raise BadReplies(f"{path}: {error}") from None

    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        self.heard.append(prompt)
        if not self._left:
            raise ModelFailed("the scripted model has no reply left; add one to its list")
        line, self._number = self._left.pop(0), self._number + 1
        text = line.text if prompt.tools else _with_block(line)
        if line.reasoning:
            hear(ReasoningCame(line.reasoning))
        for word in _WORD.findall(text):
            await checkpoint()
            hear(TextCame(word))
        if line.error:
            raise ModelFailed(line.error)
        usage = None if line.usage is None else Usage(read=line.usage.read, written=line.usage.written)
        calls = self._calls(line, prompt) if prompt.tools else ()
        return Reply(text=text, reasoning=line.reasoning, calls=calls, usage=usage)

    def _calls(self, line: _Line, prompt: Prompt) -> tuple[ToolCall, ...]:
        made = [(one.name, one.arguments) for one in line.calls]
        if line.script is not None:
            made.append((prompt.tools[0].name, {prompt.tools[0].argument: line.script}))
        return tuple(
            ToolCall(
                id=f"scripted_{self._number}_{place}", name=name,
                arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
            )
            for place, (name, arguments) in enumerate(made, 1)
        )  # fmt: skip


def _with_block(line: _Line) -> str:
    """For a chat whose model is told of no tools."""
    return line.text if line.script is None else f"{line.text}\n<tool-calls>\n{line.script}\n</tool-calls>"
