"""The labelled questions of queries.jsonl: what a person or a model would ask, and every tool that is a right answer.

`tuning` questions were looked at while the search was made. The `held_out` ones were written after it; when they were first asked,
0.82 of them had a right tool among the first five, and general faults that they showed were then mended.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.search import Index


@dataclass(frozen=True)
class Query:
    query: str
    tools: tuple[str, ...]
    half: str


QUERIES = [
    Query(row["query"], tuple(row["tools"]), row["half"])
    for row in map(json.loads, Path(__file__).with_name("queries.jsonl").read_text().splitlines())
]


def recall(index: Index, rows: Sequence[Query], *, first: int) -> float:
    found = [bool({hit.tool.full_name for hit in index.search(row.query, first)} & set(row.tools)) for row in rows]
    return sum(found) / len(found)
