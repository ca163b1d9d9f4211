"""`turnscript check FILE|-`: judge a script and foretell its calls without running it."""

import json
from dataclasses import asdict, replace
from typing import Annotated

import anyio
import typer

from catalog import Offer
from harness.check import Checked, check_script
from harness.cli.fault import faults_as_one_line
from harness.cli.options import Packs, Profile
from harness.cli.run import EXIT_FAILED, read_source
from harness.config import Settings, read_settings
from harness.offers import offer_from
from sandbox import Pool, Start


@faults_as_one_line
def check(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The script; - reads it from standard input.")],
    profile: Profile = None,
    pack: Packs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print findings and calls as one JSON object.")] = False,
) -> None:
    """Check a script against the tools on offer, and list the calls it would make. Nothing runs.

    Exit code 0: nothing certain was found. 1: the script would not be started.

    Examples:

      turnscript check job.js

      turnscript check - --profile all --json < job.js
    """
    start = Start(source=read_source(file))
    settings = read_settings(profile=profile)
    pool = Pool(workers=1, limits=settings.limits).start_early()
    checked = anyio.run(_check, start, settings, pool, offer_from(settings.tools, more_packs=pack or ()))
    typer.echo(_as_json(checked) if as_json else _as_text(checked))
    if checked.certain:
        raise typer.Exit(EXIT_FAILED)


async def _check(start: Start, settings: Settings, pool: Pool, offer: Offer) -> Checked:
    async with pool, pool.sandbox() as box:
        return await check_script(box, replace(start, limits=settings.limits, tools=tuple(offer.tools)), offer)


def _as_text(checked: Checked) -> str:
    rows = [finding.text for finding in checked.certain]
    rows += [f"perhaps: {finding.text}" for finding in checked.doubtful]
    if checked.foreseen:
        count = len(checked.foreseen)
        rows.append(f"{count} call{'' if count == 1 else 's'} in the text:")
        rows += [f"  {call.text}" for call in checked.foreseen]
    else:
        rows.append("no calls of tools in the text")
    return "\n".join(rows)


def _as_json(checked: Checked) -> str:
    return json.dumps(asdict(checked), indent=2, ensure_ascii=False)
