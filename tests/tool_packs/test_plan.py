"""The plan of a session: set whole, checked, and what changed told."""

from pathlib import Path

import pytest

from catalog import Host, ToolProblem, pack
from tool_packs import plan as module
from tool_packs.plan import Current, Plan, Status, Step, get, update

pytestmark = pytest.mark.anyio


def steps(*rows: tuple[str, Status]) -> list[Step]:
    return [Step(step=text, status=status) for text, status in rows]


async def test_a_new_plan_is_empty() -> None:
    assert await get(Plan()) == Current(steps=[], explanation=None, pending=0, in_progress=0, completed=0, changes=[])


async def test_an_update_sets_the_whole_plan_with_counts() -> None:
    plan = Plan()
    given = steps(("read", "completed"), ("write", "in_progress"), ("test", "pending"), ("ship", "pending"))
    made = await update(plan, given, explanation="begin")
    assert made == Current(
        steps=given,
        explanation="begin",
        pending=2,
        in_progress=1,
        completed=1,
        changes=["added: read (completed)", "added: write (in_progress)", "added: test", "added: ship"],
    )
    assert await get(plan) == made


async def test_an_update_tells_what_changed() -> None:
    plan = Plan()
    await update(plan, steps(("a", "completed"), ("b", "in_progress"), ("c", "pending"), ("d", "pending"), ("e", "completed")))
    made = await update(plan, steps(("b", "completed"), ("c", "in_progress"), ("new", "pending"), ("e", "pending")))
    assert made.changes == [
        "finished: b",
        "started: c",
        "added: new",
        "put back: e",
        "removed: a",
        "removed: d (not completed)",
    ]
    assert (await update(plan, made.steps)).changes == []


async def test_steps_with_the_same_text_are_matched_in_order() -> None:
    plan = Plan()
    await update(plan, steps(("test", "completed"), ("test", "pending")))
    assert (await update(plan, steps(("test", "completed"), ("test", "completed")))).changes == ["finished: test"]
    assert (await update(plan, steps(("test", "completed")))).changes == ["removed: test"]


async def test_an_empty_list_clears_the_plan() -> None:
    plan = Plan()
    await update(plan, steps(("a", "pending")))
    assert (await update(plan, [])).changes == ["removed: a (not completed)"]
    assert (await get(plan)).steps == []


async def test_white_space_in_a_step_is_tidied() -> None:
    assert (await update(Plan(), steps(("  read \n the   file ", "pending")))).steps == steps(("read the file", "pending"))


BAD = [
    (
        steps(("a", "in_progress"), ("b", "pending"), ("c", "in_progress")),
        None,
        "two_in_progress",
        '2 steps are in_progress: 1 "a", 3 "c"; one at a time',
        "leave one in_progress; make the others pending or completed",
    ),
    (
        steps(("a", "pending"), (" \n", "pending")),
        None,
        "empty_step",
        "step 2 of 2 has no text",
        "say in a few words what is to be done",
    ),
    (
        steps(("x" * 301, "pending")),
        None,
        "step_too_long",
        f"step 1 ({'x' * 40}…) has 301 characters; 300 is the most",
        "shorten it, or put the details in explanation",
    ),
    (
        steps(*[(f"s{number}", "pending") for number in range(51)]),
        None,
        "too_many_steps",
        "the plan has 51 steps; 50 is the most",
        "join small steps into larger ones",
    ),
    (
        steps(("a", "pending")),
        "x" * 2_001,
        "explanation_too_long",
        "explanation has 2,001 characters; 2,000 is the most",
        "shorten it",
    ),
]


@pytest.mark.parametrize(("given", "explanation", "code", "message", "hint"), BAD, ids=[row[2] for row in BAD])
async def test_a_bad_plan_is_refused_and_the_old_one_stays(
    given: list[Step], explanation: str | None, code: str, message: str, hint: str
) -> None:
    plan = Plan()
    before = await update(plan, steps(("old", "pending")))
    with pytest.raises(ToolProblem) as caught:
        await update(plan, given, explanation=explanation)
    assert (caught.value.code, caught.value.message, caught.value.hint) == (code, message, hint)
    assert await get(plan) == before


async def test_the_pack_opens_a_plan_of_its_own_for_each_session(tmp_path: Path) -> None:
    made = pack(module)
    assert [tool.full_name for tool in made.tools] == ["plan.update", "plan.get"]
    async with made.opened({}, Host(root=tmp_path)) as one, made.opened({}, Host(root=tmp_path)) as other:
        await update(one, steps(("a", "pending")))
        assert (await get(other)).steps == []


def test_effects_and_arguments_as_scripts_give_them() -> None:
    named = {tool.name: tool for tool in pack(module).tools}
    assert named["update"].effects({"steps": []}).writes == ("plan:current",)
    assert named["get"].effects({}).reads == ("plan:current",)
    parsed = named["update"].parse({"steps": [{"step": "a", "status": "pending"}]})
    assert parsed["steps"] == steps(("a", "pending"))
    with pytest.raises(ValueError, match="pending"):
        named["update"].parse({"steps": [{"step": "a", "status": "done"}]})
