"""Read files, list folders and look at images below the root.

Nothing here writes. Values are whole: lines are not cut and carry no numbers; what is shown of them is the harness's affair.
Text has "\\n" between lines whatever the file has, and says what that is. Paths are relative to the root, or absolute below it.
"""

import base64
import stat as modes
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from anyio import from_thread, to_thread
from pydantic import BaseModel, ConfigDict

from catalog import Host, MemoryResults, Results, ToolProblem, tool
from tool_packs.folders import Kind, Walk, kind_of, time_text
from tool_packs.images import image_facts
from tool_packs.listing import Listing, Tree, listing, sized
from tool_packs.path_problems import readable
from tool_packs.reading import ReadingCaps, block_wanted, ranges_wanted, read_slice
from tool_packs.root import Root
from tool_packs.slices import Slice

Result = TypeVar("Result")


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path | None = None  # the folder to work in; the host's when not given; a relative one is below the host's
    whole_bytes: int = 32 * 1024 * 1024  # files up to here are read whole; some tenths of a second at the most
    streamed_bytes: int = 1024 * 1024 * 1024  # line ranges of files up to here: some seconds
    text_bytes: int = 12 * 1024 * 1024  # text of one result; 16 MiB is what one result may bring into a script
    image_bytes: int = 10 * 1024 * 1024  # in base64 a third more, and it must fit into one result too
    entries: int = 200_000  # that one walk over folders may meet


class Files:
    """The root and its caps; what the tools of this pack work with."""

    def __init__(self, root: Path | str | Root, results: Results | None = None, settings: Settings | None = None) -> None:
        self.root = root if isinstance(root, Root) else Root(root)
        self.results = results if results is not None else MemoryResults()
        self.settings = settings or Settings()


class Stat(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    kind: Kind
    bytes: int
    modified: str
    mode: str  # permissions, octal: "644"
    target: str | None = None  # of a link, as it is written
    leads_to: Literal["file", "dir", "link", "other", "nothing", "outside"] | None = None  # of a link


class Attachment(BaseModel):
    """An image, kept whole: its base64 text is in what `recall(handle)` gives, under `data`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["attachment"] = "attachment"
    path: str
    media_type: str
    bytes: int
    width: int | None
    height: int | None
    handle: str


async def open(settings: Settings, host: Host) -> Files:
    return Files(host.root if settings.root is None else host.root / settings.root, host.results, settings)


@tool(reads=["file:{path}"], shape="slice")
async def read(
    files: Files,
    path: str,
    *,
    offset: int = 1,
    limit: int = 2000,
    ranges: list[tuple[int, int]] | None = None,
    around: int | None = None,
    levels: int = 1,
    siblings: bool = False,
    header: bool = True,
) -> Slice:
    """Read lines of a text file: a page of them, several ranges at once, or the code block around a line.

    `text` is exact, without line numbers, "\\n" between lines whatever the file has; `lines` says which lines it is.

    Args:
        path: The file, relative to the root.
        offset: The first line of the page, counted from 1.
        limit: The most lines of a page or block.
        ranges: Instead of a page: [[first, last], …], both included; `parts` of the result has them one by one.
        around: Instead of a page: the block of code around this line, by indentation.
        levels: With around: how many enclosing blocks to go out; 0 is the whole file.
        siblings: With around: also the blocks beside it.
        header: With around: also comments and decorators right above the block.
    """
    if ranges is not None and around is not None:
        raise ToolProblem("bad_range", "ranges and around were both given", hint="give one of them")
    caps = files.settings
    reading = ReadingCaps(caps.whole_bytes, caps.streamed_bytes, caps.text_bytes)
    want = ranges_wanted(offset, limit, ranges) if around is None else block_wanted(around, levels, siblings, header, limit)
    return await _aside(lambda: read_slice(files.root, path, want, reading, from_thread.check_cancelled))


@tool(reads=["tree:{path}"])
async def list_(
    files: Files,
    path: str = ".",
    *,
    depth: int = 2,
    offset: int = 1,
    limit: int = 200,
    ignored: bool = False,
    hidden: bool = False,
    glob: str | None = None,
) -> Listing:
    """List what is in a folder and the folders below it, nearest first, as .gitignore allows.

    Args:
        path: The folder, relative to the root.
        depth: How many levels down; 1 is the folder itself.
        offset: The first entry to give, counted from 1.
        limit: The most entries to give.
        ignored: Also what git ignores.
        hidden: Also names that begin with a dot; .git never.
        glob: Only paths that match, by the rules of .gitignore: "*.py", "src/**/*.ts".
    """
    _least(depth=depth, offset=offset, limit=limit)
    walk = _walk(files, depth, ignored, hidden)
    return await _aside(lambda: listing(files.root, path, walk, offset=offset, limit=limit, glob=glob))


@tool(reads=["file:{path}"])
async def stat(files: Files, path: str) -> Stat:
    """Tell kind, size, time of change and permissions of one file, folder or link.

    Args:
        path: What to look at, relative to the root; of a link, the link itself.
    """
    return await _aside(lambda: _stat(files.root, files.root.relative(path)))


@tool(reads=["tree:{path}"])
async def tree(files: Files, path: str = ".", *, depth: int = 2, ignored: bool = False, hidden: bool = False) -> Tree:
    """Count files and bytes of a folder and of each folder below it.

    Args:
        path: The folder, relative to the root.
        depth: How many levels of folders to give; the numbers count everything below in any case.
        ignored: Also what git ignores.
        hidden: Also names that begin with a dot; .git never.
    """
    _least(depth=depth)
    walk = _walk(files, None, ignored, hidden)
    walk.measure = True
    return await _aside(lambda: sized(files.root, path, walk, depth=depth))


@tool(reads=["file:{path}"])
async def image(files: Files, path: str) -> Attachment:
    """Attach a png, jpeg, gif or webp image so that the model can look at it.

    Args:
        path: The image, relative to the root.
    """
    return await _aside(lambda: _image(files, files.root.relative(path)))


async def _aside(work: Callable[[], Result]) -> Result:
    """In a thread; a cancelled call waits for it, and long work looks up now and then whether it is one."""
    return await to_thread.run_sync(work)


def _walk(files: Files, depth: int | None, ignored: bool, hidden: bool) -> Walk:
    pulse = from_thread.check_cancelled
    return Walk(ignored=ignored, hidden=hidden, depth=depth, most=files.settings.entries, pulse=pulse)


def _stat(root: Root, path: str) -> Stat:
    facts = root.stat(path, follow=False)
    kind = kind_of(facts.st_mode)
    target = root.link(path) if kind == "link" else None
    return Stat(
        path=path, kind=kind, bytes=facts.st_size, modified=time_text(facts), mode=f"{modes.S_IMODE(facts.st_mode):03o}",
        target=target and readable(target), leads_to=_leads_to(root, path) if kind == "link" else None,
    )  # fmt: skip


def _leads_to(root: Root, path: str) -> Literal["file", "dir", "link", "other", "nothing", "outside"]:
    try:
        return kind_of(root.stat(path).st_mode)
    except ToolProblem as problem:
        return "outside" if problem.code == "outside_root" else "nothing"


def _image(files: Files, path: str) -> Attachment:
    data, _ = files.root.read_bytes(path, most_bytes=files.settings.image_bytes)
    facts = image_facts(data)
    if facts is None:
        said = f"{path} is no png, jpeg, gif or webp image; it has {len(data):,} bytes"
        raise ToolProblem("not_an_image", said, hint="files.read reads text, an svg too", data={"path": path})
    kept = {"kind": "attachment", "path": path, "media_type": facts.media_type, "data": base64.b64encode(data).decode()}
    handle = files.results.keep(kept, label=path)
    return Attachment(
        path=path, media_type=facts.media_type, bytes=len(data), width=facts.width, height=facts.height, handle=handle
    )


def _least(**given: int) -> None:
    for name, number in given.items():
        if number < 1:
            raise ToolProblem("bad_range", f"{name} is {number:,}; 1 is the least", hint=f"give {name} as 1 or more")
