"""`turnscript serve mcp` as a client starts it: a process, its two pipes, and what is on record when it is gone."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import sleep
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from harness.entries import Closed, Ended, Opened
from harness.store.jsonl import JsonlStore
from tests.harness.adapters.mcp_rig import Person, ran, roots_at

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
]  # the server's process has a loop of its own
TURNSCRIPT = [sys.executable, "-c", "from harness.cli import app; app()"]
REPOSITORY = Path(__file__).parents[3]
PACK = '''
"""Tools of a test."""

import os
import sys

import anyio

from catalog import tool


@tool(effect="external")
async def chatter() -> str:
    """Print where a protocol may be, and read what may be its."""
    print("not the protocol")
    os.write(1, b"nor this")
    return repr(sys.stdin.read())


@tool(writes=["file:x"], approval=True)
async def write() -> str:
    """Write."""
    return "written"


@tool(reads=["clock:now"])
async def wait(path: str) -> None:
    """Wait for ever, and leave a sign that it does."""
    await anyio.Path(path).touch()
    await anyio.sleep_forever()
'''


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The arguments of a server with that pack, below a folder of the test."""
    (tmp_path / "own.py").write_text(PACK)
    root = tmp_path / "root"
    root.mkdir()
    own, kept = str(tmp_path / "own.py"), str(tmp_path / "store")
    return ["serve", "mcp", "--pack", own, "--root", str(root), "--store", kept]


@asynccontextmanager
async def client_at(words: list[str], **options: Any) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(
        command=TURNSCRIPT[0], args=[*TURNSCRIPT[1:], *words], cwd=REPOSITORY, env={"PYTHONPATH": str(REPOSITORY)}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write, **options) as client:
        await client.initialize()
        yield client


async def on_record(tmp_path: Path) -> list[Any]:
    store = JsonlStore(tmp_path / "store")
    (row,) = await store.sessions()
    return [kept.entry(row.session) for kept in await store.load(row.session)]


async def test_a_client_runs_scripts_and_nothing_but_the_protocol_is_on_its_pipe(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "root" / "a.txt").write_text("hello")
    async with client_at(words) as client:
        assert await ran(client, "return (await tools.files.read({ path: 'a.txt' })).text") == ("hello", False)
        assert await ran(client, "return await tools.own.chatter()") == ("''", False)
        assert await ran(client, "return 2") == ("2", False)
    entries = await on_record(tmp_path)
    assert [type(entries[0]), type(entries[-1])] == [Opened, Closed]
    assert entries[0].facts.labels["client"] == "mcp"


async def test_a_person_is_asked_and_the_clients_root_is_followed(words: list[str], tmp_path: Path) -> None:
    below = tmp_path / "root" / "below"
    below.mkdir()
    person = Person("allow", "deny")
    async with client_at(words, elicitation_callback=person, list_roots_callback=roots_at(below.as_uri())) as client:
        assert await ran(client, "return [context.root, await tools.own.write()]") == (f'["{below}","written"]', False)
        assert (await ran(client, "return await tools.own.write()"))[1]


async def test_a_server_that_is_killed_leaves_its_session_on_record(words: list[str], tmp_path: Path) -> None:
    process, said = _by_hand(words, tmp_path, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    entries = await on_record(tmp_path)
    assert [type(entry).__name__ for entry in entries][:2] == ["Opened", "Began"]
    assert not any(isinstance(entry, Ended | Closed) for entry in entries)
    assert said == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_in_good_order(words: list[str], tmp_path: Path, number: signal.Signals) -> None:
    process, said = _by_hand(words, tmp_path, number)
    assert (process.returncode, said) == (0, "")
    entries = await on_record(tmp_path)
    assert [entry.ending.how for entry in entries if isinstance(entry, Ended)] == ["cancelled"]
    assert isinstance(entries[-1], Closed)


def _by_hand(words: list[str], tmp_path: Path, number: signal.Signals) -> tuple[subprocess.Popen[str], str]:
    """A server with a script that waits, and then this signal; gives what it said on stderr."""
    process = subprocess.Popen(
        [*TURNSCRIPT, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    assert process.stdin is not None and process.stdout is not None
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    script = f"await tools.own.wait({{ path: '{tmp_path / 'sign'}' }})"
    for message in (
        {"id": 0, "method": "initialize", "params": info},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "run_script", "arguments": {"script": script}}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    while not (tmp_path / "sign").exists():
        assert process.poll() is None
        sleep(0.01)
    process.send_signal(number)
    process.wait(timeout=20)  # with its pipes open: it ends by the signal
    _, said = process.communicate()
    return process, said


async def test_lines_that_are_no_messages_are_answered_and_skipped(words: list[str], tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    lines = [
        "nonsense",
        "{}",
        "",
        "[" * 100_000,
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
    ]
    asked, told = tmp_path / "asked", tmp_path / "told"  # files in place of pipes, which cannot be waited for
    asked.write_text("\n".join(lines))
    with asked.open() as source, told.open("w") as target:
        done = await anyio.run_process([*TURNSCRIPT, *words], stdin=source, stdout=target, cwd=REPOSITORY, check=False)
    answers = [json.loads(line) for line in told.read_text().splitlines()]
    assert [one["id"] for one in answers] == ["unread", "unread", "unread", 0]
    assert answers[0]["error"]["message"] == "a line that is no JSON-RPC message was skipped; send one JSON object a line"
    assert done.returncode == 0


async def test_what_goes_into_a_clients_configuration_starts_the_server(words: list[str], tmp_path: Path) -> None:
    typed = [word if word != str(tmp_path / "root") else "root" for word in words]
    entry = json.loads(_printed([*TURNSCRIPT, *typed, "--allow", "own.*", "--preset", "eval", "--print-config"], tmp_path))
    args = entry["mcpServers"]["turnscript"]["args"]
    assert (args[:2], args[-2:], "--print-config" in args) == (["serve", "mcp"], ["--root", str(tmp_path / "root")], False)
    async with client_at(args) as client:
        result = await client.call_tool("eval", {"code": "return [context.root, await tools.own.write()]"})
    assert (result.content[0].text, result.isError) == (f'["{tmp_path / "root"}","written"]', False)  # type: ignore[union-attr]


def _printed(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=300, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if "npm error" in done.stderr:
        pytest.skip("the inspector cannot be installed here")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
async def test_the_inspector_of_the_protocol_lists_and_calls(words: list[str], tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        pytest.skip("npx is not here")
    inspector = ["npx", "--yes", "@modelcontextprotocol/inspector", "--cli", *TURNSCRIPT, *words]
    listed = json.loads(_printed([*inspector, "--method", "tools/list"], tmp_path))
    assert [tool["name"] for tool in listed["tools"]] == ["run_script", "search_tools", "describe_tools"]
    call = ["--method", "tools/call", "--tool-name", "run_script", "--tool-arg", "script=return 6 * 7"]
    assert json.loads(_printed([*inspector, *call], tmp_path))["content"] == [{"type": "text", "text": "42"}]
