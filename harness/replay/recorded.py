"""A session on record, turn by turn, ready to be played: from its entries, wherever they are kept. Data only; nothing runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.entries import Began, Ended, Entry, Facts, Forgot, Message, Opened, Reopened, Settled
from harness.recording import Recording
from harness.store import Store, StoreError, every_entry
from harness.store.given_files import lines_of, reading
from harness.store.jsonl_single import read_single
from harness.store.line_json import loads
from harness.store.lines import BadLine

SUFFIX = ".session.jsonl"
TEST_LABEL = "pytest"  # on the session of a recording that a test made: the name of the test
_CUT_SHORT = ("cancelled", "interrupted")


class BadRecording(StoreError):
    """A session that cannot be played: which, why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """`ended` is None when its process ended first. `after`: what was said, and what left the view, before the next turn."""

    number: int
    began: Began
    recording: Recording
    ended: Ended | None
    after: tuple[Forgot | Message, ...] = ()

    @property
    def playable(self) -> bool:
        """It has an end of its own, and a script."""
        return not self.not_played

    @property
    def not_played(self) -> str:
        """Why it cannot be."""
        how = "interrupted" if self.ended is None else self.ended.ending.how
        if how in _CUT_SHORT:
            return f"was {how}"
        return "" if self.began.script.strip() else "has no script"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """For a session that does not play it and knows of it all the same."""
        calls = (*self.recording.unsure, *self.recording.held, *self.recording.told)
        return (self.began, *calls, *(() if self.ended is None else (self.ended,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """`name`: the file or the id, for people."""

    session: str
    name: str
    facts: Facts
    turns: tuple[RecordedTurn, ...]
    before: tuple[Message, ...] = ()  # said before the first turn


def recorded_session(entries: Iterable[Entry], *, name: str) -> RecordedSession:
    """BadRecording for what has nothing to play."""
    opened: Opened | None = None
    turns: list[_Collected] = []
    before: list[Message] = []
    for entry in with_limits_of_process(entries):
        match entry:
            case Opened():
                opened = entry
            case Began():
                turns.append(_Collected([entry]))
            case Forgot() | Message():
                if turns:
                    turns[-1].after.append(entry)
                elif isinstance(entry, Message):
                    before.append(entry)
            case _:
                if turns:
                    turns[-1].entries.append(entry)
    if opened is None:
        raise BadRecording(f"{name}: it does not begin with the line of type opened; record it again")
    if opened.facts.format:
        raise BadRecording(f"{name}: it was imported from {opened.facts.format} and has no scripts to play")
    return RecordedSession(
        session=opened.session, name=name, facts=opened.facts, turns=tuple(one.turn() for one in turns), before=tuple(before)
    )


def with_limits_of_process(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Where a session went on with other limits than it was opened with, its turns from there on have them for their own."""
    first: Mapping[str, float] = {}
    other: dict[str, float] = {}
    for entry in entries:
        if isinstance(entry, Opened):
            first = entry.facts.limits
        elif isinstance(entry, Reopened):
            other = {name: value for name, value in entry.facts.limits.items() if first.get(name) != value}
        if isinstance(entry, Began) and other:
            yield replace(entry, limits={**other, **entry.limits})
        else:
            yield entry


def read_recording(path: Path) -> RecordedSession:
    """From one file. BadLine names what is wrong in it."""
    return recorded_session(read_entries(path), name=str(path))


def read_entries(path: Path) -> list[Entry]:
    kept = read_single(path)
    session = str(kept[0].line.payload.get("session", "")) if kept else ""
    try:
        return [one.entry(session) for one in kept]
    except BadLine as error:
        raise BadLine(f"{path}: {error}") from None


async def load_recording(store: Store, session: str) -> RecordedSession:
    return recorded_session([entry async for entry in every_entry(store, session)], name=session)


def same_texts(one: RecordedSession, other: RecordedSession) -> bool:
    """Scripts, outcomes and what was shown are equal: no path of a machine stood in them."""
    return [(turn.began.script, turn.recording, turn.ended) for turn in one.turns] == [
        (turn.began.script, turn.recording, turn.ended) for turn in other.turns
    ]


def belongs_to_a_test(path: Path) -> bool:
    """A test recorded it, and plays it. Only the line that opens the session is looked at; what is wrong shows in the play."""
    try:
        with reading(path, links=True) as file:
            opened = next((line for line in lines_of(file) if b'"type":"opened"' in line), b"{}")
        return TEST_LABEL in loads(opened)["payload"]["facts"]["labels"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


@dataclass(slots=True)
class _Collected:
    entries: list[Entry]
    after: list[Forgot | Message] = field(default_factory=list)

    def turn(self) -> RecordedTurn:
        began = self.entries[0]
        assert isinstance(began, Began)
        ended = next((entry for entry in self.entries if isinstance(entry, Ended)), None)
        calls = Counter(entry.call for entry in self.entries if isinstance(entry, Settled))
        twice = [call for call, times in calls.items() if times > 1]
        if twice:
            raise BadLine(f"turn {began.turn}: call {twice[0]} ended twice; record it again")
        return RecordedTurn(
            number=began.turn, began=began, recording=Recording.of(self.entries), ended=ended, after=tuple(self.after)
        )
