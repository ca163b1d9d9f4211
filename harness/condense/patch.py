"""What a patch changed: one line a file with +/-. The model wrote the patch, so its text is not shown again."""

from harness.condense.fit import ends
from harness.condense.json_sketch import encoded, json_page
from harness.condense.page import Caps, Page, size_of
from harness.condense.record import Item, Json
from harness.condense.text import encodable, page_of, plain
from harness.limits import ShownLimits


def patch_page(item: Item, limits: ShownLimits) -> Page:
    value = item.value
    if not is_applied(value):
        return json_page(item, limits)
    lines = [line for file in value["files"] for line in _rows(file)]
    if len(value["files"]) != 1:
        lines.append(f"{len(value['files'])} files, +{value.get('added', 0)} -{value.get('removed', 0)}")
    caps = Caps(limits.shown_value_lines, limits.shown_value_bytes)
    return page_of(plain(lines), size_of(encoded(value)), caps, choose=ends)


def is_applied(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("files"), list)
        and all(isinstance(file, dict) and isinstance(file.get("path"), str) and "action" in file for file in value["files"])
    )


def _rows(file: Json) -> list[str]:
    moved = f" from {file['moved_from']}" if file.get("moved_from") else ""
    row = f"{file['action']} {file['path']}{moved} +{file.get('added', 0)} -{file.get('removed', 0)}"
    fuzz = file.get("fuzz") or []
    return [encodable(line).replace("\n", " ") for line in (row, *(f"  {one}" for one in fuzz))]
