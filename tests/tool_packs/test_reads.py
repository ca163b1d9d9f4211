"""Which lines of an output are lines of a file: told only when it is certain."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_packs.read_parts import Separator, Stretch, parts_of
from tool_packs.read_ranges import Range
from tool_packs.reads import FileRead, reads_of


def lines(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last + 1))


def uncertain(path: str, at: int, lines: int) -> FileRead:
    return FileRead(path=path, first=None, at=at, lines=lines, numbered=False)


ONE_FILE = [
    ("cat a.py", Range(1, None)),
    (["cat", "a.py"], Range(1, None)),
    ("sed -n '10,20p' a.py", Range(10, 20)),
    ("sed -n 10p a.py", Range(10, 10)),
    ("sed -n '10,$p' a.py", Range(10, None)),
    ("sed -ne 10,20p a.py", Range(10, 20)),
    ("sed -n -e 10,20p a.py", Range(10, 20)),
    ("sed -n '10,20p;20q' a.py", Range(10, 20)),
    ("head a.py", Range(1, 10)),
    ("head -n 40 a.py", Range(1, 40)),
    ("head -40 a.py", Range(1, 40)),
    ("tail -n +7 a.py", Range(7, None)),
    ("tail -n 20 a.py", None),
    ("cat a.py | head -n 5", Range(1, 5)),
    ("cat a.py | sed -n '3,9p' | head -2", Range(3, 4)),
    ("sed -n '10,20p' a.py | tail -n +3", Range(12, 20)),
    ("awk 'NR>=10 && NR<=20' a.py", Range(10, 20)),
    ("awk 'NR > 9 && NR < 21 {print}' a.py", Range(10, 20)),
    ("awk 'NR==10,NR==20' a.py", Range(10, 20)),
    ("bat -p -r 10:20 a.py", Range(10, 20)),
    ("timeout 5 cat a.py 2>/dev/null || true", Range(1, None)),
    ("bash -lc \"sed -n '1,5p' a.py\"", Range(1, 5)),
    ("test -f a.py && cat a.py", Range(1, None)),
]


@pytest.mark.parametrize(("command", "expected"), ONE_FILE)
def test_a_command_that_prints_one_file(command: str | list[str], expected: Range | None) -> None:
    assert parts_of(command) == (Stretch("a.py", expected),)


def test_a_folder_that_is_entered_is_part_of_the_path() -> None:
    assert parts_of("cd src/lib && cd .. && cat a.py") == (Stretch("src/a.py", Range(1, None)),)


@pytest.mark.parametrize("command", ["nl -ba a.py | sed -n '3,9p'", "cat -n a.py | sed -n '3,9p'", "nl -b a a.py | sed -n 3,9p"])
def test_numbers_in_front_are_told(command: str) -> None:
    assert parts_of(command) == (Stretch("a.py", Range(3, 9), numbered=True),)


NO_READS = [
    "cat a.py > b.py", "cat a.py | grep x", "cat <<'E'\nx\nE", "sed -i 1,2p a.py", "sed '1,5p' a.py", "sed -n '/x/p' a.py", "head -c 100 a.py",
    "cat *.py", "cat $FILE", "cat a.py & ", "wc -l a.py && cat a.py", "for f in a b; do cat $f; done", "cat", "cat -", "sed -n '5,9p;1,3p' a.py",
    "sed -n '1,5p' a.py b.py", "echo hello", "pytest", "cat 'a", "tail -f a.py", "head -n -5 a.py", "cat -A a.py", "nl a.py", "bat a.py",
    "cat a.py |& head", "cd && cat a.py", "cat -n a.py b.py", "tail -n x a.py", "awk '{print $1}' a.py", "echo -n x; cat a.py", "printf %s x; cat a.py",
]  # fmt: skip


@pytest.mark.parametrize("command", NO_READS)
def test_a_command_that_prints_anything_else_has_no_reads(command: str) -> None:
    assert parts_of(command) == ()


def test_numbers_that_are_not_the_files_are_not_told() -> None:
    assert parts_of("sed -n '5,9p' a.py | nl -ba") == (Stretch("a.py", None),)
    assert reads_of("sed -n '5,9p' a.py | nl -ba", "     1\tx\n") == [uncertain("a.py", 0, 1)]
    assert reads_of("tail -n 2 a.py", "x\ny\n") == [uncertain("a.py", 0, 2)]


def test_one_file_has_the_whole_output() -> None:
    assert reads_of("sed -n '10,20p' a.py", lines(10, 13)) == [FileRead(path="a.py", first=10, at=0, lines=4, numbered=False)]
    assert reads_of("sed -n '10,20p' a.py", "") == []


def test_the_numbers_on_the_lines_count() -> None:
    output = "     8\tx\n     9\t12: y\n    40\tz\n"
    assert reads_of("nl -ba a.py | sed -n '8,9p;40,50p'", output) == [
        FileRead(path="a.py", first=8, at=0, lines=2, numbered=True),
        FileRead(path="a.py", first=40, at=2, lines=1, numbered=True),
    ]


def test_separators_tell_files_apart() -> None:
    command = "sed -n '1,9p' a.py && printf '\\n--\\n' && cat b.py && printf '\\n--\\n' && cat c.py"
    assert parts_of(command)[1] == Separator(("", "--"))
    assert reads_of(command, "a\n\n--\nb\nb\n\n--\nc\n") == [
        FileRead(path="a.py", first=1, at=0, lines=1, numbered=False),
        FileRead(path="b.py", first=1, at=3, lines=2, numbered=False),
        FileRead(path="c.py", first=1, at=7, lines=1, numbered=False),
    ]


def test_a_separator_that_stands_in_a_file_too_tells_nothing() -> None:
    assert reads_of("cat a.py; echo ---; cat b.py", "a\n---\na\n---\nb\n") == [uncertain("a.py", 0, 5), uncertain("b.py", 0, 5)]


def test_two_files_are_told_apart_when_both_came_whole() -> None:
    command = "sed -n 1,2p a.py; sed -n 5,7p b.py"
    assert [(read.path, read.first, read.at, read.lines) for read in reads_of(command, "1\n2\n5\n6\n7\n")] == [
        ("a.py", 1, 0, 2),
        ("b.py", 5, 2, 3),
    ]
    assert reads_of(command, "1\n2\n5\n6\n") == [uncertain("a.py", 0, 4), uncertain("b.py", 0, 4)]
    assert reads_of("cat a.py b.py", "1\n2\n") == [uncertain("a.py", 0, 2), uncertain("b.py", 0, 2)]


RANGES = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 12)), min_size=1, max_size=4)


@given(ranges=RANGES, length=st.integers(0, 40))
def test_ranges_of_one_file_are_placed_whatever_its_length(ranges: list[tuple[int, int]], length: int) -> None:
    text = [f"line {number}" for number in range(1, length + 1)]
    printed = [text[first - 1 : first + more] for first, more in ranges]
    command = " && ".join(f"sed -n '{first},{first + more}p' a.py" for first, more in ranges)
    output = "".join(line + "\n" for part in printed for line in part)
    rows = output.splitlines()
    found = reads_of(command, output)
    assert sum(read.lines for read in found) == len(rows)
    for read in found:
        assert read.first is not None
        assert rows[read.at : read.at + read.lines] == text[read.first - 1 : read.first - 1 + read.lines]


PROGRAMS = [
    "sed -n '3,9p;12,40p' {a}", "cat {a} | tail -n +5 | head -3", "nl -ba {a} | sed -n '4,7p'", "head -n 4 {a} && echo == && tail -n +6 {a}",
    "awk 'NR>=3 && NR<8' {a}", "cat -n {a} | head -5", "sed -n '2,3p' {a}; sed -n '1,4p' {b}", "cd {folder} && cat a.txt",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_told_is_what_the_programs_print(program: str, tmp_path: Path) -> None:
    files = {name: [f"{name} {number} {'' if number % 3 else 'x:'}" for number in range(1, 21)] for name in ("a.txt", "b.txt")}
    for name, text in files.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in text))
    command = program.format(a=tmp_path / "a.txt", b=tmp_path / "b.txt", folder=tmp_path)
    output = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    found = reads_of(command, output)
    assert found
    for read in found:
        assert read.first is not None
        shown = [line[7:] if read.numbered else line for line in output.splitlines()[read.at : read.at + read.lines]]
        assert shown == files[Path(read.path).name][read.first - 1 : read.first - 1 + read.lines]
