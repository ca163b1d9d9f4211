"""Ask another model, at once or as a task that goes on while scripts come and go.

[packs.agents]
base_url = "https://api.example.com/v1"   # OpenAI-compatible; or api = "anthropic" with its own address
model = "some-model"
key_variable = "EXAMPLE_API_KEY"          # the name of the variable, not the key
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, ToolProblem, tool
from tool_packs.agents_resource import Agents, Answer, Settings
from tool_packs.schema_answers import judge_of
from tool_packs.tasks import Status, Task

WAIT_SECONDS_MAX = 240  # of one call of done: less than a turn may take
PROMPT_CHARS = 80


class Problem(BaseModel):
    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    hint: str


class TaskState(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    status: Status
    prompt: str = Field(description="its beginning")
    started_at: str
    seconds: float = Field(description="since it was started, or that it took")


class TaskResult(TaskState):
    answer: Answer | None
    problem: Problem | None = Field(description="why it failed")


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Agents]:
    async with Agents(settings, host).opened() as agents:
        yield agents


# ask and start cost money and send words to somebody else's machine: a person approves each.
@tool(effect="external", reads=["model:ask"], approval=True, timeout_seconds=300)
async def ask(
    agents: Agents,
    prompt: str,
    *,
    system: str | None = None,
    model: str | None = None,
    max_tokens: int = 2_000,
    temperature: float | None = None,
    schema: dict[str, Any] | None = None,
) -> Answer:
    """Ask another model and wait for its answer. It sees the prompt and nothing else.

    Args:
        prompt: all that the model needs to know, the question last.
        system: who the model is and how it answers.
        model: another model than the configured one.
        max_tokens: the longest answer.
        temperature: from 0 (always the same) to 2; the server's own when left out.
        schema: a JSON Schema; the answer then has a value that fits it. pattern and outside references are not taken.
    """
    asked = agents.asked(prompt, system, model, max_tokens, temperature)
    return await agents.answer(asked, schema, timeout_seconds=agents.settings.timeout_seconds)


@tool(effect="external", reads=["model:ask"], approval=True)
async def start(
    agents: Agents,
    prompt: str,
    *,
    system: str | None = None,
    model: str | None = None,
    max_tokens: int = 2_000,
    temperature: float | None = None,
    schema: dict[str, Any] | None = None,
) -> TaskState:
    """Start asking another model and go on; done(id) gives the answer, in this script or a later one.

    Args:
        prompt: all that the model needs to know, the question last.
        system: who the model is and how it answers.
        model: another model than the configured one.
        max_tokens: the longest answer.
        temperature: from 0 (always the same) to 2; the server's own when left out.
        schema: a JSON Schema; the answer then has a value that fits it. pattern and outside references are not taken.
    """
    asked = agents.asked(prompt, system, model, max_tokens, temperature)
    agents.model()  # what is not configured is told now, and not by a task that fails later
    if schema is not None:
        judge_of(schema)
    work = partial(agents.answer, asked, schema, timeout_seconds=agents.settings.task_timeout_seconds)
    return _state(agents, agents.tasks.start(work, label=" ".join(prompt.split())[:PROMPT_CHARS]))


# The four below touch a task in this process only. None writes its key: cancel must not wait for a done that waits.
@tool(effect="external", reads=["task:{id}"], polled=True)
async def status(agents: Agents, id: str) -> TaskState:
    """Say how a started task is doing.

    Args:
        id: what start gave.
    """
    return _state(agents, agents.tasks.get(id))


@tool(effect="external", reads=["task:{id}"], timeout_seconds=WAIT_SECONDS_MAX + 60, polled=True)
async def done(agents: Agents, id: str, *, wait_seconds: float = 0) -> TaskResult:
    """Give the answer of a started task when it is finished; answer is null while it is not.

    Args:
        id: what start gave.
        wait_seconds: how long to wait for it, at most 240.
    """
    if not 0 <= wait_seconds <= WAIT_SECONDS_MAX:
        raise ToolProblem("bad_argument", f"wait_seconds is {wait_seconds:g}", hint=f"give a number from 0 to {WAIT_SECONDS_MAX}")
    task = await agents.tasks.wait(id, wait_seconds)
    why = task.problem
    problem = None if why is None else Problem(code=why.code, message=why.message, hint=why.hint)
    return TaskResult(**_state(agents, task).model_dump(), answer=task.result, problem=problem)


@tool(effect="external", reads=["task:{id}"])
async def cancel(agents: Agents, id: str) -> TaskState:
    """End a started task; one that is finished stays as it is.

    Args:
        id: what start gave.
    """
    return _state(agents, agents.tasks.cancel(id))


@tool(effect="external", reads=["task:"], polled=True)
async def list_(agents: Agents) -> list[TaskState]:
    """List the started tasks, oldest first; finished ones leave some time after they were read."""
    return [_state(agents, task) for task in agents.tasks.all()]


def _state(agents: Agents, task: Task[Answer]) -> TaskState:
    until = agents.host.clock() if task.ended_at is None else task.ended_at
    return TaskState(
        id=task.id,
        status=task.status,
        prompt=task.label,
        started_at=datetime.fromtimestamp(task.started_at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        seconds=round(max(0.0, until - task.started_at), 1),
    )
