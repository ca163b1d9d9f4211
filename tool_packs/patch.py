"""Change files: apply a patch, replace passages, write, move and delete.

All of a call or nothing of it: what cannot be done is found before a byte is written. Line endings, a byte order mark and
permissions stay as they are. The grammar is in patch_grammar.py, the matching in patch_match.py, the writing in patch_draft.py.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, ToolProblem, tool
from tool_packs.patch_changes import Applied, Changed, drafted, renamed, rows_in, summed
from tool_packs.patch_draft import Draft, encoded
from tool_packs.patch_exact import changed_rows, exchange
from tool_packs.patch_grammar import has_padded_marker, parse, paths_in
from tool_packs.root import Root

_MOST_BYTES = 32 * 1024 * 1024  # of one file: it is held in memory twice, and a text larger than that was not written by hand


@dataclass(frozen=True, slots=True)
class Settings:
    most_bytes: int = _MOST_BYTES  # of one file


class Patch:
    """One root whose files are changed."""

    def __init__(self, root: Path | str, *, most_bytes: int = _MOST_BYTES) -> None:
        self.root = Root(root)
        self.most_bytes = most_bytes

    def draft(self) -> Draft:
        return Draft(self.root, most_bytes=self.most_bytes)


class Edit(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    old: Annotated[str, Field(description="the passage as it stands in the file")]
    new: Annotated[str, Field(description="what takes its place")]
    all: Annotated[bool, Field(description="replace each place where old stands, not just a single one")] = False


async def open(settings: Settings, host: Host) -> Patch:
    return Patch(host.root, most_bytes=settings.most_bytes)


def _key(path: Any) -> str:
    """An absolute path may lie below the root under another name than its text says: it counts as everything."""
    return "*" if str(path).startswith("/") else f"file:{path}"


def _of_patch(arguments: Mapping[str, Any]) -> Iterable[str]:
    return [_key(path) for path in paths_in(str(arguments.get("patch", "")))]


def _of_paths(arguments: Mapping[str, Any]) -> Iterable[str]:
    return [_key(arguments[name]) for name in ("path", "to") if name in arguments]


@tool(writes=_of_patch, effect="writes", approval=True, shape="patch")
async def apply(work: Patch, patch: str, *, overwrite: bool = False) -> Applied:
    """Apply a patch to any number of files: all of it, or nothing.

    *** Begin Patch
    *** Update File: src/app.py
    @@ def main():
         first()
    -    second()
    +    third()
    *** Add File: notes.txt
    +every line of a new file starts with +
    *** Delete File: old.txt
    *** End Patch

    In an update each line starts with ' ' (kept), '-' (removed) or '+' (added). Give about three kept lines around a change;
    '@@ text' names a line above it when they stand in several places. '*** Move to: path' after an Update header renames the
    file, and '*** End of File' after a hunk ties it to the end. Hunks go in the order of the file.

    Args:
        patch: the whole patch, from *** Begin Patch to *** End Patch
        overwrite: let Add File and Move to replace a file that is there
    """
    return await to_thread.run_sync(_applied, work, patch, overwrite)


@tool(writes=_of_paths, effect="writes", approval=True, shape="patch")
async def replace(work: Patch, path: str, old: str, new: str, *, all: bool = False) -> Applied:
    """Replace one passage of a file by another, exactly as given.

    Args:
        path: the file
        old: the passage as it stands in the file, white space included; it must stand there once
        new: what takes its place; empty to delete the passage
        all: replace each place where old stands
    """
    return await edit(work, path, [Edit(old=old, new=new, all=all)])


@tool(writes=_of_paths, effect="writes", approval=True, shape="patch")
async def edit(work: Patch, path: str, edits: list[Edit]) -> Applied:
    """Replace several passages of a file at once: all of them, or none.

    Args:
        path: the file
        edits: in order; each is made on what the ones before it left
    """
    return await to_thread.run_sync(_edited, work, path, edits)


@tool(writes=_of_paths, effect="writes", approval=True, shape="patch")
async def write(work: Patch, path: str, text: str, *, overwrite: bool = False) -> Applied:
    """Write a whole file; missing folders are made.

    The text is written as it is, but a file that is overwritten keeps its byte order mark, and CR LF if all its lines end so
    and the text has no CR.

    Args:
        path: the file
        text: all of its new content
        overwrite: replace a file that is there
    """
    return await to_thread.run_sync(_written, work, path, text, overwrite)


@tool(writes=_of_paths, effect="writes", approval=True, shape="patch")
async def move(work: Patch, path: str, to: str, *, overwrite: bool = False) -> Applied:
    """Move or rename a file; missing folders are made.

    Args:
        path: the file
        to: its new path, not just the folder
        overwrite: replace a file that is there
    """
    return await to_thread.run_sync(_moved, work, path, to, overwrite)


@tool(writes=_of_paths, effect="writes", approval=True, shape="patch")
async def delete(work: Patch, path: str) -> Applied:
    """Delete a file; of a link only the link.

    Args:
        path: the file
    """
    return await to_thread.run_sync(_deleted, work, path)


def _applied(work: Patch, patch: str, overwrite: bool) -> Applied:
    _check_text(patch, "the patch")
    draft = work.draft()
    try:
        rows = drafted(draft, parse(patch), overwrite)
    except ToolProblem as problem:
        if problem.code != "no_match" or not has_padded_marker(patch):
            raise
        # An indented marker inside an update is a kept line by the letter; that did not match, so it is taken for a marker.
        draft = work.draft()
        try:
            rows = drafted(draft, parse(patch, padded=True), overwrite)
        except ToolProblem:
            raise problem from None
    draft.commit()
    return summed(rows)


def _edited(work: Patch, path: str, edits: list[Edit]) -> Applied:
    draft = work.draft()
    text, added, removed = draft.text(path), 0, 0
    if not edits:
        raise ToolProblem("no_change", "edits is empty", hint='give at least one, such as {old: "a", new: "b"}')
    for number, one in enumerate(edits, 1):
        _check_text(one.new, "new")
        try:
            made = exchange(path, text, one.old, one.new, every=one.all)
        except ToolProblem as problem:
            if len(edits) == 1:
                raise
            said = f"edit {number} of {len(edits)}: {problem.message}"
            raise ToolProblem(problem.code, said, hint=problem.hint, data=(problem.data or {}) | {"edit": number}) from None
        text, added, removed = made.text, added + made.added, removed + made.removed
    draft.update(path, encoded(text))
    draft.commit()
    return summed([Changed(action="M", path=draft.name(path), added=added, removed=removed)])


def _written(work: Patch, path: str, text: str, overwrite: bool) -> Applied:
    data = _check_text(text, "text")
    draft = work.draft()
    old = draft.create(path, data, overwrite=overwrite)
    if old is None:
        draft.commit()
        return summed([Changed(action="A", path=draft.name(path), added=rows_in(data))])
    data = _as_it_was(old, data)
    draft.update(path, data)
    draft.commit()
    added, removed = changed_rows(old.decode("latin-1"), data.decode("latin-1"))
    return summed([Changed(action="M", path=draft.name(path), added=added, removed=removed)])


def _as_it_was(old: bytes, new: bytes) -> bytes:
    if b"\n" in old and b"\r" not in new and old.count(b"\n") == old.count(b"\r\n"):
        new = new.replace(b"\n", b"\r\n")
    if old.startswith(BOM_UTF8) and not new.startswith(BOM_UTF8):
        new = BOM_UTF8 + new
    return new


def _moved(work: Patch, path: str, to: str, overwrite: bool) -> Applied:
    draft = work.draft()
    row = renamed(draft, path, to, overwrite)
    draft.commit()
    return summed([row])


def _deleted(work: Patch, path: str) -> Applied:
    try:
        removed = rows_in(work.draft().data(path))
    except ToolProblem as problem:
        if problem.code not in ("not_found", "too_large"):
            raise
        removed = 0  # a link to nothing has no lines, and those of a huge file are not counted
    work.root.remove(path)
    return summed([Changed(action="D", path=work.root.relative(path), removed=removed)])


def _check_text(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        said = f"{what} has half a surrogate pair at character {error.start + 1:,}: no file can hold that"
        raise ToolProblem("bad_text", said, hint="nothing was changed; write the whole character") from None
