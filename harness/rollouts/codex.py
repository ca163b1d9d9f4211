"""Rollouts of Codex: `{timestamp, type, payload}`; bare items with state lines before 0.32; the very first, one JSON document.

The kind of a record is `type/payload type`, of a bare item `bare/type`. Most events are copies of items, for a screen that
draws while the model works: they say nothing here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.entries import Git
from harness.rollouts.codex_outputs import output_of
from harness.rollouts.meaning import About, Format, Heard, Reading, Role, Status
from harness.rollouts.naming import paths_in
from harness.rollouts.told import joined, json_text, members, parsed, seconds, size, text_of

_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
# What Codex puts into the conversation in the name of the user: not said by a person.
_PUT_IN = re.compile(
    r"\s*(?:<([A-Za-z_]+)>.*</\1>\s*$|# AGENTS\.md instructions for |<(?:permissions|user) instructions>)", re.DOTALL
)
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_SILENT_ITEMS = ("ghost_snapshot", "other")
_SILENT_EVENTS = (
    "agent_message", "agent_message_content_delta", "agent_message_delta", "agent_reasoning", "agent_reasoning_delta",
    "agent_reasoning_raw_content", "agent_reasoning_raw_content_delta", "agent_reasoning_section_break",
    "apply_patch_approval_request", "background_event", "collab_agent_interaction_begin", "collab_agent_interaction_end",
    "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_close_begin", "collab_close_end", "collab_resume_begin",
    "collab_resume_end", "collab_waiting_begin", "collab_waiting_end", "context_compacted", "deprecation_notice",
    "dynamic_tool_call_request", "dynamic_tool_call_response", "elicitation_request", "entered_review_mode",
    "exec_approval_request", "exec_command_begin", "exec_command_end", "exec_command_output_delta", "get_history_entry_response",
    "hook_completed", "hook_started", "image_generation_begin", "image_generation_end", "item_completed", "item_started",
    "list_custom_prompts_response", "list_skills_response", "mcp_list_tools_response", "mcp_startup_complete",
    "mcp_startup_update", "mcp_tool_call_begin", "model_reroute", "patch_apply_begin", "patch_apply_end", "plan_delta",
    "plan_update", "raw_response_item", "reasoning_content_delta", "reasoning_raw_content_delta", "request_permissions",
    "request_user_input", "session_configured", "shutdown_complete", "skills_update_available", "task_complete", "task_started",
    "terminal_interaction", "thread_name_updated", "token_count", "turn_complete", "turn_diff", "turn_started", "undo_completed",
    "undo_started", "user_message", "view_image_tool_call", "web_search_begin", "web_search_end",
)  # fmt: skip


def _message(item: Mapping[str, Any]) -> Reading:
    text = joined(item.get("content"))
    roles: dict[str, Role] = {"assistant": "assistant", "user": "system" if _PUT_IN.match(text) else "user"}
    return Reading(role=roles.get(text_of(item.get("role")), "system"), text=text)


def _reasoning(item: Mapping[str, Any]) -> Reading:
    return Reading(role="reasoning", text="\n".join(filter(None, (joined(item.get("summary")), joined(item.get("content"))))))


def _call(tool: str, item: Mapping[str, Any], arguments: Mapping[str, Any]) -> Reading:
    namespace = text_of(item.get("namespace"))
    return Reading(
        role="call", tool=f"{namespace}.{tool}" if namespace else tool, call_id=text_of(item.get("call_id") or item.get("id")),
        arguments=arguments, text=_asked(arguments), paths=paths_in(arguments),
    )  # fmt: skip


def _asked(arguments: Mapping[str, Any]) -> str:
    """A call as a person would look for it: its command or its input; else all arguments."""
    for name in ("cmd", "command", "input", "patch", "query"):
        given = arguments.get(name)
        if isinstance(given, str) and given:
            return given
        if isinstance(given, list) and given:
            return " ".join(str(word) for word in given)
    return json_text(arguments) if arguments else ""


def _function_call(item: Mapping[str, Any]) -> Reading:
    return _call(text_of(item.get("name")), item, parsed(item.get("arguments")))


def _custom_tool_call(item: Mapping[str, Any]) -> Reading:
    return _call(text_of(item.get("name")), item, {"input": text_of(item.get("input"))})


def _local_shell_call(item: Mapping[str, Any]) -> Reading:
    action = members(item.get("action"))
    return _call("local_shell", item, {name: value for name, value in action.items() if name != "type" and value is not None})


def _hosted_call(item: Mapping[str, Any]) -> Reading:
    """A search of the web or for tools, a picture: asked for in `action` or `arguments`, answered out of sight."""
    tool = text_of(item.get("type")).removesuffix("_call")
    return _call(tool, item, members(item.get("action")) or parsed(item.get("arguments")))


def _found_tools(item: Mapping[str, Any]) -> Reading:
    text = json_text(item.get("tools"))
    return Reading(role="output", tool="tool_search", call_id=text_of(item.get("call_id")), text=text, bytes=size(text))


def _compaction(item: Mapping[str, Any]) -> Reading:
    return Reading(role="compaction", text=text_of(item.get("message")))


ITEMS: Final[Mapping[str, Callable[[Mapping[str, Any]], Reading]]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": output_of,
    "custom_tool_call": _custom_tool_call,
    "custom_tool_call_output": output_of,
    "local_shell_call": _local_shell_call,
    "local_shell_call_output": output_of,
    "web_search_call": _hosted_call,
    "image_generation_call": _hosted_call,
    "tool_search_call": _hosted_call,
    "tool_search_output": _found_tools,
    "compaction": _compaction,
    "compaction_summary": _compaction,
    "context_compaction": _compaction,
}


def _said_by_system(event: Mapping[str, Any]) -> tuple[Reading, ...]:
    return (Reading(role="system", text=text_of(event.get("message") or event.get("reason"))),)


def _rolled_back(event: Mapping[str, Any]) -> tuple[Reading, ...]:
    return (Reading(role="system", text=f"turns rolled back: {event.get('num_turns', 'some')}"),)


def _review(event: Mapping[str, Any]) -> tuple[Reading, ...]:
    found = event.get("review_output")
    return (Reading(role="system", text=json_text(found) if found else ""),)


def _nested_call(event: Mapping[str, Any]) -> tuple[Reading, ...]:
    """With a `parent` it was made by a script (`codex_export.py`) and stands nowhere else; without, it is a copy of an item."""
    if not event.get("parent"):
        return ()
    invocation, result = members(event.get("invocation")), members(event.get("result"))
    arguments, call_id = parsed(invocation.get("arguments")), text_of(event.get("call_id"))
    tool = ".".join(filter(None, (text_of(invocation.get("server")), text_of(invocation.get("tool")))))
    text = text_of(result.get("Err")) or joined(members(result.get("Ok")).get("content"))
    status: Status = "failed" if "Err" in result else "returned"
    return (
        Reading(role="call", tool=tool, call_id=call_id, arguments=arguments, text=_asked(arguments), paths=paths_in(arguments)),
        Reading(role="output", tool=tool, call_id=call_id, text=text, status=status, bytes=size(text)),
    )


EVENTS: Final[Mapping[str, Callable[[Mapping[str, Any]], tuple[Reading, ...]]]] = {
    "error": _said_by_system,
    "warning": _said_by_system,
    "stream_error": _said_by_system,
    "turn_aborted": _said_by_system,
    "thread_rolled_back": _rolled_back,
    "exited_review_mode": _review,
    "mcp_tool_call_end": _nested_call,
}


def _payload(record: Any) -> Mapping[str, Any]:
    told = members(record)
    return members(told["payload"]) if "payload" in told else told


def _kind(record: Any) -> str:
    told = members(record)
    if "payload" in told:
        inner = _payload(record).get("type")
        return "/".join(text_of(part) for part in (told.get("type"), inner) if isinstance(part, str) and part) or "record"
    if "record_type" in told:
        return f"bare/{text_of(told['record_type'])}"
    return f"bare/{text_of(told.get('type')) or ('session_meta' if 'id' in told or 'session' in told else 'record')}"


def _known(kind: str) -> bool:
    top, _, inner = kind.partition("/")
    match top:
        case "event_msg":
            return inner in EVENTS or inner in _SILENT_EVENTS
        case "response_item":
            return inner in ITEMS or inner in _SILENT_ITEMS
        case "bare":
            return inner in ITEMS or inner in _SILENT_ITEMS or inner in ("state", "session_meta")
        case _:
            return top in ("session_meta", "turn_context", "compacted", "document")


def _readings(kind: str, record: Any) -> tuple[Reading, ...]:
    top, _, inner = kind.partition("/")
    if top == "compacted":
        return (_compaction(_payload(record)),)
    if top == "event_msg":
        read_event = EVENTS.get(inner)
        return read_event(_payload(record)) if read_event else ()
    read_item = ITEMS.get(inner) if top in ("response_item", "bare") else None
    return (read_item(_payload(record)),) if read_item else ()


def _is_record(record: Any) -> bool:
    told = members(record)
    if "payload" in told:
        return told.get("type") in _ENVELOPES and isinstance(told["payload"], dict)
    if told.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= told.keys():
        return True
    return told.get("type") in ITEMS and ("call_id" in told or "summary" in told or isinstance(told.get("content"), list))


def _is_document(value: Any) -> bool:
    told = members(value)
    return isinstance(told.get("session"), dict) and isinstance(told.get("items"), list)


def _about(record: Any) -> About:
    kind, told = _kind(record), _payload(record)
    if kind == "turn_context":
        return About(root=text_of(told.get("cwd")), model=text_of(told.get("model")))
    if kind not in ("session_meta", "bare/session_meta"):
        return About()
    told = members(told.get("session")) or told
    git = members(told.get("git"))
    return About(
        session=text_of(told.get("id")), root=text_of(told.get("cwd")), model=text_of(told.get("model")), git=_git(git),
        agent=" ".join(filter(None, (text_of(told.get("originator")), text_of(told.get("cli_version"))))),
    )  # fmt: skip


def _git(git: Mapping[str, Any]) -> Git | None:
    commit, branch, remote = (text_of(git.get(name)) for name in ("commit_hash", "branch", "repository_url"))
    return Git(commit=commit, branch=branch, remote=_CREDENTIALS.sub("", remote)) if commit or branch or remote else None


def _heard(record: Any) -> Heard | None:
    kind, told = _kind(record), _payload(record)
    if kind == "event_msg/user_message":
        return Heard(text_of(told.get("message")).strip(), "event")
    if kind in ("response_item/message", "bare/message"):
        said = _message(told)
        return Heard(said.text.strip(), "item") if said.role == "user" else None
    return None


def _at(record: Any) -> float | None:
    told = members(record)
    return seconds(told.get("timestamp") or members(told.get("session")).get("timestamp"))


CODEX: Final = Format(
    name="codex", is_record=_is_record, kind=_kind, known=_known, readings=_readings, about=_about, heard=_heard, at=_at,
    list_name="items", is_document=_is_document,
)  # fmt: skip
