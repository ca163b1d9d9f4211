"""Spans and metrics of real sessions, read from the SDK's own exporters in memory and from a collector on loopback."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import StatusCode

from catalog import ToolProblem, tool
from harness import Answer, Harness, Request, Setup
from harness.config import read_settings
from harness.guards.budget import Allowance
from harness.interfaces import TelemetrySettings
from harness.redaction import Redactor
from harness.setup import BadConfig
from harness.telemetry import Telemetry
from harness.telemetry_facts import ARGUMENTS, CALL_ID, CONVERSATION, OPERATION, RESULT, SCRIPT, TEXT, TOOL
from harness.telemetry_opening import telemetry_from
from tests.harness.collector import Collector, collecting

pytestmark = pytest.mark.anyio
SECRET = "sesame-9f8a7b6c5d4e"


@tool(effect="pure")
async def echo(text: str) -> str:
    return text


@tool(effect="pure")
async def fails(why: str) -> None:
    raise ToolProblem("no_such_thing", f"there is no {why}")


@tool(writes=["thing:{name}"], approval=True)
async def act(name: str) -> str:
    return f"acted on {name}"


TOOLS = {"x.echo": echo, "x.fails": fails, "x.act": act}


class Measured:
    """A telemetry with its providers, and what they were told."""

    def __init__(self, **options: Any) -> None:
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.watch = Telemetry(self.tracers, MeterProvider([self._reader]), **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self._spans.get_finished_spans(), key=lambda one: one.start_time or 0)

    def named(self, name: str) -> ReadableSpan:
        (found,) = (one for one in self.spans if one.name == name)
        return found

    @property
    def numbers(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """By name: attributes and value; of a histogram, how often."""
        data = self._reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: [(dict(point.attributes), getattr(point, "value", None) or point.count) for point in metric.data.data_points if getattr(point, "value", 1)]
            for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics
        }  # fmt: skip


def facts(span: ReadableSpan, *names: str) -> dict[str, Any]:
    told = span.attributes or {}
    return {name: told[name] for name in names if name in told}


class Yes:
    async def decide(self, requests: Sequence[Request]) -> list[Answer]:
        return [Answer(request=one.id, verdict="allow", remember="tool") for one in requests]


async def test_a_turn_is_a_span_below_the_callers_and_a_call_one_below_the_turn() -> None:
    measured = Measured()
    async with Harness(tools=TOOLS, watch=measured.watch) as harness, harness.session("s-1") as session:
        with measured.tracers.get_tracer("agent").start_as_current_span("invoke_agent"):
            await session.run("show('a'.repeat(10)); return await tools.x.echo('hello')")
    agent, turn, call = measured.named("invoke_agent"), measured.named("run_script"), measured.named("execute_tool x.echo")
    assert turn.parent is not None and call.parent is not None
    assert (turn.parent.span_id, call.parent.span_id) == (agent.context.span_id, turn.context.span_id)
    assert {one.context.trace_id for one in (agent, turn, call)} == {agent.context.trace_id}
    told = dict(turn.attributes or {})
    for name in ("turn", "tool", "engine", "person"):
        assert told.pop(f"turnscript.{name}_seconds") >= 0
    assert told == {
        OPERATION: "run_script", CONVERSATION: "s-1", "turnscript.turn": 1, "turnscript.mode": "enabled", "turnscript.direct": False,
        "turnscript.ending": "finished", "turnscript.produced_bytes": 15, "turnscript.shown_bytes": 15,
        "turnscript.text_bytes": told["turnscript.text_bytes"], "turnscript.result_bytes": 7, "turnscript.references": 0,
        "turnscript.redacted": 0, "turnscript.cache_hits": 0, "turnscript.cache_misses": 1, "turnscript.shared_calls": 0,
        "turnscript.relaxed": False, "turnscript.calls.returned": 1,
    }  # fmt: skip
    told = dict(call.attributes or {})
    assert told.pop("turnscript.run_seconds") >= 0 and told.pop("turnscript.waited_seconds") >= 0
    assert told == {
        OPERATION: "execute_tool", TOOL: "x.echo", "gen_ai.tool.type": "function", CALL_ID: "T1 call 1", CONVERSATION: "s-1",
        "turnscript.line": 1, "turnscript.status": "returned", "turnscript.result_bytes": 7, "turnscript.source": "tool",
    }  # fmt: skip
    assert (turn.status.status_code, call.status.status_code) == (StatusCode.UNSET, StatusCode.UNSET)


async def test_a_turn_that_goes_on_has_the_span_of_the_one_who_began_it() -> None:
    measured = Measured()
    async with Harness(tools=TOOLS, watch=measured.watch) as harness, harness.session() as session:
        with measured.tracers.get_tracer("agent").start_as_current_span("invoke_agent"):
            going = session.begin("show('first'); await sleep(60000)")
        while not (part := await going.wait(0.01)):
            pass
        await going.stop()
    turn = measured.named("run_script")
    assert turn.parent is not None and turn.parent.span_id == measured.named("invoke_agent").context.span_id
    (event,) = turn.events
    assert (event.name, dict(event.attributes or {})) == (
        "turnscript.yielded", {"turnscript.text_bytes": len(part.text), "turnscript.items": 1},
    )  # fmt: skip
    assert facts(turn, "turnscript.ending", "error.type") == {"turnscript.ending": "exceeded", "error.type": "stopped"}


async def test_calls_that_do_not_go_well_say_the_problem_and_the_guard_that_decided() -> None:
    measured = Measured()
    setup = Setup(turn_budget={"x.echo": Allowance(calls=1)})
    async with Harness(tools=TOOLS, setup=setup, watch=measured.watch) as harness, harness.session() as session:
        await session.run(
            "await tools.x.echo('1'); const no = () => 0; await tools.x.echo('2').catch(no); await tools.x.fails('y').catch(no);"
            "await tools.x.act('z').catch(no); throw new TypeError('mine')"
        )
    calls = [one for one in measured.spans if one.name.startswith("execute_tool")]
    names = ("turnscript.status", "turnscript.guard", "error.type")
    assert [tuple(facts(one, *names).values()) for one in calls] == [
        ("returned",),
        ("refused", "budget", "budget_calls"),
        ("failed", "no_such_thing"),
        ("denied", "approval", "denied"),
    ]
    assert [one.status.status_code for one in calls] == [StatusCode.UNSET] + [StatusCode.ERROR] * 3
    assert [one.status.description for one in calls] == [None] * 4  # a message can quote anything
    turn = measured.named("run_script")
    assert facts(turn, "error.type", "turnscript.ending", "turnscript.refused.budget", "turnscript.refused.approval") == {
        "error.type": "TypeError", "turnscript.ending": "failed", "turnscript.refused.budget": 1, "turnscript.refused.approval": 1,
    }  # fmt: skip


async def test_a_question_to_a_person_is_a_span_below_its_call() -> None:
    measured = Measured()
    async with Harness(tools=TOOLS, approver=Yes(), watch=measured.watch) as harness, harness.session() as session:
        await session.run("return await tools.x.act('it')")
    async with Harness(tools=TOOLS, watch=measured.watch) as harness, harness.session() as session:
        await session.run("return await tools.x.act('it').catch(() => 0)")
    asked = [one for one in measured.spans if one.name == "approval"]
    calls = [one for one in measured.spans if one.name == "execute_tool x.act"]
    assert [one.parent.span_id for one in asked if one.parent] == [one.context.span_id for one in calls]
    names = [f"turnscript.approval.{name}" for name in ("verdict", "answered", "remembered")]
    assert [tuple(facts(one, *names).values()) for one in asked] == [("allow", True, "tool"), ("deny", False, "")]


async def test_a_turn_that_the_host_stops_ends_its_spans_as_cancelled() -> None:
    measured, started = Measured(), anyio.Event()

    @tool(reads=["clock:now"])
    async def forever() -> None:
        started.set()
        await anyio.sleep_forever()

    async with Harness(tools={"x.forever": forever}, watch=measured.watch) as harness, harness.session() as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run, "await tools.x.forever()")
            await started.wait()
            tasks.cancel_scope.cancel()
        assert [(one.name, facts(one, "error.type")) for one in measured.spans] == [
            ("run_script", {"error.type": "cancelled"}),
            ("execute_tool x.forever", {"error.type": "cancelled"}),
        ]
    assert measured.numbers["turnscript.turns"] == [({"turnscript.ending": "cancelled", "error.type": "cancelled"}, 1)]


async def test_a_script_that_was_not_started_is_a_span_too() -> None:
    measured = Measured()
    async with Harness(setup=Setup(mode="disabled"), watch=measured.watch) as harness, harness.session() as session:
        await session.run("1")
    assert facts(measured.named("run_script"), "turnscript.mode", "error.type") == {
        "turnscript.mode": "disabled", "error.type": "scripts_disabled",
    }  # fmt: skip


async def test_content_is_told_only_when_asked_for_and_without_secrets() -> None:
    script = f"// {SECRET}\nshow('seen {SECRET}'); return await tools.x.echo('to {SECRET}')"
    plain, full = Measured(), Measured(content=True, redactor=Redactor({"DOOR": SECRET}))
    setup = Setup(secrets={"DOOR": SECRET})
    for measured in (plain, full):
        async with Harness(tools=TOOLS, setup=setup, watch=measured.watch) as harness, harness.session() as session:
            await session.run(script)
    assert SECRET not in " ".join(one.to_json() for one in (*plain.spans, *full.spans))
    told = [name for one in plain.spans for name in one.attributes or {}]
    assert not {SCRIPT, TEXT, ARGUMENTS, RESULT} & set(told)
    turn, call = full.named("run_script"), full.named("execute_tool x.echo")
    words = {**facts(turn, SCRIPT, TEXT), **facts(call, ARGUMENTS, RESULT)}
    hidden = words[SCRIPT].split("\n")[0].removeprefix("// ")
    assert "DOOR" in hidden
    assert words == {
        SCRIPT: script.replace(SECRET, hidden), TEXT: words[TEXT], ARGUMENTS: json.dumps({"text": f"to {hidden}"}, ensure_ascii=False, separators=(",", ":")),
        RESULT: json.dumps(f"to {hidden}", ensure_ascii=False),
    }  # fmt: skip
    assert f"seen {hidden}" in words[TEXT]


async def test_the_ledger_becomes_metrics() -> None:
    measured = Measured()
    async with Harness(tools=TOOLS, watch=measured.watch) as harness, harness.session() as session:
        await session.run("await tools.x.echo('a'); await tools.x.act('b').catch(() => 0); return 'four'")
        await session.run("await tools.x.echo('a'); return 'four'")
        ledger = session.ledger
    numbers = measured.numbers
    of = {OPERATION: "execute_tool", TOOL: "x.echo", "turnscript.status": "returned"}
    assert sorted(numbers["turnscript.calls"], key=str) == sorted(
        [
            ({**of, "turnscript.guard": ""}, 1),
            ({**of, "turnscript.guard": "cache"}, 1),
            ({**of, TOOL: "x.act", "turnscript.status": "denied", "error.type": "denied", "turnscript.guard": "approval"}, 1),
        ],
        key=str,
    )
    assert numbers["turnscript.turns"] == [({"turnscript.ending": "finished"}, 2)]
    assert numbers["turnscript.refusals"] == [({"turnscript.guard": "approval"}, 1)]
    assert {word["turnscript.lookup"]: number for word, number in numbers["turnscript.cache"]} == {
        "hit": ledger.cache_hits, "miss": ledger.cache_misses,
    }  # fmt: skip
    assert (numbers["turnscript.produced"], numbers["turnscript.shown"]) == ([({}, ledger.produced)], [({}, ledger.shown)])
    assert numbers["turnscript.results"] == [({}, ledger.result_bytes)]
    assert [number for _, number in numbers["turnscript.turn.duration"]] == [2]
    assert sum(number for _, number in numbers["turnscript.call.duration"]) == 3
    assert sum(number for _, number in numbers["turnscript.tool.duration"]) == 1


def test_names_are_those_of_the_conventions() -> None:
    ours = {"OPERATION_NAME": OPERATION, "CONVERSATION_ID": CONVERSATION, "TOOL_NAME": TOOL, "TOOL_CALL_ID": CALL_ID, "TOOL_CALL_ARGUMENTS": ARGUMENTS, "TOOL_CALL_RESULT": RESULT, "TOOL_TYPE": "gen_ai.tool.type"}  # fmt: skip
    assert {name: getattr(gen_ai_attributes, f"GEN_AI_{name}") for name in ours} == ours


# ------------------------------------------------------------ from settings


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one


async def test_a_harness_from_settings_sends_spans_and_metrics_to_the_collector(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / "turnscript.toml").write_text(
        f'profile = "none"\nstore = "memory:"\n[telemetry]\notlp = "{collector.address}"\nservice = "my-agent"\n'
    )
    async with Harness.from_config(tmp_path) as harness, harness.session("s-7") as session:
        await session.run("return 1")
    assert collector.services == {"my-agent"}
    (span,) = collector.spans
    assert (span.name, {one.key: one.value.string_value for one in span.attributes}[CONVERSATION]) == ("run_script", "s-7")
    assert {"turnscript.turns", "turnscript.turn.duration"} <= collector.metrics


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_collector_that_is_away_changes_nothing_and_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with collecting() as gone:
        address = gone.address
    watch, shutdown = telemetry_from(TelemetrySettings(otlp=address))
    async with Harness(watch=watch) as harness, harness.session() as session:
        assert (await session.run("return 1")).value == 1
    assert await shutdown() == f"1 span did not reach {address}; is the collector there? telemetry.otlp names it"
    assert capfd.readouterr().err == ""


async def test_nothing_is_loaded_unless_a_collector_is_named() -> None:
    watch, shutdown = telemetry_from(TelemetrySettings())
    assert watch is None and await shutdown() == ""
    program = "import sys, harness, harness.cli; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    done = await anyio.run_process([sys.executable, "-c", program])
    assert done.stdout == b"[]\n"


def test_a_missing_extra_is_one_line() -> None:
    program = (
        "import sys\nsys.modules['opentelemetry'] = None\n"
        "from harness.interfaces import TelemetrySettings\nfrom harness.telemetry_opening import telemetry_from\n"
        "try:\n    telemetry_from(TelemetrySettings(otlp='http://localhost:4318'))\nexcept ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("telemetry.otlp: spans and metrics need: pip install 'turnscript[otel]'\n", "")


@pytest.mark.parametrize("address", ["localhost:4318", "ftp://x", "http://", "http://x:y"])
def test_an_address_that_is_none_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(BadConfig) as raised:
        telemetry_from(TelemetrySettings(otlp=address))
    assert str(raised.value) == (f"telemetry.otlp: {address!r} is no address of a collector; write it as http://localhost:4318")


def test_settings_come_from_the_file_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text('[telemetry]\notlp = "http://a:1"\ncontent = true\n')
    environment: Mapping[str, str] = {"TURNSCRIPT_TELEMETRY_OTLP": "http://b:2", "HOME": str(tmp_path)}
    read = read_settings(folder=tmp_path, environment=environment).telemetry
    assert read == TelemetrySettings(otlp="http://b:2", content=True)
