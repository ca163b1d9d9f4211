"""The web conveniences answer as Node does: every row of `web_cases.json` is a script and the value it returns.

The expected values were produced by Node 20. A row with a "note" is one where we follow the standard, or help the
reader of an error, and Node 20 does otherwise; the note says how.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Finished, Machine, Start

CASES = json.loads((Path(__file__).parent / "web_cases.json").read_text(encoding="utf-8"))


def value_of(script: str) -> Any:
    """What a script returns; any other ending is shown whole."""
    ending = Machine().send(Start(source=script))[-1]
    assert isinstance(ending, Finished), ending
    return ending.value


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_script_returns_what_the_table_says(case: dict[str, Any]) -> None:
    assert value_of(case["script"]) == case["expected"]
