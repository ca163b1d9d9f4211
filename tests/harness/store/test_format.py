"""The published format: schemas are fresh, and every recorded session and every kind of entry keeps to them."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness.entries import Entry
from harness.store.appending import encoded
from harness.store.format import entry_schema, line_schema
from harness.store.jsonl_single import read_single
from harness.store.lines import Kept, iso, read_line
from tests.contracts.entry_samples import one_of_each

ROOT = Path(__file__).parent.parent.parent.parent
RECORDINGS = sorted((ROOT / "tests" / "sessions").glob("*.session.jsonl"))
LINE, ENTRY = Draft202012Validator(line_schema()), Draft202012Validator(entry_schema())


@pytest.mark.parametrize(("name", "schema"), [("line", line_schema()), ("entry", entry_schema())])
def test_the_published_schemas_are_fresh(name: str, schema: dict[str, object]) -> None:
    published = json.loads((ROOT / "docs" / f"session-{name}.schema.json").read_text())
    again = f"turnscript session format{' --entry' if name == 'entry' else ''} > docs/session-{name}.schema.json"
    assert published == json.loads(json.dumps(schema)), again
    Draft202012Validator.check_schema(schema)


def told(kept: Kept, session: str) -> dict[str, object]:
    entry: Entry = kept.entry(session)
    return json.loads(json.dumps(asdict(entry)))  # type: ignore[no-any-return]


def wrong(kept: Kept, session: str) -> list[str]:
    line = json.loads(kept.line.to_bytes())
    return [error.message[:200] for error in (*LINE.iter_errors(line), *ENTRY.iter_errors(told(kept, session)))]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_every_recorded_session_keeps_to_the_schemas(path: Path) -> None:
    kept = read_single(path)
    session = str(kept[0].line.payload["session"])
    assert [found for one in kept for found in wrong(one, session)] == []


def test_one_of_each_of_entry_keeps_to_the_schemas() -> None:
    entries = one_of_each("s")
    lines, blobs = encoded(entries, None)
    assert {line.type for line in lines} == set(line_schema()["properties"]["type"]["enum"])
    assert [found for line in lines for found in wrong(Kept(line, blobs.__getitem__), "s")] == []


def test_the_page_names_one_of_each_and_every_member_of_a_line() -> None:
    page = (ROOT / "docs" / "session-format.md").read_text()
    properties = line_schema()["properties"]
    assert [name for name in (*properties, *properties["type"]["enum"]) if f"| `{name}` |" not in page] == []


def test_the_digest_is_what_the_page_says_it_is() -> None:
    """As another program would compute it."""
    before = "0" * 64
    for raw in (line.to_bytes() for line in encoded(one_of_each("s"), None)[0]):
        covered, _, rest = raw.rpartition(b',"digest":"')
        digest = rest[:64].decode()
        assert hashlib.sha256(before.encode() + b"\n" + covered + b"}").hexdigest() == digest
        before = digest
        assert iso(read_line(raw).at) == json.loads(raw)["timestamp"]


def test_what_stands_behind_the_digest_is_not_read_as_content() -> None:
    (line,), _ = encoded([one_of_each("s")[0]], None)
    sneaky = line.to_bytes()[:-1] + b',"payload":{"session":"other"},"values":{}}'
    assert read_line(sneaky).payload == line.payload
