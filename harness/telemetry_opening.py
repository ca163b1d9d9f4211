"""Telemetry from its settings. Off unless a collector is named; OpenTelemetry is loaded only then."""

import importlib
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from harness.interfaces import TelemetrySettings
from harness.redaction import Redactor
from harness.setup import BadConfig
from harness.watching import Watch

Shutdown: TypeAlias = Callable[[], Awaitable[str]]  # what did not arrive, for people


def telemetry_from(settings: TelemetrySettings, *, redactor: Redactor | None = None) -> tuple[Watch | None, Shutdown]:
    """The watch for [telemetry], None when it is off, and what sends the rest; BadConfig says what is wrong or missing."""
    if not settings.otlp:
        return None, _nothing
    _check(settings.otlp)
    try:
        module = importlib.import_module("harness.telemetry_otlp")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("harness"):
            raise
        raise BadConfig("telemetry.otlp: spans and metrics need: pip install 'turnscript[otel]'") from None
    watch, end = module.exporting(settings, redactor or Redactor())

    async def shutdown() -> str:
        left: list[str] = []
        with anyio.CancelScope(shield=True):  # an interrupted turn has spans too
            left.append(await to_thread.run_sync(end))
        return "".join(left)

    return watch, shutdown


async def _nothing() -> str:
    return ""


def _check(address: str) -> None:
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound:
        raise BadConfig(f"telemetry.otlp: {address!r} is no address of a collector; write it as http://localhost:4318")
