"""The command `turnscript`: one thin file a verb. Only this folder prints.

Exit codes: 0 done, or a server stopped by a signal, 1 the script failed, or what was to be found or verified is not there or
not so, 2 wrong use or bad input, 3 a limit ended the script, 4 no sandbox can be had, 130 interrupted, 143 terminated.
"""

from importlib.metadata import version
from typing import Annotated

import typer

from harness.cli.chat import chat
from harness.cli.check import check
from harness.cli.doctor import doctor
from harness.cli.init import init
from harness.cli.limits import limits
from harness.cli.new_pack import new_pack
from harness.cli.replay import replay
from harness.cli.run import run
from harness.cli.serve import serve
from harness.cli.session import session
from harness.cli.tools import tools
from harness.cli.verbs import Verbs

app = typer.Typer(
    cls=Verbs, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None
)  # fmt: skip
app.command()(init)
app.command()(run)
app.command()(chat)
app.command()(check)
app.command()(tools)
app.command("new-pack")(new_pack)
app.command()(doctor)
app.command()(limits)
app.command()(replay)
app.add_typer(session, name="session")
app.add_typer(serve, name="serve")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnscript {version('turnscript')}")
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """A tool layer for LLM agents: one JavaScript script a turn, in a locked-down sandbox.

    Examples:

      turnscript init

      echo '1 + 1' | turnscript run -

      turnscript session show last
    """
