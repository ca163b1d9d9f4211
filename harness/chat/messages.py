"""What is said in a chat, as records that no endpoint knows: each endpoint's file translates them. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from harness.adapters.definitions import Definition

_CHARS_A_TOKEN: Final = 4  # where an endpoint does not count


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`arguments`: the text that the model wrote, which should be a JSON object. `unclear`: it is a reply in which no one script
    can be made out, of a model that writes scripts into its replies.
    """

    id: str
    name: str
    arguments: str
    unclear: bool = False


@dataclass(slots=True, kw_only=True)
class CallPieces:
    """A call while it comes. The arguments are put together once: a reply may have them in a million pieces."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def whole(self, otherwise: str) -> ToolCall:
        """`otherwise`: its id, where the endpoint gave none."""
        return ToolCall(id=self.id or otherwise, name=self.name, arguments="".join(self.arguments))


@dataclass(frozen=True, slots=True)
class UserSaid:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSaid:
    """The answer to one call; every call has one before the model is asked again. `turn`: the one it tells of; 0: none."""

    call: ToolCall
    text: str
    is_error: bool = False
    turn: int = 0


Message: TypeAlias = UserSaid | AssistantSaid | ToolSaid


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """All that a model is told at once."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Definition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request and its reply; together they are what the next request begins with."""

    read: int
    written: int

    @property
    def context(self) -> int:
        return self.read + self.written


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`stop`: the model was done, its reply was as long as it may be, or the endpoint held it back. `usage`: None when the
    endpoint does not count.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop: Literal["done", "length", "held_back"] = "done"


@dataclass(frozen=True, slots=True)
class TextCame:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningCame:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """The endpoint asked for patience, or failed in a way that may pass; it is asked again after these seconds."""

    seconds: float
    why: str


Piece: TypeAlias = TextCame | ReasoningCame | Waits


def guessed_usage(prompt: Prompt, reply: Reply) -> Usage:
    """A token is taken for four characters."""
    told = [prompt.system, *(f"{one.description}{dict(one.parameters)}" for one in prompt.tools)]
    told += [part for message in prompt.messages for part in _texts(message)]
    written = [reply.text, reply.reasoning, *(call.arguments for call in reply.calls)]
    return Usage(read=_tokens(told), written=_tokens(written))


def _texts(message: Message) -> list[str]:
    calls = message.calls if isinstance(message, AssistantSaid) else ()
    return [message.text, *(call.arguments for call in calls)]


def _tokens(texts: Sequence[str]) -> int:
    return math.ceil(sum(len(text) for text in texts) / _CHARS_A_TOKEN)
