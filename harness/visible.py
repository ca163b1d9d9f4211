"""Characters that a reader cannot see are shown as what they are: `\\u202e`. Pure.

Terminal control, C1, bidirectional marks, zero-width and other invisible characters, tag characters, lone surrogates. Line ends
and tabs stay, and so does one variation selector behind a character, as emoji have it; several in a row can carry a hidden text.
Colours of a command's output are better taken away first (`harness.condense.terminal.settled`).
"""

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # terminal control and C1
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # soft hyphen, joiners and fillers without a width
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"  # zero width, separators, direction, interlinear notes
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand and music format, tags, variation selectors
    "\ud800-\udfff"
    "]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]|[\ufe00-\ufe0f](?=[\ufe00-\ufe0f])"
)


def visible(text: str) -> str:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _HIDDEN.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"
