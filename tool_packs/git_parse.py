"""Reading what git prints for programs (-z, porcelain) into records. Pure; names of files are bytes until they are known."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from tool_packs.git_results import Blamed, Change, FileDiff, Hunk, Status, Way

Local = Callable[[bytes], str]  # a path of the repository as seen from the root

_WAYS: dict[str, Way] = {
    "A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "type_changed", "U": "unmerged",
}  # fmt: skip
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$", re.MULTILINE)


def status_of(output: bytes, local: Local, most: int) -> Status:
    heads: dict[str, str] = {}
    staged, unstaged, conflicts, untracked = list[Change](), list[Change](), list[str](), list[str]()
    words = iter(output.split(b"\0")[:-1])
    for word in words:
        kind = word[:1]
        if kind == b"#":
            _, name, value = word.decode("utf-8", "replace").split(" ", 2)
            heads[name] = value
        elif kind == b"u":
            conflicts.append(local(word.split(b" ", 10)[10]))
        elif kind == b"?":
            untracked.append(local(word[2:]))
        elif kind in (b"1", b"2"):
            path = local(word.split(b" ", 8 if kind == b"1" else 9)[-1])
            old = local(next(words)) if kind == b"2" else None
            for code, changes in ((chr(word[2]), staged), (chr(word[3]), unstaged)):
                if code != ".":
                    changes.append(Change(path=path, change=_WAYS[code], old_path=old if code in "RC" else None))
    ahead, behind = (abs(int(count)) for count in heads.get("branch.ab", "+0 -0").split())
    branch, commit = heads.get("branch.head", ""), heads.get("branch.oid", "")
    lists = (staged, unstaged, conflicts, untracked)
    return Status(
        branch=None if branch == "(detached)" else branch, detached=branch == "(detached)",
        commit=None if commit == "(initial)" else commit, upstream=heads.get("branch.upstream"), ahead=ahead, behind=behind,
        clean=not any(lists), staged=staged[:most], unstaged=unstaged[:most], conflicts=conflicts[:most],
        untracked=untracked[:most], more=any(len(one) > most for one in lists),
    )  # fmt: skip


@dataclass(slots=True)
class _Raw:
    code: str
    path: bytes
    old: bytes | None
    added: int | None = None
    deleted: int | None = None


def files_of(facts: bytes, patch: bytes | None, local: Local) -> list[FileDiff]:
    """`facts` from --raw --numstat -z; `patch` from -p, whose files come in the same order."""
    rows = _raw(facts)
    conflicts = {row.path for row in rows if row.code == "U"}
    both = {row.path for row in rows if row.code != "U"}
    sections = _sections(patch) if patch is not None else iter(())
    found = []
    for row in rows:
        if row.code == "U" and row.path in both:
            continue  # told again below, with its lines
        hunks, cut = list[Hunk](), False
        if patch is not None and row.code != "U":
            for _ in range(2 if row.code == "T" else 1):  # a change of type is told as one file gone and one come
                section = next(sections, None)
                cut = section is None
                hunks += _hunks(section or b"")
        way: Way = "unmerged" if row.path in conflicts else _WAYS.get(row.code, "modified")
        old = None if row.old is None else local(row.old)
        facts_only = FileDiff(
            path=local(row.path), change=way, old_path=old, added=row.added, deleted=row.deleted, binary=row.added is None
        )
        found.append(facts_only.model_copy(update={"hunks": hunks, "cut": cut}))
    return found


def _raw(facts: bytes) -> list[_Raw]:
    words = iter(facts.split(b"\0")[:-1])
    rows, told = list[_Raw](), 0
    for word in words:
        if word.startswith(b":"):
            code = chr(word.rsplit(b" ", 1)[1][0])
            first = next(words)
            rows.append(_Raw(code, next(words), first) if code in "RC" else _Raw(code, first, None))
            continue
        added, deleted, path = word.split(b"\t", 2)
        if not path:  # a rename: both names follow
            next(words), next(words)
        if added != b"-":
            rows[told].added, rows[told].deleted = int(added), int(deleted)
        told += 1
    return rows


def _sections(patch: bytes) -> Iterator[bytes]:
    bounds = [*(match.start() for match in _SECTION.finditer(patch)), len(patch)]
    for start, end in pairwise(bounds):
        yield patch[start:end]


def whole_sections(patch: bytes) -> bytes:
    """Of a patch that was cut somewhere: without its last file, which may be torn."""
    last = patch.rfind(b"\ndiff --git ")
    return patch[: last + 1]


def _hunks(section: bytes) -> list[Hunk]:
    heads = list(_HUNK.finditer(section))
    found = []
    ends = [*(one.start() for one in heads[1:]), len(section)]
    for head, end in zip(heads, ends, strict=False):  # a section without hunks has an end and no head
        old_first, old_lines, new_first, new_lines = (1 if number is None else int(number) for number in head.groups()[:4])
        text = section[head.end() + 1 : end].decode("utf-8", "replace").removesuffix("\n")
        heading = head[5].decode("utf-8", "replace")
        found.append(
            Hunk(old_first=old_first, old_lines=old_lines, new_first=new_first, new_lines=new_lines, heading=heading, text=text)
        )
    return found


def fields_of(output: bytes, count: int) -> list[list[str]]:
    """Records of `count` fields, each field ended by a NUL."""
    words = output.decode("utf-8", "replace").split("\0")[:-1]
    return [words[at : at + count] for at in range(0, len(words) - count + 1, count)]


def blame_of(output: bytes) -> list[Blamed]:
    """From --line-porcelain: a head and its facts for each line, then the line after a tab."""
    runs: list[_Run] = []
    facts: dict[str, str] = {}
    commit, number = "", 0
    for raw in output.split(b"\n"):
        if raw.startswith(b"\t"):
            line = raw[1:].removesuffix(b"\r").decode("utf-8", "replace")
            if runs and runs[-1].commit == commit and runs[-1].first + len(runs[-1].lines) == number:
                runs[-1].lines.append(line)
            else:
                runs.append(_Run(number, commit, facts, [line]))
            facts = {}
        elif not facts:
            words = raw.decode("utf-8", "replace").split(" ")
            if len(words) >= 3:
                commit, number, facts = words[0], int(words[2]), {"": ""}
        else:
            key, _, value = raw.decode("utf-8", "replace").partition(" ")
            facts[key] = value
    return [_blamed(run) for run in runs]


@dataclass(slots=True)
class _Run:
    first: int
    commit: str
    facts: dict[str, str]
    lines: list[str]


def _blamed(run: _Run) -> Blamed:
    facts, committed = run.facts, bool(run.commit.strip("0"))
    return Blamed(
        first=run.first, last=run.first + len(run.lines) - 1, commit=run.commit if committed else None,
        author=facts.get("author", "") if committed else "not committed yet",
        date=_date(facts.get("author-time", "0"), facts.get("author-tz", "+0000")),
        summary=facts.get("summary", "") if committed else "", text="\n".join(run.lines),
    )  # fmt: skip


def _date(seconds: str, zone: str) -> str:
    try:
        shift = timezone(timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:5])))
        return datetime.fromtimestamp(int(seconds), shift).isoformat()
    except (ValueError, OverflowError, IndexError):  # commits can hold any date
        return datetime.fromtimestamp(0, UTC).isoformat()
