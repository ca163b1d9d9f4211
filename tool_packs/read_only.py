"""Commands that are known to only read below the root, and so need nobody's approval.

A short list of programs, each with the options that make it write or start something taken out. Everything else asks. Rule:
doubt asks. Only text that is fully read as plain words joined by && || ; | and newlines can be safe: no expansion, no
assignment, no group, no background, no redirection but to /dev/null and of descriptors.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from tool_packs.bash_text import Command, Redirect, Script, Unreadable, Word, read_script
from tool_packs.steps import read_command

_SHELLS = frozenset({"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh"})
_JOINS = frozenset({"", "&&", "||", ";", "|", "\n"})
_NUMBER = r"(?:\d+|\$)"
_SED_SCRIPT = re.compile(rf"{_NUMBER}(?:,{_NUMBER})?p(?:;{_NUMBER}(?:,{_NUMBER})?p)*")
_FIND_ACTS = re.compile(r"-(?:L$|follow|exec|execdir|ok|okdir|delete|fls|fprint|fprint0|fprintf|files0-from)")
_RG_ACTS = ("--pre", "--pre-glob", "--hostname-bin", "--search-zip", "--follow")
_GIT_ACTS = ("--output", "--ext-diff", "--textconv", "--paginate", "--exec-path", "--no-index", "--show-signature")
_GIT_READS = frozenset({"status", "log", "diff", "show"})
_FLAGS = re.compile(r"-[nirRlwvcoEFHhsSqLUPxa]+")


def is_safe(command: str | Sequence[str]) -> bool:
    """True only for what certainly does nothing but read below the folder it runs in."""
    try:
        script = safe_script(command)
    except Unreadable:
        return False
    return script.simple and bool(script.commands) and all(_is_safe(command) for command in script.commands)


def safe_script(command: str | Sequence[str]) -> Script:
    """The command as read; of `bash -lc text`, as many models write every command, the text. Raises Unreadable."""
    script = read_command(command)
    if len(script.commands) == 1 and not script.commands[0].redirects and not script.commands[0].assignments:
        words = script.commands[0].words
        if len(words) == 3 and words[0].text in _SHELLS and words[1].text in ("-c", "-lc") and words[2].plain:
            return read_script(words[2].text)
    return script


def _is_safe(command: Command) -> bool:
    if command.assignments or not command.words or command.joined not in _JOINS:
        return False
    if not all(_is_harmless(redirect) for redirect in command.redirects):
        return False
    program, args = command.words[0], command.words[1:]
    if not program.plain or any(word.expands for word in args):
        return False
    judge = _JUDGES.get(program.text)
    return judge is not None and judge(args)


def _is_harmless(redirect: Redirect) -> bool:
    if not redirect.target.plain:
        return False
    if redirect.operator in (">&", "<&"):
        return re.fullmatch(r"[012]", redirect.target.text) is not None
    if redirect.operator == "<":
        return redirect.target.text == "/dev/null" or _is_below(redirect.target)
    return redirect.operator in (">", ">>", "&>", "&>>") and redirect.target.text == "/dev/null"


def _is_below(word: Word) -> bool:
    """Names nothing outside the folder, also as the value of an option: -nf/etc/passwd, --file=../x, or by a pattern: .*/x."""
    value = word.text
    if value.startswith("-"):
        if "=" not in value and "/" in value:
            return False
        value = value.partition("=")[2]
    parts = value.split("/")
    if word.pattern and any(part.startswith(".") and re.search(r"[*?\[]", part) for part in parts):
        return False  # .* matches .. in older versions of bash
    return not value.startswith(("/", "~")) and ".." not in parts


def _all_below(args: Sequence[Word]) -> bool:
    return all(_is_below(word) for word in args)


def _echo(args: Sequence[Word]) -> bool:
    """A pattern would list names; other words are only text."""
    return all(_is_below(word) for word in args if word.pattern)


def _cd(args: Sequence[Word]) -> bool:
    """`cd` alone goes home, `cd -` to where one came from."""
    return len(args) == 1 and args[0].plain and not args[0].text.startswith("-") and _is_below(args[0])


def _grep(args: Sequence[Word]) -> bool:
    """Not with an option by which it follows links on its own."""
    if any(_is_short(word.text, "R") or _is_long(word.text, ("--dereference-recursive",)) for word in args):
        return False
    return _all_below(_without_pattern(args))


def _rg(args: Sequence[Word]) -> bool:
    for word in args:
        if _may_be_option(word) or _is_short(word.text, "z") or _is_short(word.text, "L") or _is_long(word.text, _RG_ACTS):
            return False
    return _all_below(_without_pattern(args))


def _find(args: Sequence[Word]) -> bool:
    return not any(_may_be_option(word) or _FIND_ACTS.match(word.text) for word in args) and _all_below(args)


def _sed(args: Sequence[Word]) -> bool:
    """`sed -n 1,5p file` and nothing else: its language writes files and starts programs."""
    if len(args) < 2 or args[0].text != "-n" or not _SED_SCRIPT.fullmatch(args[1].text):
        return False
    return all(not word.text.startswith("-") and not _may_be_option(word) for word in args[2:]) and _all_below(args[2:])


def _git(args: Sequence[Word]) -> bool:
    """Options before the sub-command (-c, -C, --git-dir) change what git runs or where."""
    if not args or args[0].text not in _GIT_READS:
        return False
    if any(_may_be_option(word) or _is_long(word.text, _GIT_ACTS) for word in args):
        return False
    return _all_below(args[1:])


def _may_be_option(word: Word) -> bool:
    """A pattern at the front may match a file named like an option."""
    return word.pattern and word.raw[0] in "*?["


def _is_short(text: str, letter: str) -> bool:
    return text.startswith("-") and not text.startswith("--") and letter in text


def _is_long(text: str, names: Sequence[str]) -> bool:
    """Also abbreviated, as git and GNU programs allow."""
    given = text.partition("=")[0]
    return len(given) > 2 and given.startswith("--") and any(name.startswith(given) for name in names)


def _without_pattern(args: Sequence[Word]) -> Sequence[Word]:
    """grep and rg take a pattern first, which may look like a path; sure only when nothing but flags stands before it."""
    for index, word in enumerate(args):
        if not word.text.startswith("-"):
            return [*args[:index], *args[index + 1 :]]
        if not _FLAGS.fullmatch(word.text):
            return args
    return args


_JUDGES: Mapping[str, Callable[[Sequence[Word]], bool]] = MappingProxyType({
    "cat": _all_below, "head": _all_below, "ls": _all_below, "nl": _all_below, "tail": _all_below, "wc": _all_below,
    "echo": _echo, "false": _echo, "true": _echo, "pwd": _echo, "which": _all_below,
    "cd": _cd, "grep": _grep, "rg": _rg, "find": _find, "sed": _sed, "git": _git,
})  # fmt: skip
