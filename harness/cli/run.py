"""`turnscript run FILE|- …`: scripts, end to end, each a turn of one session.

What the model would see goes to stdout, errors and notices to stderr.
"""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import Annotated, Any, cast
from uuid import uuid4

import anyio
import typer
from rich.console import Console
from rich.table import Table

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Packs, Profile, Root
from harness.cli.packs import offer_of_settings
from harness.cli.running import Asked, Done, run_session
from harness.cli.session_options import Place
from harness.config import read_settings
from harness.detect import Detected, detect
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.problems import may_retry
from harness.recording import Missing
from harness.redaction import Redactor
from harness.session_ids import session_named
from harness.store import StoreError
from harness.telemetry_opening import Shutdown, telemetry_from
from harness.visible import visible
from sandbox import Exceeded, Finished, Pool, Printed, Shown, Start
from sandbox.pool import Isolation

EXIT_FAILED, EXIT_EXCEEDED = 1, 3
ONE_LINE = 100  # a value that fits is printed on one line
ID_CHARS = 8  # of a session's id, in commands to type


@faults_as_one_line
def run(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE|- …", help="Scripts, each a turn of one session; - is standard input.")
    ] = None,
    profile: Profile = None,
    pack: Packs = None,
    root: Root = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Tools that may run without asking, such as 'patch.*'; a terminal is asked for others."),
    ] = None,
    mode: Annotated[str | None, typer.Option(help="enabled; dry-run: only what reads runs; disabled: nothing runs.")] = None,
    reply: Annotated[
        bool, typer.Option("--reply", help="The files are replies: run the script between <tool-calls> tags.")
    ] = False,
    shown: Annotated[
        str | None, typer.Option(help="usual, or tight: more room for lines of files, less for everything else.")
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
    cache: Annotated[Path | None, typer.Option(help="A folder for results that later sessions may use.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Serve no result twice.")] = False,
    no_overlap_trim: Annotated[bool, typer.Option("--no-overlap-trim", help="Show lines again that are in view.")] = False,
    no_build_tail: Annotated[bool, typer.Option("--no-build-tail", help="Treat builds and tests as any output.")] = False,
    no_two_pass: Annotated[bool, typer.Option("--no-two-pass", help="Ask for no plan, whatever the configuration says.")] = False,
    plan_reads: Annotated[bool | None, typer.Option("--plan-reads", help="A script that reads files must follow a plan.")] = None,
    relax: Annotated[str | None, typer.Option(help="Let the first turn show more; the reason goes on record.")] = None,
    view_turns: Annotated[
        int | None, typer.Option(min=1, help="So many turns stay in the model's view; older ones are forgotten.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Calls that do not go well: 'files.read fails twice', 'shell.* times out'."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Where the session is kept: a folder, sqlite:FILE, postgresql://…"),
    ] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="Keep nothing of this session.")] = False,
    session: Annotated[str | None, typer.Option(help="The id of the new session. Default: a random one.")] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID|last", help="Go on with this session instead of a new one.")] = None,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="With --resume: first finish the turn that a crash cut off; what ran is not run again."),
    ] = False,
    unsure: Annotated[
        str, typer.Option(help="With --continue: calls that were acting when it crashed are refused (refuse) or run again (run).")
    ] = "refuse",
    model: Annotated[str, typer.Option(help="The model that wrote the scripts, for the record.")] = "",
    label: Annotated[list[str] | None, typer.Option(help="name=value for the record, such as task=1234.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Print values whole instead of as the model would see them.")] = False,
    ledger: Annotated[bool, typer.Option("--ledger", help="Print what it cost, as a table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with everything that happened.")] = False,
) -> None:
    """Run scripts and print what the model would see of them.

    Examples:

      echo '1 + 1' | turnscript run -

      turnscript run look.js change.js --profile core-codex --allow 'patch.*' --root ~/project --ledger

      turnscript run job.js --mode dry-run

      turnscript run --resume last --continue next.js
    """
    off = {"cache": no_cache, "overlap_trim": no_overlap_trim, "build_tail": no_build_tail, "two_pass": no_two_pass}
    settings = read_settings(
        flags=limit or (), profile=profile, root=root, allow=allow or (), mode=mode, cache=cache, shown=shown,
        plan_reads=plan_reads, store=store, faults=fault or (),
        off=[name for name, is_off in off.items() if is_off],
    )  # fmt: skip
    if relax is not None and not relax.strip():
        raise Fault("--relax needs a reason, which goes on record")
    if isolation not in ("locked", "process", "in_process"):
        raise Fault(f"--isolation {isolation}: choose locked, process or in_process")
    files = files or []
    _check_session_options(files, store=store, no_record=no_record, session=session, resume=resume, go_on=go_on, unsure=unsure)
    sources = [_script(file) if reply else read_source(file) for file in files]
    pool = Pool(workers=1, isolation=cast(Isolation, isolation), limits=settings.limits).start_early()
    start = Start(
        source="", context=_object(context), now=time() * 1000 if now is None else now, seed=seed, limits=settings.limits
    )
    redactor = Redactor(settings.setup.secrets, patterns=settings.setup.secret_patterns)
    watch, shutdown = telemetry_from(settings.telemetry, redactor=redactor)
    asked = Asked(
        sources=sources, start=start, settings=settings, offer=offer_of_settings(settings, pack), relax=relax,
        view_turns=view_turns, recorded=not no_record, store=store or "", resume=resume,
        session=session if resume is not None else session or uuid4().hex,
        root_given=root is not None, go_on=go_on,
        unsure=cast(Missing, unsure), model=model, labels=_labels(label or ()), watch=watch,
    )  # fmt: skip
    try:
        done = anyio.run(_run, asked, pool, shutdown)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(asked)) from None
    outcomes, sums = done.outcomes, done.ledger
    if done.session and sys.stderr.isatty():
        typer.echo(f"session {done.session}: turnscript session show {done.session[:ID_CHARS]}", err=True)
    if as_json:
        _print_json(done, redactor)
    else:
        names = [*(["continued"] if go_on else []), *files]
        for name, outcome in zip(names, outcomes, strict=True):
            if len(names) > 1:
                typer.echo(f"── turn {outcome.number}: {name}", err=True)
            _print_whole(outcome, redactor) if whole else _print(outcome)
        if ledger:
            _print_ledger(sums)
    worst = next((outcome for outcome in outcomes if not outcome.ok), None)
    if worst is not None:
        raise typer.Exit(EXIT_EXCEEDED if isinstance(worst.ending, Exceeded) else EXIT_FAILED)


async def _run(asked: Asked, pool: Pool, shutdown: Shutdown) -> Done:
    try:
        return await run_session(asked, pool)
    finally:
        if left := await shutdown():
            typer.echo(f"notice: {left}", err=True)


def _how_to_go_on(asked: Asked) -> str:
    """After an interruption; "" where nothing is kept, or not yet."""
    if not asked.recorded:
        return ""
    settings = asked.settings
    try:
        name = anyio.run(_kept, Place(settings.store, settings.durability, typed=False), asked.resume or asked.session or "")
    except (StoreError, Fault):
        return ""
    where = f" --store {shlex.quote(asked.store)}" if asked.store else ""
    short = name[:ID_CHARS]
    return f"what ran is kept: turnscript session show {short}{where}; go on: turnscript run --resume {short}{where} FILE"


async def _kept(place: Place, told: str) -> str:
    async with place.opened() as store:
        return await session_named(store, told)


def _check_session_options(
    files: list[str], *, store: str | None, no_record: bool, session: str | None, resume: str | None, go_on: bool, unsure: str
) -> None:
    if not files and not go_on:
        raise Fault("give the file of a script, or - for standard input; --resume ID --continue finishes an interrupted turn")
    if no_record and (store or session or resume):
        raise Fault("--no-record keeps nothing, so --store, --session and --resume have no place beside it; leave it out")
    if session and resume:
        raise Fault("--session names a new session, --resume one that is kept; give one of them")
    if go_on and resume is None:
        raise Fault("--continue needs the session: --resume ID, or --resume last")
    if unsure not in ("refuse", "run"):
        raise Fault(f"--unsure {unsure}: choose refuse or run")


def _labels(told: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in told:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise Fault(f"--label {one}: write name=value, such as --label task=1234")
        found[name] = value
    return found


def read_source(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}; give the path of a script, or - for standard input") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"{file}: not UTF-8 at byte {error.start}; save the script as UTF-8") from None


def _script(file: str) -> str:
    found = detect(read_source(file))
    if isinstance(found, Detected):
        return found.script
    if found is None:
        raise Fault(f"{file}: there is no <tool-calls> block; without --reply the whole file is the script")
    raise Fault(f"{file}: {found.code}: {found.message}; {found.hint}")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Fault(f"--context: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Fault('--context: give a JSON object, such as \'{"user": "ada"}\'')
    return value


def _print(outcome: TurnOutcome) -> None:
    """As the model sees it; what it is told besides goes to stderr."""
    for item in outcome.items:
        typer.echo(item.lines, err=item.kind == "error")
    if not outcome.items and outcome.error is not None:
        typer.echo(visible(outcome.error.text), err=True)
    for notice in outcome.notices:
        typer.echo(f"notice: {notice}", err=True)


def _print_whole(outcome: TurnOutcome, redactor: Redactor) -> None:
    """Values as they are, but for secrets."""
    for event in outcome.events:
        if isinstance(event, Printed):
            typer.echo(f"{event.level}: {visible(redactor.text(event.text).text)}", err=True)
        elif isinstance(event, Shown):
            typer.echo(_plain(redactor.value(event.value)[0]))
    if isinstance(outcome.ending, Finished):
        if outcome.ending.value is not None:
            typer.echo(_plain(redactor.value(outcome.ending.value)[0]))
    else:
        typer.echo(visible(redactor.text(outcome.ending.error.text).text), err=True)
    for notice in outcome.notices:
        typer.echo(f"notice: {notice}", err=True)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return visible(value)
    short = json.dumps(value, ensure_ascii=False)
    return visible(short if len(short) <= ONE_LINE else json.dumps(value, indent=2, ensure_ascii=False))


def _print_ledger(sums: Ledger) -> None:
    drawn = Table("ledger", "", title=None)
    for what, how_much in sums.rows():
        drawn.add_row(what, how_much)
    Console().print(drawn)


def _print_json(done: Done, redactor: Redactor) -> None:
    rows = [_as_json(outcome) for outcome in done.outcomes]
    report = rows[0] if len(rows) == 1 else {"ok": all(outcome.ok for outcome in done.outcomes), "turns": rows}
    report |= {"ledger": done.ledger.as_json(), "session": done.session or None}
    freed, _ = redactor.value(json.loads(json.dumps(report)))
    typer.echo(json.dumps(freed, indent=2, ensure_ascii=False))


def _as_json(outcome: TurnOutcome) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ok": outcome.ok,
        "text": outcome.text,
        "value": outcome.value,
        "events": [{"event": type(event).__name__.lower(), **asdict(event)} for event in outcome.events],
        "calls": [
            {
                "number": record.number, "tool": record.tool, "line": record.line, "status": record.outcome.status,
                "by": record.outcome.by, "source": record.outcome.source, "of": record.outcome.of, "bytes": record.outcome.size,
                "seconds": record.seconds, "code": record.outcome.problem.code if record.outcome.problem else None,
                "try_again": may_retry(record.outcome.problem.code) if record.outcome.problem else None,
            }
            for record in outcome.calls
        ],
        "decisions": [asdict(decision) for decision in outcome.decisions],
        "notices": list(outcome.notices),
        "layers": [list(layer) for layer in outcome.layers],
    }  # fmt: skip
    if outcome.error is not None:
        told["error"] = outcome.error.text
    return told
