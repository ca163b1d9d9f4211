"""`turnscript limits`: the one table of limits, from where they are defined."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from harness.dispatch import CALL_SECONDS
from harness.turn import CALLS_AT_ONCE, TURN_SECONDS
from sandbox.limits import table

_TURN = [
    (
        "turn_seconds",
        f"{TURN_SECONDS:,} seconds",
        "wall time of a turn, tools included: long builds fit, an agent is never held for ever",
    ),
    ("call_seconds", f"{CALL_SECONDS:,} seconds", "one tool call, unless the tool declares its own"),
    ("calls_at_once", f"{CALLS_AT_ONCE:,} calls", "the rest queue in order, so that Promise.all over 100 files just works"),
]


def rows() -> list[tuple[str, str, str]]:
    return [*table(), *_TURN]


def limits(as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False) -> None:
    """List every limit with its default and the reason for the number.

    Set one with --limit name=value, with TURNSCRIPT_LIMIT_NAME, or under [limits] in turnscript.toml.
    """
    if as_json:
        typer.echo(json.dumps([{"name": name, "default": default, "why": why} for name, default, why in rows()], indent=2))
        return
    drawn = Table("limit", "default", "why")
    for row in rows():
        drawn.add_row(*row)
    Console().print(drawn)
