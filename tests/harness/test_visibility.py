"""At every point of any conversation, what the transcript refers to is in view, and every handle gives back its exact value."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from catalog import Offer
from harness.approval import Policy, allowing
from harness.harness import Harness
from harness.limits import ShownLimits
from harness.offers import offer_of
from harness.setup import Setup
from harness.store.memory import MemoryStore
from sandbox import Pool
from tests.harness.watched import Watched

NAMES = ("a.py", "b.py", "pkg/c.py")
LEVELS = (
    ShownLimits(),
    ShownLimits(
        shown_value_lines=24, shown_value_bytes=1_600, shown_turn_bytes=6_000, relaxed_turn_bytes=8_000, small_file_lines=50,
        small_file_bytes=3_000, output_bytes=1_200, hits_bytes=1_200,
    ),
)  # fmt: skip
Block: TypeAlias = tuple[int, int | None]  # which, and which of its lines is edited


def block(which: int, edited: int | None = None) -> list[str]:
    """Five to eleven lines."""
    lines = [f"    result_{which}_{n} = compute(value_{which}, {n})" if n % 6 != 4 else "" for n in range(5 + which % 7)]
    lines[0] = f"def function_{which}(value_{which}):" if which != 3 else "# a\u202eb: direction marks are shown as what they are"
    if edited is not None:
        lines[edited % len(lines)] = f"    edited_{which}_{edited} = True  # by somebody else"
    return lines


def text_of_blocks(blocks: list[Block]) -> str:
    return "".join(f"{line}\n" for which, edited in blocks for line in block(which, edited))


@dataclass(frozen=True)
class Step:
    """`script`: run it, with the handle that was given last for HANDLE. `files`: written behind our back. `forget`: places of turns."""

    script: str = ""
    files: tuple[tuple[str, str], ...] = ()
    forget: frozenset[int] = frozenset()


blocks = st.tuples(st.integers(0, 7), st.none() | st.integers(0, 10))
contents = st.lists(blocks, min_size=2, max_size=7).map(text_of_blocks)
names = st.sampled_from([NAMES[0], *NAMES])
spans = st.tuples(st.integers(1, 45), st.integers(1, 30)).map(lambda pair: (pair[0], pair[0] + pair[1]))
FORMS = (
    "`${n}:${l}`",
    "`${String(n).padStart(6)}\\t${l}`",
    "`L${n}: ${l}`",
    "`${n}${n % 4 ? '-' : ':'}${l}`",
    "`a.py:${n}:${l}`",
    "l",
)


@st.composite
def shows(draw: st.DrawFn) -> str:
    """A statement that shows something."""
    name, (first, last) = draw(names), draw(spans)
    read = f"await tools.files.read({{ path: '{name}' }})"
    page = f"await tools.files.read({{ path: '{name}', offset: {first}, limit: {last - first} }})"
    lines = f"({read}).text.split('\\n').slice({first - 1}, {last})"
    form, shift = draw(st.sampled_from(FORMS)), draw(st.sampled_from([0, 90]))
    other = draw(names)
    value = draw(
        st.sampled_from(
            [
                read, page, f"({read}).text", f"({page}).text", f"{lines}.join('\\n')", f"['{draw(st.sampled_from('xyz'))} first', ...{lines}, 'the last'].join('\\n')",
                f"await tools.files.read({{ path: '{name}', ranges: [[1, {first}], [{last}, {last + 12}]] }})",
                f"[{read}, {page.replace(name, other)}]",
                f"{lines}.map((l, i) => {{ const n = i + {first + shift}; return {form} }}).join('\\n')",
                f"{{ path: '{name}', lines: {lines} }}", f"{{ name: '{name}', text: {lines}.join('\\n') }}", "{ n: [1, 2.5, null, 'x', true], deep: { a: [] } }",
                f"(await tools.shell.run({{ command: 'sed -n {first},{last}p {name}' }})).output",
                f"await tools.shell.run({{ command: 'cat -n {name}' }})",
                f"await tools.shell.run({{ command: 'grep -n result_{first % 8} {name}' }})",
                f"(await tools.shell.run({{ command: 'grep -n -C3 function_ {name} {other}' }})).output",
                f"await tools.search.grep({{ pattern: 'result_{first % 8}', context: 2 }})",
                "await recall(HANDLE)",
            ]
        )
    )  # fmt: skip
    options = draw(
        st.sampled_from(["", "", "", ", { lines: 7 }", ", { max_bytes: 700 }", ", { as: 'text' }", ", { as: 'output' }"])
    )
    shown = f"show({value}{options});"
    if draw(st.integers(0, 9)) == 0:
        shown = f"console.log({lines}.join('\\n')); console.warn('careful');"
    return f"try {{ {shown * draw(st.sampled_from([1, 1, 1, 2]))} }} catch (e) {{ show(e.message) }}"


@st.composite
def scripts(draw: st.DrawFn) -> Step:
    name, (which, edited) = draw(names), draw(blocks)
    old = block(which)[1]
    edits = [
        "", "", "", f"await tools.patch.write({{ path: '{name}', text: {text_of_blocks([(which, edited)] * 3)!r}, overwrite: true }});",
        f"try {{ await tools.patch.replace({{ path: '{name}', old: '{old}', new: '{old}  # changed' }}) }} catch (e) {{ }}",
    ]  # fmt: skip
    parts = [*draw(st.lists(shows(), min_size=1, max_size=3)), draw(st.sampled_from(edits))]
    ends = [
        "",
        "",
        "",
        f"return (await tools.files.read('{name}')).text",
        "throw new Error('enough')",
        "await relax('to see more')",
    ]
    return Step("\n".join([*draw(st.permutations(parts)), draw(st.sampled_from(ends))]))


behind_our_back = st.tuples(names, contents).map(lambda file: Step(files=(file,)))
forgetting = st.frozensets(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=1, max_size=2).map(lambda turns: Step(forget=turns))
broken = st.sampled_from(["  ", "const = 1", "await tools.files.raed('a.py')", "null.x"]).map(Step)
KINDS = (*[scripts()] * 5, *[forgetting] * 3, behind_our_back, broken)


@st.composite
def plans(draw: st.DrawFn, most: int) -> list[Step]:
    """At first two scripts, so that there is something to forget."""
    kinds = draw(st.lists(st.integers(0, len(KINDS) - 1), min_size=2, max_size=most))
    return [draw(KINDS[kind]) for kind in (0, 0, *kinds)]


repositories = st.tuples(contents, contents, contents)


class Bench:
    """One pool and one offer for all examples."""

    def __init__(self, portal: BlockingPortal, pool: Pool) -> None:
        self.portal = portal
        self.pool = pool
        self.offer = packs()

    def converse(self, files: tuple[str, ...], plan: list[Step], limits: ShownLimits) -> Watched:
        return self.portal.call(partial(converse, self.pool, self.offer, files, plan, limits=limits))


async def converse(pool: Pool, offer: Offer, files: tuple[str, ...], plan: list[Step], *, limits: ShownLimits) -> Watched:
    store = MemoryStore()
    setup = Setup(shown=limits, policy=Policy(allowing(["**"])))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pkg").mkdir()
        write(root, tuple(zip(NAMES, files, strict=True)))
        harness = Harness(offer=offer, root=root, pool=pool, store=store, setup=setup)
        async with harness, harness.session() as session:
            watched = Watched(session, store, root, limits)
            for step in plan:
                write(root, step.files)
                if step.script:
                    last = list(watched.values)[-1:] or ["T1.1"]
                    await watched.run(step.script.replace("HANDLE", f"'{last[0]}'"))
                if step.forget and (turns := [turn for turn, _ in session.transcript()]):
                    await watched.forget({turns[place % len(turns)] for place in step.forget} | {99})
            await watched.check_recall()
    return watched


def write(root: Path, files: tuple[tuple[str, str], ...]) -> None:
    for name, text in files:
        (root / name).write_text(text)


def packs() -> Offer:
    return offer_of(["files", "patch", "shell", "search"], None)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Pool(isolation="in_process")) as pool:
        yield Bench(portal, pool)


@settings(max_examples=200, deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
@given(repositories, plans(5), st.sampled_from(LEVELS))
def test_what_is_referred_to_is_in_view_and_every_handle_gives_its_value(
    bench: Bench, files: tuple[str, ...], plan: list[Step], limits: ShownLimits
) -> None:
    watched = bench.converse(files, plan, limits)
    event(f"references: {min(watched.references, 9)}")
    event(f"mended: {min(watched.mended, 3)}")


@pytest.mark.slow
@settings(max_examples=6_000, deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
@given(repositories, plans(12), st.sampled_from(LEVELS))
def test_the_same_over_thousands_of_longer_conversations(
    bench: Bench, files: tuple[str, ...], plan: list[Step], limits: ShownLimits
) -> None:
    bench.converse(files, plan, limits)


WHOLE = "show(await tools.files.read('a.py'));"
TALK = [
    Step(f"{WHOLE} {WHOLE}"),
    Step("const page = await tools.files.read('a.py'); show(page.text.split('\\n').slice(5, 25).join('\\n')); return page"),
    Step(
        "show((await tools.shell.run({ command: 'sed -n 3,30p a.py' })).output); show(await tools.shell.run({ command: 'cat -n b.py' }))"
    ),
    Step(forget=frozenset({0})),
    Step("await tools.patch.replace({ path: 'a.py', old: 'result_1_2', new: 'renamed' }); " + WHOLE),
    Step("show(await tools.search.grep({ pattern: 'result_2', context: 3 })); show(await recall('T1.1'))"),
    Step(files=(("b.py", text_of_blocks([(1, None), (2, 3), (5, None)])),)),
    Step("console.log((await tools.files.read('b.py')).text); throw new Error('enough')"),
    Step(forget=frozenset({0, 1, 2})),
    Step(WHOLE + "await relax('to see more')"),
]


@pytest.mark.anyio
async def test_the_same_holds_in_a_real_worker() -> None:
    files = tuple(
        text_of_blocks(list(each)) for each in ([(0, None), (1, None), (2, None), (1, None)], [(2, None), (1, 3)], [(4, None)])
    )
    async with Pool() as pool:
        watched = await converse(pool, packs(), files, TALK, limits=ShownLimits())
    assert watched.references >= 8 and watched.mended >= 3
