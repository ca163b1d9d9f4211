"""The largest things a worker may write, each met in a process of its own; prints as JSON by how many bytes the host grew.

The liar writes one small piece over and over, so that what grows is the host's half.
"""

import json
import os
import resource

import anyio

from sandbox import Limits, Start
from sandbox.wire import EVENTS, OUTWARD_MAX, READY, frame
from tests.sandbox.doubles import TOOLS, Visit, a_sandbox_with, converse

_PIECE_BYTES = 2**16
_START = Start(source="await tools.a.b(1)", tools=TOOLS, limits=Limits(engine_seconds=60))


def largest(kind: bytes, head: bytes, filler: bytes, tail: bytes) -> tuple[bytes, ...]:
    """A frame of the cap, or just below."""
    piece = filler * (_PIECE_BYTES // len(filler))
    times = (OUTWARD_MAX - 1 - len(head) - len(tail)) // len(piece)
    length = 1 + len(head) + times * len(piece) + len(tail)
    return (length.to_bytes(4, "big") + kind + head, *[piece] * times, tail)


_HEADER = OUTWARD_MAX.to_bytes(4, "big") + EVENTS
FLOODS = {
    "the largest frame promised, nothing sent": (_HEADER,),
    "half of the largest frame": (_HEADER, *[bytes(_PIECE_BYTES)] * (OUTWARD_MAX // _PIECE_BYTES // 2)),
    "a frame beyond the cap": (b"\xff\xff\xff\xffE", *[bytes(_PIECE_BYTES)] * 1_000),
    "zeroes": largest(EVENTS, b"", b"\0", b""),
    "no text": largest(EVENTS, b"", b"\xff", b""),
    "one string": largest(EVENTS, b'[["pwned","', b"x", b'"]]'),
    "one string of wide characters": largest(EVENTS, b'[["pwned","', "😀".encode(), b'"]]'),
    "one string of wide characters and a lone surrogate": largest(EVENTS, b'[["pwned","\\ud800', "😀".encode(), b'"]]'),
    "nesting": largest(EVENTS, b"", b"[", b""),
    "nesting and a lone surrogate": largest(EVENTS, b"\\ud800", b"[", b""),
    "READY": largest(READY, b"", b"\0", b""),
    "a million frames": (frame(EVENTS, b"[]") * 1_000,) * 1_000,
    "a million empty frames": (frame(EVENTS, b"") * 1_000,) * 1_000,
}


async def meet(pieces: tuple[bytes, ...]) -> None:
    async with a_sandbox_with([Visit(pieces, hangs_up=True)]) as met:
        await converse(met, _START)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def growth(pieces: tuple[bytes, ...]) -> int:
    theirs, ours = os.pipe()
    if os.fork() == 0:
        before = peak_bytes()
        anyio.run(meet, pieces)
        os.write(ours, str(peak_bytes() - before).encode())
        os._exit(0)
    os.close(ours)
    with open(theirs) as pipe:
        return int(pipe.read())


if __name__ == "__main__":
    print(json.dumps({name: growth(pieces) for name, pieces in FLOODS.items()}))
