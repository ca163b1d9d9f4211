"""What a script finds around it, and what it does not."""

import pytest

from sandbox import (
    Budget,
    Called,
    Failed,
    Finished,
    Limits,
    Machine,
    Printed,
    Problem,
    Reject,
    Resolve,
    Shown,
    Site,
    Start,
    Stored,
)
from tests.sandbox.scripts import echo, ending, error, run, shown, value

ORDINARY = [
    ("1 + 1", 2),
    ("const a = 1;\na", 1),
    ("let n = 0; for (const i of [1, 2, 3]) n += i;\nn;", 6),
    ("const a = 1\n+ 2", None),  # one declaration, not an expression
    ("return 7", 7),
    ("if (true) return 'early';\n'late'", "early"),
    ("await Promise.resolve(3)", 3),
    ("async function main() { return 4 }\nmain()", 4),
    ("({ a: 1 })", {"a": 1}),
    ("'x' // it's a comment with an apostrophe", "x"),
    ("'x';;\n/* the end */", "x"),
    ("class A { constructor(x) { this.x = x } get y() { return this.x * 2 } }\nnew A(2).y", 4),
    ("class E2 extends Error { constructor(m) { super(m); this.name = 'E2' } }\ntry { throw new E2('m') } catch (e) { String(e) }", None),
    ("let t; try { throw Object.assign(new Error('m'), { name: 'N' }) } catch (e) { t = String(e) }\nt", "N: m"),
    ("const o = { toString() { return 'mine' } };\n`${o}`", "mine"),
    ("const process = { env: 1 };\nprocess.env", 1),
    ("(() => {}) instanceof Function", True),
    ("Object.freeze(Array.prototype); [3, 1, 2].sort()", [1, 2, 3]),
    ("Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even')", {"odd": [1, 3], "even": [2]}),
    ("[..."
     "'aé😀'].length", 3),
    ("'use strict'; (function () { return this === undefined })()", True),
    ("var a = 1; function f() { return a + 1 }\nf()", 2),
    ("label: for (;;) { break label }\n'out'", "out"),
    ("structuredClone(new Map([[1, { a: [1] }]])).get(1).a", [1]),
    ("new URL('../b?x=1#h', 'https://example.com/a/c').href", "https://example.com/b?x=1#h"),
    ("new TextDecoder().decode(new TextEncoder().encode('é😀'))", "é😀"),
    ("btoa('hi') + atob('aGk=')", "aGk=hi"),
    ("typeof queueMicrotask + typeof setTimeout + typeof setInterval", "functionfunctionfunction"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), ORDINARY)
def test_ordinary_code_works(source: str, expected: object) -> None:
    assert value(source) == expected


def test_the_global_names_of_the_world_are_exactly_these() -> None:
    """A name that appears or disappears here changes what every script can rely on."""
    names = value("Object.getOwnPropertyNames(globalThis).sort()")
    ours = {"tools", "show", "console", "store", "load", "recall", "budget", "relax", "context", "help", "sleep"}
    web = {"structuredClone", "TextEncoder", "TextDecoder", "URL", "URLSearchParams", "btoa", "atob", "setTimeout", "clearTimeout",
           "setInterval", "clearInterval", "queueMicrotask", "performance", "DOMException"}  # fmt: skip
    assert ours | web <= set(names)
    assert not {
        "SharedArrayBuffer",
        "Atomics",
        "WebAssembly",
        "WeakRef",
        "FinalizationRegistry",
        "require",
        "process",
        "print",
    } & set(names)
    language = {
        "Object",
        "Function",
        "Array",
        "Promise",
        "Proxy",
        "Reflect",
        "Map",
        "Set",
        "JSON",
        "Math",
        "Date",
        "RegExp",
        "eval",
    }
    assert language <= set(names)


NO_CODE = [
    "eval('1')", "(0, eval)('1')", "globalThis.eval('1')", "Function('return 1')", "new Function('return 1')",
    "(function(){}).constructor('return 1')", "(() => {}).constructor('return 1')", "(async () => {}).constructor('return 1')",
    "(function*(){}).constructor('yield 1')", "(async function*(){}).constructor('yield 1')", "(class {}).constructor('return 1')",
    "Reflect.construct((() => {}).constructor, ['return 1'])", "Object.getPrototypeOf(async () => {}).constructor('return 1')",
    "show.constructor('return 1')", "tools.a.b.constructor('return 1')", "console.log.constructor('return 1')",
]  # fmt: skip


@pytest.mark.parametrize("source", NO_CODE)
def test_code_from_text_is_gone_in_every_form(source: str) -> None:
    assert value(f"let e; try {{ {source} }} catch (x) {{ e = x.name }}\ne", tools=("a.b",)) == "EvalError"


@pytest.mark.parametrize(
    "source", ["import x from 'y'", "export const a = 1", "await import('x')", "import.meta.url", "const f = () => import('fs')"]
)
def test_modules_are_refused_before_anything_runs(source: str) -> None:
    events = run(f"show('ran');\n{source}")
    assert [type(event).__name__ for event in events] == ["Failed"]
    failed = events[0].error  # type: ignore[union-attr]
    assert (failed.name, failed.message, failed.line) == ("SyntaxError", "import and export are off in this sandbox", 2)


# ---------------------------------------------------------------- tools


def test_a_call_carries_its_arguments_as_given_and_its_site() -> None:
    source = "const a = await tools.files.read({ path: 'x' });\nawait tools.files.read('y', 2, [3]);\nfor (const i of [1, 2]) await tools.files.read(i);"
    calls = [event for event in run(source, tools=("files.read",)) if isinstance(event, Called)]
    assert calls == [
        Called(1, "files.read", [{"path": "x"}], Site(1, 17, 0)),
        Called(2, "files.read", ["y", 2, [3]], Site(2, 7, 0)),
        Called(3, "files.read", [1], Site(3, 31, 0)),
        Called(4, "files.read", [2], Site(3, 31, 1)),
    ]


def test_the_site_is_the_call_itself_wherever_its_arguments_stand() -> None:
    source = "const é = '😀'; await tools.a.b(\n  { x: é,\n    y: Object.keys({ q: 1 }),\n  });\nconst { b } = tools.a; await b(b === tools.a.b);"
    sites = [event.site for event in run(source, tools=("a.b",)) if isinstance(event, Called)]
    assert sites == [Site(1, 22, 0), Site(5, 30, 0)]


def test_calls_run_together_and_settle_in_any_order() -> None:
    machine = Machine()
    start = Start(source="await Promise.all([1, 2, 3].map(n => tools.a.b(n)))", tools=("a.b",))
    assert [event.args for event in machine.send(start) if isinstance(event, Called)] == [[1], [2], [3]]
    assert machine.send(Resolve(3, "c")) == []
    assert machine.send(Resolve(1, "a")) == []
    assert machine.send(Resolve(2, "b")) == [Finished(["a", "b", "c"])]


def test_a_problem_is_an_error_the_script_can_catch() -> None:
    problem = Problem("not_found", "no file x", "list the folder first", {"path": "x"})
    source = (
        "let e; try { await tools.a.b(1) } catch (x) { e = x }\n[e instanceof Error, e.name, e.message, e.hint, e.data, e.stack]"
    )
    assert value(source, tools=("a.b",), answer=lambda call: Reject(call.call_id, problem)) == [
        True, "not_found", "no file x", "list the folder first", {"path": "x"}, "not_found: no file x\n    at script:1:28",
    ]  # fmt: skip


def test_an_unknown_tool_names_the_nearest_and_says_what_there_is() -> None:
    failed = error("await tools.files.raed('x')", tools=("files.read", "files.list", "web.fetch"))
    assert (failed.name, failed.message, failed.hint) == (
        "unknown_tool", "there is no tool files.raed; did you mean files.read?", "tools.files has: read, list",
    )  # fmt: skip
    failed = error("tools.flies.read('x')", tools=("files.read", "web.fetch"))
    assert (failed.message, failed.hint) == ("there is no pack flies; did you mean files?", "tools has: files, web")
    assert error("tools.x.y()").hint == "this script was given no tools"


def test_tools_can_be_listed_and_looked_for_but_not_changed() -> None:
    source = (
        "[Object.keys(tools), Object.keys(tools.a), 'a' in tools, 'z' in tools, typeof tools.a.b, tools.a.b.name, tools.then]"
    )
    assert value(source, tools=("a.b", "a.c")) == [["a"], ["b", "c"], True, False, "function", "b", None]
    for change in ("tools.a = 1", "delete tools.a", "tools.a.b = 1", "Object.defineProperty(tools, 'a', {})"):
        assert error(f"'use strict'; {change}", tools=("a.b",)).name == "TypeError"


def test_the_call_after_the_last_allowed_one_is_refused_and_can_be_caught() -> None:
    source = "await tools.a.b(1); await tools.a.b(2); let e; try { await tools.a.b(3) } catch (x) { e = x }\n[e.name, e.message, budget.calls]"
    assert value(source, tools=("a.b",), limits=Limits(calls=2)) == [
        "too_many_calls", "a.b refused: this script has made 2 of 2 calls", 0,
    ]  # fmt: skip


def test_calls_left_open_and_calls_nobody_looked_at_are_named() -> None:
    last = ending("tools.a.b(1); tools.a.b(2); await tools.a.b(3); tools.a.b(4); 'done'", tools=("a.b",))
    assert isinstance(last, Finished)
    assert (last.pending, last.unawaited) == ((4,), (1, 2, 4))


def test_a_race_leaves_its_losers_pending_but_not_unawaited() -> None:
    machine = Machine()
    machine.send(Start(source="await Promise.race([tools.a.b(1), tools.a.b(2)])", tools=("a.b",)))
    assert machine.send(Resolve(2, "fast")) == [Finished("fast", pending=(1,))]


# ---------------------------------------------------------------- show, console, store, budget, context


def test_show_keeps_order_options_and_site() -> None:
    assert run("show(1);\nshow('two', { lines: 3 });") == [
        Shown(1, {}, Site(1, 1, 0)), Shown("two", {"lines": 3}, Site(2, 1, 0)), Finished(None),
    ]  # fmt: skip


def test_console_prints_values_as_people_write_them() -> None:
    source = """console.log('a', 1, { b: [1, { c: null }], 'd e': undefined });
console.warn(new Map([['k', new Set([1])]]), [undefined], -0, 10n, Symbol('s'), () => 1, function f() {});
console.error(new TypeError('bad'));
console.log('%s is %d years and %i, %j %%', 'Ada', '36.5', 36.9, { a: 1 }, 'rest');
console.info(tools.a.b(1), new Date(0), /x/g, new Uint8Array(2));
const o = {}; o.self = o; console.debug(o);
console.group('G'); console.log('in\\nside'); console.groupEnd(); console.log('out');
console.assert(1 === 2, 'no'); console.log(new URL('http://a/b')); console.count(); console.count(); console.table([{ a: 1 }]);"""
    printed = [(event.level, event.text) for event in run(source, tools=("a.b",)) if isinstance(event, Printed)]
    assert printed == [
        ("log", 'a 1 { b: [ 1, { c: null } ], "d e": undefined }'),
        ("warn", 'Map(1) { "k" => Set(1) { 1 } } [ undefined ] -0 10n Symbol(s) [Function] [Function: f]'),
        ("error", "TypeError: bad"),
        ("log", "Ada is 36.5 years and 36, { a: 1 } % rest"),
        ("info", "Promise { … } (write await before it) 1970-01-01T00:00:00.000Z /x/g Uint8Array (2) [ 0, 0 ]"),
        ("debug", "{ self: [Circular] }"),
        ("log", "G"), ("log", "  in\n  side"), ("log", "out"),
        ("error", "Assertion failed"), ("error", "no"), ("log", 'URL "http://a/b"'), ("log", "default: 1"), ("log", "default: 2"), ("log", "[ { a: 1 } ]"),
    ]  # fmt: skip


def test_console_keeps_so_many_lines_and_bytes_and_counts_the_rest() -> None:
    events = run("for (let i = 0; i < 10; i++) console.log(i)", limits=Limits(console_lines=3))
    assert [event.text for event in events if isinstance(event, Printed)] == ["0", "1", "2"]
    assert events[-1] == Finished(None, console_dropped=7)
    events = run("console.log('x'.repeat(100)); console.log('y')", limits=Limits(console_bytes=10))
    assert [event.text for event in events if isinstance(event, Printed)] == ["x" * 10]
    assert events[-1] == Finished(None, console_dropped=2)


def test_store_and_load_keep_json_between_scripts() -> None:
    assert run("store('k', { a: [1] }); store('gone', 1); store('gone', undefined); [load('k'), load('gone'), load('old')]", stored={"old": 5}) == [
        Stored("k", {"a": [1]}), Stored("gone", 1), Stored("gone", None, removed=True), Finished([{"a": [1]}, None, 5]),
    ]  # fmt: skip
    assert value("const a = load('o'); a.x = 2; load('o').x", stored={"o": {"x": 1}}) == 1


def test_a_full_store_refuses_and_says_the_numbers() -> None:
    failed = error("store('k', 'x'.repeat(200))", limits=Limits(stored_bytes=100))
    assert failed.name == "store_full"
    assert failed.message == 'store("k") refused: 203 bytes more would make 203; the session keeps 100'


def test_budget_tells_what_is_left_as_it_drains() -> None:
    machine = Machine()
    start = Start(
        source="show({ ...budget }); await tools.a.b(); show({ ...budget })",
        tools=("a.b",),
        limits=Limits(calls=5),
        budget=Budget(100, 9.5),
    )
    assert machine.send(start)[0] == Shown({"calls": 5, "bytes": 100, "seconds": 9.5, "tools": {}}, {}, Site(1, 1))
    left = {"web": {"calls": 2}}
    assert machine.send(Resolve(1, None, budget=Budget(60, 8, left)))[0] == Shown(
        {"calls": 4, "bytes": 60, "seconds": 8, "tools": left}, {}, Site(1, 41)
    )


def test_context_is_frozen_through_and_through() -> None:
    assert value("context.a.b.push; try { 'use strict'; context.a.b.push(1) } catch {}\ncontext", context={"a": {"b": [0]}}) == {
        "a": {"b": [0]}
    }
    assert error("'use strict'; context.a = 1", context={"a": 0}).name == "TypeError"


def test_recall_relax_and_help_are_calls_of_the_host() -> None:
    calls = [
        (event.tool, event.args)
        for event in run("await recall('T1.2'); await relax('big file'); await help('files'); await help()")
        if isinstance(event, Called)
    ]
    assert calls == [("recall", ["T1.2"]), ("relax", ["big file"]), ("help", ["files"]), ("help", [])]


# ---------------------------------------------------------------- waiting, time, chance


def test_sleep_and_timers_wait_on_the_host_and_move_the_clock() -> None:
    source = """const t = Date.now(); const order = [];
setTimeout((x) => order.push(x), 20, 'late'); const id = setTimeout(() => order.push('never'), 5); clearTimeout(id);
setTimeout(() => order.push('soon'), 10);
await sleep(30); [order, Date.now() - t, performance.now()]"""

    def in_time(call: Called) -> Resolve:
        return Resolve(call.call_id, None)

    assert value(source, answer=in_time) == [
        ["late", "soon"],
        30,
        30,
    ]  # settled in the order of the calls, which is the host's to choose


def test_an_interval_runs_until_it_is_cleared() -> None:
    assert (
        value(
            "let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 5) }); n"
        )
        == 3
    )


def test_an_error_in_a_timer_fails_the_script() -> None:
    failed = error("setTimeout(() => { throw new Error('late') }, 1);\nawait sleep(10)")
    assert (failed.name, failed.message, failed.line) == ("Error", "late", 1)


def test_timers_end_with_the_script_and_want_a_function() -> None:
    assert isinstance(ending("setTimeout(() => show('no'), 1); 'end'"), Finished)
    assert error("setTimeout('show(1)', 1)").name == "TypeError"


def test_clock_and_chance_come_from_start_alone() -> None:
    source = "[Date.now(), new Date().getTime(), Date().slice(0, 15), new Date(5).getTime(), Math.random(), Math.random(), performance.now()]"
    first, again, other = (value(source, seed=seed) for seed in (7, 7, 8))
    assert first == again != other
    assert first[:4] == [1_700_000_000_000, 1_700_000_000_000, "Tue Nov 14 2023", 5]
    assert 0 <= first[4] < 1 and first[4] != first[5]


@pytest.mark.parametrize("source", [
    "return 'x'.repeat(N)", "let s = ''; for (let i = 0; i < N; i++) s += 'y'; return s", "return { a: 'x'.repeat(N) }", "show('x'.repeat(N))",
    "console.log('é'.repeat(N))", "throw new Error('z'.repeat(N))", "store('k', 'x'.repeat(N)); return load('k')",
])  # fmt: skip
def test_texts_of_every_length_come_out(source: str) -> None:
    """The engine keeps a long sum of texts as a rope, which only some operations make flat."""
    for n in (*range(470, 1_060, 7), 2_000, 8_191, 8_192, 8_193, 65_536):
        last = ending(source.replace("N", str(n)))
        assert isinstance(last, Finished | Failed), (n, last)


def test_the_host_may_move_the_clock_with_an_outcome() -> None:
    assert (
        value(
            "await tools.a.b(); Date.now()",
            tools=("a.b",),
            answer=lambda call: Resolve(call.call_id, None, now=1_700_000_000_250),
        )
        == 1_700_000_000_250
    )


def test_same_commands_give_the_same_events_byte_for_byte() -> None:
    source = """const r = []; for (let i = 0; i < 3; i++) r.push(await tools.a.b(Math.random(), Date.now()));
console.log(new Date(), r); store('r', r); show(new Map(r.map((x, i) => [i, x]))); null.x"""
    assert repr(run(source, tools=("a.b",), seed=3)) == repr(run(source, tools=("a.b",), seed=3))


def test_settling_together_does_the_same_as_one_by_one() -> None:
    source = (
        "const log = []; await Promise.all([1, 2, 3].map(async n => { log.push(await tools.a.b(n)); await tools.a.c(n) })); log"
    )
    start = Start(source=source, tools=("a.b", "a.c"))

    def play(sizes: list[int]) -> list[object]:
        machine, everything, todo = Machine(), [], []
        for event in machine.send(start):
            everything.append(event)
            todo.append(event)
        while not machine.ended:
            size = sizes.pop(0) if sizes else 1
            batch, todo = todo[:size], todo[size:]
            events = machine.send(*[echo(call) for call in batch])
            everything += events
            todo += [event for event in events if isinstance(event, Called)]
        return everything

    assert play([1, 1, 1, 1, 1, 1]) == play([3, 3]) == play([2, 1, 2, 1])


def test_shown_values_have_a_count() -> None:
    assert error("for (let i = 0; i < 5; i++) show(i)", limits=Limits(shown_values=3)).name == "too_many_shown"
    assert shown("for (let i = 0; i < 3; i++) show(i)", limits=Limits(shown_values=3)) == [0, 1, 2]
