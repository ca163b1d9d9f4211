"""From where the engine says to where the author wrote: lines, columns, carets, call sites.

The engine counts lines from the top of the wrapped text and columns in UTF-8 bytes, and gives a call the place of its
last argument. With the outline made by source.py this file finds the call itself. Pure; knows only text and numbers.
"""

import re
from bisect import bisect_right

FIRST_LINE = 1_002  # of the author's script, as the engine counts; the prelude's files stay below 1,000 lines
COMPLETION = "return ("  # what source.py puts before a last expression
CALLS_MAX = 2_000  # call and throw sites outlined; a script of 128 KiB has room for more, but nobody writes it
_STEPS_MAX = 200  # calls looked at around a place
_SITE_BYTES = 400

_FRAME = re.compile(r"^\s*at (?:(?P<name>.*) \()?(?P<text><input>|script):(?P<line>\d+):(?P<column>\d+)\)?$")
_EXCERPT_WIDTH = 110
_NAMES_OF_OURS = frozenset({"<anonymous>", "<eval>", "anonymous"})


class Positions:
    """The author's script, and where things stand in it."""

    def __init__(self, source: str) -> None:
        self._raw = source.encode("utf-8", "replace")
        self._starts = [0]
        for match in re.finditer(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]", self._raw):
            self._starts.append(match.end())
        self._inserted = -1
        self._outline: list[tuple[int, int, int]] = []
        self._throws: list[tuple[int, int]] = []
        self._calls_found: dict[tuple[int, str], tuple[int, str]] = {}

    def place(self, inserted: int, outline: list[int], throws: list[int]) -> None:
        """What source.py did to the text, told by the worker; nonsense only makes our carets wrong."""
        self._inserted = inserted
        self._throws = list(zip(throws[::2], throws[1::2], strict=False))
        self._calls_found.clear()
        self._outline = list(zip(outline[::3], outline[1::3], outline[2::3], strict=False))

    # ------------------------------------------------------------ engine position to byte offset to line, column

    def offset(self, line: int, column: int) -> int:
        """Byte offset of an engine position in the author's text, or -1 when it lies outside."""
        row = line - FIRST_LINE
        if not 0 <= row < len(self._starts):
            return -1
        at = self._starts[row] + max(column - 1, 0)
        if self._inserted >= 0 and self._starts[row] <= self._inserted < at and self._same_row(row, self._inserted):
            at = max(at - len(COMPLETION), self._inserted)
        return min(at, len(self._raw))

    def _offset_of(self, match: re.Match[str]) -> int:
        line, column = int(match["line"][:9]), int(match["column"][:9])
        if match["text"] == "<input>":
            return self.offset(line, column)
        return self._starts[line - 1] + column - 1 if 0 < line <= len(self._starts) else -1  # tidied by rare.js already

    def _same_row(self, row: int, at: int) -> bool:
        return row + 1 >= len(self._starts) or at < self._starts[row + 1]

    def locate(self, at: int) -> tuple[int, int]:
        """Line and column, from 1, columns in characters."""
        row = bisect_right(self._starts, at) - 1
        return row + 1, len(self._raw[self._starts[row] : at].decode("utf-8", "replace")) + 1

    def mark(self, at: int) -> tuple[int, int, str]:
        """Line, column, and the line with a caret under the place."""
        line, column = self.locate(at)
        return line, column, self.excerpt(line, column)

    def end(self) -> tuple[int, int]:
        """The place behind the last character that is not white space."""
        return self.locate(len(self._raw.rstrip()))

    def beyond_end(self, stack: str) -> bool:
        """Does the innermost position lie in what stands behind the script?"""
        match = _FRAME.match(stack.split("\n", 1)[0])
        return match is not None and int(match["line"][:9]) - FIRST_LINE >= len(self._starts)

    # ------------------------------------------------------------ calls

    def call_at(self, at: int, name: str = "") -> tuple[int, str]:
        """Start of the call that an engine position belongs to, and the text that is called there ("" when none is known).

        `name`: the last part of what was called, to tell `outer(inner(x))` apart.
        """
        if (at, name) not in self._calls_found:
            self._calls_found[at, name] = self._find_call(at, name.encode())
        return self._calls_found[at, name]

    def _find_call(self, at: int, name: bytes) -> tuple[int, str]:
        here = bisect_right(self._outline, (at, len(self._raw), len(self._raw)))
        around = [call for call in reversed(self._outline[max(0, here - _STEPS_MAX) : here]) if at < call[2]]  # innermost first
        if not around:
            row = bisect_right(self._starts, at)
            end = self._starts[row] if row < len(self._starts) else len(self._raw)
            around = [call for call in self._outline[here : here + 1] if call[0] < end]
        if not around:
            return at, ""
        best = next((call for call in around if name and self._raw.endswith(name, call[0], call[1])), around[0])
        return best[0], self._called(best)

    def throws(self, value: str) -> list[int]:
        """Where a value that is no Error may have been thrown: it carries no stack, so the text must tell.

        A place that names the value itself beats one that might have made it.
        """
        places = [(start, self._text(start, end)) for start, end in self._throws]
        places += [
            (start, self._text(start, end))
            for start, called_end, end in self._outline
            if self._raw.endswith(b"reject", start, called_end)
        ]
        exact = [at for at, text in places if value and value in text]
        return sorted(exact or [at for at, text in places if not text.startswith("throw new ")])

    def _called(self, call: tuple[int, int, int]) -> str:
        return self._text(call[0], call[1]).removeprefix("new ").strip()

    def _text(self, start: int, end: int) -> str:
        return self._raw[start : min(end, start + _SITE_BYTES)].decode("utf-8", "replace")

    # ------------------------------------------------------------ stacks and carets

    def frames(self, stack: str, most: int) -> list[tuple[str, int, str]]:
        """Function, byte offset, and the name of what it called, for each frame in the script, innermost first."""
        found: list[tuple[str, int, str]] = []
        callee = ""
        for row in stack[:20_000].split("\n"):
            match = _FRAME.match(row)
            name = (match["name"] if match else row.strip().removeprefix("at ").removesuffix(" (native)")) or ""
            at = self._offset_of(match) if match else -1
            if at >= 0:
                found.append(("" if name in _NAMES_OF_OURS else name[:80], at, callee))
            callee = "" if name in _NAMES_OF_OURS else name[:80]
        return found[:most]

    @property
    def source(self) -> str:
        return self._raw.decode("utf-8", "replace")

    def line_at(self, line: int, column: int) -> tuple[str, str]:
        """The author's line, before the place and from it on."""
        if not 1 <= line <= len(self._starts):
            return "", ""
        end = self._starts[line] if line < len(self._starts) else len(self._raw)
        text = self._raw[self._starts[line - 1] : end].decode("utf-8", "replace")
        at = column - 1
        return text[max(0, at - _SITE_BYTES) : at], text[at : at + _SITE_BYTES]

    def excerpt(self, line: int, column: int) -> str:
        """The author's own line with a caret under the place."""
        if not 1 <= line <= len(self._starts):
            return ""
        end = self._starts[line] if line < len(self._starts) else len(self._raw)
        text = self._raw[self._starts[line - 1] : end].decode("utf-8", "replace").rstrip("\r\n\u2028\u2029")
        at = min(column - 1, len(text))
        first = max(0, at - _EXCERPT_WIDTH // 2) if len(text) > _EXCERPT_WIDTH else 0
        text = "".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in text)
        shown = text[first : first + _EXCERPT_WIDTH]
        lead = "…" if first else ""
        tail = "…" if first + _EXCERPT_WIDTH < len(text) else ""
        gutter = f"  {line} | "
        pad = "".join("\t" if c == "\t" else " " for c in lead + shown[: at - first])
        return f"{gutter}{lead}{shown}{tail}\n{' ' * (len(gutter) - 2)}| {pad}^"
