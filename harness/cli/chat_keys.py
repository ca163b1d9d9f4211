"""The person at the terminal answers by one key. What they typed before the question was there is thrown away."""

import os
import termios
import tty
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from anyio import Event, wait_readable
from rich.console import Console
from rich.text import Text

from harness.approval import Answer, Request
from harness.cli.chat_rows import request_rows

_QUESTION: Final = "allow {tool}? [y]es, [n]o, [a]lways with these arguments, this [t]ool always"
_YES: Final = {"y": "", "a": "arguments", "t": "tool"}
_NOBODY: Final = ("", "\x04")  # the terminal went away, or Ctrl-D


class Keys:
    """An approver. The screen is the person's from `Asked` to `Answered`, so nothing else is printed in between. While they type
    a line, a script that goes on beside it waits with its question.
    """

    def __init__(self, console: Console, terminal: int) -> None:
        self._console = console
        self._terminal = terminal
        self._typed: Event | None = None

    def person_types(self) -> None:
        self._typed = Event()

    def person_typed(self) -> None:
        if self._typed is not None:
            self._typed.set()
            self._typed = None

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        while self._typed is not None:
            await self._typed.wait()
        answers = []
        with _one_by_one(self._terminal):
            for number, request in enumerate(requests, 1):
                place = f"{number} of {len(requests)}: " if len(requests) > 1 else ""
                for row in request_rows(request, place):
                    self._console.print(row)
                termios.tcflush(self._terminal, termios.TCIFLUSH)  # a second y for the request before is none for this one
                self._console.print(Text(_QUESTION.format(tool=request.tool), style="bold yellow"))
                answer = await self._answer(request)
                if answer is not None:
                    answers.append(answer)
        return answers

    async def _answer(self, request: Request) -> Answer | None:
        while True:
            await wait_readable(self._terminal)
            key = os.read(self._terminal, 64).decode(errors="replace").lower()
            if key in _YES:
                return Answer(request=request.id, verdict="allow", remember=_YES[key])  # type: ignore[arg-type]
            if key == "n":
                return Answer(request=request.id, verdict="deny")
            if key in _NOBODY:
                return None


@contextmanager
def _one_by_one(terminal: int) -> Iterator[None]:
    """Keys arrive without Enter; Ctrl-C still interrupts."""
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSAFLUSH)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextmanager
def quiet(terminal: int) -> Iterator[None]:
    """What is typed while a question is answered does not appear in the middle of it; it is there at the next prompt."""
    before = termios.tcgetattr(terminal)
    without_echo = [*before]
    without_echo[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSADRAIN, without_echo)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
