"""Scripts with types run as their author meant, and every line and column stays where the author sees it."""

from random import Random

import pytest

from sandbox import typescript
from tests.sandbox.scripts import error, value

# (what it shows, the script above, the last expression, its value)
ERASED = [
    ("variables", "const a: number = 1; let b: string, c: boolean = true; var d: any;", "[a, b ?? null, c]", [1, None, True]),
    ("definite assignment", "let a!: number; a = 4;", "a", 4),
    ("destructuring", "const { x, y: [z] }: { x: number; y: string[] } = { x: 1, y: ['q'] };", "x + z", "1q"),
    ("arrays and tuples", "const a: [string, ...number[]] = ['s', 1, 2]; const b: Array<{ n: number }> = [{ n: 3 }];", "a.length + b[0].n", 6),
    ("unions over lines", "let mode:\n  | 'fast'\n  | 'slow' = 'fast';", "mode", "fast"),
    ("functions", "function f(a: number, b?: string, ...rest: unknown[]): string | undefined { return b ?? String(a + rest.length); }", "f(1) + f(1, 'x', 2)", "1x"),
    ("default values", "function f(a: number = 2, { b = 3 }: { b?: number } = {}): number { return a * b }", "f() + f(5, { b: 1 })", 11),
    ("async functions", "async function f<T>(x: Promise<T>): Promise<T> { return await x }", "await f(Promise.resolve(7))", 7),
    ("generators", "function* g(n: number): Generator<number, void, unknown> { yield n; yield n + 1 }", "[...g(1)]", [1, 2]),
    ("arrow functions", "const f = (a: number, b?: number): number => a + (b ?? 1); const g = async (x: string): Promise<string> => x;", "f(1) + await g('!')", "2!"),
    ("generic arrow functions", "const id = <T,>(x: T): T => x; const one = <T extends object>(x: T) => Object.keys(x).length;", "id(2) + one({ a: 1 })", 3),
    ("async generic arrow function", "const id = async <T>(x: T) => x;", "await id('a')", "a"),
    ("an arrow's return type over lines", "const f = (a: number): {\n  n: number;\n  m: string;\n} => ({ n: a, m: 'x' });", "f(3)", {"n": 3, "m": "x"}),
    ("an async arrow's return type over lines", "const f = async (a: number): Promise<{\n  n: number }> => ({ n: a });", "await f(3)", {"n": 3}),
    ("type parameters over lines", "const f = <\n  T,\n  U,\n>(a: T, b: U) => [a, b];", "f(1, 2)", [1, 2]),
    ("async type parameters over lines", "const f = async <\n  T\n>(a: T) => a;", "await f(4)", 4),
    ("type parameters over lines behind return", "function f() {\n  return <\n    T\n  >(a: T) => a;\n}", "f()(5)", 5),
    ("a function type as annotation", "const f: (a: number) => number = (a) => a + 1;", "f(1)", 2),
    ("as", "const a = ('5' as unknown as number); const b = { x: 1 } as const;", "a + b.x", "51"),
    ("as in the middle", "const a = (JSON.parse('{\"n\":2}') as { n: number }).n + (3 as number);", "a", 5),
    ("as inside a template", "const n = 4;", "`${n as number}${(n! + 1) as any}`", "45"),
    ("as in conditions and calls", "const q: any = 1; const f = (...a: any[]) => a.length;", "(q as boolean) ? f(q as any, [q] as any[]) : 0", 2),
    ("as, then a line that opens a parenthesis", "let log = ''; const a = 'x' as any\n(() => { log += 'ran' })()", "a + log", "xran"),
    ("as, then a line that opens a bracket", "let log = 0; const a = [9] as number[]\n[1, 2].forEach((n) => { log += n })", "a.length + log", 4),
    ("as a plain type, then a bracket", "let log = 0; const a = 9 as number\n[1].forEach((n) => { log += n })", "a + log", 10),
    ("as const, then a bracket", "let log = 0; const a = 9 as const\n;[1].forEach((n) => { log += n })", "a + log", 10),
    ("as an object type, then a parenthesis", "let log = ''; const a = { s: 'o' } as {\n  s: string\n}\n(function () { log += 'ran' })()", "a.s + log", "oran"),
    ("satisfies", "const a = { x: 1 } satisfies Record<string, number>;", "a.x", 1),
    ("satisfies, then a bracket", "let log = 0; const a = 5 satisfies number\n[7].forEach((n) => { log += n })", "a + log", 12),
    ("casts in front", "const a = <any>'6'; const b = <number>(<unknown>a);", "b + 1", "61"),
    ("a cast in front of an object in an arrow", "const f = () => <any>{ a: 1 };", "f()", {"a": 1}),
    ("a cast behind return with a line break", "function f() { return <{\n  n: number\n}>{ n: 0 } }", "f()", {"n": 0}),
    ("a cast behind return with types over lines", "function f() { return <Array<\n  number\n>>[1] }", "f()", [1]),
    ("a cast behind return on the next line", "function f() { return <number>\n  8 }", "f()", 8),
    ("non-null", "const m = new Map([['a', { b: [1] }]]); let x: any = 3;", "m.get('a')!.b![0]! + x!", 4),
    ("generic calls among types", "const m: Map<string, number[]> = new Map<string, number[]>(); m.set('a', [1]);", "m.get('a')!.length", 1),
    ("a generic call alone", "const f = (x) => x;", "f<string>('s')", "s"),
    ("a generic new alone", "class Foo { constructor(x) { this.x = x } }\nclass Bar {}", "new Foo<Bar>(2).x", 2),
    ("a generic reduce alone", "", "[1, 2].reduce<Record<string, number>>((a, b) => ({ ...a, [b]: b }), {})", {"1": 1, "2": 2}),
    ("a generic reduce over lines", "", "[1, 2].reduce<\n  Array<string>\n>((a, b) => [...a, String(b)], [])", ["1", "2"]),
    ("comparisons", "const a = 1, b = 2, c = 3;", "a<b && c>(b)", True),
    ("interfaces", "interface A { x: number; f(): void }\ninterface B<T> extends A { y: T }\nconst b: B<string> = { x: 1, y: '2', f() {} };", "b.x + b.y", "12"),
    ("an interface between statements without semicolons", "const a = 1\ninterface X { n: number }\n(function () {})()", "a", 1),
    ("a type between statements without semicolons", "const a = [3]\ntype X = string[]\n[1].forEach((n) => { a.push(n) })", "a", [3, 1]),
    ("type aliases", "type Id = string | number;\ntype Pair<T> = { a: T; b?: T }\ntype F = (x: Id) => Promise<Pair<Id>>;\nconst p: Pair<Id> = { a: 1 };", "p.a", 1),
    ("mapped, conditional and template types", "type A<T> = { readonly [K in keyof T]?: T[K] extends string ? `x-${T[K]}` : never };\nconst a: A<{ q: 's' }> = {};", "a", {}),
    ("declare", "declare const outside: string;\ndeclare function g(x: number): void;\ndeclare module 'x' { export const y: number }\ndeclare global { interface Window { a: 1 } }\nconst a = 2;", "a", 2),
    ("declare enum", "declare enum E { A }\nconst a = 2;", "a", 2),
    ("namespaces of types", "namespace N { export type T = string; export interface I { a: T } namespace M { type U = 1 } }\nconst a: N.T = 'n';", "a", "n"),
    ("overloads", "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any): any { return a }", "f(1) + f('a')", "1a"),
    ("this parameters", "function f(this: { n: number }, a: number): number { return this.n + a }\nfunction g(this: { n: number }) { return this.n }", "f.call({ n: 1 }, 2) + g.call({ n: 4 })", 7),
    ("predicates", "function isText(x: unknown): x is string { return typeof x === 'string' }\nfunction must(x: unknown): asserts x is string { if (!isText(x)) throw 1 }\nfunction sure(x: unknown): asserts x {}", "isText('a')", True),
    ("catch with a type", "let got = ''; try { throw new TypeError('t') } catch (e: unknown) { got = (e as Error).message }", "got", "t"),
    ("loops", "let n = 0; for (const x of [1, 2] as number[]) n += x; for (let i: number = 0; i < 2; i++) n++; for (const k in { a: 1 } as any) n += k.length;", "n", 6),
    ("classes", "class A<T> { private x: T; protected readonly y?: number = 2; static z: string = 'z'; constructor(x: T) { this.x = x } get(): T { return this.x } }", "new A<number>(1).get() + A.z", "1z"),
    ("class heritage", "interface I {}\nclass B<T> { v = 1 as any as T }\nclass A<T> extends B<T> implements I, Iterable<T> { override toString(): string { return 'A' } *[Symbol.iterator](): Iterator<T> { yield this.v } }", "`${new A()}` + [...new A<number>()]", "A1"),
    ("abstract classes", "abstract class A { abstract n: number; protected abstract f(): void; abstract get g(): string; hi(): string { return 'hi' } }\nclass B extends A { n = 1; f() {} get g() { return '' } }", "new B().hi()", "hi"),
    ("class overloads and index signatures", "class A { [key: string]: any; f(a: string): void; f(a: any) { return a } }", "new A().f(3)", 3),
    ("declared fields", "class A { declare x: number; y = 1 }", "Object.keys(new A())", ["y"]),
    ("fields without values keep their place", "class A { get: string\n  set: number\n  static\n  a() { return 1 } }\nclass C { x: string\n  ['y'] = 2\n  private z: number[] = [1]\n  private ['w'] = 3 }", "Object.keys(new A()).concat(Object.keys(new C()))", ["get", "set", "x", "y", "z", "w"]),
    ("a modifier before a generator", "class A { n: number = 1\n  public *items(): Generator<number> { yield this.n }\n  private async load?(): Promise<number> { return 2 } }", "[...new A().items()]", [1]),
    ("optional members and accessors", "class A { a?: number; get b(): number { return 1 } set b(v: number) {} static async c(): Promise<number> { return 2 } #d: string = 'd'; e() { return this.#d } }", "new A().b + new A().e() + await A.c()", "1d2"),
    ("object methods", "const o = { f<T>(a: T): T { return a }, async g(a?: number): Promise<number> { return a ?? 1 }, get h(): number { return 2 } };", "o.f(1) + await o.g() + o.h", 4),
    ("import and export of types", "import type { A } from 'a';\nimport type B from 'b';\nexport type C = number;\nexport interface D {}\nexport type { C as E };\nconst c: C = 1;", "c", 1),
    ("typeof, keyof, indexed, unique", "const o = { a: 1 };\ntype K = keyof typeof o; let k: K = 'a'; let v: (typeof o)['a'] = o[k]; declare const s: unique symbol;", "v", 1),
    ("instantiation", "const f = <T,>(x: T) => x; const g = f<string>;", "g('i')", "i"),
    ("letters outside of ASCII in types", "const größe: 'größe' | '長さ' | '😀' = 'größe'; type Ünï = { 名: string };", "größe", "größe"),
    ("line breaks of every kind", "type A = {\r\n  a: string;\r\n  b: 'x'\u2028 };\r\nconst a: A = { a: '1', b: 'x' };", "a.a", "1"),
    ("comments among types", "const a /* : string */ : /* what */ number // : any\n  = 1;", "a", 1),
    ("text that looks like types", "const a: string = 'let x: number = <T>y as any!'; const r: RegExp = /a as b/; // as c", "a.length + String(r)", "28/a as b/"),
    ("optional chaining and ternaries", "const o: any = { a: null }; const t = o.a ? o.a! : (o?.b as any)?.c ?? 'none';", "t", "none"),
    ("tool calls in TypeScript", "interface Hit { path: string }\nconst hits = (await tools.t.echo({ hits: [{ path: 'a' }] })) as { hits: Hit[] };\nconst paths: string[] = hits.hits.map((h: Hit): string => h.path);", "paths", ["a"]),
]  # fmt: skip

_BOOM = '  const é: { at?: "é" } = {}; throw new Error("here")'


@pytest.mark.parametrize(("script", "last", "expected"), [row[1:] for row in ERASED], ids=[row[0] for row in ERASED])
def test_types_are_taken_out_and_positions_stay(script: str, last: str, expected: object) -> None:
    assert value(f"{script}\n{last}", tools=("t.echo",)) == expected
    failed = error(f"{script}\n;({last});\n{_BOOM}", tools=("t.echo",))
    lines = script.count("\n") + last.count("\n") + script.count("\u2028") + 3
    assert (failed.message, failed.line, failed.column) == ("here", lines, _BOOM.index("new") + 1)
    assert failed.excerpt == f"  {lines} | {_BOOM}\n{' ' * (len(str(lines)) + 3)}| {' ' * _BOOM.index('new')}^"


def test_at_least_sixty_snippets_are_run() -> None:
    assert len(ERASED) >= 60


REPORTS = [
    ("an enum", "const a = 1;\nenum Color { Red, Green }\nreturn Color.Red", """\
SyntaxError: enum is not there at run time: of TypeScript only the types are taken out  (line 2, column 1)
  2 | enum Color { Red, Green }
    | ^
  hint: write an object instead: const Color = { Red: "red", Green: "green" }"""),
    ("a const enum", "  const enum Color { Red }", """\
SyntaxError: enum is not there at run time: of TypeScript only the types are taken out  (line 1, column 3)
  1 |   const enum Color { Red }
    |   ^
  hint: write an object instead: const Color = { Red: "red", Green: "green" }"""),
    ("a namespace with values", "namespace N { export const x = 1 }", """\
SyntaxError: a namespace with values is not there at run time: of TypeScript only the types are taken out  (line 1, column 1)
  1 | namespace N { export const x = 1 }
    | ^
  hint: write an object instead: const Names = { parse(text) { … } }"""),
    ("a parameter property", "class A {\n  constructor(a: string, private readonly b: number) {}\n}", """\
SyntaxError: a parameter of the constructor cannot declare a property: of TypeScript only the types are taken out  (line 2, column 26)
  2 |   constructor(a: string, private readonly b: number) {}
    |                          ^
  hint: declare the field and assign it: class A { name; constructor(name) { this.name = name } }"""),
    ("a decorator", "function log(v: any) { return v }\nclass A {\n  @log total() { return 5 }\n}", """\
SyntaxError: decorators are not there at run time: this engine does not know them  (line 3, column 3)
  3 |   @log total() { return 5 }
    |   ^
  hint: call the function yourself, such as const read = logged(plainRead)"""),
    ("an import by assignment", 'import fs = require("fs");', """\
SyntaxError: import and export are off in this sandbox  (line 1, column 1)
  1 | import fs = require("fs");
    | ^
  hint: there is nothing to import; use tools.<pack>.<tool>(…), and help() for the list; end with return <value>"""),
    ("an import of values among types", 'const a: number = 1;\nimport { b, type C } from "d";', """\
SyntaxError: import and export are off in this sandbox  (line 2, column 1)
  2 | import { b, type C } from "d";
    | ^
  hint: there is nothing to import; use tools.<pack>.<tool>(…), and help() for the list; end with return <value>"""),
    ("an import inside a type, in text that closes our function", 'let a: typeof import("x") = 1;\nawait import("y")', """\
SyntaxError: import and export are off in this sandbox  (line 2, column 7)
  2 | await import("y")
    |       ^
  hint: there is nothing to import; use tools.<pack>.<tool>(…), and help() for the list; end with return <value>"""),
    ("a cast that ends on its own line", "function f() {\n  return <Foo\n>{ a: 1 };\n}", """\
SyntaxError: a type in front of a value must stand on one line  (line 2, column 10)
  2 |   return <Foo
    |          ^
  hint: write the type behind the value: value as Type"""),
    ("a slip among types stands at the slip", "const a: number = 1;\nconst b: string[] = [1, 2;\nreturn b", """\
SyntaxError: Unexpected token ';'  (line 2, column 26)
  2 | const b: string[] = [1, 2;
    |                          ^"""),
    ("a slip without types is told as ever", "const a = { b: 1 c: 2 };", """\
SyntaxError: Unexpected identifier 'c'  (line 1, column 18)
  1 | const a = { b: 1 c: 2 };
    |                  ^"""),
    ("types do not open our function", "let a: number = 1 })(); show('out'); (async () => {", """\
SyntaxError: unexpected token in expression: ')'  (line 1, column 20)
  1 | let a: number = 1 })(); show('out'); (async () => {
    |                    ^"""),
    ("an error in the middle of types", "interface A { b?: { c: number } }\nconst a = {} as A; const n: number = a.b!.c;", """\
TypeError: cannot read property 'c' of undefined  (line 2, column 38)
  2 | const a = {} as A; const n: number = a.b!.c;
    |                                      ^"""),
    ("a call of what is no function, with types", "const o: any = {};\no.find<string>('x')", """\
TypeError: o.find is not a function  (line 2, column 1)
  2 | o.find<string>('x')
    | ^"""),
    ("a deadlock in a script with types", "const gate: Promise<void> = new Promise<void>(() => {});\nconst x: number = 1; await gate;", """\
Deadlock: the script waits for a promise that nothing will settle (line 2)  (line 2, column 22)
  2 | const x: number = 1; await gate;
    |                      ^
  hint: no tool call and no timer is open; resolve the promise yourself, or await a call or sleep(ms)"""),
]  # fmt: skip


@pytest.mark.parametrize(("script", "report"), [row[1:] for row in REPORTS], ids=[row[0] for row in REPORTS])
def test_what_an_author_is_told(script: str, report: str) -> None:
    assert error(script).text == report


def test_comparisons_that_look_like_a_generic_call_stay_comparisons() -> None:
    assert value("const f = (...a) => a; const a = 1, b = 2, c = 5, d = 3;\nf(a<b, c>(d))") == [True, True]


def test_what_the_grammar_cannot_read_but_the_engine_can_is_run_as_it_stands() -> None:
    assert value("const \\u{61}b = 1, r = /[\\p{L}--[a-z]]/v.test('Ä');\nab + Number(r)") == 2


PIECES = (
    *(row[1] for row in ERASED), *(row[2] for row in ERASED), "<", ">", "(", ")", "{", "}", "[", "]", ":", "?", "!", " as ", " satisfies ",
    "\n", "\r\n", "\u2028", "é", "😀", "`", "'", '"', "${", "/*", "*/", "//", "=>", "async ", "abstract ", "declare ", "type T = ", "private ",
    "namespace ", "enum ", "import ", "export ", "interface ", "return ", "this: ", "=", ";", ",", ".", "...", "\x00", "<T>", "|", "&", "0",
)  # fmt: skip


def shape(raw: bytes) -> tuple[int, list[int]]:
    """Its length, and where its line breaks are."""
    text = raw.decode()  # UTF-8 to the last byte
    breaks = [len(text[:at].encode()) for at, letter in enumerate(text) if letter in "\r\n\u2028\u2029"]
    return len(raw), breaks


def test_blanking_never_changes_the_length_nor_a_line_break() -> None:
    random = Random("types")
    changed = 0
    for _ in range(4_000):
        pieces = [random.choice(PIECES) for _ in range(random.randint(1, 6))]
        raw = "".join(
            piece[random.randint(0, 3) * random.randint(0, 9) :] if random.random() < 0.3 else piece for piece in pieces
        ).encode()
        erased = typescript.erase(raw, only_calls=random.random() < 0.2)
        assert shape(erased.text) == shape(raw)
        changed += erased.text != raw
    assert changed > 1_000


def test_what_was_blanked_is_blank_or_a_bracket_or_a_semicolon() -> None:
    for _, script, last, _ in ERASED:
        raw = f"{script}\n{last}".encode()
        erased = typescript.erase(raw)
        put = {erased.text[at : at + 1] for at in range(len(raw)) if erased.text[at] != raw[at]}
        assert put <= {b" ", b";", b"(", b")", b"0", b"|"}
