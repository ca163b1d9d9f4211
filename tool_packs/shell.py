"""Run commands below the root: to their end with `run`, or in the background with `start`, `poll`, `write`, `stop` and `list`.

A text runs by `bash -c`, a list runs as it is. Programs have no terminal: stdin is /dev/null unless given. They get the variables
PATH, HOME, LANG and the like (launch.py has the list) and those of the call; no other variable of the host, so no secret.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import anyio
from anyio import to_thread

from catalog import Host, ToolProblem, tool
from tool_packs.commands import classify
from tool_packs.opened_shell import LONGEST_SECONDS, Fitted, Settings, Shell
from tool_packs.processes import Ended, Input, Sink, attend
from tool_packs.progress import Progress
from tool_packs.read_only import is_safe
from tool_packs.reads import FileRead, reads_of
from tool_packs.shell_results import News, Output, Process
from tool_packs.spool import Spool, Text, decoded

__all__ = ["News", "Output", "Process", "Settings", "Shell", "list_", "open", "poll", "run", "start", "stop", "write"]

_SPARE_SECONDS = 15.0  # for ending what took too long, beyond the longest time a call may ask for
_LONGEST_WAIT_SECONDS = 60.0
_WRITE_SECONDS = 10.0


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Shell]:
    async with Shell(host.root, settings, host) as shell:
        yield shell


def _asks(arguments: Mapping[str, Any]) -> bool:
    """Variables can change what a safe program does (PATH, LD_PRELOAD, GIT_…), so a call that sets some asks."""
    return bool(arguments.get("env")) or not is_safe(arguments["command"])


def _reads(arguments: Mapping[str, Any]) -> Iterable[str]:
    return ("*",) if _asks(arguments) else ("tree:.",)


def _writes(arguments: Mapping[str, Any]) -> Iterable[str]:
    return ("*",) if _asks(arguments) else ()


@tool(
    effect="external", reads=_reads, writes=_writes, approval=_asks, shape="output",
    timeout_seconds=LONGEST_SECONDS + _SPARE_SECONDS, volatile=["duration_seconds"],
)  # fmt: skip
async def run(
    shell: Shell,
    command: str | list[str],
    *,
    cwd: str = ".",
    env: dict[str, str] | None = None,
    timeout_seconds: float | None = None,
    stdin: str | None = None,
    stderr: Literal["merged", "apart"] = "merged",
) -> Output:
    """Run a command to its end and give what it printed and its exit code.

    A text is run by `bash -c`; a list is one program with its arguments, without a shell. A non-zero exit code is a result,
    not a problem. What the command leaves running is stopped: use start for servers.

    Args:
        command: a text for bash such as "pytest -q | tail -20", or a list such as ["git", "show", "HEAD"].
        cwd: the folder to run in, below the root.
        env: variables to add.
        timeout_seconds: 60 unless given, at most 300; then it is stopped and exit_code is 124.
        stdin: text that it reads; nothing unless given.
        stderr: "merged" puts stderr into output in the order of arrival; "apart" gives it as stderr, for output that is parsed.
    """
    limit = _seconds("timeout_seconds", timeout_seconds, shell.settings.timeout_seconds, LONGEST_SECONDS)
    launch = await shell.prepared(command, cwd, env)
    progress = Progress("shell.run", shell.host.progress)
    spools = [Spool(most_bytes=shell.settings.kept_bytes_max) for _ in range(2 if stderr == "apart" else 1)]

    def sink(spool: Spool) -> Sink:
        async def add(data: bytes) -> bool:
            progress.add(data)
            return await spool.add(data)

        return add

    with ExitStack() as held:
        given: Input = "none" if stdin is None else held.enter_context(await to_thread.run_sync(_file_of, stdin))
        for spool in spools:
            held.callback(spool.close)
        started = anyio.current_time()
        group = launch.start(given=given, apart=stderr == "apart")
        sinks = [sink(spool) for spool in spools]
        ended = await attend(group, sinks, timeout_seconds=limit, grace_seconds=shell.settings.grace_seconds)
        duration = anyio.current_time() - started
        progress.flush()
        label = (command if isinstance(command, str) else " ".join(command))[:80]
        data = [await spool.read() for spool in spools]
        if ended.full:
            raise _flood(shell, await to_thread.run_sync(decoded, max(data, key=len)), label)
        texts = [await shell.fitted(each, label) for each in data]
    return Output(
        exit_code=ended.exit_code, output=texts[0].text, stderr=texts[1].text if len(texts) > 1 else "",
        duration_seconds=round(duration, 3), timed_out=ended.timed_out, signal=ended.signal, kind=classify(command),
        reads=_reads_in(command, texts[0], ended.exit_code), output_bytes=spools[0].total, handle=texts[0].handle,
        lossy=any(text.lossy for text in texts), notice=_notice(ended, limit),
    )  # fmt: skip


@tool(effect="external", reads=_reads, writes=_writes, approval=_asks)
async def start(shell: Shell, command: str | list[str], *, cwd: str = ".", env: dict[str, str] | None = None) -> Process:
    """Start a command in the background, such as a server, and give its id for poll, write and stop.

    It has no terminal; its stdin stays open until write closes it. It lives until it ends, is stopped, or the session ends.

    Args:
        command: a text for bash, or a list of a program and its arguments.
        cwd: the folder to run in, below the root.
        env: variables to add.
    """
    launch = await shell.prepared(command, cwd, env)
    told = command if isinstance(command, str) else " ".join(command)
    return Process.of(shell.begin(launch, told, cwd))


@tool(
    effect="external", writes=["process:{id}"], shape="output", polled=True,
    timeout_seconds=_LONGEST_WAIT_SECONDS + _SPARE_SECONDS,
)  # fmt: skip
async def poll(shell: Shell, id: str, *, wait_seconds: float = 0) -> News:
    """Give what a background process printed since the last poll, and whether it still runs.

    Args:
        id: as start gave it.
        wait_seconds: how long to wait for output or its end, at most 60; returns as soon as there is one of them.
    """
    background = shell.found(id)
    await background.wait(_seconds("wait_seconds", wait_seconds, 0, _LONGEST_WAIT_SECONDS))
    return News.of(background)


@tool(effect="external", approval=lambda arguments: bool(arguments["text"]), timeout_seconds=_WRITE_SECONDS + _SPARE_SECONDS)
async def write(shell: Shell, id: str, text: str, *, close: bool = False) -> Process:
    """Write text to the stdin of a background process.

    Args:
        id: as start gave it.
        text: written as it is; end a line with \\n.
        close: close its stdin afterwards, which tells it that nothing more comes.
    """
    background = shell.found(id)
    written: bool | None = None
    with anyio.move_on_after(_WRITE_SECONDS):
        written = await background.write(text.encode(errors="replace"))
    if written is None:
        said = f"process {id} did not read its stdin for {_WRITE_SECONDS:g} seconds; a part of the text may have been written"
        raise ToolProblem("stdin_full", said, hint="poll it to see what it waits for", data={"id": id})
    if not written:
        said = f"process {id} {'has ended' if background.ended else 'has closed its stdin'}"
        raise ToolProblem("stdin_closed", said, hint="poll it for its output", data={"id": id})
    if close:
        background.group.close_stdin()
    return Process.of(background)


@tool(effect="external", writes=["process:{id}"], shape="output", timeout_seconds=30.0 + _SPARE_SECONDS)
async def stop(shell: Shell, id: str, *, grace_seconds: float = 2.0) -> News:
    """Stop a background process and its children; give the rest of its output.

    Args:
        id: as start gave it.
        grace_seconds: time to end by itself after SIGTERM, at most 30, before SIGKILL.
    """
    background = shell.found(id)
    await background.stop(_seconds("grace_seconds", grace_seconds, 0, 30.0))
    return News.of(background)


@tool(effect="external", reads=["processes:all"], polled=True)
async def list_(shell: Shell) -> list[Process]:
    """List the background processes: those that run, and the last ones that ended."""
    return [Process.of(background) for background in shell.processes.values()]


def _seconds(name: str, asked: float | None, default: float, most: float) -> float:
    if asked is None:
        return default
    timeout = name == "timeout_seconds"
    if not (asked > 0 if timeout else asked >= 0) or asked > most:
        said = f"{name} is {asked:g}; it goes from {'above 0' if timeout else '0'} to {most:g}"
        hint = (
            "use tools.shell.start and poll for what takes longer"
            if timeout and asked > most
            else "leave it out for the usual time"
        )
        raise ToolProblem("bad_time", said, hint=hint, data={name: asked, "most": most})
    return asked


def _file_of(text: str) -> IO[bytes]:
    """As a file, a program may read it or not, at its own speed, and nobody has to feed it."""
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(text.encode(errors="replace"))
    file.seek(0)
    return file


def _reads_in(command: str | list[str], text: Fitted, exit_code: int) -> list[FileRead]:
    """A failure may have put messages between the lines, and a cut text lacks some."""
    return reads_of(command, text.text) if exit_code == 0 and text.handle is None else []


def _notice(ended: Ended, limit: float) -> str | None:
    if ended.timed_out:
        more = "" if limit >= LONGEST_SECONDS else f"give more timeout_seconds (at most {LONGEST_SECONDS:g}), or "
        return f"stopped after {limit:g} s; {more}use tools.shell.start and poll"
    if ended.left:
        return "processes that the command left running were stopped; start what must go on with tools.shell.start"
    return None


def _flood(shell: Shell, kept: Text, label: str) -> ToolProblem:
    handle = shell.host.results.keep(kept.text, label=label)
    return ToolProblem(
        "output_flood",
        f"the command printed more than {shell.settings.kept_bytes_max:,} bytes and was stopped",
        hint="send it to a file (command > /tmp/out.txt 2>&1) and read a part, or print less: | head -100, | grep …",
        data={
            "handle": handle,
            "most_bytes": shell.settings.kept_bytes_max,
            "head": kept.text[:500],
            "tail": kept.text[-500:],
        },
    )
