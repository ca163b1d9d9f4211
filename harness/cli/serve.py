"""`turnscript serve mcp`: the tool layer for agents that speak MCP, on standard input and output or over HTTP.

On standard output there is nothing but the protocol: whatever else prints there, prints to standard error.
"""

import importlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import anyio
import typer

from harness.bridges import bridges_from
from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Packs, Profile, Root
from harness.cli.packs import offer_of_settings
from harness.config import Settings, read_settings
from harness.dispatch import attempted
from harness.harness import Harness
from harness.redaction import Redactor
from harness.telemetry_opening import telemetry_from
from harness.watching import nobody

serve = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Serve the tool layer to agents.")
_HTTP_OPTIONS = ("host", "port", "token", "origin")
_WORKERS_OF_HTTP = 4  # kept warm: many clients begin a script at once


@faults_as_one_line
def serve_mcp(
    http: Annotated[bool, typer.Option("--http", help="Over HTTP, for many clients; else on standard input and output.")] = False,
    host: Annotated[str | None, typer.Option(help="With --http: the address to listen on. Default: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="With --http: the port; 0 takes a free one. Default: 8765.")] = None,
    token: Annotated[
        str | None,
        typer.Option(help="With --http: what clients must show. Better set as TURNSCRIPT_SERVE_TOKEN. Default: one is made."),
    ] = None,
    origin: Annotated[
        list[str] | None, typer.Option(help="With --http: a page that may connect, such as https://app.example. Default: none.")
    ] = None,
    profile: Profile = None,
    pack: Packs = None,
    root: Root = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Tools that may run without asking, such as 'patch.*'; a client that can ask is asked for others."),
    ] = None,
    store: Annotated[str | None, typer.Option(help="Where sessions are kept: a folder, sqlite:FILE, postgresql://…")] = None,
    preset: Annotated[
        str | None, typer.Option(help="How the tool that runs scripts looks: run_script, codex, eval or code_mode.")
    ] = None,
    yield_seconds: Annotated[
        float | None, typer.Option(help="A script that takes longer goes on, and the model asks for the rest.")
    ] = None,
    client_roots: Annotated[
        bool, typer.Option("--client-roots", help="A client may name any folder to work in, and not only one below the root.")
    ] = False,
    limit: Annotated[
        list[str] | None, typer.Option(help="name=value, such as turn_seconds=60; `turnscript limits` lists them.")
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print what goes into a client's configuration, and serve nothing.")
    ] = False,
) -> None:
    """Serve scripts and tools over MCP, one session a client; every session is kept.

    Examples:

      turnscript serve mcp --root ~/project --print-config

      turnscript serve mcp --profile core-codex --root ~/project --allow 'patch.*'

      TURNSCRIPT_SERVE_TOKEN=… turnscript serve mcp --http --port 8765
    """
    given = {"host": host, "port": port, "token": token, "origins": tuple(origin) if origin else None}
    if not http and any(value is not None for value in given.values()):
        raise Fault(f"{', '.join(f'--{name}' for name in _HTTP_OPTIONS)} are for HTTP; add --http, or leave them out")
    settings = read_settings(
        flags=limit or (), profile=profile, root=root, allow=allow or (), store=store,
        given={"serve": given, "surface": {"preset": preset, "yield_seconds": yield_seconds}},
    )  # fmt: skip
    offer = offer_of_settings(settings, pack)
    if print_config:
        typer.echo(json.dumps(_client_config(settings, http=http), indent=2))
        return
    harness = Harness(
        bridges_from(settings), offer=offer, root=settings.tools.root, setup=settings.setup, store=settings.store,
        durability=settings.durability, workers=_WORKERS_OF_HTTP if http else 1,
    )  # fmt: skip
    serving = partial(_http, settings) if http else partial(_stdio, *_own_ends())
    anyio.run(_until_stopped, partial(_serve, harness, settings, client_roots, serving))


serve.command("mcp")(serve_mcp)


async def _serve(harness: Harness, settings: Settings, client_roots: bool, serving: Callable[[Any], Awaitable[None]]) -> None:
    module, setup = _adapter("mcp_server"), settings.setup
    watch, shutdown = telemetry_from(settings.telemetry, redactor=Redactor(setup.secrets, patterns=setup.secret_patterns))
    try:
        async with harness:
            await harness.ready()  # what this machine lacks is told now, and not to the first client
            await serving(module.McpServer(harness, surface=settings.surface, client_roots=client_roots, watch=watch or nobody))
    finally:
        await shutdown()


async def _stdio(read_from: int, write_to: int, server: Any) -> None:
    await _adapter("mcp_stdio").serve_stdio(server, read_from=read_from, write_to=write_to)


async def _http(settings: Settings, server: Any) -> None:
    async with anyio.create_task_group() as tasks:
        address = await tasks.start(partial(_adapter("mcp_http").serve_http, server, settings.serve))
        typer.echo(f"turnscript: serving MCP at {address.url}", err=True)
        if address.made:
            typer.echo(f"turnscript: the token of this start is {address.token}", err=True)


def _own_ends() -> tuple[int, int]:
    """Standard input and output for the protocol alone: what else reads finds nothing, what else writes writes to stderr."""
    ends = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return ends


async def _until_stopped(work: Callable[[], Awaitable[None]]) -> None:
    """A signal ends it in good order: sessions are closed. A second one does not wait for that."""
    ended: object = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_on_signal, tasks.cancel_scope)
        ended = await attempted(work)
        tasks.cancel_scope.cancel()
    while isinstance(ended, ExceptionGroup) and len(ended.exceptions) == 1:  # a task group around the one that matters
        ended = ended.exceptions[0]
    if isinstance(ended, Exception):
        raise ended


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return


def _adapter(name: str) -> ModuleType:
    """Loaded only when it is wanted: the SDK is an extra, and takes a while to import."""
    try:
        return importlib.import_module(f"harness.adapters.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("harness"):
            raise
        raise Fault("serving MCP needs: pip install 'turnscript[mcp]'") from None


def _client_config(settings: Settings, *, http: bool) -> dict[str, Any]:
    """What most clients take under mcpServers. Options stand as they were typed, the root as an absolute path."""
    if http:
        token = settings.serve.token or "TOKEN"
        url = f"http://{settings.serve.host}:{settings.serve.port}/mcp"
        entry: dict[str, Any] = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
    else:
        typed = _typed(str(settings.tools.root.absolute()))
        entry = {"command": _command(), "args": typed, "cwd": str(Path.cwd())}  # paths that were typed count from here
    return {"mcpServers": {"turnscript": entry}}


def _command() -> str:
    beside = Path(sys.executable).parent / "turnscript"
    return str(beside) if beside.exists() else "turnscript"


def _typed(root: str) -> list[str]:
    """The arguments of this command without --print-config, and with a root that holds wherever the client starts it."""
    words = sys.argv[sys.argv.index("serve") :] if "serve" in sys.argv else ["serve", "mcp"]
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word == "--print-config" or word.startswith("--root="):
            skip = False
            continue
        skip = word == "--root"
        if not skip:
            kept.append(word)
    return [*kept, "--root", root]
