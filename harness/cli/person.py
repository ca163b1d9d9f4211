"""The person at the terminal as approver: calls that wait are shown together, each is answered with a letter."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from anyio import to_thread

from harness.approval import Answer, Request
from harness.visible import visible

_TTY = Path("/dev/tty")
_QUESTION = "allow? [y]es, [n]o, [a]lways with these arguments, always for this [t]ool: "
_YES = {"y": "", "yes": "", "a": "arguments", "always": "arguments", "t": "tool", "tool": "tool"}


class Person:
    """Asks on the terminal itself, so that a script may come by standard input.

    Without a terminal nobody answers, which denies.
    """

    def __init__(self, terminal: Path = _TTY) -> None:
        self._terminal = terminal

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        return await to_thread.run_sync(self._ask, tuple(requests), abandon_on_cancel=True)

    def _ask(self, requests: tuple[Request, ...]) -> list[Answer]:
        try:
            with (
                self._terminal.open("r", encoding="utf-8", errors="replace") as heard,
                self._terminal.open("w", encoding="utf-8") as said,
            ):
                for number, request in enumerate(requests, 1):
                    said.write(f"\n{number} of {len(requests)}: {_words(request)}\n")
                return [answer for request in requests if (answer := _answer(request, heard, said)) is not None]
        except OSError:
            return []


def _answer(request: Request, heard: IO[str], said: IO[str]) -> Answer | None:
    for _ in range(3):
        said.write(f"{request.tool}: {_QUESTION}")
        said.flush()
        line = heard.readline()
        if not line:
            return None
        letter = line.strip().lower()
        if letter in _YES:
            return Answer(request=request.id, verdict="allow", remember=_YES[letter])  # type: ignore[arg-type]
        if letter in ("n", "no"):
            return Answer(request=request.id, verdict="deny")
    return None


def _words(request: Request) -> str:
    shown = json.dumps(request.shown, indent=2, ensure_ascii=False)
    # As JSON text: a line end in a name would begin what looks like another request.
    writes = (
        f", writes {', '.join(json.dumps(key, ensure_ascii=False)[1:-1] for key in request.writes)}" if request.writes else ""
    )
    return visible(f"{request.tool} (line {request.line}{writes}; {request.why})\n{shown}")


def has_terminal() -> bool:
    try:
        with _TTY.open("r"):
            return True
    except OSError:
        return False
