"""Small sessions of every agent, written by hand in the shape of the real ones; and how they get into files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.entries import Entry, Item
from harness.rollouts import Reading, readings
from harness.rollouts.importing import read_rollout


def enveloped(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-03-01T10:00:{second:02d}.500Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


CODEX: list[Any] = [
    enveloped("session_meta", {
        "id": "0199-aa", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/srv/app", "originator": "codex_cli_rs", "cli_version": "0.63.0",
        "git": {"commit_hash": "c0ffee", "branch": "main", "repository_url": "https://me:secret@example.org/app.git"},
    }),
    enveloped("response_item", message("user", "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>")),
    enveloped("response_item", message("user", "fix the test"), 1),
    enveloped("event_msg", {"type": "user_message", "message": "fix the test", "images": []}, 1),
    enveloped("turn_context", {"cwd": "/srv/app", "model": "gpt-5", "approval_policy": "never"}, 1),
    enveloped("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look first"}]}, 2),
    enveloped("response_item", {
        "type": "function_call", "name": "exec_command", "arguments": '{"cmd":"sed -n 1,9p src/a.py"}', "call_id": "c1",
    }, 3),
    enveloped("response_item", {
        "type": "function_call_output", "call_id": "c1",
        "output": "Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nx = 1\n",
    }, 4),
    enveloped("event_msg", {"type": "token_count", "info": None}, 4),
    enveloped("response_item", message("assistant", "done"), 5),
    enveloped("response_item", message("user", "fix the test"), 9),
    enveloped("event_msg", {"type": "user_message", "message": "fix the test"}, 9),
]  # fmt: skip

BARE: list[Any] = [
    {"id": "0188-bb", "timestamp": "2025-08-06T18:02:11.653Z", "instructions": None, "git": {"branch": "main"}},
    {"record_type": "state"},
    message("user", "list files"),
    {"type": "function_call", "name": "shell", "arguments": '{"command":["bash","-lc","ls src/a.py"]}', "call_id": "c1"},
    {"record_type": "state"},
    {"type": "function_call_output", "call_id": "c1", "output": '{"output":"no\\n","metadata":{"exit_code":2}}'},
]


def said(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "cwd": "/srv/app", "sessionId": "5e55-cc", "version": "2.1.0", "gitBranch": "main",
        "type": kind, "message": {"role": kind, "content": content} | ({"model": "claude-x"} if kind == "assistant" else {}),
        "uuid": "u1", "timestamp": "2026-02-05T08:00:00.000Z", **more,
    }  # fmt: skip


CLAUDE: list[Any] = [
    {"type": "summary", "summary": "Fixing a test", "leafUuid": "l1"},
    {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {"timestamp": "2026-02-05T07:59:00Z"}},
    said("user", "fix the test"),
    said("assistant", [{"type": "thinking", "thinking": "look first", "signature": "s"}]),
    said("assistant", [
        {"type": "text", "text": "reading"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "src/a.py"}},
        {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "pytest tests/test_a.py"}},
    ]),
    said("user", [
        {"type": "tool_result", "tool_use_id": "t1", "content": "     1→x = 1"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "1 failed"}], "is_error": True},
    ], toolUseResult={"stdout": "1 failed"}),
    said("user", [{"type": "text", "text": "search for it"}], isSidechain=True),
    {"type": "progress", "data": {"type": "bash_progress", "output": "…"}, "sessionId": "5e55-cc", "uuid": "u2"},
    said("user", "<command-name>/compact</command-name>"),
    {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "sessionId": "5e55-cc", "uuid": "u3"},
    said("user", "This session is being continued: the test was red.", isCompactSummary=True),
    said("user", "go on"),
]  # fmt: skip

SWE_AGENT: dict[str, Any] = {
    "environment": "swe_main",
    "trajectory": [
        {"action": "open src/a.py\n", "observation": "x = 1", "response": "r", "state": "{}", "thought": "look first"},
        {"action": "submit", "observation": None, "response": "", "state": "{}", "thought": ""},
    ],
    "history": [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "a demonstration", "is_demo": True},
        {"role": "user", "content": "fix the test"},
    ],
    "info": {"exit_status": "submitted"},
}

MINI: dict[str, Any] = {
    "info": {
        "mini_version": "1.15.0",
        "config": {"model": {"model_name": "gemini"}, "environment": {"cwd": "/testbed"}},
    },
    "messages": [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": [{"type": "text", "text": "fix the test"}]},
        {
            "role": "assistant",
            "content": "THOUGHT: look\n\n```bash\ncat src/a.py\n```",
            "extra": {"response": {"created": 1700000000}},
        },
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno file\n</output>"},
        {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks, found 0."},
        {"role": "user", "content": "diff --git a/src/a.py b/src/a.py\n"},
    ],
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "app__app-1",
}

OPENHANDS: list[Any] = [
    {
        "instance_id": f"app__app-{number}",
        "metadata": {"llm_config": {"model": "llama"}},
        "history": [
            {"id": 0, "timestamp": "2025-04-30T16:32:54.707000", "source": "agent", "action": "system", "args": {"content": "rules"}},
            {"id": 1, "timestamp": "2025-04-30T16:32:55", "source": "user", "action": "message", "args": {"content": f"fix {number}"}},
            {"id": 2, "source": "agent", "action": "run", "args": {"command": "cat src/a.py", "thought": "look first"}},
            {"id": 3, "cause": 2, "source": "agent", "observation": "run", "content": "x = 1", "extras": {"metadata": {"exit_code": 0}}},
            {"id": 4, "cause": 2, "source": "agent", "observation": "error", "content": "bad call"},
        ],
        "error": None,
    }
    for number in (1, 2)
]  # fmt: skip


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


SOURCES: dict[str, tuple[str, bytes, list[Any]]] = {
    "codex": ("codex", lines(CODEX), CODEX),
    "codex, bare items": ("codex", lines(BARE), BARE),
    "codex, one document": (
        "codex",
        json.dumps({"session": {"id": "01-dd", "timestamp": "2025-05-01T00:00:00Z"}, "items": BARE[2:4]}, indent=2).encode(),
        [{"session": {"id": "01-dd", "timestamp": "2025-05-01T00:00:00Z"}, "items": BARE[2:4]}],
    ),
    "claude": ("claude", lines(CLAUDE), CLAUDE),
    "swe_agent": ("swe_agent", json.dumps(SWE_AGENT, indent=2).encode(), [SWE_AGENT]),
    "mini_swe_agent": ("mini_swe_agent", json.dumps(MINI).encode(), [MINI]),
    "openhands": ("openhands", lines(OPENHANDS), OPENHANDS),
    "openhands, one list": ("openhands", json.dumps(OPENHANDS[0]["history"], indent=1).encode(), [OPENHANDS[0]["history"]]),
}


def written(folder: Path, data: bytes, name: str = "some.file") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def items(path: Path) -> list[Item]:
    return [entry for entry in read_rollout(path) if isinstance(entry, Item)]


def read(item: Entry) -> list[Reading]:
    assert isinstance(item, Item)
    return list(readings(item))


def item_of(format: str, kind: str, raw: Any) -> Item:
    return Item(session="s", at=0.0, format=format, kind=kind, raw=raw)
