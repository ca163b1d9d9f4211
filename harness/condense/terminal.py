"""What a terminal would have left on the screen: colours gone, a progress bar in its last state. Pure.

For output of commands only; the lines of a file are shown as they are.
"""

import re

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_BACKSPACES = re.compile(r"[^\n\x08]\x08")


def settled(text: str) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\x08" in text:
        text = _BACKSPACES.sub("", text).replace("\x08", "")
    if "\r" in text:
        text = "\n".join(map(_last_state, text.replace("\r\n", "\n").split("\n")))
    return text


def _last_state(line: str) -> str:
    """What a line shows after its last carriage return; a return at its end has overwritten nothing yet."""
    if "\r" not in line:
        return line
    return next((state for state in reversed(line.split("\r")) if state.strip()), "")
