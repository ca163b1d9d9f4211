"""A session that is watched: what is in view is computed anew from its entries, and held against what must be true at every point."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from harness.chunks import FileChunks
from harness.compose import Composed, Composer, Showing, ShownItem, showings, text_of
from harness.condense import Flags
from harness.condense.in_view import reference_text
from harness.condense.passage import Passage
from harness.condense.record import Reference
from harness.entries import Ended, Forgot
from harness.limits import ShownLimits
from harness.line_numbers import Numbering
from harness.outcome import TurnOutcome
from harness.provenance import Provenance
from harness.redaction import Redactor
from harness.relive import values_shown
from harness.seen import Seen
from harness.session import Session
from harness.store.memory import MemoryStore
from harness.viewed import is_trivial, viewed
from harness.visible import visible
from sandbox import Stored
from tests.harness.conversation import literal_lines

RUN = 5
REFERENCE_BYTES = 130  # no reference is longer, with the short paths of these tests: what is shorter may stay
HUGE = 1 << 30
NO_LIMITS = ShownLimits(
    shown_value_lines=HUGE, shown_value_bytes=HUGE, shown_turn_bytes=HUGE, relaxed_turn_bytes=HUGE, small_file_lines=HUGE,
    small_file_bytes=HUGE, output_bytes=HUGE, hits_bytes=HUGE, build_bytes=HUGE, build_lines=HUGE,
)  # fmt: skip
SKETCH = "[a sketch of"
HEADING = re.compile(
    r"\[?[\w/.]+ (?:\d+-\d+(?:, )?)+(?: of \d+)?\]?|[\w/.]+ \(\d+\)"
)  # ours, not the source's: a file's name and lines, or hits
COUNTED = re.compile(r"\[lines? (\d+)(?:-(\d+))?(?: of \d+)? cut")


@dataclass
class Watched:
    session: Session
    store: MemoryStore
    root: Path
    limits: ShownLimits
    values: dict[str, Any] = field(default_factory=dict)  # of every handle ever given
    items: dict[str, ShownItem] = field(default_factory=dict)  # in view, as they are now
    references: int = 0  # that were ever shown
    mended: int = 0
    _notices: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _turns: dict[int, list[str]] = field(default_factory=dict)
    _expanded: dict[str, list[str]] = field(default_factory=dict)
    # By handle and number of a line: since which entry it stands there, and for which reference it came back.
    _stood: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    _behind: dict[str, dict[int, int]] = field(default_factory=dict)
    _versions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _read: int = 0

    async def run(self, script: str) -> TurnOutcome:
        self.look_at_files()
        outcome = await self.session.run(script)
        self.look_at_files()
        await self._follow()
        assert self.session.transcript()[-1] == (outcome.number, outcome.text)
        self._check_caps(outcome)
        self._check_cuts(outcome)
        self.check()
        return outcome

    async def forget(self, turns: Iterable[int]) -> None:
        before = dict(self.session.transcript())
        forgotten = await self.session.forget(turns)
        await self._follow()
        after = dict(self.session.transcript())
        assert set(before) - set(after) == set(forgotten.turns)
        assert {turn: text for turn, text in after.items() if text != before[turn]} == dict(forgotten.mended)
        self.check()

    async def check_recall(self) -> None:
        """By the host, and by a script later on."""
        for handle, value in self.values.items():
            assert self.session.recall(handle) == value
        handles = ", ".join(f'"{handle}"' for handle in self.values)
        script = f"const all = []; for (const h of [{handles}]) all.push(await recall(h)); store('all', all); 'done'"
        outcome = await self.run(script)
        assert [event.value for event in outcome.events if isinstance(event, Stored)] == [list(self.values.values())[:-1]]

    def look_at_files(self) -> None:
        """What stands in which version of which file."""
        for path in self.root.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                self._versions[str(path.relative_to(self.root)), oid] = visible(data.decode()).split("\n")

    async def _follow(self) -> None:
        entries = self.store.entries(self.session.id)
        for number, entry in enumerate(entries[self._read :], self._read):
            if isinstance(entry, Ended):
                self._add(entry)
            elif isinstance(entry, Forgot):
                for turn in entry.turns:
                    for handle in self._turns.pop(turn):
                        del self.items[handle]
                self.items |= entry.mended
                self.mended += len(entry.mended)
            self._note(number)
        self._read = len(entries)

    def _add(self, ended: Ended) -> None:
        self._turns[ended.turn] = [item.handle for item in ended.items]
        self._notices[ended.turn] = ended.notices
        self.items |= {item.handle: item for item in ended.items}
        self.values |= dict(values_shown(ended))
        self.references += sum(len(item.references) for item in ended.items)

    def _note(self, entry: int) -> None:
        """Lines that stand in a text from this entry on; those put back for one reference belong together."""
        for handle, item in self.items.items():
            stood, behind = self._stood.setdefault(handle, {}), self._behind.get(handle, {})
            for number in literal_lines(passage(item)):
                stood.setdefault(number, (entry, behind.get(number, 0)))
            self._behind[handle] = lines_behind(item)

    # ------------------------------------------------------------ what must be true

    def check(self) -> None:
        told = [(turn, text_of((self.items[h] for h in handles), self._notices[turn])) for turn, handles in self._turns.items()]
        assert self.session.transcript() == told
        lines = {handle: literal_lines(passage(item)) for handle, item in self.items.items()}
        for handle, item in self.items.items():
            assert self._expand(item, lines) == self._expanded[handle]
            self._check_places(item)
        self._check_runs(lines)

    def _expand(self, item: ShownItem, lines: dict[str, dict[int, str]]) -> list[str]:
        """From lines that stand in texts in view, and nothing else."""
        references = dict(item.references)
        found: list[str] = []
        for index, line in enumerate(item.text.split("\n")):
            reference = references.get(index)
            if reference is None:
                found.append(line)
                continue
            assert line == reference_text(reference)
            assert reference.handle in self.items, f"{item.handle} refers to {reference.handle}, which is not in view"
            assert self.items[reference.handle].labelled, f"nothing in view is called {reference.handle}"
            there = lines[reference.handle]
            stand = [there[number] for number in range(reference.first, reference.last + 1)]
            found += stand if reference.numbering is None else reference.numbering.restored(stand)
            self._check_file(reference, stand)
        return found

    def _check_file(self, reference: Reference, stand: Sequence[str]) -> None:
        if reference.lines is None or not reference.oid:
            return
        bodies = Numbering(None, reference.numbering.there).restored(stand) if reference.numbering else list(stand)
        first, last = reference.lines
        version = self._versions[reference.path, reference.oid][first - 1 : last]
        assert len(bodies) == len(version) and all(map(str.endswith, bodies, version))  # numbers may be before them in both texts

    def _check_places(self, item: ShownItem) -> None:
        lines, references = item.text.split("\n"), dict(item.references)
        for index, count, origin in item.placed:
            assert not references.keys() & range(index, index + count)
            if origin.oid:
                version = self._versions[origin.path, origin.oid][origin.first - 1 : origin.first - 1 + count]
                assert len(version) == count
                # Lines that came back may have their numbers before them.
                assert all(map(str.endswith, lines[index : index + count], version))

    def _check_runs(self, lines: dict[str, dict[int, str]]) -> None:
        """No run stands twice, except where lines put back meet lines that stood there before: those may be referred to."""
        known: dict[tuple[str, ...], tuple[str, int]] = {}
        for handle, stand in lines.items():
            if SKETCH in self.items[handle].text or self.items[handle].kind == "error":
                continue  # no lines of the value; and what went wrong is told in words each time
            stood = self._stood[handle]
            for number in stand:
                numbers = range(number, number + RUN)
                if not all(one in stand for one in numbers) or len({stood[one] for one in numbers}) > 1:
                    continue
                run = tuple(stand[one] for one in numbers)
                if is_trivial(run, 0, RUN) or any(map(HEADING.fullmatch, run)) or sum(map(len, run)) < REFERENCE_BYTES:
                    continue
                there, first = known.setdefault(run, (handle, number))
                # Of a text with a short period, a run may overlap itself.
                assert there == handle and number < first + RUN, f"{run} stands in {there} and in {handle}"

    def _check_caps(self, outcome: TurnOutcome) -> None:
        limits = self.limits
        most = limits.relaxed_turn_bytes if outcome.ledger.relaxed else limits.shown_turn_bytes
        assert len(outcome.text.encode()) <= most
        whole_files = 0
        for item, one in zip(outcome.items, shown_by(outcome), strict=True):
            size, files = len(item.text.encode()), len(one.value) if isinstance(one.value, list) else 1
            lines = sum(not HEADING.fullmatch(line) and f'recall("{item.handle}")' not in line for line in item.text.split("\n"))
            most_bytes = max(limits.shown_value_bytes, limits.output_bytes, limits.hits_bytes) * files
            if size > most_bytes or (item.placed and lines > limits.shown_value_lines * files):
                whole_files += 1
                assert size <= limits.small_file_bytes + (files - 1) * limits.shown_value_bytes
                assert lines <= limits.small_file_lines + (files - 1) * limits.shown_value_lines
            assert size <= one.options.get("max_bytes", size) and lines <= one.options.get("lines", lines)
            assert item.produced == size + sum(item.trimmed.values())
        assert whole_files <= 1, "the exception is for one file a turn"

    def _check_cuts(self, outcome: TurnOutcome) -> None:
        """With its references expanded, a text is what it would be without them; where it is cut, the marks stand for the rest."""
        lines = {handle: literal_lines(passage(item)) for handle, item in self.items.items()}
        for item, plain in zip(outcome.items, uncut(outcome).items, strict=True):
            expanded = self._expanded[item.handle] = self._expand(item, lines)
            if item.whole:
                whole = plain.text.split("\n")
                assert expanded == whole, "\n".join(unified_diff(expanded, whole, item.handle, "without references", lineterm=""))
            elif SKETCH in item.text:
                assert all(reference.handle == item.handle for _, reference in item.references)
            else:
                assert is_cut_of(expanded, plain.text.split("\n"), f'recall("{item.handle}")'), (expanded, plain.text)


def passage(item: ShownItem) -> Passage:
    return Passage(item.text, item.references, item.placed)


def lines_behind(item: ShownItem) -> dict[int, int]:
    """The numbers of lines behind references, each with the number of the first behind the same one."""
    text = viewed(0, item.handle, item.text, placed=(), references=item.references)
    rows = [(text.number(index), reference.last - reference.first + 1) for index, reference in item.references]
    return {number: first for first, count in rows for number in range(first, first + count)}


def shown_by(outcome: TurnOutcome) -> list[Showing]:
    error = [] if outcome.error is None or not outcome.items else [Showing("error", outcome.error.text)]
    return [*showings(outcome.events), *error]


def uncut(outcome: TurnOutcome) -> Composed:
    """The same turn, composed without limits and without a view."""
    provenance = Provenance()
    for record in outcome.calls:
        if record.call is not None:
            provenance.add(record.call, record.outcome)
    composer = Composer(
        turn=outcome.number, seen=Seen(), provenance=provenance, chunks=FileChunks(lambda path, oid: None), redactor=Redactor(), limits=NO_LIMITS,
        flags=Flags(overlap_trim=False),
    )  # fmt: skip
    asked = [
        Showing(one.kind, one.value, {name: told for name, told in one.options.items() if name == "as"})
        for one in shown_by(outcome)
    ]
    return composer.compose(asked, outcome.notices, cap=HUGE)


def is_cut_of(cut: Sequence[str], whole: Sequence[str], recall: str) -> bool:
    """Whether the lines are those of the whole in their order, with a mark for each gap; rows of hits have one mark at the end."""
    rows = any("rows cut" in line and recall in line for line in cut[-1:])
    places = {0}  # how many lines of the whole may have been told
    for line in cut:
        if recall in line and line.startswith("[") and not rows:
            counted = COUNTED.match(line)
            count = int(counted[2] or counted[1]) - int(counted[1]) + 1 if counted else None
            places = {p + count for p in places} if count is not None else set(range(min(places) + 1, len(whole) + 1))
        elif recall in line and line is not cut[-1]:
            begin = line.split("…[")[0]
            places = {p + 1 for p in places if p < len(whole) and whole[p].startswith(begin)}
        elif rows and line is not cut[-1]:
            places = {p + 1 for p in range(min(places), len(whole)) if whole[p] == line}
        elif not rows:
            places = {p + 1 for p in places if p < len(whole) and whole[p] == line}
        if not places:
            return False
    return rows or len(whole) in places
