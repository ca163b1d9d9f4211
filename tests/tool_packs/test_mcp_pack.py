"""Another server's tools as a pack: settings, what a call touches and whether it asks, results, and scripts that use them."""

import sys
from pathlib import Path
from typing import Any

import pytest

from catalog import BadPack, Host, MemoryResults, ToolProblem
from harness import Harness, Setup
from harness.approval import Asking, Policy, Rule
from tests.tool_packs.test_mcp_hostile import called, heard, hostile, opened, problem
from tool_packs.mcp_bridge import connect, mcp_server
from tool_packs.mcp_launch import launch_of
from tool_packs.mcp_settings import McpSettings, Server
from tool_packs.mcp_tools import Listed, facts_from, may_ask_again

pytestmark = pytest.mark.anyio

# ------------------------------------------------------------ settings

BIN = Path(sys.executable).parent
KEYS = ("command", "url", "env.T", "env.KEY", "call_seconds", "trust", "approval", "effects.a")
BAD = [
    ({}, "neither command nor url is given; give one: command = [\"mcp-server-git\"], or url = \"http://127.0.0.1:8000/mcp\""),
    ({"command": ["cat"], "url": "http://x/"}, "both command and url are given; give one: command = [\"mcp-server-git\"], or url = \"http://127.0.0.1:8000/mcp\""),
    ({"comand": ["cat"]}, "unknown key 'comand'; did you mean command?"),
    ({"command": "cat -u"}, "command: Input should be a valid tuple, not 'cat -u'"),
    ({"command": ["no-such-program-here"]}, f"command: no program 'no-such-program-here' is on PATH, or in {BIN}; install it, or give its full path"),
    ({"command": ["cat -u"]}, f"command: no program 'cat -u' is on PATH, or in {BIN}; write the program and its arguments apart: ['cat', '-u']"),
    ({"command": ["cat"], "headers": {"a": "b"}}, "headers goes with url, which is not given; remove headers"),
    ({"url": "http://x/", "env": {"a": "b"}}, "env goes with command, which is not given; remove env"),
    ({"url": "ftp://x/"}, "url: 'ftp://x/' is no address; write one such as http://127.0.0.1:8000/mcp"),
    ({"command": ["cat"], "env": {"T": "${NO_SUCH}"}}, "env.T: the variable NO_SUCH is not set; set it, or write the value without ${…}"),
    ({"command": ["cat"], "call_seconds": 0}, "call_seconds: Input should be greater than 0, not 0"),
    ({"command": ["cat"], "trust": "yes"}, "trust: Input should be a valid boolean, not 'yes'"),
    ({"command": ["cat"], "approval": "sometimes"}, "approval: Input should be 'annotations', 'always' or 'never', not 'sometimes'"),
    ({"command": ["cat"], "effects": {"a": "reading"}}, "effects.a: Input should be 'pure', 'reads', 'writes' or 'external', not 'reading'"),
    ({"command": ["cat"], "env": {"KEY": 7}}, "env.KEY: Input should be a valid string"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "says"), BAD, ids=[row[1][:30] for row in BAD])
def test_a_setting_that_is_wrong_is_told_at_once(told: dict[str, Any], says: str) -> None:
    variables = {"PATH": "/usr/bin:/bin"}
    between = " " if says.partition(":")[0] in KEYS else ": "
    with pytest.raises(BadPack) as caught:
        mcp_server("it", environment=variables, **told)
    assert str(caught.value) == f"mcp_server('it'){between}{says}"
    with pytest.raises(BadPack) as caught:
        connect("it", told, root=Path(), folder=Path(), environment=variables)
    assert str(caught.value) == f"[mcp.it]{between}{says}"


def test_a_program_is_looked_for_on_path_and_then_beside_the_python_that_runs_this(tmp_path: Path) -> None:
    on_path, beside = tmp_path / "on_path", tmp_path / "beside"
    for folder, names in ((on_path, ["both"]), (beside, ["both", "alone"])):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
    variables = {"PATH": str(on_path)}
    assert launch_of(["both", "-x"], "/", variables, beside=beside).argv == ("both", "-x")
    assert launch_of(["alone", "-x"], "/", variables, beside=beside).argv == (str(beside / "alone"), "-x")
    with pytest.raises(ToolProblem) as caught:
        launch_of(["bothe"], "/", variables, beside=beside)
    assert caught.value.hint == "did you mean both? Else install it, or give its full path"
    mcp_server("it", command=[Path(sys.executable).name], environment=variables)  # found, though PATH has it not


def test_a_folder_that_is_not_there_and_a_name_that_scripts_cannot_write_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match=r"mcp_server\('it'\) cwd: there is no folder .*nowhere"):
        mcp_server("it", command=["cat"], folder=tmp_path, cwd="nowhere")
    with pytest.raises(BadPack, match="pack 'my server'"):
        mcp_server("my server", command=["cat"])


MISFITS = [
    ({"tools": ["ecko"]}, "tools: no tool fits 'ecko'; did you mean echo?"),
    ({"without": ["ech*o?"]}, "without: no tool fits 'ech*o?'"),
    ({"rename": {"reed": "look"}}, "rename: no tool fits 'reed'; did you mean read?"),
    ({"effects": {"tuch": "reads"}}, "effects: no tool fits 'tuch'; did you mean touch?"),
]


@pytest.mark.parametrize(("told", "says"), MISFITS, ids=[row[1][:7] for row in MISFITS])
async def test_a_name_that_fits_no_tool_is_an_error_with_the_nearest(tmp_path: Path, told: dict[str, Any], says: str) -> None:
    with pytest.raises(BadPack) as caught:
        async with hostile(tmp_path, **told):
            pass
    assert str(caught.value).startswith(f"mcp_server('it') {says}")


async def test_tools_are_chosen_and_renamed(tmp_path: Path) -> None:
    told = {"tools": ["echo", "re*"], "without": ["read"], "rename": {"echo": "say it"}}
    async with hostile(tmp_path, **told) as pack:
        assert [tool.full_name for tool in pack.tools] == ["it.say_it"]


async def test_a_connection_is_used_once(tmp_path: Path) -> None:
    bridge = hostile(tmp_path)
    async with bridge:
        pass
    with pytest.raises(BadPack, match="was used already; make a new one"):
        async with bridge:
            pass


# ------------------------------------------------------------ how far a server is believed

TRUST = {"trust": True}
BELIEF = [  # reads only, destroys, may repeat; settings; effect, asks, may be made again
    ((True, None, None), {}, ("reads", False, True)),
    ((True, True, None), {"approval": "always"}, ("reads", True, True)),
    ((None, None, None), {}, ("external", True, False)),
    ((False, True, True), {}, ("external", True, False)),
    ((False, False, True), {}, ("external", True, False)),
    ((False, False, True), TRUST, ("external", False, True)),
    ((False, True, True), TRUST, ("external", True, True)),
    ((None, None, None), TRUST, ("external", True, False)),
    ((None, None, None), {"approval": "never"}, ("external", False, False)),
    ((None, None, None), {"effects": {"a-b": "reads"}}, ("reads", False, True)),
    ((True, None, None), {"effects": {"a_b": "writes"}}, ("writes", True, False)),
]


@pytest.mark.parametrize(("hints", "told", "expected"), BELIEF)
def test_hints_make_a_tool_laxer_only_where_the_server_is_trusted(hints: Any, told: dict[str, Any], expected: Any) -> None:
    settings = McpSettings(command=("x",), **told)
    listed = Listed("a-b", "", None, None, *hints)
    facts = facts_from(listed, Server("it", settings))
    assert (facts.effect, facts.approval, may_ask_again(listed, settings)) == expected
    assert (facts.reads, facts.writes) == {
        "reads": (("mcp:it",), ()), "writes": ((), ("mcp:it",)), "external": ((), ())
    }[facts.effect]  # fmt: skip


# ------------------------------------------------------------ results

PIXEL = "iVBORw0KGgo="
RESULTS: list[tuple[list[Any], dict[str, Any], Any]] = [
    ([{"type": "text", "text": '{"a": 1}'}], {}, '{"a": 1}'),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {}, "a\nb"),
    ([], {}, ""),
    ([{"type": "text", "text": "seven"}], {"structuredContent": {"n": 7}}, {"n": 7}),
    (
        [{"type": "text", "text": "see"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}], {},
        [{"type": "text", "text": "see"}, {"type": "image", "mime": "image/png", "bytes": 8, "handle": "r1"}],
    ),
    (
        [{"type": "resource_link", "uri": "memo://1", "name": "one"}, {"type": "resource", "resource": {"uri": "memo://2", "text": "t"}}], {},
        [{"type": "resource_link", "uri": "memo://1", "name": "one"}, {"type": "resource", "uri": "memo://2", "text": "t"}],
    ),
    (
        [{"type": "resource", "resource": {"uri": "memo://3", "blob": PIXEL, "mimeType": "image/png"}}], {},
        [{"type": "resource", "uri": "memo://3", "mime": "image/png", "bytes": 8, "handle": "r1"}],
    ),
    ([{"type": "hologram", "x": 1}, 7], {}, [{"type": "hologram", "handle": "r1"}, {"type": "unknown", "handle": "r2"}]),
]  # fmt: skip


async def test_results_are_text_structure_or_parts_with_bytes_under_handles(tmp_path: Path) -> None:
    for blocks, more, expected in RESULTS:
        host = Host(root=tmp_path, results=MemoryResults())
        async with opened(tmp_path, host=host) as toolbox:
            assert await called(toolbox, "blocks", blocks=blocks, more=more) == expected
        if "r1" in str(expected) and "image" in str(expected):
            assert host.results.get("r1") == PIXEL


async def test_an_error_carries_what_the_server_gave_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as toolbox:
        found = await problem(toolbox, "blocks", blocks=[], more={"isError": True, "structuredContent": {"why": 3}})
    assert (found.code, found.message, found.data) == ("mcp_error", "it.blocks: it failed and does not say why", {"why": 3})


# ------------------------------------------------------------ in scripts


async def test_a_script_uses_them_beside_others_and_asks_before_it_acts(tmp_path: Path) -> None:
    asked: list[str] = []

    async def approve(tool: str, arguments: Any) -> bool:
        """Sees what the schema does not name, too: this server's schemas let in anything."""
        asked.append(tool)
        return bool(arguments.get("please"))

    source = """
        const seen = await Promise.all([tools.it.read({ n: 1 }), tools.it.read({ n: 1 }), tools.files.list({})]);
        const done = await tools.it.touch({ please: true });
        const caught = [];
        for (const call of [() => tools.it.touch({}), () => tools.it.error({ please: true })]) {
            try { await call() } catch (error) { caught.push(error.name) }
        }
        return [seen[0], done, caught];
    """
    async with (
        Harness(["files", hostile(tmp_path)], root=tmp_path, approver=Asking(approve)) as harness,
        harness.session() as session,
    ):
        outcome = await session.run(source)
        assert outcome.value == ['{"n": 1}', '{"please": true}', ["denied", "mcp_error"]]
        found = await session.run("return await help('it.touch')")
        assert "touch(" in str(found.value) and "asks a person first" in str(found.value)
    assert asked == ["it.touch", "it.touch", "it.error"]
    names = [call["params"]["name"] for call in heard(tmp_path, "tools/call")]
    assert names == ["read", "read", "touch", "error"]  # what another server says is never served from a cache


async def test_a_rule_denies_them_by_pattern(tmp_path: Path) -> None:
    setup = Setup(policy=Policy((Rule(tool="it.*", then="deny"),)))
    async with Harness([hostile(tmp_path)], root=tmp_path, setup=setup) as harness, harness.session() as session:
        outcome = await session.run("try { await tools.it.read({}) } catch (error) { return error.name }")
    assert outcome.value == "forbidden"
    assert heard(tmp_path, "tools/call") == []


async def test_calls_that_read_run_at_the_same_time(tmp_path: Path) -> None:
    """The first is answered never, and the second is answered all the same."""
    source = "return await Promise.race([tools.it.slow({}), tools.it.read({ n: 2 })])"
    async with Harness([hostile(tmp_path)], root=tmp_path) as harness, harness.session() as session:
        outcome = await session.run(source)
    assert outcome.value == '{"n": 2}'
    assert {call["params"]["name"] for call in heard(tmp_path, "tools/call")} == {"slow", "read"}


async def test_two_packs_of_one_name_are_refused_when_the_harness_is_entered(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match="two packs are called files"):
        async with Harness(["files", hostile(tmp_path, name="files")], root=tmp_path):
            pass
