"""Reading bash: tables of texts and what is in them; what bash itself calls a syntax error is never read as whole."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tool_packs.bash_text import Command, Unreadable, read_script

BASH = shutil.which("bash")


def outline(text: str) -> list[object]:
    """Words of each command; redirections as "operator target"; what joins it when something does."""
    rows: list[object] = []
    for command in read_script(text).commands:
        row: list[object] = [word.raw for word in command.assignments] + [word.text for word in command.words]
        row += [(each.descriptor + each.operator, each.target.text, each.body) for each in command.redirects]
        rows.append(row)
    return rows


READ = [
    ("ls -l", [["ls", "-l"]]),
    ("a && b || c; d | e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ("a\nb\n\n  c", [["a"], ["b"], ["c"]]),
    ("grep '>' file", [["grep", ">", "file"]]),
    ('echo "a > b"', [["echo", "a > b"]]),
    (r"echo a\ b \> c", [["echo", "a b", ">", "c"]]),
    ("echo a\\\n b", [["echo", "a", "b"]]),
    (r'echo "a \"b\" \$c \d"', [["echo", 'a "b" $c \\d']]),
    ("echo 'it''s'", [["echo", "its"]]),
    ("echo ''", [["echo", ""]]),
    ("cmd > out 2>&1", [["cmd", (">", "out", None), ("2>&", "1", None)]]),
    ("cmd >out 2>>err <in", [["cmd", (">", "out", None), ("2>>", "err", None), ("<", "in", None)]]),
    ("cmd &> all", [["cmd", ("&>", "all", None)]]),
    ("> empty", [[(">", "empty", None)]]),
    ("echo 2 > x", [["echo", "2", (">", "x", None)]]),
    ("echo a2>x", [["echo", "a2", (">", "x", None)]]),
    ("cat <<EOF\none\ntwo\nEOF\nls", [["cat", ("<<", "EOF", "one\ntwo\n")], ["ls"]]),
    ("cat <<'EOF' > f\nit's \"x\nEOF", [["cat", ("<<", "EOF", "it's \"x\n"), (">", "f", None)]]),
    ("cat <<-EOF\n\tone\n\tEOF", [["cat", ("<<-", "EOF", "one\n")]]),
    ("cat <<A <<B\n1\nA\n2\nB", [["cat", ("<<", "A", "1\n"), ("<<", "B", "2\n")]]),
    ("cat <<EOF | wc -l\nx\nEOF", [["cat", ("<<", "EOF", "x\n")], ["wc", "-l"]]),
    ("cat <<EOF; ls\nx\nEOF", [["cat", ("<<", "EOF", "x\n")], ["ls"]]),
    ("cat <<EOF\nnever ended", [["cat", ("<<", "EOF", "never ended\n")]]),
    ("cat <<< word", [["cat", ("<<<", "word", None)]]),
    ("ls # a comment; rm x", [["ls"]]),
    ("# only this", []),
    ("echo a#b", [["echo", "a#b"]]),
    ("A=1 B='x y' make", [["A=1", "B='x y'", "make"]]),
    ("make A=1", [["make", "A=1"]]),
    ("a=(1 2 3)", [["a=(1 2 3)"]]),
    ("x=$(cat <<EOF\nit's (here\nEOF\n) && ls", [["x=$(cat <<EOF\nit's (here\nEOF\n)"], ["ls"]]),
    ('git commit -m "$(cat <<\'EOF\'\nfoo (bar\n"x\nEOF\n)"', [["git", "commit", "-m", "$(cat <<'EOF'\nfoo (bar\n\"x\nEOF\n)"]]),
    ("echo $((1 + (2 * 3)))", [["echo", "$((1 + (2 * 3)))"]]),
    ('echo ${a:-"}"} ${b}', [["echo", '${a:-"}"}', "${b}"]]),
    ("echo `ls \\` x`", [["echo", "`ls \\` x`"]]),
    ("diff <(ls a) >(cat)", [["diff", "<(ls a)", ">(cat)"]]),
    ("echo $'a\\'b'", [["echo", "$'a\\'b'"]]),
    ("for f in a b; do cat $f; done > out", [["cat", "$f"], [(">", "out", None)]]),
    ("for ((i=0; i<3; i++)); do ls; done", [["ls"]]),
    ("if ! grep -q x f; then echo y; else ls; fi", [["grep", "-q", "x", "f"], ["echo", "y"], ["ls"]]),
    ("while read -r x; do echo $x; done < in", [["read", "-r", "x"], ["echo", "$x"], [("<", "in", None)]]),
    ("case $x in a|b) ls;; (*) rm x; pwd ;; esac; id", [["ls"], ["rm", "x"], ["pwd"], ["id"]]),
    ("f() { ls; }; function g { pwd; }", [["ls"], ["pwd"]]),
    ("(cd x && ls) | wc", [["cd", "x"], ["ls"], ["wc"]]),
    ("((x > 3)) && ls", [["ls"]]),
    ("[[ a < b && ( -f x || $y =~ ^(a|b)$ ) ]] && ls", None),
    ("echo if then", [["echo", "if", "then"]]),
    ("'if' x", [["if", "x"]]),
    ("sleep 1 & ls", [["sleep", "1"], ["ls"]]),
    ("a |& b", [["a"], ["b"]]),
    ("ls\r", [["ls\r"]]),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[row[0][:40] for row in READ])
def test_text_is_read_into_commands(text: str, expected: list[object] | None) -> None:
    found = outline(text)
    if expected is not None:
        assert found == expected
    else:
        assert found[-1] == ["ls"]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[row[0][:40] for row in READ])
@pytest.mark.skipif(BASH is None, reason="no bash here")
def test_bash_reads_the_same_texts_too(text: str, expected: object) -> None:
    assert subprocess.run([str(BASH), "-n", "-c", text], capture_output=True).returncode == 0


UNREADABLE = [
    "echo 'a", 'echo "a', "echo `a", "echo $(a", "echo ${a", "echo $'a", "(ls", "ls)", "ls (", "; ls", "ls ;; pwd", "ls | | wc",
    "&& ls", "cat >", "cat <", "a > ; b", "case x in a) ls", "[[ a", "((1", "x=$(cat <<EOF\nnever ended)", "ls & ; pwd", "\x00",
    "echo " + "$(" * 60 + "ls" + ")" * 60, "echo " + "${a:-" * 60, "(" * 5000, "for x in $(",
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE, ids=[repr(text[:20]) for text in UNREADABLE])
def test_what_is_not_understood_is_not_half_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read_script(text)


def test_a_text_beyond_the_longest_is_not_read() -> None:
    with pytest.raises(Unreadable, match="2,000,000 characters"):
        read_script("x" * 2_000_000)


PLAIN = [
    ("abc", True), ("'$x'", True), ("\\$x", True), ('"a b"', True), ("{}", True), ("a~", True), ("$", True), ("'*'", True),
    ("$x", False), ('"$x"', False), ("`x`", False), ("~/x", False), ("{a,b}", False), ("*.py", False), ("a?", False),
    ("[ab]", False), ("<(ls)", False), ("$'x'", False), ('"`x`"', False), ("${x}", False), ("$((1))", False),
]  # fmt: skip


@pytest.mark.parametrize(("word", "plain"), PLAIN)
def test_a_word_is_plain_when_the_program_gets_what_is_written(word: str, plain: bool) -> None:
    (command,) = read_script(f"echo {word}").commands
    assert command.words[1].plain is plain


def test_only_simple_commands_and_joins_are_simple() -> None:
    simple = ["ls", "a && b | c; d\ne", "cat <<EOF\nx\nEOF", "A=1 ls > x", "x=$(for f in a; do ls; done)"]
    compound = [
        "(ls)",
        "{ ls; }",
        "! ls",
        "if a; then b; fi",
        "f() { ls; }",
        "for f in a; do ls; done",
        "((1))",
        "case a in a) ls;; esac",
    ]
    assert [read_script(text).simple for text in simple] == [True] * len(simple)
    assert [read_script(text).simple for text in compound] == [False] * len(compound)


def test_a_command_says_what_joins_it_and_what_feeds_it() -> None:
    first, second, third = read_script("a | b && c").commands
    assert [(each.joined, each.piped_in) for each in (first, second, third)] == [("|", False), ("&&", True), ("", False)]
    assert isinstance(first, Command)


@given(st.text(alphabet="ab '\"\\$`(){}[]<>|&;\n#=*~!-", max_size=30))
def test_any_text_is_read_or_unreadable_and_nothing_else(text: str) -> None:
    try:
        read_script(text)
    except Unreadable:
        pass


PIECES = [
    "qa", "qb", "x y", "'", '"', "\\", " ", " ", " ", ";", "&&", "||", "|", "\n", "#", "$", "~", "=", "-n", "'a b'", '"a $"', "\\\n", "2>&1",
    "<<'E'\n", "\nE\n", "{", "}", "!", "&", "(", ")", "*", "é", "\t", "\r", "[", "]", "$'q'", "$(", "`",
]  # fmt: skip
HANDLER = "command_not_found_handle() { printf '%s\\0' \"$@\" > argv.$BASHPID; }\n"


@pytest.mark.skipif(BASH is None, reason="no bash here")
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=14))
@example(pieces=["qa", " ", "qb", " ", "2>&1", "|", "qb", " ", "'a b'"])
def test_plain_words_are_the_words_that_bash_passes(tmp_path: Path, pieces: list[str]) -> None:
    """Bash says for itself what it would have started: no program is found, and its handler writes down every argv (but for [,
    which is built in)."""
    text = "qa " + "".join(pieces)
    try:
        script = read_script(text)
    except Unreadable:
        return
    plain = all(word.plain for each in script.commands for word in each.words)
    if not script.simple or not plain or any(each.assignments or each.joined in ("&", "||") for each in script.commands):
        return  # never judged as plain; and what stands behind || does not start
    if any(
        (each.operator, each.target.text) not in ((">&", "1"), ("<<", "E")) for row in script.commands for each in row.redirects
    ):
        return  # what cannot open a file or a descriptor does not start
    for old in tmp_path.iterdir():
        old.unlink()
    done = subprocess.run(
        [str(BASH), "-c", HANDLER + text], env={"PATH": "/nowhere", "LANG": "C.UTF-8"}, cwd=tmp_path, stdin=subprocess.DEVNULL,
        capture_output=True,
    )  # fmt: skip
    started = [path.read_bytes().decode().split("\0")[:-1] for path in tmp_path.iterdir()]
    expected = [[word.text for word in each.words] for each in script.commands if each.words and each.words[0].text != "["]
    assert b"syntax error" not in done.stderr, text
    assert sorted(started) == sorted(expected), text
