"""From a value to the bounded text that the transcript gets: pure, whole lines, one shape a file.

value -> its full lines (the shape) -> runs in view become references -> what has room stays, the rest is marked -> text, in which
no run of lines stands twice.
All numbers of `trimmed` are net of what stands there instead, so that produced == bytes of the text + all that was trimmed.
"""

from dataclasses import dataclass
from typing import assert_never

from harness.condense.build import build_page
from harness.condense.file_parts import is_slice, is_slices
from harness.condense.hits import hits_page
from harness.condense.json_sketch import json_page
from harness.condense.layout import fits, lay_cut, lay_whole, rows_of
from harness.condense.output import is_printed, output_page
from harness.condense.page import UNLIMITED, Caps, Laid, Page, size_of, size_of_lines
from harness.condense.patch import is_applied, patch_page
from harness.condense.problem import is_problem, problem_page
from harness.condense.recognise import shape_of
from harness.condense.record import Cause, Condensed, Item
from harness.condense.repeats import folded
from harness.condense.slice import slice_page
from harness.condense.text import text_page
from harness.limits import ShownLimits
from harness.seen import Seen

__all__ = ["Flags", "condense", "shape_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    overlap_trim: bool = True  # lines in view become references
    build_tail: bool = True  # builds and tests are told by their failures and their end


def condense(
    item: Item, view: Seen, limits: ShownLimits, *, room: int, small_file_free: bool = True, flags: Flags = Flags()
) -> Condensed:
    page = _page(item, limits, flags)
    asked = Caps(
        UNLIMITED if item.lines_max is None else max(0, item.lines_max),
        max(0, room if item.bytes_max is None else min(room, item.bytes_max)),
    )
    rows = rows_of(page, view if flags.overlap_trim else None, handle=item.handle, least=limits.run_lines)
    caps = page.caps.within(asked)
    if fits(page, rows, caps):
        condensed = _condensed(page, lay_whole(page, rows))
    elif small_file_free and page.exception is not None and fits(page, rows, page.exception.within(asked)):
        condensed = _condensed(page, lay_whole(page, rows), small_file=True)
    else:
        condensed = _condensed(page, lay_cut(page, rows, caps, handle=item.handle))
    return folded(condensed, own=item.handle, least=limits.run_lines) if flags.overlap_trim else condensed


def _page(item: Item, limits: ShownLimits, flags: Flags) -> Page:
    """By the shape, where the value is of that shape; whatever was declared, any value can be shown."""
    value = item.value
    match item.shape:
        case "slice" if isinstance(value, str) or is_slice(value) or is_slices(value):
            return slice_page(item, limits)
        case "build" if is_printed(value) and flags.build_tail:
            return build_page(item, limits)
        case "output" | "build" if is_printed(value):
            return output_page(item, limits)
        case "hits":
            return hits_page(item, limits)
        case "patch" if is_applied(value):
            return patch_page(item, limits)
        case "text" | "json" | "slice" | "output" | "build" | "patch":
            return _any_page(item, limits)
    assert_never(item.shape)


def _any_page(item: Item, limits: ShownLimits) -> Page:
    if isinstance(item.value, str):
        return text_page(item, limits)
    return problem_page(item, limits) if is_problem(item.value) else json_page(item, limits)


def _condensed(page: Page, laid: Laid, *, small_file: bool = False) -> Condensed:
    text = "\n".join(laid.lines)
    head = page.head if laid.whole else ()
    condensed = page.produced - page.before.bytes - size_of_lines([*head, *page.lines])
    cut = page.produced - condensed - laid.replaced - size_of(text)
    causes: tuple[tuple[Cause, int], ...] = (("in_view", laid.replaced), ("cap", cut), ("condensed", condensed))
    return Condensed(
        text=text, produced=page.produced, trimmed={cause: size for cause, size in causes if size}, whole=laid.whole,
        references=laid.references, placed=laid.placed, small_file=small_file,
    )  # fmt: skip
