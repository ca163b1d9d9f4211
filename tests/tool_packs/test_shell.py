"""The shell pack with real processes: what a script gets, what it is told, and what never stays behind."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from catalog import Host, MemoryResults, Pack, ToolProblem, pack
from tests.tool_packs.test_processes import appears, descriptors, gone, zombies_of_mine
from tool_packs import shell as module
from tool_packs.launch import environment_of
from tool_packs.shell import Settings, Shell, list_, poll, run, start, stop, write

pytestmark = pytest.mark.anyio
LINUX = sys.platform.startswith("linux")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@asynccontextmanager
async def opened(root: Path, **settings: object) -> AsyncIterator[Shell]:
    async with pack(module).opened(settings, Host(root=root)) as resource:
        yield resource


async def problem(awaited: object) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await awaited  # type: ignore[misc]
    return caught.value


# ── run ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_text_runs_in_bash_and_a_list_as_it_is(shell: Shell) -> None:
    assert (await run(shell, "echo $((1 + 1)) | cat")).output == "2\n"
    assert (await run(shell, ["echo", "$((1 + 1)) | cat"])).output == "$((1 + 1)) | cat\n"


async def test_the_whole_result_of_a_command(shell: Shell) -> None:
    result = await run(shell, "echo out; echo err >&2; exit 3")
    assert result.duration_seconds > 0
    assert result.model_dump(exclude={"duration_seconds"}) == {
        "exit_code": 3,
        "output": "out\nerr\n",
        "stderr": "",
        "timed_out": False,
        "signal": None,
        "kind": "other",
        "output_bytes": 8,
        "handle": None,
        "lossy": False,
        "notice": None,
        "reads": [],
    }


async def test_stderr_apart_leaves_output_to_be_parsed(shell: Shell) -> None:
    result = await run(shell, "echo '{}'; echo warning >&2", stderr="apart")
    assert (result.output, result.stderr) == ("{}\n", "warning\n")


async def test_stdin_is_empty_unless_given(shell: Shell) -> None:
    assert (await run(shell, ["cat"])).output == ""
    assert (await run(shell, ["cat"], stdin="héllo\n")).output == "héllo\n"
    assert (await run(shell, "true", stdin="x" * 2_000_000)).exit_code == 0
    assert (await run(shell, ["wc", "-c"], stdin="x" * 2_000_000)).output.strip() == "2000000"


async def test_commands_run_below_the_root_in_the_folder_asked_for(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert (await run(shell, "pwd")).output == f"{shell.root.path}\n"
    assert (await run(shell, "pwd", cwd="a/b")).output == f"{shell.root.path}/a/b\n"


@pytest.mark.parametrize("cwd", ["nowhere", "..", "/", "file", "", "a\0b"])
async def test_a_folder_that_is_not_there_or_outside_is_a_bad_cwd(tmp_path: Path, shell: Shell, cwd: str) -> None:
    (tmp_path / "file").write_text("x")
    assert (await problem(run(shell, "pwd", cwd=cwd))).code == "bad_cwd"


async def test_a_bad_cwd_says_why(shell: Shell) -> None:
    told = await problem(run(shell, "pwd", cwd="nowhere"))
    assert told.message == "the command cannot start in 'nowhere': nothing is at nowhere"
    assert told.hint == "list the root to see what is there"


async def test_a_program_that_is_not_there_is_named_with_the_nearest(shell: Shell) -> None:
    told = await problem(run(shell, ["grpe", "x"]))
    assert (told.code, told.message) == ("command_not_found", "no program 'grpe' is on PATH")
    assert told.hint.startswith("did you mean grep")
    told = await problem(run(shell, ["ls | wc"]))
    assert told.hint == "a list is one program and its arguments; give a text to have it read by the shell"
    assert (await problem(run(shell, ["./missing"]))).message == "there is no program at ./missing"
    assert (await run(shell, "grpe x")).exit_code == 127  # bash started and said so


async def test_what_may_not_be_started_is_told(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "plain.txt").write_text("x")
    told = await problem(run(shell, ["./plain.txt"]))
    assert (told.code, told.message) == ("permission_denied", "./plain.txt may not be started: Permission denied")
    (tmp_path / "odd").write_bytes(b"\x00\x01")
    (tmp_path / "odd").chmod(0o755)
    assert (await problem(run(shell, ["./odd"]))).code == "cannot_start"


@pytest.mark.parametrize("command", ["", "  \n", [], [""]])
async def test_an_empty_command_is_told(shell: Shell, command: str | list[str]) -> None:
    told = await problem(run(shell, command))
    assert (told.code, told.hint) == ("bad_command", 'give a text such as "ls -l", or a list ["ls", "-l"]')


async def test_a_nul_and_a_very_long_command_are_told(shell: Shell) -> None:
    assert (await problem(run(shell, "echo a\0b"))).code == "bad_command"
    assert (await problem(run(shell, ["echo", "\ud800"]))).code == "bad_command"
    told = await problem(run(shell, "echo " + "x" * 3_000_000))
    assert (told.code, told.hint) == ("command_too_long", "give the long part as stdin, or write it to a file first")


async def test_a_slow_command_is_stopped_with_what_it_printed(tmp_path: Path, shell: Shell) -> None:
    result = await run(shell, "echo before; sleep 300 & echo $! > pid; wait", timeout_seconds=1)
    assert (result.exit_code, result.timed_out, result.output) == (124, True, "before\n")
    assert result.notice == "stopped after 1 s; give more timeout_seconds (at most 300), or use tools.shell.start and poll"
    assert await gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("seconds", [0, -1, 301, float("nan")])
async def test_a_time_out_of_range_is_told(shell: Shell, seconds: float) -> None:
    told = await problem(run(shell, "true", timeout_seconds=seconds))
    assert (told.code, told.message) == ("bad_time", f"timeout_seconds is {seconds:g}; it goes from above 0 to 300")


async def test_cancelling_a_call_kills_everything_it_started(tmp_path: Path, shell: Shell) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, shell, "(sleep 300 & echo $! $$ > pids; wait) & wait")
        pids = [int(pid) for pid in (await appears(tmp_path / "pids")).split()]
        tasks.cancel_scope.cancel()
    assert [await gone(pid) for pid in pids] == [True, True]
    assert not LINUX or zombies_of_mine() == []


async def test_processes_left_behind_are_stopped_and_told(shell: Shell) -> None:
    result = await run(shell, "sleep 300 & echo started")
    assert (result.output, result.exit_code) == ("started\n", 0)
    assert result.notice == "processes that the command left running were stopped; start what must go on with tools.shell.start"


async def test_bytes_that_are_no_text_are_replaced_and_flagged(shell: Shell) -> None:
    result = await run(shell, "printf 'a\\xff\\xfeb\\0c'")
    assert (result.output, result.lossy, result.output_bytes) == ("a\ufffd\ufffdb\0c", True, 6)


async def test_large_output_is_cut_in_the_middle_and_kept_whole(tmp_path: Path) -> None:
    results = MemoryResults()
    host = Host(root=tmp_path, results=results)
    shell = Shell(tmp_path, Settings(result_bytes_max=2_000), host)
    result = await run(shell, "seq 1 1000")
    whole = "".join(f"{number}\n" for number in range(1, 1001))
    assert result.handle is not None
    assert results.get(result.handle) == whole
    assert result.output.startswith("1\n2\n") and result.output.endswith("999\n1000\n")
    assert f'bytes left out; all of it: recall("{result.handle}") …]' in result.output
    assert len(result.output) < 2_200
    head, _, rest = result.output.partition("\n[…")
    assert whole.startswith(head) and whole.endswith(rest.partition("…]\n")[2])


async def test_output_within_the_cap_is_whole(tmp_path: Path) -> None:
    result = await run(Shell(tmp_path), "head -c 3000000 /dev/zero | tr '\\0' x")
    assert (len(result.output), result.handle) == (3_000_000, None)


async def test_output_that_json_would_swell_is_cut_shorter(tmp_path: Path) -> None:
    """A NUL takes six bytes in JSON: the result must still fit into a script."""
    result = await run(Shell(tmp_path, Settings(result_bytes_max=10_000)), "head -c 9000 /dev/zero")
    assert result.handle is not None
    assert len(result.model_dump_json()) < 3 * 10_000 + 1_000


async def test_a_flood_is_stopped_and_told_with_a_handle(tmp_path: Path) -> None:
    results = MemoryResults()
    shell = Shell(tmp_path, Settings(kept_bytes_max=1_500_000), Host(root=tmp_path, results=results))
    told = await problem(run(shell, "yes"))
    assert (told.code, told.message) == ("output_flood", "the command printed more than 1,500,000 bytes and was stopped")
    assert told.hint == "send it to a file (command > /tmp/out.txt 2>&1) and read a part, or print less: | head -100, | grep …"
    assert len(results.get(told.data["handle"])) == 1_500_000
    assert told.data["tail"] == "y\n" * 250


async def test_output_is_told_while_it_comes(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    def hear(tool: str, text: str) -> None:
        heard.append((tool, text))
        (tmp_path / "go").touch()

    await run(
        Shell(tmp_path, host=Host(root=tmp_path, progress=hear)), "echo first; until [ -e go ]; do sleep 0.01; done; echo second"
    )
    assert heard == [("shell.run", "first\n"), ("shell.run", "second\n")]


async def test_fast_output_is_told_in_few_bounded_texts(tmp_path: Path) -> None:
    heard: list[str] = []
    host = Host(root=tmp_path, progress=lambda tool, text: heard.append(text))
    result = await run(Shell(tmp_path, host=host), "seq 1 200000")
    assert len(heard) <= result.duration_seconds * 10 + 2
    assert max(map(len, heard)) <= 8_192
    assert heard[-1].endswith("200000\n")


async def test_the_class_of_the_command_is_in_the_result(shell: Shell) -> None:
    assert (await run(shell, "ls | head")).kind == "search"
    assert (await run(shell, "bash -c 'make --version' > /dev/null")).kind == "build"


@pytest.mark.skipif(not LINUX, reason="counts descriptors in /proc")
async def test_many_runs_leave_no_descriptor(shell: Shell) -> None:
    await run(shell, "true", stdin="x")
    before = len(descriptors())
    for _ in range(60):
        await run(shell, "cat", stdin="x", stderr="apart")
        await problem(run(shell, ["no-such-program-at-all"]))
    assert len(descriptors()) <= before


# ── the environment ──────────────────────────────────────────────────────────────────────────────────────────────────────

HOST = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/x",
    "LC_ALL": "C",
    "OPENAI_API_KEY": "secret",
    "MY_VAR": "x",
    "LD_PRELOAD": "evil.so",
    "TERM": "xterm",
}


async def test_programs_get_the_named_variables_and_no_secret(tmp_path: Path) -> None:
    shell = Shell(tmp_path, host=Host(root=tmp_path, environment=HOST))
    lines = (await run(shell, ["env"], env={"EXTRA": "1"})).output.splitlines()
    assert sorted(lines) == [
        "EXTRA=1", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=/home/x", "LC_ALL=C", "MANPAGER=cat", "NO_COLOR=1", "PAGER=cat",
        "PATH=/usr/bin:/bin", "TERM=dumb",
    ]  # fmt: skip


async def test_variables_of_this_process_are_not_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_SECRET_OF_TEST", "secret")
    assert "secret" not in (await run(Shell(tmp_path), ["env"])).output


def test_what_is_denied_is_not_handed_on_even_when_it_is_named() -> None:
    found = environment_of(HOST, {}, handed_on=("MY_*", "OPENAI_API_KEY", "LD_PRELOAD"))
    assert {name for name in found if name in HOST} == {"MY_VAR", "TERM", "PATH"}
    assert found["PATH"] == "/usr/local/bin:/usr/bin:/bin"


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A": "x\0"}, {"A\0": "x"}, {"A": "\ud800"}])
async def test_impossible_variables_are_told(shell: Shell, env: dict[str, str]) -> None:
    assert (await problem(run(shell, "true", env=env))).code == "bad_env"


# ── refusals, approval, effects ──────────────────────────────────────────────────────────────────────────────────────────


async def test_edits_by_shell_are_refused_before_anything_runs(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "a.py").write_text("a\n")
    told = await problem(run(shell, "touch ran; sed -i s/a/b/ a.py"))
    assert (told.code, told.data) == ("use_patch", {"path": "a.py"})
    assert told.message == (
        "`sed -i` edits a.py by shell, which is refused here; the patch pack edits files and checks the old lines first"
    )
    assert (tmp_path / "a.py").read_text() == "a\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.py"]  # noqa: ASYNC240


async def test_large_files_are_refused_by_their_real_size(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "large.txt").write_text("x" * 4_097)
    (tmp_path / "small.txt").write_text("x" * 4_096)
    assert (await problem(run(shell, "cat large.txt"))).code == "use_files_read"
    assert (await problem(run(shell, f"cat {shell.root.path}/large.txt"))).code == "use_files_read"
    assert (await problem(start(shell, "cat large.txt"))).code == "use_files_read"
    assert (await run(shell, "cat small.txt")).output_bytes == 4_096
    assert (await run(shell, "cat large.txt | wc -c")).exit_code == 0


async def test_refusals_can_be_turned_off(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a\n")
    assert (await run(Shell(tmp_path, Settings(refusals=False)), "sed -i s/a/b/ a.py")).exit_code == 0
    assert (tmp_path / "a.py").read_text() == "b\n"


def tools() -> Pack:
    return pack(module)


@pytest.mark.parametrize(
    ("arguments", "asks"),
    [
        ({"command": "git status"}, False),
        ({"command": ["ls", "-l"]}, False),
        ({"command": "ls", "env": {}}, False),
        ({"command": "ls", "env": {"LD_PRELOAD": "./x.so"}}, True),
        ({"command": "rm x"}, True),
        ({"command": "cat $(rm x)"}, True),
    ],
)
def test_only_what_is_known_to_be_harmless_runs_unasked(arguments: dict[str, object], asks: bool) -> None:
    named = {tool.name: tool for tool in tools().tools}
    for name in ("run", "start"):
        assert named[name].asks(arguments) is asks
        effects = named[name].effects(arguments)
        assert (effects.reads, effects.writes) == ((("*",), ("*",)) if asks else (("tree:.",), ()))


def test_the_other_tools_say_what_they_touch() -> None:
    named = {tool.name: tool for tool in tools().tools}
    assert list(named) == ["run", "start", "poll", "write", "stop", "list"]
    assert named["poll"].effects({"id": "p1"}).writes == ("process:p1",)
    assert (named["write"].asks({"id": "p1", "text": "rm"}), named["write"].asks({"id": "p1", "text": ""})) == (True, False)
    assert named["write"].effects({"id": "p1", "text": "x"}).writes == ("*",)
    assert named["list"].effects({}).writes == ()


def test_every_parameter_is_explained_and_every_summary_is_short() -> None:
    for tool in tools().tools:
        assert len(tool.summary) < 100
        assert all("description" in schema for schema in tool.properties.values()), tool.name


def test_bad_settings_are_told() -> None:
    with pytest.raises(ValueError, match=r"pack shell: timeout_seconds: Input should be less than or equal to 300"):
        tools().read_settings({"timeout_seconds": 1000})


# ── background ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_background_process_is_polled_written_to_and_ends(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        process = await start(shell, "while read x; do echo got $x; done; exit 5")
        assert (process.id, process.running, process.exit_code) == ("p1", True, None)
        assert (await poll(shell, "p1")).output == ""
        await write(shell, "p1", "one\n")
        assert (await poll(shell, "p1", wait_seconds=30)).output == "got one\n"
        await write(shell, "p1", "", close=True)
        news = await poll(shell, "p1", wait_seconds=30)
        assert (news.running, news.exit_code, news.output) == (False, 5, "")
        assert news.handle is not None
        assert shell.host.results.get(news.handle) == "got one\n"
        assert (await poll(shell, "p1", wait_seconds=30)).exit_code == 5
        told = await problem(write(shell, "p1", "more\n"))
        assert (told.code, told.message) == ("stdin_closed", "process p1 has ended")
        assert [each.running for each in await list_(shell)] == [False]


async def test_a_poll_that_waits_returns_with_the_first_output(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        await start(shell, "read x; echo early; sleep 300")
        await write(shell, "p1", "go\n")
        with anyio.fail_after(30):
            news = await poll(shell, "p1", wait_seconds=60)
        assert (news.output, news.running) == ("early\n", True)
        assert (await poll(shell, "p1", wait_seconds=0.05)).output == ""


async def test_what_is_not_polled_is_bounded_and_the_loss_is_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, unread_bytes_max=1_024) as shell:
        await start(shell, "seq 1 10000")
        assert await shell.found("p1").wait_end(30)
        news = await poll(shell, "p1")
        assert news.output.endswith("9999\n10000\n")
        assert len(news.output) == 1_024
        assert news.dropped_bytes == sum(len(f"{number}\n") for number in range(1, 10_001)) - 1_024
        assert news.handle is not None
        assert shell.host.results.get(news.handle).startswith("1\n2\n")


async def test_the_kept_text_of_a_long_process_ends_at_the_cap(tmp_path: Path) -> None:
    async with opened(tmp_path, kept_bytes_max=1_024) as shell:
        await start(shell, "seq 1 1000")
        assert await shell.found("p1").wait_end(30)
        news = await poll(shell, "p1")
        assert news.handle is not None and news.exit_code == 0
        assert shell.host.results.get(news.handle).endswith("\n[… 2,869 bytes after these were not kept …]\n")


async def test_a_character_that_comes_in_two_halves_is_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        await start(shell, "printf '\\xc3'; read x; printf '\\xa9\\n'")
        with anyio.fail_after(30):
            while not (await list_(shell))[0].unread_bytes:
                await anyio.sleep(0.01)
        first = await poll(shell, "p1")
        await write(shell, "p1", "\n")
        assert await shell.found("p1").wait_end(30)
        second = await poll(shell, "p1")
        assert (first.output + second.output, second.lossy) == ("é\n", False)


async def test_stop_ends_children_too_and_gives_the_rest(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        await start(shell, "echo ready; sleep 300 & echo $! > pid; wait")
        pid = int(await appears(tmp_path / "pid"))
        news = await stop(shell, "p1")
        assert (news.running, news.signal, news.output) == (False, "SIGTERM", "ready\n")
        assert await gone(pid)
        assert (await stop(shell, "p1")).running is False  # once more does no harm


async def test_stop_kills_what_will_not_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        await start(shell, "trap '' TERM; echo > ready; while :; do sleep 0.05; done")
        await appears(tmp_path / "ready")
        assert (await stop(shell, "p1", grace_seconds=0.1)).signal == "SIGKILL"


async def test_an_unknown_process_is_told_with_the_living(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        told = await problem(poll(shell, "p9"))
        assert (told.code, told.message) == ("unknown_process", "there is no process 'p9'")
        assert told.hint == "none is running; start one with tools.shell.start"
        await start(shell, "sleep 300")
        assert (await problem(stop(shell, "p9"))).hint == "running: p1 (sleep 300)"


async def test_more_processes_than_allowed_are_refused_until_one_ends(tmp_path: Path) -> None:
    async with opened(tmp_path, processes_max=2) as shell:
        for _ in range(2):
            await start(shell, "sleep 300")
        told = await problem(start(shell, "sleep 300"))
        assert told.code == "too_many_processes"
        assert told.message == "2 processes run in the background, which is the most: p1 (sleep 300), p2 (sleep 300)"
        await stop(shell, "p1")
        assert (await start(shell, "true")).id == "p3"


async def test_a_process_that_does_not_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WRITE_SECONDS", 0.2)
    async with opened(tmp_path) as shell:
        await start(shell, "sleep 300")
        told = await problem(write(shell, "p1", "x" * 1_000_000))
        assert told.code == "stdin_full"
        await start(shell, "exec 0<&-; echo > ready; sleep 300")
        await appears(tmp_path / "ready")
        told = await problem(write(shell, "p2", "x"))
        assert (told.code, told.message) == ("stdin_closed", "process p2 has closed its stdin")


async def test_closing_the_shell_kills_every_process_and_closes_every_descriptor(tmp_path: Path) -> None:
    before = len(descriptors()) if LINUX else 0
    async with opened(tmp_path) as shell:
        for number in range(3):
            await start(shell, f"sleep 300 & echo $! $$ > pids{number}; wait")
        pids = [int(pid) for number in range(3) for pid in (await appears(tmp_path / f"pids{number}")).split()]
        await start(shell, "sleep 300")  # closed before it was ever attended
    assert [await gone(pid) for pid in pids] == [True] * 6
    assert not LINUX or (len(descriptors()) <= before and zombies_of_mine() == [])


async def test_an_error_in_the_block_stays_itself_and_still_kills(tmp_path: Path) -> None:
    pid = 0
    with pytest.raises(LookupError):
        async with opened(tmp_path) as shell:
            pid = (await start(shell, "sleep 300")).pid
            raise LookupError("of the block")
    assert await gone(pid)


async def test_cancelling_the_block_kills_too(tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with opened(tmp_path) as shell:
            pid = (await start(shell, "sleep 300")).pid
            scope.cancel()
            await anyio.sleep(300)
    assert await gone(pid)


async def test_starting_without_opening_is_a_mistake_of_the_host(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="open the shell first"):
        await start(Shell(tmp_path), "sleep 300")


async def test_processes_that_ended_are_forgotten_after_the_last_thirty_two(tmp_path: Path) -> None:
    async with opened(tmp_path) as shell:
        for number in range(40):
            await start(shell, "true")
            assert await shell.found(f"p{number + 1}").wait_end(30)
        assert len(await list_(shell)) <= 33
        assert (await problem(poll(shell, "p1"))).code == "unknown_process"
