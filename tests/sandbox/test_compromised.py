"""A worker that an attacker has taken over can end its own script and nothing else.

The sandbox is the real one, on a real socket; the far end is a double that writes whatever it likes. Whatever it writes, `send`
gives events that keep the rules of `doubles.Ledger`, in bounded time, and the worker is killed for breaking them.
"""

import json
import resource
import subprocess
import sys
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import (
    Called,
    Event,
    Exceeded,
    Finished,
    Limits,
    Misuse,
    Pool,
    Printed,
    Resolve,
    Sandbox,
    Shown,
    Site,
    Start,
    WireError,
    launch,
)
from sandbox.exchange import Exchange
from sandbox.wire import DELIVER, EVENTS, OUTWARD_MAX, READY, START, FrameReader, frame
from tests.sandbox.doubles import TOKEN, TOOLS, Ledger, Visit, a_sandbox_with, converse, is_lost
from tests.sandbox.floods import FLOODS
from tests.sandbox.lies import sequence

SOURCE = "await tools.a.b(1); if (x) throw 'x';\nawait g(tools.a.c(f(2)), 'é')"
SCRIPT = Start(source=SOURCE, tools=TOOLS, limits=Limits(engine_seconds=0.05))
PATIENT = Start(source=SOURCE, tools=TOOLS, limits=Limits(engine_seconds=60))
SEED = "a taken-over worker"
SEQUENCES = 100_000
AT_ONCE = 64
HOST_GROWTH_MAX_BYTES = 200 * 2**20

often = settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def said(*events: Any) -> Visit:
    text = json.dumps(list(events)).encode()
    return Visit((frame(EVENTS, text),), text)


def called(call_id: Any, tool: Any = "a.b", *args: Any) -> list[Any]:
    return ["called", call_id, tool, list(args), 1002, 7]


LOST = "the sandbox worker was lost: "


async def lost(*visits: Visit, ended_with: int | None = 3 << 8) -> str:
    """Meet this liar to the end, which must be a kill; gives what the caller is told."""
    async with a_sandbox_with(visits, ended_with=ended_with) as met:
        ending = (await converse(met, SCRIPT)).events[-1]
        assert is_lost(ending), ending
        return ending.error.message.removeprefix(LOST)  # type: ignore[union-attr]


# ---------------------------------------------------------------- lies one by one: what the caller is told

FINISHED = ["finished", 1]
LIES: list[tuple[str, list[Visit], str]] = [
    ("a first id that is not 1", [said(called(2))], "it broke the protocol: call ids count up one by one"),
    ("an id of zero", [said(called(0))], "it broke the protocol: call ids count up one by one"),
    ("a negative id", [said(called(-1))], "it broke the protocol: call ids count up one by one"),
    ("an id that is true", [said(called(True))], "it broke the protocol: call ids count up one by one"),
    ("an id that is a float", [said(called(1.0))], "it broke the protocol: call ids count up one by one"),
    ("an id as text", [said(called("1"))], "it broke the protocol: call ids count up one by one"),
    ("an id that is huge", [said(called(2**64 - 1))], "it broke the protocol: call ids count up one by one"),
    ("an id twice", [said(called(1), called(1))], "it broke the protocol: call ids count up one by one"),
    ("an id again after it was settled", [said(called(1)), said(called(1))], "it broke the protocol: call ids count up one by one"),
    ("a tool that was not offered", [said(called(1, "shell.run"))], "it broke the protocol: a call of a tool that was not offered"),
    ("a tool by another spelling", [said(called(1, "A.B"))], "it broke the protocol: a call of a tool that was not offered"),
    ("a tool that is a list", [said(called(1, ["a.b"]))], "it broke the protocol: not an event: 'called' with 5 fields"),
    ("a tool that is null", [said(called(1, None))], "it broke the protocol: a call of a tool that was not offered"),
    ("arguments that are an object", [said(["called", 1, "a.b", {}, 1002, 1])], "it broke the protocol: arguments are a list"),
    ("a position below zero", [said(["called", 1, "a.b", [], -1, 1])], "it broke the protocol: positions and counts are whole numbers"),
    ("a position that is a float", [said(["called", 1, "a.b", [], 1.5, 1])], "it broke the protocol: positions and counts are whole numbers"),
    ("a position that is huge", [said(["called", 1, "a.b", [], 1002, 2**31])], "it broke the protocol: positions and counts are whole numbers"),
    ("an outline of text", [said(["placed", 0, ["0", "1", "2"], []])], "it broke the protocol: positions are whole numbers"),
    ("an outline below zero", [said(["placed", 0, [-1, 1, 2], []])], "it broke the protocol: positions are whole numbers"),
    ("nothing at all", [said()], "it broke the protocol: the script neither ended nor waits for a call"),
    ("only something shown", [said(["shown", 1, None, 0, 0])], "it broke the protocol: the script neither ended nor waits for a call"),
    ("two endings", [said(FINISHED, FINISHED)], "it broke the protocol: an event after the last one"),
    ("a call after the end", [said(FINISHED, called(1))], "it broke the protocol: an event after the last one"),
    ("a print after the end", [said(FINISHED, ["printed", "log", "x"])], "it broke the protocol: an event after the last one"),
    ("an unknown event", [said(["pwned"])], "it broke the protocol: not an event: 'pwned' with 0 fields"),
    ("an event named after a method", [said(["_on_finished", 1])], "it broke the protocol: not an event: '_on_finished' with 1 fields"),
    ("an event that is text", [said("finished")], "it broke the protocol: an event is a list that begins with its name"),
    ("an event that is empty", [said([])], "it broke the protocol: an event is a list that begins with its name"),
    ("an event whose name is a number", [said([1, 2])], "it broke the protocol: an event is a list that begins with its name"),
    ("an error that is a number", [said(["failed", 1])], "it broke the protocol: not an event: 'failed' with 1 fields"),
    ("an error whose errors are a number", [said(["failed", {"errors": 1}])], "it broke the protocol: not an event: 'failed' with 1 fields"),
    ("a broken engine that says a number", [said(["broken", 1])], "it broke the protocol: not an event: 'broken' with 1 fields"),
    ("a stack that is a list", [said(["exceeded", "jobs", ["at f"]])], "it broke the protocol: not an event: 'exceeded' with 2 fields"),
    ("a deadlock nowhere", [said(["deadlock", None])], "it broke the protocol: not an event: 'deadlock' with 1 fields"),
    ("a deadlock at a text", [said(["deadlock", "at"])], "it broke the protocol: positions and counts are whole numbers"),
    ("a refusal of a list", [said(["refused", [], 1])], "it broke the protocol: not an event: 'refused' with 2 fields"),
    ("a refusal below zero", [said(["refused", "import", -1])], "it broke the protocol: positions and counts are whole numbers"),
    ("a count below zero", [said(["dropped", -1], FINISHED)], "it broke the protocol: positions and counts are whole numbers"),
    ("an unawaited call that was never made", [said(["unawaited", [1]], FINISHED)], "it broke the protocol: an unawaited call that was never made"),
    ("a limit that only the host knows", [said(["exceeded", "calls", ""])], "it broke the protocol: not a limit that an engine watches"),
    ("a level that does not exist", [said(["printed", "fatal", "x"], FINISHED)], "it broke the protocol: not a printed line"),
    ("a line that is a number", [said(["printed", "log", 1], FINISHED)], "it broke the protocol: not a printed line"),
    ("a line beyond the limit", [said(["printed", "log", "x" * 65_537], FINISHED)], "it broke the protocol: more printed than is kept"),
    ("a key that is a number", [said(["stored", 1, 1, False], FINISHED)], "it broke the protocol: not a stored value"),
    ("one print too many", [said(*[["printed", "log", ""]] * 501)], "it broke the protocol: more than 500 console lines"),
    ("one shown value too many", [said(*[["shown", 0, None, 0, 0]] * 1001)], "it broke the protocol: more than 1000 shown values"),
    ("one call too many", [said(*[called(n + 1) for n in range(257)])], "it broke the protocol: more than 256 calls"),
    ("one wait too many", [said(*[called(n + 1, "sleep") for n in range(10_001)])], "it broke the protocol: more than 10000 waits"),
    ("more stored than is kept", [said(*[["stored", f"k{n}", "x" * 2**19, False] for n in range(9)])], "it broke the protocol: more stored than a session keeps"),
    ("an object", [Visit((frame(EVENTS, b"{}"),))], "it broke the protocol: a reply is a list of events"),
    ("no JSON", [Visit((frame(EVENTS, b"[[NaN]]"),))], "it broke the protocol: not JSON"),
    ("no text", [Visit((frame(EVENTS, b"\xff\xfe"),))], "it broke the protocol: not JSON"),
    ("an empty reply", [Visit((frame(EVENTS, b""),))], "it broke the protocol: not JSON"),
    ("deep nesting", [Visit((frame(EVENTS, b'[["finished",' + b"[" * 66 + b"]" * 66 + b"]]"),))], "it broke the protocol: JSON is nested deeper than 67 levels"),
    ("nesting beyond any parser", [Visit((frame(EVENTS, b"[" * 200_000),))], "it broke the protocol: not JSON"),
    ("such nesting around a lone surrogate", [Visit((frame(EVENTS, b"[" * 200_000 + b'"\\ud800"' + b"]" * 200_000),))], "it broke the protocol: not JSON"),
    ("READY again", [Visit((frame(READY, b"seccomp\ton\t"),))], "it broke the protocol: a frame that was not asked for"),
    ("the host's own frame", [Visit((frame(START, b""),))], "it broke the protocol: a frame of unknown kind 83"),
    ("two replies at once", [Visit((frame(EVENTS, b"[]") * 2,))], "it broke the protocol: a frame that was not asked for"),
    ("thousands of frames at once", [Visit((frame(EVENTS, b"") * 3_000,))], "it broke the protocol: a frame that was not asked for"),
    ("a reply and READY", [Visit((frame(EVENTS, b'[["finished",1]]') + frame(READY, b""),))], "it broke the protocol: a frame that was not asked for"),
    ("a length of zero", [Visit((bytes(5),))], "it broke the protocol: a frame of 0 bytes; 1 to 37748736 are allowed"),
    ("a length beyond the cap", [Visit((b"\xff\xff\xff\xffE",))], "it broke the protocol: a frame of 4294967295 bytes; 1 to 37748736 are allowed"),
    ("half a header, then gone", [Visit((b"\x00\x00",), hangs_up=True)], "it exited with 3"),
    ("half a frame, then gone", [Visit((frame(EVENTS, b"[]")[:-1],), hangs_up=True)], "it exited with 3"),
    ("gone at once", [Visit((), hangs_up=True)], "it exited with 3"),
    ("gone before it is asked", [Visit((), unasked=True, hangs_up=True)], "it exited with 3"),
    ("gone after a call", [said(called(1)), Visit((), hangs_up=True)], "it exited with 3"),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(("visits", "told"), [row[1:] for row in LIES], ids=[row[0] for row in LIES])
async def test_a_lie_ends_the_worker_and_says_which(visits: list[Visit], told: str) -> None:
    assert await lost(*visits) == told


STATUSES = [
    (9, "it died of SIGKILL"),
    (11, "it died of SIGSEGV"),
    (31 | 0x80, "it died of SIGSYS"),
    (0, "it exited with 0"),
    (72 << 8, "it exited with 72"),
    (None, "its zygote is gone too"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "told"), STATUSES)
async def test_how_a_worker_ended_is_what_the_caller_is_told(status: int | None, told: str) -> None:
    assert await lost(Visit((), hangs_up=True), ended_with=status) == told


@pytest.mark.anyio
async def test_a_reply_that_came_before_the_ask_is_checked_like_any_other() -> None:
    early = Visit(said(called(1)).pieces, unasked=True)
    async with a_sandbox_with([early, said(["finished", "ok"])]) as met:
        ledger = await converse(met, SCRIPT)
    assert ledger.events == [Called(1, "a.b", [], Site(1, 7)), Finished("ok")]


@pytest.mark.anyio
async def test_silence_costs_the_deadline_and_no_more() -> None:
    for visits in ([], [Visit((b"\x00",))], [Visit((OUTWARD_MAX.to_bytes(4, "big") + EVENTS,))], [said(called(1))]):
        async with a_sandbox_with(visits) as met:
            ending = (await converse(met, SCRIPT)).events[-1]
            assert isinstance(ending, Exceeded) and ending.limit == "engine_seconds"
            assert met.zygote.killed == [TOKEN]


@pytest.mark.anyio
async def test_a_byte_at_a_time_without_end_costs_the_deadline_and_no_more() -> None:
    drip = Visit(tuple(b"x" for _ in range(2_000_000)))
    async with a_sandbox_with([Visit((OUTWARD_MAX.to_bytes(4, "big") + EVENTS, *drip.pieces))]) as met:
        ending = (await converse(met, SCRIPT)).events[-1]
    assert isinstance(ending, Exceeded) and ending.limit == "engine_seconds"
    assert met.zygote.killed == [TOKEN]


@pytest.mark.anyio
async def test_a_worker_that_does_not_read_costs_the_deadline_and_no_more() -> None:
    deaf = Visit((), unasked=True, stays_deaf=True)
    start = Start(source="1", context={"large": "x" * 4_000_000}, limits=Limits(engine_seconds=0.05))
    async with a_sandbox_with([deaf]) as met:
        ending = (await converse(met, start)).events[-1]
    assert isinstance(ending, Exceeded) and ending.limit == "engine_seconds"
    assert met.zygote.killed == [TOKEN]


@pytest.mark.anyio
async def test_after_the_end_every_command_is_misuse_and_nothing_is_sent() -> None:
    async with a_sandbox_with([said(called(1)), Visit((b"\xff" * 5,))]) as met:
        ledger = await converse(met, SCRIPT)
        assert is_lost(ledger.events[-1])
        heard = met.liar.heard
        for command in (SCRIPT, Resolve(1, 1), Resolve(2, 1)):
            with pytest.raises(Misuse):
                await met.box.send(command)
    assert met.liar.heard == heard
    assert met.zygote.killed == [TOKEN]


# ---------------------------------------------------------------- lies by the hundred

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
names = st.sampled_from([
    "called", "shown", "printed", "stored", "finished", "failed", "deadlock", "refused", "broken", "exceeded", "placed", "unawaited",
    "dropped", "peak",
])  # fmt: skip
odd_events = st.builds(lambda name, rest: [name, *rest], names, st.lists(json_values, max_size=5))


@pytest.mark.anyio
@given(st.lists(st.binary(max_size=60), max_size=4))
@often
async def test_random_bytes_end_the_script_and_nothing_else(pieces: list[bytes]) -> None:
    async with a_sandbox_with([Visit(tuple(pieces), hangs_up=True)]) as met:
        last = (await converse(met, SCRIPT)).events[-1]
        # Where this process itself is held up for longer than the script's 50 ms, the host's clock is first.
        assert is_lost(last) or (isinstance(last, Exceeded) and last.limit == "engine_seconds")


@pytest.mark.anyio
@given(st.lists(json_values | st.lists(odd_events, max_size=4), min_size=1, max_size=3))
@often
async def test_sound_frames_with_random_json_keep_the_rules(replies: list[Any]) -> None:
    visits = [Visit((frame(EVENTS, json.dumps(reply).encode()),)) for reply in replies]
    async with a_sandbox_with([*visits, Visit((), hangs_up=True)]) as met:
        await converse(met, SCRIPT)


@pytest.mark.anyio
@given(st.randoms(use_true_random=False).map(sequence))
@often
async def test_plausible_lies_keep_the_rules(visits: list[Visit]) -> None:
    async with a_sandbox_with([*visits, Visit((), hangs_up=True)]) as met:
        await converse(met, SCRIPT)


def tell(visits: list[Visit], start: Start) -> None:
    """The same lies without a wire: only events or a WireError may come of them."""
    exchange, ledger = Exchange(), Ledger(start.limits)
    commands: list[Any] = [start]
    for visit in visits:
        exchange.ask(commands)
        try:
            events = exchange.hear(visit.body)
        except WireError as error:
            events = exchange.end(exchange.lost(str(error)))
        ledger.take(events, ended=exchange.ended)
        if exchange.ended:
            return
        commands = ledger.settle()


def test_ten_thousand_lies_told_without_a_wire_keep_the_rules() -> None:
    for number in range(10_000):
        try:
            tell(sequence(Random(f"{SEED}, sans-IO {number}")), SCRIPT)
        except Exception as error:
            raise AssertionError(f"sequence {number} of seed {SEED!r}, sans-IO: {error!r}") from error


@given(st.binary(max_size=80) | st.text(max_size=40))
@often
def test_any_text_is_events_or_a_wire_error(text: bytes | str) -> None:
    exchange = Exchange()
    exchange.ask([SCRIPT])
    with pytest.raises(WireError):
        exchange.hear(text)


# ---------------------------------------------------------------- nothing reaches another script

SECRET = "of the honest one alone"
HONEST_VISITS = [
    said(
        ["placed", -1, [6, 17, 20], []],
        ["shown", {"n": 1}, {"title": "t"}, 1002, 1],
        called(1, "a.b", SECRET),
        called(2, "sleep", 5),
    ),
    said(["printed", "log", SECRET], called(3, "a.c", 3)),
    said(["stored", "k", [SECRET], False], ["unawaited", [3]], ["finished", {"value": SECRET}]),
]


async def meet_an_honest_one() -> list[Event]:
    """Its caller hears exactly what it said, and it hears exactly what its caller said."""
    async with a_sandbox_with(HONEST_VISITS) as met:
        events = (await converse(met, PATIENT)).events
        reader = FrameReader(START + DELIVER, 2**20)
        start, first, second = [bytes(body) for _, body in reader.feed(met.liar.heard)]
        assert b"await g(tools.a.c" in start
        assert first == b"\0\0\0\x02" + b'[[1,true,{"answer":1},null,null],[2,true,{"answer":2},null,null]]'
        assert second == b"\0\0\0\x01" + b'[[3,true,{"answer":3},null,null]]'
        assert met.zygote.killed == [] and met.box.worker.alive
    return events


def test_an_honest_worker_is_understood() -> None:
    events = anyio.run(meet_an_honest_one)
    assert [type(event).__name__ for event in events] == ["Shown", "Called", "Called", "Printed", "Called", "Stored", "Finished"]
    assert events[0] == Shown({"n": 1}, {"title": "t"}, Site(1, 7))
    assert events[3] == Printed("log", SECRET)
    assert events[-1] == Finished({"value": SECRET}, pending=(), unawaited=(3,))


@pytest.mark.anyio
async def test_an_honest_script_among_liars_is_told_exactly_what_its_worker_said() -> None:
    expected = await meet_an_honest_one()
    heard = []

    async def lie(number: int) -> None:
        async with a_sandbox_with(sequence(Random(f"{SEED}, neighbour {number}"))) as met:
            ledger = await converse(met, SCRIPT)
        heard.append(met.liar.heard + repr(ledger.events).encode())

    async def be_honest() -> None:
        assert await meet_an_honest_one() == expected

    async with anyio.create_task_group() as tasks:
        for number in range(150):
            tasks.start_soon(lie, number)
            if number % 5 == 0:
                tasks.start_soon(be_honest)
    assert len(heard) == 150
    assert not any(SECRET.encode() in one for one in heard)


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="the full case is Linux")
async def test_real_workers_among_liars_do_their_work() -> None:
    done: list[Any] = []

    async def lie(number: int) -> None:
        async with a_sandbox_with(sequence(Random(f"{SEED}, beside real ones {number}"))) as met:
            await converse(met, SCRIPT)

    async def work(pool: Pool, number: int) -> None:
        async with pool.sandbox() as box:
            (call,) = await box.send(Start(source=f"2 * await tools.a.b({number})", tools=TOOLS))
            assert isinstance(call, Called) and call.args == [number]
            done.extend(await box.send(Resolve(1, number)))

    async with Pool() as pool, anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(lie, number)
            if number % 10 == 0:
                tasks.start_soon(work, pool, number)
    assert sorted(event.value for event in done) == [0, 20, 40, 60, 80, 100]


REALLY_TAKEN_OVER = """
from sandbox import worker
honest = worker._visit
def visit(engine, ask):
    if b"lie" not in ask.source:
        return honest(engine, ask)
    os = worker.os
    os.write(0, b"\\xff" * 100_000)
    while True:
        pass
worker._visit = visit
"""


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="the full case is Linux")
async def test_a_real_worker_that_lies_is_killed_and_its_zygote_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    before_main = "from sandbox.zygote import main\n"
    assert before_main in launch._BOOT
    monkeypatch.setattr(launch, "_BOOT", launch._BOOT.replace(before_main, REALLY_TAKEN_OVER + before_main))
    async with Pool() as pool, pool.sandbox() as other:
        await other.send(Start(source="await tools.a.b(1)", tools=TOOLS))
        zygote = pool.zygote_pid
        async with pool.sandbox() as box:
            assert isinstance(box, Sandbox)
            (ending,) = await box.send(Start(source="'lie'"))
            assert is_lost(ending), ending
            assert ending.error.message == LOST + "it broke the protocol: a frame of 4294967295 bytes; 1 to 37748736 are allowed"  # type: ignore[union-attr]
            with anyio.fail_after(10):
                while box.pid:
                    await anyio.sleep(0.005)  # until the zygote says that it has reaped it
        with anyio.fail_after(10):
            while pool.zygote_pid == zygote:
                await anyio.sleep(0.005)
        assert await other.send(Resolve(1, "unharmed")) == [Finished("unharmed")]
        async with pool.sandbox() as box:
            assert await box.send(Start(source="6 * 7")) == [Finished(42)]


# ---------------------------------------------------------------- memory


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB there")
def test_floods_up_to_the_caps_leave_the_hosts_memory_bounded() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.floods"], cwd=root, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    grown = json.loads(done.stdout)
    assert set(grown) == set(FLOODS)
    assert {name: size for name, size in grown.items() if size > 10 * OUTWARD_MAX} == {}


# ---------------------------------------------------------------- the proof


async def sequences_at_once(numbers: "count[int]", most: int) -> None:
    expected = await meet_an_honest_one()
    began = monotonic()

    async def one(number: int) -> None:
        async with a_sandbox_with(sequence(Random(f"{SEED}, {number}"))) as met:
            ledger = await converse(met, SCRIPT)
        assert SECRET.encode() not in met.liar.heard + repr(ledger.events).encode()
        if number % 100 == 0:
            assert await meet_an_honest_one() == expected

    async def run() -> None:
        while (number := next(numbers)) < most:
            try:
                await one(number)
            except Exception as error:
                raise AssertionError(f"sequence {number} of seed {SEED!r}: {error!r}") from error
            if (number + 1) % 10_000 == 0:
                print(f"{number + 1:,} sequences after {monotonic() - began:.0f} s", flush=True)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(run)


@pytest.mark.slow
def test_a_hundred_thousand_sequences_from_a_taken_over_worker() -> None:
    """No crash, no hang, no broken rule, no effect on another script. `sequence(Random(f"{SEED}, {number}"))` is one again."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    anyio.run(sequences_at_once, count(), SEQUENCES)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(f"{SEQUENCES:,} sequences, seed {SEED!r}; the host grew by {grown / 2**20:.0f} MiB")
    assert grown < HOST_GROWTH_MAX_BYTES
