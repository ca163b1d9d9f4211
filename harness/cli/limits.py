"""`turnscript limits`: the one table of limits, from where they are defined."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from harness.cli.fault import faults_as_one_line
from harness.limits import ShownLimits, TurnLimits
from sandbox.limits import Limits, table


def rows() -> list[tuple[str, str, str]]:
    return [row for record in (Limits, TurnLimits, ShownLimits) for row in table(record)]


@faults_as_one_line
def limits(as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False) -> None:
    """List every limit with its default and the reason for the number.

    Set one with --limit name=value, with TURNSCRIPT_LIMIT_NAME, or under [limits] in turnscript.toml.

    Examples:

      turnscript limits

      turnscript limits --json
    """
    if as_json:
        typer.echo(json.dumps([{"name": name, "default": default, "why": why} for name, default, why in rows()], indent=2))
        return
    drawn = Table("limit", "default", "why")
    for row in rows():
        drawn.add_row(*row)
    Console().print(drawn)
