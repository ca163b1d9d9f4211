"""Secrets out of shown text: what is found in which form, what stays, and that hostile text costs no more than its length."""

import html
import json
import random
import shlex
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.redaction_corpus import session_strings
from harness.redaction import Redactor, for_approval, secrets_of
from harness.redaction.patterns import PATTERNS

DATA = Path(__file__).parents[3] / "shared" / "data"
RANDOM = "q7Zk39fjQ02lsPq8XmW4"
GITHUB = "ghp_" + "k3Jd8Lq0Zm31PfA9" * 2 + "x7Yw"
PEM_LINES = [b64encode(random.Random(n).randbytes(48)).decode() for n in range(6)]
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(PEM_LINES) + "\nq1==\n-----END RSA PRIVATE KEY-----"
ODD = 'it\'s a "b" \\ $c & d/é+%'

WRITTEN = {
    "raw": lambda v: v,
    "base64": lambda v: b64encode(v.encode()).decode(),
    "base64 for URLs": lambda v: urlsafe_b64encode(v.encode()).decode().rstrip("="),
    "URL": lambda v: quote(v, safe=""),
    "path": lambda v: quote(v),
    "URL with small hex": lambda v: "".join(
        c if (c.isalnum() and c.isascii()) or c in "-_.~" else "".join(f"%{b:02x}" for b in c.encode()) for c in v
    ),
    "form": quote_plus,
    "JSON": lambda v: json.dumps(v)[1:-1],
    "JSON as UTF-8": lambda v: json.dumps(v, ensure_ascii=False)[1:-1],
    "JSON in JSON": lambda v: json.dumps(json.dumps(v))[3:-3],
    "shell": lambda v: shlex.quote(v).removeprefix("'").removesuffix("'"),
    "shell in JSON": lambda v: json.dumps(shlex.quote(v).removeprefix("'").removesuffix("'"))[1:-1],
    "HTML": html.escape,
    "hex": lambda v: v.encode().hex(),
    "HEX": lambda v: v.encode().hex().upper(),
}


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN.keys())
@pytest.mark.parametrize("value", [RANDOM, ODD, "hunter2x", "correct horse battery"])
def test_a_known_value_is_found_in_every_form(write: Any, value: str) -> None:
    shown = Redactor({"DB_PASSWORD": value}).text(f"<{write(value)}>")
    assert (shown.text, shown.found) == ("<[secret DB_PASSWORD]>", {"DB_PASSWORD": 1})


@given(
    value=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=6, max_size=40), form=st.sampled_from(sorted(WRITTEN))
)
def test_any_known_value_is_found_in_any_form(value: str, form: str) -> None:
    shown = Redactor({"K": value}, patterns=False).text(f"\n{WRITTEN[form](value)}\n")
    assert shown.found.get("K", 0) >= 1


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), url=st.booleans())
def test_a_known_value_is_found_inside_any_base64(before: bytes, after: bytes, url: bool) -> None:
    encode = urlsafe_b64encode if url else b64encode
    shown = Redactor({"K": RANDOM}, patterns=False).text(encode(before + RANDOM.encode() + after).decode())
    assert shown.found == {"K": 1}
    assert len(shown.text.replace("[secret K]", "")) <= len(b64encode(before)) + len(b64encode(after)) + 2


def test_characters_of_base64_that_share_bits_with_the_secret_go_with_it() -> None:
    text = b64encode(b"a" + RANDOM.encode() + b"bc").decode()
    assert Redactor({"K": RANDOM}, patterns=False).text(text).text == f"{text[0]}[secret K]{text[28:]}"


LINE_PREFIXES = {
    "nothing": "",
    "indent": "    ",
    "diff": "+",
    "quote": "> ",
    "listing": "{n:6d}\t",
    "grep": "{n}:",
    "code": "  '",
}


@settings(max_examples=300)
@given(
    offset=st.integers(0, 90),
    columns=st.sampled_from([64, 76]),
    prefix=st.sampled_from(sorted(LINE_PREFIXES)),
    seed=st.integers(0, 10**6),
)
def test_a_line_break_inside_base64_hides_nothing(offset: int, columns: int, prefix: str, seed: int) -> None:
    source = random.Random(seed)
    body = b64encode(source.randbytes(offset) + RANDOM.encode() + source.randbytes(60)).decode()
    lines = [body[at : at + columns] for at in range(0, len(body), columns)]
    text = "\n".join(LINE_PREFIXES[prefix].format(n=n) + line for n, line in enumerate(lines, start=98))
    shown = Redactor({"K": RANDOM}, patterns=False).text(text).text
    core = b64encode(b"\0" * (offset % 3) + RANDOM.encode()).decode()[4:24]
    assert "[secret K]" in shown
    assert not any(core[at : at + 6] in shown for at in range(len(core) - 6))


def test_a_wrapped_line_may_begin_with_a_plus_that_is_no_mark_of_a_diff() -> None:
    value = "Zk39fj>>>Q02lsPq8Xm"
    body = b64encode(b"x" * 39 + value.encode()).decode()
    assert body[63] == "+"
    assert Redactor({"K": value}, patterns=False).text(body[:63] + "\n" + body[63:]).found == {"K": 2}


def test_a_token_that_a_replacement_lays_bare_is_found_too() -> None:
    redactor = Redactor({"K": "0z9Y8x7W6v5U"})
    assert redactor.text(f"0z9Y8x7W6v5Usk-{RANDOM * 2}").text == "[secret K][secret api_key]"


def test_a_break_written_as_backslash_n_hides_nothing() -> None:
    body = b64encode(b"x" * 40 + RANDOM.encode()).decode()
    text = json.dumps({"content": body[:64] + "\n" + body[64:]})
    assert Redactor({"K": RANDOM}).text(text).found == {"K": 2}


def test_a_random_value_is_found_when_it_was_cut() -> None:
    redactor = Redactor({"K": "sk-ant-" + RANDOM * 2})
    assert redactor.text(f"key {('sk-ant-' + RANDOM * 2)[:30]}…").text == "key [secret K]…"
    assert redactor.text(f"…{(RANDOM * 2)[-22:]} end").text == "…[secret K] end"


def test_each_line_of_a_known_key_file_is_a_secret() -> None:
    shown = Redactor({"KEY": PEM}, patterns=False).text(f"line: {PEM_LINES[3]}")
    assert shown.text == "line: [secret KEY]"


def test_the_longest_of_overlapping_secrets_gives_the_name_and_nothing_of_the_others_is_left() -> None:
    redactor = Redactor({"SHORT": "abcdefgh", "LONG": "defghijklmnop", "INNER": "ghijkl"})
    assert redactor.text("<abcdefghijklmnop>") == redactor.text("<abcdefghijklmnop>")
    assert (redactor.text("<abcdefghijklmnop>").text, redactor.text("<defghijklmnop>").text) == (
        "<[secret LONG]>",
        "<[secret LONG]>",
    )


def test_a_known_value_keeps_its_name_where_a_pattern_fits_too() -> None:
    assert Redactor({"GH": GITHUB}).text(f"token={GITHUB}").text == "token=[secret GH]"


def test_a_placeholder_is_not_broken_by_a_secret_inside_it() -> None:
    redactor = Redactor({"MY_TOKEN": "y6ZkQ0f9aa", "OTHER": "secret MY_TOKEN"})
    assert redactor.text("a y6ZkQ0f9aa b").text == "a [secret MY_TOKEN] b"


def test_a_placeholder_that_is_not_ours_shields_nothing() -> None:
    assert Redactor().text(f"[secret {GITHUB}]").text == "[secret [secret github_token]]"
    assert Redactor({"K": RANDOM}).text(f"[secret K {RANDOM}]").text == "[secret K [secret K]]"


def test_allowed_values_stay() -> None:
    redactor = Redactor({"K": RANDOM}, allow=[RANDOM, GITHUB])
    assert redactor.text(f"{RANDOM} {GITHUB}").found == {}


def test_without_patterns_only_known_values_are_found() -> None:
    assert Redactor({"K": RANDOM}, patterns=False).text(f"{RANDOM} {GITHUB}").text == f"[secret K] {GITHUB}"


def test_values_too_short_to_be_told_from_other_text_are_not_looked_for() -> None:
    assert Redactor({"K": "abc", "L": ""}).text("abc").found == {}


def test_lone_surrogates_do_not_stop_the_scan() -> None:
    assert Redactor({"K": RANDOM}).text(f"\ud800 {RANDOM} é").text == "\ud800 [secret K] é"


TOKENS = {
    "github_token": GITHUB,
    "anthropic_key": "sk-ant-api03-" + RANDOM * 4,
    "openai_key": "sk-proj-" + RANDOM * 3,
    "api_key": "sk-" + RANDOM * 2,
    "gitlab_token": "glpat-" + RANDOM,
    "slack_token": "xoxb-480913726604-" + RANDOM,
    "aws_access_key": "AKIAJ3K7QZ5WM2XN4TRB",
    "google_key": "AIza" + (RANDOM * 2)[:35],
    "npm_token": "npm_" + (RANDOM * 2)[:36],
    "pypi_token": "pypi-AgEIcHlwaS5vcmc" + RANDOM * 3,
    "huggingface_token": "hf_" + (RANDOM * 2)[:34],
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3In0." + RANDOM * 2,
}


@pytest.mark.parametrize(("kind", "token"), TOKENS.items(), ids=TOKENS.keys())
@pytest.mark.parametrize(
    "around", ["{}", "a {} b", '"{}"', "x={}&y", "\\n{}\\n", "%3D{}", "\x1b[32m{}\x1b[0m", "+{}", "https://{}@host/"]
)
def test_a_token_is_known_by_its_look(kind: str, token: str, around: str) -> None:
    assert Redactor().text(around.format(token)).text == around.format(f"[secret {kind}]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Authorization: Bearer {RANDOM}", "Authorization: Bearer [secret authorization]"),
        (f"DEPLOY_TOKEN={RANDOM}", "DEPLOY_TOKEN=[secret assigned_secret]"),
        (f'{{"client_secret": "{RANDOM}"}}', '{"client_secret": "[secret assigned_secret]"}'),
        (f'"{{\\"apiKey\\": \\"{RANDOM}\\"}}"', '"{\\"apiKey\\": \\"[secret assigned_secret]\\"}"'),
        (f"deploy --auth-token {RANDOM} now", "deploy --auth-token [secret assigned_secret] now"),
        (f"X-Api-Key: {RANDOM}", "X-Api-Key: [secret assigned_secret]"),
        ("postgres://app:tr0ub4dor@db/app", "postgres://app:[secret url_password]@db/app"),
        (f"password: {RANDOM * 40}", "password: [secret assigned_secret]"),
        (f"{PEM}\nnext", "-----BEGIN RSA PRIVATE KEY-----[secret private_key]\n-----END RSA PRIVATE KEY-----\nnext"),
    ],
)
def test_a_secret_in_its_place_is_found(text: str, shown: str) -> None:
    assert Redactor().text(text).text == shown


@pytest.mark.parametrize("write", [lambda pem: pem, lambda pem: json.dumps(pem), lambda pem: "\n".join("+" + line for line in pem.split("\n")), lambda pem: "\n".join("-" + line for line in pem.split("\n")), lambda pem: "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(pem.split("\n"))), lambda pem: pem[: pem.index("-----END")]])  # fmt: skip
def test_a_private_key_is_found_as_files_diffs_and_json_show_it(write: Any) -> None:
    shown = Redactor().text(write(PEM)).text
    assert not any(line[at : at + 8] in shown for line in PEM_LINES for at in range(len(line) - 8))


STAYS = [
    "token = get_token()",
    "password: str",
    "password = self.settings.database_password2",
    "def authenticate(user, password: str = None, token: Token | None = None) -> bool:",
    "max_tokens: 4096, token_count=123456789012",
    '"nextPageToken": "CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA"',
    'next_token="q7Zk39fjQ02lsPq8XmW4"',
    "Basic authentication; Bearer authorization-required",
    'api_key = os.environ["API_KEY_V2"]',
    "secret: ${{ secrets.DEPLOY_KEY_2 }}",
    "https://user:pass@localhost:8080/ and https://user:<password>@host",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("a private key, 32 bytes")',
    'api_key = "your_q7Zk39fjQ02lsPq8"',
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "AKIAIOSFODNN7EXAMPLE sk-xxxxxxxxxxxxxxxxxxxxxxxx ghp_************************************",
    "task-management-for-the-next-quarter-2026 risk-assessment-of-every-team",
    "publicKeyToken=\"1fc8b3b9a1e18e3b\" AWS::IAM::AccessKey: 48205d4ffd7feba3",
    "arn:aws:secretsmanager:us-west-2:481209736655:secret:prod/q7Zk39fjQ02lsPq8",
    "see [secret] and [secret ] and [secret of the trade]",
]  # fmt: skip


@pytest.mark.parametrize("line", STAYS)
def test_ordinary_text_stays(line: str) -> None:
    assert Redactor({"K": RANDOM[::-1]}).text(line).text == line


PARTS = st.sampled_from([RANDOM, GITHUB, PEM, "[secret K]", "[secret ", "]", "sk-", "sk-ant-", "eyJ", ".", "token=", "password: ", '"', "://u:", "@h", "-----BEGIN ", "Bearer ", "\n", "\\n", " ", "=", b64encode(RANDOM.encode()).decode(), *TOKENS.values()])  # fmt: skip


@settings(max_examples=400)
@given(st.lists(PARTS | st.text(max_size=12), max_size=14).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    redactor = Redactor({"K": RANDOM, "OTHER": "lsPq8XmW4ghp_k3"})
    once = redactor.text(text)
    assert RANDOM not in once.text
    assert (redactor.text(once.text).text, redactor.text(once.text).found) == (once.text, {})


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | PARTS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PARTS | st.sampled_from(["password", "a"]), inner, max_size=4),
    max_leaves=12,
)


@given(JSONS)
def test_a_value_keeps_its_structure_and_loses_its_secrets(value: Any) -> None:
    def shape(one: Any) -> Any:
        match one:
            case dict():
                return [shape(member) for member in one.values()]
            case list():
                return [shape(item) for item in one]
            case str():
                return "text"
            case _:
                return one

    redactor = Redactor({"K": RANDOM})
    before = json.dumps(value)
    shown, found = redactor.value(value)
    assert shape(shown) == shape(value)
    assert json.dumps(value) == before
    assert RANDOM not in json.dumps(shown)
    assert (shown is value) == (not found)
    assert redactor.value(shown) == (shown, {})


def test_a_member_named_like_a_secret_is_judged_with_its_name() -> None:
    shown, found = Redactor().value({"password": RANDOM, "nextToken": RANDOM, "kind": "x", "token": "word"})
    assert shown == {"password": "[secret assigned_secret]", "nextToken": RANDOM, "kind": "x", "token": "word"}
    assert found == {"assigned_secret": 1}


def test_two_keys_that_were_secrets_are_still_two_members() -> None:
    other = GITHUB[::-1].replace("_phg", "")
    assert Redactor({"A": RANDOM}).value({RANDOM: 1, f"{RANDOM}": 2, GITHUB: 3, "ghp_" + other: 4})[0] == {
        "[secret A]": 2, "[secret github_token]": 3, "[secret github_token] (2)": 4,
    }  # fmt: skip


@pytest.mark.parametrize("anchor", [anchor for pattern in PATTERNS for anchor in pattern.anchors[:2]])
def test_a_flood_of_beginnings_ends(anchor: str) -> None:
    """Quadratic work on this much text would take minutes to hours."""
    for flood in (anchor * (2**17 // len(anchor)), (anchor + "a1B2c3D4e5F6g7H8") * (2**17 // (len(anchor) + 16))):
        once = Redactor().text(flood)
        assert Redactor().text(once.text).text == once.text


@pytest.mark.parametrize(
    "piece",
    [
        "[secret jwt]",
        "a" * 76 + "\n",
        "-----BEGIN PRIVATE KEY-----",
        "=",
        "\\n",
        RANDOM,
        '"password": "',
        "token=" + RANDOM + " ",
    ],
)
def test_a_flood_of_anything_else_ends(piece: str) -> None:
    assert RANDOM not in Redactor({"K": RANDOM}).text(piece * (2**17 // len(piece))).text


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "abcdefgh1", "abcdefgh1"),
        ("DB_PASSWORD", "correct horse", "correct horse"),
        ("DB_PWD", "hunter2hunter2", "hunter2hunter2"),
        ("OPENAI_API_KEY", RANDOM, RANDOM),
        ("TLS_PRIVATE_KEY", PEM, PEM),
        ("DATABASE_URL", "postgres://app:tr0ub4dor@db:5432/app", "tr0ub4dor"),
        ("REDIS", "redis://:tr0ub4dor@cache", "tr0ub4dor"),
        ("ODBC", "Driver=x;Server=db;Pwd=tr0ub4dor;", "tr0ub4dor"),
        ("ANYTHING", GITHUB, GITHUB),
        ("PATH", "/usr/bin:/bin", None),
        ("HOME", "/root", None),
        ("PWD", "/srv/secret-project", None),
        ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1", None),
        ("TOKEN_FILE", "/run/secrets/token", None),
        ("USE_TOKEN", "true", None),
        ("MAX_TOKENS", "4096", None),
        ("DB_PASSWORD", "postgres", None),
        ("SECRET", "dev", None),
        ("AUTH_TYPE", "oauth-device", None),
        ("KEYBOARD_LAYOUT", "q7Zk39fjQ02lsPq8XmW4", None),
        ("GIT_COMMIT", "3f786850e387550fdab836ed7e6dc881de23001b", None),
        ("DATABASE_URL", "postgres://db:5432/app", None),
    ],
)
def test_which_variables_are_secrets(name: str, value: str, secret: str | None) -> None:
    assert secrets_of({name: value}) == ({} if secret is None else {name: secret})


def test_settings_are_named_by_their_path() -> None:
    assert secrets_of({}, {"packs": {"web": {"api_key": RANDOM, "timeout": 3, "mirrors": [f"https://u:{RANDOM}@m"]}}}) == {
        "packs.web.api_key": RANDOM,
        "packs.web.mirrors.0": RANDOM,
    }


def test_a_password_in_a_url_is_also_known_unescaped() -> None:
    assert secrets_of({"U": "postgres://a:tr0ub%40dor@db"}) == {"U": "tr0ub%40dor", "U.plain": "tr0ub@dor"}


def test_the_approver_sees_no_secret_and_no_more_than_a_screen() -> None:
    redactor = Redactor({"K": RANDOM})
    shown = for_approval(
        {
            "command": f"curl -H {RANDOM}", "apiKey": "x", "auth": {"user": "u"}, "keyboard": "us", "monkey": "m", "author": "a",
            "accesstoken": "t", "max_tokens": 100, "use_key": True, "secret-name": None, "hotkey": "ctrl",
            "items": list(range(12)), "text": "y" * 600, "deep": [[[[[[[[[1]]]]]]]]], "many": {f"m{n}": n for n in range(52)},
        },
        redactor,
    )  # fmt: skip
    many = shown.pop("many")
    assert (len(many), many["…"]) == (51, "2 more members")
    assert shown == {
        "command": "curl -H [secret K]", "apiKey": "[redacted]", "auth": "[redacted]", "keyboard": "us", "monkey": "m", "author": "a",
        "accesstoken": "[redacted]", "max_tokens": 100, "use_key": True, "secret-name": None, "hotkey": "ctrl",
        "items": [*range(10), "… 2 more items"], "text": "y" * 500 + "… 100 more characters",
        "deep": [[[[[[["… 1 items, too deep to show"]]]]]]],
    }  # fmt: skip


def test_a_cut_for_the_approver_does_not_break_a_placeholder() -> None:
    shown = for_approval({"text": "z" * 495 + RANDOM + "z" * 10}, Redactor({"K": RANDOM}))
    assert shown == {"text": "z" * 495 + "… 20 more characters"}


@pytest.mark.skipif(not (DATA / "sessions").is_dir(), reason="the sessions are not part of the repository")
def test_ordinary_lines_of_real_sessions_stay() -> None:
    """One line in ten thousand at most; none was redacted when this was written."""
    redactor = Redactor({"K": RANDOM})
    texts = [text for number, text in enumerate(session_strings(DATA)) if number % 10 == 0]
    redacted = sum(sum(redactor.text(text).found.values()) for text in texts)
    assert redacted * 10_000 <= sum(text.count("\n") + 1 for text in texts)
