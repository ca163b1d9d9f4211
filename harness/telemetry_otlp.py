"""Spans and metrics to a collector, by OTLP over HTTP. Imported only when one is named: OpenTelemetry's SDK is an extra.

The providers are our own: those of the process stay as they are. Headers and certificates come from the variables of
OpenTelemetry itself, such as OTEL_EXPORTER_OTLP_HEADERS.
"""

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

from harness.interfaces import TelemetrySettings
from harness.redaction import Redactor
from harness.telemetry import Telemetry

_EXPORT_SECONDS = 3.0  # a collector that takes longer is done without: an agent waits for it at its end
_LOGGERS = ("opentelemetry.exporter.otlp", "opentelemetry.sdk")


class _Sending(OTLPSpanExporter):
    """Counts what did not arrive."""

    lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.lost += len(spans)
        return result


def exporting(settings: TelemetrySettings, redactor: Redactor) -> tuple[Telemetry, Callable[[], str]]:
    """The watch, and what sends the rest, ends it, and says what did not arrive."""
    _be_quiet()
    address = settings.otlp.rstrip("/")
    resource = Resource.create({"service.name": settings.service, "service.version": version("turnscript")})
    spans = TracerProvider(resource=resource)
    sending = _Sending(endpoint=f"{address}/v1/traces", timeout=_EXPORT_SECONDS)
    spans.add_span_processor(BatchSpanProcessor(sending))
    numbers = OTLPMetricExporter(endpoint=f"{address}/v1/metrics", timeout=_EXPORT_SECONDS)
    meters = MeterProvider(metric_readers=[PeriodicExportingMetricReader(numbers)], resource=resource)
    telemetry = Telemetry(spans, meters, settings.content, redactor=redactor)

    def shutdown() -> str:
        telemetry.close()
        spans.shutdown()
        meters.shutdown(timeout_millis=_EXPORT_SECONDS * 1_000)
        if not sending.lost:
            return ""
        lost = "1 span" if sending.lost == 1 else f"{sending.lost:,} spans"
        return f"{lost} did not reach {address}; is the collector there? telemetry.otlp names it"

    return telemetry, shutdown


def _be_quiet() -> None:
    """A collector that is away is no trouble of the agent's: where nobody has set up logging, nothing is written to stderr."""
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())
