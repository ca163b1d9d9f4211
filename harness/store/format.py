"""The format of sessions as JSON Schemas: of a line as it is written, and of an entry as it is read, with its values in place."""

from typing import Any

from pydantic import TypeAdapter

from harness.entries import Entry
from harness.store.lines import VERSION

_ID = "https://json-schema.org/draft/2020-12/schema"


def line_schema() -> dict[str, Any]:
    """One line. The payload is an entry without type, session, at and turn; anything in it may be a reference to a big value."""
    return {
        "$schema": _ID,
        "title": "line",
        "description": "One line of a session. Members that a reader does not know are to be ignored.",
        "type": "object",
        "properties": {
            "v": {"const": VERSION},
            "seq": {"type": "integer", "minimum": 1, "description": "1, 2, 3, … without gaps"},
            "timestamp": {"type": "string", "format": "date-time", "description": "UTC, with microseconds"},
            "type": {"enum": sorted(_kinds())},
            "turn": {"type": "integer", "minimum": 1, "description": "only in lines that belong to a turn"},
            "payload": {"type": "object"},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "sha256 of the digest before and this line"},
        },
        "required": ["v", "seq", "timestamp", "type", "payload", "digest"],
    }


def entry_schema() -> dict[str, Any]:
    """One entry, by its type. What stands for its default is not written."""
    return {"$schema": _ID, "title": "entry", **TypeAdapter(Entry).json_schema()}


def _kinds() -> list[str]:
    mapping: dict[str, str] = TypeAdapter(Entry).json_schema()["discriminator"]["mapping"]
    return list(mapping)
