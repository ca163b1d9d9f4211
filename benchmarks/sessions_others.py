"""Trajectories of mini-SWE-agent, SWE-agent and OpenHands. Edits by sed and scripts name no old lines; OpenHands' editor does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.sessions_record import Asked, Session, Step, shell_step

_BLOCK = re.compile(r"```(?:bash|sh)?[^\n]*\n(.*?)\n?```", re.DOTALL)
_MINI = re.compile(r"<returncode>(?P<code>-?\d+)</returncode>\n(?:<output>\n)?(?P<body>.*?)(?:</output>)?\Z", re.DOTALL)
_KILLED = re.compile(r"The last command <command>.*?</command> timed out .*?<output>\n(?P<body>.*)</output>", re.DOTALL)
_VIEWED = re.compile(r"Here's the (?:result|files|content)")


def read_mini(path: Path) -> Session:
    """The last message is the submission, a diff that nobody reads: it is no output."""
    steps: list[Step] = []
    command = ""
    for index, message in enumerate(json.loads(path.read_text())["messages"][2:-1]):
        text = message["content"] if isinstance(message["content"], str) else "".join(part["text"] for part in message["content"])
        if message["role"] == "assistant":
            block = _BLOCK.search(text)
            command = block[1] if block else ""
            continue
        found = _MINI.match(text) or _KILLED.match(text)
        body, code = (
            (text, None) if found is None else (found["body"], int(found["code"]) if "code" in found.groupdict() else 124)
        )
        asked = Asked("bash", len(steps), index, command if found else "", (), command)
        steps.append(shell_step(asked, len(text.encode()) - len(body.encode()), body, exit_code=code, forgets=False))
    return Session("mini_swe_agent", path.name.split(".")[0], tuple(steps))


def read_swe(path: Path) -> Session:
    steps: list[Step] = []
    for index, turn in enumerate(json.loads(path.read_text())["trajectory"]):
        command = turn["action"].strip()
        asked = Asked("bash", len(steps), index, command, (), command)
        steps.append(shell_step(asked, 0, turn["observation"] or "", exit_code=None, forgets=False))
    return Session("swe_agent", path.stem, tuple(steps))


def read_openhands(path: Path) -> Iterator[Session]:
    for line in path.read_text().splitlines():
        run = json.loads(line)
        steps: list[Step] = []
        asked: dict[int, tuple[Asked, dict[str, Any]]] = {}
        for event in run["history"]:
            if event.get("action") in ("run", "edit", "read", "run_ipython", "browse") and event.get("source") == "agent":
                asked[event["id"]] = _openhands_call(event, len(steps)), event["args"]
            elif "observation" in event and event.get("cause") in asked:
                steps.append(_openhands_step(event, *asked[event["cause"]]))
        yield Session("openhands", run["instance_id"], tuple(steps))


def _openhands_call(event: dict[str, Any], before: int) -> Asked:
    given = event["args"]
    old = (tuple(given["old_str"].splitlines()),) if given.get("old_str") else ()
    command = given.get("command", "") if event["action"] == "run" else ""
    return Asked(event["action"], before, event["id"], command, old, command or str(given.get("path", "")))


def _openhands_step(event: dict[str, Any], asked: Asked, given: dict[str, Any]) -> Step:
    body = event.get("content") or ""
    if asked.tool == "run":
        code = (event.get("extras") or {}).get("metadata", {}).get("exit_code")
        return shell_step(asked, 0, body, exit_code=code, forgets=False)
    if asked.tool == "read":
        return Step(
            asked=asked, header_bytes=0, body=body, kind="read", path=str(given.get("path", "")) if _VIEWED.match(body) else ""
        )
    return Step(asked=asked, header_bytes=0, body=body, kind="patch" if asked.tool == "edit" else "other")
