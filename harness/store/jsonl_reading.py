"""Lines of one session's file from its beginning, or from where the page before ended."""

import os
from collections.abc import Iterator
from pathlib import Path

from harness.store import Query
from harness.store.blob_file import BlobReader, Place
from harness.store.given_files import lines_of, reading
from harness.store.jsonl_lines import places_in, start_of, tail_of
from harness.store.jsonl_listing import could_tell
from harness.store.jsonl_names import blobs_of
from harness.store.lines import BadLine, Kept, read_line


class FileLines:
    """Up to the line that is the last whole one now. Big values are fetched when an entry is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, Place] = {}
        self._blob = BlobReader(blobs_of(path), self._places)
        self._offset = 0  # behind the newest line that was read
        self._number = 0  # of that line in the file
        self._seq = 0
        self._inode, self.end = self._now()

    def lines(self, after: int = 0, *, query: Query | None = None) -> Iterator[Kept]:
        """Those behind the number `after`; with a query, only those that could tell something about it. BadLine."""
        with reading(self._path) as file:
            file.seek(self._offset)
            lines = lines_of(file)
            while self._offset < self.end:
                try:
                    raw = next(lines, b"")
                    if not raw:
                        return
                    self._took(raw)
                    if self._seq > after and (query is None or could_tell(raw, query)):
                        yield Kept(read_line(raw), self._blob)
                except BadLine as error:
                    raise BadLine(f"{self._path}, line {self._number}: {error}") from None

    def _took(self, raw: bytes) -> None:
        self._offset += len(raw)
        self._number += 1
        self._places |= places_in(raw)
        before, self._seq = self._seq, start_of(raw).seq
        if self._seq <= before:  # whoever reads page by page would never come to an end
            raise BadLine(f"its seq is {self._seq}, and the line before has {before}")

    def goes_on(self, after: int) -> bool:
        """Whether the page before ended there, and what follows in the file still is a later line, or nothing yet."""
        if after != self._seq:
            return False
        inode, self.end = self._now()
        if inode != self._inode or self.end < self._offset:
            return False
        with reading(self._path) as file:
            file.seek(self._offset)
            try:
                return self.end == self._offset or start_of(next(lines_of(file), b"")).seq > after
            except BadLine:
                return False

    def _now(self) -> tuple[int, int]:
        """Which file it is, and where its last whole line ends."""
        with reading(self._path) as file:
            try:
                return os.fstat(file.fileno()).st_ino, tail_of(file.fileno()).end
            except BadLine as error:
                raise BadLine(f"{self._path}: {error}") from None
