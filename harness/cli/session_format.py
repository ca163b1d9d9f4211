"""`turnscript session format`: the JSON Schema of sessions, for tools in other languages."""

import json
from typing import Annotated

import typer

from harness.cli.fault import faults_as_one_line
from harness.store.format import entry_schema, line_schema


@faults_as_one_line
def session_format(
    entry: Annotated[
        bool, typer.Option("--entry", help="The schema of an entry, with its values in place, instead of that of a line.")
    ] = False,
) -> None:
    """Print the JSON Schema of a line of a session, or of an entry.

    Examples:

      turnscript session format > line.schema.json

      turnscript session format --entry > entry.schema.json
    """
    typer.echo(json.dumps(entry_schema() if entry else line_schema(), indent=2))
