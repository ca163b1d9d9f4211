"""`turnscript doctor`: what this machine gives the sandbox, layer by layer."""

import json
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.table import Table

from harness.checkup import Checkup, examine
from harness.cli.fault import EXIT_NO_SANDBOX, faults_as_one_line

_STYLES = {"on": "green", "off": "red", "unavailable": "yellow"}


@faults_as_one_line
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Start the sandbox for real and report every layer of the lock-down as on, off or unavailable.

    Exits with 4 when the sandbox would refuse to start here.

    Examples:

      turnscript doctor

      turnscript doctor --json
    """
    found = anyio.run(examine)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    else:
        _print(found)
    if not found.sound:
        raise typer.Exit(EXIT_NO_SANDBOX)


def _print(found: Checkup) -> None:
    console = Console()
    drawn = Table("layer", "state", "what it does, or why it is not on")
    for name, state, reason in found.layers:
        drawn.add_row(name, f"[{_STYLES.get(state, 'white')}]{state}[/]", reason)
    console.print(drawn)
    for line in found.lines:
        console.print(line, highlight=False)
