"""Many MCP clients at once at one `turnscript serve mcp --http`: each has a session, and all run a script at the same time.

`python -m benchmarks.mcp_load 1000` prints what was served and refused, how long it took, and the server's memory, and saves it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import httpx

TOKEN = "load-" + os.urandom(16).hex()
HEADERS = {
    "authorization": f"Bearer {TOKEN}",
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
SCRIPT = "const found = await tools.files.list({}); store('mine', {n}); return load('mine')"


class Load:
    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self.sessions: dict[int, str] = {}
        self.ended: Counter[str] = Counter()

    async def open(self, n: int) -> None:
        answer = await self._post({"id": 0, "method": "initialize", "params": HELLO}, {})
        if answer.status_code == 200:
            self.sessions[n] = answer.headers["mcp-session-id"]
        else:
            self.ended[f"refused {answer.status_code}, come again in {answer.headers.get('retry-after')} s"] += 1

    async def run(self, n: int) -> None:
        call = {"name": "run_script", "arguments": {"script": SCRIPT.replace("{n}", str(n))}}
        answer = await self._post({"id": 1, "method": "tools/call", "params": call}, {"mcp-session-id": self.sessions[n]})
        data = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
        right = bool(data) and data[-1]["result"]["content"][0]["text"] == str(n)
        self.ended["served" if right else f"wrong: {answer.status_code} {answer.text[:200]}"] += 1

    async def close(self, n: int) -> None:
        await self._http.delete(self._url, headers={**HEADERS, "mcp-session-id": self.sessions[n]})

    async def _post(self, message: dict[str, Any], more: dict[str, str]) -> httpx.Response:
        return await self._http.post(self._url, content=json.dumps({"jsonrpc": "2.0", **message}), headers={**HEADERS, **more})


def memory(pid: int) -> tuple[int, int, int]:
    """MiB of the server now and at most, and of all its children now."""

    def of(one: int, name: str) -> int:
        try:
            found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{one}/status").read_text())
        except OSError:
            return 0
        return int(found[1]) if found else 0

    children, waiting = [], [pid]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            below = [int(word) for word in task.read_text().split()]
            children += below
            waiting += below
    return of(pid, "VmRSS") // 1024, of(pid, "VmHWM") // 1024, sum(of(one, "VmRSS") for one in children) // 1024


async def measure(url: str, clients: int, pid: int) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = [("server before, MiB", str(memory(pid)[0]))]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=600, limits=limits) as http:
        load = Load(http, url)
        for name, work in (("open", load.open), ("run", load.run), ("close", load.close)):
            began = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for n in range(clients) if name == "open" else list(load.sessions):
                    tasks.start_soon(work, n)
            rows.append((f"{name} all, seconds", f"{time.perf_counter() - began:.1f}"))
            now, most, children = memory(pid)
            rows.append((f"server after {name}, MiB (most; workers)", f"{now} ({most}; {children})"))
    return [*((what, str(count)) for what, count in load.ended.items()), *rows]


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks.mcp_load", description="Many MCP clients at once over HTTP.")
    parser.add_argument("clients", nargs="?", type=int, default=1_000)
    parser.add_argument("--places", type=int, default=0, help="sessions it has room for; default: as many as clients")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "results" / "mcp_load.json")
    given = parser.parse_args()
    clients, places = given.clients, given.places or given.clients
    with tempfile.TemporaryDirectory() as folder:
        kept, root = Path(folder, "store"), Path(folder, "root")
        root.mkdir()
        (root / "a.txt").write_text("a\n")
        (root / "turnscript.toml").write_text(f"[serve]\nsessions_max = {places}\n")
        command = [sys.executable, "-c", "from harness.cli import app; app()", "serve", "mcp", "--http", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--store", str(kept)], cwd=root, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TURNSCRIPT_SERVE_TOKEN": TOKEN, "PYTHONPATH": str(Path(__file__).parent.parent)},
        )  # fmt: skip
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        try:
            rows = anyio.run(measure, url, clients, server.pid)
        finally:
            server.terminate()
            _, said = server.communicate(timeout=60)
        files = list(kept.rglob("*.jsonl"))
        closed = sum('"closed"' in path.read_text()[-400:] for path in files)
    ended = f"{server.returncode}" + (f", and said: {said[:400]}" if said else "")
    told = {"clients": str(clients), "places": str(places), **dict(rows)}
    told |= {"sessions on record, closed": f"{len(files)}, {closed}", "server ended with": ended}
    for what, how_much in told.items():
        print(f"{what:45} {how_much}")
    given.json.parent.mkdir(exist_ok=True)
    given.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
