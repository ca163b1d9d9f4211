"""What a person reads when a recording does not play as it was: the whole text, after an edit of the file by hand."""

import re
from pathlib import Path

import pytest

from tests.harness.replay.making import edit, furnish, recording, told

REST = '"offset": 1, "limit": 2000, "levels": 1, "header": true'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return furnish(tmp_path / "root")


def after_edit(root: Path, script: str, before: str, after: str) -> str:
    path = recording(root.parent / "one.session.jsonl", script, root=root)
    assert told(path) == ""
    return told(edit(path, before, after))


def test_another_argument(root: Path) -> None:
    script = "const page = await tools.files.read({ path: 'a.txt' });\nreturn page.text"
    assert (
        after_edit(root, script, "path: 'a.txt'", "path: 'b.txt'")
        == f"""\
turn 1, line 1: files.read is called with other arguments than on record
    path: recorded "a.txt"
          now      "b.txt"
  1 | const page = await tools.files.read({{ path: 'b.txt' }});
    |                    ^
  nearest on record: T1 call 1, line 1, files.read({{"path": "a.txt", {REST}}}), which returned 241 bytes"""
    )


def test_what_follows_from_a_call_that_is_not_on_record_is_left_out(root: Path) -> None:
    script = "const a = await tools.files.read({ path: 'a.txt' });\nconst b = await tools.files.read({ path: 'c.txt' });\nreturn [a.text, b.text]"
    text = after_edit(root, script, "path: 'a.txt'", "path: 'b.txt'")
    assert text.startswith("turn 1, line 1: ") and text.count("turn 1") == 1 and "c.txt" not in text


def test_an_argument_inside_another(root: Path) -> None:
    script = "const page = await tools.files.read({ path: 'long.txt', ranges: [[1, 3], [7, 9]] });\nreturn page.lines"
    assert after_edit(root, script, "[7, 9]", "[7, 8]").split("\n")[:3] == [
        "turn 1, line 1: files.read is called with other arguments than on record",
        "    ranges[1][1]: recorded 9",
        "                  now      8",
    ]


def test_a_long_text_argument_that_differs_far_inside(root: Path) -> None:
    text = "".join(f"{n:03} words and words\n" for n in range(100))
    script = f"const pattern = {text!r};\nreturn (await tools.search.grep({{ pattern, fixed: true, multiline: true }})).files"
    path = recording(root.parent / "one.session.jsonl", script, root=root)
    file = path.read_text()
    began = file.index('"script":')
    at = file.index("060 words", began)
    path.write_text(file[: at + 3] + "X" + file[at + 4 :])
    assert told(path).split("\n")[:3] == [
        "turn 1, line 2: search.grep is called with other arguments than on record",
        '    pattern: recorded …"\\n059 words and words\\n060 words and words\\n061 words and words\\n062 words a"…  (line 61, character 4)',
        '             now      …"\\n059 words and words\\n060Xwords and words\\n061 words and words\\n062 words a"…',
    ]


def test_one_call_more_in_a_loop(root: Path) -> None:
    script = "let n = 0;\nfor (let i = 0; i < 2; i++) n += (await tools.files.read({ path: 'a.txt' })).bytes;\nreturn n"
    assert (
        after_edit(root, script, "i < 2", "i < 3")
        == f"""\
turn 1, line 2: files.read is called 3 times from there, and 2 times on record
  2 | for (let i = 0; i < 3; i++) n += (await tools.files.read({{ path: 'a.txt' }})).bytes;
    |                                         ^
  now: files.read({{"path": "a.txt", {REST}}})
  nearest on record: T1 call 1, line 2, files.read({{"path": "a.txt", {REST}}}), which returned 241 bytes"""
    )


def test_a_call_that_moved(root: Path) -> None:
    script = "const names = ['a'];\nreturn (await tools.files.read({ path: `${names[0]}.txt` })).text"
    assert after_edit(root, script, "return (await tools", "return  (await tools").split("\n")[:3] == [
        "turn 1, line 2: files.read is called from another place than on record",
        "    recorded line 2, column 15",
        "    now      line 2, column 16",
    ]


def test_a_call_that_is_gone(root: Path) -> None:
    script = "const a = await tools.files.read({ path: 'a.txt' });\nawait tools.files.list({ path: '.' });\nreturn a.text"
    text = after_edit(root, script, "await tools.files.list({ path: '.' });", "null;")
    assert re.sub(r"\{.*\}", "{…}", re.sub(r"[\d,]+ bytes", "# bytes", text)) == (
        "turn 1, line 2: on record, and nobody makes it now: T1 call 2, line 2, files.list({…}), which returned # bytes"
    )


def test_another_tool(root: Path) -> None:
    script = "return (await tools.files.stat({ path: 'a.txt' })).kind"
    assert after_edit(root, script, "tools.files.stat({ path: 'a.txt' })).kind", "tools.files.tree({ path: '.' })).kind").split("\n")[:3] == [
        "turn 1, line 1: files.tree is called, and is not on record",
        "  1 | return (await tools.files.tree({ path: '.' })).kind",
        "    |               ^",
    ]  # fmt: skip


def test_calls_that_are_not_on_record_are_told_up_to_five(root: Path) -> None:
    script = "return (await Promise.all([1, 2, 3, 4, 5, 6, 7].map(n => tools.files.read({ path: 'a.txt', limit: n }).catch(e => e.name)))).length"
    text = after_edit(root, script, "limit: n }", "limit: n+9}")
    assert text.count("is called with other arguments") == 5 and text.endswith("\nturn 1: and 2 more")


def test_another_text(root: Path) -> None:
    assert (
        after_edit(root, "show('one');\nshow('two'); return 3", "show('two')", "show('zwei')")
        == """\
turn 1: the model is shown something else
    --- recorded
    +++ now
    @@ -1,3 +1,3 @@
     one
    -two
    +zwei
     3"""
    )


def test_another_ledger(root: Path) -> None:
    path = recording(root.parent / "one.session.jsonl", "return (await tools.files.read({ path: 'a.txt' })).text", root=root)
    path.write_text(
        path.read_text().replace('"result_bytes":241,', '"result_bytes":240,').replace('"cache_misses":1', '"cache_misses":2')
    )
    assert (
        told(path)
        == """\
turn 1: the ledger differs
    result_bytes: recorded 240, now 241
    cache_misses: recorded 2, now 1"""
    )


def test_a_script_that_failed_and_now_finishes(root: Path) -> None:
    script = (
        "const page = await tools.files.read({ path: 'a.txt' });\nconst bad = true;\nif (bad) throw new Error('no');\nreturn 1"
    )
    assert (
        after_edit(root, script, "const bad = true", "const bad = false")
        == """\
turn 1: the script failed on record, and finished now
turn 1: the model is shown something else
    --- recorded
    +++ now
    @@ -1,3 +1 @@
    -Error: no  (line 3, column 16)
    -  3 | if (bad) throw new Error('no');
    -    |                ^
    +1"""
    )


def test_a_script_that_finished_and_now_fails_says_with_what(root: Path) -> None:
    text = after_edit(root, "const n = null;\nreturn n ?? 1", "n ?? 1", "n.a + 1")
    assert text.split("\n")[0].startswith("turn 1: the script finished on record, and failed now: TypeError: ")


def test_a_text_that_differs_much_is_cut(root: Path) -> None:
    script = (
        "const word = 'old';\nreturn Array.from({ length: 80 }, (_, n) => `${word} number ${n} of these many lines`).join('\\n')"
    )
    text = after_edit(root, script, "word = 'old'", "word = 'new'")
    assert len(text.split("\n")) == 62 and text.endswith("    … 104 more lines")


def test_a_long_line_is_cut_and_the_first_character_that_differs_is_shown(root: Path) -> None:
    script = "const word = 'old';\nreturn 'many words '.repeat(100) + word + ' and more'.repeat(10)"
    cut = "many words " * 18 + "m… 994 more characters"
    assert (
        after_edit(root, script, "word = 'old'", "word = 'new'")
        == f"""\
turn 1: the model is shown something else
    --- recorded
    +++ now
    @@ -1,2 +1,2 @@
     [T1.1]
    -{cut}
    +{cut}
    first: recorded …"s many words many words old and more and more and more and more and more"…  (line 2, character 1101)
           now      …"s many words many words new and more and more and more and more and more"…"""
    )


THREE = "let n = 0;\nfor (const path of ['a.txt', 'b.txt', 'c.txt']) n += (await tools.files.read({ path, limit: 5 })).bytes;\nreturn n"


def test_what_follows_from_bad_arguments_is_left_out(root: Path) -> None:
    first, *rest = after_edit(root, THREE, "limit: 5 }", "limit: '' }").split("\n")
    assert first.startswith("turn 1: the script finished on record, and failed now: bad_arguments: files.read: ")
    assert rest[0].startswith("  2 | for (const path of") and rest[1].strip(" |") == "^" and len(rest) == 2


def test_what_follows_from_a_syntax_error_is_left_out(root: Path) -> None:
    first, *rest = after_edit(root, THREE, "let n = 0;", "let n = = 0;").split("\n")
    assert first.startswith("turn 1: the script finished on record, and failed now: SyntaxError: ")
    assert rest == ["  1 | let n = = 0;", "    |         ^"]
