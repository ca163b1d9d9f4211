"""The group of verbs: what the parser of options has to say of wrong use is one line too, with the command to type next."""

import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from harness.cli.fault import EXIT_USE
from harness.visible import visible

# typer brings its own copy of click, or imports click, as its version has it: the class is found by way of what typer exports.
_Misuse: Final[type[Any]] = typer.BadParameter.__mro__[1]


class Verbs(TyperGroup):
    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _Misuse as error:
            if not standalone_mode:
                raise
            _refuse(error)
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


def _refuse(error: Any) -> NoReturn:
    said = str(error.format_message()).strip()
    if "\n" in said:  # no verb was given: it is the whole help
        error.show()
        sys.exit(EXIT_USE)
    command = error.ctx.command_path if error.ctx is not None else "turnscript"
    told = visible(said[:1].lower() + said[1:]).rstrip(".")
    typer.echo(f"turnscript: {told}{'' if told.endswith('?') else ';'} type: {command} --help", err=True)
    sys.exit(EXIT_USE)
