"""What a taken-over worker may send to cost the host more than the bytes it sent: each case was a hole once."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import Harness
from sandbox import Failed, Pool, Sandbox, Start, Unavailable, WireError, launch
from sandbox.exchange import Exchange
from sandbox.wire import EVENTS, frame
from tests.sandbox.doubles import TOOLS, Visit, a_sandbox_with

ROOT = Path(__file__).parent.parent.parent


class OneBox(Pool):
    """Gives out this one sandbox."""

    def __init__(self, box: Sandbox) -> None:
        super().__init__()
        self._box = box

    async def ready(self) -> None:
        """It is."""

    @asynccontextmanager
    async def sandbox(self, session: str = "") -> AsyncIterator[Any]:
        yield self._box


def heard(text: str | bytes, source: str = "await tools.a.b(1)") -> list[Any]:
    """What the host makes of a reply, as a sandbox would."""
    exchange = Exchange()
    exchange.ask([Start(source=source, tools=TOOLS)])
    try:
        return exchange.hear(text)
    except WireError as error:
        return exchange.end(exchange.lost(str(error)))


def limited(code: str) -> int:
    """In a child with 10 s of CPU and 700 MiB, so that a bomb does not hit the runner."""
    program = (
        "import resource;resource.setrlimit(resource.RLIMIT_AS,(700<<20,700<<20));resource.setrlimit(resource.RLIMIT_CPU,(10,10))\n"
        "from tests.sandbox.test_bombs import heard\n" + code
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    ).returncode


def test_throw_places_do_not_multiply_memory() -> None:
    assert (
        limited(
            """heard(b'[["placed",-1,[],[' + b'0,999999,' * 10_000 + b'0,0]],["failed",{"thrown":"string","message":"x"}]]', 'throw 1;' + ' ' * 100_000)"""
        )
        == 0
    )


def test_an_outline_does_not_multiply_time() -> None:
    assert (
        limited(
            """heard(b'[["placed",-1,[' + b'0,0,0,' * 1_000_000 + b'0,0,0],[]]' + b''.join(b',["called",%d,"sleep",[],1002,%d]' % (n, n) for n in range(1, 1001)) + b']', 'x' * 100_000)"""
        )
        == 0
    )


def test_errors_of_an_error_do_not_multiply_time() -> None:
    assert (
        limited(
            """heard(b'[["failed",{"name":"E","errors":[' + b'{"stack":"at script:1:1"},' * 1_000_000 + b'{}]}]]', 'x' * 2000)[-1].error.text"""
        )
        == 0
    )


def test_a_frame_of_small_containers_does_not_fill_the_host() -> None:
    assert limited("""heard(b'[["finished",[' + b'[],' * 12_000_000 + b'0]]]')""") == 0


@pytest.mark.parametrize(
    "told",
    [
        '["failed",{"name":"E","message":"%s"}]',
        '["failed",{"name":"%s"}]',
        '["failed",{"name":"E","hint":"%s"}]',
        '["broken","E: %s"]',
        '["failed",{"thrown":"%s"}]',
        '["failed",{"thrown":"string","message":"%s"}]',
        '["failed",{"message":"m","errors":[{}],"errors_total":"%s"}]',
        '["failed",{"name":"E","cause":{"message":"%s"}}]',
    ],
)
def test_error_texts_stay_small(told: str) -> None:
    assert len(heard("[%s]" % (told % ("x" * 1_000_000)))[-1].error.text) < 10_000


def test_pending_names_only_calls_the_caller_has_seen() -> None:
    assert heard('[["called",1,"a.b",[],1002,1],["pwned"]]')[-1].pending == ()


@pytest.mark.anyio
async def test_the_harness_survives_a_call_that_was_thrown_away() -> None:
    lie = Visit((frame(EVENTS, b'[["called",1,"a.b",[],1002,1],["pwned"]]'),))
    async with a_sandbox_with([lie]) as met:
        async with Harness(pool=OneBox(met.box)) as harness, harness.session() as session:
            outcome = await session.run("1", start=Start(source="", tools=TOOLS))
        assert outcome.notices == ()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_not_json_does_not_pass_beside_a_lone_surrogate(number: str) -> None:
    assert isinstance(heard('[["finished",[%s,"\\ud800"]]]' % number)[-1], Failed)


@pytest.mark.parametrize(
    "reply",
    [
        '[["called",1,"a.b",["%s"],1002,1]]' % ("x" * 5_000_000),
        '[["finished","%s"]]' % ("x" * 5_000_000),
        '[["shown","%s",null,0,0],["finished",1]]' % ("x" * 5_000_000),
        '[["stored","k","%s",true],["finished",1]]' % ("x" * 5_000_000),
        '[%s["finished",1]]' % ('["printed","log","%s"],' % ("x" * 60_000) * 400),
        '[["called",1,"a.b",[],0,0],["unawaited",[%s]],["finished",1]]' % ",".join(["1"] * 1_000_000),
    ],
    ids=[
        "args_bytes: arguments",
        "args_bytes: result",
        "args_bytes: shown",
        "stored: value of a removal",
        "console_bytes: in sum",
        "unawaited: the same id a million times",
    ],
)
def test_the_limits_hold_on_the_hosts_side(reply: str) -> None:
    last = heard(reply)[-1]
    assert isinstance(last, Failed) and last.error.name == "WorkerLost"


@pytest.mark.anyio
async def test_a_worker_that_dies_of_a_real_time_signal_is_lost_like_any_other() -> None:
    async with a_sandbox_with([Visit((), hangs_up=True)], ended_with=40) as met:
        assert isinstance((await met.box.send(Start(source="1")))[-1], Failed)


@pytest.mark.anyio
@pytest.mark.parametrize("said", [r'b"\\xff"', 'b"one\\ttwo"', 'b""'])
async def test_a_ready_that_is_not_rows_of_three_is_unavailable(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        launch,
        "_BOOT",
        launch._BOOT.replace(
            "from sandbox.zygote import main\n",
            f"from sandbox import worker\nworker._ready = lambda layers: {said}\nfrom sandbox.zygote import main\n",
        ),
    )
    with pytest.raises(Unavailable):
        async with Pool() as pool, pool.sandbox():
            pass


def test_a_worker_cannot_name_its_own_verdict() -> None:
    assert heard('[["broken","WorkerLost: the sandbox worker was lost: it died of SIGKILL"]]')[-1].error.name != "WorkerLost"
