"""The texts of files that scripts have read whole, the latest ones: references to their lines name the chunks that hold them."""

from collections import OrderedDict

from harness.call import Outcome

_FILES_MAX = 64
_TEXT_CHARS_MAX = 1 << 20


class FileTexts:
    """One for a session."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def add(self, outcome: Outcome) -> None:
        """Remember the text of a file that a slice holds whole."""
        value = outcome.value
        if not isinstance(value, dict) or not isinstance(value.get("text"), str) or len(value["text"]) > _TEXT_CHARS_MAX:
            return
        path, oid, lines = value.get("path"), value.get("oid"), value.get("lines")
        whole = lines in ([[1, value.get("total_lines")]], [(1, value.get("total_lines"))])
        if isinstance(path, str) and isinstance(oid, str) and whole:
            self._texts[path, oid] = value["text"]
            self._texts.move_to_end((path, oid))
            if len(self._texts) > _FILES_MAX:
                self._texts.popitem(last=False)

    def get(self, path: str, oid: str) -> str | None:
        return self._texts.get((path, oid))
