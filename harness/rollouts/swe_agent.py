"""Trajectories of SWE-agent: one JSON document; a step is a thought, an action and an observation, so it says three things.

The messages as the model got them (`history`) stay in the document: they say the same again, but for the task, which is read
from there.
"""

from collections.abc import Mapping
from typing import Any, Final

from harness.rollouts.meaning import About, Format, Heard, Reading
from harness.rollouts.naming import paths_in_command
from harness.rollouts.told import joined, listed, members, size, text_of


def _kind(record: Any) -> str:
    told = members(record)
    return "step" if "action" in told and "observation" in told else "document" if _is_document(record) else "record"


def _readings(kind: str, record: Any) -> tuple[Reading, ...]:
    if kind == "document":
        return (Reading(role="user", text=_task(members(record))),)
    if kind != "step":
        return ()
    told = members(record)
    action, observation = text_of(told.get("action")).strip(), text_of(told.get("observation"))
    thought = text_of(told.get("thought")) or text_of(told.get("response"))
    found = [Reading(role="assistant", text=thought)] if thought else []
    if action:
        found.append(
            Reading(role="call", tool="bash", arguments={"command": action}, text=action, paths=paths_in_command(action))
        )
    return (*found, Reading(role="output", tool="bash", text=observation, bytes=size(observation)))


def _task(document: Mapping[str, Any]) -> str:
    for message in map(members, listed(document.get("history"))):
        if message.get("role") == "user" and not message.get("is_demo"):
            return joined(message.get("content"))
    return ""


def _is_document(value: Any) -> bool:
    told = members(value)
    return "trajectory" not in told and "info" in told and ("history" in told or "environment" in told)


def _is_whole(value: Any) -> bool:
    told = members(value)
    steps = told.get("trajectory")
    return isinstance(steps, list) and ("info" in told or (bool(steps) and _kind(steps[0]) == "step"))


def _about(record: Any) -> About:
    """Neither id nor model stands in it; `environment` is the name of a container, the same for many."""
    return About()


def _heard(record: Any) -> Heard | None:
    return Heard(_task(members(record))) if _kind(record) == "document" else None


def _at(record: Any) -> float | None:
    return None


SWE_AGENT: Final = Format(
    name="swe_agent", is_record=lambda record: False, kind=_kind, known=lambda kind: kind in ("step", "document"),
    readings=_readings, about=_about, heard=_heard, at=_at, list_name="trajectory", is_document=_is_whole,
)  # fmt: skip
