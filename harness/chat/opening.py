"""A model from settings. HTTP is an extra, so the endpoints are loaded when one is wanted."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from harness.chat.model import Model
from harness.interfaces import ModelSettings
from harness.setup import BadConfig

_PLACES: Final = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
_MODELS: Final = {"openai": ("harness.chat.openai", "OpenAIModel"), "anthropic": ("harness.chat.anthropic", "AnthropicModel")}


@asynccontextmanager
async def open_model(settings: ModelSettings) -> AsyncIterator[Model]:
    """BadConfig says what is missing: a name, a key where one is always needed, or the extra."""
    if not settings.name:
        raise BadConfig('no model is named; give --model NAME, or name = "…" under [model] in turnscript.toml')
    if not settings.url and not settings.key:
        raise BadConfig(
            f"{_PLACES[settings.kind]} needs a key: set TURNSCRIPT_MODEL_KEY; for a server of your own give --url,"
            " such as http://localhost:11434/v1"
        )
    settings = replace(settings, url=settings.url or _PLACES[settings.kind])
    module, name = _MODELS[settings.kind]
    try:
        httpx, endpoint = importlib.import_module("httpx"), importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("harness"):
            raise
        raise BadConfig("talking to a model needs: pip install 'turnscript[web]'") from None
    async with httpx.AsyncClient(timeout=settings.timeout_seconds) as client:
        made: Model = getattr(endpoint, name)(settings, client)
        yield made
