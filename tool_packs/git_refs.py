"""Names of commits: from what a script wrote to a full id, or to a problem with the nearest names."""

import re

from rapidfuzz import fuzz, process

from catalog import ToolProblem
from tool_packs.git_process import Repository

_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_REF_LENGTH = 250
_NEAR = 60.0


async def commit_id(repository: Repository, ref: str) -> str:
    """The full id: what later commands get, so that no name can be read as an option by them."""
    if not ref or ref.startswith("-") or _CONTROL.search(ref) or len(ref) > _REF_LENGTH:
        raise ToolProblem(
            "bad_ref",
            f"{ref[:80]!r} can be no name of a commit",
            hint="give a branch, a tag, a commit id or HEAD~1, without spaces and no dash at its start",
        )
    told = await repository.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", ok=(0, 1, 128))
    if told.code == 0:
        return told.text.strip()
    if await is_empty(repository):
        raise no_commits()
    near = await _nearest(repository, ref)
    raise ToolProblem(
        "unknown_ref",
        f"no commit is named {ref}",
        hint=f"did you mean {' or '.join(near)}?" if near else "git.log shows commits and their ids",
        data={"ref": ref, "near": near},
    )


async def is_empty(repository: Repository) -> bool:
    """Is there no commit that HEAD names?"""
    return (await repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128))).code != 0


def no_commits() -> ToolProblem:
    return ToolProblem("no_commits", "the repository has no commits yet", hint="git.status shows what is staged")


async def _nearest(repository: Repository, ref: str) -> list[str]:
    told = await repository.run("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    found = process.extract(ref, told.text.splitlines(), scorer=fuzz.ratio, limit=3, score_cutoff=_NEAR)
    return [name for name, _, _ in found]
