"""Sequences of what a taken-over worker might write: a truthful script's replies, bent in one or several places.

Everything comes from the `Random` that is handed in, so a sequence is known by its seed. Three places to bend: the events
(wrong, missing, twice, out of order), their text (no JSON, or JSON that parsers disagree on), the bytes on the wire.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from sandbox.wire import DELIVER, EVENTS, OUTWARD_MAX, READY, START, frame
from tests.sandbox.doubles import TOOLS, Visit

Events = list[Any]


def nested(levels: int) -> Any:
    value: Any = 0
    for level in range(levels):
        value = [value] if level % 2 else {"n": value}
    return value


JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31 - 1, 2**31, 2**53, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30, 0.0, -0.0, 1.0, 1.5,
    1e308, 5e-324, "", "x", "1", "a.b", "a.d", "sleep", "relax", "__proto__", "constructor", "log", "null", "engine_seconds", "\x00",
    "\x1b[2J", "é\u2028\u202e", "\ud800", "\udc00x", "\ud83d\ude00", "x" * 700, [], [[]], [0] * 40, [1, 2, 3], ["a"], {}, {"": None},
    {"name": "E"}, {"a\ud800": 1}, {"__proto__": {"x": 1}}, nested(20), nested(59), nested(61), nested(64), nested(70),
)  # fmt: skip

STACKS = (
    "", "at f (<input>:1002:3)", "at <input>:1002:1\nat g (script:1:2)", "    at (script:0:0)", "at script:999999999999:999999999999",
    "at x (native)\n" * 30, "at f (<input>:٣:٣)", "at a (at b (script:1:1))", "\n" * 50, "at f (script:1:1)\n" * 40,
)  # fmt: skip


def sequence(random: Random) -> list[Visit]:
    """One script's worth of visits, most of them with a lie somewhere."""
    visits = []
    next_id = 1
    for number in range(random.randint(1, 4)):
        events, next_id = truth(random, next_id, first=number == 0)
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            events = random.choice(BENT_EVENTS)(random, events)
        reply: Any = events if random.random() < 0.97 else random.choice((*JUNK, {"0": events}, *events[:1]))
        text = json.dumps(reply, ensure_ascii=random.random() < 0.9).encode("utf-8", "surrogatepass")
        if random.random() < 0.1:
            text = random.choice(BENT_TEXTS)(random, text)
        visits.append(on_the_wire(random, text))
    return visits if random.random() < 0.02 else [*visits, Visit((), hangs_up=True)]  # silence costs a deadline, so it is rare


# ---------------------------------------------------------------- what an honest worker would say


def truth(random: Random, next_id: int, *, first: bool) -> tuple[Events, int]:
    events: Events = [["placed", 0, [0, 5, 9], [0, 4]]] if first else []
    for _ in range(random.randint(0, 3)):
        events.append(random.choice(SAID)(random))
    if random.random() < 0.5:
        for _ in range(random.randint(1, 3)):
            tool = random.choice((*TOOLS, "sleep"))
            events.append(["called", next_id, tool, [random.choice(JUNK[:30])], 1002, random.randint(0, 9)])
            next_id += 1
    else:
        events.append(["peak", random.choice((0, 1000, 2**40))])
        events.append(["unawaited", [i for i in range(1, next_id) if random.random() < 0.2]])
        events.append(random.choice(ENDED)(random))
    return events, next_id


SAID: tuple[Callable[[Random], list[Any]], ...] = (
    lambda random: ["shown", random.choice(JUNK), random.choice((None, {}, {"title": "t"})), 1002, 1],
    lambda random: ["printed", random.choice(("log", "warn", "error")), random.choice(("", "text", "\x1b[31m"))],
    lambda random: ["stored", random.choice(("k", "", "__proto__")), random.choice(JUNK), random.random() < 0.2],
    lambda random: ["dropped", random.randint(0, 5)],
)


def told(random: Random, levels: int = 3) -> dict[str, Any]:
    """An error as the prelude describes it, with any of its parts odd or missing."""
    parts: dict[str, Any] = {"name": "TypeError", "message": "not a function", "stack": random.choice(STACKS)}
    if random.random() < 0.3:
        parts[random.choice(("name", "message", "stack", "hint", "data", "thrown", "errors_total", "engine", "cause"))] = (
            random.choice(JUNK)
        )
    if levels and random.random() < 0.4:
        parts["cause"] = told(random, levels - 1)
    if levels and random.random() < 0.3:
        parts["errors"] = [told(random, 0) for _ in range(random.randint(0, 3))]
    return parts


ENDED: tuple[Callable[[Random], list[Any]], ...] = (
    lambda random: ["finished", random.choice(JUNK)],
    lambda random: ["failed", told(random)],
    lambda random: ["failed", {"thrown": random.choice(("null", "string", "object")), "message": "{}"}],
    lambda random: ["deadlock", [random.randint(0, 40) for _ in range(random.randint(0, 12))]],
    lambda random: ["refused", random.choice(("import", "comment", "?")), random.randint(0, 40)],
    lambda random: ["broken", random.choice(("", "null", "InternalError: out of memory", "E: x\nat <input>:1002:1"))],
    lambda random: ["exceeded", random.choice(("engine_seconds", "jobs", "calls", "")), random.choice(STACKS)],
)


# ---------------------------------------------------------------- bent events


def field_replaced(random: Random, events: Events) -> Events:
    if not events:
        return [random.choice(JUNK)]
    at = random.randrange(len(events))
    event = events[at] if isinstance(events[at], list) and events[at] else [0]
    which = random.randrange(len(event))
    return [*events[:at], [*event[:which], random.choice(JUNK), *event[which + 1 :]], *events[at + 1 :]]


def field_missing_or_extra(random: Random, events: Events) -> Events:
    if not events or not isinstance(events[-1], list):
        return [[]]
    at = random.randrange(len(events))
    event = events[at] if isinstance(events[at], list) else []
    return [*events[:at], event[:-1] if random.random() < 0.5 else [*event, random.choice(JUNK)], *events[at + 1 :]]


def one_twice(random: Random, events: Events) -> Events:
    return [*events, *random.choices(events, k=random.randint(1, 2))] if events else [["finished", 1], ["finished", 1]]


def one_missing(random: Random, events: Events) -> Events:
    at = random.randrange(len(events) + 1)
    return events[:at] + events[at + 1 :]


def out_of_order(random: Random, events: Events) -> Events:
    return random.sample(events, len(events))


def after_the_end(random: Random, events: Events) -> Events:
    return [*events, random.choice((*SAID, *ENDED))(random)]


def another_name(random: Random, events: Events) -> Events:
    names = (
        "Called",
        "called ",
        "_event",
        "hear",
        "__class__",
        "on_called",
        "_on_called",
        "end",
        "lost",
        "exceeded",
        "site",
        "x" * 60,
    )
    return [*events[:-1], [random.choice(names), *([random.choice(JUNK)] * random.randint(0, 5))]]


def many(random: Random, events: Events) -> Events:
    return random.choice((
        [["printed", "log", "x"]] * random.choice((5, 500, 501)) + events,
        [["shown", 1, None, 0, 0]] * random.choice((5, 1000, 1001)) + events,
        [["called", i + 1, "a.b", [], 1002, i] for i in range(random.choice((5, 256, 257)))],
        [["unawaited", [1] * 300], *events],
        [["placed", 0, list(range(600)), list(range(600))], *events],
        [["stored", f"k{i}", "v" * 50, False] for i in range(200)] + events,
    ))  # fmt: skip


BENT_EVENTS: tuple[Callable[[Random, Events], Events], ...] = (
    field_replaced, field_replaced, field_missing_or_extra, one_twice, one_missing, out_of_order, after_the_end, another_name, many,
)  # fmt: skip


# ---------------------------------------------------------------- bent text


def not_a_number(random: Random, text: bytes) -> bytes:
    """Only where no lone surrogate is: one parser reads those, another all the rest."""
    return (
        text
        if b"\\ud" in text
        else text.replace(b"1", random.choice((b"NaN", b"Infinity", b"-Infinity", b"1e999", b"01", b"0x1")))
    )


def cut_short(random: Random, text: bytes) -> bytes:
    return text[: random.randrange(len(text) + 1)]


def bytes_changed(random: Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(random.randint(1, 3)):
        if changed:
            changed[random.randrange(len(changed))] = random.choice(b'\x00\xff\x80"\\[]{},:0-ea')
    return bytes(changed) if b"\\ud" not in text else text


def around(random: Random, text: bytes) -> bytes:
    before, after = random.choice(
        ((b"\xef\xbb\xbf", b""), (b"", b"x"), (b"", text), (b"[", b""), (b" \n\t", b"\n"), (b"/**/", b""), (b"\x00", b""))
    )
    return before + text + after


def same_key_twice(random: Random, text: bytes) -> bytes:
    return text.replace(b'"name":', b'"name": "first", "name":').replace(b"{}", b'{"a": 1, "a": {"a": 2}}')


def very_deep(random: Random, text: bytes) -> bytes:
    levels = random.choice((100, 1_000, 1_025, 20_000))
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    lone = random.choice((b"0", b'"\\ud800"'))
    return b'[["finished",' + opening * levels + lone + (closing * levels if random.random() < 0.7 else b"") + b"]]"


def long_number(random: Random, text: bytes) -> bytes:
    return text.replace(b"1", random.choice((b"1" * 400, b"1" * 5_000, b"-" + b"9" * 40, b"1." + b"0" * 400, b"1e-400")), 2)


BENT_TEXTS = (not_a_number, cut_short, bytes_changed, around, same_key_twice, very_deep, long_number)


# ---------------------------------------------------------------- bent frames


def on_the_wire(random: Random, text: bytes) -> Visit:
    whole = frame(EVENTS, text)
    if random.random() < 0.8:
        return Visit((whole,), text)
    return random.choice(BENT_FRAMES)(random, whole, text)


def in_pieces(random: Random, whole: bytes, text: bytes) -> Visit:
    marks = sorted(random.randrange(len(whole) + 1) for _ in range(random.randint(1, 4)))
    return Visit(tuple(whole[a:b] for a, b in zip([0, *marks], [*marks, len(whole)], strict=True)), text)


def half_then_gone(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole[: random.randrange(len(whole))],), text, hangs_up=True)


def half_then_silent(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole[: random.randrange(len(whole))],), text, hangs_up=random.random() < 0.9)


def two_at_once(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole + random.choice((whole, frame(READY, b""), whole[:3], b"\x00" * 5)),), text)


def ready_again(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((frame(READY, random.choice((b"", b"seccomp\ton\t", text))),), text)


def wrong_length(random: Random, whole: bytes, text: bytes) -> Visit:
    length = random.choice((0, 1, len(text), len(text) + 2, OUTWARD_MAX, OUTWARD_MAX + 1, 2**31, 2**32 - 1))
    return Visit((length.to_bytes(4, "big") + whole[4:],), text, hangs_up=True)


def wrong_kind(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole[:4] + random.choice((START, DELIVER, b"\x00", b"e", b"\xff")) + text,), text)


def unasked(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole,), text, unasked=True)


def noise(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((random.randbytes(random.randint(0, 40)),), text, hangs_up=True)


def gone(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((), text, hangs_up=True)


def answers_then_gone(random: Random, whole: bytes, text: bytes) -> Visit:
    return Visit((whole,), text, hangs_up=True)


BENT_FRAMES: tuple[Callable[[Random, bytes, bytes], Visit], ...] = (
    in_pieces, half_then_gone, half_then_silent, two_at_once, ready_again, wrong_length, wrong_kind, unasked, noise, gone, answers_then_gone,
)  # fmt: skip
