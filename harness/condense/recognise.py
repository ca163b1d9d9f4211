"""Which shape a value has: told by the script, declared by its tool, or seen in the value itself. Pure."""

import re
from typing import get_args

from harness.condense.file_parts import is_slice, is_slices
from harness.condense.patch import is_applied
from harness.condense.record import Json, Shape

_HIT = re.compile(r"^[^\s:][^:\n]{0,300}:\d{1,7}:", re.MULTILINE)
_BUILD = re.compile(
    r"^(?:=+ test session starts =+|test result: |FAILED |--- FAIL|\s+Compiling \S+ v|\[INFO\] |> Task :|Ran \d+ tests? in )",
    re.MULTILINE,
)


def shape_of(value: Json, *, declared: str | None = None, told: str | None = None) -> Shape:
    for name in (told, declared):
        for shape in get_args(Shape):
            if name == shape and (name != "json" or not isinstance(value, str)):
                return _suits(shape, value)
    return _seen(value)


def _suits(shape: Shape, value: Json) -> Shape:
    if shape == "output" and isinstance(value, dict):
        return {"build": "build", "search": "hits"}.get(str(value.get("kind")), "output")  # type: ignore[return-value]
    return shape


def _seen(value: Json) -> Shape:
    if isinstance(value, str):
        sample = value[:4_096]
        lines = sample.count("\n") + 1
        if len(_HIT.findall(sample)) * 2 > lines > 2:
            return "hits"
        return "build" if _BUILD.search(sample) or _BUILD.search(value[-4_096:]) else "text"
    if is_slices(value) or (is_slice(value) and "lines" in value):
        return "slice"
    if is_applied(value) and value["files"]:
        return "patch"
    if isinstance(value, dict):
        if isinstance(value.get("output"), str) and "exit_code" in value:
            return _suits("output", value)
        if isinstance(value.get("files"), list) and "total" in value:
            return "hits"
    return "json"
