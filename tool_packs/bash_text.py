"""The text of a bash command, read into simple commands: words, redirections, heredocs, and what joins them.

Nothing is expanded and nothing runs. Compound commands are read through (the commands inside a loop are in the list) and the
result then says `simple=False`; commands inside $(…) are skipped over. Rule: what is not understood raises Unreadable, so
that nobody judges half a command.
"""

import re
from dataclasses import dataclass, replace

from tool_packs.bash_words import ASSIGNMENT, Unreadable, Word, WordReader

__all__ = ["Command", "Redirect", "Script", "Unreadable", "Word", "read_script"]

_LONGEST = 1_048_576  # characters; a script of the model is far shorter
# Bash joins lines before it looks for operators and names: $\⏎(x) is $(x). Nobody writes so for a good reason.
_SPLIT_TOKEN = re.compile(r"\$\\\n|[<>&|;\d](?:\\\n)+[<>&|;(]")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||[<>](?!\())")
_JOIN = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[;&|\n]")
_IN_CONDITION = re.compile(r"[<>()&|;]+")
_EMPTY_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_RESERVED = frozenset(["if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "coproc"])
_LETTERS = re.compile(r"[a-z]+(?![^\s;&|()])")


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str  # > >> >| &> &>> >& < <& <> << <<- <<<
    descriptor: str  # "" when not written
    target: Word
    body: str | None = None  # of a heredoc

    @property
    def writes(self) -> bool:
        """To a file; `2>&1` and `>&-` only name descriptors."""
        if self.operator == ">&":
            return re.fullmatch(r"\d+-?|-", self.target.text) is None
        return self.operator in (">", ">>", ">|", "&>", "&>>", "<>")


@dataclass(frozen=True, slots=True)
class Command:
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[Word, ...] = ()
    joined: str = ""  # what follows it: && || | |& ; & newline, or nothing
    piped_in: bool = False  # the command before it feeds it


@dataclass(frozen=True, slots=True)
class Script:
    commands: tuple[Command, ...]
    simple: bool  # nothing but simple commands and what joins them: no loop, group, function, condition


def read_script(text: str) -> Script:
    if len(text) > _LONGEST:
        raise Unreadable(f"{len(text):,} characters")
    if "\x00" in text:
        raise Unreadable("a NUL character")
    if _SPLIT_TOKEN.search(text):
        raise Unreadable("an operator on two lines")
    reader = _Reader(text)
    reader.commands_until("")
    return Script(tuple(draft.made() for draft in reader.drafts), reader.simple)


class _Draft:
    """A command while it is read: bodies of heredocs arrive after the line that announces them."""

    def __init__(self, piped_in: bool) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirects: list[Redirect] = []
        self.joined = ""
        self.piped_in = piped_in

    def made(self) -> Command:
        return Command(tuple(self.words), tuple(self.redirects), tuple(self.assignments), self.joined, self.piped_in)


class _Reader(WordReader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.simple = True
        self.drafts: list[_Draft] = []
        self.waiting = ""  # a join that needs a command after it
        self.heredocs: list[tuple[list[Redirect], int]] = []  # their bodies begin after the next newline

    def skip_list(self) -> None:
        kept = self.drafts, self.simple, self.waiting
        self.drafts, self.waiting = [], ""
        self.commands_until(")")
        self.drafts, self.simple, self.waiting = kept

    # ── lists of commands ────────────────────────────────────────────────────────────────────────────────────────────

    def commands_until(self, closing: str) -> None:
        """Up to `)`, left unread; to the end of a case's branch (closing="esac"); or to the end of the text."""
        while True:
            self._to_command()
            ended = self.at >= len(self.text)
            if ended or self.text[self.at] == ")":
                if closing != ("" if ended else ")"):
                    raise Unreadable(f"{closing or '('} is missing")
                if self.waiting:
                    raise Unreadable(f"nothing after {self.waiting}")
                return
            if closing == "esac" and (self.text.startswith((";;", ";&"), self.at) or self._ahead("esac")):
                return
            self._command(closing)

    def _to_command(self) -> None:
        while True:
            self.blank()
            char = self.text[self.at : self.at + 1]
            if char == "\n":
                self.at += 1
                self._read_heredocs()
            elif char == "#":
                self._comment()
            else:
                return

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = end if end >= 0 else len(self.text)

    def _ahead(self, word: str) -> bool:
        found = _LETTERS.match(self.text, self.at)
        return found is not None and found[0] == word

    def _command(self, closing: str) -> None:
        draft, start = _Draft(self.waiting in ("|", "|&")), self.at
        self.waiting = ""
        while self._part(draft):
            pass
        if draft.words or draft.assignments or draft.redirects:
            self.drafts.append(draft)
        join = _JOIN.match(self.text, self.at)
        if join is None:
            if self.at == start:
                raise Unreadable(f"{self.text[self.at]!r} where a command should begin")
            return
        if join[0] in (";;", ";&", ";;&") and closing == "esac":
            return
        if self.at == start or join[0] in (";;", ";&", ";;&"):
            raise Unreadable(f"{join[0]!r} where a command should begin")
        draft.joined = join[0]
        self.waiting = join[0] if join[0] in ("|", "|&", "&&", "||") else ""
        self.at = join.end()
        if join[0] == "\n":
            self._read_heredocs()

    def _part(self, draft: _Draft) -> bool:
        """One word or redirection more; False where the command ends."""
        self.blank()
        redirect = _REDIRECT.match(self.text, self.at)
        if redirect is not None:
            self._redirect(draft, redirect)
            return True
        char = self.text[self.at : self.at + 1]
        if char == "#":
            self._comment()
        if char in ("", ";", "&", "|", "\n", ")", "#"):
            return False
        if char == "(":
            self._group(draft)
            return True
        word = self.word()
        if draft.words:
            draft.words.append(word)
        elif ASSIGNMENT.match(word.raw):
            draft.assignments.append(word)
        else:
            self._first_word(draft, word)
        return True

    # ── compound commands ────────────────────────────────────────────────────────────────────────────────────────────

    def _first_word(self, draft: _Draft, word: Word) -> None:
        """Words are reserved here alone: not after the first one, not in quotes."""
        if word.raw in ("in", "esac", "]]"):
            raise Unreadable(f"{word.raw} where a command should begin")
        if word.raw in _RESERVED:
            self.simple = False
        elif word.raw == "case":
            self._case()
        elif word.raw in ("for", "select"):
            self._for()
        elif word.raw == "[[":
            self._condition(draft, word)
        elif word.raw == "function":
            self.simple = False
            self.blank()
            self.word()
            self._empty_parentheses()
        elif self._empty_parentheses():
            self.simple = False
        else:
            draft.words.append(word)

    def _empty_parentheses(self) -> bool:
        found = _EMPTY_PARENTHESES.match(self.text, self.at)
        self.at = self.at if found is None else found.end()
        return found is not None

    def _group(self, draft: _Draft) -> None:
        if draft.words or draft.assignments or draft.redirects:
            raise Unreadable("( after a word")
        self.simple = False
        if self.text.startswith("((", self.at):
            self.arithmetic()
            return
        self.at += 1
        self.deeper()
        self.commands_until(")")
        self.depth -= 1
        self.at += 1

    def _for(self) -> None:
        self.simple = False
        self.blank()
        if self.text.startswith("((", self.at):
            self.arithmetic()
            return
        ignored = _Draft(False)
        ignored.words.append(Word("for", "for"))
        while self._part(ignored):
            pass

    def _case(self) -> None:
        self.simple = False
        self.blank()
        self.word()
        self._to_command()
        if self.word().raw != "in":
            raise Unreadable("case without in")
        self.deeper()
        while True:
            self._to_command()
            if self._ahead("esac"):
                self.at += len("esac")
                self.depth -= 1
                return
            end = self.text.find(")", self.at)
            if end < 0:
                raise Unreadable("case without esac")
            self.at = end + 1
            self.commands_until("esac")
            branch = _JOIN.match(self.text, self.at)
            self.at = self.at if branch is None else branch.end()

    def _condition(self, draft: _Draft, word: Word) -> None:
        """[[ … ]]: < > ( ) && || are words of their own in it."""
        draft.words.append(word)
        while draft.words[-1].raw != "]]":
            self._to_command()
            operator = _IN_CONDITION.match(self.text, self.at)
            if operator is None:
                draft.words.append(self.word())
            else:
                self.at = operator.end()
                draft.words.append(Word(operator[0], operator[0]))

    # ── redirections ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _redirect(self, draft: _Draft, found: re.Match[str]) -> None:
        self.at = found.end()
        self.blank()
        if self.text.startswith("#", self.at):
            raise Unreadable(f"nothing after {found[2]}")
        target = self.word()
        if found[2] in ("<<", "<<-"):
            self.heredocs.append((draft.redirects, len(draft.redirects)))
        draft.redirects.append(Redirect(found[2], found[1] or "", target))

    def _read_heredocs(self) -> None:
        waiting, self.heredocs = self.heredocs, []
        for redirects, index in waiting:
            redirects[index] = replace(redirects[index], body=self._body(redirects[index]))

    def _body(self, redirect: Redirect) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at : end if end >= 0 else len(self.text)]
            self.at = end + 1 if end >= 0 else len(self.text)
            line = line.lstrip("\t") if redirect.operator == "<<-" else line
            if line == redirect.target.text:
                return "".join(lines)
            lines.append(line + "\n")
        if self.depth:
            raise Unreadable(f"the heredoc {redirect.target.text} never ends")
        return "".join(lines)  # bash takes the end of the text for the end of it
