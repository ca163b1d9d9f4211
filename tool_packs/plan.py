"""Keep a plan for the session: a list of steps, of which at most one is in progress.

The plan is state of the session and of nothing else: no file, no other turn's memory. Every update gives the whole list; what
changed is worked out here and told.
"""

from collections import Counter
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from catalog import ToolProblem, tool

_STEPS_MOST = 50  # a plan that nobody reads to its end is none
_STEP_CHARACTERS_MOST = 300
_EXPLANATION_CHARACTERS_MOST = 2_000

Status: TypeAlias = Literal["pending", "in_progress", "completed"]


class Step(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    step: str = Field(description="what is to be done, in a few words")
    status: Status


class Current(BaseModel):
    model_config = ConfigDict(frozen=True)

    steps: list[Step]
    explanation: str | None
    pending: int
    in_progress: int
    completed: int
    changes: list[str] = Field(description="what the last update changed")


class Plan:
    """The steps as they stand; empty when a session begins."""

    def __init__(self) -> None:
        self.current = _counted([], None, [])


async def open() -> Plan:
    return Plan()


@tool(writes=["plan:current"])
async def update(plan: Plan, steps: list[Step], *, explanation: str | None = None) -> Current:
    """Set the whole plan: every step in order, with its status.

    Args:
        steps: all steps, also those that are completed; at most one is in_progress. An empty list clears the plan.
        explanation: why the plan is as it is or why it changed.
    """
    tidy = [Step(step=" ".join(each.step.split()), status=each.status) for each in steps]
    _check(tidy, explanation)
    plan.current = _counted(tidy, explanation, _changes(plan.current.steps, tidy))
    return plan.current


@tool(reads=["plan:current"])
async def get(plan: Plan) -> Current:
    """Give the plan as it stands, with how many steps are pending, in progress and completed."""
    return plan.current


def _counted(steps: list[Step], explanation: str | None, changes: list[str]) -> Current:
    counts = Counter(each.status for each in steps)
    return Current(
        steps=steps, explanation=explanation, changes=changes, pending=counts["pending"], in_progress=counts["in_progress"],
        completed=counts["completed"],
    )  # fmt: skip


def _check(steps: list[Step], explanation: str | None) -> None:
    if len(steps) > _STEPS_MOST:
        raise ToolProblem(
            "too_many_steps",
            f"the plan has {len(steps)} steps; {_STEPS_MOST} is the most",
            hint="join small steps into larger ones",
            data={"steps": len(steps), "most": _STEPS_MOST},
        )
    for number, each in enumerate(steps, 1):
        if not each.step:
            said = f"step {number} of {len(steps)} has no text"
            raise ToolProblem("empty_step", said, hint="say in a few words what is to be done", data={"step": number})
        if len(each.step) > _STEP_CHARACTERS_MOST:
            said = f"step {number} ({each.step[:40]}…) has {len(each.step):,} characters; {_STEP_CHARACTERS_MOST} is the most"
            raise ToolProblem("step_too_long", said, hint="shorten it, or put the details in explanation", data={"step": number})
    under_way = [(number, each.step) for number, each in enumerate(steps, 1) if each.status == "in_progress"]
    if len(under_way) > 1:
        named = ", ".join(f'{number} "{text[:40]}"' for number, text in under_way)
        raise ToolProblem(
            "two_in_progress",
            f"{len(under_way)} steps are in_progress: {named}; one at a time",
            hint="leave one in_progress; make the others pending or completed",
            data={"steps": [number for number, _ in under_way]},
        )
    if explanation is not None and len(explanation) > _EXPLANATION_CHARACTERS_MOST:
        said = f"explanation has {len(explanation):,} characters; {_EXPLANATION_CHARACTERS_MOST:,} is the most"
        raise ToolProblem("explanation_too_long", said, hint="shorten it", data={"characters": len(explanation)})


def _changes(before: list[Step], now: list[Step]) -> list[str]:
    """Steps are known by their text; of two with the same text the first goes with the first."""
    old = [each.model_copy() for each in before]
    told: list[str] = []
    for each in now:
        match = next((known for known in old if known.step == each.step), None)
        if match is None:
            told.append(f"added: {each.step}" + ("" if each.status == "pending" else f" ({each.status})"))
            continue
        old.remove(match)
        if match.status != each.status:
            word = {"completed": "finished", "in_progress": "started", "pending": "put back"}[each.status]
            told.append(f"{word}: {each.step}")
    return told + [f"removed: {gone.step}" + (" (not completed)" if gone.status != "completed" else "") for gone in old]
