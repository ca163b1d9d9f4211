"""Hints for what the engine words badly, on real scripts."""

import pytest

from tests.sandbox.scripts import error

HINTS = [
    ("const item = { price: 1 };\nitem.prize.amount", "cannot read property 'amount' of undefined: item.prize is undefined", ""),
    ("const f = {};\n[1].map(x => f[0].a)", "cannot read property 'a' of undefined: f[0] is undefined", ""),
    ("const f = null;\nf.a = 3", "cannot set property 'a' of null: f is null", ""),
    ("const f = {};\nf.list['first']['x']", "cannot read property 'first' of undefined: f.list is undefined", ""),
    ("const total = 3;\ntotl + 1", "totl is not defined", "did you mean total?"),
    ("cosole.log(1)", "cosole is not defined", "did you mean console?"),
    ("zzz + 1", "zzz is not defined", ""),
    ("fetch('x')", "fetch is not defined", "there is no network here; use a tool such as tools.web, if help() lists one"),
    ("JSON.parse({ a: 1 })", "unexpected token: 'object'", "JSON.parse was given an object, not text: it is parsed already, use it as it is"),
    (
        "const f = () => {\n  const a = await g();\n};",
        "expecting ';'",
        "await works at the top level and in async functions: write async before the parameters of this function",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message", "hint"), HINTS)
def test_an_error_says_what_is_missing_and_what_was_probably_meant(source: str, message: str, hint: str) -> None:
    found = error(source)
    assert (found.message, found.hint) == (message, hint)
