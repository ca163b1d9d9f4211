"""A small session for tests: texts are shown, collapsed and folded, forgotten and mended as a session does it."""

from collections.abc import Iterable, Sequence

from harness.condense.in_view import collapse, reference_text
from harness.condense.passage import Passage
from harness.condense.record import Reference
from harness.condense.repeats import folded_passage
from harness.mended import OnRecord, mended
from harness.seen import Seen


class Conversation:
    def __init__(self) -> None:
        self.view = Seen()
        self.sources: dict[str, str] = {}  # all that was ever shown, as it was before collapsing
        self.entries: dict[str, Passage] = {}  # as it was shown at first
        self.in_view: dict[str, Passage] = {}

    def show(self, turn: int, lines: Sequence[str]) -> str:
        handle = f"T{turn}.{len(self.sources)}"
        passage = passage_of(lines, self.view, handle)
        self.view.add(turn, handle, passage.text, passage.placed, passage.references)
        self.sources[handle] = "\n".join(lines)
        self.entries[handle] = self.in_view[handle] = passage
        return handle

    def forget(self, turns: Iterable[int]) -> None:
        gone = {f"T{turn}" for turn in turns}
        self.view.forget(turns)
        self.in_view = {handle: each for handle, each in self.in_view.items() if handle.split(".")[0] not in gone}
        line_of = OnRecord(self.entries.__getitem__).line
        for handle, passage in self.in_view.items():
            after = mended(
                passage.text, passage.references, lambda name: name not in self.in_view, line_of,
                placed=passage.placed, again=lambda lines, own=handle: collapse(lines, self.view, own=own),
            )  # fmt: skip
            if after != passage:
                self.in_view[handle] = folded_passage(after, own=handle)
                turn = int(handle.split(".")[0][1:])
                now = self.in_view[handle]
                self.view.replace(turn, handle, now.text, now.placed, now.references)

    def expanded(self, handle: str) -> str:
        """From what is in view alone."""
        return "\n".join(OnRecord(self.in_view.__getitem__).lines(handle))


def passage_of(lines: Sequence[str], view: Seen, handle: str) -> Passage:
    texts: list[str] = []
    references: list[tuple[int, Reference]] = []
    for span in collapse(lines, view, own=handle):
        if span.reference is None:
            texts += lines[span.first : span.last]
        else:
            references.append((len(texts), span.reference))
            texts.append(reference_text(span.reference))
    return folded_passage(Passage("\n".join(texts), tuple(references)), own=handle)


def literal_lines(passage: Passage) -> dict[int, str]:
    """The lines that stand in the text themselves, by their number, which counts the lines behind references."""
    references = dict(passage.references)
    lines, number = {}, 1
    for index, line in enumerate(passage.text.split("\n")):
        if index in references:
            number += references[index].last - references[index].first + 1
        else:
            lines[number] = line
            number += 1
    return lines
