"""A small session with something of everything: two turns, a big value in two places, an interrupted turn, a message, an end."""

from collections.abc import Iterator

from harness.call import Outcome
from harness.entries import Began, Closed, Ended, Ending, Entry, Facts, Git, Message, Opened, Reopened, Running, Settled
from harness.ledger import Ledger
from sandbox import Site

NOON = 1_780_000_000.0
BIG = "".join(f"line {number} of a long file\n" for number in range(500))
SCRIPT = 'const file = await tools.files.read({ path: "src/long.txt" });\nreturn file.text.length'


def sample(session: str, *, at: float = NOON, turns: int = 2, interrupted: bool = True, closed: bool = True) -> Iterator[Entry]:
    facts = Facts(
        turnscript="0.1.0",
        root="/home/ada/project",
        git=Git(commit="c0ffee", branch="main"),
        model="sonnet",
        tools=("files.read",),
    )
    yield Opened(session=session, at=at, facts=facts)
    yield Message(session=session, at=at + 1, role="user", text=f"How long is the file of {session}?")
    for turn in range(1, turns + 1):
        start = at + 10 * turn
        yield Began(session=session, at=start, turn=turn, script=SCRIPT, sha256="ab" * 32)
        yield Settled(
            session=session, at=start + 1, turn=turn, call=1, tool="files.read", site=Site(1, 20), arguments={"path": "src/long.txt"},
            outcome=Outcome(status="returned", value={"path": "src/long.txt", "text": BIG}, source="tool", size=len(BIG), seconds=0.5),
            seconds=0.75,
        )  # fmt: skip
        yield Ended(
            session=session, at=start + 2, turn=turn, ending=Ending(how="finished", value=len(BIG)), text=f"{len(BIG)}\n",
            notices=("1 call was slow",), ledger=Ledger(produced=6, shown=5, calls={"returned": 1}),
        )  # fmt: skip
    last = at + 10 * turns + 10
    if interrupted:
        yield Began(
            session=session, at=last, turn=turns + 1, script="await tools.files.write({ path: 'a', text: 'b' })", sha256="cd" * 32
        )
        yield Settled(
            session=session, at=last + 1, turn=turns + 1, call=1, tool="files.read", site=Site(1, 1), arguments={"path": "a"},
            outcome=Outcome(status="failed", by="tool", seconds=0.1),
        )  # fmt: skip
        yield Running(
            session=session,
            at=last + 2,
            turn=turns + 1,
            call=2,
            tool="files.write",
            site=Site(1, 7),
            arguments={"path": "a", "text": "b"},
        )
        yield Reopened(session=session, at=last + 60, facts=facts, interrupted=turns + 1)
    if closed:
        yield Closed(session=session, at=last + 61)
