"""The MCP server as the official client meets it: tools, results, progress, cancelling, resources, sessions."""

import json
import os
from functools import partial

import anyio
import pytest
from mcp import McpError, types

from harness import MemoryStore
from harness.adapters.mcp_lookup import DESCRIBE, SEARCH
from harness.adapters.mcp_server import McpServer
from harness.adapters.mcp_stdio import serve_stdio
from harness.entries import Closed
from harness.interfaces import SurfaceSettings
from harness.store import StoreFailed
from tests.harness.adapters.mcp_rig import WAITS, Desk, cancelling, client_of, ran, talking, texts

pytestmark = pytest.mark.anyio


# ------------------------------------------------------------ tools


async def test_it_offers_one_tool_that_runs_scripts_and_two_to_look_tools_up() -> None:
    async with talking(Desk()) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["run_script", SEARCH, DESCRIBE]
    assert "tools.<pack>.<tool>" in (listed[0].description or "")
    hints = [(one.annotations.readOnlyHint, one.annotations.destructiveHint) for one in listed if one.annotations]
    assert hints == [(False, True), (True, False), (True, False)]


async def test_scripts_that_can_only_read_are_said_to_be_so() -> None:
    async with talking(Desk(callers={"desk.echo": "both", "desk.erase": "direct"})) as client:
        hints = {one.name: one.annotations for one in (await client.list_tools()).tools}
    assert [(hints[name].readOnlyHint, hints[name].openWorldHint) for name in ("desk__echo", "desk__erase")] == [  # type: ignore[union-attr]
        (True, False),
        (False, False),
    ]


async def test_a_script_gives_what_it_shows_and_an_error_is_a_result() -> None:
    async with talking(Desk()) as client:
        assert await ran(client, "show(await tools.desk.echo({ text: 'hello' })); return 1 + 1") == ("hello\n2", False)
        text, is_error = await ran(client, "return 1 +")
        assert (text.startswith("SyntaxError"), is_error) == (True, True)


async def test_what_a_call_inside_a_script_ends_in_is_the_scripts_to_catch() -> None:
    async with talking(Desk()) as client:
        caught = "try { await tools.desk.fails() } catch (error) { return [error.name, error.hint] }"
        assert await ran(client, caught) == ('["no_paper","put some in"]', False)
        text, is_error = await ran(client, "return await tools.desk.fails()")
        assert ("the printer has no paper" in text, is_error) == (True, True)


async def test_a_rule_that_denies_holds_inside_scripts() -> None:
    desk = Desk()
    async with talking(desk) as client:
        text, is_error = await ran(client, "return await tools.shell.run({ command: 'ls' })")
    assert "a rule of this session denies this call (deny shell.*)" in text
    assert (is_error, desk.ran) == (True, [])


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("run", {"script": "1"}, "there is no tool 'run', so nothing ran"),
        ("run_script", {"code": "1"}, "it takes one text, script, and was given code"),
        ("run_script", {}, "was given nothing"),
        (SEARCH, {}, "it takes words, query"),
        (SEARCH, {"query": "a", "limit": 0}, "limit must be a whole number from 1 to 50, not 0"),
        (SEARCH, {"query": "a", "deep": 1}, "there is no option deep"),
        (DESCRIBE, {"names": "desk.echo"}, "it takes a list of names"),
        (DESCRIBE, {"names": ["a"] * 11}, "at most 10"),
        (DESCRIBE, {"names": ["desk.ehco"]}, "There is no tool desk.ehco. Nearest: desk.echo"),
    ],
)
async def test_bad_input_is_a_result_that_says_what_to_give(name: str, arguments: dict[str, object], said: str) -> None:
    desk = Desk()
    async with talking(desk) as client:
        result = await client.call_tool(name, arguments)
    assert (said in texts(result)[0], result.isError) == (True, True), texts(result)


async def test_tools_are_looked_up_without_a_session() -> None:
    desk = Desk()
    async with talking(desk) as client:
        found = await client.call_tool(SEARCH, {"query": "erase a file", "limit": 1, "level": "name"})
        told = await client.call_tool(DESCRIBE, {"names": ["desk.erase", "desk.echo"]})
    assert texts(found) == ["desk.erase"]
    assert all(word in texts(told)[0] for word in ("erase(", "echo(", "asks a person first"))
    assert desk.sessions() == []


async def test_a_direct_tool_is_called_by_its_own_name() -> None:
    async with talking(Desk(callers={"desk.echo": "direct"})) as client:
        assert texts(await client.call_tool("desk__echo", {"text": "hi"})) == ["hi"]
        text, is_error = await ran(client, "return await tools.desk.echo({ text: 'hi' })")
    assert ("call the tool desk__echo" in text, is_error) == (True, True)


async def test_a_script_that_takes_long_goes_on_and_is_asked_about() -> None:
    surface = SurfaceSettings(yield_seconds=0.01)
    async with talking(Desk(), surface=surface) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["run_script", "wait_script", SEARCH, DESCRIBE]
        shown = texts(await client.call_tool("run_script", {"script": WAITS}))[0]
        assert "script 1 still runs" in shown
        ended = await client.call_tool("wait_script", {"stop": True})
        assert ended.isError
        assert texts(await client.call_tool("run_script", {"script": "return 5"})) == ["5"]


# ------------------------------------------------------------ progress and cancelling


async def test_calls_inside_a_script_are_told_as_progress_to_a_client_that_asked() -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(count: float, total: float | None, message: str | None) -> None:
        told.append((count, message))

    async with talking(Desk()) as client:
        script = "await tools.desk.echo({ text: 'abc' });\ntry { await tools.desk.fails() } catch {}"
        await ran(client, script, progress_callback=progress)
        await ran(client, script)
    counts, lines = zip(*told, strict=True)
    assert counts == (1, 2, 3, 4)
    assert lines[0] == "desk.echo (line 1)"
    assert str(lines[1]).startswith("desk.echo returned 5 bytes in 0.")
    assert lines[2] == "desk.fails (line 2)"
    assert str(lines[3]).startswith("desk.fails failed (no_paper) in 0.")


async def test_a_cancelled_call_ends_its_script_and_the_next_one_runs() -> None:
    desk = Desk()
    begun = anyio.Event()
    desk.on_wait = begun.set
    errors: list[str] = []
    async with talking(desk) as client:

        async def run() -> None:
            try:
                await ran(client, WAITS)
            except McpError as error:
                errors.append(error.error.message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await begun.wait()
            await client.send_notification(cancelling(1))  # 0 was initialize
        assert errors == ["Request cancelled"]
        assert await ran(client, "return 2") == ("2", False)
    assert desk.endings() == ["cancelled", "finished"]


async def test_scripts_of_one_client_run_one_after_the_other() -> None:
    said: list[str] = []
    async with talking(Desk()) as client:

        async def run(script: str) -> None:
            said.append((await ran(client, script))[0])

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(run, "store('n', (load('n') ?? 0) + 1); await sleep(1); return load('n')")
    assert sorted(said) == ["1", "2", "3", "4", "5"]


# ------------------------------------------------------------ resources


async def test_what_a_script_showed_is_a_resource_by_its_handle() -> None:
    async with talking(Desk()) as client:
        assert (await client.list_resources()).resources == []
        await ran(client, "show('x'.repeat(20_000)); return { n: [1, 2] }")
        listed = (await client.list_resources()).resources
        whole = await client.read_resource(listed[1].uri)
        value = await client.read_resource(listed[0].uri)
        templates = (await client.list_resource_templates()).resourceTemplates
    assert [str(one.uri) for one in listed] == ["turnscript://handle/T1.2", "turnscript://handle/T1.1"]
    assert [one.description for one in listed] == ["shown in turn 1", "shown in turn 1; what was shown of it is cut"]
    assert [type(one) for one in whole.contents] == [types.TextResourceContents]
    assert whole.contents[0].text == "x" * 20_000  # type: ignore[union-attr]
    assert (value.contents[0].mimeType, value.contents[0].text.split()) == (  # type: ignore[union-attr]
        "application/json",
        ["{", '"n":', "[", "1,", "2", "]", "}"],
    )
    assert [one.uriTemplate for one in templates] == ["turnscript://handle/{handle}"]


async def test_secrets_are_not_in_resources() -> None:
    async with talking(Desk(secrets={"KEY": "correct-horse-battery"})) as client:
        await ran(client, "return ['correct-horse-' + 'battery']")
        read = await client.read_resource("turnscript://handle/T1.1")  # type: ignore[arg-type]
    assert read.contents[0].text.split() == ["[", '"[secret', 'KEY]"', "]"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("turnscript://handle/T9.1", "nothing is kept under 'T9.1'; did you mean T1.1?"),
        ("file:///etc/passwd", "there is no resource file:///etc/passwd; resources are turnscript://handle/HANDLE"),
        ("turnscript://handle/..%2f..", "nothing is kept under '../..'"),
    ],
)
async def test_an_unknown_resource_is_an_error_with_the_next_step(uri: str, said: str) -> None:
    async with talking(Desk()) as client:
        await ran(client, "return 1")
        with pytest.raises(McpError) as raised:
            await client.read_resource(uri)  # type: ignore[arg-type]
    assert (said in raised.value.error.message, raised.value.error.code) == (True, -32002), raised.value.error.message


async def test_a_long_list_of_resources_comes_in_pages() -> None:
    async with talking(Desk()) as client:
        await ran(client, "for (let n = 0; n < 120; n++) show(n)")
        first = await client.list_resources()
        second = await client.list_resources(params=types.PaginatedRequestParams(cursor=first.nextCursor))
        with pytest.raises(McpError, match="begin without one"):
            await client.list_resources(params=types.PaginatedRequestParams(cursor="x"))
    assert (len(first.resources), len(second.resources), second.nextCursor) == (100, 20, None)


# ------------------------------------------------------------ sessions


async def test_a_session_is_opened_by_the_first_script_and_closed_when_the_client_goes() -> None:
    desk = Desk()
    info = types.Implementation(name="editor", version="1.2")
    async with desk.harness() as harness:
        async with client_of(harness, client_info=info) as client:
            await client.list_tools()
            assert desk.sessions() == []
            await ran(client, "return 1")
        assert dict(desk.opened().facts.labels) == {"client": "editor", "client_version": "1.2"}
        assert isinstance(desk.entries()[-1], Closed)


async def test_two_pipes_are_all_that_it_needs() -> None:
    (asked, to_server), (from_server, told) = os.pipe(), os.pipe()
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    call = {"name": "run_script", "arguments": {"script": "return 'x'.repeat(7_000)"}}
    messages = (
        {"id": 0, "method": "initialize", "params": info},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": call},
    )
    desk, came = Desk(), b""
    async with desk.harness() as harness, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(serve_stdio, McpServer(harness), read_from=asked, write_to=told))
        for message in messages:
            os.write(to_server, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        while came.count(b"\n") < 2:
            await anyio.wait_readable(from_server)
            came += os.read(from_server, 65_536)
        os.close(to_server)  # the client goes, and so does the server
    for end in (asked, told, from_server):
        os.close(end)
    hello, result = (json.loads(line) for line in came.splitlines())
    assert (hello["id"], result["result"]["content"][0]["text"]) == (0, "[T1.1]\n" + "x" * 7_000)
    assert isinstance(desk.entries()[-1], Closed)


async def test_two_clients_of_one_server_are_apart() -> None:
    desk = Desk()
    async with desk.harness() as harness, client_of(harness) as one, client_of(harness) as other:
        await ran(one, "store('mine', 1); show('only here')")
        assert await ran(other, "return load('mine') ?? 'nothing'") == ("nothing", False)
        with pytest.raises(McpError, match=r"nothing is kept under 'T1\.2'"):
            await other.read_resource("turnscript://handle/T1.2")  # type: ignore[arg-type]
        assert len((await one.list_resources()).resources) == 1
    assert len(desk.sessions()) == 2


async def test_a_client_that_goes_while_a_script_runs_leaves_a_cancelled_turn_on_record() -> None:
    desk = Desk()
    begun = anyio.Event()
    desk.on_wait = begun.set
    async with desk.harness() as harness:
        async with anyio.create_task_group() as tasks, client_of(harness) as client:
            tasks.start_soon(ran, client, WAITS)
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert desk.endings() == ["cancelled"]
        assert isinstance(desk.entries()[-1], Closed)


async def test_a_session_that_cannot_be_opened_is_an_error_and_is_tried_again() -> None:
    class FullOnce(MemoryStore):
        full = True

        async def write(self, session: str, *, at: float) -> object:  # type: ignore[override]
            if self.full:
                self.full = False
                raise StoreFailed("the disk is full; make room")
            return await super().write(session, at=at)

    desk = Desk()
    desk.store = FullOnce()
    async with talking(desk) as client:
        with pytest.raises(McpError, match="the disk is full; make room"):
            await ran(client, "return 1")
        assert await ran(client, "return 2") == ("2", False)
