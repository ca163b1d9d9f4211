"""What a chat needs of a model: one method. `openai.py`, `anthropic.py` and `scripted.py` have it."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from harness.chat.messages import Piece, Prompt, Reply

Hear: TypeAlias = Callable[[Piece], None]


class Model(Protocol):
    async def reply(self, prompt: Prompt, hear: Hear) -> Reply:
        """The whole reply. `hear` is given its pieces as they come, and must not wait. ModelFailed."""


class ModelFailed(Exception):
    """No reply, or half of one. The message is one line and ends with the next step."""
