"""A collector on loopback: takes OTLP over HTTP, decodes it, and keeps it for a test to look at."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    address: str = ""
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    measured: list[ExportMetricsServiceRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        return [span for one in self.traces for of in one.resource_spans for scope in of.scope_spans for span in scope.spans]

    @property
    def metrics(self) -> set[str]:
        return {
            metric.name
            for one in self.measured for of in one.resource_metrics for scope in of.scope_metrics for metric in scope.metrics
        }  # fmt: skip

    @property
    def services(self) -> set[str]:
        resources = [of.resource for one in self.traces for of in one.resource_spans]
        resources += [of.resource for one in self.measured for of in one.resource_metrics]
        return {one.value.string_value for resource in resources for one in resource.attributes if one.key == "service.name"}


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            collector.headers.append(dict(self.headers))
            if self.path == "/v1/traces":
                collector.traces.append(ExportTraceServiceRequest.FromString(body))
            elif self.path == "/v1/metrics":
                collector.measured.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200 if self.path in ("/v1/traces", "/v1/metrics") else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
