"""The messages of a session that goes on, from what is on record of it. Pure.

Each turn is a call of the tool that runs scripts, whoever made it, and is answered by what the model has in view of it.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from harness.adapters.definitions import Definition
from harness.chat.messages import AssistantSaid, Message, ToolCall, ToolSaid, UserSaid
from harness.entries import Began, Ended, Entry
from harness.entries import Message as Said

_NOTHING: Final = "(the script showed nothing)"
_STOPPED: Final = "stopped by the person before it ended; what it had done until then is done"
_INTERRUPTED: Final = "the process ended before this script did; look before you do it again"
_GONE: Final = "(no longer in view)"


def messages_of(entries: Iterable[Entry], in_view: Iterable[tuple[int, str]], script: Definition) -> list[Message]:
    """`in_view`: turns with their texts, as `Session.transcript` has them; `script`: the tool that runs scripts."""
    listed, texts = list(entries), dict(in_view)
    ended = {entry.turn: entry for entry in listed if isinstance(entry, Ended)}
    made: list[Message] = []
    for entry in listed:
        match entry:
            case Said(role="user"):
                _add(made, UserSaid(entry.text))
            case Said(role="assistant"):
                _add(made, AssistantSaid(entry.text))
            case Began():
                _add_turn(made, entry, _text(ended.get(entry.turn), texts), script)
            case _:
                pass
    return made


def _add(made: list[Message], message: UserSaid | AssistantSaid) -> None:
    """What one side says in a row is one message."""
    match made[-1] if made else None, message:
        case UserSaid(before), UserSaid(text):
            made[-1] = UserSaid(f"{before}\n\n{text}")
        case AssistantSaid(before), AssistantSaid(text):
            made[-1] = AssistantSaid(f"{before}\n\n{text}")
        case _:
            made.append(message)


def _add_turn(made: list[Message], began: Began, text: str, script: Definition) -> None:
    call = ToolCall(id=f"turn_{began.turn}", name=script.name, arguments=json.dumps({script.argument: began.script}))
    last = made[-1] if made else None
    if isinstance(last, AssistantSaid):
        made[-1] = AssistantSaid(last.text, (call,))
    else:
        made.append(AssistantSaid("", (call,)))
    made.append(ToolSaid(call, text, turn=began.turn))


def _text(ended: Ended | None, texts: Mapping[int, str]) -> str:
    if ended is None:
        return _INTERRUPTED
    shown = texts.get(ended.turn, "")
    if ended.ending.how == "cancelled":
        return f"{shown}\n{_STOPPED}".lstrip()
    return shown or (_GONE if ended.text else _NOTHING)
