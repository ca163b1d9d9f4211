"""Real calls of the tool that models learn the patch grammar from, with what it answered; empty where the recordings are not."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SESSIONS = Path(__file__).parents[3] / "shared" / "data" / "sessions" / "codex"


@dataclass(frozen=True)
class Recorded:
    session: str
    patch: str  # "" for another command
    said: str
    command: str = ""


def recorded() -> Iterator[Recorded]:
    """In order. Other commands come along because they change files too."""
    for path in sorted(SESSIONS.glob("*.jsonl")):
        asked: dict[str, str] = {}
        for row in path.read_text("utf-8").splitlines():
            item = json.loads(row)
            item = item.get("payload", item)
            kind = item.get("type") if isinstance(item, dict) else None
            if kind == "custom_tool_call" and item.get("name") == "apply_patch":
                asked[item["call_id"]] = item["input"]
            elif kind == "function_call":
                command = json.loads(item["arguments"]).get("command") or [""]
                if isinstance(command, list) and "apply_patch" in (command[0], command[-1][:11]):
                    asked[item["call_id"]] = command[-1]
                else:
                    yield Recorded(path.name, "", "", item["arguments"])
            elif kind in ("custom_tool_call_output", "function_call_output") and item.get("call_id") in asked:
                said = json.dumps(item["output"], ensure_ascii=False)
                yield Recorded(path.name, asked.pop(item["call_id"]), said)
