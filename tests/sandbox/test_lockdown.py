"""The lock-down holds: by attempts in processes locked down as workers are, by leaving the last layer out, and at the pool's door.

The attempts are in attacks.py; here is what must come of them. As root they run once more as nobody, since some layers bind only one.
"""

import errno
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from json import loads
from pathlib import Path

import anyio
import pytest

from sandbox import Called, Failed, Finished, Limits, Pool, Resolve, Sandbox, Start, Unavailable, launch, lockdown
from sandbox.wire import READY
from tests.sandbox import attacks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the full case is Linux")

NOBODY = 65534
USERS = ["root", "nobody"] if os.geteuid() == 0 else ["this user"]
PACKAGE = str(Path(lockdown.__file__).parent)


@cache
def attempted(user: str, mode: str) -> dict[str, object]:
    """Every attempt of this mode, in one program: how each ended."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        Path(folder, "old").touch(0o666)
        os.chmod(Path(folder, "old"), 0o666)
        uid = NOBODY if user == "nobody" else -1
        done = subprocess.run(
            [sys.executable, "-I", "-S", attacks.__file__, PACKAGE, str(uid), mode, folder, *attacks.EVERYTHING[mode]],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = loads(done.stdout)
    return told


def ended(user: str, mode: str, name: str) -> str:
    """SIG… when a signal ended it, otherwise "got through", the errno's name, or the exit code."""
    status, _ = attempted(user, mode)["ended"][name]  # type: ignore[index]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    code = os.WEXITSTATUS(status)
    return errno.errorcode.get(code, str(code)) if code else GOT_THROUGH


GOT_THROUGH = "got through"


# ---------------------------------------------------------------- all layers


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("attempt", attacks.PROGRAMS)
def test_a_locked_down_process_dies_of_the_attempt(attempt: str, user: str) -> None:
    assert ended(user, "locked", attempt) == "SIGSYS"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("attempt", attacks.TOO_LARGE)
def test_memory_beyond_the_limit_is_refused(attempt: str, user: str) -> None:
    assert ended(user, "locked", attempt) == "ENOMEM"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is no such door")
@pytest.mark.parametrize("user", USERS)
def test_the_32_bit_door_is_shut(user: str) -> None:
    assert ended(user, "locked", "32-bit door") in ("SIGSYS", "SIGSEGV")  # the latter where the kernel has none


def test_the_corpus_of_attempts_is_not_small() -> None:
    assert len(attacks.PROGRAMS) >= (200 if platform.machine() == "x86_64" else 15)


WORKS = {
    "echo": GOT_THROUGH,
    "memory": GOT_THROUGH,
    "clocks": GOT_THROUGH,
    "exit": errno.errorcode[42],
    "timer": "SIGALRM",
    "timer that is heard": errno.errorcode[7],
    "crash": "SIGSEGV",
    "all timers off": "SIGKILL",  # of the limit on CPU seconds, which nothing inside can lift
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("need", WORKS)
def test_what_a_worker_needs_still_works(need: str, user: str) -> None:
    assert ended(user, "locked", need) == WORKS[need]


@pytest.mark.parametrize("user", USERS)
def test_the_one_descriptor_reads_and_writes(user: str) -> None:
    assert attempted(user, "locked")["ended"]["echo"] == [0, "gnip"]  # type: ignore[index]


# ---------------------------------------------------------------- without seccomp: what the other layers do alone

# Landlock's version that is needed, what root gets, what nobody gets. None: it depends on the machine.
ALONE: dict[str, tuple[int, str | None, str]] = {
    "a second descriptor": (0, "EMFILE", "EMFILE"),
    "a second descriptor by dup": (0, "EMFILE", "EMFILE"),
    "limits raised": (0, None, "EPERM"),  # root may, with CAP_SYS_RESOURCE
    "two gibibytes": (0, "ENOMEM", "ENOMEM"),
    "a child": (0, GOT_THROUGH, "EAGAIN"),  # the limit on processes does not bind root
    "a file opened": (1, "EACCES", "EACCES"),
    "a folder opened": (1, "EACCES", "EACCES"),
    "its own memory opened": (1, "EACCES", "EACCES"),
    "a file made": (1, "EACCES", "EACCES"),
    "a file removed": (1, "EACCES", "EACCES"),
    "a file renamed": (1, "EACCES", "EACCES"),
    "a folder made": (1, "EACCES", "EACCES"),
    "a link made": (1, "EACCES", "EACCES"),
    "a program": (1, "EACCES", "EACCES"),
    "a file truncated": (3, "EACCES", "EACCES"),
    "a TCP connection": (4, "EACCES", "EACCES"),
    "a TCP port": (4, "EACCES", "EACCES"),
    "an abstract Unix socket of others": (6, "EPERM", "EPERM"),
    "a signal to the host": (6, "EPERM", "EPERM"),
    # From here on only seccomp stands in the way.
    "a file looked at": (0, GOT_THROUGH, GOT_THROUGH),
    "a UDP packet": (0, GOT_THROUGH, GOT_THROUGH),
    "a netlink socket": (0, GOT_THROUGH, GOT_THROUGH),
    "a signal to its zygote": (0, GOT_THROUGH, GOT_THROUGH),
    "executable memory": (0, GOT_THROUGH, GOT_THROUGH),
    "its own number": (0, GOT_THROUGH, GOT_THROUGH),
    "a nap": (0, GOT_THROUGH, GOT_THROUGH),
    "randomness": (0, GOT_THROUGH, GOT_THROUGH),
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("attempt", ALONE)
def test_without_seccomp_the_other_layers_meet_their_own_list(attempt: str, user: str) -> None:
    needed, as_root, as_nobody = ALONE[attempt]
    if needed > landlock_version(user):
        pytest.skip(f"Landlock {needed} is needed")
    expected = as_root if user == "root" else as_nobody
    assert expected is None or ended(user, "unfiltered", attempt) == expected


def landlock_version(user: str) -> int:
    (reason,) = [reason for name, state, reason in attempted(user, "unfiltered")["layers"] if name == "landlock"]  # type: ignore[attr-defined]
    return int(reason.removeprefix("version ")) if reason.startswith("version ") else 0


def test_the_table_covers_every_attempt() -> None:
    assert set(ALONE) == set(attacks.UNFILTERED)


# ---------------------------------------------------------------- the filter, as a program


def decide(program: bytes, arch: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run the BPF by hand: a second reading of what the kernel does with it."""
    words = [number & 0xFFFFFFFF, arch, 0, 0]
    for argument in (*arguments, *[0] * (6 - len(arguments))):
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    at = held = 0
    while True:
        code = int.from_bytes(program[at * 8 : at * 8 + 2], sys.byteorder)
        yes, no = program[at * 8 + 2], program[at * 8 + 3]
        value = int.from_bytes(program[at * 8 + 4 : at * 8 + 8], sys.byteorder)
        at += 1
        match code:
            case 0x20:
                held = words[value // 4]
            case 0x15:
                at += yes if held == value else no
            case 0x45:
                at += yes if held & value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(f"an instruction that should not be there: {code:#x}")


ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED = {
    "x86_64": {0, 1, 9, 10, 11, 12, 13, 14, 15, 25, 28, 38, 60, 98, 202, 228, 231},
    "aarch64": {63, 64, 93, 94, 98, 103, 113, 134, 135, 139, 165, 214, 215, 216, 222, 226, 233},
}
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000


@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_allows_these_numbers_and_kills_for_every_other(machine: str) -> None:
    program = lockdown.filter_program(machine, 0)
    assert program is not None
    numbers = [*range(2_000), *(0x40000000 | n for n in range(2_000)), 2**31, 2**32 - 1]
    assert {n for n in numbers if decide(program, ARCHES[machine], n) == ALLOW} == ALLOWED[machine]
    assert {decide(program, ARCHES[machine], n) for n in numbers} == {ALLOW, KILL_PROCESS}


@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_kills_for_another_architecture(machine: str) -> None:
    program = lockdown.filter_program(machine, 0)
    assert program is not None
    for arch in {0x40000003, 0x40000028, 0, 0xFFFFFFFF, *ARCHES.values()} - {ARCHES[machine]}:  # the first two: i386, arm
        assert {decide(program, arch, n) for n in range(1_000)} == {KILL_PROCESS}


@pytest.mark.parametrize("fd", [0, 3, 200])
@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_looks_at_arguments(machine: str, fd: int) -> None:
    program, arch = lockdown.filter_program(machine, fd), ARCHES[machine]
    assert program is not None
    read, write, mmap, mprotect = (0, 1, 9, 10) if machine == "x86_64" else (63, 64, 222, 226)
    for number in (read, write):
        good = {n for n in [*range(1_000), 2**32 - 1, 2**64 - 1] if decide(program, arch, number, (n,)) == ALLOW}
        assert good == {fd}
        assert decide(program, arch, number, (fd | 1 << 32,)) == KILL_PROCESS
    for number in (mmap, mprotect):
        good = {prot for prot in range(64) if decide(program, arch, number, (4, 4096, prot, 4)) == ALLOW}
        assert good == {prot for prot in range(64) if not prot & 4}


def test_a_machine_without_a_list_has_no_filter() -> None:
    assert lockdown.filter_program("riscv64", 0) is None


# ---------------------------------------------------------------- fail closed

BEFORE_MAIN = "from sandbox.zygote import main\n"
NEVER_SECCOMP = """
from sandbox import lockdown
whole = lockdown.apply
lockdown.apply = lambda *given, **named: whole(*given, **named, seccomp=False)
"""
DIES_OF_ANOTHER_SIGNAL = """
import os
from sandbox import lockdown
lockdown.apply = lambda *given, **named: os.kill(os.getpid(), 9)
"""
SECCOMP_IN_THE_SELF_TEST_ONLY = """
import os
from sandbox import lockdown
whole, fork, forks = lockdown.apply, os.fork, []
def counted():
    forks.append(1)
    return fork()
os.fork = counted
lockdown.apply = lambda *given, **named: whole(*given, **named, seccomp=len(forks) == 1)
"""


def boot_with(patch: str) -> str:
    assert BEFORE_MAIN in launch._BOOT
    return launch._BOOT.replace(BEFORE_MAIN, patch + BEFORE_MAIN)


@asynccontextmanager
async def a_zygote() -> AsyncIterator[launch.Zygote]:
    zygote = launch.Zygote(Limits().heap_bytes, 12, reuse=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(zygote.watch)
        try:
            await zygote.wait_ready()
            yield zygote
        finally:
            await zygote.close()
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_the_self_test_passes_here() -> None:
    async with a_zygote() as zygote:
        assert zygote.self_test == 1
    async with Pool() as pool:
        assert pool.self_test == 1


@pytest.mark.anyio
async def test_without_seccomp_the_self_test_fails_and_a_locked_pool_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_BOOT", boot_with(NEVER_SECCOMP))
    async with a_zygote() as zygote:
        assert zygote.self_test == 0
    with pytest.raises(Unavailable) as caught:
        async with Pool(isolation="locked"):
            pass
    assert str(caught.value) == (
        "the sandbox's self-test failed: a locked-down process could still open a file; "
        'type: turnscript doctor; to run anyway, choose isolation="process"'
    )


@pytest.mark.anyio
async def test_a_self_test_that_dies_of_another_signal_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_BOOT", boot_with(DIES_OF_ANOTHER_SIGNAL))
    async with a_zygote() as zygote:
        assert zygote.self_test == 0
    with pytest.raises(Unavailable, match="the sandbox's self-test failed"):
        async with Pool():
            pass


@pytest.mark.anyio
async def test_without_seccomp_a_pool_that_asks_for_a_process_runs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_BOOT", boot_with(NEVER_SECCOMP))
    async with Pool(isolation="process") as pool, pool.sandbox() as box:
        assert pool.self_test == 0
        assert await box.send(Start(source="6 * 7")) == [Finished(42)]
        assert [layer for layer in box.layers if layer[1] == "off"] == [("seccomp", "off", "left out on request")]


@pytest.mark.anyio
async def test_a_worker_that_says_a_layer_is_off_is_refused_although_the_self_test_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "_BOOT", boot_with(SECCOMP_IN_THE_SELF_TEST_ONLY))
    async with Pool() as pool:
        assert pool.self_test == 1
        with pytest.raises(Unavailable) as caught:
            async with pool.sandbox():
                pass
    assert str(caught.value) == (
        'the sandbox is not locked down: seccomp is off (left out on request); to run anyway, choose isolation="process"'
    )


@pytest.mark.parametrize("layer", lockdown.ESSENTIAL["linux"])
@pytest.mark.parametrize("state", [lockdown.OFF, lockdown.UNAVAILABLE])
def test_every_essential_layer_is_missed(layer: str, state: str) -> None:
    layers = [lockdown.Layer(name, state if name == layer else lockdown.ON) for name in lockdown.ESSENTIAL["linux"]]
    assert lockdown.missing(layers) == [(layer, state, "")]


# ---------------------------------------------------------------- what a worker is born with

LOOK_AROUND = """
import ctypes, os
from sandbox import lockdown, worker
with open("/proc/self/environ", "rb") as file:
    facts = {"at birth": file.read()}  # stays in memory, whatever is cleared later
def held(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
seccomp = lockdown._seccomp
def look_first(fd):
    inside = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    facts["environ"] = [] if not inside or inside[0] is None else [inside[0]]
    facts["os.environ"] = dict(os.environ)
    facts["descriptors"] = [fd for fd in range(70_000) if held(fd)]
    return seccomp(fd)
lockdown._seccomp = look_first
worker._ready = lambda layers: repr(facts).encode()
"""


@pytest.mark.anyio
async def test_a_worker_has_no_environment_and_one_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_TOKEN", "of the host")
    monkeypatch.setattr(launch, "_BOOT", boot_with(LOOK_AROUND))
    with open(os.devnull) as held, anyio.fail_after(20):
        os.set_inheritable(held.fileno(), True)
        async with a_zygote() as zygote:
            workers = [zygote.fork() for _ in range(3)]
            told = [bytes(await worker.channel.receive(READY)).decode() for worker in workers]
            for worker in workers:
                worker.kill()
    assert told == [repr({"at birth": b"TZ=UTC0\0", "environ": [], "os.environ": {}, "descriptors": [0]})] * 3


@pytest.mark.anyio
async def test_nothing_in_the_working_directory_or_the_environment_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("sandbox", "struct", "_quickjs", "tree_sitter", "sitecustomize", "ctypes", "resource"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from where it should not be')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "struct.py"))
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    async with Pool() as pool, pool.sandbox() as box:
        assert await box.send(Start(source="6 * 7")) == [Finished(42)]


@pytest.mark.anyio
async def test_a_working_directory_that_is_gone_does_not_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    async with Pool() as pool, pool.sandbox() as box:
        assert await box.send(Start(source="6 * 7")) == [Finished(42)]


# ---------------------------------------------------------------- when it ends


def members(session: int) -> set[int]:
    """Processes of a zygote's session that run: itself and its workers, whoever their parent is now."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue  # gone while we looked
            if int(its_session) == session and state != "Z":
                found.add(int(entry.name))
    return found


async def until_nobody_is_left(session: int) -> None:
    with anyio.fail_after(10):
        while members(session):
            await anyio.sleep(0.005)


async def until_there_are(session: int, workers: int) -> None:
    """Wait for so many workers that have finished locking themselves down."""
    with anyio.fail_after(10):
        while sum(is_filtered(pid) for pid in members(session)) < workers:
            await anyio.sleep(0.005)


def is_filtered(pid: int) -> bool:
    try:
        return "\nSeccomp:\t2\n" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False  # gone while we looked


async def until_it_computes(box: Sandbox) -> None:
    """Wait for its worker to have used a few ticks of CPU: it is in the script by then."""
    with anyio.fail_after(10):
        while not box.pid or ticks(box.pid) < 5:
            await anyio.sleep(0.005)


def ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


NATIVE_LOOP = "[].reverse.call({ length: 2 ** 53 - 1 })"


@pytest.mark.anyio
async def test_workers_die_with_their_zygote_whatever_they_are_doing() -> None:
    endings = []

    async def compute(box: Sandbox) -> None:
        endings.extend(await box.send(Start(source=NATIVE_LOOP, limits=Limits(engine_seconds=60))))

    async with Pool(workers=2, limits=Limits(engine_seconds=60)) as pool, pool.sandbox() as waiting, pool.sandbox() as busy:
        assert isinstance(waiting, Sandbox) and isinstance(busy, Sandbox)
        (call,) = await waiting.send(Start(source="await tools.a.b(1)", tools=("a.b",)))
        assert isinstance(call, Called)
        zygote = pool.zygote_pid
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(compute, busy)
            await until_it_computes(busy)
            await until_there_are(zygote, 3)  # these two, and a spare
            os.kill(zygote, signal.SIGKILL)
            await until_nobody_is_left(zygote)
        endings += await waiting.send(Resolve(1, None))
    assert [type(ending) for ending in endings] == [Failed, Failed]
    assert {ending.error.name for ending in endings} == {"WorkerLost"}


@pytest.mark.anyio
@pytest.mark.parametrize("reuse", [False, True])
async def test_everything_is_gone_when_the_pool_closes(reuse: bool) -> None:
    async with Pool(workers=3, reuse=reuse, limits=Limits(engine_seconds=60)) as pool:
        for session in ("one", "two"):
            async with pool.sandbox(session) as box:
                assert await box.send(Start(source="1")) == [Finished(1)]
        zygote = pool.zygote_pid
        await until_there_are(zygote, 3)
    await until_nobody_is_left(zygote)


@pytest.mark.anyio
async def test_a_worker_in_a_native_loop_is_gone_when_the_pool_closes() -> None:
    boxes: list[Sandbox] = []

    async def compute(pool: Pool) -> None:
        async with pool.sandbox() as box:
            assert isinstance(box, Sandbox)
            boxes.append(box)
            await box.send(Start(source=NATIVE_LOOP, limits=Limits(engine_seconds=60)))

    async with anyio.create_task_group() as tasks, Pool(workers=1, limits=Limits(engine_seconds=60)) as pool:
        zygote = pool.zygote_pid
        tasks.start_soon(compute, pool)
        with anyio.fail_after(10):
            while not boxes:
                await anyio.sleep(0.001)
        await until_it_computes(boxes[0])
    await until_nobody_is_left(zygote)
