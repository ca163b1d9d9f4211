"""A turn that is told in parts: what its script has shown so far, while it still runs, and the rest when it has ended.

A part is on record before anybody is told. It says where it was cut, by outcomes that the script had been told; a script is a
function of those, so a replay cuts at the same place.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import anyio

from harness.compose import Composed, Composer, Showing, ShownItem, in_parts, is_word, showings, text_of
from sandbox import Event

_END_BYTES: Final = 2_048  # of the turn's, kept free for its end: what a script failed of is told, whatever the parts have taken
_NO_ROOM: Final = 'while the script ran, {count} more values had no room; in a later turn: await recall("{first}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where: after so many outcomes told, and so many values shown and lines printed in all."""

    told: int
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What came since the part before."""

    cut: Cut
    events: tuple[Event, ...]
    composed: Composed

    @property
    def items(self) -> tuple[ShownItem, ...]:
        return self.composed.items

    @property
    def notices(self) -> tuple[str, ...]:
        return self.composed.notices

    @property
    def text(self) -> str:
        return self.composed.text


Note = Callable[[Part], Awaitable[None]]


class Parts:
    """Of one turn. `cap`: the bytes it may show, which a script can raise. `recorded`: where a recording was cut."""

    def __init__(
        self,
        composer: Composer,
        *,
        cap: Callable[[], int],
        keep: Callable[[str, Any], None],
        note: Note,
        recorded: Sequence[Cut] = (),
        on_record: bool = False,
    ) -> None:
        """`note`: puts a part on record; `on_record`: the recorded ones are there already."""
        self._composer = composer
        self._cap = cap
        self._keep = keep
        self._note = note
        self._recorded = list(recorded)
        self._on_record = on_record
        self._from = 0  # the first event that no part has
        self.events: list[Event] = []
        self.told = 0  # outcomes that the script has been told
        self._silent: list[str] = []  # handles of values that had no room, which no part has said
        self.over = False  # the end is composed, so nothing is left for a part
        self.given: list[Part] = []

    async def cut(self) -> Part | None:
        """What came since the part before; None: nothing. Who stops waiting here is told all the same: it is in view."""
        part = self._part(Cut(told=self.told, words=self._words()))
        if part is not None:
            with anyio.CancelScope(shield=True):
                await self._note(part)
        return part

    async def due(self) -> None:
        """In a replay, before the script is told more: the parts that were cut here."""
        while self._recorded and self._recorded[0].told <= self.told:
            part = self._part(self._recorded.pop(0))
            if part is not None and not self._on_record:
                await self._note(part)

    def rest(self, events: Sequence[Event], also: Sequence[Showing], notices: Sequence[str]) -> Composed:
        """What no part has told, `also` and the notices; given with all parts before it as one."""
        self.events, self.over = list(events), True
        left = [*showings(self.events[self._from :]), *also]
        unsaid = [_NO_ROOM.format(count=len(self._silent), first=self._silent[0])] if self._silent else []
        composed = self._composer.compose(left, [*notices, *unsaid], cap=self._cap() - self._said())
        self._kept(composed)
        every = [*(part.composed for part in self.given), composed]
        items, values, notices_of = zip(*((one.items, one.values, one.notices) for one in every), strict=True)
        return Composed(
            items=tuple(chain(*items)), values=tuple(chain(*values)), notices=tuple(chain(*notices_of)),
            redacted=composed.redacted,
        )  # fmt: skip

    def _part(self, cut: Cut) -> Part | None:
        words = cut.words - sum(is_word(event) for event in self.events[: self._from])
        fresh, _ = in_parts(self.events[self._from :], [max(words, 0)])
        if not any(is_word(event) for event in fresh):
            return None
        self._from += len(fresh)
        cap = self._cap()
        composed = self._composer.compose(showings(fresh), (), cap=cap - min(_END_BYTES, cap // 4))
        self._kept(composed)
        if self._said():  # once is enough: each would take from what the end has
            self._silent += [item.handle for item in composed.items if item.crowded_out]
            composed = replace(composed, notices=())
        part = Part(cut=cut, events=tuple(fresh), composed=composed)
        self.given.append(part)
        return part

    def _said(self) -> int:
        """The bytes of notices in parts, which the composer does not count."""
        return sum(len(notice.encode()) + len("notice: \n") for part in self.given for notice in part.notices)

    def _words(self) -> int:
        return sum(is_word(event) for event in self.events)

    def _kept(self, composed: Composed) -> None:
        for item, value in zip(composed.items, composed.values, strict=True):
            self._keep(item.handle, value)


def rest_of(items: Sequence[ShownItem], notices: Sequence[str], parts: Sequence[Part]) -> str:
    """The text that came with the end."""
    told, said = sum(len(part.items) for part in parts), sum(len(part.notices) for part in parts)
    return text_of(items[told:], notices[said:])
