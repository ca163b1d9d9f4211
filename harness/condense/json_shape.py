"""What many items of a list have in common, and which differ: for a sketch that says what its first items do not. Pure.

Bounded: at most so many items and fields are looked at, whatever the list holds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.condense.record import Json

_ITEMS_MAX = 10_000
_FIELDS_MAX = 24
_RARE_KINDS = 12  # values of a field: with more it is no kind of thing, but data
_DIFFERENT_MAX = 3


def kind_of(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "list"
    return "object"


def shape_key(value: Json) -> tuple[str, ...]:
    return (*value,) if isinstance(value, dict) else (kind_of(value),)


def different(items: Sequence[Json]) -> list[int]:
    """Items whose keys, or whose kind, differ from those of most."""
    looked = items[:_ITEMS_MAX]
    counts = Counter(shape_key(one) for one in looked)
    common, count = counts.most_common(1)[0]
    if count < 0.8 * len(looked):
        return []
    return [at for at, one in enumerate(looked) if shape_key(one) != common][:_DIFFERENT_MAX]


def facts(items: Sequence[Json]) -> Iterator[str]:
    """Of numbers the range, of the fields of objects the range or, where few values repeat, how often each."""
    looked = items[:_ITEMS_MAX]
    part = f" (of the first {_ITEMS_MAX:,})" if len(items) > _ITEMS_MAX else ""
    if all(isinstance(one, dict) for one in looked):
        for name in list(looked[0])[:_FIELDS_MAX]:
            told = _fact([one[name] for one in looked if name in one])
            if told:
                yield f"{name[:60]}: {told}{part}"
    elif told := _fact(looked):
        yield told + part


def _fact(values: Sequence[Json]) -> str:
    kinds = {kind_of(value) for value in values}
    if kinds == {"number"} and len(values) > 1:
        return f"{min(values)} to {max(values)}"
    if kinds <= {"string", "boolean", "null"} and len(values) >= 2 * _RARE_KINDS:
        counts = Counter(str(value)[:41] for value in values)
        if 1 < len(counts) <= _RARE_KINDS and all(len(value) <= 40 for value in counts):
            return ", ".join(f"{value} ×{count}" for value, count in counts.most_common())
    return ""
