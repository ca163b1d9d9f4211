"""What the tools of the agents pack share: settings, the configured model, and the tasks that outlive a script."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import anyio
from pydantic import BaseModel, ConfigDict, Field, field_validator

from catalog import Host, ToolProblem
from tool_packs.addresses import parse
from tool_packs.models import Api, Asked, Model, Reply, Turn, Wire
from tool_packs.schema_answers import correction, instruction, judge_of, value_of
from tool_packs.tasks import Tasks


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = ""
    model: str = ""
    models: list[str] = []  # others that a script may name; empty: any
    key_variable: str = ""
    api: Api = "openai"
    max_tokens: int = Field(32_000, ge=1)  # the most that one call may ask for
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # newer OpenAI models want the second
    timeout_seconds: float = Field(240, gt=0)  # ask, with its retries
    task_timeout_seconds: float = Field(1_800, gt=0)  # start: thorough models take ten minutes and more
    at_once: int = Field(4, ge=1, le=64)  # tasks; the rest wait in order

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, told: str) -> str:
        try:
            if told:
                parse(told)
        except ToolProblem as problem:
            raise ValueError(problem.message) from None
        return told


class Usage(BaseModel):
    model_config = ConfigDict(frozen=True)

    input: int
    output: int


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    text: str
    value: Any = Field(description="with a schema: the JSON value that fits it; otherwise null")
    model: str
    usage: Usage = Field(description="tokens, retries included")
    stop: str = Field(description="end; length: cut at max_tokens; refused; or the server's own word")


class Agents:
    """The model and the tasks; asking needs no more than this, tasks need `opened`."""

    def __init__(self, settings: Settings, host: Host, *, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        self.settings = settings
        self.host = host
        self._sleep = sleep
        self._model: Model | None = None
        self._tasks: Tasks[Answer] | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Agents"]:
        """Tasks live inside this block: leaving it cancels them."""
        try:
            async with anyio.create_task_group() as group:
                self._tasks = Tasks(group, at_once=self.settings.at_once, clock=self.host.clock)
                yield self
                group.cancel_scope.cancel()
        finally:
            self._tasks = None
            with anyio.CancelScope(shield=True):
                await self.aclose()

    async def aclose(self) -> None:
        if self._model is not None:
            await self._model.aclose()

    @property
    def tasks(self) -> Tasks[Answer]:
        if self._tasks is None:
            raise RuntimeError("tasks need `async with agents.opened()`, as open() does it")
        return self._tasks

    def asked(self, prompt: str, system: str | None, model: str | None, max_tokens: int, temperature: float | None) -> Asked:
        """Judged before anything is sent or queued."""
        settings = self.settings
        if not settings.base_url or not (settings.model or model):
            raise ToolProblem(
                "not_configured",
                "no model is set",
                hint="ask a person to set base_url, model and key_variable under [packs.agents] in turnscript.toml",
            )
        chosen = model or settings.model
        if settings.models and chosen not in (settings.model, *settings.models):
            known = ", ".join(dict.fromkeys(name for name in (settings.model, *settings.models) if name))
            raise ToolProblem(
                "unknown_model", f"{chosen!r} is not among the models that may be asked: {known}", hint="name one of these"
            )
        if not prompt.strip():
            raise ToolProblem("bad_argument", "the prompt is empty", hint="say what is wanted")
        if not 1 <= max_tokens <= settings.max_tokens:
            raise ToolProblem(
                "bad_argument", f"max_tokens is {max_tokens:,}", hint=f"give a number from 1 to {settings.max_tokens:,}"
            )
        if temperature is not None and not 0 <= temperature <= 2:
            raise ToolProblem("bad_argument", f"temperature is {temperature}", hint="give a number from 0 to 2, or leave it out")
        return Asked(turns=(("user", prompt),), model=chosen, max_tokens=max_tokens, system=system or "", temperature=temperature)

    def model(self) -> Model:
        if self._model is None:
            settings, key = self.settings, ""
            if settings.key_variable:
                key = self.host.environment.get(settings.key_variable, "").strip()
                if not key or not key.isascii() or not key.isprintable():
                    why = "is empty" if not key else "holds characters that no key has"
                    raise ToolProblem(
                        "not_configured",
                        f"{settings.key_variable} {why}; it is where the model's key stands",
                        hint=f"ask a person to set {settings.key_variable}",
                    )
            wire = Wire(
                api=settings.api, base_url=settings.base_url, key=key, tokens_name=settings.max_tokens_name,
                timeout_seconds=max(settings.timeout_seconds, settings.task_timeout_seconds),
            )  # fmt: skip
            self._model = Model(wire, sleep=self._sleep, clock=self.host.clock)
        return self._model

    async def answer(self, asked: Asked, schema: dict[str, Any] | None, *, timeout_seconds: float) -> Answer:
        """The model's answer, all retries within the one time."""
        with anyio.move_on_after(timeout_seconds):
            return await self._answered(asked, schema)
        raise ToolProblem(
            "timed_out",
            f"{asked.model} did not answer within {timeout_seconds:g} s",
            hint="ask for less, or use agents.start for long work",
            data={"seconds": timeout_seconds},
        )

    async def _answered(self, asked: Asked, schema: dict[str, Any] | None) -> Answer:
        """With a schema, its value too, after one more try when the first does not fit."""
        judge = judge_of(schema) if schema is not None else None
        if schema is not None:
            asked = replace(asked, system=f"{asked.system}\n\n{instruction(schema)}".strip())
        model = self.model()
        replies = [await model.ask(asked)]
        if judge is None:
            return _answer(replies, None)
        value, error = value_of(replies[0].text, judge)
        if error:
            more: tuple[Turn, ...] = (("assistant", replies[0].text or "(nothing)"), ("user", correction(error)))
            replies.append(await model.ask(replace(asked, turns=asked.turns + more)))
            value, error = value_of(replies[1].text, judge)
        if error:
            last = _answer(replies, None)
            raise ToolProblem(
                "answer_misfit",
                f"{asked.model} answered twice, and neither answer fits the schema: {error}",
                hint="raise max_tokens: the answer was cut"
                if last.stop == "length"
                else "make the schema simpler, or ask without one",
                data={"text": last.text, "usage": last.usage.model_dump(), "stop": last.stop},
            )
        return _answer(replies, value)


def _answer(replies: list[Reply], value: Any) -> Answer:
    last = replies[-1]
    usage = Usage(input=sum(reply.input_tokens for reply in replies), output=sum(reply.output_tokens for reply in replies))
    return Answer(text=last.text, value=value, model=last.model, usage=usage, stop=last.stop)
