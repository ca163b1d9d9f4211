"""Commands that have a better tool: edits by shell, and whole large files printed by cat, nl or sed.

Pure: sizes of files come from a function. Rule: no false alarm. What is not certainly an edit of a file below the root, or not
certainly a large file printed whole, runs. This is guidance for the model, never a wall.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Literal

from tool_packs.bash_text import Redirect, Unreadable, Word
from tool_packs.steps import Step, positionals, read_command, steps_of

LARGE_BYTES = 4_096  # over this a file is read in slices: what was already seen is left out there
_LONG_RANGE = 1_000  # lines of `sed -n '1,1000p'`: most files end before
_SOURCE = re.compile(
    r"\.(?:astro|c|cc|cfg|clj|cpp|cs|css|cxx|dart|elm|erl|exs?|go|gradle|graphql|h|hpp|hs|html?|ini|ipynb|java|jl|[cm]?jsx?|json5?|"
    r"kts?|less|lua|mdx?|mli?|nim|php|pl|plist|proto|ps1|pyi?|r|rb|rs|rst|sass|scala|scss|sh|sql|svelte|swift|tf|toml|[cm]?tsx?|"
    r"txt|vue|xml|ya?ml|zig)",
    re.IGNORECASE,
)
_BUILT = frozenset({"build", "dist", "target", "out", "tmp", "temp", "node_modules", ".git", ".cache", "coverage", "logs"})
_ELSEWHERE = ("dev", "proc", "sys", "tmp", "var", "run")  # when the root is /, these are still not the project
_PERL_IN_PLACE = re.compile(r"-[0-7anplws]*i")
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place\b")
_SED_RANGE = re.compile(r"(?:1,(\$|\d{1,9}))?p")
_NL_VALUED = frozenset({"-b", "-d", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"})
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PY_PATH = re.compile(r"(\w+)\s*=\s*(?:pathlib\.)?Path\(\s*['\"]([^'\"]+)['\"]\s*\)")
_PY_LITERAL = re.compile(r"Path\(\s*['\"]([^'\"]+)['\"]\s*\)\)?\.write_text\(\s*r?['\"]")


@dataclass(frozen=True, slots=True)
class Refusal:
    code: Literal["use_patch", "use_files_read"]
    path: str  # as seen from the root; empty when the command names none
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a step runs, as seen from the root; None: outside of it, or not known."""

    root: str
    here: str | None

    def inside(self, word: Word) -> str | None:
        """The path of a word as seen from the root, when it certainly is below it."""
        if word.expands or not word.text:
            return None
        text = posixpath.normpath(word.text)
        if text.startswith("/"):
            top = self.root.rstrip("/") + "/"
            if not self.root or not text.startswith(top):
                return None
            text = text.removeprefix(top)
            if top == "/" and text.split("/")[0] in _ELSEWHERE:
                return None
        elif self.here is None:
            return None
        else:
            text = posixpath.normpath(posixpath.join(self.here, text))
        return None if text in (".", "..") or text.startswith("../") else text

    def after(self, step: Step, *, simple: bool) -> "_Place":
        if step.program not in ("cd", "pushd", "popd"):
            return self
        if not simple or len(step.words) != 2 or step.args == ["-"]:
            return _Place(self.root, None)
        target = step.words[1]
        if self.root and target.text.rstrip("/") == self.root.rstrip("/") and not target.expands:
            return _Place(self.root, ".")
        if self.here is not None and not target.expands and posixpath.normpath(posixpath.join(self.here, target.text)) == ".":
            return _Place(self.root, ".")
        return _Place(self.root, self.inside(target))


def refusal(
    command: str | Sequence[str], files_size: Callable[[str], int | None], *, root: str = "", cwd: str = "."
) -> Refusal | None:
    """Why not to run it, or None. `files_size` takes a path as seen from the root and gives bytes, None for what is no file."""
    try:
        steps, simple = steps_of(read_command(command))
    except Unreadable:
        return None
    place = _Place(root, posixpath.normpath(cwd))
    for index, step in enumerate(steps):
        feeder = steps[index - 1] if step.piped_in and index else None
        found = _edit(step, feeder, place, files_size)
        if found is None and simple:  # in a loop or a group the output may go anywhere
            found = _large_read(step, place, files_size)
        if found is not None:
            return found
        place = place.after(step, simple=simple)
    return None


# ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _edit(step: Step, feeder: Step | None, place: _Place, files_size: Callable[[str], int | None]) -> Refusal | None:
    program = step.program
    if program in ("apply_patch", "applypatch"):
        return _apply_patch(step)
    if program in ("sed", "gsed") and any(_SED_IN_PLACE.match(arg) for arg in step.args):
        return _first(f"{program} -i", _sed_files(step), place)
    if program in ("perl", "ruby") and any(_PERL_IN_PLACE.match(arg) for arg in step.args):
        return _first(f"{program} -i", _perl_files(step), place)
    if program == "tee":
        what = _written_by(feeder) if feeder is not None else "any" if _given(step) else ""
        appends = "-a" in step.args or "--append" in step.args
        files = [(word, appends) for _, word in positionals(step.words, frozenset())]
        return _written(what, "tee", files, place, files_size)
    if program.startswith("python") and step.args in ([], ["-"]):
        return _python(step, place)
    targets = [(redirect.target, ">>" in redirect.operator) for redirect in step.redirects if _takes_output(redirect)]
    return _written("" if step.piped_in else _written_by(step), f"{program} >", targets, place, files_size)


def _written_by(step: Step) -> str:
    """What a step prints of what the command itself holds: "any" kind of file is meant by a heredoc, only "source" by echo."""
    if step.program == "cat" and not any(arg == "-" or not arg.startswith("-") for arg in step.args):
        fed = [redirect for redirect in step.redirects if redirect.operator.startswith("<")]
        return "any" if all(redirect.operator in ("<<", "<<-", "<<<") for redirect in fed) else ""
    if step.program in ("echo", "printf") and len(step.words) > 1 and not any(word.expands for word in step.words):
        return "source"
    return ""


def _given(step: Step) -> bool:
    return any(redirect.operator in ("<<", "<<-", "<<<") for redirect in step.redirects)


def _written(
    what: str, seen: str, targets: list[tuple[Word, bool]], place: _Place, files_size: Callable[[str], int | None]
) -> Refusal | None:
    """Targets with whether they are appended to."""
    for word, appends in targets if what else ():
        path = place.inside(word)
        if path is not None and (what == "any" or _is_source(path)):
            there = files_size(path) is not None
            return Refusal(
                "use_patch",
                path,
                f"`{seen} {word.text}` writes a file by shell, which is refused here; the patch pack writes files and "
                "records what changed",
                _patch_hint(path) if there and appends else _write_hint(path, there),
            )
    return None


def _first(seen: str, targets: list[Word], place: _Place) -> Refusal | None:
    for word in targets:
        path = place.inside(word)
        if path is not None:
            return Refusal(
                "use_patch",
                path,
                f"`{seen}` edits {word.text} by shell, which is refused here; the patch pack edits files and "
                "checks the old lines first",
                _patch_hint(path),
            )
    return None


def _apply_patch(step: Step) -> Refusal:
    text = "\n".join([*step.args, *(redirect.body or "" for redirect in step.redirects)])
    named = _PATCHED.search(text)
    path = named[1].strip() if named else ""
    return Refusal(
        "use_patch",
        path,
        "apply_patch is no program here; the tool patch.apply takes such a patch as it stands",
        _if_offered("await tools.patch.apply({patch: `*** Begin Patch\n…\n*** End Patch`})"),
    )


def _python(step: Step, place: _Place) -> Refusal | None:
    """Two forms only: a file read, changed and written back; a literal written with write_text."""
    body = "".join(redirect.body or "" for redirect in step.redirects)
    written = [found[1] for found in _PY_LITERAL.finditer(body)]
    for found in _PY_PATH.finditer(body):
        name = re.escape(found[1])
        if re.search(rf"\b{name}\.read_text\(", body) and re.search(rf"\b{name}\.write_text\(", body):
            written.append(found[2])
    return _first("python", [Word(path, path) for path in written if _is_source(path)], place)


def _sed_files(step: Step) -> list[Word]:
    valued = frozenset({"-e", "--expression", "-f", "--file", "-l"})
    files = [word for _, word in positionals(step.words, valued) if word.text]
    scripted = any(arg in valued or arg.startswith(("--expression=", "--file=")) for arg in step.args)
    return files if scripted else files[1:]


def _perl_files(step: Step) -> list[Word]:
    programs = frozenset(arg for arg in step.args if re.fullmatch(r"-[0-7a-zA-Z]*[eE]", arg))
    return [word for _, word in positionals(step.words, programs)] if programs else []


def _is_source(path: str) -> bool:
    return _SOURCE.fullmatch(posixpath.splitext(path)[1]) is not None and not _BUILT & set(path.split("/")[:-1])


# ── large reads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _large_read(step: Step, place: _Place, files_size: Callable[[str], int | None]) -> Refusal | None:
    if step.piped_out or any(_takes_output(redirect) for redirect in step.redirects):
        return None
    for word in _whole_files(step):
        path = place.inside(word) if word.plain else None
        size = files_size(path) if path is not None else None
        if path is not None and size is not None and size > LARGE_BYTES:
            return Refusal(
                "use_files_read",
                path,
                f"`{step.program}` prints {word.text} whole: {size:,} bytes; files over {LARGE_BYTES:,} bytes are read by "
                "tools.files.read, which gives the part you need",
                f"await tools.files.read({{path: {_js(path)}}})",
            )
    return None


def _takes_output(redirect: Redirect) -> bool:
    return redirect.writes and redirect.descriptor in ("", "1")


def _whole_files(step: Step) -> list[Word]:
    if step.program in ("cat", "less", "more"):
        return [word for _, word in positionals(step.words, frozenset())]
    if step.program == "nl":
        return [word for _, word in positionals(step.words, _NL_VALUED)]
    if step.program == "sed" and step.args[:1] in (["-n"], ["--quiet"], ["--silent"]) and len(step.words) > 3:
        return list(step.words[3:]) if _is_whole(step.args[1]) else []
    return []


def _is_whole(script: str) -> bool:
    """p; 1,$p; or from line 1 on for longer than most files are."""
    found = _SED_RANGE.fullmatch(script)
    return found is not None and (found[1] in (None, "$") or int(found[1]) >= _LONG_RANGE)


def _patch_hint(path: str) -> str:
    text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-old line\n+new line\n*** End Patch"
    return _if_offered(f"await tools.patch.apply({{patch: {_js(text)}}})")


def _write_hint(path: str, there: bool) -> str:
    """By apply, which every profile with the pack has; not all of them have write."""
    text = f"*** Begin Patch\n*** Add File: {path}\n+first line\n*** End Patch"
    return _if_offered(f"await tools.patch.apply({{patch: {_js(text)}{', overwrite: true' if there else ''}}})")


def _if_offered(call: str) -> str:
    """A pack does not know what else is on offer."""
    return f"if tools.patch is on offer: {call}; if not, say which lines should change"


def _js(text: str) -> str:
    return dumps(text, ensure_ascii=False)
