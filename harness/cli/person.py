"""The person at the terminal as approver: calls that wait are shown together, each is answered with a letter.

Rule: a question that nobody waits for any more takes no line that is typed after it.
"""

import json
import os
import termios
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from anyio import get_cancelled_exc_class, wait_readable

from harness.approval import Answer, Request
from harness.visible import visible

_TTY = Path("/dev/tty")
_LINE_BYTES = 4_096  # a terminal gives one line at a time, and none is longer
_QUESTION = "allow? [y]es, [n]o, [a]lways with these arguments, always for this [t]ool: "
_YES = {"y": "", "yes": "", "a": "arguments", "always": "arguments", "t": "tool", "tool": "tool"}


class Person:
    """Asks on the terminal itself, so that a script may come by standard input.

    Without a terminal nobody answers, which denies.
    """

    def __init__(self, terminal: Path = _TTY) -> None:
        self._terminal = terminal

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        try:
            with _both_ways(self._terminal) as (heard, said):
                for number, request in enumerate(requests, 1):
                    said.write(f"\n{number} of {len(requests)}: {_words(request)}\n")
                _forget_typed(heard)  # what was typed before the questions were there is no answer
                try:
                    answers = [await _answer(request, heard, said) for request in requests]
                except get_cancelled_exc_class():
                    _forget_typed(heard)  # half an answer is no line for whoever reads next
                    said.write("\n")
                    raise
                return [answer for answer in answers if answer is not None]
        except OSError:
            return []


async def _answer(request: Request, heard: int, said: IO[str]) -> Answer | None:
    for _ in range(3):
        said.write(f"{request.tool}: {_QUESTION}")
        said.flush()
        line = await _line(heard)
        if not line:
            return None
        letter = line.strip().lower()
        if letter in _YES:
            return Answer(request=request.id, verdict="allow", remember=_YES[letter])  # type: ignore[arg-type]
        if letter in ("n", "no"):
            return Answer(request=request.id, verdict="deny")
    return None


async def _line(heard: int) -> str:
    """Empty when the terminal went away, and for Ctrl-D. Not in a thread: nothing could end one that waits for a line."""
    while True:
        await wait_readable(heard)
        try:
            return os.read(heard, _LINE_BYTES).decode("utf-8", "replace")
        except BlockingIOError:
            continue  # somebody else took it


@contextmanager
def _both_ways(terminal: Path) -> Iterator[tuple[int, IO[str]]]:
    heard = os.open(terminal, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        with os.fdopen(os.open(terminal, os.O_WRONLY | os.O_NOCTTY), "w", encoding="utf-8") as said:
            yield heard, said
    finally:
        os.close(heard)


def _forget_typed(heard: int) -> None:
    if os.isatty(heard):
        termios.tcflush(heard, termios.TCIFLUSH)


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
