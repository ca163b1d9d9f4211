"""`turnscript session verify`: is a session as it was written?"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import anyio
import typer

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.session_options import AsJson, Place, StoreAddress, counted, print_json, warn_of
from harness.session_ids import session_named
from harness.verifying import Verdict, verify
from harness.visible import visible

EXIT_BROKEN = 1
_STEP = "put a whole copy in its place, or remove it: turnscript session prune --session {} --apply"


@faults_as_one_line
def verify_sessions(
    session: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Sessions: ids, beginnings of ids, or `last`.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every session of the store.")] = False,
    head: Annotated[
        str, typer.Option(metavar="DIGEST", help="A digest that verify printed before: shows a cut end too.", show_default=False)
    ] = "",
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """Compute the chain of digests anew, read every big value, and name the first line that is not as it was written.

    Prints the digest of the newest line of each good session: keep it elsewhere, and --head shows later whether lines were cut
    off the end or all were written anew. Exit code 1: something is broken.

    Examples:

      turnscript session verify last

      turnscript session verify --all --json
    """
    told = session or []
    if bool(told) == every:
        raise Fault("name sessions, or give --all; `turnscript session list` names them")
    if head and len(told) != 1:
        raise Fault("--head is the digest of one session; name that one")
    verdicts = anyio.run(_verdicts, told, head.lower(), Place.of(store))
    if as_json:
        print_json([{**asdict(one), "good": one.good} for one in verdicts])
    else:
        for one in verdicts:
            typer.echo(_text(one, head))
    if not all(one.good for one in verdicts):
        raise typer.Exit(EXIT_BROKEN)


async def _verdicts(told: Sequence[str], head: str, place: Place) -> list[Verdict]:
    async with place.opened() as store:
        wanted = [await session_named(store, one) for one in told] or [row.session for row in await store.sessions()]
        warn_of(store)
        try:
            return [await verify(store, one, head=head) for one in wanted]
        except ValueError as error:
            raise Fault(f"--head: {error}") from None


def _text(verdict: Verdict, head: str) -> str:
    if verdict.good:
        values = f", {counted(verdict.values, 'big value')}" if verdict.values else ""
        since = f"\n  line {verdict.kept:,} has the digest that was kept" if head else ""
        return f"good    {verdict.session}  {verdict.lines:,} lines{values}, head {verdict.head}{since}"
    turn = f" of turn {verdict.turn}" if verdict.turn else ""
    rest = f"{verdict.lines:,} lines before it are good" if verdict.lines else "no line before it"
    rest += f"; {_STEP.format(verdict.session)}"
    return f"broken  {verdict.session}  at line {verdict.line}{turn}: {visible(verdict.broken)}\n  {rest}"
