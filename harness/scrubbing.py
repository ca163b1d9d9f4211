"""Entries without what must not be on record, and back again to run live tools against such a recording.

Texts change by `scrub_records.py`. A script changes too, and what stands behind a replaced text moves, so the sites of its calls
move along: a replay of the scrubbed script finds them at their places. Entries come in their order, a turn's behind its `Began`.

What a script is told when an interrupted turn goes on comes from the record: a placeholder, where a value held a secret.
A path or a secret that a script puts together from pieces is taken out of what its calls were given and not of the script; such a
call is not found by a replay.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, TypeVar

from harness.entries import Began, Ended, Entry, Running, Settled
from harness.record import sha256_of
from harness.redaction import Redactor
from harness.redaction.spans import MARK
from harness.scrub_ends import moved_end
from harness.scrub_moves import Edit, Edits, Moves, substituted
from harness.scrub_places import Places
from harness.scrub_records import changed, each_text
from harness.scrub_rules import ScrubRules

Json: TypeAlias = Any
Call = TypeVar("Call", Running, Settled)


class Scrubbing:
    """For one session. `places`: by their names in placeholders, as `places_of` gives them.

    An interrupted turn that goes on in another process has its `Began` on record: give it to `entry` first, as it is run now.
    """

    def __init__(self, rules: ScrubRules, *, redactor: Redactor, places: Mapping[str, str]) -> None:
        self._redactor = redactor if rules.secrets else None
        self._patterns = [(re.compile(pattern), instead) for pattern, instead in rules.patterns.items()]
        self._places = Places(places) if rules.places else None
        self._turn = _OpenTurn(self)

    def entry(self, entry: Entry) -> Entry:
        return self._turn.entry(entry)

    def value(self, value: Json) -> Json:
        if self._redactor is not None:
            value, _ = self._redactor.value(value)
        if self._patterns:
            value = each_text(value, lambda text: self._by_patterns(text)[0])
        if self._places is not None and self._places.may_hold_paths(value):
            places = self._places
            value = each_text(value, lambda text: places.out_of(text)[0])
        return value

    def script(self, script: str) -> Moves:
        text, rounds = script, list[Edits]()
        if self._redactor is not None:
            redacted = self._redactor.text(text)
            text = redacted.text
            for spans in redacted.rounds:
                rounds.append(Edits(Edit(span.start, span.end, len(f"{MARK}{span.name}]")) for span in spans))
        text, by_patterns = self._by_patterns(text)
        rounds += by_patterns
        if self._places is not None:
            text, edits = self._places.out_of(text)
            rounds.append(edits)
        return Moves.of(script, text, rounds)

    def _by_patterns(self, text: str) -> tuple[str, list[Edits]]:
        rounds = []
        for pattern, instead in self._patterns:
            text, edits = substituted(text, pattern, lambda found, instead=instead: found.expand(instead))  # type: ignore[misc]
            rounds.append(edits)
        return text, rounds


class Expanding:
    """For one session: placeholders become paths of this machine again. Secrets and what patterns took stay out."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = Places(places)
        self._turn = _OpenTurn(self)

    def entry(self, entry: Entry) -> Entry:
        return self._turn.entry(entry)

    def value(self, value: Json) -> Json:
        if not self._places.may_hold_marks(value):
            return value
        return each_text(value, lambda text: self._places.into(text)[0])

    def script(self, script: str) -> Moves:
        text, edits = self._places.into(script)
        return Moves.of(script, text, [edits])


def expanded(entries: Iterable[Entry], places: Mapping[str, str]) -> Iterator[Entry]:
    """The entries of a session, or of one turn, in their order."""
    expanding = Expanding(places)
    return (expanding.entry(entry) for entry in entries)


class _Rewriting(Protocol):
    def value(self, value: Json) -> Json: ...

    def script(self, script: str) -> Moves: ...


class _OpenTurn:
    """The turn that is open, and how its script changed."""

    def __init__(self, by: _Rewriting) -> None:
        self._by = by
        self._number = 0
        self._moves: Moves | None = None

    def entry(self, entry: Entry) -> Entry:
        told = changed(entry, self._by.value)
        match told:
            case Began():
                return self._began(told)
            case Running():
                return self._at_its_site(told)
            case Settled():
                return self._at_its_site(told)
            case Ended() if isinstance(entry, Ended):
                return self._ended(entry, told)
            case _:
                return told

    def _began(self, entry: Began) -> Began:
        moves = self._by.script(entry.script)
        self._number, self._moves = entry.turn, moves if moves.rounds else None
        if moves.after == entry.script:
            return entry
        return replace(entry, script=moves.after, sha256=sha256_of(moves.after))

    def _ended(self, before: Ended, after: Ended) -> Ended:
        if self._moves is None or after.turn != self._number:
            return after
        told = moved_end(before, after, self._moves, self._by.value)
        return replace(told, left=tuple(self._at_its_site(one) for one in told.left))

    def _at_its_site(self, entry: Call) -> Call:
        if self._moves is None or entry.turn != self._number:
            return entry
        return replace(entry, site=self._moves.site(entry.site))
