"""`turnscript init`: a turnscript.toml with every setting, its default and what it is for, all commented out."""

from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.session_options import AsJson, print_json
from harness.config import FILE
from harness.limits import ShownLimits, TurnLimits
from sandbox import Limits

_TEMPLATE = "turnscript.toml.txt"
_RECORDS = (Limits, TurnLimits, ShownLimits)


@faults_as_one_line
def init(
    folder: Annotated[Path, typer.Option(help="Where it goes. Default: this folder.", show_default=False)] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace one that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a turnscript.toml that explains itself: every setting with its default, commented out.

    Nothing changes until a line is uncommented. One that is there already stays, unless --force is given.

    Examples:

      turnscript init

      turnscript init --folder ~/project --force
    """
    path = folder / FILE
    if path.exists() and not force:
        raise Fault(f"{path} is there already; give --force to replace it")
    if not folder.is_dir():
        raise Fault(f"there is no folder {folder}; make it first")
    path.write_text(settings_text(), encoding="utf-8")
    if as_json:
        print_json({"file": str(path)})
    else:
        typer.echo(f"wrote {path}; uncomment what you want to change, then look: turnscript tools")


def settings_text() -> str:
    """Settings begin with #, words with # and a space. The limits come from where they are defined."""
    template = (files("harness.cli") / "templates" / _TEMPLATE).read_text(encoding="utf-8")
    return Template(template).substitute(limits="\n".join(_limit_lines()))


def _limit_lines() -> list[str]:
    rows = [
        (f"#{item.name} = {item.default:_}", f"{item.metadata['unit']}: {item.metadata['why']}")
        for record in _RECORDS
        for item in fields(record)
    ]
    width = max(len(setting) for setting, _ in rows)
    return [f"{setting:<{width}}  # {why}" for setting, why in rows]
