"""Servers that do what servers must not: each gets a clear word, nothing hangs, and the others go on."""

import json
import os
import resource
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Host, Pack, Toolbox, ToolProblem, choose, open_toolbox
from catalog.declare import declarations
from tool_packs.mcp_bridge import mcp_server
from tool_packs.mcp_schemas import SCHEMA_BYTES_MAX
from tool_packs.mcp_wire import Endless, Lines, TooLong

pytestmark = pytest.mark.anyio
PROGRAM = str(Path(__file__).with_name("mcp_hostile_server.py"))
SOURCE = Path(PROGRAM).read_text()


def hostile(tmp_path: Path, mode: str = "plain", *, name: str = "it", **told: Any) -> Any:
    log = tmp_path / "log"
    return mcp_server(name, command=[sys.executable, PROGRAM, mode, str(log)], root=tmp_path, **told)


def heard(tmp_path: Path, method: str = "") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    return [line for line in lines if not method or line.get("method") == method]


@asynccontextmanager
async def opened(tmp_path: Path, mode: str = "plain", *, host: Host | None = None, **told: Any) -> AsyncIterator[Toolbox]:
    async with (
        hostile(tmp_path, mode, **told) as pack,
        open_toolbox(choose([pack]), host=host or Host(root=tmp_path)) as toolbox,
    ):
        yield toolbox


async def called(toolbox: Toolbox, tool: str, **arguments: Any) -> Any:
    return await toolbox.call(f"it.{tool}", toolbox.bind(f"it.{tool}", [arguments]))


async def problem(toolbox: Toolbox, tool: str, **arguments: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await called(toolbox, tool, **arguments)
    return caught.value


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not holds():
            await anyio.sleep(0.01)


# ------------------------------------------------------------ before there is a pack

NO_PACK = [
    ("silent", {"startup_seconds": 0.3}, "it did not answer initialize in 0.3 s; check its command"),
    pytest.param("prose", {"startup_seconds": 1.5}, "it did not answer initialize in 1.5 s; 1 of its messages could not be read; check its command", marks=pytest.mark.slow),
    ("dies_at_once", {}, "it ended with exit code 7; its last words: cannot read the settings; token; check its command"),
    ("old", {}, "Unsupported protocol version from the server: 1999-01-01; check its command"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "told", "says"), NO_PACK, ids=["silent", "prose", "dies", "old"])
async def test_a_server_that_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, mode: str, told: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadPack) as caught:
        async with hostile(tmp_path, mode, **told):
            pass
    text = str(caught.value).replace("; it ended with exit code 0", "")
    assert text == f"mcp_server('it') cannot be used: {says}"


async def test_what_a_variable_holds_is_left_out_of_the_last_words(tmp_path: Path) -> None:
    variables = {"MY_TOKEN": "s3cret-value", "PATH": "/usr/bin:/bin"}
    with pytest.raises(BadPack, match="cannot read the settings; token …; check"):
        async with hostile(tmp_path, "dies_at_once", env={"TOKEN": "${MY_TOKEN}"}, environment=variables):
            pass


NO_LIST = [
    ("lists_nothing", {"startup_seconds": 1}, "it did not list its tools in 1 s; raise startup_seconds"),
    ("nothing", {}, "it offers no tools; check its settings, or remove it"),
    ("endless_pages", {}, "its list of tools has more than 200 pages; ask its author for less"),
    ("looping_pages", {}, "its list of tools leads back to an earlier page; ask its author to mend it"),
    ("endless_tools", {}, "it lists more than 20,000 tools; ask its author for less"),
    (
        "many",
        {},
        'it lists 1,000 tools, and at most 512 are taken; name those you want: tools = ["search_*"], or raise tools_max',
    ),
]


@pytest.mark.parametrize(("mode", "told", "says"), NO_LIST, ids=[row[0] for row in NO_LIST])
async def test_a_list_that_cannot_be_taken_says_what_to_do(tmp_path: Path, mode: str, told: dict[str, Any], says: str) -> None:
    with pytest.raises(BadPack) as caught:
        async with hostile(tmp_path, mode, **told):
            pass
    assert str(caught.value) == f"mcp_server('it'): {says}"


async def test_of_a_thousand_tools_those_that_are_named_are_offered(tmp_path: Path) -> None:
    async with hostile(tmp_path, "many", tools=["tool_1*"], without=["tool_1?"]) as pack:
        names = [tool.name for tool in pack.tools]
    assert (len(names), names[:3]) == (101, ["tool_1", "tool_100", "tool_101"])


async def test_all_of_a_thousand_when_the_limit_is_raised(tmp_path: Path) -> None:
    async with hostile(tmp_path, "many", tools_max=1_000) as pack:
        assert len(pack.tools) == 1_000


async def test_names_become_ones_that_scripts_can_write_and_clashes_are_numbered(tmp_path: Path) -> None:
    async with hostile(tmp_path, "names") as pack:
        names = [tool.name for tool in pack.tools]
    assert names == [
        "proto", "_constructor", "_then", "get_node", "get_node_2", "get_node_3", "_2fa", "tool", "x" * 256,
        "list_resources", "list_resources_2", "read_resource",
    ]  # fmt: skip


async def test_a_long_description_is_cut_and_holds_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    async with hostile(tmp_path, "words") as pack:
        doc = pack.tools[0].doc
    assert doc.startswith("[31mred yyy") and doc.endswith("y… (cut)") and len(doc) < 8_300


SCHEMA_NOTES = {
    "loop": "refers to itself without end",
    "loop_of_argument": "refers to itself without end",
    "doubling": "takes too long to judge by",
    "long_chain": "takes too long to judge by",
    "deep": "cannot be written as JSON",
    "huge": f"at most {SCHEMA_BYTES_MAX:,} are taken",
    "not_a_schema": "is no JSON Schema",
    "a_list": "is not an object but list",
    "elsewhere": "refers to 'http://127.0.0.1:9/schema', which is not in it",
}


async def test_a_schema_that_cannot_be_judged_by_leaves_the_judging_to_the_server(tmp_path: Path) -> None:
    async with opened(tmp_path, "schemas") as toolbox:
        for name, note in SCHEMA_NOTES.items():
            tool = toolbox.tools[f"it.{name}"]
            assert note in tool.doc, name
            assert toolbox.bind(f"it.{name}", [{"a": "text"}]).named == {"a": "text"}
        assert "slow_pattern" in declarations(list(toolbox.tools.values()))


async def test_a_pattern_is_told_and_not_run_and_a_tree_is_judged(tmp_path: Path) -> None:
    async with opened(tmp_path, "schemas") as toolbox:
        told = toolbox.tools["it.slow_pattern"].input_schema["properties"]["a"]
        assert told == {"type": "string", "description": "pattern: ^(a+)+$"}
        toolbox.bind("it.slow_pattern", [{"a": "a" * 40 + "!"}])
        toolbox.bind("it.tree", [{"a": {"a": {}}}])
        with pytest.raises(ToolProblem) as caught:
            toolbox.bind("it.tree", [{"a": {"b": 1}}])
    assert caught.value.code == "bad_arguments"


# ------------------------------------------------------------ calls


async def test_a_call_that_is_never_answered_times_out_and_the_server_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, call_seconds=0.5) as toolbox:
        found = await problem(toolbox, "mute")
        assert (found.code, found.message) == ("timed_out", "it did not answer tools/call in 0.5 s")
        assert await called(toolbox, "echo", a=1) == '{"a": 1}'
        await until(lambda: bool(heard(tmp_path, "notifications/cancelled")))
    (asked, _) = heard(tmp_path, "tools/call")
    (cancelled,) = heard(tmp_path, "notifications/cancelled")
    assert cancelled["params"] == {"requestId": asked["id"], "reason": "timeout"}


async def test_a_cancelled_call_is_told_to_the_server(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(called, toolbox, "mute")
            await until(lambda: bool(heard(tmp_path, "tools/call")))
            tasks.cancel_scope.cancel()
        assert await called(toolbox, "echo") == "{}"
        await until(lambda: bool(heard(tmp_path, "notifications/cancelled")))
    assert heard(tmp_path, "notifications/cancelled")[0]["params"]["reason"] == "cancelled"


async def test_a_server_that_is_silent_three_times_is_started_anew(tmp_path: Path) -> None:
    async with opened(tmp_path, call_seconds=0.5) as toolbox:
        hints = [(await problem(toolbox, "mute")).hint for _ in range(3)]
        assert hints[-1] == "the server is started anew for the next call"
        assert await called(toolbox, "echo", n=1) == '{"n": 1}'
    assert len(heard(tmp_path, "initialize")) == 2


async def test_a_server_that_dies_in_a_call_is_gone_and_the_next_call_connects_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        found = await problem(toolbox, "die")
        assert found.code == "server_gone"
        assert found.message == "it.die: the server is gone: it ended with exit code 3; its last words: out of cheese"
        assert found.hint == "it may have run: look before you call it again"
        assert await called(toolbox, "echo", n=1) == '{"n": 1}'
    assert [call["params"]["name"] for call in heard(tmp_path, "tools/call")] == ["die", "echo"]


async def test_a_call_that_only_reads_is_made_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        assert await called(toolbox, "die_once") == "alive again"
    assert [call["params"]["name"] for call in heard(tmp_path, "tools/call")] == ["die_once", "die_once"]


async def test_when_it_dies_every_call_in_flight_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        found: list[str] = []

        async def wait() -> None:
            found.append((await problem(toolbox, "mute")).code)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(wait)
            await until(lambda: len(heard(tmp_path, "tools/call")) == 5)
            await problem(toolbox, "die")
        assert found == ["server_gone"] * 5


@pytest.mark.slow
async def test_a_server_that_does_not_come_back_is_not_tried_without_end(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(SOURCE)
    command = [sys.executable, str(program), "plain", str(tmp_path / "log")]
    async with (
        mcp_server("it", command=command, root=tmp_path) as pack,
        open_toolbox(choose([pack]), host=Host(root=tmp_path)) as toolbox,
    ):
        await problem(toolbox, "die")
        program.write_text("raise SystemExit('moved away')")
        found = [await problem(toolbox, "echo") for _ in range(5)]
    assert {one.code for one in found} == {"server_gone"}
    assert "moved away" in found[0].message
    assert "attempts to connect have failed; the next one is in" in found[-1].message


BIG = [("big_id_first", "result_too_large"), ("big_id_last", "result_too_large")]


@pytest.mark.parametrize(("tool", "code"), BIG)
async def test_a_result_that_is_too_large_fails_alone(tmp_path: Path, tool: str, code: str) -> None:
    async with opened(tmp_path, result_bytes_max=100_000) as toolbox:
        found = await problem(toolbox, tool)
        assert (found.code, found.message) == (code, "it: the answer has more than 100,000 bytes")
        assert await called(toolbox, "echo") == "{}"
    assert len(heard(tmp_path, "initialize")) == 1


async def test_a_large_message_that_answers_nothing_recognisable_is_dropped(tmp_path: Path) -> None:
    async with opened(tmp_path, result_bytes_max=100_000, call_seconds=1) as toolbox:
        found = await problem(toolbox, "big_no_id")
        assert found.message == "it did not answer tools/call in 1 s; 1 of its messages could not be read"


async def test_a_line_without_end_ends_the_connection_within_bounded_memory(tmp_path: Path) -> None:
    async with opened(tmp_path, result_bytes_max=4_000_000) as toolbox:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = await problem(toolbox, "endless_line")
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert found.message.startswith("it.endless_line: the server is gone: it sent a line of more than 32,000,000 bytes")
        assert grown < 20_000  # kilobytes: the limit, and what copies of it take
        assert await called(toolbox, "echo") == "{}"


HARMLESS = [
    ("wrong_id", "the right one"), ("flood", "there it comes"), ("noise", "after the noise"), ("stderr", "after much to say"),
    ("odd_answer", ""),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "gives"), HARMLESS)
async def test_what_it_says_besides_does_not_reach_the_call(
    tmp_path: Path, tool: str, gives: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(tmp_path) as toolbox:
        assert await called(toolbox, tool) == gives
        assert await called(toolbox, "echo") == "{}"
    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []
    assert capfd.readouterr().err == ""


async def test_a_server_that_closes_its_input_is_started_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        assert await called(toolbox, "close_stdin") == "closing"
        with anyio.fail_after(20):
            while True:  # until its end of the pipe is closed, what is sent may still be taken for sent
                try:
                    if await called(toolbox, "read", n=1) == '{"n": 1}':
                        break
                except ToolProblem as found:
                    assert found.code == "server_gone"
    assert len(heard(tmp_path, "initialize")) == 2


async def test_its_error_is_a_problem_in_its_words_bounded(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        found = await problem(toolbox, "error")
        assert found.code == "mcp_error" and found.message.startswith("it.error: no such thing!!!") and len(found.message) < 5_000


async def test_it_is_told_the_root_and_gets_no_model_and_no_person(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        assert await called(toolbox, "ask_back") == "asked"
        await until(lambda: len([line for line in heard(tmp_path) if line.get("id", 0) in range(9_000, 9_004)]) == 4)
    replies = {line["id"]: line for line in heard(tmp_path) if "method" not in line}
    assert replies[9_000]["result"] == {"roots": [{"uri": tmp_path.as_uri()}]}
    assert replies[9_001]["error"]["message"] == "Sampling not supported"
    assert replies[9_002]["error"]["message"] == "Elicitation not supported"
    assert replies[9_003]["result"] == {}


async def test_a_tool_that_is_gone_after_a_change_fails_clearly(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        before = await problem(toolbox, "gone")
        await called(toolbox, "change")
        after = await problem(toolbox, "gone")
    assert (before.code, before.message) == ("mcp_error", "it.gone: Unknown tool: gone")
    assert before.hint == "it does not take these arguments, or does not know the tool"
    assert after.hint == "the server's tools have changed since it was connected, and this one may be gone; use another"


async def test_progress_is_told_to_whoever_watches(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    host = Host(root=tmp_path, progress=lambda tool, text: told.append((tool, text)))
    async with opened(tmp_path, host=host) as toolbox:
        assert await called(toolbox, "progress") == "done"
    assert {tool for tool, _ in told} == {"it.progress"}
    assert "".join(text for _, text in told) == "1 of 3: step 1\n2 of 3: step 2\n3 of 3: step 3\n"


async def test_when_the_block_is_left_the_server_is_gone(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        assert await called(toolbox, "flood") == "there it comes"
    with pytest.raises(ProcessLookupError):
        os.kill(heard(tmp_path, "start")[0]["pid"], 0)


async def test_a_block_that_is_cancelled_in_the_middle_of_a_call_leaves_no_server_behind(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            async with opened(tmp_path) as toolbox:
                await called(toolbox, "mute")

        tasks.start_soon(work)
        await until(lambda: (tmp_path / "log").exists() and bool(heard(tmp_path, "tools/call")))
        tasks.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(heard(tmp_path, "start")[0]["pid"], 0)


async def test_what_is_raised_inside_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="as it is"):
        async with hostile(tmp_path) as pack:
            assert isinstance(pack, Pack)
            raise KeyError("as it is")


# ------------------------------------------------------------ lines


def test_lines_hold_no_more_than_the_limit_and_find_the_id_at_either_end() -> None:
    lines = Lines(100)
    first = b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 200 + b'"}'
    last = b'{"result":{"id":5,"x":"' + b"x" * 200 + b'"},"jsonrpc":"2.0","id":12}'
    inner = b'{"result":{"id":5,"x":"' + b"x" * 200 + b'"}}'
    assert list(lines.feed(b"ab")) == []
    assert list(lines.feed(b"c\n\n" + first + b"\n" + last[:50])) == [b"abc", b"", TooLong(7)]
    assert list(lines.feed(last[50:] + b"\n" + inner + b"\nend\n")) == [TooLong(12), TooLong(None), b"end"]
    with pytest.raises(Endless):
        for _ in range(20):
            list(lines.feed(b"x" * 50))
