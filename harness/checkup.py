"""Starts the sandbox for real and says what this machine gives it. Every finding is measured here and now."""

import platform
import sys
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

from sandbox import Finished, Pool, Start, Unavailable

_MEANING = {
    "process": "the script runs in a worker process of its own",
    "environment": "no variable of the host is in it",
    "descriptors": "nothing is open but the one socket to the host",
    "rlimits": "memory, CPU, files, processes and core dumps are capped",
    "no_new_privileges": "nothing it starts could gain rights",
    "parent_death": "it dies with its parent",
    "undumpable": "no other process may look into it",
    "landlock": "the kernel refuses every file and every TCP port",
    "seccomp": "any other system call ends it",
    "self-test": "a locked-down process that opens a file is killed, tried at every start",
}


@dataclass(frozen=True, slots=True)
class Checkup:
    layers: tuple[tuple[str, str, str], ...]
    lines: tuple[str, ...]
    sound: bool

    def as_json(self) -> dict[str, Any]:
        rows = [{"layer": name, "state": state, "reason": reason} for name, state, reason in self.layers]
        return {"sound": self.sound, "layers": rows, "lines": list(self.lines)}


async def examine() -> Checkup:
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    system = f"{machine}, Python {sys.version.split()[0]}, engine quickjs-ng {version('quickjs-ng')}"
    began = perf_counter()
    try:
        async with Pool(workers=1) as pool:
            first, layers, self_test = await _first_result(pool, began)
    except Unavailable as error:
        return await _what_is_missing(system, str(error))
    rows = [("process", "on", _MEANING["process"])]
    rows += [(name, state, f"{_MEANING.get(name, '')}{f' ({reason})' if reason else ''}") for name, state, reason in layers]
    rows.append(("self-test", "on" if self_test == 1 else "unavailable", _MEANING["self-test"]))
    return Checkup(
        tuple(rows), (system, f"first result after {first * 1000:.0f} ms", "the sandbox starts locked down"), sound=True
    )


async def _first_result(pool: Pool, began: float) -> tuple[float, tuple[tuple[str, str, str], ...], int]:
    async with pool.sandbox() as box:
        (*_, ending) = await box.send(Start(source="6 * 7"))
        if not isinstance(ending, Finished) or ending.value != 42:
            raise Unavailable(f"the engine does not compute: {ending}")
        return perf_counter() - began, box.layers, pool.self_test


async def _what_is_missing(system: str, why: str) -> Checkup:
    """The lock-down did not hold: show each layer as a worker without the demand has it."""
    try:
        async with Pool(workers=1, isolation="process") as pool, pool.sandbox() as box:
            layers = tuple(box.layers)
    except Unavailable:
        layers = ()
    return Checkup(layers, (system, why), sound=False)
