"""What the end of a turn says of places in its script, after the script changed: an error with its line and caret, notices that
name a line and a column, and both again in the text that the model was shown. So a replay says the same. Pure.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from harness.entries import Ended
from harness.scrub_moves import Moves
from sandbox import ScriptError, Site
from sandbox.positions import Positions

_PLACE = re.compile(r"\bline (\d{1,9}), column (\d{1,9})\b")


def moved_end(before: Ended, after: Ended, moves: Moves, change: Callable[[str], str]) -> Ended:
    """`after`: with its texts changed, and the places as they were. `change`: what the texts were changed by."""
    swaps = {old: new for old in after.notices if (new := _moved_places(old, moves)) != old}
    ending = after.ending
    if before.ending.error is not None and ending.error is not None:
        error = _moved_error(before.ending.error, ending.error, moves, Positions(moves.before), Positions(moves.after))
        ending = replace(ending, error=error)
        swaps[change(before.ending.error.text)] = error.text
    return replace(
        after,
        ending=ending,
        text=_swapped(after.text, swaps),
        items=tuple(replace(item, text=_swapped(item.text, swaps)) if item.kind == "error" else item for item in after.items),
        notices=tuple(swaps.get(notice, notice) for notice in after.notices),
    )


def _swapped(text: str, swaps: dict[str, str]) -> str:
    for old, new in swaps.items():
        text = text.replace(old, new)
    return text


def _moved_places(text: str, moves: Moves) -> str:
    def at(found: re.Match[str]) -> str:
        site = moves.site(Site(int(found[1]), int(found[2])))
        return f"line {site.line}, column {site.column}"

    return _PLACE.sub(at, text)


def _moved_error(before: ScriptError, after: ScriptError, moves: Moves, old: Positions, new: Positions) -> ScriptError:
    site = moves.site(Site(before.line, before.column))
    drawn = before.excerpt and before.excerpt == old.excerpt(before.line, before.column)
    frames = []
    for frame in after.frames:
        at = moves.site(Site(frame.line, frame.column))
        frames.append(replace(frame, line=at.line, column=at.column))
    cause = None
    if before.cause is not None and after.cause is not None:
        cause = _moved_error(before.cause, after.cause, moves, old, new)
    others = zip(before.others, after.others, strict=True)
    return replace(
        after,
        line=site.line,
        column=site.column,
        excerpt=new.excerpt(site.line, site.column) if drawn else after.excerpt,
        frames=tuple(frames),
        cause=cause,
        others=tuple(_moved_error(one, other, moves, old, new) for one, other in others),
    )
