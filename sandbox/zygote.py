"""A process that has everything loaded and an engine warmed up, and forks workers from that.

It reads fixed records on its control socket: `F token` with a descriptor (fork a worker that serves it), `K token` (kill and reap
that worker; the number 1 asks for its status at once). It answers `P token pid` and `X token status`; the first record, `R`, says
how its self-test went. It stays single-threaded, never runs a script itself, and ends when the control socket does; its workers
die with it. A self-test comes first: a throw-away child locks itself down and tries to open a file; it must die of that.
"""

import gc
import os
import signal
import struct
import sys
from _socket import CMSG_LEN, SCM_RIGHTS, SOL_SOCKET, socket

from sandbox import lockdown
from sandbox.engine import Engine, check_engine, exercise
from sandbox.worker import serve
from sandbox.zygote_record import RECORD

_INT = struct.Struct("=i")
_REAP_SECONDS = 0.005


def main(control: int, heap_bytes: int, cpu_seconds: int, reuse: bool) -> None:
    check_engine()
    exercise()
    engine = Engine()
    engine.load()
    host = socket(fileno=os.dup(control))  # a low number, whatever the host's was: workers close all up to a bound
    os.close(control)
    me = os.getpid()
    inherited = lockdown.inherit(heap_bytes)
    gc.collect()
    gc.freeze()
    gc.disable()
    _tell(host, b"R", 0, _self_test(cpu_seconds, inherited))
    children: dict[int, int] = {}
    dying: dict[int, int] = {}
    while True:
        host.settimeout(_REAP_SECONDS if dying else None)
        operation, token, wanted, descriptors = _next(host)
        if operation == b"F":
            (fd,) = descriptors
            pid = os.fork()
            if pid == 0:
                os.dup2(fd, 0)  # the one descriptor; everything else is closed by the lock-down
                serve(0, engine, inherited, cpu_seconds=cpu_seconds, reuse=reuse, parent=me)
            os.close(fd)
            children[token] = pid
            _tell(host, b"P", token, pid)
        elif operation == b"K":
            pid = children.pop(token)
            os.kill(pid, signal.SIGKILL)
            if wanted:
                _tell(host, b"X", token, os.waitpid(pid, 0)[1])
            else:
                dying[token] = pid
        for token, pid in list(dying.items()):  # without waiting: taking a process down costs more than forking it
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del dying[token]
                _tell(host, b"X", token, status)


def _next(host: socket) -> tuple[bytes, int, int, list[int]]:
    try:
        data, ancillary, _, _ = host.recvmsg(RECORD.size, CMSG_LEN(_INT.size))
    except TimeoutError:
        return b"", 0, 0, []
    if len(data) < RECORD.size:
        os._exit(0)  # the host closed the socket, or ended while writing
    operation, token, number = RECORD.unpack(data)
    held = [_INT.unpack(body[: _INT.size])[0] for level, kind, body in ancillary if (level, kind) == (SOL_SOCKET, SCM_RIGHTS)]
    return operation, token, number, held


def _tell(host: socket, operation: bytes, token: int, number: int) -> None:
    host.sendall(RECORD.pack(operation, token, number))


def _self_test(cpu_seconds: int, inherited: list[lockdown.Layer]) -> int:
    """1: the lock-down holds. 0: a locked-down child could still open a file. -1: there is nothing to test here."""
    if sys.platform != "linux":
        return -1
    pid = os.fork()
    if pid == 0:
        lockdown.apply(0, cpu_seconds, inherited)
        try:
            os.open("/", os.O_RDONLY)
        except OSError:
            os._exit(3)  # refused, not killed: some layers hold, but not the last one
        os._exit(4)
    status = os.waitpid(pid, 0)[1]
    return int(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS)
