"""A chat as it is held: questions from a person one after the other, or one question whose answer goes to standard output.

The event loop has a thread of its own. The main thread reads lines and gets Ctrl-C: in a question it stops that question, at the
prompt it ends the chat.
"""

import shlex
import sys
from concurrent.futures import wait
from dataclasses import dataclass
from functools import partial
from typing import Final

import typer
from anyio.from_thread import BlockingPortal, start_blocking_portal
from rich.console import Console
from rich.text import Text

from harness.approval import Approver
from harness.chat.loop import Answer
from harness.chat.messages import AssistantSaid, UserSaid
from harness.cli.chat_display import Display, PipedDisplay
from harness.cli.chat_input import Line
from harness.cli.chat_json import JsonLines
from harness.cli.chat_keys import Keys, quiet
from harness.cli.chat_opening import Conversation, Ears, Wanted, conversation
from harness.cli.fault import EXIT_INTERRUPTED
from harness.cli.person import Person, has_terminal
from harness.cli.session_options import counted
from harness.redaction import Redactor
from harness.visible import visible

_CODES: Final = {"answered": 0, "stopped": EXIT_INTERRUPTED, "failed": 1, "steps": 1}
_LOOK_SECONDS: Final = 0.1  # a signal may reach another thread, and this one must come to know of it
_KEYS: Final = "Ctrl-C stops what runs, Ctrl-D ends the chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was typed: the question, "" for none, and the options that `--resume` needs besides."""

    question: str = ""
    options: tuple[str, ...] = ()


def talk(wanted: Wanted, typed: Typed) -> None:
    """With a person at the terminal, until they end it."""
    console, terminal = Console(highlight=False), sys.stdin.fileno()
    display = Display(console, context_tokens=wanted.settings.model.context_tokens)
    keys = Keys(console, terminal)
    ears = Ears(watch=display.watch, listen=display.listen, approver=keys)
    with start_blocking_portal("asyncio") as portal:
        with portal.wrap_async_context_manager(conversation(wanted, ears)) as held:
            display.tools = held.session.offer.tools
            desk = _Desk(portal, held, display, keys, console=console, terminal=terminal)
            try:
                desk.greet(wanted)
                desk.answer_all(typed.question)
            finally:
                portal.call(display.close)
            display.print_ledger(held.session.ledger)
        if held.kept:
            console.print(Text(how_to_resume(held, typed)), soft_wrap=True)


class _Desk:
    """Where the person sits: a line is read, answered, and the next one read."""

    def __init__(
        self, portal: BlockingPortal, held: Conversation, display: Display, keys: Keys, *, console: Console, terminal: int
    ) -> None:
        self._portal = portal
        self._held = held
        self._display = display
        self._keys = keys
        self._terminal = terminal
        self._before = [one.text for one in held.chat.messages if isinstance(one, UserSaid)]
        self._line = Line(before=self._before, colour=console.color_system is not None and not console.no_color)
        self._console = console

    def greet(self, wanted: Wanted) -> None:
        model = "replies from a file" if wanted.scripted is not None else wanted.settings.model.name
        goes_on = f", goes on after {counted(len(self._before), 'question')}" if self._before else ""
        what = f"{model}, {counted(len(self._held.session.offer.tools), 'tool')} in {wanted.settings.tools.profile}{goes_on}"
        for note in (f"{what}. {_KEYS}.", *self._held.notices):
            self._portal.call(self._display.note, note)

    def answer_all(self, question: str) -> None:
        line: str | None = question if question.strip() else self._read()
        while line is not None:
            if line.strip() or self._may_go_on():
                with quiet(self._terminal):
                    answer = asked(self._portal, self._held, line)
                self._portal.call(self._display.answered, answer)
            line = self._read()
        self._console.print()  # the prompt has no end of its own

    def _may_go_on(self) -> bool:
        """Enter alone asks again, where the model owes a reply."""
        messages = self._held.chat.messages
        return bool(messages) and not isinstance(messages[-1], AssistantSaid)

    def _read(self) -> str | None:
        self._portal.call(self._display.pause)
        self._portal.call(self._keys.person_types)
        self._console.print()
        try:
            return self._line.read()
        finally:
            self._portal.call(self._keys.person_typed)
            self._portal.call(self._display.resume)


def ask_once(wanted: Wanted, typed: Typed) -> int:
    """One question: the answer goes to standard output, what happens to standard error. The exit code."""
    console = Console(stderr=True, highlight=False)
    display = PipedDisplay(console, context_tokens=wanted.settings.model.context_tokens)
    approver: Approver | None = Person() if has_terminal() else None
    if sys.stdin.isatty() and console.is_terminal:
        approver = Keys(console, sys.stdin.fileno())
    ears = Ears(watch=display.watch, listen=display.listen, approver=approver)
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(conversation(wanted, ears)) as held,
    ):
        display.tools = held.session.offer.tools
        for notice in held.notices:
            portal.call(display.note, f"notice: {notice}")
        try:
            answer = asked(portal, held, typed.question)
            portal.call(display.answered, answer)
        finally:
            portal.call(display.close)
        if answer.text:
            typer.echo(visible(answer.text))
        if held.kept and console.is_terminal:
            typer.echo(how_to_resume(held, typed), err=True)
    return _CODES[answer.how]


def ask_in_json(wanted: Wanted, typed: Typed) -> int:
    """One question: everything that happens is a JSON line on standard output."""
    setup = wanted.settings.setup
    lines = JsonLines(Redactor(setup.secrets, patterns=setup.secret_patterns))
    ears = Ears(watch=lines.watch, listen=lines.listen, approver=Person() if has_terminal() else None)
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(conversation(wanted, ears)) as held,
    ):
        for notice in held.notices:
            typer.echo(f"notice: {visible(notice)}", err=True)
        answer = asked(portal, held, typed.question)
        lines.answered(answer)
        lines.closed(held.session.id if held.kept else "", held.session.ledger)
    return _CODES[answer.how]


def asked(portal: BlockingPortal, held: Conversation, question: str) -> Answer:
    """A question without words asks again. Ctrl-C stops it, which is an answer too."""
    answer = portal.start_task_soon(partial(held.chat.ask, question) if question.strip() else held.chat.go_on)
    while True:
        try:
            wait([answer], timeout=_LOOK_SECONDS)
            if answer.done():
                return answer.result()
        except KeyboardInterrupt:
            portal.start_task_soon(held.chat.stop)  # without waiting: a second Ctrl-C may come at once


def how_to_resume(held: Conversation, typed: Typed) -> str:
    id = held.session.id
    return f"session {id}: {shlex.join(['turnscript', 'chat', '--resume', id[:8], *typed.options])}"
