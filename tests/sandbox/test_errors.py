"""What an author is told, to the letter: the texts are an interface."""

import pytest

from sandbox import Called, Exceeded, Limits, Problem, Reject
from tests.sandbox.scripts import ending, error

REPORTS = [
    ("a syntax error", "const a = 1;\nlet b = ;", """\
SyntaxError: unexpected token in expression: ';'  (line 2, column 9)
  2 | let b = ;
    |         ^"""),
    ("a script that ends too early", "const a = [1,\n  f(2", """\
SyntaxError: the script ends too early  (line 2, column 6)
  2 |   f(2
    |      ^
  hint: a bracket, brace, quote or backtick is still open; close it, and escape it inside text"""),
    ("text that closes our function", "})(); show('out'); (async () => {", """\
SyntaxError: unexpected token in expression: ')'  (line 1, column 2)
  1 | })(); show('out'); (async () => {
    |  ^"""),
    ("a call of what is no function", "const o = {};\nfunction go(o) {\n\treturn o.read(1, o);\n}\ngo(o)", """\
TypeError: o.read is not a function  (line 3, column 9, in go)
  3 | \treturn o.read(1, o);
    | \t       ^
  called from line 5, column 1"""),
    ("a member of undefined", "const é = '😀'; let q;\nq.foo", """\
TypeError: cannot read property 'foo' of undefined: q is undefined  (line 2, column 1)
  2 | q.foo
    | ^"""),
    ("a name from elsewhere", "const fs = require('fs')", """\
ReferenceError: require is not defined  (line 1, column 12)
  1 | const fs = require('fs')
    |            ^
  hint: there are no modules here; use tools.<pack>.<tool>(…), and help() for the list"""),
    ("an error class of the script's own, through async frames", """\
class Bad extends Error { constructor(m, o) { super(m, o); this.name = 'Bad' } }
async function inner() { throw new Bad('it broke', { cause: new TypeError('root') }) }
async function outer() { await inner() }
await outer()""", """\
Bad: it broke  (line 2, column 32, in inner)
  2 | async function inner() { throw new Bad('it broke', { cause: new TypeError('root') }) }
    |                                ^
  called from outer (line 3, column 32)
  called from line 4, column 7
caused by TypeError: root  (line 2, column 61, in inner)
  2 | async function inner() { throw new Bad('it broke', { cause: new TypeError('root') }) }
    |                                                             ^
  called from outer (line 3, column 32)
  called from line 4, column 7"""),
    ("a thrown number", "const n = 5;\nif (n > 3) throw n", """\
Thrown: the script threw a number: 5  (line 2, column 12)
  2 | if (n > 3) throw n
    |            ^
  hint: throw new Error(message) carries the place and can say more"""),
    ("a thrown text, told from others by the text", "if (0) throw 'a';\nthrow 'it failed'", """\
Thrown: the script threw a string: it failed  (line 2, column 1)
  2 | throw 'it failed'
    | ^
  hint: throw new Error(message) carries the place and can say more"""),
    ("a thrown null", "throw null", """\
Thrown: the script threw null  (line 1, column 1)
  1 | throw null
    | ^
  hint: throw new Error(message) carries the place and can say more"""),
    ("a thrown value that several lines could have thrown", "const x = { a: 1 };\nif (0) throw x;\nthrow x", """\
Thrown: the script threw an object: { a: 1 } (at line 2 or line 3)
  hint: throw new Error(message) carries the place and can say more"""),
    ("several errors at once", "await Promise.any([Promise.reject(new Error('first')), Promise.reject(new RangeError('second'))])", """\
AggregateError: (2 errors)  (line 1, column 71)
  1 | await Promise.any([Promise.reject(new Error('first')), Promise.reject(new RangeError('second'))])
    |                                                                       ^
  one of them: Error: first  (line 1, column 35)
    1 | await Promise.any([Promise.reject(new Error('first')), Promise.reject(new RangeError('second'))])
      |                                   ^
  one of them: RangeError: second  (line 1, column 71)
    1 | await Promise.any([Promise.reject(new Error('first')), Promise.reject(new RangeError('second'))])
      |                                                                       ^"""),
    ("a stack that overflows", "function f(n) { return f(n + 1) + 1 }\nf(0)", """\
RangeError: Maximum call stack size exceeded  (line 1, column 24, in f)
  1 | function f(n) { return f(n + 1) + 1 }
    |                        ^
  called from f (line 1, column 24), 9 times
  hint: look for a recursion that does not end, or use a loop"""),
    ("a promise that nobody will settle", "const gate = new Promise(() => {});\nasync function wait() {\n  await gate;\n}\nawait wait()", """\
Deadlock: the script waits for a promise that nothing will settle (line 3, line 5)  (line 3, column 3)
  3 |   await gate;
    |   ^
  5 | await wait()
    | ^
  hint: no tool call and no timer is open; resolve the promise yourself, or await a call or sleep(ms)"""),
    ("an import", "import fs from 'fs';\nfs.x()", """\
SyntaxError: import and export are off in this sandbox  (line 1, column 1)
  1 | import fs from 'fs';
    | ^
  hint: there is nothing to import; use tools.<pack>.<tool>(…), and help() for the list; end with return <value>"""),
    ("a NUL in the text", "a\0b", """\
SyntaxError: the script holds a NUL character  (line 1, column 2)
  1 | a�b
    |  ^"""),
    ("an unknown tool", "await tools.files.raed({ path: 'a' })", """\
unknown_tool: there is no tool files.raed; did you mean files.read?  (line 1, column 7)
  1 | await tools.files.raed({ path: 'a' })
    |       ^
  hint: tools.files has: read"""),
    ("a promise that was forgotten", "const a = tools.files.read('x');\nshow({ a })", """\
TypeError: the shown value holds a promise at $.a; write await before the call that made it  (line 2, column 1)
  2 | show({ a })
    | ^"""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "report"), [(source, report) for _, source, report in REPORTS], ids=[name for name, _, _ in REPORTS]
)
def test_the_report_of(source: str, report: str) -> None:
    assert error(source, tools=("files.read",)).text == report


def test_the_report_of_a_rejected_call_points_at_the_call() -> None:
    def refuse(call: Called) -> Reject:
        return Reject(call.call_id, Problem("not_found", "no file b.txt", "list the folder first", {"path": "b.txt"}))

    failed = error(
        "async function load(path) {\n  return await tools.files.read({\n    path,\n  });\n}\nawait load('b.txt')",
        tools=("files.read",),
        answer=refuse,
    )
    assert (
        failed.text
        == """\
not_found: no file b.txt  (line 2, column 16, in load)
  2 |   return await tools.files.read({
    |                ^
  called from line 6, column 7
  hint: list the folder first"""
    )
    assert failed.data == {"path": "b.txt"}


LIMITS = [
    ("engine_seconds", "function spin() {\n  for (let i = 0; ; i++) { Math.sqrt(i) }\n}\nspin()", Limits(engine_seconds=0.2), """\
LimitExceeded: the script computed for more than 0.2 s  (line 1, column 1, in spin)
  1 | function spin() {
    | ^
  called from line 4, column 1
  hint: look for a loop that does not end, or do less in one script; waiting for tools does not count"""),
    ("heap_bytes", "const a = []; for (;;) a.push({})", Limits(heap_bytes=16 * 2**20), """\
LimitExceeded: the script needed more than 16,777,216 bytes of memory
  hint: keep less at once: filter early, work in parts, let go of what is done"""),
    ("jobs", "const again = () => Promise.resolve().then(again);\nawait again()", Limits(jobs=1000), """\
LimitExceeded: the script ran more than 1,000 promise jobs without waiting for the host
  hint: look for a promise chain that restarts itself; await sleep(ms) in a polling loop"""),
    ("source_bytes", "1 // " + "x" * 100, Limits(source_bytes=100), """\
LimitExceeded: the script is longer than 100 bytes
  hint: split it into several scripts; store(key, value) keeps values between them"""),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "source", "limits", "report"), LIMITS, ids=[row[0] for row in LIMITS])
def test_the_report_of_a_limit(limit: str, source: str, limits: Limits, report: str) -> None:
    last = ending(source, limits=limits)
    assert isinstance(last, Exceeded)
    assert last.limit == limit and last.allowed == getattr(limits, limit)
    if limit != "engine_seconds":
        assert last.error.text == report
    else:  # which instruction of the loop the clock struck is chance; the function is not
        assert last.error.frames[0].function == "spin" and last.error.frames[1].line == 4
        assert last.error.text.split("\n")[-1] == report.split("\n")[-1]


def test_a_limit_keeps_what_was_said_before() -> None:
    from tests.sandbox.scripts import run

    kinds = [type(event).__name__ for event in run("show(1); console.log(2); for (;;);", limits=Limits(engine_seconds=0.1))]
    assert kinds == ["Shown", "Printed", "Exceeded"]


def test_a_forged_interrupt_or_out_of_memory_is_just_an_error() -> None:
    for text in ("interrupted", "out of memory"):
        failed = error(f"throw new InternalError('{text}')")
        assert (failed.name, failed.message, failed.line) == ("InternalError", text, 1)


def test_errors_carry_no_path_of_the_host_and_at_most_ten_frames() -> None:
    failed = error("const f = (n) => { if (n === 0) throw new Error(new Error('x').stack); f(n - 1) };\nf(30)")
    assert len(failed.frames) == 10
    assert "<input>" not in failed.text and "/" not in failed.message


@pytest.mark.parametrize(
    "thrown",
    ["{ get message() { throw 1 } }", "{ get stack() { throw 1 }, message: 'm' }", "new Proxy({}, { get() { throw 1 } })", "Object.create(null)",
     "Object.defineProperty(new Error('m'), 'cause', { get() { throw 1 } })", "(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()",
     "Symbol('s')", "() => 1", "Promise.resolve(1)", "new Error('x'.repeat(1e6))"],
)  # fmt: skip
def test_a_thrown_value_that_fights_back_is_still_reported(thrown: str) -> None:
    failed = error(f"throw {thrown}")
    assert failed.name and len(failed.text) < 6000


def test_a_long_line_is_shown_around_the_place() -> None:
    failed = error("/* " + "x" * 300 + " */ nope(); /* " + "y" * 300 + " */")
    line, caret = failed.excerpt.split("\n")
    assert len(line) < 130
    assert line[caret.index("^") :].startswith("nope()")


def test_origin_tells_what_the_sandbox_found_from_what_a_script_named() -> None:
    assert error("throw Object.assign(new Error('x'), { name: 'WorkerLost' })").origin == "script"
    for source in ("await new Promise(() => {})", "import 'x'", "a\0"):
        assert error(source).origin == "sandbox"
    assert ending("for (;;);", limits=Limits(engine_seconds=0.05)).error.origin == "sandbox"  # type: ignore[union-attr]
