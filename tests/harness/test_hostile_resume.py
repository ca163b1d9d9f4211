"""Sessions that were tampered with, or forged: what resuming refuses, and that nothing is written to them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import Harness
from harness.store import StoreError
from tests.harness.store.test_hostile_files import BEGAN, ENDED, Row, chained, opened, placed, row

pytestmark = pytest.mark.anyio


async def resumed(folder: Path, *rows: Row, data: bytes = b"") -> str:
    """The error. Nothing is written."""
    path = placed(folder, data or chained(rows))
    before = path.read_bytes()
    async with Harness(["files"], store=str(folder), root=folder) as harness:
        with pytest.raises(StoreError) as error:
            async with harness.session("evil", resume=True):
                pass
    assert path.read_bytes() == before
    return str(error.value)


async def test_an_edited_session_is_not_resumed(tmp_path: Path) -> None:
    data = chained([opened(), BEGAN, ENDED]).replace(b"return 1", b"return 2")
    assert await resumed(tmp_path, data=data) == (
        "session evil is not resumed, and nothing was written: line 2 (began) is not as it was written: its digest differs"
    )


def item(handle: str, text: str, *references: Sequence[Any]) -> dict[str, Any]:
    return {
        "handle": handle,
        "kind": "value",
        "text": text,
        "produced": 1,
        "labelled": True,
        "whole": True,
        "trimmed": {},
        "references": references,
    }


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([item("T1.1", "a", [0, {"handle": "T9.9", "first": 1, "last": 2}])], "refers to lines of 'T9.9' that are not there"),
        ([item("T1.1", "a", [0, {"handle": "T1.1", "first": 1, "last": 10**12}])], "stands for more than 1,000,000 lines"),
        ([item("T1.1", "a", [5, {"handle": "T1.1", "first": 1, "last": 1}])], "refers to lines of 'T1.1' that are not there"),
        ([item("T1.1", "a", [0, {"handle": "T1.1", "first": 0, "last": -9}])], "refers to lines of 'T1.1' that are not there"),
        ([item("T1.1", "a") | {"placed": [[0, 10**12, {"path": "a"}]]}], "places lines that it does not have"),
    ],
)
async def test_references_on_record_that_lead_nowhere_are_refused_on_resume(tmp_path: Path, items: Any, why: str) -> None:
    ended = row("ended", ending={"how": "finished"}, text="a", items=items)
    assert why in await resumed(tmp_path, opened(), BEGAN, ended)


async def test_references_in_a_circle_and_calls_that_end_twice_are_refused_on_resume(tmp_path: Path) -> None:
    first = row(
        "ended", ending={"how": "finished"}, text="a", items=[item("T1.1", "a", [0, {"handle": "T1.1", "first": 1, "last": 1}])]
    )
    second = row(
        "ended",
        2,
        ending={"how": "finished"},
        text="a",
        items=[item("T2.1", "a", [0, {"handle": "T1.1", "first": 1, "last": 1}])],
    )
    again = row("began", 2, script="1", sha256="")
    forgot = row("forgot", 0, turns=[1], mended={})
    assert "references lead in a circle" in await resumed(tmp_path, opened(), BEGAN, first, again, second, forgot)
    call = row("settled", call=1, tool="x.y", site={"line": 1, "column": 1}, arguments={}, outcome={"status": "returned"})
    assert "turn 1: call 1 ended twice" in await resumed(tmp_path, opened(), BEGAN, call, call)


@pytest.mark.parametrize("handle", ["r²", "r" + "9" * 5_000, "T1.1", "../x", ""])
async def test_a_strange_handle_on_record_harms_nothing(tmp_path: Path, handle: str) -> None:
    placed(tmp_path, chained([opened(), BEGAN, row("held", handle=handle, value=1), ENDED]))
    async with Harness(["files"], store=str(tmp_path), root=tmp_path) as harness, harness.session("evil", resume=True) as session:
        assert (await session.run("return 1")).value == 1
