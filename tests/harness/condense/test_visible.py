"""Characters that nobody sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.visible import visible

CASES = [
    ("\x1b[31m", "\\u001b[31m"),
    ("a\x9bb\x7f", "a\\u009bb\\u007f"),
    ("\u202eabc\u2069", "\\u202eabc\\u2069"),
    ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
    ("\U000e0041\U000e0042", "\\u{e0041}\\u{e0042}"),
    ("\ud800", "\\ud800"),
    ("✔\ufe0f", "✔\ufe0f"),
    ("a\ufe00\ufe01\ufe02", "a\\ufe00\\ufe01\\ufe02"),
    ("tab\tand\nline", "tab\tand\nline"),
    ("Grüße, 日本語 🙂", "Grüße, 日本語 🙂"),
]


@pytest.mark.parametrize(("text", "seen"), CASES)
def test_what_is_hidden_is_written_out_and_what_is_seen_stays(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text(st.characters(exclude_categories=[])))
def test_the_result_has_utf8_and_no_control_and_is_stable(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
    assert visible(shown) == shown
