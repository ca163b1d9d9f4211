"""May an interrupted turn go on here? Asked before anything is written: a turn that is continued with other tools than it began
with could run calls twice, or fail for a reason that the script has nothing to do with.
"""

from collections.abc import Mapping
from pathlib import Path

from catalog import ToolProblem
from harness.asked import CallOf
from harness.entries import Facts, Running, Settled
from harness.identity import identity_of
from harness.recording import identity
from harness.relive import Interrupted
from harness.store import StoreError

_GIVE_UP = "or give the turn up by running the next script"


class CannotContinue(StoreError):
    """Nothing was written; it can be tried again when the cause is gone."""


def check_root(session: str, facts: Facts, root: Path) -> None:
    """A session works below one root. One that was moved is let in: the old place is gone then."""
    then = Path(facts.root)
    if facts.root and then.is_dir() and not then.samefile(root):
        raise CannotContinue(f"session {session} works below {then}, and here the root is {root.absolute()}; give that root")


def check_tools(going: Interrupted, call_of: CallOf) -> None:
    gone = [tool for tool in going.facts.tools if tool not in call_of.toolbox.tools]
    if gone:
        packs = ", ".join(sorted({tool.partition(".")[0] for tool in gone}))
        raise CannotContinue(
            f"turn {going.turn} does not go on yet: {', '.join(gone[:4])} was on offer and is not here; "
            f"give the packs it had ({packs}), {_GIVE_UP}"
        )
    made: list[Settled | Running] = [*going.ran, *going.unsure]
    for one in made:
        if not _is_same(one, call_of):
            raise CannotContinue(
                f"turn {going.turn} does not go on yet: {one.tool} (line {one.site.line}) takes other arguments now than when it "
                f"ran, so it would run twice; put its pack back as it was, {_GIVE_UP}"
            )


def _is_same(one: Settled | Running, call_of: CallOf) -> bool:
    if not isinstance(one.arguments, Mapping):
        return True
    try:
        call = call_of(one.turn, one.call, one.tool, [dict(one.arguments)], one.site)
    except ToolProblem:
        return False
    return identity_of(one.tool, one.site, call.tool.with_defaults(call.bound.named)) == identity(one)
