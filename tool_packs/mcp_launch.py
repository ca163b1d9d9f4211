"""The program of a server: found on PATH, or beside the Python that runs this, where `pip install` puts it."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from catalog import ToolProblem
from tool_packs.launch import Launch

_ELSE = "install it, or give its full path"


def launch_of(
    command: Sequence[str], cwd: str, environment: Mapping[str, str], *, beside: Path = Path(sys.executable).parent
) -> Launch:
    """ToolProblem when there is no such program."""
    name, *arguments = command
    try:
        return Launch(tuple(command), cwd, environment)
    except ToolProblem as problem:
        if problem.code != "command_not_found" or "/" in name:
            raise
        found = shutil.which(name, path=str(beside))
        if found is not None:
            return Launch((found, *arguments), cwd, environment)
        raise ToolProblem(
            problem.code, f"{problem.message}, or in {beside}", hint=_hint(name, problem.data["near"]), data=problem.data
        ) from None


def _hint(name: str, near: Sequence[str]) -> str:
    if " " in name:
        return f"write the program and its arguments apart: {name.split()}"
    return f"did you mean {' or '.join(near)}? Else {_ELSE}" if near else _ELSE
