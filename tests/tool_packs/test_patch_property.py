"""Random edits of random trees, written as patches, give exactly the tree that was meant; a patch that fails changes no byte.

The renderer and the search in this file are written naively and share nothing with the pack: they are what it is judged by.
"""

import random
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from catalog import ToolProblem
from tool_packs import patch
from tool_packs.patch import Patch

pytestmark = pytest.mark.anyio

WORDS = [
    "",
    "",
    "}",
    "    return x",
    "\tif y:",
    "élan – “vital”",
    "日本語",
    "a  b ",
    "+plus",
    "-minus",
    " space",
    "@@ at",
    "# x",
    "***",
    "\x0c",
]
LOOSER: list[Callable[[str], str]] = [lambda line: line, str.rstrip, str.strip]


@dataclass
class Row:
    text: str
    ending: str  # of the old text, or "?" for one that is added: any ending will do in a file that mixes them
    op: str = " "  # " ", "-" or "+"


@dataclass
class Plan:
    """One file before and after."""

    path: str
    rows: list[Row]
    bom: bool
    to: str | None = None
    extra: list[str] = field(default_factory=list)

    def before(self) -> bytes:
        text = "".join(row.text + row.ending for row in self.rows if row.op != "+")
        return (("\ufeff" if self.bom else "") + text).encode()


def a_file(rng: random.Random, path: str) -> Plan:
    size = rng.choice([0, 1, 2, 5, 12, 40])
    kind = rng.choice(["\n", "\n", "\r\n", "mixed"])
    rows = [
        Row(
            rng.choice(WORDS) + (str(rng.randrange(6)) if rng.random() < 0.6 else ""),
            rng.choice(["\n", "\r\n"]) if kind == "mixed" else kind,
        )
        for _ in range(size)
    ]
    if rows and rng.random() < 0.3:
        rows[-1].text += "end"  # a last line that is blank and has no ending would be no line
        rows[-1].ending = ""
    return Plan(path, rows, bom=rng.random() < 0.1)


def edited(rng: random.Random, plan: Plan) -> None:
    """Mark some rows as removed and put new ones between them."""
    rows = list[Row]()
    for row in plan.rows:
        if rng.random() < 0.12:
            rows += [Row(rng.choice(WORDS) + "new", "?", "+") for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.15:
            row.op = "-"
        rows.append(row)
    if rng.random() < 0.2 or all(row.op == " " for row in rows):
        rows += [Row(rng.choice(WORDS) + "tail", "?", "+") for _ in range(rng.randint(1, 2))]
    plan.rows = rows


def first_match(lines: list[str], wanted: list[str], start: int) -> int | None:
    for key in LOOSER:
        keys = [key(line) for line in wanted]
        for place in range(start, len(lines) - len(wanted) + 1):
            if [key(line) for line in lines[place : place + len(wanted)]] == keys:
                return place
    return None


def hunks(rng: random.Random, plan: Plan) -> list[str]:
    """With as little context as finds the right place, and now and then more, an anchor, or the end marker."""
    rows, old = plan.rows, [row.text for row in plan.rows if row.op != "+"]
    number = [sum(row.op != "+" for row in rows[:index]) for index in range(len(rows) + 1)]  # old lines before each row
    made, index, cursor = list[str](), 0, 0  # cursor in old lines
    while index < len(rows):
        if rows[index].op == " ":
            index += 1
            continue
        end = index
        while end < len(rows) and any(row.op != " " for row in rows[end : end + rng.choice([1, 2, 4])]):
            end += 1
        first = index
        while first > 0 and index - first < rng.choice([0, 1, 3]) and number[first] > cursor:
            first -= 1
        at_end = end == len(rows)
        while True:
            wanted = [row.text for row in rows[first:end] if row.op != "+"]
            end_marker = at_end and bool(wanted)
            if not wanted and at_end and (not old or old[-1]):
                break  # lines that are only added go to the end, but above a blank last line
            if wanted and (end_marker or first_match(old, wanted, cursor) == number[first]):
                break
            if first > 0 and number[first] > cursor:
                first -= 1
            elif not at_end:
                end += 1
                at_end = end == len(rows)
            else:
                break  # right behind the hunk before, with no old line left: they go on in that hunk
        if not wanted and old and not old[-1]:
            made += [row.op + row.text for row in rows[first:end]]
            break
        body = [row.op + row.text for row in rows[first:end]]
        anchors = [row for row in range(cursor, number[first]) if old[row].strip() and not old[row].rstrip().endswith("@@")]
        header = "@@"
        if wanted and not end_marker and anchors and rng.random() < 0.4:
            anchor = rng.choice(anchors)
            if first_match(old, [old[anchor]], cursor) == anchor and first_match(old, wanted, anchor + 1) == number[first]:
                header = "@@ " + old[anchor]
        if wanted and header == "@@" and not end_marker and rng.random() < 0.15:
            loose = [row + "  " if row[0] in " -" else row for row in body]
            texts = [row[1:] for row in loose if row[0] != "+"]
            if first_match(old, texts, cursor) == number[first]:
                body = loose
        body = ["" if row == " " and rng.random() < 0.5 else row for row in body]
        made += [header, *body]
        if end_marker:
            made.append("*** End of File")
        if wanted:
            cursor = number[end]
        index = end
    return made


def after(plan: Plan, data: bytes) -> None:
    """Judge the new bytes of a file row by row."""
    text = data.decode()
    if plan.bom:
        assert text.startswith("\ufeff")
        text = text[1:]
    wanted = [row for row in plan.rows if row.op != "-"]
    endings = {row.ending for row in plan.rows if row.op != "+"} - {""}
    here = 0
    for index, row in enumerate(wanted):
        assert text.startswith(row.text, here), (plan.path, index, row.text, text[here : here + 40])
        here += len(row.text)
        allowed = {row.ending}
        if row.ending == "?":
            allowed = endings or {"\n"}
        elif row.ending == "" and index + 1 < len(wanted):
            allowed = endings or {"\n"}  # no longer the last line
        ending = "\r\n" if text.startswith("\r\n", here) else "\n" if text.startswith("\n", here) else ""
        assert ending in allowed, (plan.path, index, row, ending)
        here += len(ending)
    assert here == len(text)


@dataclass
class Case:
    patch: str
    plans: list[Plan]
    deleted: list[str]
    added: dict[str, bytes]


def a_case(rng: random.Random, top: Path) -> Case:
    rows, plans, deleted, added = list[str](), list[Plan](), list[str](), dict[str, bytes]()
    for number in range(rng.randint(1, 4)):
        path = f"{rng.choice(['', 'sub/', 'ünï/deep er/'])}f{number}"
        target = top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        kind = rng.random()
        if kind < 0.15:
            lines = [rng.choice(WORDS) for _ in range(rng.randint(0, 5))]
            rows += [f"*** Add File: {path}", *("+" + line for line in lines)]
            added[path] = "".join(line + "\n" for line in lines).encode()
            continue
        plan = a_file(rng, path)
        target.write_bytes(plan.before())
        target.chmod(rng.choice([0o644, 0o755, 0o600]))
        if kind < 0.25:
            rows.append(f"*** Delete File: {path}")
            deleted.append(path)
            continue
        rows.append(f"*** Update File: {path}")
        if rng.random() < 0.2:
            plan.to = f"moved/{number}/{'x' * rng.randint(1, 3)}"
            rows.append(f"*** Move to: {plan.to}")
        if plan.to is None or rng.random() < 0.8:
            edited(rng, plan)
            rows += hunks(rng, plan)
        plans.append(plan)
    text = "\n".join(["*** Begin Patch", *rows, "*** End Patch"])
    wrap = rng.choice(["{}", "{}", "{}\n", "<<'EOF'\n{}\nEOF\n", "```\n{}\n```"])
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return Case(wrap.replace("{}", text), plans, deleted, added)


def corrupted(rng: random.Random, case: Case) -> str:
    """The same patch with one thing in it that cannot be done."""
    rows = case.patch.replace("\r", "").split("\n")
    end = max(index for index, row in enumerate(rows) if row == "*** End Patch")
    inside = [index for index, row in enumerate(rows[:end]) if row[:1] in (" ", "-") and not row.startswith("---")]
    bad = [
        "*** Delete File: nowhere",
        "*** Update File: no/where\n@@\n-x",
        "*** Frob File: x",
        "*** Update File: f0/../../out\n@@\n+x",
    ]
    if case.plans:
        bad.append(f"*** Add File: {case.plans[-1].to or case.plans[-1].path}\n+again")
    if inside and rng.random() < 0.6:
        rows[rng.choice(inside)] = rng.choice([" ", "-"]) + "☠ this line is in no file"
    else:
        rows.insert(end, rng.choice(bad))
    return "\n".join(rows)


def snapshot(top: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(top)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes() if path.is_file() else b"folder")
        for path in top.rglob("*")
    }


async def examples(top: Path, seed: int, count: int) -> tuple[int, int]:
    made = failed = 0
    for number in range(count):
        rng = random.Random(f"{seed}-{number}")
        here = top / str(number)
        here.mkdir()
        case = a_case(rng, here)
        before = snapshot(here)
        work = Patch(here)
        try:
            if rng.random() < 0.5:
                with pytest.raises(ToolProblem):
                    await patch.apply(work, corrupted(rng, case))
                assert snapshot(here) == before
                failed += 1
            applied = await patch.apply(work, case.patch)
            left = snapshot(here)
            for plan in case.plans:
                mode, data = left.pop(plan.to or plan.path)
                assert mode == before[plan.path][0]
                after(plan, data)
                if plan.to:
                    assert plan.path not in left
            for path, data in case.added.items():
                assert left.pop(path)[1] == data
            assert not [path for path, (_, data) in left.items() if data != b"folder"]
            assert applied.added == sum(row.op == "+" for plan in case.plans for row in plan.rows) + sum(
                data.count(b"\n") for data in case.added.values()
            )
            made += 1
        except BaseException:
            print(f"example {seed}-{number}:\n{case.patch}")
            raise
        finally:
            work.root.close()
    return made, failed


async def test_random_edits_arrive_exactly_and_failing_patches_change_nothing(tmp_path: Path, anyio_backend_name: str) -> None:
    seed = {"asyncio": 1, "trio": 2}[anyio_backend_name]
    made, failed = await examples(tmp_path, seed, 600)
    assert made == 600
    assert failed > 200


@pytest.mark.slow
async def test_many_more_random_edits_arrive_exactly(tmp_path: Path, anyio_backend_name: str) -> None:
    seed = {"asyncio": 3, "trio": 4}[anyio_backend_name]
    made, failed = await examples(tmp_path, seed, 10_000)
    assert made == 10_000
    assert failed > 4_000
