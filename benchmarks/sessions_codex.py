"""Rollouts of Codex: bare items before 0.32, `{"type", "payload"}` after; three forms of output; polls belong to a command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.sessions_record import Asked, Session, Step, command_text, patch_old_lines, shell_step

_HEADER = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Exit code: (-?\d+)\n)?Wall time: .*\n"
    r"(?:Process exited with code (-?\d+)\n|Process running with session ID (\d+)\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n"
)
_CALLS = ("function_call", "custom_tool_call", "tool_search_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")


def read_codex(path: Path) -> Session:
    reader = _Reader()
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record.get("type") == "compacted":
            reader.forgets = True
        reader.item(record["payload"] if isinstance(record.get("payload"), dict) else record)
    return Session("codex", path.stem, tuple(reader.steps))


class _Reader:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.asked: dict[str, tuple[Asked, bool]] = {}  # a call, and whether it only polls
        self.opened: dict[str, Any] = {}  # session id → the command that opened it
        self.forgets = False
        self.reply = 0
        self.in_calls = False

    def item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind in _CALLS:
            # Calls that follow one another without an output between them are one reply of the model.
            self.reply += not self.in_calls
            self.in_calls = True
            self.asked[item["call_id"]] = self._asked(item)
        elif kind in _OUTPUTS:
            self.in_calls = False
            self._output(item)

    def _asked(self, item: dict[str, Any]) -> tuple[Asked, bool]:
        tool, given = item.get("name", item["type"]), item.get("arguments", item.get("input", ""))
        arguments = _parsed(given)
        before, command = len(self.steps), arguments.get("cmd") or arguments.get("command") or ""
        if tool == "write_stdin":
            command = self.opened.get(str(arguments.get("session_id")), "")
            return Asked(tool, before, self.reply, command), True
        text = given if tool == "apply_patch" and isinstance(given, str) else command_text(command)
        old = patch_old_lines(text) if "*** Begin Patch" in text else ()
        named = "" if old else text or json.dumps(arguments)
        return Asked(tool, before, self.reply, "apply_patch" if tool == "apply_patch" else command, old, named), False

    def _output(self, item: dict[str, Any]) -> None:
        asked, poll = self.asked.get(item["call_id"], (Asked("", len(self.steps), self.reply), False))
        text = item.get("output", "")
        text = text if isinstance(text, str) else json.dumps(text)
        header_bytes, body, exit_code, opened = _split(text)
        if opened and not poll:
            self.opened[opened] = asked.command
        self.steps.append(
            shell_step(asked, header_bytes, body, exit_code=exit_code, forgets=self.forgets, poll=poll or bool(opened))
        )
        self.forgets = False


def _split(text: str) -> tuple[int, str, int | None, str]:
    """Bytes of the header, the body, the exit code, the session id of what still runs. Escapes of JSON are not counted."""
    if text.startswith("{"):
        inner = _parsed(text)
        if isinstance(inner.get("output"), str):
            envelope = json.dumps(inner | {"output": ""})
            code = inner["metadata"].get("exit_code") if isinstance(inner.get("metadata"), dict) else None
            return len(envelope.encode()), inner["output"], code, ""
    found = _HEADER.match(text)
    if found is None:
        return 0, text, None, ""
    code = found[1] or found[2]
    return len(found[0].encode()), text[found.end() :], None if code is None else int(code), found[3] or ""


def _parsed(text: Any) -> dict[str, Any]:
    if isinstance(text, dict):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
