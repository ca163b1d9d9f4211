"""An MCP server that does what servers must not: run as a program, `MODE LOG`. The mode is what it does before it is asked for a
tool; its tools misbehave by name. Every message that it gets goes to the log, one line of JSON each. Only the standard library.
"""

import json
import os
import sys
import threading
import time
from typing import Any

MODE, LOG = sys.argv[1], sys.argv[2]
OPEN = {"type": "object"}
READS = {"readOnlyHint": True}


def chain(length: int, width: int) -> dict[str, Any]:
    """References that lead to references: `width` to the power of `length` visits."""
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * width} for n in range(length)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**parts, f"d{length}": {"type": "string"}}}


def deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        made = {"type": "object", "properties": {"a": made}}
    return made


SCHEMAS: dict[str, Any] = {
    "loop": {"type": "object", "$ref": "#"},
    "loop_of_argument": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
    "doubling": chain(40, 2),
    "long_chain": chain(900, 1),
    "deep": deep(300),
    "huge": {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 100} for n in range(2_000)}},
    "slow_pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    "not_a_schema": {"type": "object", "properties": {"a": {"type": "nonsense"}}},
    "a_list": [1, 2],
    "elsewhere": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}},
    "tree": {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
}
NAMES = ["__proto__", "constructor", "then", "get-node", "get_node", "get node", "2fa", "搜索", "", "x" * 5_000, "list_resources"]
BEHAVIOURS = (
    "echo", "read", "touch", "mute", "die", "die_once", "big_id_first", "big_id_last", "big_no_id", "endless_line", "wrong_id",
    "odd_answer", "flood", "noise", "stderr", "close_stdin", "error", "progress", "ask_back", "change", "slow", "blocks", "gone",
)  # fmt: skip


def tools() -> list[Any]:
    if MODE == "schemas":
        return [{"name": name, "inputSchema": schema} for name, schema in SCHEMAS.items()]
    if MODE == "names":
        return [{"name": name, "inputSchema": OPEN} for name in NAMES] + [None, 7, {"name": 3}, {"inputSchema": OPEN}]
    if MODE == "many":
        return [{"name": f"tool_{n}", "inputSchema": OPEN} for n in range(1_000)]
    if MODE == "words":
        return [{"name": "talk", "description": "\x1b[31mred\x07 " + "y" * 1_000_000, "inputSchema": OPEN}]
    made: list[Any] = [{"name": name, "inputSchema": OPEN} for name in BEHAVIOURS]
    for one in made:
        if one["name"] in ("read", "die_once", "slow"):
            one["annotations"] = READS
    return made


writing = threading.Lock()


def send(text: str) -> None:
    with writing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def message(**parts: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **parts})


def answer(id: Any, result: Any) -> None:
    send(message(id=id, result=result))


def text(id: Any, words: str) -> None:
    answer(id, {"content": [{"type": "text", "text": words}]})


def note(method: str, **params: Any) -> None:
    send(message(method=method, params=params))


def log(told: Any) -> None:
    with open(LOG, "a") as file:
        file.write(json.dumps(told) + "\n")


def has_died() -> bool:
    marker = f"{LOG}.died"
    if os.path.exists(marker):
        return True
    with open(marker, "w"):
        return False


def flood() -> None:
    while True:
        note("notifications/message", level="info", data="again")


def call(id: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    big = "z" * int(arguments.get("bytes", 300_000))
    match name:
        case "echo" | "read" | "touch":
            text(id, json.dumps(arguments))
        case "mute" | "slow":
            return
        case "die":
            sys.stderr.write("out of cheese\n")
            sys.stderr.flush()
            os._exit(3)
        case "die_once":
            if not has_died():
                os._exit(4)
            text(id, "alive again")
        case "big_id_first":
            text(id, big)
        case "big_id_last":
            send(json.dumps({"result": {"content": [{"type": "text", "text": big}]}, "jsonrpc": "2.0", "id": id}))
        case "big_no_id":
            send(json.dumps({"result": {"content": [{"type": "text", "text": big}]}, "id": id, "jsonrpc": "2.0"}))
        case "endless_line":
            while True:
                sys.stdout.write("z" * 65_536)
        case "wrong_id":
            for wrong in (id + 1_000, str(id) + "x", -1):
                answer(wrong, {"content": []})
            text(id, "the right one")
        case "odd_answer":
            answer(id, {"content": "no list", "structuredContent": None})
        case "flood":
            threading.Thread(target=flood, daemon=True).start()
            text(id, "there it comes")
        case "noise":
            send(
                "\n\nStarting up…\n{\n[]\n"
                + message(method="notifications/unheard_of")
                + "\n"
                + message(id="q", method="what/ever")
            )
            text(id, "after the noise")
        case "stderr":
            sys.stderr.write("e" * 3_000_000)
            sys.stderr.flush()
            text(id, "after much to say")
        case "close_stdin":
            text(id, "closing")
            os.close(0)
            time.sleep(30)
        case "error":
            answer(id, {"isError": True, "content": [{"type": "text", "text": "no such thing" + "!" * 100_000}]})
        case "progress":
            for step in range(1, 4):
                note(
                    "notifications/progress", progressToken=meta["progressToken"], progress=step, total=3, message=f"step {step}"
                )
            text(id, "done")
        case "ask_back":
            for number, method in enumerate(("roots/list", "sampling/createMessage", "elicitation/create", "ping")):
                params = {
                    "sampling/createMessage": {"messages": [], "maxTokens": 1},
                    "elicitation/create": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
                }.get(method, {})
                send(message(id=9_000 + number, method=method, params=params))
            text(id, "asked")
        case "change":
            note("notifications/tools/list_changed")
            text(id, "changed")
        case "blocks":
            answer(id, {"content": arguments["blocks"], **arguments.get("more", {})})
        case _:
            send(message(id=id, error={"code": -32602, "message": f"Unknown tool: {name}"}))


def page(cursor: str | None) -> dict[str, Any]:
    if MODE == "endless_pages":
        return {"tools": [], "nextCursor": str(int(cursor or 0) + 1)}
    if MODE == "looping_pages":
        return {"tools": [], "nextCursor": "again"}
    if MODE == "endless_tools":
        return {
            "tools": [{"name": f"t{cursor}_{n}", "inputSchema": OPEN} for n in range(500)],
            "nextCursor": str(int(cursor or 0) + 1),
        }
    return {"tools": tools()}


def greet(id: Any) -> None:
    if MODE == "silent":
        return
    if MODE == "dies_at_once":
        sys.stderr.write(f"cannot read the settings; token {os.environ.get('TOKEN', '')}\n")
        sys.exit(7)
    if MODE == "prose":
        send("Welcome to my server! Type help for help.")
        return
    version = "1999-01-01" if MODE == "old" else "2025-06-18"
    has = {} if MODE == "nothing" else {"tools": {}} | ({"resources": {}} if MODE == "names" else {})
    answer(id, {"protocolVersion": version, "capabilities": has, "serverInfo": {"name": "hostile", "version": "0"}})


log({"method": "start", "pid": os.getpid()})
for line in sys.stdin:
    told = json.loads(line)
    log(told)
    match told.get("method"):
        case "initialize":
            greet(told["id"])
        case "tools/list" if MODE != "lists_nothing":
            answer(told["id"], page(told.get("params", {}).get("cursor")))
        case "tools/call":
            params = told["params"]
            call(told["id"], params["name"], params.get("arguments") or {}, params.get("_meta") or {})
