"""Our own sessions as rollouts of Codex: what grep, jq and viewers of rollouts read, and our own importer too.

A script is a `custom_tool_call` named "exec", what it showed is its output: these two the model wrote and saw. The calls inside
a script are events (`mcp_tool_call_end`) with the script as their `parent`, not items: the model never saw their results,
and items would be taken for its context by whoever continues the conversation. Pure; half a session is written as far as it goes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from harness.entries import Began, Closed, Ended, Entry, Facts, Forgot, Git, Item, Message, Opened, Reopened, Running, Settled
from harness.rollouts.told import json_text
from harness.store.lines import iso

Line: TypeAlias = dict[str, Any]
TOOL: Final = "exec"
# Members without which readers of rollouts refuse a turn_context; guards ask before what is marked so, and write below the root.
_POLICIES: Final = {
    "approval_policy": "on-request",
    "sandbox_policy": {"type": "workspace-write", "network_access": False},
    "summary": "auto",
}


def codex_rollout(entries: Iterable[Entry]) -> Iterator[Line]:
    """The lines, {timestamp, type, payload} each."""
    facts = Facts()
    open_turn: Began | None = None
    for entry in entries:
        if isinstance(entry, Opened | Reopened):
            facts = entry.facts
        if open_turn is not None and isinstance(entry, Began | Reopened | Closed):
            yield from _cut_off(open_turn, entry.at)
            open_turn = None
        if isinstance(entry, Began):
            open_turn = entry
            yield _line(entry.at, "turn_context", {"cwd": facts.root, **_POLICIES, "model": facts.model})
        elif isinstance(entry, Ended):
            open_turn = None
        yield from (_line(entry.at, type, payload) for type, payload in _told(entry))
    if open_turn is not None:
        yield from _cut_off(open_turn, open_turn.at)


def _told(entry: Entry) -> Iterator[tuple[str, Line]]:
    match entry:
        case Opened():
            yield "session_meta", _meta(entry)
        case Began():
            call = {"type": "custom_tool_call", "status": "completed", "call_id": _script_id(entry.turn), "name": TOOL}
            yield "response_item", call | {"input": entry.script}
        case Running():
            yield "event_msg", {"type": "mcp_tool_call_begin", **_nested(entry)}
        case Settled():
            yield "event_msg", _ended_call(entry)
        case Ended():
            for left in entry.left:
                yield "event_msg", _ended_call(left)
            output = {"type": "custom_tool_call_output", "call_id": _script_id(entry.turn), "output": entry.text}
            yield "response_item", output
        case Message():
            yield from _said(entry)
        case Forgot():
            gone = ", ".join(f"T{turn}" for turn in entry.turns)
            yield "compacted", {"message": f"These turns left the view: {gone}"}
        case Item():
            yield "response_item", {"type": "other", "kind": entry.kind}
        case Reopened() | Closed():
            return


def _meta(opened: Opened) -> Line:
    facts = opened.facts
    return {
        "id": opened.session,
        "timestamp": iso(opened.at),
        "cwd": facts.root,
        "originator": "turnscript",
        "cli_version": facts.turnscript,
        "instructions": None,
        "source": "exec",
        **({"git": _git(facts.git)} if facts.git is not None else {}),
    }


def _git(git: Git) -> Line:
    told = {"commit_hash": git.commit, "branch": git.branch, "repository_url": git.remote}
    return {name: value for name, value in told.items() if value}


def _said(message: Message) -> Iterator[tuple[str, Line]]:
    """As Codex does it: the item for the model, and for what a person and the agent said an event for the screen."""
    match message.role:
        case "reasoning":
            yield "response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": message.text}]}
        case "user":
            yield "response_item", _item("user", "input_text", message.text)
            yield "event_msg", {"type": "user_message", "message": message.text, "images": []}
        case "assistant":
            yield "event_msg", {"type": "agent_message", "message": message.text}
            yield "response_item", _item("assistant", "output_text", message.text)
        case "system":
            yield "response_item", _item("developer", "input_text", message.text)


def _item(role: str, part: str, text: str) -> Line:
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def _nested(entry: Running | Settled) -> Line:
    pack, _, tool = entry.tool.rpartition(".")
    arguments = dict(entry.arguments) if isinstance(entry.arguments, Mapping) else {"arguments": list(entry.arguments)}
    return {
        "call_id": f"{_script_id(entry.turn)}.{entry.call}",
        "parent": _script_id(entry.turn),
        "invocation": {"server": pack, "tool": tool, "arguments": arguments},
    }


def _ended_call(entry: Settled) -> Line:
    outcome = entry.outcome
    whole, nanos = divmod(round(entry.seconds * 1_000_000_000), 1_000_000_000)
    problem = outcome.problem
    said = ": ".join(filter(None, (outcome.status, problem.code, problem.message))) if problem else outcome.status
    content = [{"type": "text", "text": outcome.value if isinstance(outcome.value, str) else json_text(outcome.value)}]
    return {
        "type": "mcp_tool_call_end",
        **_nested(entry),
        "duration": {"secs": whole, "nanos": nanos},
        "result": {"Ok": {"content": content}} if outcome.ok else {"Err": said},
    }


def _cut_off(began: Began, at: float) -> Iterator[Line]:
    """A call without an output is refused by those who read rollouts; Codex too writes this in its place."""
    yield _line(at, "event_msg", {"type": "turn_aborted", "reason": "interrupted"})
    output = {"type": "custom_tool_call_output", "call_id": _script_id(began.turn), "output": "aborted"}
    yield _line(at, "response_item", output)


def _script_id(turn: int) -> str:
    return f"T{turn}"


def _line(at: float, type: str, payload: Line) -> Line:
    return {"timestamp": iso(at), "type": type, "payload": payload}
