"""Options that several verbs share: which tools are on offer, and where they work."""

from pathlib import Path
from typing import Annotated

import typer

Profile = Annotated[
    str | None,
    typer.Option(
        help="Which tools are on offer; `turnscript tools --profiles` lists them. Default: read-only.", show_default=False
    ),
]
Packs = Annotated[
    list[str] | None,
    typer.Option("--pack", help="A pack besides the profile's: a name, a dotted module, or a path such as ./my_pack.py."),
]
Root = Annotated[Path | None, typer.Option(help="The folder that tools work in. Default: this one.", show_default=False)]
