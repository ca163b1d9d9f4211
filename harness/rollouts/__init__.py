"""Sessions of other agents: read into entries (`importing.py`), what a record means (`reading`), written back (`exporting.py`).

One format a file. A record is kept as it is, and its meaning is computed whenever somebody asks, so a better reader helps
sessions that were imported long ago.
"""

from collections.abc import Mapping
from typing import Final

from harness.entries import Item
from harness.rollouts.claude import CLAUDE
from harness.rollouts.codex import CODEX
from harness.rollouts.meaning import Format, Reading, Role, Status, as_one
from harness.rollouts.mini_swe_agent import MINI_SWE_AGENT
from harness.rollouts.openhands import OPENHANDS
from harness.rollouts.swe_agent import SWE_AGENT

__all__ = ["FORMATS", "Reading", "Role", "Status", "reading", "readings"]

FORMATS: Final[Mapping[str, Format]] = {form.name: form for form in (CODEX, CLAUDE, SWE_AGENT, MINI_SWE_AGENT, OPENHANDS)}


def reading(item: Item) -> Reading:
    """What a record says, as one. Role "" for what says nothing, and for kinds and formats that are not known."""
    return as_one(readings(item))


def readings(item: Item) -> tuple[Reading, ...]:
    """The same one by one, where a record says several things: a call and its output, two calls. Count calls with this."""
    form = FORMATS.get(item.format)
    return () if form is None or item.text is not None else form.readings(item.kind, item.raw)
