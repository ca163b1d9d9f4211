"""From the sections of a patch to a draft of the files, and what a call answers: files with their counts, never a diff."""

from collections.abc import Iterable
from typing import Annotated, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field

from catalog import ToolProblem
from tool_packs.patch_draft import Draft, encoded
from tool_packs.patch_grammar import AddFile, DeleteFile, Section, UpdateFile
from tool_packs.patch_match import revise


class Changed(BaseModel):
    model_config = ConfigDict(frozen=True)
    action: Annotated[Literal["A", "M", "D", "R"], Field(description="added, modified, deleted or renamed")]
    path: str
    moved_from: str | None = None
    added: int = 0
    removed: int = 0
    fuzz: Annotated[list[str], Field(description="hunks that did not match exactly, and what was overlooked")] = []


class Applied(BaseModel):
    model_config = ConfigDict(frozen=True)
    files: list[Changed]
    added: Annotated[int, Field(description="lines, over all files")]
    removed: int


def drafted(draft: Draft, sections: Iterable[Section], overwrite: bool) -> list[Changed]:
    rows = list[Changed]()
    for section in sections:
        match section:
            case AddFile(path, lines):
                data = encoded("".join(line + "\n" for line in lines))
                old = draft.create(path, data, overwrite=overwrite)
                action: Literal["A", "M"] = "A" if old is None else "M"
                rows.append(Changed(action=action, path=draft.name(path), added=len(lines), removed=rows_in(old or b"")))
            case DeleteFile(path):
                removed = rows_in(draft.data(path))
                draft.remove(path)
                rows.append(Changed(action="D", path=draft.name(path), removed=removed))
            case UpdateFile():
                rows.append(_updated(draft, section, overwrite))
            case _:
                assert_never(section)
    return rows


def _updated(draft: Draft, section: UpdateFile, overwrite: bool) -> Changed:
    path, to = section.path, section.to
    if to is not None and not section.hunks:
        return renamed(draft, path, to, overwrite)
    made = revise(path, draft.text(path), section.hunks)
    draft.update(path, encoded(made.text))
    if to is None or draft.name(path) == draft.name(to):
        return Changed(action="M", path=draft.name(path), added=made.added, removed=made.removed, fuzz=list(made.fuzz))
    moved = renamed(draft, path, to, overwrite)
    return moved.model_copy(update={"added": made.added, "removed": made.removed, "fuzz": list(made.fuzz)})


def renamed(draft: Draft, path: str, to: str, overwrite: bool) -> Changed:
    data = draft.data(path)
    if draft.name(path) == draft.name(to):
        raise ToolProblem("exists", f"{path} is there already: both paths are the same", hint="nothing was changed; name another")
    draft.create(to, data, overwrite=overwrite, mode=draft.mode(path))
    draft.remove(path)
    return Changed(action="R", path=draft.name(to), moved_from=draft.name(path))


def summed(rows: list[Changed]) -> Applied:
    return Applied(files=rows, added=sum(row.added for row in rows), removed=sum(row.removed for row in rows))


def rows_in(data: bytes) -> int:
    return 0 if b"\0" in data else data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
