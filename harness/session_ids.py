"""Ids as people type them: whole, any beginning that only one session has, or `last`."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Final

from harness.store import NoSession, Query, Store

LAST: Final = "last"  # the one that was written last
LAST_AMONG: Final = 300  # those that were opened last: to ask all for their newest lines would take seconds
_SHORTEST = 8
_NAMED_MOST = 5


async def session_named(store: Store, told: str) -> str:
    """NoSession says which ones begin like this, when there are several."""
    if told == LAST:
        newest = await store.sessions(Query(most=LAST_AMONG))
        if not newest:
            raise NoSession(
                "no session is kept here yet; `turnscript run` writes one, `turnscript session import` takes others in"
            )
        return max(newest, key=lambda row: (row.last, row.opened, row.session)).session
    try:
        if told and await store.load(told, most=1):
            return told
    except NoSession:
        pass
    found = sorted(row.session for row in await store.sessions() if told and row.session.startswith(told))
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoSession(f"no session is kept under {told!r}; `turnscript session list` names those that are")
    few = ", ".join(found[:_NAMED_MOST]) + (", …" if len(found) > _NAMED_MOST else "")
    raise NoSession(f"{len(found)} sessions begin with {told!r}: {few}; give more of the id")


def short_ids(ids: Iterable[str]) -> Mapping[str, str]:
    """Each id's shortest beginning that no other has, of eight characters or more."""
    ordered = sorted(set(ids))
    return {one: one[: max(_SHORTEST, _needed(ordered, one))] for one in ordered}


def _needed(ordered: list[str], one: str) -> int:
    """In sorted order, what begins most alike stands beside it."""
    place = bisect_left(ordered, one)
    beside = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
    return 1 + max((_alike(one, other) for other in beside), default=0)


def _alike(one: str, other: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
