"""From a session on record to a file that is a test: without secrets and machine paths, played once, written whole.

Scrubbing changes lengths, and what a text is cut to depends on them; so a scrubbed recording is played once, and what comes out
is what later plays are held to. A session that does not play is not written.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from harness.entries import Closed, Ended, Entry, Facts, Forgot, Opened, Reopened, Yielded
from harness.record import Clean, as_it_is
from harness.recording import Recording
from harness.redaction import Redactor
from harness.replay.differences import NOT_COMPARED
from harness.replay.playing import Replayed, Stage, play
from harness.replay.recorded import BadRecording, RecordedSession, RecordedTurn, recorded_session, with_limits_of_process
from harness.scrub_places import places_of
from harness.scrubbing import Scrubbing
from harness.setup import Setup
from harness.store.appending import encoded
from harness.store.jsonl_single import write_single
from harness.store.lines import Kept
from harness.store.memory import MemoryStore

Mode: TypeAlias = Literal["none", "once", "new", "all"]
MODES: tuple[Mode, ...] = ("none", "once", "new", "all")


async def keep(entries: Iterable[Entry], path: Path, stage: Stage, *, clean: Clean = as_it_is) -> RecordedSession:
    """Write these entries of one session as a recording that plays. BadRecording when it does not, or has nothing to play."""
    recorded, kept = await recording_of(entries, stage, name=path.name, clean=clean)
    if not any(turn.playable for turn in recorded.turns):
        raise BadRecording(f"{path.name}: not written, since no turn of it can be played: {_why_not(recorded.turns)}")
    write_single(path, kept)
    return recorded


def _why_not(turns: Sequence[RecordedTurn]) -> str:
    return ", ".join(f"turn {turn.number} {turn.not_played}" for turn in turns) or "it has none"


async def recording_of(
    entries: Iterable[Entry], stage: Stage, *, name: str, clean: Clean = as_it_is
) -> tuple[RecordedSession, list[Kept]]:
    """The same without writing: the lines of the file."""
    told = with_limits_of_process(entries)
    cleaned = [clean(entry) for entry in told if not isinstance(entry, Closed | Reopened)]
    settled = await settle(cleaned, stage, name=name)
    lines, blobs = encoded(settled, None)
    return recorded_session(settled, name=name), [Kept(line, blobs.__getitem__) for line in lines]


def cleaning(setup: Setup, root: Path) -> Clean:
    """What never goes into a recording: the secrets that this setup knows, what looks like one, and paths of this machine.
    `root`: of the session that is kept. For one session.
    """
    rules = replace(setup.scrub, secrets=True, places=True)
    redactor = Redactor(setup.secrets, patterns=setup.secret_patterns)
    return Scrubbing(rules, redactor=redactor, places=places_of(root, setup.environment)).entry


async def settle(entries: Sequence[Entry], stage: Stage, *, name: str) -> list[Entry]:
    """The entries with the texts, items and numbers that playing them gives."""
    recorded = recorded_session(entries, name=name)
    store = MemoryStore()
    played = await play(recorded, stage, store=store)
    wrong = [one for one in played.differences if one.kind in ("call", "unused", "ending")]
    if wrong:
        raise BadRecording(f"{name}: not written, since it does not play as it was recorded\n{wrong[0].text}")
    ended = {entry.turn: entry for entry in store.entries(recorded.session) if isinstance(entry, Ended)}
    forgot = iter([entry for entry in store.entries(recorded.session) if isinstance(entry, Forgot)])
    parts = {(entry.turn, entry.words): entry for entry in store.entries(recorded.session) if isinstance(entry, Yielded)}
    return [_settled(entry, ended, parts, forgot) for entry in entries]


def _settled(entry: Entry, ended: dict[int, Ended], parts: Mapping[tuple[int, int], Yielded], forgot: Iterable[Forgot]) -> Entry:
    match entry:
        case Yielded() if (entry.turn, entry.words) in parts:
            part = parts[(entry.turn, entry.words)]
            return replace(entry, text=part.text, items=part.items, notices=part.notices)
        case Ended() if entry.turn in ended:
            now = ended[entry.turn]
            ledger = replace(now.ledger, **{name: getattr(entry.ledger, name) for name in NOT_COMPARED})
            return replace(entry, text=now.text, items=now.items, notices=now.notices, ledger=ledger)
        case Forgot():
            now_forgot = next(iter(forgot), None)
            return entry if now_forgot is None else replace(entry, mended=now_forgot.mended)
        case _:
            return entry


async def record_again(recorded: RecordedSession, stage: Stage, *, only_new: bool, now: float) -> tuple[Replayed, list[Entry]]:
    """Run its scripts against live tools: all calls, or with `only_new` those that are not on record. Gives the new entries.
    `now`: seconds since 1970, for the scripts' clock.
    """
    store = MemoryStore()
    again = recorded if only_new else replace(recorded, turns=tuple(_forgetful(turn, now) for turn in recorded.turns))
    played = await play(again, stage, missing="run", store=store)
    beside = zip(played.turns, recorded.turns, strict=True)
    played = replace(played, session=recorded, turns=tuple(replace(now, recorded=before) for now, before in beside), remarks=())
    return played, [_with_facts(entry, recorded.facts) for entry in store.entries(recorded.session)]


def _forgetful(turn: RecordedTurn, now: float) -> RecordedTurn:
    """Its script alone: what earlier scripts stored comes from running them."""
    return replace(turn, recording=Recording(), began=replace(turn.began, now=now * 1000, stored={}))


def _with_facts(entry: Entry, facts: Facts) -> Entry:
    """Packs and limits as they are now; model, labels and place as they were."""
    if not isinstance(entry, Opened):
        return entry
    return replace(entry, facts=replace(entry.facts, root=facts.root, git=facts.git))
