"""`turnscript run` with a collector named: real spans over HTTP, and one line when nobody takes them."""

from pathlib import Path

from tests.harness.collector import collecting
from tests.harness.test_cli import turnscript


def test_a_run_sends_its_spans_and_metrics_to_the_collector(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with collecting() as collector:
        (tmp_path / "turnscript.toml").write_text(f'[telemetry]\notlp = "{collector.address}"\nservice = "mine"\n')
        done = turnscript("run", "-", stdin="(await tools.files.read('a.txt')).text", cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("hello\n", "", 0)
    call, turn = collector.spans
    assert (call.name, turn.name) == ("execute_tool files.read", "run_script")
    assert (call.parent_span_id, collector.services) == (turn.span_id, {"mine"})
    assert {"turnscript.turns", "turnscript.calls", "turnscript.call.duration"} <= collector.metrics


def test_a_collector_that_is_away_is_one_notice(tmp_path: Path) -> None:
    with collecting() as gone:
        address = gone.address
    done = turnscript("run", "-", stdin="1", cwd=tmp_path, TURNSCRIPT_TELEMETRY_OTLP=address)
    told = f"notice: 1 span did not reach {address}; is the collector there? telemetry.otlp names it\n"
    assert (done.stdout, done.stderr, done.returncode) == ("1\n", told, 0)


def test_an_address_that_is_none_is_one_line(tmp_path: Path) -> None:
    done = turnscript("run", "-", stdin="1", cwd=tmp_path, TURNSCRIPT_TELEMETRY_OTLP="localhost:4318")
    told = "turnscript: telemetry.otlp: 'localhost:4318' is no address of a collector; write it as http://localhost:4318\n"
    assert (done.stdout, done.stderr, done.returncode) == ("", told, 2)
