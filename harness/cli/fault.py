"""Errors of use as one line with the next step, and an exit code; never a traceback."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from catalog import BadPack, ToolProblem
from harness.setup import BadConfig
from harness.store import StoreError
from harness.store.lines import BadLine
from harness.visible import visible
from sandbox import Unavailable

EXIT_USE, EXIT_NO_SANDBOX, EXIT_INTERRUPTED = 2, 4, 130
P = ParamSpec("P")


class Fault(Exception):
    pass


def faults_as_one_line(verb: Callable[P, None]) -> Callable[P, None]:
    @wraps(verb)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            verb(*args, **kwargs)
        except (Fault, BadConfig, BadPack, ToolProblem, StoreError, BadLine) as error:
            raise _exit(str(error), EXIT_USE) from None
        except Unavailable as error:
            raise _exit(str(error), EXIT_NO_SANDBOX) from None
        except BrokenPipeError:  # of `| head`: nothing is wrong
            raise
        except OSError as error:
            raise _exit(str(error), EXIT_USE) from None
        except KeyboardInterrupt:
            raise _exit("interrupted", EXIT_INTERRUPTED) from None

    return guarded


def _exit(text: str, code: int) -> typer.Exit:
    typer.echo(f"turnscript: {visible(text)}", err=True)  # it may quote a file that somebody else wrote
    return typer.Exit(code)
