"""Outputs of Codex' tools, in the forms that its versions wrote: what the tool printed, how it ended, what stood around it.

{"output": "…", "metadata": {"exit_code": 0, …}}             a JSON string
Exit code: 0\\nWall time: …\\nOutput:\\n…                       since the `shell_command` tool
Chunk ID: …\\nProcess exited with code 0\\n…Output:\\n…         unified exec; or: Process running with session ID 7
{"content": "…", "success": true}, [{"type": "input_text", …}]  values instead of strings
"""

import re
from collections.abc import Mapping
from typing import Any

from harness.rollouts.meaning import Reading, Status
from harness.rollouts.told import joined, json_text, members, parsed, size, text_of

_HEADER = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Exit code: (?P<code>-?\d{1,9})\n)?Wall time: .*\n"
    r"(?:Process exited with code (?P<exited>-?\d{1,9})\n|Process (?P<running>running) with session ID \S+\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n?"
)
_FAILED = re.compile(
    r"failed in sandbox|error: |execution error|exec_command failed|write_stdin failed|apply_patch verification failed"
    r"|unsupported call|failed to parse function arguments|command timed out|patch rejected|exec command rejected",
    re.IGNORECASE,
)
_ABORTED = re.compile(r"aborted(?: by user)?\b", re.IGNORECASE)


def output_of(item: Mapping[str, Any]) -> Reading:
    given = item.get("output")
    text, status = _split(given) if isinstance(given, str) else _value(given)
    whole = given if isinstance(given, str) else text
    call_id, tool = text_of(item.get("call_id")), text_of(item.get("name"))
    return Reading(role="output", call_id=call_id, tool=tool, text=text, status=status, bytes=size(whole))


def _value(given: Any) -> tuple[str, Status]:
    told = members(given)
    content = told.get("content", given) if told else given
    text = joined(content) or ("" if content is None or isinstance(content, list) else json_text(content))
    if "success" in told:
        return text, "returned" if told["success"] else "failed"
    return _split(text)


def _split(text: str) -> tuple[str, Status]:
    if text.startswith('{"output"'):
        told = parsed(text)
        if isinstance(told.get("output"), str):
            code = members(told.get("metadata")).get("exit_code")
            return told["output"], _status(code if isinstance(code, int) else None)
    found = _HEADER.match(text)
    if found is not None:
        code = found["code"] or found["exited"]
        status: Status = "running" if found["running"] else _status(int(code) if code else None)
        return text[found.end() :], status
    if _ABORTED.match(text):
        return text, "cancelled"
    return text, "failed" if _FAILED.match(text) else ""


def _status(code: int | None) -> Status:
    return "" if code is None else "returned" if code == 0 else "failed"
