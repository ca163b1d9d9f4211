"""Settings of what faces outward: a model's endpoint, serving, spans, how scripts look to a model, and servers whose tools become
packs. Frozen; `config.py` fills them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """[model]: the endpoint that `turnscript chat` talks to."""

    kind: Literal["openai", "anthropic"] = "openai"  # the protocol: Chat Completions, or Messages
    url: str = ""  # where the API begins, such as http://localhost:11434/v1
    name: str = ""
    key: str = field(default="", repr=False)
    key_variable: str = ""  # the variable that holds the key
    context_tokens: int = 128_000  # that the model can take in
    answer_tokens: int = 8_192  # that one reply may have
    timeout_seconds: float = 120.0  # without a byte of a reply


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """[serve]: MCP over HTTP. Only this machine can connect unless told, and only with the token."""

    host: str = "127.0.0.1"
    port: int = 8_765  # 0: any that is free
    token: str = field(default="", repr=False)  # "": one is made and printed at the start
    origins: tuple[str, ...] = ()  # pages that may connect, such as https://app.example; none unless named
    hosts: tuple[str, ...] = ()  # names that this server is reached by, besides its address and localhost
    sessions_max: int = 1_000  # clients at once
    idle_seconds: float = 1_800.0  # without a request; then a client's session is closed, and kept
    body_bytes: int = 1_048_576  # of one request
    body_seconds: float = 10.0  # in which its body must have come


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """[telemetry]: spans and metrics by OpenTelemetry; none unless a collector is named."""

    otlp: str = ""  # the collector's address, such as http://localhost:4318
    service: str = "turnscript"
    content: bool = False  # scripts, arguments and shown texts too, without secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSettings:
    """[surface]: how the tool that runs scripts looks to a model."""

    preset: Literal["run_script", "codex", "eval", "code_mode"] = "run_script"
    yield_seconds: float | None = None  # a script that takes longer goes on, and the model is told what there is


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """[mcp.NAME] or [openapi.NAME]: a server, or a document, whose tools become the pack NAME. `settings`: as written."""

    kind: Literal["mcp", "openapi"]
    name: str
    settings: Mapping[str, Any]
