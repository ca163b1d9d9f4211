"""The words of bash text: quotes, escapes, and the expansions in them, read but never carried out.

What a word would expand to is not known here; `plain` says that it is exactly what is written. Commands and what joins them are
read by bash_text.py, which this file needs only to find the end of $(…). Rule: what is not understood raises Unreadable.
"""

import re
from dataclasses import dataclass

_DEEPEST = 24  # substitutions and groups inside one another; Python's stack must not decide
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_ORDINARY = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[{~]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKTICKS = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = re.compile(r"\$(?:\w+|[?!#@*$-])")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")


class Unreadable(ValueError):
    """Not bash, or bash that is not known here."""


@dataclass(frozen=True, slots=True)
class Word:
    raw: str  # as written, lines that go on put together
    text: str  # without the quotes; expansions as written
    expands: bool = False  # bash puts something else in its place: $x, $(…), `…`, ~, {a,b}, <(…)
    pattern: bool = False  # an unquoted * ? [ is matched against file names

    @property
    def plain(self) -> bool:
        """The program gets exactly `text`."""
        return not self.expands and not self.pattern


class WordReader:
    """A place in a text, and the word that begins there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def skip_list(self) -> None:
        """From just after `(` to its `)`, left unread."""
        raise NotImplementedError

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        if found is not None:
            self.at = found.end()

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable(f"more than {_DEEPEST} levels")

    def at_substitution(self) -> bool:
        return self.text.startswith(("<(", ">("), self.at)

    def word(self) -> Word:
        start, text = self.at, self.text
        parts: list[str] = []
        expands = pattern = False
        while self.at < len(text):
            run = _ORDINARY.match(text, self.at)
            if run is not None:
                parts.append(run[0])
                self.at = run.end()
                continue
            char = text[self.at]
            if char == "'":
                parts.append(self._single())
            elif char == '"':
                inner, opened = self._double()
                parts.append(inner)
                expands |= opened
            elif char == "\\":
                if self.at + 1 == len(text):
                    raise Unreadable("\\ at the end")  # versions of bash differ
                parts.append(text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif char in "$`" or self.at_substitution():
                inner, opened = self._expansion()
                parts.append(inner)
                expands |= opened
            elif char == "(" and ASSIGNMENT.fullmatch(text, start, self.at):
                self._parentheses()  # an array: its items read like the words of commands
                expands = True
            elif char in "*?[":
                pattern = True
                parts.append(char)
                self.at += 1
            elif char in "{~":
                # {} is itself; what looks like {a,b} or HEAD@{1} is taken to expand. ~ counts at the front alone.
                expands |= self.at == start if char == "~" else text[self.at + 1 : self.at + 2] != "}"
                parts.append(char)
                self.at += 1
            else:
                break
        if self.at == start:
            raise Unreadable(f"{text[start : start + 1]!r} where a word should begin")
        return Word(text[start : self.at].replace("\\\n", ""), "".join(parts), expands, pattern)

    def arithmetic(self) -> None:
        """At `((`: past the `))` that belongs to it."""
        open_now = 0
        for index in range(self.at, len(self.text)):
            open_now += {"(": 1, ")": -1}.get(self.text[index], 0)
            if open_now == 0:
                if self.text[index - 1] != ")":
                    raise Unreadable("(( without ))")
                self.at = index + 1
                return
        raise Unreadable("(( without ))")

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("' is never closed")
        inner = self.text[self.at + 1 : end]
        self.at = end + 1
        return inner

    def _double(self) -> tuple[str, bool]:
        """From " to ": the text, and whether something in it expands."""
        self.at += 1
        parts: list[str] = []
        expands = False
        while self.at < len(self.text):
            run = _IN_DOUBLE.match(self.text, self.at)
            if run is not None:
                parts.append(run[0])
                self.at = run.end()
                continue
            char, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
            if char == '"':
                self.at += 1
                return "".join(parts), expands
            if char == "\\":
                parts.append("" if following == "\n" else following if following in '$`"\\' else char + following)
                self.at += 2
            else:
                inner, opened = self._expansion(quoted=True)
                parts.append(inner)
                expands |= opened
        raise Unreadable('" is never closed')

    def _expansion(self, *, quoted: bool = False) -> tuple[str, bool]:
        """At $, ` or <(: what is written, and whether it is an expansion at all; a lone $ is itself."""
        start, text = self.at, self.text
        name = _NAME.match(text, start)
        if text[start] == "`":
            self._past(_BACKTICKS, "` is never closed")
        elif text[start] in "<>":
            self.at += 1
            self._parentheses()
        elif text.startswith("$((", start):
            self.at += 1
            self.arithmetic()
        elif text.startswith("$(", start):
            self.at += 1
            self._parentheses()
        elif text.startswith("${", start):
            self._braces(quoted)
        elif text.startswith("$'", start) and not quoted:
            self._past(_ANSI, "$' is never closed")
        elif text.startswith('$"', start) and not quoted:
            self.at += 1
            self._double()
        elif name is not None:
            self.at = name.end()
        else:
            self.at += 1
            return "$", False
        return text[start : self.at], True

    def _past(self, shape: re.Pattern[str], trouble: str) -> None:
        found = shape.match(self.text, self.at)
        if found is None:
            raise Unreadable(trouble)
        self.at = found.end()

    def _parentheses(self) -> None:
        """At `(`: past its `)`."""
        self.at += 1
        self.deeper()
        self.skip_list()
        self.depth -= 1
        self.at += 1

    def _braces(self, quoted: bool) -> None:
        """At `${`: past its `}`."""
        self.at += 2
        self.deeper()
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "}":
                self.depth -= 1
                self.at += 1
                return
            if char == "\\":
                self.at += 2
            elif char == '"':
                self._double()
            elif char == "'" and not quoted:
                self._single()
            elif char in "$`":
                self._expansion(quoted=quoted)
            else:
                self.at += 1
        raise Unreadable("${ is never closed")
