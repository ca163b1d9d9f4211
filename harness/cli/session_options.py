"""What the verbs of `turnscript session` share: which store, which output. A verb that only reads makes no store."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from harness.cli.fault import Fault
from harness.config import Settings, read_settings
from harness.store import NoStore, Store
from harness.store.jsonl import Durability, JsonlStore
from harness.store.lines import BadLine
from harness.store.memory import MemoryStore
from harness.store.opening import open_store
from harness.visible import visible

StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="jsonl:FOLDER, sqlite:FILE or postgresql://…; default: TURNSCRIPT_STORE, turnscript.toml, or this user's folder.",
        show_default=False,
    ),
]
ROWS_MOST = 100  # of a table; a sum stands below it, and --json has all
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A session: its id, the beginning of it, or `last`.")]


@asynccontextmanager
async def opened(settings: Settings, address: str = "") -> AsyncIterator[Store]:
    """The store of the settings, or the one at this address; made where there is none."""
    async with _closing(await open_store(address or settings.store, durability=settings.durability)) as store:
        yield store


@dataclass(frozen=True, slots=True)
class Place:
    """Where a verb looks that makes nothing. Where an address was typed there must be a store; else no store is an empty one."""

    address: str
    durability: Durability
    typed: bool

    @classmethod
    def of(cls, told: str | None) -> "Place":
        """The one of --store, or of the settings."""
        settings = read_settings(store=told)
        return cls(settings.store, settings.durability, typed=bool(told))

    @property
    def shown(self) -> str:
        return shown_address(self.address)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Store]:
        try:
            found = await open_store(self.address, durability=self.durability, create=False)
        except NoStore:
            if self.typed:
                raise
            found = MemoryStore()
        try:
            async with _closing(found) as store:
                yield store
        except BadLine as error:
            raise Fault(f"{error}; `turnscript session verify ID` tells how many lines before it are good") from None


@asynccontextmanager
async def _closing(store: Store) -> AsyncIterator[Store]:
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def shown_address(address: str) -> str:
    """Without a password."""
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:…@", address)


def print_json(value: Any) -> None:
    """In ASCII: half a surrogate pair can stand in any recorded text."""
    typer.echo(json.dumps(value, indent=2))


def terminal_width() -> int | None:
    """None where the output goes to a file or another program."""
    console = Console()
    return console.width if console.is_terminal else None


def print_table(table: Table) -> None:
    Console().print(table)


def warn_of(store: Store) -> None:
    """Files that lists leave out are named: what is not looked at is not forgotten."""
    for problem in store.problems if isinstance(store, JsonlStore) else ():
        typer.echo(f"turnscript: {visible(problem)}", err=True)


@contextmanager
def progress_bar(sessions: int) -> Iterator[Callable[[int, int], None]]:
    """On stderr, and only on a terminal: sessions done, bytes copied."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} sessions"),
        BarColumn(),
        TextColumn("{task.fields[copied]:,} bytes"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=sessions, copied=0)
        yield lambda done, copied: progress.update(task, completed=done, copied=copied)
