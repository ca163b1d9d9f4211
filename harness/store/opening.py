"""A store from its address: memory:, a folder, jsonl:FOLDER, sqlite:FILE or postgresql://…

Paths are relative or absolute as they are written after the colon; with slashes as in a URL, sqlite:///FILE, they are absolute.
"""

import importlib
from pathlib import Path
from typing import Final

from anyio import to_thread

from harness.store import Store, StoreError
from harness.store.jsonl import Durability, JsonlStore
from harness.store.jsonl_names import check_folder
from harness.store.memory import MemoryStore

_CHOICES: Final = "memory:, a folder, jsonl:FOLDER, sqlite:FILE, postgresql://user@host/database"


async def open_store(address: str, *, durability: Durability = "fsync", create: bool = True) -> Store:
    """StoreError for an address that says none of them; with create=False, NoStore where there is none yet, and none is made.

    `durability` is for files; databases always commit to disk.
    """
    scheme, colon, rest = address.partition(":")
    if not address or (colon and not rest and scheme != "memory"):
        raise StoreError(f"no store at {address!r}; give one of: {_CHOICES}")
    match scheme if colon else "":
        case "memory":
            return MemoryStore()
        case "jsonl":
            return await _files(rest.removeprefix("//"), durability, create=create)
        case "sqlite" | "postgresql" | "postgresql+psycopg":
            return await _sql_store(address, create=create)
        case name if "/" in name or not colon:
            return await _files(address, durability, create=create)
        case _:
            raise StoreError(f"no store at {address!r}: {scheme}: is not known; give one of: {_CHOICES}")


async def _files(folder: str, durability: Durability, *, create: bool) -> Store:
    if not create:  # else whoever writes is told
        await to_thread.run_sync(check_folder, Path(folder))
    return JsonlStore(folder, durability=durability)


async def _sql_store(url: str, *, create: bool) -> Store:
    """Loaded only when it is wanted: SQLAlchemy is an extra, and takes a while to import."""
    try:
        module = importlib.import_module("harness.store.sql")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("harness"):
            raise
        raise StoreError("sessions in SQL need: pip install 'turnscript[sql]'") from None
    store: Store = await module.SqlStore.open(url, create=create)
    return store
