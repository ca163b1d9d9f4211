"""What a command prints, when that is nothing but lines of files and separators between them. Pure; reads.py finds them.

Known are cat, head, tail, sed -n, nl, awk and bat, and pipes of these. Rule: one step that is not known, and the whole is not.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tool_packs.bash_text import Unreadable
from tool_packs.read_ranges import Range, awk_ranges, bat_range, sed_ranges
from tool_packs.steps import Step, positionals, read_command, steps_of

_SILENT = frozenset({"true", ":", "set", "export", "shopt", "ulimit", "unset", "mkdir", "sleep"})
_VALUED = {
    "head": frozenset({"-n", "-c"}), "tail": frozenset({"-n", "-c"}), "sed": frozenset({"-e", "-f"}),
    "nl": frozenset({"-w", "-s", "-v", "-b"}), "bat": frozenset({"-r", "--line-range"}),
}  # fmt: skip
_FORMAT = re.compile(r"[^%\\]*(?:\\n[^%\\]*)*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of one file that a step prints, in order."""

    path: str
    range: Range | None  # None: which lines the command does not tell, such as tail -n 20
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Separator:
    """What echo or printf prints between two files."""

    lines: tuple[str, ...]


Part: TypeAlias = Stretch | Separator


def parts_of(command: str | Sequence[str]) -> tuple[Part, ...]:
    """In the order of printing; empty when the command does anything else than print lines of files."""
    try:
        steps, simple = steps_of(read_command(command))
    except Unreadable:
        return ()
    if not simple:
        return ()
    parts: list[Part] = []
    folder = ""
    for pipe in _pipes(steps):
        if any(not _quiet(step) for step in pipe):
            return ()
        program = pipe[0].program
        if program in _SILENT or (program in ("test", "[") and len(pipe) == 1):
            continue
        if program == "cd":
            target = pipe[0].words[1:]
            if len(pipe) > 1 or len(target) != 1 or not target[0].plain or target[0].text == "-":
                return ()
            folder = posixpath.join(folder, target[0].text)
            continue
        found = _separator(pipe) or _stretches(pipe)
        if not found:
            return ()
        parts += (replace(part, path=_joined(folder, part.path)) if isinstance(part, Stretch) else part for part in found)
    return tuple(parts) if any(isinstance(part, Stretch) for part in parts) else ()


def _pipes(steps: Iterable[Step]) -> Iterator[list[Step]]:
    pipe: list[Step] = []
    for step in steps:
        if pipe and not step.piped_in:
            yield pipe
            pipe = []
        pipe.append(step)
    if pipe:
        yield pipe


def _quiet(step: Step) -> bool:
    """It writes nowhere and reads from nothing but its files; errors may go away or into the output."""
    if step.joined in ("&", "|&"):
        return False
    return all(
        redirect.descriptor == "2" and (redirect.target.text == "/dev/null" or redirect.operator == ">&")
        for redirect in step.redirects
    )


def _separator(pipe: list[Step]) -> tuple[Part, ...]:
    step = pipe[0]
    if len(pipe) > 1 or step.program not in ("echo", "printf") or not all(word.plain for word in step.words):
        return ()
    if step.program == "echo":
        return () if step.args[:1] in (["-n"], ["-e"]) else (Separator((" ".join(step.args),)),)
    if len(step.args) != 1 or not _FORMAT.fullmatch(step.args[0]) or not step.args[0].endswith("\\n"):
        return ()
    return (Separator(tuple(step.args[0].split("\\n")[:-1])),)


def _stretches(pipe: list[Step]) -> tuple[Part, ...]:
    found = _source(pipe[0])
    for step in pipe[1:]:
        found = [] if len(found) != 1 else _filtered(step, found[0])
    return tuple(found)


def _source(step: Step) -> list[Stretch]:
    """A program that prints a file that it names; only cat may name several."""
    words = [word for _, word in positionals(step.words, _VALUED.get(step.program, frozenset()))]
    if step.program in ("sed", "awk") and "-e" not in step.args:
        words = words[1:]
    if not words or not all(word.plain and word.text for word in words) or "-" in step.args:
        return []
    if len(words) > 1 and (step.program != "cat" or "-n" in step.args):
        return []
    return [part for word in words for part in _filtered(step, Stretch(word.text, Range(1, None)))]


def _filtered(step: Step, fed: Stretch) -> list[Stretch]:
    """What the program prints of the lines it gets."""
    options = [arg for arg in step.args if arg.startswith("-")]
    match step.program:
        case "cat":
            return [] if set(options) - {"-n"} else [_with_numbers(fed) if options else fed]
        case "nl":
            every = "-ba" in options or ("-b" in options and "a" in step.args)
            return [_with_numbers(fed)] if every and not any(option.startswith(("-v", "-i", "-l")) for option in options) else []
        case "head":
            count = _count(step.args)
            return [] if count is None or count.startswith(("-", "+")) else _cut(fed, [Range(1, int(count))])
        case "tail":
            count = _count(step.args)
            if count is None:
                return []
            return _cut(fed, [Range(max(int(count), 1), None)]) if count.startswith("+") else [replace(fed, range=None)]
        case "sed":
            return _cut(fed, sed_ranges(step.args))
        case "awk":
            return _cut(fed, awk_ranges(step.args))
        case "bat" | "batcat":
            return _cut(fed, bat_range(step.args))
    return []


def _with_numbers(fed: Stretch) -> Stretch:
    """Numbers that do not start with the file's first line are not the file's; then nothing is known about the lines."""
    return replace(fed, numbered=True) if fed.range is not None and fed.range.first == 1 else replace(fed, range=None)


def _cut(fed: Stretch, ranges: list[Range]) -> list[Stretch]:
    return [replace(fed, range=None if fed.range is None else fed.range.within(part)) for part in ranges]


def _count(args: list[str]) -> str | None:
    """Of head and tail: -n 40, -n40, -40, --lines=40, +5, with its sign; 10 when it is not given; None with any other option."""
    count = "10"
    waiting = False
    for arg in args:
        if waiting:
            count, waiting = arg, False
        elif arg in ("-n", "--lines"):
            waiting = True
        elif found := re.fullmatch(r"(?:-n|--lines=|-)([+-]?\d+)", arg):
            count = found[1]
        elif arg.startswith("-"):
            return None
    return count if re.fullmatch(r"[+-]?\d+", count) else None


def _joined(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path)) if folder else path
