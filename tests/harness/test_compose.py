"""What a turn puts into the transcript: order, labels, room, notices; what is known of a shown value; secrets out first."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.approval import Policy, allowing
from harness.chunks import FileChunks
from harness.compose import Composed, Composer, Showing, showings
from harness.condense import Flags
from harness.condense.record import Origin
from harness.harness import Harness
from harness.limits import ShownLimits
from harness.outcome import TurnOutcome
from harness.provenance import Provenance
from harness.redaction import Redactor
from harness.seen import Seen
from harness.setup import Setup
from sandbox import Called, Event, Finished, Printed, Shown, Site

LONG = "\n".join(f"line {n} of a long text, with some words in it" for n in range(1, 401))
CODE = "".join(f"def function_{n}(argument):\n    return argument + {n}\n\n" for n in range(30))


def composed(
    *values: Any, cap: int = 24_576, notices: tuple[str, ...] = (), secrets: dict[str, str] | None = None, seen: Seen | None = None,
    error: str = "",
) -> Composed:  # fmt: skip
    showing = [one if isinstance(one, Showing) else Showing("value", one) for one in values]
    composer = Composer(
        turn=7, seen=seen or Seen(), provenance=Provenance(), chunks=FileChunks(lambda path, oid: None),
        redactor=Redactor(secrets or {}), limits=ShownLimits(), flags=Flags(),
    )  # fmt: skip
    return composer.compose([*showing, *([Showing("error", error)] if error else [])], notices, cap=cap)


# ------------------------------------------------------------ what there is to show


def test_lines_printed_one_after_the_other_are_one_showing() -> None:
    events: list[Event] = [
        Printed("log", "one"), Printed("warn", "two"), Shown(3, {}, Site(1, 1, 1)), Printed("info", "four"), Printed("error", "five"), Finished(6),
    ]  # fmt: skip
    assert showings(events) == [
        Showing("console", "one\nwarn: two"), Showing("value", 3), Showing("console", "four\nerror: five"), Showing("value", 6),
    ]  # fmt: skip


def test_a_script_that_ends_without_a_value_shows_none_and_calls_show_nothing() -> None:
    assert showings([Called(1, "files.read", [], Site(1, 1, 1)), Finished(None)]) == []
    assert showings([Finished(False)]) == [Showing("value", False)]


# ------------------------------------------------------------ order, labels, room


def test_the_order_is_the_scripts_with_the_error_and_the_notices_last() -> None:
    made = composed("first", {"second": 2}, Showing("console", "third"), error="Error: fourth", notices=("fifth", "sixth"))
    assert made.text == 'first\n{"second":2}\nthird\nError: fourth\nnotice: fifth\nnotice: sixth'
    assert [item.handle for item in made.items] == ["T7.1", "T7.2", "T7.3", "T7.4"]
    assert made.values == ("first", {"second": 2}, "third", "Error: fourth")


def test_what_can_be_referred_to_has_its_handle_before_it() -> None:
    lines = [f"a line with words in it, number {n}" for n in range(5)]
    made = composed("\n".join(lines), "\n".join(lines[:2]), "x" * 161, LONG, "short", error="Error: " + "\n".join(lines))
    assert [item.labelled for item in made.items] == [True, False, True, True, False, False]
    assert made.text.startswith("[T7.1]\n" + lines[0])


def test_what_has_no_handle_before_it_is_never_referred_to() -> None:
    seen = Seen()
    pair = "all checks passed in 12 files of the project\nnothing was changed by this command"
    assert composed(pair, pair, seen=seen).text == f"{pair}\n{pair}"
    one = "w" * 300
    assert composed(one, one, seen=Seen()).text == f"[T7.1]\n{one}\n[1 line already shown in T7.1, line 1]"


def test_an_error_is_told_in_words_each_time() -> None:
    seen = Seen()
    error = "\n".join(["Error: the same again", *(f"  at line {n} of the script, in some function" for n in range(8))])
    made = composed(error, seen=seen, error=error)
    assert [item.text for item in made.items] == [error, error] and made.items[1].references == ()


def test_the_last_value_has_room_after_many_long_ones() -> None:
    made = composed(*[LONG.replace("line", f"row {n}") for n in range(12)], {"the": "result"})
    assert made.items[-1].text == '{"the":"result"}' and made.items[-1].whole
    assert len(made.text.encode()) <= 24_576


def test_the_error_has_room_after_many_long_values() -> None:
    made = composed(*[LONG.replace("line", f"row {n}") for n in range(12)], error="TypeError: x is undefined")
    assert made.text.endswith("TypeError: x is undefined")


texts = st.integers(0, 300).flatmap(
    lambda n: st.sampled_from([LONG[: n * 20], "é" * n, "x" * n * 40, "\n".join(map(str, range(n)))])
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(texts | st.dictionaries(st.text(max_size=5), texts, max_size=3), max_size=9), st.integers(600, 9_000), st.booleans()
)
def test_a_turn_never_takes_more_than_its_bytes(values: list[Any], cap: int, with_error: bool) -> None:
    made = composed(*values, cap=cap, notices=("a notice",) * 2, error="Error: in the end" if with_error else "")
    assert len(made.text.encode()) <= cap
    assert len(made.items) == len(values) + with_error
    for item in made.items:
        assert item.produced == len(item.text.encode()) + sum(item.trimmed.values())


def test_a_notice_has_its_bytes_and_more_only_when_there_is_room() -> None:
    long = "this notice goes on and on " * 20
    assert composed("x", notices=(long,)).notices == (long,)
    made = composed(*[LONG.replace("line", f"row {n}") for n in range(8)], cap=6_000, notices=(long, "short"))
    assert len(made.text.encode()) <= 6_000 and made.notices[-1] != ""
    assert made.notices[0].endswith("…") and len(made.notices[0].encode()) < len(long)


# ------------------------------------------------------------ secrets and control characters


def test_secrets_are_out_before_anything_is_condensed() -> None:
    secret = "tok-93kfj2KDJ83nfkw92kd"
    padded = "\n".join([*(f"line {n}" for n in range(300)), f"token {secret} here", *(f"line {n}" for n in range(300, 600))])
    made = composed(padded, {"deep": [{"k": secret}]}, Showing("console", secret), notices=(f"about {secret}",), error=f"Error: {secret}",
                    secrets={"TOKEN": secret})  # fmt: skip
    assert secret not in made.text and sum(made.redacted.values()) == 5
    assert made.values[1] == {"deep": [{"k": secret}]}  # the script's own value stays whole


def test_control_characters_are_made_visible_in_values_and_settled_in_outputs() -> None:
    made = composed("a\u202eb\x1b[31m", {"k\x07": "v\u200b"}, Showing("value", "10%\r100%\n\x1b[32mdone\x1b[0m", {"as": "output"}),
                    notices=("bell \x07",))  # fmt: skip
    first, second, third = (item.text for item in made.items)
    assert first == "a\\u202eb\\u001b[31m" and made.notices == ("bell \\u0007",)
    assert "\\\\u0007" in second and "\\\\u200b" in second
    assert third == "100%\ndone"


# ------------------------------------------------------------ through a session: options, provenance, the small file


async def ran(root: Path, *scripts: str, **options: Any) -> list[TurnOutcome]:
    setup = Setup(policy=Policy(allowing(["**"])), **options)
    harness = Harness(["files", "shell", "search"], root=root, setup=setup, isolation="in_process")
    async with harness, harness.session() as session:
        return [await session.run(script) for script in scripts]


@pytest.mark.anyio
async def test_a_text_cut_out_of_a_file_is_known_as_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    script = """const page = await tools.files.read("a.py"); const lines = page.text.split("\\n");
show(page.text); show(lines.slice(9, 21).join("\\n") + "\\nand a line of mine");"""
    whole, part = (await ran(tmp_path, script))[0].items
    ((index, count, origin),) = whole.placed
    assert (index, origin.path, origin.first) == (0, "a.py", 1) and count >= 89 and len(origin.oid) == 40
    assert part.text.split("\n")[0] == "[12 lines already shown in T1.1, lines 10-21: a.py 10-21]"


@pytest.mark.anyio
async def test_a_part_alone_is_known_as_lines_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    script = 'const page = await tools.files.read("a.py"); show(page.text.split("\\n").slice(9, 20).join("\\n"))'
    (item,) = (await ran(tmp_path, script))[0].items
    ((_, count, origin),) = item.placed
    assert (count, origin) == (11, Origin("a.py", origin.oid, 10)) and len(origin.oid) == 40


@pytest.mark.anyio
async def test_output_is_shown_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    script = """const found = await tools.shell.run({ command: "grep -n return a.py missing.py" });
show(found); show(found.output); show(await tools.shell.run({ command: "false" }));"""
    found, text, failed = (await ran(tmp_path, script))[0].items
    assert found.text.startswith("exit code 2\na.py (30)\n2:    return argument + 0\n")
    assert failed.text == "exit code 1"
    assert "already shown in T1.1" in text.text


@pytest.mark.anyio
async def test_options_narrow_what_is_shown_and_never_widen_it(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(LONG + "\n")
    script = """const { text } = await tools.files.read("long.txt"); const mine = text.replaceAll("line", "row");
show(mine, { lines: 6 }); show(mine.replaceAll("row", "r2"), { max_bytes: 400 });
show(mine.replaceAll("row", "r3"), { lines: 100000, max_bytes: 1e9 });
show({ a: 1 }, { as: "text" }); show(mine.slice(0, 60), { as: "nonsense", lines: -4, max_bytes: "many" });"""
    six, small, large, json, odd = (await ran(tmp_path, script))[0].items
    told = [line for line in six.text.split("\n") if "recall" not in line]
    assert len(told) == 6 and not six.whole
    assert len(small.text.encode()) <= 400
    assert len(large.text.encode()) <= 8_192 and large.text.count("\n") <= 161
    assert json.text == '{"a":1}' and odd.whole


@pytest.mark.anyio
async def test_one_small_file_a_turn_is_shown_whole(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} has this line, number {n}\n" for n in range(300)))
    both = 'show(await tools.files.read("a.txt")); show(await tools.files.read("b.txt"));'
    first, second = await ran(tmp_path, both, 'show(await tools.files.read("b.txt"))')
    assert [item.whole for item in first.items] == [True, False]
    assert second.items[0].whole  # a new turn, and what was shown of it is a reference


@pytest.mark.anyio
async def test_a_blank_last_line_of_a_slice_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n\nfour\n")
    (outcome,) = await ran(tmp_path, 'show(await tools.files.read({ path: "a.txt", limit: 3 }))')
    assert outcome.text == "a.txt 1-3 of 4\none\ntwo\n"


@pytest.mark.anyio
async def test_a_sketch_keeps_to_the_lines_that_were_asked_for(tmp_path: Path) -> None:
    script = (
        "show({ path: 'a.py', lines: Array.from({ length: 30 }, (_, n) => `a line of the file, number ${n}`) }, { lines: 4 })"
    )
    (outcome,) = await ran(tmp_path, script)
    told = [line for line in outcome.items[0].text.split("\n") if "recall" not in line]
    assert 0 < len(told) <= 4
