"""`turnscript replay` as it is typed, in this process."""

import re
from pathlib import Path

from typer.testing import CliRunner

from harness.cli import app


class Typed:
    """What was printed, times taken out, and the exit code."""

    def __init__(self, *arguments: str | Path) -> None:
        env = {"COLUMNS": "120", "TURNSCRIPT_STORE": "memory:"}
        done = CliRunner().invoke(app, ["replay", *map(str, arguments)], env=env)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        self.code, self.out, self.err = done.exit_code, _steady(done.stdout), done.stderr


def _steady(text: str) -> str:
    return re.sub(r"\d+ ms", "# ms", re.sub(r"in \d+\.\d+ s, \d+ sessions", "in # s, # sessions", text))
