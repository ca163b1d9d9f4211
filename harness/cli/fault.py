"""Errors of use as one line with the next step, and an exit code; never a traceback."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from catalog import BadPack, ToolProblem
from harness.cli.stopping import stoppable
from harness.cli.streams import stand_ready
from harness.setup import BadConfig
from harness.store import StoreError
from harness.store.lines import BadLine
from harness.visible import visible
from sandbox import Unavailable

EXIT_USE, EXIT_NO_SANDBOX, EXIT_INTERRUPTED, EXIT_TERMINATED = 2, 4, 130, 143  # the last as shells count: 128 and the signal
P = ParamSpec("P")


class Fault(Exception):
    pass


def faults_as_one_line(verb: Callable[P, None]) -> Callable[P, None]:
    @wraps(verb)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        stand_ready()
        with stoppable() as stopped:
            try:
                verb(*args, **kwargs)
                sys.stdout.flush()  # where a reader went away, that is found here and not at the very end
            except (Fault, BadConfig, BadPack, ToolProblem, StoreError, BadLine) as error:
                raise _exit(str(error), EXIT_USE) from None
            except Unavailable as error:
                raise _exit(str(error), EXIT_NO_SANDBOX) from None
            except BrokenPipeError:  # of `| head`: nothing is wrong
                raise
            except OSError as error:
                raise _exit(str(error), EXIT_USE) from None
            except KeyboardInterrupt as error:  # it may carry what to type next
                word = "terminated" if stopped.terminated else "interrupted"
                code = EXIT_TERMINATED if stopped.terminated else EXIT_INTERRUPTED
                raise _exit(f"{word}; {error}" if str(error) else word, code) from None

    return guarded


def _exit(text: str, code: int) -> typer.Exit:
    typer.echo(f"turnscript: {visible(text)}", err=True)  # it may quote a file that somebody else wrote
    return typer.Exit(code)
