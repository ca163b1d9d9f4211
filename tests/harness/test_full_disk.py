"""When nothing can be put on record any more: nothing acts any more, the host is told, and all that was acknowledged is kept."""

from pathlib import Path

import pytest

from catalog import pack, tool
from harness import Harness, Setup
from harness.approval import Policy, allowing
from harness.entries import Settled
from harness.store import StoreFailed, every_entry
from harness.store.jsonl import JsonlStore
from harness.store.jsonl_disk import FailingDisk

pytestmark = pytest.mark.anyio
SCRIPT = "const got = []; for (const n of [1, 2, 3]) got.push(await tools.x.act(n).catch((e) => e.name)); return got"


@pytest.mark.parametrize("at", range(2, 17))
async def test_a_full_disk_at_any_moment_of_a_turn(tmp_path: Path, at: int) -> None:
    ran: list[int] = []

    @tool(writes=["thing:{n}"])
    async def act(n: int) -> int:
        ran.append(n)
        return n

    disk = FailingDisk(at=at)
    store = JsonlStore(tmp_path / "sessions", disk=disk)
    setup = Setup(policy=Policy(allowing(["x.*"])))
    failed = ""
    async with Harness([pack("x", [act], doc="Acts.")], root=tmp_path, store=store, setup=setup) as harness:
        try:
            async with harness.session("s") as session:
                with pytest.raises(StoreFailed) as told:
                    await session.run(SCRIPT)
                    failed = "the end"
                    raise StoreFailed("it was long enough")
                failed = failed or str(told.value)
                if failed != "the end":
                    with pytest.raises(StoreFailed):  # and nothing after it
                        await session.run("return 1")
        except StoreFailed as error:  # the last word of the session has no room either
            failed = failed or str(error)
    readable = [entry async for entry in every_entry(JsonlStore(tmp_path / "sessions"), "s")]
    on_record = [entry.outcome.value for entry in readable if isinstance(entry, Settled)]
    running = [entry.arguments["n"] for entry in readable if entry.type == "running"]
    assert set(ran) <= set(running), "what acted was on record before"
    assert on_record == ran[: len(on_record)] and len(on_record) >= len(ran) - 1
    if failed != "the end":
        assert "everything up to line" in failed and "make room on the disk" in failed
