"""Trajectories of mini-SWE-agent: one JSON document with the messages. The kind of a message is its role.

Outputs come in the name of the user, in the shape that the shipped templates give them; the rest that a user says is the task,
or a person who joins in. Newer versions write `tool_calls`, the role `tool`, and what they know beside it in `extra`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.rollouts.meaning import About, Format, Heard, Reading, Status
from harness.rollouts.naming import paths_in_command
from harness.rollouts.told import joined, listed, members, parsed, seconds, size, text_of

_ROLES = ("system", "user", "assistant", "tool", "exit", "document")
_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)?[^\n`]*\n(.*?)\n?```", re.DOTALL)
_RESULT = re.compile(r"\s*<returncode>(?P<code>-?\d{1,9})</returncode>\n?(?:<output>\n?)?")
_TIMED_OUT = ("The last command <command>", "</command> timed out", "<output>", "</output>")
# Reminders of how to answer, and at the end the submission: not said by a person.
_PUT_IN = re.compile(
    r"\s*(?:Please always provide EXACTLY ONE action|Format error|Tool call error|No tool calls found|diff --git )", re.IGNORECASE
)


def _kind(record: Any) -> str:
    told = members(record)
    return text_of(told.get("role")) or ("document" if "info" in told else "record")


def _readings(kind: str, record: Any) -> tuple[Reading, ...]:
    told = members(record)
    text = joined(told.get("content"))
    match kind:
        case "assistant":
            return (*([Reading(role="assistant", text=text)] if text else []), *_calls(told, text))
        case "tool":
            return (_output(told, text),)
        case "user":
            if _is_output(told, text):
                return (_output(told, text),)
            return (Reading(role="system" if _PUT_IN.match(text) else "user", text=text),)
        case "system" | "exit":
            return (Reading(role="system", text=text),)
        case _:
            return ()


def _calls(told: Mapping[str, Any], text: str) -> Iterator[Reading]:
    for call in map(members, listed(told.get("tool_calls"))):
        function = members(call.get("function"))
        given = parsed(function.get("arguments"))
        command = text_of(given.get("command"))
        yield Reading(
            role="call", tool=text_of(function.get("name")), call_id=text_of(call.get("id")), arguments=given,
            text=command, paths=paths_in_command(command),
        )  # fmt: skip
    found = None if told.get("tool_calls") else _BLOCK.search(text)
    if found is not None:
        yield Reading(role="call", tool="bash", arguments={"command": found[1]}, text=found[1], paths=paths_in_command(found[1]))


def _is_output(told: Mapping[str, Any], text: str) -> bool:
    return "returncode" in members(told.get("extra")) or bool(_RESULT.match(text)) or _timed_out(text) is not None


def _output(told: Mapping[str, Any], text: str) -> Reading:
    result = _RESULT.match(text)
    body = text[result.end() :].rstrip().removesuffix("</output>") if result else _timed_out(text)
    code = members(told.get("extra")).get("returncode", int(result["code"]) if result else None if body is None else 124)
    status: Status = "" if code is None else "returned" if code == 0 else "failed"
    call_id = text_of(told.get("tool_call_id"))
    said = text if body is None else body
    return Reading(role="output", tool="bash", call_id=call_id, text=said, status=status, bytes=size(text))


def _timed_out(text: str) -> str | None:
    """What the command had printed by then. By hand: an expression with three open ends tries them all against each other."""
    begin, ended, first, last = _TIMED_OUT
    text = text.lstrip()
    at = text.find(ended) if text.startswith(begin) else -1
    start = text.find(first, at) + len(first) if at >= 0 else 0
    end = text.rfind(last)
    return text[start:end].removeprefix("\n") if at >= 0 and len(first) <= start <= end else None


def _is_document(value: Any) -> bool:
    told = members(value)
    if not isinstance(told.get("messages"), list):
        return False
    return text_of(told.get("trajectory_format")).startswith("mini-swe-agent") or "mini_version" in members(told.get("info"))


def _about(record: Any) -> About:
    told = members(record)
    info = members(told.get("info"))
    config = members(info.get("config"))
    version = text_of(info.get("mini_version"))
    return About(
        task=text_of(told.get("instance_id")),
        model=text_of(members(config.get("model")).get("model_name")),
        root=text_of(members(config.get("environment")).get("cwd")),
        agent=f"mini-swe-agent {version}" if version else "",
    )


def _heard(record: Any) -> Heard | None:
    said = _readings(_kind(record), record)
    return Heard(said[0].text) if said and said[0].role == "user" else None


def _at(record: Any) -> float | None:
    extra = members(members(record).get("extra"))
    return seconds(extra.get("timestamp") or members(extra.get("response")).get("created"))


MINI_SWE_AGENT: Final = Format(
    name="mini_swe_agent", is_record=lambda record: False, kind=_kind, known=lambda kind: kind in _ROLES, readings=_readings,
    about=_about, heard=_heard, at=_at, list_name="messages", is_document=_is_document,
)  # fmt: skip
