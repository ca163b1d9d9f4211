"""MCP over HTTP with the official client at a real server: sessions by client, and what ends them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx
import pytest
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client

from harness.adapters.mcp_http import Address, serve_http
from harness.adapters.mcp_server import McpServer
from harness.entries import Closed
from harness.interfaces import ServeSettings
from tests.harness.adapters.mcp_rig import ERASES, WAITS, Desk, Person, cancelling, ran, roots_at
from tests.harness.adapters.mcp_wire import calling, headers_of, initializing, posted

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]  # as uvicorn


@asynccontextmanager
async def served(desk: Desk, **settings: Any) -> AsyncIterator[Address]:
    async with desk.harness() as harness, anyio.create_task_group() as tasks:
        serving = partial(serve_http, McpServer(harness), ServeSettings(port=0, **settings))
        yield await tasks.start(serving)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def client_at(address: Address, **options: Any) -> AsyncIterator[ClientSession]:
    async with (
        httpx.AsyncClient(headers={"authorization": f"Bearer {address.token}"}, timeout=20) as http,
        streamable_http_client(address.url, http_client=http) as (read, write, _),
        ClientSession(read, write, **options) as client,
    ):
        await client.initialize()
        yield client


async def test_a_client_lists_runs_reads_and_gets_errors() -> None:
    desk = Desk()
    async with served(desk) as address:
        async with client_at(address) as client:
            assert (await client.list_tools()).tools[0].name == "run_script"
            assert await ran(client, "return 1 + 1") == ("2", False)
            assert (await ran(client, "nonsense("))[1]
            assert len((await client.list_resources()).resources) == 2
        assert isinstance(desk.entries()[-1], Closed)  # the client said that it goes


async def test_progress_approval_and_roots_come_by_the_stream_of_the_call(tmp_path: Any) -> None:
    (tmp_path / "below").mkdir()
    desk, person, told = Desk(tmp_path), Person("allow", "deny"), []

    async def progress(count: float, total: float | None, message: str | None) -> None:
        told.append(message)

    roots = roots_at((tmp_path / "below").as_uri())
    async with (
        served(desk) as address,
        client_at(address, elicitation_callback=person, list_roots_callback=roots) as client,
    ):
        assert await ran(client, ERASES, progress_callback=progress) == ("erased old", False)
        assert (await ran(client, ERASES))[1]
    assert (len(person.read), desk.ran, told[0]) == (2, ["erase old"], "desk.erase (line 1)")
    assert desk.opened().facts.root == str(tmp_path / "below")


async def test_a_client_that_listens_to_nothing_but_its_call_is_asked_there(tmp_path: Any) -> None:
    below = tmp_path / "below"
    below.mkdir()
    asked = []
    async with served(Desk(tmp_path)) as address:
        session = (await posted(address, initializing(roots={}, elicitation={}))).headers["mcp-session-id"]
        answers = {
            "roots/list": {"roots": [{"uri": "https://example.org"}, {"uri": below.as_uri()}]},
            "elicitation/create": {"action": "accept", "content": {"choice": "allow"}},
        }
        async with (
            httpx.AsyncClient(headers=headers_of(address, session=session), timeout=20) as http,
            http.stream("POST", address.url, json=calling(f"show(context.root); {ERASES}")) as stream,
        ):
            async for line in stream.aiter_lines():
                message = json.loads(line[5:]) if line.startswith("data:") else {}
                if "method" in message:
                    asked.append(message["method"])
                    answer = {"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]}
                    assert (await posted(address, answer, session=session)).status_code == 202
                elif "result" in message:
                    assert message["result"]["content"][0]["text"] == f"{below}\nerased old"
    assert asked == ["roots/list", "elicitation/create"]


async def test_a_cancelled_call_ends_its_script_and_the_next_one_runs() -> None:
    desk = Desk()
    begun = anyio.Event()
    desk.on_wait = begun.set
    async with served(desk) as address, client_at(address) as client:

        async def run() -> None:
            with pytest.raises(McpError, match="Request cancelled"):
                await ran(client, WAITS)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await begun.wait()
            await client.send_notification(cancelling(1))
        assert await ran(client, "return 2") == ("2", False)
    assert desk.endings() == ["cancelled", "finished"]


async def test_clients_have_sessions_of_their_own() -> None:
    desk = Desk()
    async with served(desk) as address, client_at(address) as one, client_at(address) as other:
        await ran(one, "store('mine', 1)")
        assert await ran(other, "return load('mine') ?? 'nothing'") == ("nothing", False)
        assert await ran(one, "return load('mine')") == ("1", False)
    assert len(desk.sessions()) == 2


async def test_a_session_that_is_not_known_is_not_found() -> None:
    async with served(Desk()) as address:
        answer = await posted(address, calling("return 1"), session="0" * 32)
    assert answer.status_code == 404


async def test_a_client_that_is_idle_is_closed_and_its_session_kept() -> None:
    desk = Desk()
    async with served(desk, idle_seconds=0.05) as address:
        hello = await posted(address, initializing())
        session = hello.headers["mcp-session-id"]
        await posted(address, calling("return 1"), session=session)
        with anyio.fail_after(10):
            while not isinstance(desk.entries()[-1], Closed):
                await anyio.sleep(0.01)
        assert (await posted(address, calling("return 2"), session=session)).status_code == 404
    assert desk.endings() == ["finished"]


async def test_a_client_that_drops_its_call_leaves_the_script_running_to_its_end() -> None:
    desk = Desk()
    begun = anyio.Event()
    desk.on_wait = begun.set
    async with served(desk) as address:
        session = (await posted(address, initializing())).headers["mcp-session-id"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(posted, address, calling(WAITS), session=session))
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert desk.endings() == []
    assert desk.endings() == ["cancelled"]  # by the server, which stops


async def test_a_server_that_stops_closes_every_session() -> None:
    desk = Desk()
    async with served(desk) as address:
        for _ in range(3):
            session = (await posted(address, initializing())).headers["mcp-session-id"]
            await posted(address, calling("return 1"), session=session)
        assert not any(isinstance(entries[-1], Closed) for entries in desk.sessions())
    assert [type(entries[-1]) for entries in desk.sessions()] == [Closed] * 3
