"""Other products, each in a virtual environment of its own, spoken to over JSON lines; ours stays as it is.

The environments are made once in a folder outside the repository and used again; what is installed there is pinned here. A peer
that cannot be installed is left out, with the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = Path(tempfile.gettempdir()) / "turnscript-peers"


@dataclass(frozen=True, slots=True)
class Peer:
    key: str  # a system of tests/mistakes/corpus.py
    name: str
    module: str  # below benchmarks.peer_runners
    requirements: tuple[str, ...]


PEERS = (
    Peer(
        "harness",
        "pydantic-ai-harness",
        "harness_code_mode",
        ("pydantic-ai-harness==0.62.0", "pydantic-ai-slim==2.62.0", "pydantic-monty==1.4.0"),
    ),
    Peer(
        "langchain",
        "langchain-quickjs",
        "langchain_eval",
        ("langchain-quickjs==0.3.10", "quickjs-rs==0.2.6", "langchain==1.4.7", "deepagents==0.7.32"),
    ),
    Peer("fastmcp", "FastMCP CodeMode", "fastmcp_execute", ("fastmcp==4.1.2", "pydantic-monty==1.4.0")),
)


class Missing(Exception):
    """A peer that cannot be had here: one line that says why."""


def python_of(peer: Peer, folder: Path) -> Path:
    """The peer's own Python; makes its environment when it is not there as pinned."""
    home = folder / peer.key
    python, stamp = home / "bin" / "python", home / "installed.txt"
    wanted = "\n".join(peer.requirements)
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print(f"installing {', '.join(peer.requirements)} into {home}", file=sys.stderr, flush=True)
    _run([sys.executable, "-m", "venv", "--clear", str(home)], peer)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements], peer)
    stamp.write_text(wanted)
    return python


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no words"])[-1]
        raise Missing(f"{peer.name}: {last}")


class Runner:
    """The parent's half of one peer's runner."""

    def __init__(self, peer: Peer, child: subprocess.Popen[str]) -> None:
        self.peer = peer
        self._child = child

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            self._child.stdin.write(json.dumps(request) + "\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the runner ended"}
        return answer


@contextmanager
def open_runner(peer: Peer, folder: Path, log: Path) -> Iterator[Runner]:
    """Its errors go to `log`. Raises Missing when the peer cannot be had."""
    command = [str(python_of(peer, folder)), "-m", f"benchmarks.peer_runners.{peer.module}"]
    with log.open("a") as errors:
        child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        yield Runner(peer, child)
    finally:
        assert child.stdin is not None
        child.stdin.close()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
