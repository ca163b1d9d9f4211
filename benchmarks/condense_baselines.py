"""The policies to beat, as `workloads.md` defines them: caps by head and tail, deduplication of runs, tails of builds.

A reference costs 64 bytes, a cut marker 80. A run is contiguous in one earlier text of the same window, has at least 3 lines and
160 bytes; it is looked for in what was shown, so that a reference leads to text in view. Headers stay, but of exact duplicates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.sessions_record import Session, Step

REFERENCE = "[" + "=" * 61 + "]"  # 64 bytes with its line end
MARKER = "[" + "." * 77 + "]"  # 80 bytes with its line end
_RUN_BYTES = 160
_PLACES = 16
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_NUMBER = re.compile(r"[ ]*\d+(?:→|\t|: ?)")
_ERROR = re.compile(r"error|fail|panic|exception|assert|✗|✘|warning:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cap:
    bytes: int
    lines: int = 1 << 40


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    dedupe: bool = False
    build_tail: bool = False
    read: Cap | None = None
    other: Cap | None = None
    head_only: bool = False
    run_lines: int = 3


KIB = 1024
NONE = Policy("as persisted")
PLAIN = (
    Policy("head+tail 10 KiB / 256 lines", read=Cap(10 * KIB, 256), other=Cap(10 * KIB, 256)),
    Policy("mini-swe-agent 5,000+5,000 characters", read=Cap(10_000), other=Cap(10_000)),
    Policy("langchain 4,000 head", read=Cap(4_000), other=Cap(4_000), head_only=True),
)
LETTERS = (
    Policy("A lossless", dedupe=True),
    Policy("A with runs of 5 lines, as ours", dedupe=True, run_lines=5),
    Policy("B = A + build tail", dedupe=True, build_tail=True),
    Policy("C = B + 10 KiB / 256", dedupe=True, build_tail=True, read=Cap(10 * KIB, 256), other=Cap(10 * KIB, 256)),
    Policy(
        "F = B + reads 16 KiB / 400, other 4 KiB / 100",
        dedupe=True,
        build_tail=True,
        read=Cap(16 * KIB, 400),
        other=Cap(4 * KIB, 100),
    ),
    Policy("D = B + 4 KiB / 100", dedupe=True, build_tail=True, read=Cap(4 * KIB, 100), other=Cap(4 * KIB, 100)),
    Policy("E = B + 2 KiB / 50", dedupe=True, build_tail=True, read=Cap(2 * KIB, 50), other=Cap(2 * KIB, 50)),
)
GRID = tuple(
    Policy(f"read {read} KiB / {lines}, other {other} KiB / {other * 25}", dedupe=True, build_tail=True,
           read=Cap(read * KIB, lines), other=Cap(other * KIB, other * 25))
    for read, lines in ((4, 100), (6, 150), (8, 200), (10, 256), (16, 400), (32, 800))
    for other in (1, 2, 4)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands for one output: its text, all bytes of it with the header, and whether a cap cut it."""

    text: str
    shown_bytes: int
    cut: bool = False


def apply(policy: Policy, session: Session) -> list[Shown]:
    view = _View(policy.run_lines)
    shown: list[Shown] = []
    for step in session.steps:
        if step.forgets:
            view = _View(policy.run_lines)
        shown.append(_step(policy, step, view))
    return shown


def _step(policy: Policy, step: Step, view: _View) -> Shown:
    text, header = step.body, step.header_bytes
    if policy.dedupe:
        text = _normal(text)
        if len(text) > len(REFERENCE) and text in view.texts:
            return Shown(REFERENCE, len(REFERENCE) + 1)
        text = view.deduped(text)
    if policy.build_tail and step.kind == "build":
        text = _tail(text, failed=bool(step.exit_code))
    cap = policy.read if step.kind == "read" else policy.other
    kept = text if cap is None else _capped(text, cap, head_only=policy.head_only)
    if policy.dedupe:
        view.add(kept, whole=_normal(step.body) if kept == text else None)
    return Shown(kept, header + len(kept.encode()), kept is not text)


def _normal(text: str) -> str:
    """Without colours, with the last state of a progress line."""
    text = _ANSI.sub("", text) if "\x1b" in text else text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")) if "\r" in text else text


def _tail(text: str, *, failed: bool) -> str:
    lines = text.split("\n")
    count, most = (60, 12 * KIB) if failed else (20, 2 * KIB)
    if len(lines) <= count and len(text.encode()) <= most:
        return text
    end = lines[-count:]
    told = [line for line in lines[:-count] if _ERROR.search(line)] if failed else []
    return _capped("\n".join([MARKER, *told, *end]), Cap(most))


def _capped(text: str, cap: Cap, *, head_only: bool = False) -> str:
    """Head and tail, half each, by whole lines where they fit; a long line is cut inside."""
    data = text.encode()
    lines = text.split("\n")
    if len(data) <= cap.bytes and len(lines) <= cap.lines:
        return text
    share = 1 if head_only else 2
    head = _fitting(lines, cap.bytes // share, cap.lines // share)
    tail = [] if head_only else [*reversed(_fitting(lines[::-1], cap.bytes // 2, cap.lines // 2, backwards=True))]
    return "\n".join([*head, MARKER, *tail])


def _fitting(lines: Sequence[str], most_bytes: int, most_lines: int, *, backwards: bool = False) -> list[str]:
    kept: list[str] = []
    for line in lines[:most_lines]:
        data = line.encode()
        if len(data) + 1 > most_bytes:
            part = data[-most_bytes:] if backwards else data[:most_bytes]
            return [*kept, part.decode(errors="ignore")] if most_bytes > 80 else kept
        most_bytes -= len(data) + 1
        kept.append(line)
    return kept


class _View:
    """The texts shown in this window, by windows of a few lines; line numbers in front do not count."""

    def __init__(self, run_lines: int) -> None:
        self._run_lines = run_lines
        self.texts: set[str] = set()
        self._lines: list[list[str]] = []
        self._places: dict[tuple[str, ...], list[tuple[int, int]]] = {}

    def add(self, text: str, *, whole: str | None) -> None:
        if whole is not None:
            self.texts.add(whole)
        lines = [_body(line) for line in text.split("\n")]
        number = len(self._lines)
        self._lines.append(lines)
        for at in range(len(lines) - self._run_lines + 1):
            window = tuple(lines[at : at + self._run_lines])
            if REFERENCE not in window and MARKER not in window:
                places = self._places.setdefault(window, [])
                places.append((number, at))
                del places[:-_PLACES]

    def deduped(self, text: str) -> str:
        raw = text.split("\n")
        lines = [_body(line) for line in raw]
        kept: list[str] = []
        at = 0
        while at < len(lines):
            length = self._longest(lines, at)
            if length >= self._run_lines and len("\n".join(raw[at : at + length]).encode()) >= _RUN_BYTES:
                kept.append(REFERENCE)
                at += length
            else:
                kept.append(raw[at])
                at += 1
        return "\n".join(kept)

    def _longest(self, lines: list[str], at: int) -> int:
        longest = 0
        for number, start in self._places.get(tuple(lines[at : at + self._run_lines]), ()):
            there = self._lines[number]
            length = 0
            while at + length < len(lines) and start + length < len(there) and lines[at + length] == there[start + length]:
                length += 1
            longest = max(longest, length)
        return longest


def _body(line: str) -> str:
    found = _NUMBER.match(line)
    return line if found is None else line[found.end() :]


Run = Callable[[Session], list[Shown]]
