"""Each kind of value has one documented result on its way across the wall (docs/values.md)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import Called, Limits, Reject, Resolve
from sandbox.errors import WireError
from sandbox.values import TooDeep, decode, depth_over, encode
from tests.sandbox.scripts import error, run, value

OUT = [
    ("undefined", None), ("null", None), ("NaN", None), ("Infinity", None), ("-0", 0), ("'a\\u0000b'", "a\0b"), ("'\\ud800!'", "\ufffd!"),
    ("({ a: undefined, b: () => 1, c: Symbol('s'), d: 1 })", {"d": 1}), ("[undefined, () => 1, 1]", [None, None, 1]),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"), ("new Date(NaN)", None),
    ("new Map([['a', 1], [{ k: 1 }, new Map()]])", [["a", 1], [{"k": 1}, []]]), ("new Set([1, 'x', [2]])", [1, "x", [2]]),
    ("new Uint8Array([1, 255])", [1, 255]), ("new Float64Array([0.5])", [0.5]), ("new ArrayBuffer(3)", [0, 0, 0]),
    ("new BigInt64Array([5n])", [5]), ("new DataView(new ArrayBuffer(2))", [0, 0]),
    ("10n", 10), ("9007199254740991n", 9007199254740991), ("9007199254740993n", "9007199254740993"), ("[-(2n ** 70n)]", ["-1180591620717411303424"]),
    ("/a\\/b/gi", "/a\\/b/gi"), ("new TypeError('m')", {"name": "TypeError", "message": "m"}),
    ("Object.assign(new Error('m'), { hint: 'h', data: [1] })", {"name": "Error", "message": "m", "hint": "h", "data": [1]}),
    ("new Error('m', { cause: new RangeError('c') })", {"name": "Error", "message": "m", "cause": {"name": "RangeError", "message": "c"}}),
    ("new (class P { x = 1; #y = 2; get z() { return 3 } })", {"x": 1}), ("({ toJSON() { return 'mine' } })", "mine"),
    ("new URL('https://a.b/c')", "https://a.b/c"), ("Object.create(null, { a: { value: 1, enumerable: true } })", {"a": 1}),
    ("[new Number(1), new String('s'), new Boolean(false)]", [1, "s", False]), ("({ __proto__: { inherited: 1 }, own: 2 })", {"own": 2}),
    ("JSON.parse('{\"__proto__\": 1}')", {"__proto__": 1}), ("[,1]", [None, 1]), ("'x'.repeat(3) + 'é😀'", "xxxé😀"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), OUT)
def test_a_value_out_of_the_script_has_one_result(source: str, expected: Any) -> None:
    assert value(f"const v = {source};\nv") == expected
    assert [event.args for event in run(f"await tools.a.b({source})", tools=("a.b",)) if isinstance(event, Called)] == [
        [expected]
    ]


REFUSED = [
    ("const o = { a: {} }; o.a.b = o; show(o)", "TypeError", "the shown value cannot be sent: $.a.b refers back to $, and JSON has no cycles"),
    ("const a = [[]]; a[0][0] = a; return a", "TypeError", "the result cannot be sent: $[0][0] refers back to $, and JSON has no cycles"),
    ("show({ x: tools.a.b(1) })", "TypeError", "the shown value holds a promise at $.x; write await before the call that made it"),
    ("tools.a.b({ list: [Promise.resolve(1)] })", "TypeError",
     "the arguments of a.b holds a promise at $.list[0]; write await before the call that made it"),
    ("store('k', [new Map().keys()])", "TypeError", "the value stored as \"k\" holds an iterator at $[0]; spread it into a list: [...it]"),
    ("show('x'.repeat(5000))", "too_large", "the shown value is 5002 bytes of JSON; the limit is 4000"),
    ("show('é'.repeat(2500))", "too_large", "the shown value is 5002 bytes of JSON; the limit is 4000"),
    ("let d = 0; for (let i = 0; i < 70; i++) d = [d]; show(d)", "too_deep", None),
    ("show({ get a() { throw new RangeError('mine') } })", "RangeError", "mine"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "name", "message"), REFUSED)
def test_what_cannot_be_sent_is_an_error_that_names_the_place(source: str, name: str, message: str | None) -> None:
    failed = error(source, tools=("a.b",), limits=Limits(args_bytes=4000))
    assert failed.name == name
    assert message is None or failed.message == message


def test_the_same_object_twice_is_no_cycle() -> None:
    assert value("const o = { a: 1 }; [o, o, { o }]") == [{"a": 1}, {"a": 1}, {"o": {"a": 1}}]


IN = [(2**53, "9007199254740992"), (-(2**60), "-1152921504606846976"), (2**53 - 1, 2**53 - 1), (float("nan"), None), ("a\ud800", "a\ufffd"), ((1, 2), [1, 2]), ({1: "a"}, {"1": "a"})]  # fmt: skip


@pytest.mark.parametrize(("given_value", "seen"), IN)
def test_a_value_into_the_script_has_one_result(given_value: Any, seen: Any) -> None:
    assert value("await tools.a.b()", tools=("a.b",), answer=lambda call: Resolve(call.call_id, given_value)) == seen


def test_a_result_that_is_too_large_too_deep_or_no_json_is_a_problem_in_the_script() -> None:
    def told(result: Any) -> list[str]:
        source = "let e; try { await tools.a.b() } catch (x) { e = x }\n[e.name, e.message]"
        return value(source, tools=("a.b",), answer=lambda call: Resolve(call.call_id, result), limits=Limits(result_bytes=1000))

    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    assert told("x" * 2000) == ["result_too_large", "the result is 2,002 bytes; a script takes 1,000 at once"]
    assert told(deep) == ["bad_result", "the tool's result is not JSON: the value is nested deeper than 64 levels"]
    assert told(object())[0] == "bad_result"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_json_survives_the_way_in_and_out_unchanged(given_value: Any) -> None:
    got = value("await tools.a.b()", tools=("a.b",), answer=lambda call: Resolve(call.call_id, given_value))
    assert _as_js_has_it(got) == _as_js_has_it(given_value)


def _as_js_has_it(item: Any) -> Any:
    """A number is a double there, -0 is written 0, and lone surrogates cannot be encoded."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        return float(item)
    if isinstance(item, str):
        return item.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(item, list):
        return [_as_js_has_it(one) for one in item]
    if isinstance(item, dict):
        return {_as_js_has_it(key): _as_js_has_it(one) for key, one in item.items()}
    return item


def test_the_host_side_refuses_what_no_engine_writes() -> None:
    for text in ("", "{", "[1,]", '"\\ud8"', "[" * 100_000, b"\xff\xfe", '["\\ud800"'):
        with pytest.raises(WireError):
            decode(text, 10)
    with pytest.raises(WireError, match="deeper than 3"):
        decode("[[[[1]]]]", 3)
    with pytest.raises(TooDeep):
        encode([[[1]]], 2)
    assert decode('["\\ud800x", {"\\udfff": 1}]', 5) == ["\ufffdx", {"\ufffd": 1}]
    assert not depth_over([[1]], 2) and depth_over([[1]], 1)


def test_a_rejected_problem_with_data_that_is_no_json_still_arrives() -> None:
    from sandbox import Problem

    failed = error(
        "await tools.a.b()", tools=("a.b",), answer=lambda call: Reject(call.call_id, Problem("x", "m", data=object()))
    )
    assert failed.name == "bad_result"
