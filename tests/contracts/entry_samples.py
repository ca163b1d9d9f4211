"""Entries for tests of stores: one of every type, and values that are hard to write down."""

from typing import Any

from harness.approval import Decision
from harness.call import Outcome
from harness.compose import ShownItem
from harness.entries import (
    Began,
    Closed,
    Ended,
    Ending,
    Entry,
    Facts,
    Forgot,
    Git,
    Held,
    Item,
    Message,
    Opened,
    PackFacts,
    Reopened,
    Running,
    Said,
    Settled,
    Yielded,
)
from harness.ledger import Ledger
from sandbox import Budget, Problem, ScriptError, Site

AT = 1_763_467_200.25  # 2025-11-18, noon
SITE = Site(1, 2, 3)


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


NASTY: dict[str, Any] = {
    "half a pair": "a\ud800b",
    "NUL": "a\0b",
    "line ends": "a\r\nb\u2028c\x85d",
    "beyond 64 bits": 2**70,
    "beyond 64 bits below zero": -(2**70),
    "float": 0.1 + 0.2,
    "minus zero": -0.0,
    "small": 5e-324,
    "deep": deep(120),
    "text that is big": "abc ü 😀 " * 2_000,
    "big with half a pair": "\udfff" * 5_000,
    "many": list(range(5_000)),
    "big inside big": {"rows": [{"text": "z" * 3_000, "n": n} for n in range(200)]},
    "looks like a reference": {"$text": "0" * 64},
    "looks like one, escaped": {"$$text": {"$json": ["$"]}},
    "a dollar alone": {"$": {"$": None}},
    "empty": {"": "", "list": [], "object": {}},
    "null": None,
    "no sequence": {"digest": "x", "values": {"a": [1]}, "seq": -1},
}


def opened(session: str = "s", at: float = AT, **facts: Any) -> Opened:
    return Opened(session=session, at=at, facts=Facts(**facts))


def said(text: str, session: str = "s", at: float = AT, **more: Any) -> Message:
    return Message(session=session, at=at, role=more.get("role", "user"), text=text)


def settled(value: Any, session: str = "s", at: float = AT, **more: Any) -> Settled:
    outcome = Outcome(status=more.pop("status", "returned"), value=value, size=more.pop("size", 10))
    told = {"turn": 1, "call": 1, "tool": "files.read", "arguments": {}, "site": SITE, **more}
    return Settled(session=session, at=at, outcome=outcome, **told)


def one_of_each(session: str = "s") -> list[Entry]:
    """A whole life, with everything told that can be."""
    facts = Facts(
        turnscript="0.1", root="/r", git=Git(commit="c", branch="main", remote="r"), model="m", mode="enabled", flags={"f": True},
        limits={"l": 1.5}, packs={"files": PackFacts(source="tool_packs.files", digest="d")}, tools=("files.read",), plan_reads=True,
        labels={"who": "ada"},
    )  # fmt: skip
    item = ShownItem(handle="T1.1", kind="value", text="x" * 3_000, labelled=True, whole=False, produced=9, trimmed={"cap": 2})
    broken = settled(None, session, turn=1, call=2)
    return [
        Opened(session=session, at=AT, facts=facts),
        said("Please look.", session),
        Began(
            session=session, at=AT + 1, turn=1, script="return 1 // " + "ü" * 5_000, sha256="e" * 64, now=1e12, seed=7,
            context={"k": [1]}, stored={"big": "y" * 9_000}, limits={"calls": 2.0}, relaxed="why",
            budget=Budget(bytes=1, seconds=2.5, tools={"a": 1}),
        ),
        Running(session=session, at=AT + 2, turn=1, call=1, tool="files.write", site=SITE, arguments={"path": "a/b.py"}),
        Settled(
            session=session, at=AT + 3, turn=1, call=1, tool="files.write", site=SITE, arguments=({"path": 1}, "x"),
            outcome=Outcome(status="failed", problem=Problem("no_file", "it is gone", "look again", {"n": 1}), by="tool", size=3),
            seconds=0.5, now=5.0, budget=Budget(bytes=0), read={"state": "q" * 4_000},
        ),
        Held(session=session, at=AT + 3, turn=1, handle="T1.1", value=NASTY["many"]),
        Yielded(
            session=session, at=AT + 3.5, turn=1, told=1, words=2, text="shown\n" * 3_000, items=(item,), notices=("n",),
            said=(Said(how="shown", value=NASTY["big inside big"]), Said(how="printed", value="line", name="log")),
        ),
        Ended(
            session=session, at=AT + 4, turn=1, parts=(2,), text="shown\n" * 3_000, items=(item,), notices=("n",), left=(broken,),
            ending=Ending(how="failed", error=ScriptError("Error", "no"), pending=(2,), unawaited=(3,), console_dropped=1),
            said=(Said(how="stored", value=NASTY["big inside big"], name="k"), Said(how="shown", value=1, options={"as": "x"})),
            ledger=Ledger(produced=100, shown=40, trimmed={"cap": 60}, relaxed=("r",), plan={"p": 1}),
            decisions=(Decision(request="r", call="T1 call 1", tool="files.write", verdict="deny", by="person", reason="no", seconds=1.0),), layers=(("a", "b", "c"),),
        ),
        Forgot(session=session, at=AT + 5, turns=(1,), mended={"T1.1": item}),
        Reopened(session=session, at=AT + 6, facts=facts, interrupted=2),
        Item(session=session, at=AT + 7, turn=2, format="codex", kind="response_item/message", raw={"content": ["w" * 20_000]}),
        Item(session=session, at=AT + 8, turn=2, format="codex", kind="torn", text='{"half'),
        Closed(session=session, at=AT + 9),
    ]  # fmt: skip
