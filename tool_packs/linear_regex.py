"""Regular expressions from strangers over lines: ripgrep does it, in time linear in the text, and can be stopped.

Python's own engine is never given such a pattern: it takes seconds for 26 characters, and nothing can interrupt it.
"""

import shutil
import subprocess
import sysconfig
import tempfile
from typing import IO

import anyio
import anyio.to_thread

from catalog import ToolProblem

PATTERN_CHARS_MAX = 10_000
SECONDS_MAX = 20.0


async def matching_lines(lines: list[str], pattern: str, *, literal: bool, ignore_case: bool) -> list[int]:
    """The indexes of the lines that match, in order."""
    if len(pattern) > PATTERN_CHARS_MAX:
        raise ToolProblem(
            "bad_pattern",
            f"the pattern has {len(pattern):,} characters; at most {PATTERN_CHARS_MAX:,} are taken",
            hint="search for less",
        )
    if "\n" in pattern:
        raise ToolProblem(
            "bad_pattern", "the pattern holds a line feed; lines are searched one by one", hint="search for one line of it"
        )
    # One "12:" for each match and no text: what comes back is bounded by what went in. --text: a NUL makes no binary file of it.
    command = [
        ripgrep(),
        "--no-config",
        "--text",
        "--encoding=none",
        "--no-filename",
        "--line-number",
        "--color=never",
        "--max-columns=1",
    ]
    command += ["--fixed-strings"] if literal else []
    command += ["--ignore-case"] if ignore_case else []
    with anyio.move_on_after(SECONDS_MAX), tempfile.TemporaryFile() as text:
        # A file and not a pipe: ripgrep ends without reading when it refuses a pattern, and a pipe would break under the writer.
        await anyio.to_thread.run_sync(_fill, text, lines)
        ended = await anyio.run_process(
            [*command, "--regexp", pattern, "-"], stdin=text, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}
        )
        if ended.returncode > 1:
            raise _bad(ended.stderr.decode("utf-8", "replace"))
        return [int(row.partition(b":")[0]) - 1 for row in ended.stdout.splitlines() if row]
    raise ToolProblem(
        "timed_out",
        f"the search took more than {SECONDS_MAX:g} s",
        hint="use a simpler pattern, or a pointer to a part of the value",
    )


def _fill(text: IO[bytes], lines: list[str]) -> None:
    text.write("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n")
    text.seek(0)


def ripgrep() -> str:
    """The one that was installed with us, or else the system's."""
    found = shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")
    if found is None:
        raise ToolProblem("not_installed", "ripgrep (rg) is not installed", hint="ask a person to run: pip install ripgrep")
    return found


def _bad(said: str) -> ToolProblem:
    """ripgrep's last line says what is wrong; the others draw where."""
    rows = [row.strip() for row in said.strip().splitlines() if row.strip()]
    why = next(
        (row.removeprefix("error:").strip() for row in rows if row.startswith("error:")),
        rows[-1].removeprefix("rg: ") if rows else "unknown",
    )
    return ToolProblem(
        "bad_pattern", f"the pattern cannot be used: {why}", hint="escape ( [ { . * + ? with \\, or set literal: true"
    )
