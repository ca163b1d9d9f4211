"""What goes on from turn to turn in a session: guards with a memory, what is in view, what is kept, what is spent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.cache import DiskCache, Freshness, MemoryCache
from harness.chunks import FileChunks
from harness.faults import FaultCounts
from harness.file_texts import FileTexts
from harness.guards.approval import Remembered
from harness.guards.budget import Purse, session_purses
from harness.guards.cache import Cache
from harness.guards.overlap import Overlap
from harness.guards.repeat import Repeat
from harness.lanes import Lanes
from harness.reading_plan import Plans
from harness.redaction import Redactor
from harness.seen import Seen
from harness.session_results import SessionResults
from harness.setup import Setup
from harness.transcript import Transcript

_GIT_FILES = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes")


@dataclass(slots=True, kw_only=True)
class Ongoing:
    seen: Seen
    transcript: Transcript
    results: SessionResults
    redactor: Redactor
    lanes: Lanes
    repeat: Repeat
    overlap: Overlap
    cache: Cache
    freshness: Freshness
    plans: Plans
    texts: FileTexts
    chunks: FileChunks
    purses: list[Purse]
    faults: FaultCounts = field(default_factory=FaultCounts)
    remembered: Remembered = field(default_factory=Remembered)
    stored: dict[str, Any] = field(default_factory=dict)


def ongoing(
    setup: Setup,
    root: Path,
    results: SessionResults,
    *,
    disk: DiskCache | None,
    clock: Callable[[], float],
    now: Callable[[], float],
) -> Ongoing:
    """`clock` measures, `now` says what time it is: seconds since 1970."""
    seen = Seen()
    limits, texts = setup.turn, FileTexts()
    redactor = Redactor(setup.secrets, patterns=setup.secret_patterns)
    freshness = Freshness(root, tree_entries_max=limits.cache_tree_entries, beside=_git_files(setup.environment))
    return Ongoing(
        seen=seen,
        transcript=Transcript(seen, overlap_trim=setup.flags.overlap_trim),
        results=results,
        redactor=redactor,
        lanes=Lanes(limits.calls_at_once),
        repeat=Repeat(
            times=limits.repeats, seconds=limits.repeat_seconds, sample_bytes=limits.repeat_sample_bytes, clock=clock,
            free=lambda text: redactor.text(text).text, now=now,
        ),
        overlap=Overlap(seen),
        cache=Cache(freshness, MemoryCache(most_bytes=limits.cache_bytes), disk),
        freshness=freshness,
        plans=Plans(
            setup.shown,
            covered=lambda path, first, last: seen.covered_in_any(_one_name(freshness, path), first, last),
            canonical=lambda path: _one_name(freshness, path),
        ),
        texts=texts,
        chunks=FileChunks(texts.get),
        purses=session_purses(limits, setup.session_budget),
        faults=FaultCounts(setup.faults),
    )  # fmt: skip


def _one_name(freshness: Freshness, path: str) -> str:
    return freshness.canonical(f"file:{path}").removeprefix("file:")


def _git_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """What searches and git tools read outside the root."""
    home = environment.get("HOME", "")
    own = [Path(home, name) for name in _GIT_FILES] if home.startswith("/") else []
    return (Path("/etc/gitconfig"), *own)
