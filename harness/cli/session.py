"""`turnscript session …`: what is on record. One thin file a verb or two; the work is done in `harness/`."""

import typer

from harness.cli.session_export import export
from harness.cli.session_format import session_format
from harness.cli.session_import import import_sessions
from harness.cli.session_list import list_sessions, search
from harness.cli.session_migrate import migrate_sessions
from harness.cli.session_prune import prune_sessions
from harness.cli.session_show import show
from harness.cli.session_verify import verify_sessions

session = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
session.command("list")(list_sessions)
session.command()(show)
session.command()(search)
session.command()(export)
session.command("import")(import_sessions)
session.command("migrate")(migrate_sessions)
session.command("verify")(verify_sessions)
session.command("prune")(prune_sessions)
session.command("format")(session_format)


@session.callback()
def sessions() -> None:
    """Look at recorded sessions, move them, check them, take them in and out.

    Examples:

      turnscript session list --since 2d

      turnscript session show last
    """
