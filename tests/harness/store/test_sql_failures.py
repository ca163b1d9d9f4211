"""When a database fails: what was acknowledged is there, what was reported as failed is not, and many processes lose nothing."""

import multiprocessing
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import anyio
import pytest

from harness.entries import Message
from harness.store import StoreFailed, Writer
from harness.store.lines import first_break
from harness.store.sql import SqlStore
from tests.contracts.sql_stores import opened
from tests.postgres import server

pytestmark = pytest.mark.anyio
WRITERS, EACH = 20, 10
SOCKET = ".s.PGSQL.5432"


def said(text: str, *, session: str = "s") -> Message:
    return Message(session=session, at=1000.0, role="user", text=text)


async def texts(store: SqlStore, session: str = "s") -> list[str]:
    kept = await store.load(session)
    assert first_break([one.line for one in kept]) == ""
    return [one.line.payload["text"] for one in kept]


# ------------------------------------------------------------ many processes


def append_some(url: str, number: int) -> list[str]:
    async def run() -> list[str]:
        acknowledged = []
        async with opened(url) as store:
            writer = await store.write(f"s{number}", at=0.0)
            for one in range(EACH):
                await writer.append(said(f"{number} {one} " + "x" * 100 * number, session=f"s{number}"))
                acknowledged.append(f"{number} {one} " + "x" * 100 * number)
            await writer.close()
        return acknowledged

    return anyio.run(run)


def processes() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.contracts.sql_stores"])
    return ProcessPoolExecutor(WRITERS, mp_context=context)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_twenty_processes_open_an_empty_database_at_once_and_lose_nothing(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as url, processes() as pool:
        acknowledged = list(pool.map(partial(append_some, url), range(WRITERS)))
        assert [len(one) for one in acknowledged] == [EACH] * WRITERS
        assert anyio.run(all_texts, url) == acknowledged


async def all_texts(url: str) -> list[list[str]]:
    async with opened(url) as store:
        return [await texts(store, f"s{number}") for number in range(WRITERS)]


@contextmanager
def database(kind: str, tmp_path: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path}/sessions.db"
        return
    with server().database(migrated=False) as url:
        yield url


# ------------------------------------------------------------ a full disk


def append_until_full(path: str) -> tuple[str, list[str], list[str]]:
    """In a process whose files may not grow: what it is told, what it acknowledged, what is there after more room was made."""

    async def run() -> tuple[str, list[str], list[str]]:
        acknowledged: list[str] = []
        async with opened(f"sqlite:///{path}") as store:
            writer = await store.write("s", at=0.0)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
            try:
                while True:
                    text = f"{len(acknowledged)} " + "y" * 60_000
                    await writer.append(said(text))
                    acknowledged.append(text)
            except StoreFailed as error:
                failure = str(error)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            await writer.append(said("goes on"))
            await writer.close()
            return failure, acknowledged, await texts(store)

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return anyio.run(run)


def test_a_full_disk_keeps_nothing_of_the_append_and_the_writer_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with processes() as pool:
        failure, acknowledged, found = pool.submit(append_until_full, f"{tmp_path}/a.db").result()
    line = len(acknowledged) + 1
    assert failure.startswith(f"session s: line {line} (message) failed: d")  # disk I/O error, database or disk is full
    assert failure.endswith(
        f". Everything up to line {line - 1} is kept, and nothing behind; append again when the cause is gone"
    )
    assert found == [*acknowledged, "goes on"]


# ------------------------------------------------------------ a server that dies


async def test_a_server_that_was_restarted_is_not_noticed() -> None:
    with server().database() as url:
        async with opened(url) as store:
            writer = await store.write("s", at=0.0)
            await writer.append(said("before"))
            server().kill()
            server().start()
            assert await texts(store) == ["before"]
            server().kill()
            server().start()
            await writer.append(said("after"))
            await writer.close()
            assert await texts(store) == ["before", "after"]


async def test_an_append_waits_for_a_server_that_is_coming_back() -> None:
    with server().database() as url:
        async with opened(url) as store:
            writer = await store.write("s", at=0.0)
            await writer.append(said("before"))
            server().kill()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(writer.append, said("after"))
                await anyio.to_thread.run_sync(server().start)
            await writer.close()
            assert await texts(store) == ["before", "after"]


async def test_while_the_server_is_down_the_writer_says_what_is_known_and_takes_no_more() -> None:
    with server().database() as url:
        store = await SqlStore.open(url, reconnect_seconds=0)
        writer = await store.write("s", at=0.0)
        await writer.append(said("before"))
        server().kill()
        with pytest.raises(StoreFailed) as caught:
            await writer.append(said("lost"))
        with pytest.raises(StoreFailed, match=r"^sessions cannot be listed: .*; try again when the database answers$"):
            await store.sessions()
        server().start()
        told = str(caught.value)
        assert told.startswith("session s: line 2 failed: ") and "The database does not answer: " in told
        assert told.endswith(". Everything up to line 1 is kept; whether line 2 is, shows when the session is opened again")
        with pytest.raises(StoreFailed, match="whether line 2 is, shows when the session is opened again"):
            await writer.append(said("more"))
        await writer.close()
        assert await texts(store) == ["before"]
        await store.close()


# ------------------------------------------------------------ an answer that is lost


class Line:
    """A line to the server that can be cut at the next COMMIT: before it arrives, or behind, before its answer is passed on."""

    def __init__(self, folder: Path) -> None:
        self.cut: list[Literal["before", "behind"]] = []  # at the next commits
        self._target = server().url("x").partition("host=")[2] + f"/{SOCKET}"
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / SOCKET))
        self._listening.listen()
        self._ends: list[socket.socket] = [self._listening]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        for end in self._ends:
            _hang_up(end)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(self._target)
            self._ends += [client, behind]
            silenced = threading.Event()
            for work in (partial(self._forward, client, behind, silenced), partial(self._answer, client, behind, silenced)):
                self._threads.append(threading.Thread(target=work))
                self._threads[-1].start()

    def _forward(self, client: socket.socket, behind: socket.socket, silenced: threading.Event) -> None:
        while data := _received(client):
            cut = self.cut.pop(0) if self.cut and b"COMMIT\0" in data else ""
            if cut == "before":
                break
            if cut == "behind":
                silenced.set()
            _send(behind, data)
        if not silenced.is_set():
            _hang_up(behind)

    def _answer(self, client: socket.socket, behind: socket.socket, silenced: threading.Event) -> None:
        while data := _received(behind):
            if silenced.is_set():  # the server has committed; nobody hears of it
                break
            _send(client, data)
        _hang_up(client)
        _hang_up(behind)


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(65_536)
    except OSError:
        return b""


def _send(end: socket.socket, data: bytes) -> None:
    try:
        end.sendall(data)
    except OSError:  # the other side has hung up; its thread says so to this one
        pass


def _hang_up(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


@contextmanager
def line(folder: Path) -> Iterator[tuple[Line, str]]:
    """The line, and the address of a new database at its end."""
    with server().database() as url:
        between = Line(folder)
        try:
            yield between, f"{url.partition('?')[0]}?host={quote(str(folder))}"
        finally:
            between.close()


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("where", ["before", "behind"])
async def test_a_commit_whose_answer_is_lost_is_there_exactly_once(
    where: Literal["before", "behind"], begun: bool, short_path: Path
) -> None:
    with line(short_path) as (between, url):
        async with opened(url) as store:
            writer = await store.write("s", at=0.0)
            if begun:
                await writer.append(said("first"))
            between.cut = [where]
            await writer.append(said("in doubt"), said("with it"))
            assert between.cut == []
            await writer.append(said("next"))
            await writer.close()
            assert await texts(store) == ["first", "in doubt", "with it", "next"][not begun :]


async def test_what_is_reported_as_failed_is_not_there_and_the_writer_goes_on(short_path: Path) -> None:
    with line(short_path) as (between, url):
        async with opened(url) as store:
            writer: Writer = await store.write("s", at=0.0)
            await writer.append(said("first"))
            between.cut = ["before", "before"]
            with pytest.raises(StoreFailed, match="Everything up to line 1 is kept, and nothing behind; append again when"):
                await writer.append(said("failed"))
            assert await texts(store) == ["first"]
            await writer.append(said("next"))
            await writer.close()
            assert await texts(store) == ["first", "next"]


@pytest.fixture
def short_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A socket's path has to be short."""
    return tmp_path_factory.mktemp("pg")
