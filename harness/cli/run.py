"""`turnscript run FILE|-`: one script, end to end. Shown values and the result go to stdout, the rest to stderr."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from time import time
from typing import Annotated, Any, cast

import anyio
import typer

from catalog import Host, Offer, open_toolbox
from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Packs, Profile, Root
from harness.config import Settings, read_settings
from harness.dispatch import allowed
from harness.offers import offer_from
from harness.turn import Outcome, run_turn
from sandbox import Exceeded, Finished, Pool, Printed, Shown, Start
from sandbox.pool import Isolation

EXIT_FAILED, EXIT_EXCEEDED = 1, 3
ONE_LINE = 100  # a value that fits is printed on one line


@faults_as_one_line
def run(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The script; - reads it from standard input.")],
    profile: Profile = None,
    pack: Packs = None,
    root: Root = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="Tools that may run without asking, such as 'patch.*'; others that ask are denied.")
    ] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="name=value, such as engine_seconds=2; `turnscript limits` lists them.")
    ] = None,
    context: Annotated[str, typer.Option(help="JSON object that the script reads as `context`.")] = "{}",
    seed: Annotated[int, typer.Option(help="What Math.random starts from: the same seed, the same numbers.")] = 0,
    now: Annotated[
        float | None, typer.Option(help="What Date.now() says at the start, in milliseconds; default: the time.")
    ] = None,
    isolation: Annotated[str, typer.Option(help="locked (refuse unless locked down), process, or in_process.")] = "locked",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with everything that happened.")] = False,
) -> None:
    """Run one script and print what it shows and returns.

    Examples:

      echo '1 + 1' | turnscript run -

      turnscript run job.js --profile core-codex --allow 'patch.*' --root ~/project

      turnscript run job.js --limit engine_seconds=2 --json
    """
    start = Start(source=read_source(file), context=_object(context), now=time() * 1000 if now is None else now, seed=seed)
    settings = read_settings(flags=limit or (), profile=profile, root=root, allow=allow or ())
    if isolation not in ("locked", "process", "in_process"):
        raise Fault(f"--isolation {isolation}: choose locked, process or in_process")
    pool = Pool(workers=1, isolation=cast(Isolation, isolation), limits=settings.limits).start_early()
    outcome = anyio.run(_run, start, settings, pool, offer_from(settings.tools, more_packs=pack or ()))
    _print_json(outcome) if as_json else _print(outcome)
    if not outcome.ok:
        raise typer.Exit(EXIT_EXCEEDED if isinstance(outcome.ending, Exceeded) else EXIT_FAILED)


async def _run(start: Start, settings: Settings, pool: Pool, offer: Offer) -> Outcome:
    host = Host(root=settings.tools.root, environment=settings.environment)
    async with open_toolbox(offer, host=host, settings=settings.tools.packs) as toolbox, pool, pool.sandbox() as box:
        return await run_turn(
            box,
            replace(start, tools=tuple(toolbox.tools), limits=settings.limits),
            toolbox,
            approve=allowed(settings.tools.allow),
            turn_seconds=settings.turn_seconds,
            calls_at_once=settings.calls_at_once,
            call_seconds=settings.call_seconds,
        )


def read_source(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}; give the path of a script, or - for standard input") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"{file}: not UTF-8 at byte {error.start}; save the script as UTF-8") from None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Fault(f"--context: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Fault('--context: give a JSON object, such as \'{"user": "ada"}\'')
    return value


def _print(outcome: Outcome) -> None:
    for event in outcome.events:
        if isinstance(event, Printed):
            typer.echo(f"{event.level}: {_visible(event.text)}", err=True)
        elif isinstance(event, Shown):
            typer.echo(_plain(event.value))
    if isinstance(outcome.ending, Finished):
        if outcome.ending.value is not None:
            typer.echo(_plain(outcome.ending.value))
    else:
        typer.echo(_visible(outcome.ending.error.text), err=True)
    for notice in outcome.notices:
        typer.echo(f"notice: {_visible(notice)}", err=True)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return _visible(value)
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= ONE_LINE else json.dumps(value, indent=2, ensure_ascii=False)


def _visible(text: str) -> str:
    """No terminal control gets through: escape sequences and bidirectional marks are shown as what they are."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _print_json(outcome: Outcome) -> None:
    rows = [{"event": type(event).__name__.lower(), **asdict(event)} for event in outcome.events]
    report = {
        "ok": outcome.ok,
        "value": outcome.value,
        "events": rows,
        "notices": outcome.notices,
        "layers": [list(x) for x in outcome.layers],
    }
    if outcome.error is not None:
        report["error"] = outcome.error.text
    typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
