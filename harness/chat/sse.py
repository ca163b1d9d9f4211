"""Server-sent events out of bytes that are cut anywhere: in a line end, in a character, between the two. Pure."""

import codecs
from dataclasses import dataclass
from typing import Final

EVENT_CHARS: Final = 4 * 1024 * 1024  # of one event: an endpoint that never ends one is not believed


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    data: str


class TooLong(ValueError):
    """An event that does not end."""


class Events:
    """Of one stream: bytes in, events out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._left = ""  # of a line that has not ended
        self._name = ""
        self._data: list[str] = []
        self._chars = 0
        self._first = True

    def feed(self, chunk: bytes) -> list[Event]:
        text = self._left + self._decoder.decode(chunk)
        if self._first and text:
            text, self._first = text.removeprefix("\ufeff"), False
        held = "\r" if text.endswith("\r") else ""  # its \n may come with the next bytes
        *lines, self._left = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._left += held
        found = [event for line in lines if (event := self._line(line)) is not None]
        if len(self._left) + self._chars > EVENT_CHARS:
            raise TooLong
        return found

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._end()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
            self._chars += len(value)
        return None

    def _end(self) -> Event | None:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data, self._chars = "", [], 0
        return event
