"""Sessions of Claude Code: the result as the model got it (`message.content`), not the copy in `toolUseResult`, not `progress`.

Lines may hold two glued JSON objects; sidechains are other conversations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.sessions_record import Asked, Class, Session, Step, command_text, shell_step

_NUMBERED = re.compile(r"[ ]*(\d+)(?:→|\t)")
_CLASSES: dict[str, Class] = {
    "Read": "read", "NotebookRead": "read", "Grep": "search", "Glob": "search", "LS": "search", "Edit": "patch",
    "MultiEdit": "patch", "Write": "patch", "NotebookEdit": "patch",
}  # fmt: skip


def read_claude(path: Path) -> Session:
    reader = _Reader()
    for record in glued(path.read_text()):
        reader.record(record)
    return Session("claude_code", path.stem, tuple(reader.steps))


def glued(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects, one after the other, whatever stands between them; what is no object is passed over to the next line."""
    decoder = json.JSONDecoder()
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
            continue
        if isinstance(value, dict):
            yield value


class _Reader:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.asked: dict[str, tuple[Asked, dict[str, Any]]] = {}
        self.done: set[str] = set()
        self.forgets = False
        self.replies: dict[str, int] = {}

    def record(self, record: dict[str, Any]) -> None:
        if record.get("isSidechain"):
            return
        if record.get("subtype") == "compact_boundary" or record.get("isCompactSummary"):
            self.forgets = True
        message = record.get("message")
        blocks = message.get("content") if isinstance(message, dict) else None
        for block in blocks if isinstance(blocks, list) else []:
            if block.get("type") == "tool_use":
                reply = self.replies.setdefault(str(message.get("id")), len(self.replies))
                self.asked[block["id"]] = _asked(block, len(self.steps), reply), block["input"]
            elif block.get("type") == "tool_result" and block["tool_use_id"] not in self.done:
                self.done.add(block["tool_use_id"])
                self._result(block)

    def _result(self, block: dict[str, Any]) -> None:
        asked, given = self.asked.get(block["tool_use_id"], (Asked("", len(self.steps), len(self.replies)), {}))
        content = block.get("content") or ""
        body = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        forgets, self.forgets = self.forgets, False
        if asked.tool == "Bash":
            code = 1 if block.get("is_error") else 0
            self.steps.append(shell_step(asked, 0, body, exit_code=code, forgets=forgets))
            return
        kind = _CLASSES.get(asked.tool, "other")
        path = given.get("file_path", "") if kind == "read" and _NUMBERED.match(body) else ""
        self.steps.append(Step(asked=asked, header_bytes=0, body=body, kind=kind, path=path, forgets=forgets))


def _asked(block: dict[str, Any], before: int, reply: int) -> Asked:
    given = block["input"]
    edits = given.get("edits") or [given]
    old = tuple(tuple(edit["old_string"].splitlines()) for edit in edits if isinstance(edit, dict) and edit.get("old_string"))
    command = given.get("command", "") if block["name"] == "Bash" else ""
    named = command_text(command) or " ".join(str(given[key]) for key in ("file_path", "path", "notebook_path") if given.get(key))
    return Asked(block["name"], before, reply, command, old, named)
