"""Scripts judged before their first effect: through the real parser, against real tools, to the letter."""

import json
from random import Random
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from catalog import choose, pack, tool, tool_from_schema
from catalog.forecast import report
from catalog.reflect import reflect
from catalog.scan import Finding, scan
from sandbox import Machine, Positions


class Span(BaseModel):
    first: int
    last: int


@tool(reads=["file:{path}"])
async def read(path: str, offset: int = 0, limit: int | None = None) -> str:
    """Read a file."""
    return ""


@tool(reads=["file:{path}"])
async def read_spans(path: str, spans: list[Span]) -> list[str]:
    """Read parts of a file."""
    return []


@tool(writes=["file:{path}"])
async def write(path: str, content: str, mode: Literal["create", "replace"] = "replace") -> int:
    """Write a file."""
    return 0


@tool(reads=["tree:{root}"])
async def list_(root: str = ".", depth: int = 1) -> list[str]:
    """List a folder."""
    return []


@tool(writes=["file:{path}"], approval=True)
async def delete(path: str) -> bool:
    """Delete a file."""
    return True


@tool(reads=["tree:{root}"])
async def grep(pattern: str, glob: str | None = None, root: str = ".") -> list[dict[str, Any]]:
    """Search files by a regular expression."""
    return []


@tool(approval=lambda given: "rm" in given["command"])
async def run(command: str, timeout_seconds: float = 0.5, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a command."""
    return {}


@tool(effect="pure")
async def merge(options: dict[str, Any], deep: bool = False) -> dict[str, Any]:
    """Merge options."""
    return {}


@tool(effect="pure")
async def now() -> float:
    """Tell the time."""
    return 0.0


async def _search(arguments: dict[str, Any]) -> Any:
    return arguments


DOCS = tool_from_schema(
    "search-docs",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "top": {"type": ["integer", "null"], "maximum": 20}},
        "required": ["query"],
    },
    _search,
    pack="docs",
)
PACKS = [
    pack("files", [read, read_spans, write, reflect(list_, pack="files", name="list"), delete]),
    pack("search", [grep]),
    pack("shell", [run]),
    pack("misc", [merge, now]),
    pack("docs", [DOCS]),
]
OFFER = choose(PACKS, without=["files.delete"], profile="careful")


def found(source: str) -> list[Finding]:
    return scan(Machine().outline(source), OFFER.tools, Positions(source).mark, refused=OFFER.refused)


READ = "write tools.files.read({ path: string, offset?: number = 0, limit?: number | null }): Promise<string>"
WRITE = 'write tools.files.write({ path: string, content: string, mode?: "create" | "replace" = "replace" }): Promise<number>'
LISTED = 'write tools.files.list({ root?: string = ".", depth?: number = 1 }): Promise<string[]>'
SPANS = "write tools.files.read_spans({ path: string, spans: { first: number, last: number }[] }): Promise<string[]>"
GREP = (
    'write tools.search.grep({ pattern: string, glob?: string | null, root?: string = "." }): Promise<Record<string, unknown>[]>'
)
RUN = "write tools.shell.run({ command: string, timeout_seconds?: number = 0.5, env?: Record<string, string> | null }): Promise<Record<string, unknown>>"  # fmt: skip

# severity, then the report to the letter
REPORTS = [
    ("a misspelt tool", 'await tools.files.raed({ path: "a" })', "certain", f"""\
unknown_tool: there is no tool files.raed; did you mean files.read?  (line 1, column 19)
  1 | await tools.files.raed({{ path: "a" }})
    |                   ^
  hint: {READ}"""),
    ("another case", 'await tools.files.readSpans({ path: "a", spans: [] })', "certain", f"""\
unknown_tool: there is no tool files.readSpans; did you mean files.read_spans?  (line 1, column 19)
  1 | await tools.files.readSpans({{ path: "a", spans: [] }})
    |                   ^
  hint: {SPANS}"""),
    ("a name with more words", 'const text = await tools.files.readFile("a")', "certain", f"""\
unknown_tool: there is no tool files.readFile; did you mean files.read?  (line 1, column 32)
  1 | const text = await tools.files.readFile("a")
    |                                ^
  hint: {READ}"""),
    ("a synonym", 'await tools.shell.exec({ command: "ls" })', "certain", f"""\
unknown_tool: there is no tool shell.exec; did you mean shell.run?  (line 1, column 19)
  1 | await tools.shell.exec({{ command: "ls" }})
    |                   ^
  hint: {RUN}"""),
    ("a tool of another pack", 'await tools.search.read({ path: "a" })', "certain", f"""\
unknown_tool: there is no tool search.read; did you mean files.read?  (line 1, column 20)
  1 | await tools.search.read({{ path: "a" }})
    |                    ^
  hint: {READ}"""),
    ("a misspelt pack", 'await tools.file.read({ path: "a" })', "certain", f"""\
unknown_tool: there is no pack file; did you mean files.read?  (line 1, column 13)
  1 | await tools.file.read({{ path: "a" }})
    |             ^
  hint: {READ}"""),
    ("a pack of another world", 'await tools.fs.read({ path: "a" })', "certain", f"""\
unknown_tool: there is no pack fs; did you mean files.read?  (line 1, column 13)
  1 | await tools.fs.read({{ path: "a" }})
    |             ^
  hint: {READ}"""),
    ("no pack at all", 'await tools.grep({ pattern: "x" })', "certain", f"""\
unknown_tool: grep is a tool of the pack search; write tools.search.grep  (line 1, column 13)
  1 | await tools.grep({{ pattern: "x" }})
    |             ^
  hint: {GREP}"""),
    ("a pack that nothing is like", "await tools.qqqq.zzzz()", "certain", """\
unknown_tool: there is no pack qqqq  (line 1, column 13)
  1 | await tools.qqqq.zzzz()
    |             ^
  hint: packs: files, search, shell, misc, docs"""),
    ("a tool that is not on offer", 'await tools.files.delete({ path: "a" })', "certain", """\
not_offered: files.delete exists, but profile careful does not offer it  (line 1, column 19)
  1 | await tools.files.delete({ path: "a" })
    |                   ^
  hint: files has: read, read_spans, write, list"""),
    ("the same wrong name several times", 'const { raed } = tools.files;\nawait raed("a");\nawait tools.files.raed("b")', "certain", f"""\
unknown_tool: there is no tool files.raed; did you mean files.read? (also line 2, line 3)  (line 1, column 9)
  1 | const {{ raed }} = tools.files;
    |         ^
  hint: {READ}"""),
    ("a pack taken apart that is not there", "const { files, web } = tools;\nawait web.fetch('x')", "certain", """\
unknown_tool: there is no pack web (also line 2)  (line 1, column 16)
  1 | const { files, web } = tools;
    |                ^
  hint: packs: files, search, shell, misc, docs"""),
    ("a pack called", 'await tools.files("a.txt")', "certain", """\
not_called: files is a pack, not a tool; write tools.files.<tool>(…)  (line 1, column 13)
  1 | await tools.files("a.txt")
    |             ^
  hint: files has: read, read_spans, write, list"""),
    ("all tools called", 'await tools("files.read")', "certain", """\
not_called: tools is no function  (line 1, column 7)
  1 | await tools("files.read")
    |       ^
  hint: write tools.<pack>.<tool>(…)"""),
    ("a tool that is not called", "const names = await tools.files.list;", "certain", """\
not_called: tools.files.list is a tool and is not called  (line 1, column 21)
  1 | const names = await tools.files.list;
    |                     ^
  hint: write await tools.files.list({ root?: string = ".", depth?: number = 1 }): Promise<string[]>"""),
    ("a member of a tool", "const names = tools.files.list.map((n) => n)", "certain", """\
not_called: tools.files.list is a tool and has no member map: call it first  (line 1, column 32)
  1 | const names = tools.files.list.map((n) => n)
    |                                ^
  hint: write (await tools.files.list(…)).map; tools.files.list({ root?: string = ".", depth?: number = 1 }): Promise<string[]>"""),
    ("a tool handed to map", "await Promise.all(paths.map(tools.search.grep))", "none", ""),
    ("a tool of fewer arguments handed to map", "await Promise.all(paths.map(tools.files.list))", "certain", """\
bad_arguments: map hands files.list three arguments (item, index, list), and it takes 2  (line 1, column 29)
  1 | await Promise.all(paths.map(tools.files.list))
    |                             ^
  hint: write map((item) => tools.files.list({ root: item }))"""),
    ("a missing argument", "await tools.files.read({ offset: 5 })", "certain", f"""\
bad_arguments: files.read: path is missing  (line 1, column 7)
  1 | await tools.files.read({{ offset: 5 }})
    |       ^
  hint: {READ}"""),
    ("two missing arguments", "await tools.files.write()", "certain", f"""\
bad_arguments: files.write: path is missing; content is missing  (line 1, column 7)
  1 | await tools.files.write()
    |       ^
  hint: {WRITE}"""),
    ("a missing argument beside an unknown value", "await tools.files.write({ path: p })", "certain", f"""\
bad_arguments: files.write: content is missing  (line 1, column 7)
  1 | await tools.files.write({{ path: p }})
    |       ^
  hint: {WRITE}"""),
    ("undefined is not given", "await tools.files.read({ path: undefined })", "certain", f"""\
bad_arguments: files.read: path is missing  (line 1, column 7)
  1 | await tools.files.read({{ path: undefined }})
    |       ^
  hint: {READ}"""),
    ("an argument nobody declared", 'await tools.files.read({ pth: "a" })', "certain", f"""\
bad_arguments: files.read: there is no argument pth; did you mean path?  (line 1, column 26)
  1 | await tools.files.read({{ pth: "a" }})
    |                          ^
  hint: {READ}"""),
    ("an argument nobody declared, its value unknown", "await tools.files.read({ path, encoding })", "certain", f"""\
bad_arguments: files.read: there is no argument encoding; known: path, offset, limit  (line 1, column 32)
  1 | await tools.files.read({{ path, encoding }})
    |                                ^
  hint: {READ}"""),
    ("a literal of the wrong type", 'await tools.files.read({ path: "a", offset: "10" })', "certain", f"""\
bad_arguments: files.read: offset must be a whole number, not the text "10"  (line 1, column 45)
  1 | await tools.files.read({{ path: "a", offset: "10" }})
    |                                             ^
  hint: {READ}"""),
    ("a literal of the wrong type beside an unknown value", "await tools.files.read({ path: p, offset: 1.5 })", "certain", f"""\
bad_arguments: files.read: offset must be a whole number, not the number 1.5  (line 1, column 43)
  1 | await tools.files.read({{ path: p, offset: 1.5 }})
    |                                           ^
  hint: {READ}"""),
    ("a constant of the wrong type", "const from = '10';\nawait tools.files.read({ path: p, offset: from })", "certain", f"""\
bad_arguments: files.read: offset must be a whole number, not the text "10"  (line 2, column 43)
  2 | await tools.files.read({{ path: p, offset: from }})
    |                                           ^
  hint: {READ}"""),
    ("a text that is not known, for a number", "await tools.files.read({ path: p, offset: `${n}` })", "certain", f"""\
bad_arguments: files.read: offset must be a whole number, not text  (line 1, column 43)
  1 | await tools.files.read({{ path: p, offset: `${{n}}` }})
    |                                           ^
  hint: {READ}"""),
    ("a list that is not all known, for text", "await tools.files.read({ path: [p] })", "certain", f"""\
bad_arguments: files.read: path must be text, not a list  (line 1, column 32)
  1 | await tools.files.read({{ path: [p] }})
    |                                ^
  hint: {READ}"""),
    ("not one of the choices", 'await tools.files.write({ path: p, content: c, mode: "append" })', "certain", f"""\
bad_arguments: files.write: mode must be "create" or "replace", not the text "append"  (line 1, column 54)
  1 | await tools.files.write({{ path: p, content: c, mode: "append" }})
    |                                                      ^
  hint: {WRITE}"""),
    ("deep inside", 'await tools.files.read_spans({ path: "a", spans: [{ first: 1, last: 2 }, { first: "3", lst: 4 }] })', "certain", f"""\
bad_arguments: files.read_spans: spans[1].last is missing  (line 1, column 74)
  1 | await tools.files.read_spans({{ path: "a", spans: [{{ first: 1, last: 2 }}, {{ first: "3", lst: 4 }}] }})
    |                                                                          ^
  hint: {SPANS}

bad_arguments: files.read_spans: spans[1].first must be a whole number, not the text "3"  (line 1, column 83)
  1 | await tools.files.read_spans({{ path: "a", spans: [{{ first: 1, last: 2 }}, {{ first: "3", lst: 4 }}] }})
    |                                                                                   ^"""),
    ("too many in order", 'await tools.files.list(".", 2, true)', "certain", f"""\
bad_arguments: files.list: it takes 2 arguments, and 3 came  (line 1, column 7)
  1 | await tools.files.list(".", 2, true)
    |       ^
  hint: {LISTED}"""),
    ("arguments where there are none", "await tools.misc.now(tz, true)", "certain", """\
bad_arguments: misc.now: it takes no arguments, and 2 came  (line 1, column 7)
  1 | await tools.misc.now(tz, true)
    |       ^
  hint: write tools.misc.now(): Promise<number>"""),
    ("a wrong type in order", "await tools.files.read(5)", "certain", f"""\
bad_arguments: files.read: path must be text, not the number 5  (line 1, column 24)
  1 | await tools.files.read(5)
    |                        ^
  hint: {READ}"""),
    ("a tool from a schema", "await tools.docs.search_docs({ top: 50 })", "certain", """\
bad_arguments: docs.search_docs: query is missing  (line 1, column 7)
  1 | await tools.docs.search_docs({ top: 50 })
    |       ^
  hint: write tools.docs.search_docs({ query: string, top?: number | null }): Promise<unknown>

bad_arguments: docs.search_docs: top must be at most 20, not the number 50  (line 1, column 37)
  1 | await tools.docs.search_docs({ top: 50 })
    |                                     ^"""),
    ("a promise as an argument", 'await tools.files.write({ path: "b", content: tools.files.read("a") })', "certain", """\
not_awaited: an argument of files.write is a promise: await the call that makes it  (line 1, column 47)
  1 | await tools.files.write({ path: "b", content: tools.files.read("a") })
    |                                               ^
  hint: write await before it"""),
    ("a function as an argument", "await tools.files.write({ path: p, content: () => 'x' })", "certain", f"""\
bad_arguments: an argument of files.write is a function, and only data reaches a tool  (line 1, column 45)
  1 | await tools.files.write({{ path: p, content: () => 'x' }})
    |                                             ^
  hint: {WRITE}"""),
    ("never awaited", 'tools.files.write({ path: "a", content: "b" });\nreturn 1', "certain", """\
not_awaited: tools.files.write(…) is not awaited: the script may end before it is done, and its failure goes unseen  (line 1, column 1)
  1 | tools.files.write({ path: "a", content: "b" });
    | ^
  hint: write await tools.files.write(…)"""),
    ("a sleep that does not wait", "sleep(100);\nreturn 1", "certain", """\
not_awaited: sleep(…) is not awaited: the script may end before it is done, and its failure goes unseen  (line 1, column 1)
  1 | sleep(100);
    | ^
  hint: write await sleep(…)"""),
    ("a member of the promise", 'const lines = tools.files.read("a").split("\\n")', "certain", """\
not_awaited: tools.files.read(…) gives a promise, and split is read off the promise itself  (line 1, column 15)
  1 | const lines = tools.files.read("a").split("\\n")
    |               ^
  hint: write (await tools.files.read(…)).split, or await the call where it is made"""),
    ("a member of the promise, later", 'const text = tools.files.read("a");\n\nreturn text.length', "certain", """\
not_awaited: tools.files.read(…) gives a promise, and length is read off the promise itself, in line 3  (line 1, column 14)
  1 | const text = tools.files.read("a");
    |              ^
  hint: write (await tools.files.read(…)).length, or await the call where it is made"""),
    ("a promise in a loop's head", 'for (const hit of tools.search.grep("x")) show(hit)', "certain", """\
not_awaited: tools.search.grep(…) gives a promise, and a promise is no list  (line 1, column 19)
  1 | for (const hit of tools.search.grep("x")) show(hit)
    |                   ^
  hint: write await before it"""),
    ("a promise shown", 'show(tools.files.read("a"));', "certain", """\
not_awaited: show gets the promise of tools.files.read(…), not its value  (line 1, column 6)
  1 | show(tools.files.read("a"));
    |      ^
  hint: write await before it"""),
    ("a promise tested", 'if (tools.files.list().length) show(1)', "certain", """\
not_awaited: tools.files.list(…) gives a promise, and length is read off the promise itself  (line 1, column 5)
  1 | if (tools.files.list().length) show(1)
    |     ^
  hint: write (await tools.files.list(…)).length, or await the call where it is made"""),
    ("a promise that counts as true", 'while (!tools.misc.now()) await sleep(1)', "certain", """\
not_awaited: tools.misc.now(…) gives a promise, and a promise always counts as true  (line 1, column 9)
  1 | while (!tools.misc.now()) await sleep(1)
    |         ^
  hint: write await before it"""),
    ("an array of promises awaited", "const texts = await paths.map((path) => tools.files.read({ path }))", "certain", """\
not_awaited: map gives an array of promises of tools.files.read(…), and await does not wait for those  (line 1, column 41)
  1 | const texts = await paths.map((path) => tools.files.read({ path }))
    |                                         ^
  hint: write await Promise.all(list.map(…))"""),
    ("forEach with an async callback", "paths.forEach(async (path) => {\n  await tools.files.write({ path, content: 'x' });\n});", "doubtful", """\
not_awaited: tools.files.write(…) may be cut off: forEach does not wait for its callback, in line 1  (line 2, column 9)
  2 |   await tools.files.write({ path, content: 'x' });
    |         ^
  hint: write for (const item of list) { await … }, or await Promise.all(list.map(async (item) => …))"""),
    ("filter with an async callback", "return paths.filter(async (path) => (await tools.files.read({ path })).length)", "doubtful", """\
not_awaited: filter gets a promise of tools.files.read(…), and a promise always counts as true  (line 1, column 44)
  1 | return paths.filter(async (path) => (await tools.files.read({ path })).length)
    |                                            ^
  hint: await the values first, then use filter"""),
    ("a function that is not awaited", "async function main() {\n  await tools.files.read('a');\n}\nmain();\nreturn 1", "doubtful", """\
not_awaited: tools.files.read(…) may be cut off: main(…) is called and not awaited, in line 4  (line 2, column 9)
  2 |   await tools.files.read('a');
    |         ^
  hint: write await main(…)"""),
    ("a chain that is not awaited", "tools.files.read('a').then(show);\nreturn 1", "doubtful", """\
not_awaited: tools.files.read(…).then(…) is not awaited: the script may end before it is done  (line 1, column 1)
  1 | tools.files.read('a').then(show);
    | ^
  hint: write await before it"""),
    ("a promise kept and forgotten", "const done = tools.files.read('a');\nreturn 1", "doubtful", """\
not_awaited: tools.files.read(…) is not awaited: its promise is kept in done, which is never read  (line 1, column 14)
  1 | const done = tools.files.read('a');
    |              ^
  hint: write await before it"""),
    ("inside try nothing is certain", "try {\n  await tools.files.raed('a');\n} catch {}", "doubtful", f"""\
unknown_tool: there is no tool files.raed; did you mean files.read?  (line 2, column 21)
  2 |   await tools.files.raed('a');
    |                     ^
  hint: {READ}"""),
    ("a script with types", "const n: number = 1;\nconst t = (await tools.files.raed<string>({ path: 'a' } as any))!;", "certain", f"""\
unknown_tool: there is no tool files.raed; did you mean files.read?  (line 2, column 30)
  2 | const t = (await tools.files.raed<string>({{ path: 'a' }} as any))!;
    |                              ^
  hint: {READ}"""),
]  # fmt: skip


@pytest.mark.parametrize(("source", "severity", "text"), [row[1:] for row in REPORTS], ids=[row[0] for row in REPORTS])
def test_what_is_told_before_a_script_runs(source: str, severity: str, text: str) -> None:
    findings = found(source)
    assert "\n\n".join(finding.text for finding in findings) == text
    assert {finding.severity for finding in findings} <= {severity}


RIGHT = [
    "const text = await tools.files.read({ path: 'a' }); return text.length",
    "const text = await tools.files.read('a', 10, 20);",
    "const text = await tools.files.read('a', { limit: 5 });",
    "const { read, write } = tools.files;\nawait write('b', await read('a'));",
    "const { files, search: finder } = tools;\nconst hits = await finder.grep({ pattern: 'x' });\nreturn Promise.all(hits.map((h) => files.read(h.path)));",
    "const bodies = await Promise.all(paths.map((path) => tools.files.read({ path })));",
    "const bodies = await Promise.all(paths.map(async (path) => { const t = await tools.files.read({ path }); return t.trim(); }));",
    "const jobs = paths.map((path) => tools.files.read({ path }));\nconst texts = await Promise.all(jobs);",
    "const jobs = [];\nfor (const path of paths) jobs.push(tools.files.read({ path }));\nawait Promise.all(jobs);",
    "const [a, b] = await Promise.all([tools.files.read('a'), tools.files.read('b')]);",
    "const results = await Promise.allSettled(paths.map((path) => tools.files.read({ path })));",
    "const helper = async (path) => (await tools.files.read({ path })).split('\\n');\nconst lines = await helper('a');",
    "async function load(path) { return tools.files.read({ path }); }\nconst t = await load('a');",
    "function load(path) { return tools.files.read({ path }); }\nreturn load('a');",
    "const total = await paths.reduce(async (sum, path) => (await sum) + (await tools.files.read({ path })).length, Promise.resolve(0));",
    "for (const path of await tools.files.list('src', 2)) show(path);",
    "for (const path of (await tools.files.list()).slice(0, 5)) { await tools.files.read({ path }); }",
    "const p = tools.files.read('a');\nconst q = tools.files.read('b');\nreturn (await p) + (await q);",
    "let r = tools.files.read('a');\nr = await r;\nreturn r.length;",
    "const text = await tools.files.read('a').then((t) => t.trim());",
    "await tools.files.read('a').then((t) => show(t)).catch((e) => show(e.message)).finally(() => show(1));",
    "const safe = await tools.files.read('a').catch(() => null);",
    "try { await tools.files.read({ path: 'a' }); } catch (e) { if (e.name !== 'not_found') throw e; }",
    "let text;\ntry { text = await tools.files.read('a'); } catch { text = ''; }\nreturn text.length;",
    "const opts = { path: 'a', offset: 1 };\nawait tools.files.read(opts);",
    "const opts = { offset: 1 };\nawait tools.files.read({ path: 'a', ...opts });",
    "await tools.files.read({ ...base });",
    "const args = ['a', 1];\nawait tools.files.read(...args);",
    "await tools.files.read({ ['path']: 'a' });",
    "const name = 'read';\nawait tools.files[name]({ path: 'a' });",
    "const packs = Object.keys(tools);\nfor (const pack of packs) show(pack, Object.keys(tools[pack]));",
    "await tools['files']['read']({ path: 'a' });",
    "function withTools(tools) { return tools.anything.goes(1, 2, 3); }\nwithTools({ anything: { goes: () => 1 } });",
    "const tools2 = tools;\nawait tools2.files.read('a');",
    "{ const tools = { x: { y() {} } }; tools.x.y(); }\nawait tools.files.read('a');",
    "const api = { tools: { files: { raed() {} } } };\napi.tools.files.raed();",
    "// await tools.files.raed('a')\n/* tools.nope.nope() */\nshow(\"tools.files.raed('a')\");\nreturn `tools.x.y()`;",
    "const re = /tools\\.files\\.raed\\(/;\nreturn re.test('x');",
    "await tools.files.write({ path: 'a', content: `# Title\n\nuse tools.files.raed()\n` });",
    "await tools.files.write({ path: 'a', content: JSON.stringify({ a: 1 }, null, 2) });",
    "await tools.files.write({ path: 'a', content: 'x', mode: 'create' });",
    "await tools.files.write({ path: `${dir}/a.txt`, content: header + '\\n' + body });",
    "await tools.files.read({ path: 'a', limit: null });",
    "await tools.files.read({ path: 'a', offset: undefined });",
    "await tools.files.read({ path: 'a', offset: null });",
    "await tools.search.grep({ pattern: 'TODO', glob: null, root: 'src' });",
    "await tools.search.grep('TODO', '*.py', 'src');",
    "await tools.search.grep(/TODO|FIXME/.source);",
    "await tools.shell.run({ command: 'ls', timeout_seconds: 5 });",
    "await tools.shell.run({ command: 'ls', env: { A: '1', B: String(2) } });",
    "await tools.shell.run('make test', { timeout_seconds: 120 });",
    "await tools.files.read_spans({ path: 'a', spans: [{ first: 1, last: 2 }] });",
    "await tools.files.read_spans({ path: 'a', spans: hits.map((h) => ({ first: h.line, last: h.line + 5 })) });",
    "await tools.files.read_spans({ path: 'a', spans: [{ first: n, last: n + 1 }, ...more] });",
    "await tools.misc.merge({ a: 1, b: { c: 2 } });",
    "await tools.misc.merge({ options: { a: 1 }, deep: true });",
    "await tools.misc.merge({ a: x, b: y }, true);",
    "const t = await tools.misc.now();\nconst u = await tools.misc.now({});",
    "await tools.docs.search_docs({ query: 'x', top: null });",
    "await tools.docs.search_docs({ query: 'x', anything: 1 });",
    "await tools.docs.search_docs('x', 5);",
    "const attempt = async (f) => { try { return await f(); } catch (e) { return null; } };\nconst t = await attempt(() => tools.files.read('b'));",
    "const once = (path) => new Promise((resolve) => { tools.files.read({ path }).then(resolve); });\nawait once('a');",
    "class Reader { constructor(root) { this.root = root; } async read(name) { return await tools.files.read({ path: `${this.root}/${name}` }); } }\nreturn await new Reader('src').read('a');",
    "const cache = new Map();\nconst get = (path) => cache.get(path) ?? cache.set(path, tools.files.read({ path })).get(path);\nawait get('a');",
    "const first = (await tools.files.list())[0];\nconst { length } = await tools.files.read(first);",
    "const [head, ...rest] = await tools.files.list();",
    "const found = (await tools.search.grep({ pattern: 'x' })).find((hit) => hit.path);\nif (found) show(await tools.files.read({ path: found.path }));",
    "const ok = cond ? await tools.files.read('a') : await tools.files.read('b');",
    "const maybe = cond && (await tools.files.read('a'));",
    "void tools.files.write({ path: 'a', content: 'b' });\nreturn 1;",
    "return { text: await tools.files.read('a'), names: await tools.files.list() };",
    "return await tools.files.list();",
    "tools.files.list()",
    "show(await tools.files.read('a'));\nconsole.log((await tools.files.list()).length);",
    "const timer = setTimeout(() => show('late'), 10);\nawait tools.files.read('a');\nclearTimeout(timer);",
    "await Promise.race([tools.files.read('a'), sleep(1000)]);",
    "const value = await recall('r1');\nawait help('files');\nawait sleep(5);",
    "const reader = tools.files.read.bind(null, 'a');\nawait reader();\nreturn tools.files.read.name;",
    "const chunks = [];\nwhile (chunks.length < 3) { const t = await tools.files.read({ path: 'a', offset: chunks.length * 100, limit: 100 }); if (!t) break; chunks.push(t); }",
    "const queue = [...(await tools.files.list('.', 3))];\nconst worker = async () => { while (queue.length) await tools.files.read({ path: queue.pop() }); };\nawait Promise.all([worker(), worker()]);",
    "const byName = Object.fromEntries(await Promise.all((await tools.files.list()).map(async (n) => [n, await tools.files.read(n)])));",
    "const run = { 'read': tools.files.read, 'list': tools.files.list };\nawait run['read']('a');",
    "interface Hit { path: string; line: number }\nconst hits = (await tools.search.grep({ pattern: 'x' })) as Hit[];\nconst texts: string[] = await Promise.all(hits.map((h: Hit) => tools.files.read({ path: h.path })));",
    "switch (mode) { case 'a': await tools.files.read('a'); break; default: await tools.files.list(); }",
    "const gen = async function* () { for (const p of await tools.files.list()) yield await tools.files.read(p); };\nfor await (const t of gen()) show(t);",
    "export_ = 1; var tools_ = tools; await tools_.files.read('a')",
    "const out = await (async () => { const t = await tools.files.read('a'); return t; })();",
]  # fmt: skip


@pytest.mark.parametrize("source", RIGHT)
def test_nothing_is_said_of_a_script_that_is_right(source: str) -> None:
    assert [finding.text for finding in found(source)] == []


def test_at_least_sixty_right_scripts_are_tried() -> None:
    assert len(RIGHT) >= 60


PERHAPS = [
    "if (typeof tools.web !== 'undefined') await tools.web.fetch('x');",
    "if ('web' in tools) await tools.web.fetch({ url: 'x' });",
    "if (tools.web) await tools.web.fetch('x');",
    "const page = await tools.web?.fetch?.('x');",
    "const page = tools.web ? await tools.web.fetch('x') : null;",
    "try { await tools.web.fetch('x'); } catch (e) { show('no web'); }",
    "const attempt = async (f) => { try { return await f(); } catch { return null; } };\nawait attempt(() => tools.web.fetch('x'));",
    "async function fetchPage() { return await tools.web.fetch('x'); }\ntry { await fetchPage(); } catch {}",
    "const page = await tools.files.read({ pth: 'a' }).catch(() => '');",
    "if (Object.keys(tools).includes('web')) await tools.web.fetch('x');",
    "const { web = null } = tools;\nif (web) await web.fetch('x');",
]


@pytest.mark.parametrize("source", PERHAPS)
def test_what_may_be_caught_or_was_asked_for_is_never_certain(source: str) -> None:
    assert {finding.severity for finding in found(source)} <= {"doubtful"}


def test_certain_findings_come_first_and_there_is_an_end_to_them() -> None:
    wrong = "".join(f"await tools.files.no{number}x();\n" for number in range(15))
    doubtful = "".join(f"const d{number} = tools.files.read('{number}');\n" for number in range(15))
    findings = found(doubtful + wrong)
    assert [finding.severity for finding in findings] == ["certain"] * 10 + ["doubtful"] * 10
    assert [finding.line for finding in findings] == [*range(16, 26), *range(1, 11)]


def test_without_any_tools_a_script_is_told_so() -> None:
    source = "await tools.files.read('a')"
    (finding,) = scan(Machine().outline(source), {}, Positions(source).mark)
    assert (finding.message, finding.hint) == ("there is no pack files", "this script was given no tools")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("files.read", {"path": "a", "offset": 3, "limit": None}),
    ("files.write", {"path": "a", "content": "b", "mode": "create"}),
    ("files.read_spans", {"path": "a", "spans": [{"first": 1, "last": 2}, {"first": 3, "last": 4}]}),
    ("shell.run", {"command": "ls", "timeout_seconds": 2, "env": {"A": "b"}}),
    ("misc.merge", {"options": {"deep": 1, "x": [1, "2", {"y": None}]}, "deep": True}),
    ("docs.search_docs", {"query": "q", "top": None}),
]


def hidden(random: Random, value: Any) -> str:
    """The value as JavaScript, with parts of it that no text shows."""
    if random.random() < 0.25:
        return random.choice(["given", "f(1)", "await g", "o.p", "[...rest][0]", "a ? b : c"])
    if isinstance(value, list):
        items = [hidden(random, item) for item in value]
        return f"[{', '.join(items + (['...rest'] if random.random() < 0.2 else []))}]"
    if isinstance(value, dict):
        members = [name if random.random() < 0.1 else f"{name}: {hidden(random, item)}" for name, item in value.items()]
        if random.random() < 0.25 and members:
            members[random.randrange(len(members))] = "...rest"
        return f"{{ {', '.join(members)} }}"
    return json.dumps(value)


def test_a_right_call_stays_right_whatever_of_it_is_hidden() -> None:
    random = Random("hidden")
    for _ in range(1_500):
        name, arguments = random.choice(CALLS)
        in_order = [hidden(random, arguments[key]) for key in OFFER.tools[name].order]
        spread = random.randrange(len(in_order) + 1)
        given = random.choice([hidden(random, arguments), ", ".join(in_order), ", ".join([*in_order[:spread], "...rest"])])
        assert [finding.text for finding in found(f"await tools.{name}({given})")] == [], given


async def _aliased(from_: Annotated[str, Field(alias="from")], to: str) -> str:
    """Move a thing."""
    return ""


IF_THEN = {
    "type": "object",
    "properties": {"mode": {"type": "string"}, "path": {"type": "string"}},
    "if": {"properties": {"mode": {"const": "file"}}},
    "then": {"required": ["path"]},
}


def test_what_a_schema_does_not_tell_of_one_argument_alone_is_not_guessed() -> None:
    tools = choose([pack("t", [_aliased, tool_from_schema("when", IF_THEN, _search, pack="t")])]).tools
    for source in ("await tools.t._aliased({ from_: x, to: y })", "await tools.t.when({ mode: x })"):
        assert scan(Machine().outline(source), tools, Positions(source).mark) == []
    source = "await tools.t.when({ mode: 'file' })"
    assert [one.message for one in scan(Machine().outline(source), tools, Positions(source).mark)] == ["t.when: path is missing"]


# ---------------------------------------------------------------- the calls that a script would make

PLAN = """\
const dir = "src";
const names = await tools.files.list(dir, 2);
for (const name of names) {
  const text = await tools.files.read({ path: `${dir}/${name}`, limit: 5 });
  if (text.includes("TODO")) await tools.files.write({ path: "out.txt", content: text });
}
const clean = async () => tools.shell.run("rm -rf build");
await tools.shell.run({ command: names[0], ...more });
await tools.shell.run("ls");
await tools.files.nothing();
await tools.files.write("a", "x".repeat(5), { mode: "create" });"""


def test_the_report_lists_what_a_script_would_call() -> None:
    lines = report(Machine().outline(PLAN), choose(PACKS).tools, Positions(PLAN).mark)
    assert [line.text for line in lines] == [
        '2:21  files.list("src", 2)  reads',
        "4:22  files.read({ path: …, limit: 5 })  reads, in a loop",
        '5:36  files.write({ path: "out.txt", content: … })  writes, in a loop, under a condition',
        '7:27  shell.run("rm -rf build")  external, asks first, in a function',
        "8:7  shell.run({ command: …, … })  external, may ask first",
        '9:7  shell.run("ls")  external',
        '11:7  files.write("a", …, { mode: "create" })  writes',
    ]
    first = lines[0]
    assert first.touches is not None and first.touches.reads == ("tree:src",)
    assert lines[1].touches is None


def test_a_tool_that_always_asks_is_said_to() -> None:
    source = "await tools.files.delete(path)"
    (line,) = report(Machine().outline(source), choose(PACKS).tools, Positions(source).mark)
    assert line.text == "1:7  files.delete(…)  writes, asks first"
