"""Real sessions of five agents, from files beside the repository: `TURNSCRIPT_DATA`, else `../shared/data`. Absent, tests skip."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.entries import Item, Opened
from harness.rollouts import FORMATS, readings
from harness.rollouts.exporting import export_rollout
from harness.rollouts.importing import detect_format, read_rollout

ROOT = Path(os.environ.get("TURNSCRIPT_DATA") or Path(__file__).parents[4] / "shared" / "data") / "sessions"
FILES = sorted(path for path in ROOT.glob("*/*") if path.is_file())
NAMES = {"claude_code": "claude"}


def values(path: Path) -> Iterator[Any]:
    """Read with the standard library: all JSON values, whatever stands between them."""
    text, decoder, at = path.read_text(), json.JSONDecoder(), 0
    while found := re.compile(r"\S").search(text, at):
        value, at = decoder.raw_decode(text, found.start())
        yield value


@pytest.mark.skipif(not FILES, reason="no sessions beside the repository")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name[:24]}")
def test_a_real_session_is_recognised_understood_and_comes_out_equal(path: Path) -> None:
    format = NAMES.get(path.parent.name, path.parent.name)
    assert detect_format(path) == format
    entries = list(read_rollout(path))
    items = [entry for entry in entries if isinstance(entry, Item)]
    assert [item.kind for item in items if not FORMATS[format].known(item.kind)] == []
    roles = Counter(one.role for item in items for one in readings(item))
    assert roles["user"] and roles["call"] and roles["assistant"]
    # Calls that were aborted or answered by a reminder have no output; an error of OpenHands has no call.
    assert abs(roles["call"] - roles["output"]) <= 20
    assert items[-1].turn >= 1
    sessions = [entry.session for entry in entries if isinstance(entry, Opened)]
    exported = [
        json.loads(line) for session in sessions for line in export_rollout(one for one in entries if one.session == session)
    ]
    assert exported == list(values(path))
