"""What the plugin tells: how a red test reads, what is said below it, and the marks that its parts leave for each other."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from harness.replay.batch import WRONG
from harness.replay.differences import Difference
from harness.visible import visible

UNVERIFIED: Final = "turnscript_unverified"
REMARK: Final = "turnscript_remark"
PASSED: Final = pytest.StashKey[bool]()
FAILED_TURNS: Final = pytest.StashKey[list[tuple[int, str]]]()  # turns that failed, with what they showed


class Differs(Exception):
    """A recording, or the session of a test, is not as it was."""


def text_of(differences: Iterable[Difference], *, nodeid: str) -> str:
    return "\n".join([*(visible(one.text) for one in differences), f"record again: {command(nodeid, 'all')}"])


def command(nodeid: str, mode: str) -> str:
    quoted = shlex.quote(nodeid) if "'" in nodeid else f"'{nodeid}'"
    return f"pytest {quoted} --turnscript-record={mode}"


def below(text: str, folder: Path) -> str:
    """With paths as seen from this folder."""
    return text.replace(f"{folder}/", "") if folder.parent != folder else text


def failed(error: BaseException, folder: Path) -> BaseException:
    """What a person can mend is told without a traceback."""
    if not isinstance(error, (Differs, *WRONG)):
        return error
    return pytest.fail.Exception(visible(below(str(error), folder)), pytrace=False)
