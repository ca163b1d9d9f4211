"""What a script's text shows before anything of it runs; the worker that says so is not trusted."""

import json
from random import Random
from typing import Any

import anyio
import pytest

from sandbox import Exceeded, Failed, Finished, Limits, Machine, Misuse, Pool, Sandbox, Sketch, Start, Use
from sandbox.local import LocalSandbox
from sandbox.uses import REPLY_BYTES, SKETCHES_MAX
from sandbox.wire import EVENTS, READY, USES, frame
from tests.sandbox.doubles import TOKEN, Visit, a_sandbox_with
from tests.sandbox.lies import JUNK, nested

FLAGS = ("guarded", "repeated", "conditional", "within")


def brief(use: Use) -> str:
    name = ".".join((use.root, *use.path)) + ("()" if use.called else "")
    fate = f"{use.fate}({use.detail})" if use.detail else use.fate
    return " ".join([name, fate, *(flag for flag in FLAGS if getattr(use, flag))])


def outline(source: str) -> list[str]:
    return [brief(use) for use in Machine().outline(source)]


# ---------------------------------------------------------------- which tools, by which names

NAMES = [
    ("a call", "await tools.files.read('a')", ["tools.files.read() awaited"]),
    ("a literal in brackets", "await tools['files'][`read`]('a')", ["tools.files.read() awaited"]),
    ("a computed name is skipped", "await tools[name].read(); await tools.files[name]()", ["tools.files used"]),
    ("parentheses", "(tools.files).read()", ["tools.files.read() returned"]),
    ("an alias of a pack", "const f = tools.files;\nawait f.read()", ["tools.files aliased", "tools.files.read() awaited"]),
    ("an alias of a tool", "const r = tools.files.read;\nawait r()", ["tools.files.read aliased", "tools.files.read() awaited"]),
    ("an alias of all", "const t = tools;\nawait t.a.b()", ["tools.a.b() awaited"]),
    ("packs taken apart", "const { files, search: s } = tools;\nawait files.read(); await s.grep()", ["tools.files aliased", "tools.search aliased", "tools.files.read() awaited", "tools.search.grep() awaited"]),
    ("tools taken apart", "const { read } = tools.files;\nawait read()", ["tools.files aliased", "tools.files.read aliased", "tools.files.read() awaited"]),
    ("an alias of an alias", "const { files } = tools; const { read: r } = files;\nawait r()", ["tools.files aliased", "tools.files aliased", "tools.files.read aliased", "tools.files.read() awaited"]),
    ("an alias in a function", "const f = tools.files;\nasync function g() { return await f.read() }\nawait g()", ["tools.files aliased", "tools.files.read() awaited within"]),
    ("a parameter shadows", "function f(tools) { tools.a.b() }", []),
    ("a local variable shadows", "{ const tools = {}; tools.a.b() }", []),
    ("a var shadows from below", "tools.a.b(); if (1) { var tools = 1 }", []),
    ("a caught error shadows", "try { x } catch (tools) { tools.a.b() }", []),
    ("a loop variable shadows", "for (const tools of xs) tools.a.b()", []),
    ("a function shadows", "function tools() {} tools.a.b()", []),
    ("a destructured parameter shadows", "const f = ({ tools }) => tools.a.b()", []),
    ("a default in a parameter is seen", "const f = (x = tools.a.b()) => x", ["tools.a.b() used within"]),
    ("a shadow in another scope", "{ let tools; }\nawait tools.a.b()", ["tools.a.b() awaited"]),
    ("tools assigned", "tools = {}; await tools.a.b()", []),
    ("an alias reassigned", "let f = tools.a; f = x; await f.b()", ["tools.a aliased"]),
    ("an alias declared twice", "var f = tools.a; var f = x; f.b()", ["tools.a aliased"]),
    ("an alias that leads to itself", "var a = b, b = a; a.x.y()", []),
    ("a member of another object", "deps.tools.a.b(); this.tools.c()", []),
    ("a key named tools", "const o = { tools: 1 }; o.tools.a.b()", []),
    ("comments and text", "// tools.a.b()\nconst s = 'tools.a.b()' + `tools.c.d()`; /tools.e.f()/", []),
    ("inside a template", "`${await tools.a.b()}`", ["tools.a.b() awaited"]),
    ("all called like a function", "tools('a')", ["tools() returned"]),
    ("a pack called like a function", "await tools.files('a')", ["tools.files() awaited"]),
    ("a tool not called", "await tools.files.list", ["tools.files.list awaited"]),
    ("more than a tool", "tools.files.list.map(f)", ["tools.files.list.map() returned"]),
    ("the sandbox's own", "await recall('r1'); await sleep(1); help()", ["recall() awaited", "sleep() awaited", "help() returned"]),
    ("the sandbox's own, shadowed", "const recall = (x) => x; recall('r1')", []),
    ("types", "const r: string[] = (await tools.a.b<string>({ x: 1 } as any)).y!", ["tools.a.b() awaited"]),
    ("a text that nobody can read", "await tools.a.b(", []),
    ("a refused text", "import x from 'y'; await tools.a.b()", []),
    ("no tool at all", "1 + 1", []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_names_are_followed_as_far_as_they_are_certain(source: str, expected: list[str]) -> None:
    assert outline(source) == expected


# ---------------------------------------------------------------- what becomes of the promise, and what stands around it

FATES = [
    ("dropped", "tools.a.b(); 1", "dropped"),
    ("the last expression is the result", "1; tools.a.b()", "returned"),
    ("returned", "return tools.a.b()", "returned"),
    ("void", "void tools.a.b(); 1", "void"),
    ("assigned and awaited", "const p = tools.a.b(); await p", "assigned"),
    ("assigned and never seen", "const p = tools.a.b(); 1", "unused(p)"),
    ("passed", "show(tools.a.b()); 1", "passed(show)"),
    ("kept in an object", "const o = { p: tools.a.b() }; f(o)", "used"),
    ("in Promise.all", "await Promise.all([tools.a.b(), 1])", "awaited"),
    ("in a Promise.all that is dropped", "Promise.all([tools.a.b()]); 1", "dropped"),
    ("settled", "await Promise.allSettled([tools.a.b()])", "caught guarded"),
    ("chained and awaited", "await tools.a.b().then((x) => x)", "awaited"),
    ("chained and dropped", "tools.a.b().then(f).finally(g); 1", "chained"),
    ("caught by a chain", "await tools.a.b().catch(() => null)", "caught guarded"),
    ("a member of the promise", "const t = tools.a.b().text", "member(text)"),
    ("a member of the promise, behind await", "await tools.a.b().text", "member(text)"),
    ("a method of the promise", "tools.a.b().split('x')", "member(split)"),
    ("a member of the variable", "const r = tools.a.b();\nr.text", "member(text)"),
    ("a promise taken apart", "const { text } = tools.a.b();", "member(text)"),
    ("a promise taken apart as a list", "const [x] = tools.a.b();", "iterated"),
    ("a promise in a loop's head", "for (const x of tools.a.b()) f(x)", "iterated"),
    ("a promise spread", "f([...tools.a.b()])", "iterated"),
    ("a promise in text", "f(`${tools.a.b()}`)", "text"),
    ("a promise in a sum", "f('x' + tools.a.b())", "text"),
    ("a promise compared", "f(tools.a.b() > 3)", "compared"),
    ("a promise tested", "if (tools.a.b()) f()", "tested"),
    ("a promise negated", "while (!tools.a.b()) f()", "tested repeated"),
    ("a choice", "await (x ? tools.a.b() : null)", "awaited conditional"),
    ("parentheses", "await (tools.a.b())", "awaited"),
    ("a member in parentheses", "f((await tools.a.b()).text)", "awaited"),
    ("a member behind parentheses", "await (tools.a.b()).text", "member(text)"),
    ("a default", "await (x ?? tools.a.b())", "awaited conditional"),
    ("a variable that is reassigned", "let p = tools.a.b(); p = await p; p.text", "assigned"),
    ("a member that promises have", "const p = tools.a.b(); await p.then(f)", "assigned"),
    ("map, joined", "await Promise.all(xs.map((x) => tools.a.b(x)))", "returned repeated"),
    ("map, joined later", "const ps = xs.map((x) => tools.a.b(x)); await Promise.all(ps)", "returned repeated"),
    ("map, the array awaited", "await xs.map((x) => tools.a.b(x))", "unjoined(map) repeated"),
    ("an async map, the array awaited", "const r = await xs.map(async (x) => { return await tools.a.b(x) })", "unjoined(map) repeated"),
    ("map, dropped", "xs.map((x) => tools.a.b(x)); 1", "lost(map) repeated"),
    ("forEach", "xs.forEach(async (x) => { await tools.a.b(x) })", "lost(forEach) repeated"),
    ("filter", "const r = xs.filter(async (x) => await tools.a.b(x))", "lost(filter) repeated"),
    ("a loop", "for (const x of xs) await tools.a.b(x)", "awaited repeated"),
    ("a loop over what a call gives", "for (const x of await tools.a.b()) f(x)", "awaited"),
    ("a function that is awaited", "async function go() { await tools.a.b() }\nawait go()", "awaited within"),
    ("a function that is not", "async function go() { await tools.a.b() }\ngo(); 1", "lost(go) within"),
    ("an arrow that is not", "const go = async () => { await tools.a.b() };\ngo(); 1", "lost(go) within"),
    ("called on the spot, awaited", "await (async () => { await tools.a.b() })()", "awaited within"),
    ("called on the spot, dropped", "(async () => { await tools.a.b() })(); 1", "lost within"),
    ("then hands on", "await f().then(() => tools.a.b())", "returned"),
    ("reduce", "await xs.reduce(async (acc, x) => { await acc; return tools.a.b(x) }, null)", "returned repeated"),
    ("try", "try { await tools.a.b() } catch {}", "awaited guarded"),
    ("try without catch", "try { await tools.a.b() } finally { f() }", "awaited"),
    ("in the catch", "try { f() } catch { await tools.a.b() }", "awaited conditional"),
    ("a function, with a catch somewhere", "const g = () => tools.a.b();\ntry { await g() } catch {}", "returned guarded within"),
    ("a helper that catches", "const safe = async (f) => { try { return await f() } catch { return null } };\nawait safe(() => tools.a.b())", "returned guarded within"),
    ("optional chaining", "await tools.a?.b()", "awaited guarded"),
    ("an optional call", "await tools.a.b?.()", "awaited guarded"),
    ("typeof before", "if (typeof tools.a !== 'undefined') f();\nawait tools.a.b()", "awaited guarded"),
    ("in before", "if ('a' in tools) await tools.a.b()", "awaited guarded conditional"),
    ("a test before", "tools.a && await tools.a.b()", "awaited guarded conditional"),
    ("looking around before", "if (Object.keys(tools).includes('a')) await tools.a.b()", "awaited guarded conditional"),
    ("a condition of another kind", "if (x) await tools.a.b()", "awaited conditional"),
    ("switch", "switch (x) { case 1: await tools.a.b() }", "awaited conditional"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), [row[1:] for row in FATES], ids=[row[0] for row in FATES])
def test_what_becomes_of_a_call(source: str, expected: str) -> None:
    calls = [line for line in outline(source) if line.startswith("tools.a.b()")]
    assert calls == [f"tools.a.b() {expected}"]


# ---------------------------------------------------------------- arguments


def told(sketch: Sketch) -> Any:
    """A sketch in short: literals as they are, the rest by kind."""
    match sketch.kind:
        case "value":
            return sketch.value
        case "list":
            return [told(item) for item in sketch.items] + (["…"] if sketch.open else [])
        case "object":
            return {member.name: told(member.sketch) for member in sketch.members} | ({"…": "…"} if sketch.open else {})
        case kind:
            return f"<{kind}>"


ARGUMENTS = [
    ("'a', \"b\", `c`", ["a", "b", "c"]),
    (r"'\n\t\x41\u0042\u{1F600}\'\q\0'", ["\n\tAB😀'q\x00"]),
    (r"'\ud83d\ude00', '\ud83d'", ["😀", "<text>"]),
    ("'a\\\nb'", ["ab"]),
    ("1, -2, +3, 1.5, -0.25, 1e3, 0x1f, 0b11, 0o17, 1_000, .5, 5.", [1, -2, 3, 1.5, -0.25, 1000, 31, 3, 15, 1000, 0.5, 5]),
    ("9007199254740993, 10n, 1e400", ["<unknown>", "<unknown>", "<unknown>"]),
    ("true, false, null, undefined", [True, False, None, "<undefined>"]),
    ("`a${x}`, 'a' + x, x + 'a' + y, /x/g, x + y", ["<text>", "<text>", "<text>", "<text>", "<unknown>"]),
    ("{ a: 1, 'b c': { d: [] }, 3: x, e }", [{"a": 1, "b c": {"d": []}, "3": "<unknown>", "e": "<unknown>"}]),
    ("{ ...o, a: 1 }, { [k]: 2 }, [1, ...x], [, 2]", [{"a": 1, "…": "…"}, {"…": "…"}, [1, "…"], [2, "…"]]),
    ("() => 1, function () {}, class {}, { f() {} }, { get g() { return 1 } }", ["<function>", "<function>", "<function>", {"f": "<function>"}, {"g": "<unknown>"}]),
    ("tools.a.c(), await tools.a.c(), (5), f(1), x.y", ["<promise>", "<unknown>", 5, "<unknown>", "<unknown>"]),
    ("NAME, text, later, { NAME }", ["n", "<text>", "<unknown>", {"NAME": "n"}]),
    ("{ a: 1, /* b */ b: 2, // c\n c: 3 }", [{"a": 1, "b": 2, "c": 3}]),
    ("[[[[[[[[1]]]]]]]]", [[[[[[[["<unknown>"]]]]]]]]),
    ("'" + "x" * 3_000 + "'", ["<text>"]),
    ("{ __proto__: x, a: 1 }", [{"a": 1, "…": "…"}]),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), ARGUMENTS)
def test_arguments_are_known_as_far_as_they_are_literal(given: str, expected: list[Any]) -> None:
    source = f"const NAME = 'n', text = `t${{x}}`; let later = 1; later++;\nawait tools.a.b({given})"
    use = next(use for use in Machine().outline(source) if use.path == ("a", "b"))
    assert [told(sketch) for sketch in use.args] == expected


def test_a_spread_among_the_arguments_leaves_them_open() -> None:
    (use,) = Machine().outline("await tools.a.b(1, ...more, 2)")
    assert ([told(sketch) for sketch in use.args], use.more_args) == ([1], True)


def test_every_place_is_a_byte_offset_into_the_authors_text() -> None:
    source = "const é: string = '😀'; await tools.files.read({ 'pfad': 'ä', n: [1] }, x)"
    (use,) = Machine().outline(source)
    raw = source.encode()

    def at(start: int, end: int) -> str:
        return raw[start:end].decode()

    assert at(use.start, use.end) == "tools.files.read({ 'pfad': 'ä', n: [1] }, x)"
    assert [at(*place) for place in use.places] == ["files", "read"]
    assert [at(arg.start, arg.end) for arg in use.args] == ["{ 'pfad': 'ä', n: [1] }", "x"]
    names = [(at(member.start, member.end), at(member.sketch.start, member.sketch.end)) for member in use.args[0].members]
    assert names == [("'pfad'", "'ä'"), ("n", "[1]")]


def test_there_is_an_end_to_what_is_listed() -> None:
    assert len(Machine().outline("tools.a.b();\n" * 3_000)) == 2_000
    (use,) = Machine().outline("await tools.a.b([" + "1," * 40_000 + "])")
    assert sum(item.kind == "value" for item in use.args[0].items) < SKETCHES_MAX


LARGE = [
    ("a name", "const { " + "x" * 5_000 + " } = tools; await tools." + "y" * 5_000 + ".b(); await tools.a.b()", 1),
    ("a key", "await tools.a.b({ " + "k" * 5_000 + ": 1, '" + "l" * 5_000 + "': 2 })", 1),
    ("a number", "await tools.a.b({ " + "1" * 5_000 + ": " + "1" * 5_000 + " })", 1),
    ("a long way", "const a = tools.b.c.d, e = a.f.g.h, i = e.j.k.l, m = i.n.o.p; m.q.r.s(); await tools.a.b()", 3),
    ("a constant in many places", "const s = '" + "\\0" * 1_000 + "';\n" + "await tools.a.b(s, s, s, s, s);\n" * 1_900, 1_900),
    ("names in many places", "const x = tools." + "n" * 200 + "." + "m" * 200 + ";\n" + "await x(1);\n" * 1_900, 1_901),
]


@pytest.mark.parametrize(("source", "count"), [row[1:] for row in LARGE], ids=[row[0] for row in LARGE])
def test_what_is_large_is_left_out_and_never_breaks_the_protocol(source: str, count: int) -> None:
    assert len(Machine().outline(source)) == count


# ---------------------------------------------------------------- in a worker

CALLS = "const r: { n: number } = await tools.t.one({ n: 1 });\nreturn r.n"


@pytest.mark.anyio
async def test_a_worker_and_this_process_give_the_same_outline_and_the_script_runs_after_it() -> None:
    async with Pool() as pool, pool.sandbox() as box:
        uses = await box.outline(CALLS)
        assert uses == Machine().outline(CALLS) == await LocalSandbox().outline(CALLS)
        assert [brief(use) for use in uses] == ["tools.t.one() awaited"]
        (call,) = [event for event in await box.send(Start(source=CALLS, tools=("t.one",))) if hasattr(event, "call_id")]
        assert call.args == [{"n": 1}]


@pytest.mark.anyio
async def test_the_script_may_be_another_than_the_outlined_one() -> None:
    async with Pool() as pool, pool.sandbox() as box:
        await box.outline("tools.a.b()")
        assert await box.outline("1; tools.c.d()") == Machine().outline("1; tools.c.d()")
        assert await box.send(Start(source="2 + 2")) == [Finished(4)]
        with pytest.raises(Misuse, match="an outline comes before Start; this script is ended"):
            await box.outline("1")


@pytest.mark.anyio
async def test_a_kept_worker_outlines_each_script_and_survives_one_that_is_not_started() -> None:
    async with Pool(reuse=True) as pool:
        pids = []
        for number in range(3):
            async with pool.sandbox("s") as box:
                source = f"await tools.a.b({number})"
                assert [told(use.args[0]) for use in await box.outline(source)] == [number]
                if number != 1:  # refused before its first effect
                    assert await box.send(Start(source=f"{number}")) == [Finished(number)]
                pids.append(box.pid)
        assert len(set(pids)) == 1


SLOW = '"' * 131_000  # minutes for the parser


@pytest.mark.anyio
async def test_a_text_that_the_parser_cannot_master_ends_as_its_script_would() -> None:
    limits = Limits(engine_seconds=0.3)
    async with Pool(limits=limits) as pool:
        async with pool.sandbox() as box:
            assert await box.outline(SLOW, limits) == ()
            assert not box.ended
            (ending,) = await box.send(Start(source=SLOW, limits=limits))
            assert isinstance(ending, Exceeded) and ending.limit == "engine_seconds" and box.ended
            assert ending.error.message == "the script computed for more than 0.3 s"
        async with pool.sandbox() as box:  # only that worker is gone
            assert await box.send(Start(source="1", limits=limits)) == [Finished(1)]


@pytest.mark.anyio
async def test_the_time_of_the_outline_is_the_scripts() -> None:
    limits = Limits(engine_seconds=1)
    source = "f(" * 3_000
    async with Pool(limits=limits) as pool, pool.sandbox() as box:
        assert isinstance(box, Sandbox)
        await box.outline(source, limits)
        assert box.engine_seconds_spent > 0


@pytest.mark.anyio
@pytest.mark.parametrize(("source", "limit"), [("x" * 200, "source_bytes"), ("a\0b", "")])
async def test_what_never_reaches_the_parser_is_told_by_start(source: str, limit: str) -> None:
    limits = Limits(source_bytes=100)
    async with Pool(limits=limits) as pool, pool.sandbox() as box:
        assert await box.outline(source, limits) == ()
        (ending,) = await box.send(Start(source=source, limits=limits))
        assert isinstance(ending, Exceeded) and ending.limit == limit if limit else isinstance(ending, Failed)


@pytest.mark.anyio
async def test_limits_above_the_pools_are_refused() -> None:
    async with Pool(limits=Limits(engine_seconds=1)) as pool, pool.sandbox() as box:
        with pytest.raises(Misuse, match=r"engine_seconds 10\.0 is above this pool's 1; give the pool higher limits"):
            await box.outline("1")


@pytest.mark.anyio
async def test_a_cancelled_outline_ends_the_worker_at_once() -> None:
    async with Pool() as pool, pool.sandbox() as box:
        assert isinstance(box, Sandbox)
        with anyio.move_on_after(0.1) as scope:
            await box.outline(SLOW)
        assert scope.cancelled_caught and not box.worker.alive


# ---------------------------------------------------------------- a worker that lies

GOOD: list[Any] = ["tools", [["a", 6, 7], ["b", 8, 9]], 0, 12, True, [["value", 10, 11, 1, False]], False, "awaited", "", 0, False, False, False, False]  # fmt: skip
SOURCE = "tools.a.b(1)"


def but(**changes: Any) -> bytes:
    names = ("root", "steps", "start", "end", "called", "args", "more", "fate", "detail", "at", "guarded", "repeated", "conditional", "within")  # fmt: skip
    return json.dumps([[changes.get(name, value) for name, value in zip(names, GOOD, strict=True)]]).encode()


NOT_A_USE = "it broke the protocol: not a use of a tool"
DEEP = "it broke the protocol: JSON is nested deeper than 32 levels"
LIES: list[tuple[str, bytes, str]] = [
    ("no JSON", frame(USES, b"[NaN]"), "it broke the protocol: not JSON"),
    ("nothing", frame(USES, b""), "it broke the protocol: not JSON"),
    ("an object", frame(USES, b"{}"), "it broke the protocol: an outline is a list of at most 2000 uses"),
    ("too many uses", frame(USES, json.dumps([GOOD] * 2_001).encode()), "it broke the protocol: an outline is a list of at most 2000 uses"),
    ("a use that is text", frame(USES, b'["tools"]'), NOT_A_USE),
    ("a use that is a number", frame(USES, b"[1]"), NOT_A_USE),
    ("a use with a field too few", frame(USES, json.dumps([GOOD[:-1]]).encode()), NOT_A_USE),
    ("a use with a field too many", frame(USES, json.dumps([[*GOOD, 1]]).encode()), NOT_A_USE),
    ("a root of its own", frame(USES, but(root="process")), NOT_A_USE),
    ("a root that is a list", frame(USES, but(root=[])), NOT_A_USE),
    ("steps that are text", frame(USES, but(steps="ab")), NOT_A_USE),
    ("a step without a place", frame(USES, but(steps=[["a"]])), NOT_A_USE),
    ("a name that is a number", frame(USES, but(steps=[[1, 2, 3]])), NOT_A_USE),
    ("a name that is too long", frame(USES, but(steps=[["x" * 201, 2, 3]])), NOT_A_USE),
    ("too many steps", frame(USES, but(steps=[["x", 2, 3]] * 13)), NOT_A_USE),
    ("a place below zero", frame(USES, but(start=-1)), NOT_A_USE),
    ("a place that is true", frame(USES, but(start=True)), NOT_A_USE),
    ("a place that is a float", frame(USES, but(end=1.5)), NOT_A_USE),
    ("a place beyond all", frame(USES, but(end=2**31)), NOT_A_USE),
    ("an end before the start", frame(USES, but(start=9, end=3)), NOT_A_USE),
    ("a flag that is a number", frame(USES, but(guarded=1)), NOT_A_USE),
    ("a fate of its own", frame(USES, but(fate="pwned")), NOT_A_USE),
    ("a detail that is a list", frame(USES, but(detail=[])), NOT_A_USE),
    ("a detail that is too long", frame(USES, but(detail="x" * 201)), NOT_A_USE),
    ("arguments that are an object", frame(USES, but(args={})), NOT_A_USE),
    ("an argument that is null", frame(USES, but(args=[None])), NOT_A_USE),
    ("a kind of its own", frame(USES, but(args=[["code", 0, 1, None, False]])), NOT_A_USE),
    ("a literal that is an object", frame(USES, but(args=[["value", 0, 1, {}, False]])), NOT_A_USE),
    ("a literal that is too long", frame(USES, but(args=[["value", 0, 1, "x" * 2_049, False]])), NOT_A_USE),
    ("a list of texts", frame(USES, but(args=[["list", 0, 1, ["x"], False]])), NOT_A_USE),
    ("a member without a value", frame(USES, but(args=[["object", 0, 1, [["x", 0, 1]], False]])), NOT_A_USE),
    ("members that are text", frame(USES, but(args=[["object", 0, 1, "xyzw", False]])), NOT_A_USE),
    ("too many sketches", frame(USES, but(args=[["unknown", 0, 1, None, False]] * 22_001)), NOT_A_USE),
    ("deep nesting", frame(USES, json.dumps(nested(40)).encode()), DEEP),
    ("nesting beyond any parser", frame(USES, b"[" * 200_000), "it broke the protocol: not JSON"),
    ("too large", frame(USES, b" " * (REPLY_BYTES + 1)), f"it broke the protocol: an outline of {REPLY_BYTES + 1} bytes; {REPLY_BYTES} are allowed"),
    ("events instead", frame(EVENTS, b'[["finished",1]]'), "it broke the protocol: a frame that was not asked for"),
    ("READY again", frame(READY, b""), "it broke the protocol: a frame that was not asked for"),
    ("two outlines", frame(USES, b"[]") * 2, "it broke the protocol: a frame that was not asked for"),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(("piece", "reason"), [row[1:] for row in LIES], ids=[row[0] for row in LIES])
async def test_a_lie_ends_the_worker_and_start_says_which(piece: bytes, reason: str) -> None:
    async with a_sandbox_with([Visit((piece,))]) as met:
        with anyio.fail_after(20):
            assert await met.box.outline(SOURCE) == ()
            (ending,) = await met.box.send(Start(source=SOURCE))
        assert isinstance(ending, Failed) and ending.error.message == f"the sandbox worker was lost: {reason}"
        assert met.zygote.killed == [TOKEN] and met.box.ended


@pytest.mark.anyio
async def test_silence_costs_the_deadline_and_a_worker_that_is_gone_is_told() -> None:
    limits = Limits(engine_seconds=0.05)
    for visits, limit in (([], "engine_seconds"), ([Visit((), hangs_up=True)], "")):
        async with a_sandbox_with(visits) as met:
            assert await met.box.outline(SOURCE, limits) == ()
            (ending,) = await met.box.send(Start(source=SOURCE, limits=limits))
            assert isinstance(ending, Exceeded) and ending.limit == limit if limit else isinstance(ending, Failed)


@pytest.mark.anyio
async def test_an_honest_reply_is_believed() -> None:
    async with a_sandbox_with([Visit((frame(USES, but()),))]) as met:
        expected = Use("tools", ("a", "b"), ((6, 7), (8, 9)), 0, 12, True, (Sketch("value", 10, 11, 1),), fate="awaited")
        assert await met.box.outline(SOURCE) == (expected,)


def bent(random: Random, value: Any) -> Any:
    """The same with one thing somewhere in it replaced by junk."""
    if not isinstance(value, list) or not value or random.random() < 0.2:
        return random.choice(JUNK)
    at = random.randrange(len(value))
    return [*value[:at], bent(random, value[at]), *value[at + 1 :]]


@pytest.mark.anyio
async def test_no_lie_in_any_field_does_more_than_end_its_worker() -> None:
    random = Random("an outline")
    honest = [
        GOOD,
        [*GOOD[:5], [["object", 0, 9, [["k", 1, 2, ["list", 3, 4, [["value", 3, 4, "x", False]], True]]], False]], *GOOD[6:]],
    ]
    refused = 0
    for _ in range(1_500):
        body = json.dumps(bent(random, honest), ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
        async with a_sandbox_with([Visit((frame(USES, body),))]) as met:
            uses = await met.box.outline(SOURCE)
            assert all(isinstance(use, Use) for use in uses)
            refused += met.zygote.killed == [TOKEN]
            assert bool(uses) != (met.zygote.killed == [TOKEN]) or body == b"[]"
    assert refused > 1_000


def test_any_text_gives_an_outline_that_the_host_believes() -> None:
    random = Random("any text")
    scripts = [*(row[1] for row in NAMES), *(row[1] for row in FATES), *(f"await tools.a.b({row[0]})" for row in ARGUMENTS)]
    listed = 0
    for _ in range(3_000):
        letters = list("\n;".join(random.choices(scripts, k=random.randint(1, 4))))
        for _ in range(random.randint(0, 6)):
            at = random.randrange(len(letters))
            letters[at : at + random.randint(0, 3)] = random.choice("()[]{}.,;:?!=>`'\"$x0 \n")
        listed += bool(Machine().outline("".join(letters)))
    assert listed > 300
