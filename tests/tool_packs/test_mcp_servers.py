"""Real servers as packs: the reference servers for git, files and everything, and one over HTTP by the SDK; also from the command."""

import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Host, Toolbox, ToolProblem, choose, open_toolbox
from harness import Harness, Setup
from harness.approval import Policy, Rule
from tests.harness.test_cli import turnscript
from tests.tool_packs.servers import Asked, Server, answer, serving
from tool_packs.mcp_bridge import mcp_server

# The SDK leaves httpx's generators to the collector once it has read enough, which trio warns of.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <async_generator object .*:pytest.PytestUnraisableExceptionWarning"
    ),
]
BIN = Path(sys.executable).parent
GIT_SERVER = BIN / "mcp-server-git"
HTTP_SERVER = str(Path(__file__).with_name("mcp_http_server.py"))
needs_git = pytest.mark.skipif(not GIT_SERVER.exists() or not shutil.which("git"), reason="needs git and mcp-server-git")


@asynccontextmanager
async def opened(bridge: Any, host: Host) -> AsyncIterator[Toolbox]:
    async with bridge as pack, open_toolbox(choose([pack]), host=host) as toolbox:
        yield toolbox


async def called(toolbox: Toolbox, name: str, **arguments: Any) -> Any:
    return await toolbox.call(name, toolbox.bind(name, [arguments]))


async def problem(toolbox: Toolbox, name: str, **arguments: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await called(toolbox, name, **arguments)
    return caught.value


# ------------------------------------------------------------ git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "notes.txt").write_text("one\n")
    for command in (
        ["init", "-q", "-b", "main"], ["config", "user.email", "ada@example.org"], ["config", "user.name", "Ada"],
        ["add", "."], ["commit", "-q", "-m", "first"],
    ):  # fmt: skip
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "notes.txt").write_text("one\ntwo\n")
    return folder


@needs_git
async def test_git_is_looked_at_unasked_and_changed_only_when_a_person_agrees(repository: Path) -> None:
    source = """
        const repo_path = context.where;
        const [status, log] = await Promise.all([tools.git.git_status({ repo_path }), tools.git.git_log({ repo_path })]);
        let error;
        try { await tools.git.git_show({ repo_path, revision: "nope" }) } catch (caught) { error = caught.name + ": " + caught.message }
        let add;
        try { await tools.git.git_add({ repo_path, files: ["notes.txt"] }); add = "added" } catch (caught) { add = caught.name }
        return [status.includes("modified:   notes.txt"), log.includes("first"), error, add];
    """
    git = ["files", mcp_server("git", command=[str(GIT_SERVER)], root=repository)]
    async with Harness(git, root=repository) as harness, harness.session() as session:
        assert "git: git_status" in harness.prompt() or "git_status" in harness.prompt()
        outcome = await session.run(source, context={"where": str(repository)})
    assert outcome.value == [True, True, "mcp_error: git.git_show: Ref 'nope' did not resolve to an object", "denied"]

    setup = Setup(policy=Policy((Rule(tool="git.git_add", then="allow"), Rule(tool="git.git_log", then="deny"))))
    again = mcp_server("git", command=[str(GIT_SERVER)], root=repository)
    async with Harness([again], root=repository, setup=setup) as harness, harness.session() as session:
        outcome = await session.run(
            "const repo_path = context.where; const said = await tools.git.git_add({ repo_path, files: ['notes.txt'] });"
            "try { await tools.git.git_log({ repo_path }) } catch (caught) { return [said, caught.name] }",
            context={"where": str(repository)},
        )
    assert outcome.value == ["Files staged successfully", "forbidden"]
    staged = await anyio.run_process(["git", "diff", "--cached", "--name-only"], cwd=repository)
    assert staged.stdout == b"notes.txt\n"


@needs_git
def test_the_command_lists_and_runs_them_from_the_settings_file(repository: Path) -> None:
    (repository / "turnscript.toml").write_text(
        f'profile = "none"\n[mcp.git]\ncommand = ["{GIT_SERVER}"]\ntools = ["git_status", "git_add"]\nrename = {{ git_status = "status" }}\n'
    )
    listed = turnscript("tools", "--format", "json-schema", cwd=repository)
    assert [(tool["name"], tool["effect"], tool["approval"]) for tool in json.loads(listed.stdout)] == [
        ("git.status", "reads", "no"),
        ("git.git_add", "external", "yes"),
    ]
    (repository / "look.js").write_text(
        f"(await tools.git.status({{ repo_path: {json.dumps(str(repository))} }})).split('\\n')[1]"
    )
    done = turnscript("run", "look.js", cwd=repository)
    assert (done.stdout, done.stderr, done.returncode) == ("On branch main\n", "", 0)
    alone = turnscript("tools", "--pack", "files", "--format", "json-schema", cwd=repository)
    assert {tool["name"].partition(".")[0] for tool in json.loads(alone.stdout)} == {"files"}


def test_the_command_says_in_one_line_what_is_wrong_with_a_server(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text('profile = "none"\n[mcp.it]\ncommand = ["false"]\n')
    done = turnscript("run", "-", cwd=tmp_path, stdin="1")
    assert done.stderr == "turnscript: [mcp.it] cannot be used: it ended with exit code 1; check its command\n"
    assert (done.stdout, done.returncode) == ("", 2)
    (tmp_path / "turnscript.toml").write_text('profile = "none"\n[mcp.it]\ncomand = ["false"]\n')
    done = turnscript("tools", cwd=tmp_path)
    assert done.stderr == "turnscript: [mcp.it]: unknown key 'comand'; did you mean command?\n"


# ------------------------------------------------------------ HTTP


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Shop:
    """A server over HTTP that can be stopped and started at the same address."""

    def __init__(self, mode: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._mode = mode
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, HTTP_SERVER, str(self.port), self._mode]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2_000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            os.sched_yield()
            subprocess.run(["sleep", "0.01"], check=True)
        raise AssertionError("the server does not listen")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="module", params=["json", "sse"])
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    made = Shop(request.param)
    made.start()
    yield made
    made.stop()


async def test_a_server_over_http_gives_structure_errors_progress_and_resources(shop: Shop, tmp_path: Path) -> None:
    told: list[str] = []
    host = Host(root=tmp_path, progress=lambda tool, text: told.append(f"{tool} {text}"))
    async with opened(mcp_server("shop", url=shop.url, result_bytes_max=100_000), host) as toolbox:
        assert toolbox.offer.packs[0].doc == "shop, an MCP server.\n\nSells."
        assert await called(toolbox, "shop.price", thing="tea", count=2) == {"tea": 6}
        assert (await problem(toolbox, "shop.fails")).message == "shop.fails: Error executing tool fails: out of stock"
        assert (await problem(toolbox, "shop.big", size=200_000)).code == "result_too_large"
        assert await called(toolbox, "shop.steps") == {"result": "done"}
        listed = await called(toolbox, "shop.list_resources")
        assert [one["uri"] for one in listed["resources"]] == ["shop://About/Us"] or listed["resources"][0][
            "uri"
        ] == "shop://about/Us"
        assert listed["templates"][0]["uri"] == "shop://things/{name}" and listed["more"] is False
        assert await called(toolbox, "shop.read_resource", uri=listed["resources"][0]["uri"]) == "A shop."
        assert await called(toolbox, "shop.read_resource", uri="shop://things/tea") == "About tea."
        assert (await problem(toolbox, "shop.read_resource", uri="shop://nowhere")).code == "mcp_error"
        with pytest.raises(ToolProblem, match="count must be a whole number"):
            toolbox.bind("shop.price", [{"thing": "tea", "count": "two"}])
    if shop._mode == "sse":
        assert told == ["shop.steps 1 of 2: half\n"]


async def test_calls_over_http_run_in_parallel(shop: Shop, tmp_path: Path) -> None:
    async with opened(mcp_server("shop", url=shop.url), Host(root=tmp_path)) as toolbox:
        got: list[Any] = []

        async def one(count: int) -> None:
            got.append(await called(toolbox, "shop.price", thing="tea", count=count))

        async with anyio.create_task_group() as tasks:
            for count in range(20):
                tasks.start_soon(one, count)
    assert sorted(one["tea"] for one in got) == [3 * count for count in range(20)]


async def test_a_server_over_http_that_was_started_anew_is_found_again_and_one_that_died_is_gone(tmp_path: Path) -> None:
    shop = Shop("json")
    shop.start()
    try:
        async with opened(mcp_server("shop", url=shop.url), Host(root=tmp_path)) as toolbox:
            first = (await called(toolbox, "shop.process"))["result"]
            shop.stop()
            shop.start()  # behind our back: it knows nothing of our session any more, and has not looked at the call
            assert (await called(toolbox, "shop.process"))["result"] != first
            found = await problem(toolbox, "shop.die")
            assert (found.code, found.hint) == ("server_gone", "it may have run: look before you call it again")
            assert (await problem(toolbox, "shop.process")).code == "server_gone"
    finally:
        shop.stop()


NO_SERVER = [
    (answer(401, b"who are you?"), "HTTP 401 Whatever: who are you?"),
    (answer(500, b"x" * 5_000), "HTTP 500 Whatever: " + "x" * 500),
    (answer(body=b"<h1>hello</h1>", content_type="text/html"), "its answer is text/html (identity)"),
    (answer(body=gzip.compress(b"{}"), content_type="application/json", content_encoding="gzip"), "its answer is application/json (gzip)"),
    (answer(body=b"{", content_type="application/json"), "its answer is no message of the protocol"),
    (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{", "the answer was cut off: "),
    (answer(body=b": nothing\n\n", content_type="text/event-stream"), "the answer was cut off"),
    (answer(body=b"data: {\n\n", content_type="text/event-stream"), "the answer was cut off"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "says"), NO_SERVER, ids=["401", "500", "page", "packed", "no json", "cut", "events", "odd event"]
)
async def test_an_address_that_is_no_server_is_told_in_one_line_and_not_waited_for(page: bytes, says: str) -> None:
    def give(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(page)

    with serving(give) as server:
        with pytest.raises(BadPack) as caught:
            async with mcp_server("it", url=f"{server.url}/mcp", headers={"authorization": "Bearer x"}):
                pass
        told = str(caught.value)
        assert told.startswith(f"mcp_server('it') cannot be used: {says}") and told.endswith("; check its url")
        assert server.asked[0].headers["authorization"] == "Bearer x"
        assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_an_address_that_never_answers_or_never_ends_is_given_up() -> None:
    def silent(asked: Asked, wire: socket.socket, server: Server) -> None:
        server.closing.wait(20)

    def endless(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
        try:
            while not server.closing.is_set():
                wire.sendall(b"z" * 65_536)
        except OSError:
            return  # nobody listens any more

    for give, says in ((silent, "it did not answer initialize in 1 s"), (endless, "the answer has more than 1,000,000 bytes")):
        with serving(give) as server:
            told = {"url": f"{server.url}/mcp", "startup_seconds": 1, "result_bytes_max": 1_000_000}
            with pytest.raises(BadPack, match=rf"mcp_server\('it'\) cannot be used: {says}; check its url"):
                async with mcp_server("it", **told):
                    pass


async def test_nobody_at_the_address_is_told_in_one_line() -> None:
    with pytest.raises(BadPack, match=r"mcp_server\('it'\) cannot be used: http://127.0.0.1:\d+/mcp: .*; check its url"):
        async with mcp_server("it", url=f"http://127.0.0.1:{free_port()}/mcp?key=secret"):
            pass


# ------------------------------------------------------------ reference servers from npm


@pytest.fixture(scope="session")
def node_servers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("node")
    names = ["@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem"]
    done = subprocess.run([npm, "install", "--no-audit", "--no-fund", *names], cwd=folder, capture_output=True, timeout=120)
    if done.returncode != 0:
        pytest.skip("npm cannot install the reference servers")
    return folder / "node_modules" / ".bin"


@pytest.mark.slow
async def test_the_file_server_works_below_the_root_that_it_is_told(node_servers: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    command = [str(node_servers / "mcp-server-filesystem"), str(tmp_path)]
    settings = {"trust": True, "startup_seconds": 30}
    async with (
        Harness([mcp_server("fs", command=command, root=tmp_path, **settings)], root=tmp_path) as harness,
        harness.session() as session,
    ):
        outcome = await session.run(
            "const read = await tools.fs.read_text_file({ path: context.where + '/a.txt' });"
            "let error; try { await tools.fs.read_text_file({ path: '/etc/passwd' }) } catch (caught) { error = caught.name }"
            "return [read.content ?? read, error]",
            context={"where": str(tmp_path)},
        )
    assert outcome.value == ["hello\n", "mcp_error"]


@pytest.mark.slow
async def test_everything_that_the_reference_server_has_is_understood(node_servers: Path, tmp_path: Path) -> None:
    told: list[str] = []
    host = Host(root=tmp_path, progress=lambda tool, text: told.append(text))
    command = [str(node_servers / "mcp-server-everything")]
    async with opened(mcp_server("all", command=command, root=tmp_path, startup_seconds=30), host) as toolbox:
        names = {name.partition(".")[2] for name in toolbox.tools}
        assert {"echo", "list_resources", "read_resource"} <= names
        assert "hi" in await called(toolbox, "all.echo", message="hi")
        image = next(name for name in names if "image" in name.lower())
        parts = await called(toolbox, f"all.{image}")
        assert [part["mime"] for part in parts if part["type"] == "image"] == ["image/png"]
        structured = next(name for name in names if "structured" in name.lower())
        assert isinstance(await called(toolbox, f"all.{structured}", location="New York"), dict)
        listed = await called(toolbox, "all.list_resources")
        assert listed["resources"]
        assert await called(toolbox, "all.read_resource", uri=listed["resources"][0]["uri"])
