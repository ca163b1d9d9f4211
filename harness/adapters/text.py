"""For models that write their script into the reply, between <tool-calls> and </tool-calls>: from a reply, whole or in chunks, to
the text that is put back into the conversation.

`ReplyStream` is pure. What it says of a reply is what `detect` says of the whole of it, however it was cut into chunks: so text
before a block is given at once, and a script only with the reply's end, since what comes behind it decides whether it runs.
"""

import re
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio

from catalog.brief import brief
from harness.adapters.surface import Result, Surface
from harness.callers import offer_to
from harness.detect import Detected, detect, near_miss
from harness.outcome import TurnOutcome
from harness.session import Session
from sandbox import Problem

_OPENING: Final = "<tool-calls>"
_THINK, _THOUGHT = "<think>", "</think>"
_MARKS: Final = (_OPENING, "</tool-calls>", _THINK)
_MARK: Final = re.compile("|".join(map(re.escape, _MARKS)))
_FENCES: Final = ("```", "~~~")
_FENCED_MAX: Final = 100  # marks in fenced code that are looked at, each with all text before it; then the rest waits for the end
_FORGED: Final = re.compile(r"<(?=\s*/?\s*tool[-_ ]?results?\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """For people's eyes."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought; also how a caller marks chunks of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """The one script of the reply, whole."""

    source: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """There is no saying which script is meant, so none is given; the texts are all of the reply."""

    problem: Problem


Piece: TypeAlias = Text | Reasoning | Script | Unclear
Verdict: TypeAlias = Detected | Problem | None


class ReplyStream:
    """A reply as it arrives. <think> counts outside of fenced code and before the first block; `thinking`: the reply begins
    inside of it, as with models whose prompt ends with <think>.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._text = ""  # all of the reply that is no reasoning
        self._given = 0  # characters of it
        self._held = -1  # from here on it waits for the end; -1: nothing does
        self._thoughts: list[tuple[int, str]] = []  # not given yet, each with the length of the text before it
        self._rest = ""  # arrived, and not known to be text or reasoning
        self._thinking = thinking
        self._fenced = 0  # marks
        self._ended = False

    @property
    def text(self) -> str:
        """What has arrived, without reasoning."""
        return self._text + ("" if self._thinking else self._rest)

    @property
    def verdict(self) -> Verdict:
        """Of the text so far: what `detect` says."""
        return detect(self.text)

    def feed(self, chunk: str | Reasoning) -> list[Piece]:
        """What can be told now, in the order of the reply."""
        if self._ended:
            raise ValueError("the reply has ended; make a ReplyStream for the next one")
        if isinstance(chunk, Reasoning):
            self._think(chunk.text, behind=0 if self._thinking else len(self._rest))
        else:
            self._rest += chunk
            self._sort(final=False)
        return self._up_to(len(self._text) if self._held < 0 else self._held)

    def end(self) -> list[Piece]:
        """The rest of the reply, with its script or with what is wrong with it. Once."""
        if self._ended:
            return []
        self._sort(final=True)
        self._ended = True
        self._thoughts = [(min(at, len(self._text)), text) for at, text in self._thoughts]
        verdict = detect(self._text)
        if isinstance(verdict, Detected):
            before = self._up_to(verdict.start)
            thought = [Reasoning(text) for at, text in self._thoughts if at < verdict.end]
            self._thoughts = [(at, text) for at, text in self._thoughts if at >= verdict.end]
            self._given = verdict.end
            return [*before, *thought, Script(verdict.script), *self._up_to(len(self._text))]
        rest = self._up_to(len(self._text))
        return rest if verdict is None else [*rest, Unclear(verdict)]

    def _think(self, text: str, *, behind: int = 0) -> None:
        """`behind`: so many characters that are not text yet."""
        if text:
            self._thoughts.append((len(self._text) + behind, text))

    def _sort(self, *, final: bool) -> None:
        """What has arrived becomes text and reasoning, as far as that can be known. `final`: nothing more arrives."""
        while self._rest:
            known = self._thought(final=final) if self._thinking else self._said(final=final)
            if not known:
                return

    def _thought(self, *, final: bool) -> bool:
        before, mark, after = self._rest.partition(_THOUGHT)
        most = len(before) if mark or final else len(before) - _begun(before, (_THOUGHT,))
        self._think(before[:most])
        self._rest = after if mark else before[most:]
        self._thinking = not mark
        return bool(mark)

    def _said(self, *, final: bool) -> bool:
        mark = _MARK.search(self._rest) if self._held < 0 else None
        if mark is None:
            self._take(len(self._rest) if final or self._held >= 0 else len(self._rest) - _begun(self._rest, _MARKS))
            return False
        self._take(mark.start())
        line, newline, _ = self._rest.partition("\n")
        if not (newline or final) and any(fence in self._text.rpartition("\n")[2] for fence in _FENCES):
            return False  # whether the line opens fenced code is known at its end
        # Where our tag would not count, nothing counts: it is fenced code.
        if detect(f"{self._text}{_OPENING}{line[len(mark[0]) :]}{newline}") is None:
            self._fenced += 1
            if self._fenced > _FENCED_MAX:
                self._held = len(self._text)
            self._take(len(mark[0]))
        elif mark[0] == _THINK:
            self._rest = self._rest.removeprefix(_THINK)
            self._thinking = True
        else:
            self._held = len(self._text)
        return True

    def _take(self, count: int) -> None:
        self._text, self._rest = self._text + self._rest[:count], self._rest[count:]

    def _up_to(self, end: int) -> list[Piece]:
        """Text to here, and the reasoning that came before its end."""
        pieces: list[Piece] = []
        while self._thoughts and self._thoughts[0][0] <= end:
            at, thought = self._thoughts.pop(0)
            pieces += [*self._slice(at), Reasoning(thought)]
        return [*pieces, *self._slice(end)]

    def _slice(self, end: int) -> list[Piece]:
        text = self._text[self._given : end]
        self._given = max(self._given, end)
        return [Text(text)] if text else []


def _begun(text: str, marks: tuple[str, ...]) -> int:
    """So many characters at the end may be the beginning of a mark."""
    most = min(max(map(len, marks)) - 1, len(text))
    return next((size for size in range(most, 0, -1) if any(mark.startswith(text[-size:]) for mark in marks)), 0)


def tool_results(text: str, *, turn: int) -> str:
    """What a turn gave, for a message to the model. A tag like ours inside of it has a backslash behind its `<`, so that no
    file and no page can end it, or look like another one.
    """
    return f'<tool-results turn="{turn}">\n{_FORGED.sub(lambda _: "<" + chr(92), text)}\n</tool-results>'


Chunks: TypeAlias = AsyncIterable[str | Reasoning]
Show: TypeAlias = Callable[[Piece], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of a reply. `back`: the text of the next user message; "" when the reply had nothing to run, and is the answer.
    `reply`: for the conversation, without reasoning.
    """

    reply: str
    reasoning: str = ""
    back: str = ""
    is_error: bool = False
    outcome: TurnOutcome | None = None

    @property
    def is_answer(self) -> bool:
        return not self.back


class TextAgent:
    """The tool layer of an agent whose model calls no tools: give `prompt()` once, then `take` each reply."""

    def __init__(self, surface: Surface | Session) -> None:
        self._surface = surface if isinstance(surface, Surface) else Surface(surface)
        if self._surface.preset.yield_seconds is not None:
            raise ValueError(
                "a model that writes scripts into its replies has no tool to wait with; make the surface from a preset without"
                " yield_seconds, such as run_script"
            )
        self.session = self._surface.session

    def prompt(self) -> str:
        """What the model is told before its first script."""
        return brief(offer_to(self.session.offer, self.session.callers, "script").tools.values(), in_reply=True)

    async def heard(self, text: str) -> None:
        """What a person said goes on record."""
        await self.session.message("user", text)

    async def take(self, reply: str | Chunks, *, show: Show | None = None, thinking: bool = False) -> Taken:
        """A reply, whole or as it streams: it goes on record, and its script runs. `show` is given each piece as it comes;
        `thinking` as for `ReplyStream`. Where the stream breaks, what has arrived is on record, and nothing runs.
        """
        stream, thoughts = ReplyStream(thinking=thinking), list[str]()

        def note(pieces: list[Piece]) -> None:
            for piece in pieces:
                if isinstance(piece, Reasoning):
                    thoughts.append(piece.text)
                if show is not None:
                    show(piece)

        try:
            async for chunk in _whole(reply) if isinstance(reply, str) else reply:
                note(stream.feed(chunk))
        finally:
            last = stream.end()
            with anyio.CancelScope(shield=True):
                note(last)
                await self._put_on_record(stream.text, "".join(thoughts))
        result = await self._run(stream.text, last)
        if result is None:
            return Taken(reply=stream.text, reasoning="".join(thoughts))
        turn = 0 if result.outcome is None else result.outcome.number
        return Taken(
            reply=stream.text, reasoning="".join(thoughts), back=tool_results(result.text, turn=turn), is_error=result.is_error,
            outcome=result.outcome,
        )  # fmt: skip

    async def _put_on_record(self, text: str, reasoning: str) -> None:
        if reasoning:
            await self.session.message("reasoning", reasoning)
        if text:
            await self.session.message("assistant", text)

    async def _run(self, text: str, last: list[Piece]) -> Result | None:
        """None: there is nothing to run, and nothing that looks as if there should be."""
        script = next((piece for piece in last if isinstance(piece, Script)), None)
        if script is not None:
            return await self._surface.call(self._surface.script.name, {self._surface.script.argument: script.source})
        # <code> and <script> may stand in an answer; a tag with calls in it was meant for us.
        if not any(isinstance(piece, Unclear) for piece in last) and "call" not in near_miss(text).lower():
            return None
        outcome = await self.session.run_reply(text)
        return Result(text=outcome.rest, is_error=True, outcome=outcome)


async def _whole(reply: str) -> AsyncIterator[str]:
    yield reply
