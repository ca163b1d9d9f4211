"""What is put on record of a session when it opens: versions, limits, packs with digests, where the root stood in git."""

import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import anyio
from anyio import to_thread

from catalog import Offer
from harness.entries import Facts, Git, PackFacts
from harness.pack_digest import turnscript_version
from harness.setup import Setup

_GIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the caller says of a session."""

    model: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    git: bool = False  # where the root stands in git: costs a few milliseconds


async def facts_of(setup: Setup, offer: Offer, root: Path, *, packs: Mapping[str, str], told: Told) -> Facts:
    """`packs`: digests by name."""
    return Facts(
        turnscript=turnscript_version(), root=str(await anyio.Path(root).absolute()), mode=setup.mode, flags=asdict(setup.flags),
        git=await to_thread.run_sync(git_of, root) if told.git else None, model=told.model, labels=dict(told.labels),
        limits=all_limits(setup), tools=tuple(sorted(offer.tools)), plan_reads=setup.plan_reads,
        packs={pack.name: PackFacts(source=pack.source, digest=packs[pack.name]) for pack in offer.packs},
    )  # fmt: skip


def all_limits(setup: Setup) -> dict[str, float]:
    """By the names that `Setup.with_limits` takes."""
    return asdict(setup.limits) | asdict(setup.turn) | asdict(setup.shown)


def git_of(root: Path) -> Git | None:
    """Blocking: call it in a thread. None where there is no repository, or git does not answer."""
    commit = _git(root, "rev-parse", "HEAD")
    if not commit:
        return None
    branch, remote = _git(root, "symbolic-ref", "--short", "-q", "HEAD"), _git(root, "config", "--get", "remote.origin.url")
    return Git(commit=commit, branch=branch, remote=_without_user(remote))


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, timeout=_GIT_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def _without_user(remote: str) -> str:
    """A token may stand before the host."""
    try:
        parts = urlsplit(remote)
    except ValueError:
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.scheme and "@" in parts.netloc else remote
