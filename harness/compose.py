"""From what a script showed, printed and returned to the one text that the transcript gets, within the turn's bytes.

In the order of the script: each value is freed of secrets, condensed by its shape, and is in view for the next one. The result
and the error come last and are never crowded out; each notice has its bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import orjson

from harness.chunks import FileChunks
from harness.condense import Flags, condense, shape_of
from harness.condense.in_view import WHOLE_BYTES
from harness.condense.record import Condensed, Item, Origin, Reference
from harness.condense.terminal import settled
from harness.limits import ShownLimits
from harness.provenance import Provenance
from harness.redaction import Redactor
from harness.seen import Seen
from harness.visible import visible
from sandbox import Event, Finished, Printed, Shown

Json: TypeAlias = Any
_RESERVED_EACH = 1_024  # bytes kept free for each value that is still to come
_LABEL_BYTES = 16  # a handle in its brackets, and line ends
_NOTICE = "notice: "
_WORKED_BYTES = 8 << 20  # of a turn's values that are looked at: the text has 24 KiB, and the work for it an end
_PRINTED = ("output", "build", "hits")  # shapes of what commands print


@dataclass(frozen=True, slots=True)
class Showing:
    """One thing to show. `kind`: a value shown or returned, what the console printed, or the error that ended the script."""

    kind: Literal["value", "console", "error"]
    value: Json
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """What stands in the transcript under a handle. `labelled`: the handle stands before it."""

    handle: str
    kind: Literal["value", "console", "error"]
    text: str
    labelled: bool
    whole: bool
    produced: int
    trimmed: Mapping[str, int]
    references: tuple[tuple[int, Reference], ...] = ()
    placed: tuple[tuple[int, int, Origin], ...] = ()

    @property
    def crowded_out(self) -> bool:
        return not (self.text or self.whole)

    @property
    def lines(self) -> str:
        return f"[{self.handle}]\n{self.text}" if self.labelled else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    items: tuple[ShownItem, ...]
    values: tuple[Json, ...]  # the whole values behind the items' handles
    notices: tuple[str, ...]
    redacted: Mapping[str, int]

    @property
    def text(self) -> str:
        return text_of(self.items, self.notices)


def text_of(items: Iterable[ShownItem], notices: Iterable[str]) -> str:
    """One that had no room has no line; a notice speaks for it."""
    return "\n".join([*(item.lines for item in items if not item.crowded_out), *(_NOTICE + notice for notice in notices)])


def showings(events: Iterable[Event]) -> list[Showing]:
    """What the events give to see; lines printed one after the other are one."""
    found: list[Showing] = []
    for event in events:
        if isinstance(event, Shown):
            found.append(Showing("value", event.value, event.options))
        elif isinstance(event, Printed):
            line = event.text if event.level in ("log", "info", "debug") else f"{event.level}: {event.text}"
            if found and found[-1].kind == "console":
                found[-1] = Showing("console", f"{found[-1].value}\n{line}")
            else:
                found.append(Showing("console", line))
        elif isinstance(event, Finished) and event.value is not None:
            found.append(Showing("value", event.value))
    return found


def in_parts(events: Iterable[Event], words: Sequence[int]) -> list[list[Event]]:
    """Cut where the model was told what there was: after so many shown values and printed lines; the last part is the rest."""
    parts: list[list[Event]] = [[]]
    count = 0
    for event in events:
        while len(parts) <= len(words) and count >= words[len(parts) - 1]:
            parts.append([])
        parts[-1].append(event)
        count += is_word(event)
    return parts + [[] for _ in range(len(words) + 1 - len(parts))]


def is_word(event: Event) -> bool:
    return isinstance(event, Shown | Printed)


class Composer:
    """For one turn, which may be composed in parts: what is told while the script still runs, and the rest."""

    def __init__(
        self,
        *,
        turn: int,
        seen: Seen,
        provenance: Provenance,
        chunks: FileChunks,
        redactor: Redactor,
        limits: ShownLimits,
        flags: Flags,
    ) -> None:
        self._turn = turn
        self._seen = seen
        self._provenance = provenance
        self._chunks = chunks
        self._redactor = redactor
        self._limits = limits
        self._flags = flags
        self._count = 0  # of items in the parts before
        self._spent = self._worked = 0  # their bytes
        self._redacted: Counter[str] = Counter()
        self._small_file_free = True

    def compose(self, showing: Sequence[Showing], notices: Sequence[str], *, cap: int) -> Composed:
        """The next part. `cap`: the bytes that the whole turn may show."""
        told = [visible(self._text_redacted(notice)) for notice in notices]
        room = cap - self._spent - sum(min(_bytes(_NOTICE + notice) + 1, self._limits.notice_bytes) for notice in told)
        items: list[ShownItem] = []
        reserved = [min(_estimate(one.value), _RESERVED_EACH) + _LABEL_BYTES for one in showing]
        later, last = sum(reserved), reserved[-1] if reserved else 0
        if later > room:
            room -= self._limits.notice_bytes  # to say what had no room
        for at, (one, own) in enumerate(zip(showing, reserved, strict=True), 1):
            later -= own
            free = room if at == len(showing) else room - last
            self._worked += _estimate(one.value)
            if self._worked > _WORKED_BYTES and at < len(showing):
                items.append(_unseen(f"T{self._turn}.{self._count + at}", one))
                continue
            item = self._item(self._count + at, one, max(room - later, free // 2))
            items.append(item)
            if item.crowded_out:
                continue
            room -= _bytes(item.lines) + 1
            self._spent += _bytes(item.lines) + 1
            if item.labelled:  # nothing refers to what has no name in the transcript
                self._seen.add(self._turn, item.handle, item.text, item.placed, item.references)
        told += _crowded_out(items)
        self._count += len(items)
        return Composed(
            items=tuple(items), values=tuple(one.value for one in showing), notices=tuple(self._fitted(told, room)),
            redacted=dict(self._redacted),
        )  # fmt: skip

    def _item(self, number: int, one: Showing, room: int) -> ShownItem:
        handle = f"T{self._turn}.{number}"
        source = self._provenance.of(one.value)
        told = one.options.get("as")
        shown = source.instead if source is not None and source.instead is not None and told is None else one.value
        shape = shape_of(shown, declared=source.shape if source else None, told=told if isinstance(told, str) else None)
        value = self._clean(shown, printed=shape in _PRINTED)
        origin, label = source.origin if source else None, len(handle) + 3
        # What went wrong is told in words, however often.
        flags = self._flags if one.kind != "error" else replace(self._flags, overlap_trim=False)
        condensed = condense(
            Item(
                handle=handle, value=value, shape="text" if one.kind != "value" else shape,
                origin=origin and replace(origin, path=visible(self._text_redacted(origin.path))),
                command=source.command if source else "",
                exit_code=source.exit_code if source else None, terms=self._provenance.terms,
                lines_max=_count(one.options.get("lines")), bytes_max=_count(one.options.get("max_bytes")),
            ),
            self._seen, self._limits, room=max(0, room - label), small_file_free=self._small_file_free, flags=flags,
        )  # fmt: skip
        self._small_file_free = self._small_file_free and not condensed.small_file
        labelled = one.kind != "error" and (not condensed.whole or self._can_be_referred_to(condensed.text))
        return _shown_item(handle, one, replace(condensed, references=self._with_chunks(condensed)), labelled=labelled)

    def _can_be_referred_to(self, text: str) -> bool:
        return text.count("\n") + 1 >= self._limits.run_lines or _bytes(text) > WHOLE_BYTES

    def _with_chunks(self, condensed: Condensed) -> tuple[tuple[int, Reference], ...]:
        return tuple(
            (at, replace(one, chunk_ids=self._chunks(one.path, one.oid, *one.lines)) if one.lines is not None else one)
            for at, one in condensed.references
        )

    def _clean(self, value: Json, *, printed: bool) -> Json:
        """Without secrets, control characters made visible; what a command printed is as its terminal would show it."""
        freed, found = self._redactor.value(value)
        self._redacted.update(found)
        return _mapped(freed, (lambda text: visible(settled(text))) if printed else visible)

    def _text_redacted(self, text: str) -> str:
        freed = self._redactor.text(text)
        self._redacted.update(freed.found)
        return freed.text

    def _fitted(self, notices: Sequence[str], room: int) -> list[str]:
        """A notice longer than its bytes has more only when there is room."""
        fitted = []
        for notice in notices:
            most = max(self._limits.notice_bytes - len(_NOTICE) - 1, room)
            fitted.append(_cut(notice, most))
            room -= max(0, _bytes(fitted[-1]) + len(_NOTICE) + 1 - self._limits.notice_bytes)
        return fitted


def _crowded_out(items: Sequence[ShownItem]) -> list[str]:
    gone = [item.handle for item in items if item.crowded_out]
    if not gone:
        return []
    return [f'{len(gone)} of {len(items)} values had no room; show less at once, or in a later turn: await recall("{gone[0]}")']


def rewritten(
    item: ShownItem, text: str, references: Sequence[tuple[int, Reference]], placed: Sequence[tuple[int, int, Origin]]
) -> ShownItem:
    """Lines that came back can be referred to, so the handle stands before them."""
    return replace(item, text=text, references=tuple(references), placed=tuple(placed), labelled=True)


def _shown_item(handle: str, one: Showing, condensed: Condensed, *, labelled: bool) -> ShownItem:
    return ShownItem(
        handle=handle, kind=one.kind, text=condensed.text, labelled=labelled, whole=condensed.whole, produced=condensed.produced,
        trimmed={str(cause): size for cause, size in condensed.trimmed.items()}, references=condensed.references,
        placed=condensed.placed,
    )  # fmt: skip


def _unseen(handle: str, one: Showing) -> ShownItem:
    """It had no room, and was not even looked at."""
    size = _estimate(one.value)
    return ShownItem(handle=handle, kind=one.kind, text="", labelled=False, whole=False, produced=size, trimmed={"cap": size})


def _mapped(value: Json, change: Callable[[str], str]) -> Json:
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(one, change) for one in value]
        case dict():
            members: dict[str, Json] = {}
            for name, one in value.items():
                shown = change(name)
                while shown in members:  # two keys that look alike are still two members
                    shown += "'"
                members[shown] = _mapped(one, change)
            return members
        case _:
            return value


def _estimate(value: Json) -> int:
    return len(value) if isinstance(value, str) else len(orjson.dumps(value))


def _count(told: Json) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _cut(text: str, most: int) -> str:
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= most else raw[: max(0, most - 3)].decode("utf-8", "ignore") + "…"
