"""Scrubbing: nothing of this machine and no secret is on record, a scrubbed script replays, and what was a path can be one again."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.approval import Decision
from harness.call import Outcome
from harness.compose import ShownItem
from harness.condense.record import Origin, Reference
from harness.config import read_settings
from harness.entries import (
    Began,
    Ended,
    Ending,
    Entry,
    Facts,
    Forgot,
    Git,
    Held,
    Item,
    Message,
    Opened,
    PackFacts,
    Running,
    Said,
    Settled,
)  # fmt: skip
from harness.ledger import Ledger
from harness.redaction import Redactor
from harness.scrub_moves import Edit, Edits, Moves
from harness.scrub_places import Places, places_of
from harness.scrub_rules import ScrubRules
from harness.scrubbing import Scrubbing, expanded
from harness.setup import BadConfig
from harness.store.lines import encode
from sandbox import Problem, ScriptError, Site
from tests.harness.sample_session import sample

ROOT, HOME, TMP = "/home/ada/project", "/home/ada", "/tmp"
PLACES = {"root": ROOT, "home": HOME, "tmp": TMP}
SECRET = "s3cr3t-Zk39fjQ02lsPq8XmW4"
KNOWN = {"DEPLOY_KEY": SECRET}


def scrubbing(rules: ScrubRules | None = None, *, places: dict[str, str] | None = None) -> Scrubbing:
    return Scrubbing(rules or ScrubRules(places=True), redactor=Redactor(KNOWN), places=PLACES if places is None else places)


def scrubbed(entries: Sequence[Entry], rules: ScrubRules | None = None, *, places: dict[str, str] | None = None) -> list[Entry]:
    one = scrubbing(rules, places=places)
    return [one.entry(entry) for entry in entries]


def on_record(entries: Sequence[Entry]) -> str:
    """All that would be written of them."""
    written = []
    for entry in entries:
        line, blobs = encode(entry, seq=1, before="")
        written += [line.to_bytes(), *blobs.values()]
    return b"\n".join(written).decode()


# ------------------------------------------------------------ paths in texts

TEXTS = [
    ("/home/ada/project/src/a.py", "{turnscript:root}/src/a.py"),
    ("/home/ada/project", "{turnscript:root}"),
    ("/home/ada/.ssh", "{turnscript:home}/.ssh"),
    ("/home/ada", "{turnscript:home}"),
    ("/home/adam/x", "/home/adam/x"),
    ("/home/ada-old /home/ada.git /home/ada_2", "/home/ada-old /home/ada.git /home/ada_2"),
    ("it is in /home/ada.", "it is in {turnscript:home}."),
    ("/home/ada/project2/x", "{turnscript:home}/project2/x"),
    ("/var/tmp/x /mnt/home/ada", "/var/tmp/x /mnt/home/ada"),
    ("https://example.org/tmp/x s3://tmp/x", "https://example.org/tmp/x s3://tmp/x"),
    ("file:///home/ada/x", "file://{turnscript:home}/x"),
    ("PATH=/usr/bin:/home/ada/bin:/tmp", "PATH=/usr/bin:{turnscript:home}/bin:{turnscript:tmp}"),
    ("cc -I/home/ada/include", "cc -I{turnscript:home}/include"),
    ('File "/tmp/a.py", line 3', 'File "{turnscript:tmp}/a.py", line 3'),
    (r"'one\n/tmp/two'", r"'one\n{turnscript:tmp}/two'"),
    ("`$/tmp`", "`$/tmp`"),
    ("/tmp/home/ada/tmp", "{turnscript:tmp}/home/ada/tmp"),
    ("(/tmp)/tmp,/tmp;", "({turnscript:tmp}){turnscript:tmp},{turnscript:tmp};"),
]


@pytest.mark.parametrize(("text", "after"), TEXTS)
def test_a_path_goes_where_it_begins_and_ends_as_one(text: str, after: str) -> None:
    places = Places(PLACES)
    assert places.out_of(text)[0] == after
    assert places.into(after)[0] == text


def test_a_path_goes_as_it_was_given_and_as_links_lead(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = Places({"root": str(tmp_path / "link")})
    assert places.out_of(f"{tmp_path}/link/a {tmp_path}/real/a {tmp_path}/other")[0] == (
        f"{{turnscript:root}}/a {{turnscript:root}}/a {tmp_path}/other"
    )
    assert places.into("{turnscript:root}/a")[0] == f"{tmp_path}/link/a"


def test_places_come_from_root_and_environment_and_the_whole_disk_is_none(tmp_path: Path) -> None:
    assert places_of(tmp_path, {"HOME": "/home/ada", "TMPDIR": "/scratch"}) == {
        "root": str(tmp_path), "home": "/home/ada", "tmp": "/scratch",
    }  # fmt: skip
    assert places_of(Path("/"), {"HOME": "/"}) == {"tmp": "/tmp"}
    assert places_of(Path("/"), {"HOME": "relative"}) == {"tmp": "/tmp"}


# ------------------------------------------------------------ every text of an entry


def full() -> list[Entry]:
    """Entries with a path and a secret wherever a free text can stand."""
    here = f"{ROOT}/x {SECRET}"
    settled = Settled(
        session="s", at=1.0, turn=1, call=1, tool="x.read", site=Site(1, 1), arguments=(here, {here: [here]}), read={"keys": [here]},
        outcome=Outcome(status="failed", value={"a": [here]}, problem=Problem("bad", here, here, {"at": here}), fault=here),
    )  # fmt: skip
    item = ShownItem(
        handle="T1.1", kind="value", text=here, labelled=True, whole=True, produced=1, trimmed={},
        references=((0, Reference("T1.1", 1, 2, path=here)),), placed=((0, 1, Origin(here)),),
    )  # fmt: skip
    error = ScriptError("Error", here, excerpt=here, hint=here, data={"a": here}, others=(ScriptError("Error", here),))
    facts = Facts(
        root=ROOT, git=Git(remote=here, branch=here), labels={"who": here}, packs={"x": PackFacts(source=here, digest="d")}
    )
    return [
        Opened(session="s", at=0.0, facts=facts),
        Message(session="s", at=0.0, role="user", text=here),
        Began(
            session="s", at=0.0, turn=1, script=f"// {here}", sha256="", context={"root": ROOT, "more": [here]}, relaxed=here,
            stored={here: here},
        ),
        Running(session="s", at=0.0, turn=1, call=1, tool="x.read", site=Site(1, 1), arguments={"path": here}),
        Held(session="s", at=0.0, turn=1, handle="T1.1", value={"a": here}),
        settled,
        Ended(
            session="s", at=0.0, turn=1, ending=Ending(how="failed", value=[here], error=error), text=here, items=(item,),
            notices=(here,), said=(Said(how="shown", value=here, name=here, options={"a": here}),), left=(settled,),
            ledger=Ledger(relaxed=(here,)),
            decisions=(Decision(request="r", call="c", tool="x.read", verdict="deny", by="person", reason=here),),
        ),
        Forgot(session="s", at=0.0, turns=(1,), mended={"T1.1": item}),
        Item(session="s", at=0.0, format="codex", kind="message", raw={"a": [here]}, text=here),
    ]  # fmt: skip


def test_no_text_of_any_entry_is_left_with_a_path_or_a_secret() -> None:
    before, after = on_record(full()), on_record(scrubbed(full()))
    assert ROOT not in after and SECRET not in after and "{turnscript:root}/x [secret DEPLOY_KEY]" in after
    assert before.count(SECRET) == after.count("[secret DEPLOY_KEY]")


def test_rules_take_out_what_they_say_and_nothing_else() -> None:
    entry = Message(session="s", at=0.0, role="user", text=f"{ROOT} {SECRET} user-17")
    texts = {
        "secrets": ScrubRules(),
        "places": ScrubRules(secrets=False, places=True),
        "patterns": ScrubRules(secrets=False, patterns={r"user-\d(\d)": r"user-N\1"}),
        "none": ScrubRules(secrets=False),
    }
    told = {name: replace(scrubbed([entry], rules)[0]) for name, rules in texts.items()}
    assert {name: one.text for name, one in told.items() if isinstance(one, Message)} == {
        "secrets": f"{ROOT} [secret DEPLOY_KEY] user-17",
        "places": f"{{turnscript:root}} {SECRET} user-17",
        "patterns": f"{ROOT} {SECRET} user-N7",
        "none": f"{ROOT} {SECRET} user-17",
    }


def test_what_holds_nothing_of_it_comes_back_as_the_same_object() -> None:
    entries = [entry for entry in sample("s") if not hasattr(entry, "facts")]
    assert all(after is before for before, after in zip(entries, scrubbed(entries), strict=True))


def test_two_keys_that_become_one_are_still_two_members(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    one = scrubbing(places={"root": str(tmp_path / "link")})
    assert one.value({f"{tmp_path}/link": 1, f"{tmp_path}/real": 2}) == {"{turnscript:root}": 1, "{turnscript:root} (2)": 2}


def test_half_a_surrogate_pair_and_a_great_number_hide_no_path() -> None:
    assert scrubbing().value(["\ud800", 2**70, "/tmp/x"]) == ["\ud800", 2**70, "{turnscript:tmp}/x"]


# ------------------------------------------------------------ the script, and where its calls stand


def test_the_sha256_is_of_the_script_as_it_is_on_record() -> None:
    began = Began(session="s", at=0.0, turn=1, script="return '/tmp/x'", sha256="?")
    after = scrubbed([began])[0]
    assert isinstance(after, Began) and after.script == "return '{turnscript:tmp}/x'"
    assert after.sha256 == hashlib.sha256(after.script.encode()).hexdigest()


@given(
    st.lists(st.sampled_from(["/tmp", ROOT, "ab", "\n", "\r\n", "é", " ", "𝒳"]), max_size=24).map("".join),
    st.sampled_from([" @ ", "\u2028/tmp @", "@"]),
    st.lists(st.sampled_from(["/tmp", ROOT, "ab", "\n", " "]), max_size=8).map("".join),
)
def test_a_site_points_at_the_same_thing_before_and_after(left: str, call: str, right: str) -> None:
    script = left + call + right
    began = Began(session="s", at=0.0, turn=1, script=script, sha256="")
    settled = Settled(
        session="s", at=0.0, turn=1, call=1, tool="x.read", site=site_of(script), arguments={}, outcome=Outcome(status="returned")
    )
    ended = Ended(session="s", at=0.0, turn=1, ending=Ending(how="finished"), text="", left=(settled,))
    new_began, new_settled, new_ended = scrubbed([began, settled, ended])
    assert isinstance(new_began, Began) and isinstance(new_settled, Settled) and isinstance(new_ended, Ended)
    assert new_settled.site == new_ended.left[0].site == site_of(new_began.script)
    assert new_settled.site.ordinal == settled.site.ordinal


def site_of(script: str) -> Site:
    """Of the @, as the engine counts."""
    before = script.partition("@")[0].replace("\r\n", "\n")
    lines = before.replace("\r", "\n").replace("\u2028", "\n").split("\n")
    return Site(len(lines), len(lines[-1]) + 1, 3)


def test_a_place_inside_what_was_replaced_becomes_its_start() -> None:
    edits = Edits([Edit(2, 5, 1), Edit(7, 8, 4)])
    assert [edits.moved(at) for at in range(10)] == [0, 1, 2, 2, 2, 3, 4, 5, 9, 10]
    assert Moves.of("ab", "ab", [Edits(())]).site(Site(0, 0)) == Site(0, 0)


# ------------------------------------------------------------ there and back

pieces = st.sampled_from(
    [
        "/",
        "home",
        "/home/ada",
        "/home/ada/project",
        "/tmp",
        "/var/tmp",
        "m",
        ".",
        "-",
        " ",
        "\n",
        '"',
        "\\n",
        "a/b",
        "é",
        "{",
        "$",
    ]
)
texts = st.lists(pieces, max_size=8).map("".join)
values = st.recursive(
    texts | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(texts, values, texts, st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_what_was_scrubbed_can_be_expanded_again(script: str, value: Any, text: str, offsets: list[int]) -> None:
    entries: list[Entry] = [Began(session="s", at=0.0, turn=1, script=script, sha256=_sha256(script), context={"a": value})]
    for number, at in enumerate(offsets, 1):
        entries.append(
            Settled(
                session="s", at=0.0, turn=1, call=number, tool="x.read", site=_outside(script, at), arguments={"path": text},
                outcome=Outcome(status="returned", value=value),
            )
        )  # fmt: skip
    entries.append(Ended(session="s", at=0.0, turn=1, ending=Ending(how="finished", value=value), text=text))
    rules = ScrubRules(secrets=False, places=True)
    there = scrubbed(entries, rules)
    assert list(expanded(there, PLACES)) == entries
    assert scrubbed(there, rules) == there  # no place is left
    assert not any(path in _words(one) for path in PLACES.values() for one in there)


def _sha256(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def _outside(script: str, at: int) -> Site:
    """A place in the script that is no place inside a path, where no call can stand."""
    edges = [0, *(one for path in (ROOT, HOME, TMP) for one in _edges(script, path)), len(script)]
    at = edges[at % len(edges)]
    lines = script[:at].split("\n")
    return Site(len(lines), len(lines[-1]) + 1)


def _edges(script: str, path: str) -> list[int]:
    return [at for at in range(len(script)) if script.startswith(path, at)]


def _words(entry: Entry) -> list[str]:
    """Texts between blanks and quotes: a path that is a whole word is a path."""
    return on_record([entry]).replace('"', " ").split()


# ------------------------------------------------------------ the table [record]


def test_the_record_table_says_what_is_taken_out(tmp_path: Path) -> None:
    assert read_settings(folder=tmp_path, environment={}).setup.scrub == ScrubRules()
    (tmp_path / "turnscript.toml").write_text("[record]\nsecrets = false\nplaces = true\npatterns = { 'user-\\d+' = 'user-N' }\n")
    assert read_settings(folder=tmp_path, environment={}).setup.scrub == ScrubRules(
        secrets=False, places=True, patterns={r"user-\d+": "user-N"}
    )


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("patterns = { '(' = 'x' }", "record.patterns: the pattern '(' = 'x': missing ), unterminated subpattern at position 0"),
        ("patterns = { 'a' = '\\2' }", r"record.patterns: the pattern 'a' = '\\2': invalid group reference 2 at position 1"),
        ("patterns = { 'a' = '\\g<n>' }", r"record.patterns: the pattern 'a' = '\\g<n>': there is no group of that name"),
        ("patterns = { 'a*' = 'x' }", "record.patterns: the pattern 'a*' fits the empty text, which is everywhere; let it need a character"),
        ("patterns = { 'a' = 1 }", "record.patterns.a must be text, not 1"),
        ("places = 'yes'", "record.places must be true or false, not 'yes'"),
        ("place = true", "record: unknown key 'place'; did you mean places?"),
    ],
)  # fmt: skip
def test_a_table_that_is_no_good_says_what_of_it(tmp_path: Path, table: str, what: str) -> None:
    (tmp_path / "turnscript.toml").write_text(f"[record]\n{table}\n")
    with pytest.raises(BadConfig) as told:
        read_settings(folder=tmp_path, environment={})
    assert str(told.value) == f"{tmp_path / 'turnscript.toml'}: {what}"
