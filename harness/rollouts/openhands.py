"""Histories of OpenHands: a document of one session a line (`output.jsonl`), or one list of events (a saved trajectory).

An event is an action or an observation; the first versions wrote pairs of both. The kind is `action/…` or `observation/…`.
"""

from collections.abc import Mapping
from typing import Any, Final

from harness.rollouts.meaning import About, Format, Heard, Reading, Role, Status
from harness.rollouts.naming import paths_in
from harness.rollouts.told import json_text, listed, members, seconds, size, text_of

_CALLS = (
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "browse_interactive",
    "call_tool_mcp",
    "delegate",
    "task_tracking",
)
_SAID: Final[Mapping[str, Role]] = {
    "system": "system",
    "message": "assistant",
    "think": "reasoning",
    "finish": "assistant",
    "reject": "assistant",
}
_SILENT = (
    "",
    "null",
    "recall",
    "start",
    "pause",
    "resume",
    "stop",
    "change_agent_state",
    "push",
    "send_pr",
    "condensation_request",
)
_OUTPUTS = (*_CALLS, "error", "mcp", "delegate", "user_rejected", "loop_recovery")
_SILENT_OUTPUTS = (
    "null",
    "recall",
    "think",
    "agent_state_changed",
    "success",
    "condense",
    "agent_condensation",
    "message",
    "chat",
)


def _kind(record: Any) -> str:
    if isinstance(record, list):
        return "pair"
    told = members(record)
    for name in ("action", "observation"):
        if name in told:
            return f"{name}/{text_of(told[name])}"
    return "document" if "instance_id" in told or "metadata" in told else "record"


def _known(kind: str) -> bool:
    top, _, inner = kind.partition("/")
    if top == "action":
        return inner in _CALLS or inner in _SAID or inner in _SILENT or inner == "condensation"
    if top == "observation":
        return inner in _OUTPUTS or inner in _SILENT_OUTPUTS
    return kind in ("pair", "document")


def _readings(kind: str, record: Any) -> tuple[Reading, ...]:
    if kind == "pair":
        return tuple(one for event in listed(record) for one in _readings(_kind(event), event))
    top, _, inner = kind.partition("/")
    if top == "action":
        return _action(inner, members(record))
    if top == "observation" and inner in _OUTPUTS:
        return (_output(inner, members(record)),)
    return ()


def _action(inner: str, event: Mapping[str, Any]) -> tuple[Reading, ...]:
    given = members(event.get("args"))
    if inner in _CALLS:
        thought = text_of(given.get("thought"))
        text = text_of(given.get("command")) or text_of(given.get("code")) or json_text(given)
        call = Reading(role="call", tool=inner, call_id=_call_id(event, "id"), arguments=given, text=text, paths=paths_in(given))
        return (Reading(role="assistant", text=thought), call) if thought else (call,)
    if inner == "condensation":
        return (Reading(role="compaction", text=text_of(given.get("summary"))),)
    if inner not in _SAID:
        return ()
    role: Role = "user" if inner == "message" and event.get("source") == "user" else _SAID[inner]
    said = (given.get(name) for name in ("content", "thought", "final_thought"))
    return (
        Reading(role=role, text=next((text for text in said if isinstance(text, str) and text), text_of(event.get("message")))),
    )


def _output(inner: str, event: Mapping[str, Any]) -> Reading:
    text = text_of(event.get("content"))
    extras = members(event.get("extras"))
    code = members(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    status: Status = "failed" if inner in ("error", "user_rejected") else "returned"
    if isinstance(code, int):
        status = "returned" if code == 0 else "running" if code == -1 else "failed"
    return Reading(role="output", tool=inner, call_id=_call_id(event, "cause"), text=text, status=status, bytes=size(text))


def _call_id(event: Mapping[str, Any], otherwise: str) -> str:
    """The model's own id of a call; where there was none, the number of the event that caused it."""
    given = text_of(members(event.get("tool_call_metadata")).get("tool_call_id"))
    return given or str(event.get(otherwise, ""))


def _is_record(record: Any) -> bool:
    told = members(record[0] if isinstance(record, list) and record else record)
    return text_of(told.get("source")) in ("agent", "user", "environment") and ("action" in told or "observation" in told)


def _is_document(value: Any) -> bool:
    told = members(value)
    return isinstance(told.get("history"), list) and "trajectory" not in told and ("instance_id" in told or "metadata" in told)


def _about(record: Any) -> About:
    told = members(record)
    metadata = members(told.get("metadata"))
    model = text_of(members(metadata.get("llm_config")).get("model"))
    args = members(told.get("args"))
    version = text_of(args.get("openhands_version"))
    return About(
        task=text_of(told.get("instance_id")), model=model, agent=f"openhands {version}" if version else "",
        root=text_of(members(members(told.get("extras")).get("metadata")).get("working_dir")),
    )  # fmt: skip


def _heard(record: Any) -> Heard | None:
    said = [one.text for one in _readings(_kind(record), record) if one.role == "user"]
    return Heard("\n".join(said)) if said else None


def _at(record: Any) -> float | None:
    return seconds(members(record[0] if isinstance(record, list) and record else record).get("timestamp"))


OPENHANDS: Final = Format(
    name="openhands", is_record=_is_record, kind=_kind, known=_known, readings=_readings, about=_about, heard=_heard, at=_at,
    list_name="history", is_document=_is_document,
)  # fmt: skip
