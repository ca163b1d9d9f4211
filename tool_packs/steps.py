"""The programs that a command starts, one step each, without what only wraps them: `cd x && env A=1 timeout 60 uv run pytest`
has the steps `cd` and `pytest`. `bash -lc '…'` is opened up. Pure; commands.py and refusals.py judge the steps.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tool_packs.bash_text import Command, Redirect, Script, Word, read_script

_DEEPEST = 4  # bash -c inside bash -c
_WRAPPED = 8  # env timeout uv run python -m … : more is no command of anybody
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_PYTHON = re.compile(r"python(\d+(\.\d+)*)?|pypy3?|py")

# A wrapper: the options that take a value, and how many words stand before the program.
_WRAPPERS: dict[str, tuple[frozenset[str], int]] = {
    "env": (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    "timeout": (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    "gtimeout": (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    "time": (frozenset({"-f", "--format", "-o", "--output"}), 0),
    "nice": (frozenset({"-n", "--adjustment"}), 0),
    "ionice": (frozenset({"-c", "-n", "-t"}), 0),
    "taskset": (frozenset(), 1),
    "nohup": (frozenset(), 0),
    "setsid": (frozenset(), 0),
    "exec": (frozenset({"-a"}), 0),
    "builtin": (frozenset(), 0),
    "sudo": (frozenset({"-u", "--user", "-g", "--group", "-D", "--chdir"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "xvfb-run": (frozenset({"-n", "-s", "--server-args"}), 0),
    "npx": (frozenset({"-p", "--package", "-c"}), 0),
    "bunx": (frozenset(), 0),
    "pnpx": (frozenset(), 0),
    "uvx": (frozenset({"--from", "--with", "-p", "--python"}), 0),
    "pipx": (frozenset({"--spec"}), 0),
}
_UV_RUN = frozenset({"--with", "--python", "-p", "--extra", "--group", "--project", "--directory", "--env-file", "--package"})
# A runner: its sub-commands that start another program, and their options that take a value.
_RUNNERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "uv": (frozenset({"run"}), _UV_RUN | {"--with-editable", "--with-requirements", "--only-group", "--index", "-w"}),
    "poetry": (frozenset({"run"}), frozenset({"-C", "-P"})),
    "pipenv": (frozenset({"run"}), frozenset()),
    "pdm": (frozenset({"run"}), frozenset({"-p"})),
    "rye": (frozenset({"run"}), frozenset({"--pyproject"})),
    "hatch": (frozenset({"run"}), frozenset({"-e", "--env"})),
    "pixi": (frozenset({"run"}), frozenset({"-e", "--environment"})),
    "conda": (frozenset({"run"}), frozenset({"-n", "--name", "-p", "--prefix"})),
    "micromamba": (frozenset({"run"}), frozenset({"-n", "--name", "-p", "--prefix"})),
    "bundle": (frozenset({"exec"}), frozenset()),
    "pnpm": (frozenset({"exec", "dlx"}), frozenset({"-C", "--dir", "--filter", "-F"})),
    "yarn": (frozenset({"exec", "dlx"}), frozenset({"--cwd"})),
    "npm": (frozenset({"exec", "x"}), frozenset({"--prefix", "-w", "--workspace", "-p", "--package"})),
    "bun": (frozenset({"x"}), frozenset({"--cwd"})),
    "mise": (frozenset({"exec", "x"}), frozenset({"-C", "--cd"})),
    "pipx": (frozenset({"run"}), frozenset({"--spec"})),
}


@dataclass(frozen=True, slots=True)
class Step:
    words: tuple[Word, ...]  # without wrappers; empty for a bare redirection
    redirects: tuple[Redirect, ...] = ()
    joined: str = ""
    piped_in: bool = False

    @property
    def program(self) -> str:
        """Its bare name: `./node_modules/.bin/tsc.cmd` is tsc."""
        return bare(self.words[0].text) if self.words else ""

    @property
    def args(self) -> list[str]:
        return [word.text for word in self.words[1:]]

    @property
    def piped_out(self) -> bool:
        return self.joined in ("|", "|&")


def bare(program: str) -> str:
    name = program.rsplit("/", 1)[-1]
    return re.sub(r"\.(exe|cmd|bat)$", "", name, flags=re.IGNORECASE)


def read_command(command: str | Sequence[str]) -> Script:
    """A list is one program with its arguments: nothing in it is read as bash."""
    if isinstance(command, str):
        return read_script(command)
    return Script((Command(tuple(Word(text, text) for text in command)),), simple=True)


def steps_of(script: Script, depth: int = 0) -> tuple[list[Step], bool]:
    """In order, and whether the whole is simple. Raises Unreadable for the text of a `bash -c` that is."""
    found: list[Step] = []
    simple = script.simple
    for command in script.commands:
        words = unwrapped(command.words)
        inner = script_of(words)
        if inner is None or depth >= _DEEPEST:
            found.append(Step(words, command.redirects, command.joined, command.piped_in))
            continue
        nested, nested_simple = steps_of(read_script(inner), depth + 1)
        simple &= nested_simple
        if nested:
            nested[0] = replace(nested[0], piped_in=command.piped_in)
            nested[-1] = replace(nested[-1], joined=command.joined)
        for step in nested:
            # What the inner shell prints goes where the outer command's output goes.
            joined = command.joined if command.joined in ("|", "|&") and not step.piped_out else step.joined
            found.append(replace(step, joined=joined, redirects=(*step.redirects, *command.redirects)))
    return found, simple


def script_of(words: Sequence[Word]) -> str | None:
    """The text that `bash -lc text` runs."""
    if len(words) < 3 or bare(words[0].text) not in _SHELLS:
        return None
    for index, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-z]*c", word.text):
            return None if words[index + 1].expands else words[index + 1].text
        if not word.text.startswith(("-", "+")):
            return None
    return None


def unwrapped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Without env, timeout, uv run, npx, python -m and the like in front."""
    for _ in range(_WRAPPED):
        rest = _inside(words) if words else ()
        if not rest:
            break
        words = rest
    return words


def _inside(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The program that the first word only starts; nothing when it is a program of its own."""
    name = bare(words[0].text)
    if _PYTHON.fullmatch(name):
        return _module(words)
    if name == "command":
        return words[1:] if len(words) > 1 and not words[1].text.startswith("-") else ()
    runner = _RUNNERS.get(name)
    if runner is not None:
        at = next((index for index, _ in positionals(words, runner[1])), len(words))
        if at < len(words) and words[at].text in runner[0]:
            return _after_options(words[at:], runner[1], 0)
    wrapper = _WRAPPERS.get(name)
    return () if wrapper is None else _after_options(words, *wrapper)


def _after_options(words: tuple[Word, ...], valued: frozenset[str], before: int) -> tuple[Word, ...]:
    """From the program on; `-m pytest` of a runner is the module pytest."""
    for index, word in positionals(words, valued):
        if words[index - 1].text == "-m" and index > 1:
            return words[index:]
        if "=" in word.text and re.match(r"[A-Za-z_]\w*=", word.text):
            continue
        if before:
            before -= 1
            continue
        return words[index:]
    return ()


def positionals(words: Sequence[Word], valued: frozenset[str]) -> Iterator[tuple[int, Word]]:
    """The words after the first that are neither options nor the values of options."""
    skip = False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word.text in valued:
            skip = True
        elif not word.text.startswith("-") or word.text == "-":
            yield index, word


def _module(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """python -X dev -m pytest tests: the module takes the place of the program."""
    skip = False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word.text == "-m":
            return words[index + 1 :]
        elif word.text in ("-X", "-W"):
            skip = True
        elif not word.text.startswith("-") or word.text in ("-", "-c"):
            return ()
    return ()
