"""The host's hold on a zygote: starts it, has it fork and kill workers, hears how they ended.

The zygote is a Python of its own with nothing in its environment, started with exec so that the host's threads and
memory are not in it. Records on the control socket are described in zygote.py.
"""

import socket
import subprocess
import sys
from array import array
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import anyio

from sandbox.channel import Channel
from sandbox.errors import Unavailable
from sandbox.zygote_record import RECORD

_START_SECONDS = 20.0  # to the self-test's result; 20 ms is usual, a loaded machine may take seconds
_STATUS_SECONDS = 2.0
_STATUSES_KEPT = 128  # of workers nobody has asked about yet
_BOOT = """
import sys
control, heap, cpu, reuse, engine, *packages = sys.argv[1:]
sys.path.insert(0, engine)
for package in packages:  # without their __init__: a zygote needs neither the host's half nor what others load for comfort
    name, _, place = package.partition("=")
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = [place]
from sandbox.zygote import main
main(int(control), int(heap), int(cpu), reuse == "1")
"""


class Worker:
    """One forked process and the socket to it."""

    def __init__(self, zygote: "Zygote", token: int, channel: Channel) -> None:
        self.zygote = zygote
        self.token = token
        self.channel = channel
        self.layers: tuple[tuple[str, str, str], ...] = ()
        self.scripts = 0
        self.alive = True

    @property
    def pid(self) -> int:
        return self.zygote.pids.get(self.token, 0)

    def kill(self) -> None:
        if self.alive:
            self.alive = False
            self.channel.close()
            self.zygote.kill(self.token)


class Zygote:
    def __init__(self, heap_bytes: int, cpu_seconds: int, *, reuse: bool) -> None:
        if not hasattr(socket, "SCM_RIGHTS"):
            raise Unavailable(
                f'there are no sandbox workers on {sys.platform} yet; to run without one, choose isolation="in_process"'
            )
        ours, theirs = socket.socketpair()
        arguments = [str(theirs.fileno()), str(heap_bytes), str(cpu_seconds), "1" if reuse else "0", *_places()]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, *arguments],
                env={"TZ": "UTC0"},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C in a terminal is the host's to handle
            )
        except OSError as error:
            ours.close()
            raise Unavailable(f"the sandbox cannot start a process: {error}") from error
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self._tokens = count(1)
        self._buffer = b""
        self._ended: dict[int, int] = {}
        self._waiting: dict[int, anyio.Event] = {}
        self._living: set[int] = set()  # tokens of workers asked for and not yet reaped
        self._childless = anyio.Event()
        self.pids: dict[int, int] = {}
        self.alive = True
        self.ready = anyio.Event()
        self.self_test = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    # ------------------------------------------------------------ workers

    def fork(self) -> Worker:
        """Ask for a worker; what it says first (READY) tells when it is there."""
        ours, theirs = socket.socketpair()
        token = next(self._tokens)
        worker = Worker(self, token, Channel(ours))
        self._living.add(token)
        try:
            self._write(RECORD.pack(b"F", token, 0), theirs.fileno())
        finally:
            theirs.close()
        return worker

    def kill(self, token: int) -> None:
        if self.alive:
            self._write(RECORD.pack(b"K", token, token in self._waiting))

    async def status(self, token: int) -> int | None:
        """How a killed worker ended, as waitpid says it; None when the zygote cannot tell any more."""
        with anyio.move_on_after(_STATUS_SECONDS):
            while token not in self._ended and self.alive:
                await self._waiting.setdefault(token, anyio.Event()).wait()
        self._waiting.pop(token, None)
        return self._ended.pop(token, None)

    # ------------------------------------------------------------ the process

    async def wait_ready(self) -> None:
        with anyio.move_on_after(_START_SECONDS):
            await self.ready.wait()
        if not self.ready.is_set() or not self.alive:
            raise Unavailable(f"the sandbox's zygote did not start: {self._complaint()}")

    async def watch(self) -> None:
        """Hear the zygote until it is gone."""
        while self.alive:
            try:
                await anyio.wait_readable(self._socket)
                data = self._socket.recv(64 * 1024)
            except BlockingIOError:
                continue
            except (OSError, anyio.ClosedResourceError):
                data = b""
            if not data:
                break
            self._buffer += data
            while len(self._buffer) >= RECORD.size:
                self._hear(*RECORD.unpack(self._buffer[: RECORD.size]))
                self._buffer = self._buffer[RECORD.size :]
        self.alive = False
        self.ready.set()
        self._childless.set()
        for event in self._waiting.values():
            event.set()

    def _hear(self, operation: bytes, token: int, number: int) -> None:
        if operation == b"R":
            self.self_test = number
            self.ready.set()
        elif operation == b"P":
            self.pids[token] = number
        elif operation == b"X":
            self.pids.pop(token, None)
            self._living.discard(token)
            if not self._living:
                self._childless.set()
            self._ended[token] = number
            if len(self._ended) > _STATUSES_KEPT:
                self._ended.pop(next(iter(self._ended)))
            if token in self._waiting:
                self._waiting[token].set()

    def expect(self, token: int) -> None:
        """Somebody will ask for this worker's status: keep it when it comes."""
        self._waiting.setdefault(token, anyio.Event())

    async def retire(self) -> None:
        """End it once its last worker is done. No more is forked from it."""
        while self._living and self.alive:
            self._childless = anyio.Event()
            await self._childless.wait()
        await self.close()

    async def close(self) -> None:
        """End it and all its workers."""
        self.alive = False
        anyio.notify_closing(self._socket)
        self._socket.close()
        with anyio.CancelScope(shield=True):
            for pause in (0.0005, 0.0005, 0.001, 0.002, *[0.005] * 400):
                if self._process.poll() is not None:
                    break
                await anyio.sleep(pause)
            else:
                self._process.kill()
                self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _write(self, record: bytes, descriptor: int | None = None) -> None:
        rights = [] if descriptor is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [descriptor]))]
        try:
            self._socket.sendmsg([record], rights)
        except BlockingIOError:  # thousands of records ahead of the zygote: wait for it, here and now
            self._socket.settimeout(_STATUS_SECONDS)
            self._socket.sendmsg([record], rights)
            self._socket.setblocking(False)
        except OSError:
            self.alive = False  # it is gone; its workers are too, and each will be seen to be

    def _complaint(self) -> str:
        self._process.kill()
        told = self._process.stderr.read().decode("utf-8", "replace").strip() if self._process.stderr else ""
        return told.rpartition("\n")[2] or f"no word within {_START_SECONDS:g} s"


def _places() -> list[str]:
    """Where the zygote finds its few modules: it starts without site-packages."""
    engine = _place("_quickjs")
    packages = [
        f"sandbox={Path(__file__).parent}",
        *(f"{name}={_place(name)}" for name in ("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript")),
    ]
    return [engine, *packages]


def _place(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise Unavailable(f"the module {name} is not installed; type: pip install turnscript")
    return str(Path(spec.origin).parent)
