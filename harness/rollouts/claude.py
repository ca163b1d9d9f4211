"""Transcripts of Claude Code; also `stream-json`. The kind is `type/subtype`; of messages, `type/` and their blocks.

A result stands twice in a record: what the model got (`message.content`) is read, the copy in `toolUseResult` is not, nor is
`progress`. Sidechains are conversations of other agents in the same file: nobody's turn begins there.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.entries import Git
from harness.rollouts.meaning import About, Format, Heard, Reading, Role, Status
from harness.rollouts.naming import paths_in
from harness.rollouts.told import joined, json_text, listed, members, seconds, size, text_of

# Written by the program in the name of the user.
_PUT_IN = re.compile(
    r"\s*(?:<(?:command-|local-command-|bash-|system-reminder|task-notification)|Caveat: |\[Request interrupted)"
)
_SILENT = (
    "progress", "file-history-snapshot", "queue-operation", "attachment", "last-prompt", "permission-mode", "mode", "agent-name",
    "agent-color", "agent-setting", "worktree-state", "pr-link", "tag", "rate_limit_event", "stream_event", "control_request",
    "control_response", "keep_alive", "saved_hook_context", "speculation-accept", "marble-origami-commit", "content-replacement",
)  # fmt: skip
_TITLES = ("summary", "custom-title", "ai-title", "task-summary")


def _said(block: Mapping[str, Any], role: Role) -> Reading:
    return Reading(role=role, text=text_of(block.get("text")))


def _thought(block: Mapping[str, Any], role: Role) -> Reading:
    return Reading(role="reasoning", text=text_of(block.get("thinking")))


def _called(block: Mapping[str, Any], role: Role) -> Reading:
    given = members(block.get("input"))
    text = text_of(given.get("command")) or json_text(given)
    return Reading(
        role="call",
        tool=text_of(block.get("name")),
        call_id=text_of(block.get("id")),
        arguments=given,
        text=text,
        paths=paths_in(given),
    )


def _answered(block: Mapping[str, Any], role: Role) -> Reading:
    content = block.get("content")
    text = joined(content) if content is None or isinstance(content, str | list) else json_text(content)
    status: Status = "failed" if block.get("is_error") else "returned"
    return Reading(role="output", call_id=text_of(block.get("tool_use_id")), text=text, status=status, bytes=size(text))


def _seen(block: Mapping[str, Any], role: Role) -> Reading:
    return Reading(role=role)


BLOCKS: Final[Mapping[str, Callable[[Mapping[str, Any], Role], Reading]]] = {
    "text": _said,
    "thinking": _thought,
    "redacted_thinking": _thought,
    "tool_use": _called,
    "server_tool_use": _called,
    "mcp_tool_use": _called,
    "tool_result": _answered,
    "mcp_tool_result": _answered,
    "web_search_tool_result": _answered,
    "web_fetch_tool_result": _answered,
    "tool_reference": _seen,
    "image": _seen,
    "document": _seen,
}


def _blocks(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = members(record.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [members(block) for block in listed(content)]


def _kind(record: Any) -> str:
    told = members(record)
    top = text_of(told.get("type")) or "record"
    if "message" in told and top in ("user", "assistant"):
        blocks = dict.fromkeys(text_of(block.get("type")) or "block" for block in _blocks(told))
        return f"{top}/{'+'.join(blocks)}" if blocks else top
    inner = text_of(told.get("subtype")) or text_of(members(told.get("data")).get("type"))
    return f"{top}/{inner}" if inner else top


def _known(kind: str) -> bool:
    top, _, inner = kind.partition("/")
    if top in ("user", "assistant"):
        return not inner or all(block in BLOCKS for block in inner.split("+"))
    return top in ("system", "result", "document") or top in _TITLES or top in _SILENT


def _readings(kind: str, record: Any) -> tuple[Reading, ...]:
    told, top = members(record), kind.partition("/")[0]
    if top in ("user", "assistant"):
        return tuple(
            BLOCKS[block["type"]](block, _role(top, told, block))
            for block in _blocks(told)
            if text_of(block.get("type")) in BLOCKS
        )
    if top == "system":
        # Behind a boundary stands the summary, a message of the user: that one counts.
        text = text_of(told.get("content"))
        return (Reading(role="system", text=text),) if text and kind != "system/compact_boundary" else ()
    if top in _TITLES:
        title = next((text_of(told[name]) for name in ("summary", "customTitle", "aiTitle", "title") if told.get(name)), "")
        return (Reading(role="system", text=title),)
    return ()


def _role(top: str, told: Mapping[str, Any], block: Mapping[str, Any]) -> Role:
    if told.get("isCompactSummary"):
        return "compaction"
    if top == "assistant":
        return "assistant"
    put_in = told.get("isMeta") or told.get("isSidechain") or _PUT_IN.match(text_of(block.get("text")))
    return "system" if put_in else "user"


def _is_record(record: Any) -> bool:
    told = members(record)
    kind, top = _kind(record), text_of(told.get("type"))
    if top in ("user", "assistant", "system", "progress", "attachment"):
        return ("sessionId" in told and "uuid" in told) or ("session_id" in told and ("uuid" in told or kind == "system/init"))
    return (top == "summary" and "leafUuid" in told) or (top in _SILENT and ("sessionId" in told or "messageId" in told))


def _about(record: Any) -> About:
    told = members(record)
    model = text_of(members(told.get("message")).get("model")) or text_of(told.get("model"))
    session = text_of(told.get("sessionId")) or text_of(told.get("session_id"))
    branch, version = text_of(told.get("gitBranch")), text_of(told.get("version"))
    # The file of a sidechain has the id of the session that it belongs to.
    other = text_of(told.get("agentId")) if told.get("isSidechain") else ""
    return About(
        session=f"{session}-{other}" if session and other else session,
        root=text_of(told.get("cwd")),
        model="" if model.startswith("<") else model,
        git=Git(branch=branch) if branch else None,
        agent=f"claude {version}" if version else "",
    )


def _heard(record: Any) -> Heard | None:
    told = members(record)
    if told.get("type") != "user":
        return None
    said = [one.text for one in _readings(_kind(record), record) if one.role == "user"]
    return Heard("\n".join(said)) if said else None


def _at(record: Any) -> float | None:
    told = members(record)
    return seconds(told.get("timestamp") or members(told.get("snapshot")).get("timestamp"))


CLAUDE: Final = Format(
    name="claude", is_record=_is_record, kind=_kind, known=_known, readings=_readings, about=_about, heard=_heard, at=_at
)
