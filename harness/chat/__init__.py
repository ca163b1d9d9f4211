"""A minimal agent: a person, a model, and the tool layer between them. `loop.py` is all of it; the rest speaks to endpoints.

`harness/cli/chat*.py` puts it in a terminal.
"""

from harness.chat.loop import Answer, Chat
from harness.chat.messages import AssistantSaid, Message, Prompt, Reply, ToolCall, ToolSaid, Usage, UserSaid
from harness.chat.model import Model, ModelFailed
from harness.chat.opening import open_model
from harness.chat.scripted import ScriptedModel

__all__ = [
    "Answer",
    "AssistantSaid",
    "Chat",
    "Message",
    "Model",
    "ModelFailed",
    "Prompt",
    "Reply",
    "ScriptedModel",
    "ToolCall",
    "ToolSaid",
    "Usage",
    "UserSaid",
    "open_model",
]
