"""SIGTERM ends a verb as Ctrl-C does: what runs is cancelled, what was done is on record, and then the process ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped:
    """By which signal, when a verb was."""

    def __init__(self) -> None:
        self.terminated = False

    def terminate(self, number: int, frame: FrameType | None) -> None:
        self.terminated = True
        signal.raise_signal(signal.SIGINT)  # which the event loop knows how to end by


@contextmanager
def stoppable() -> Iterator[Stopped]:
    """Handlers belong to the main thread; elsewhere nothing is changed."""
    stopped = Stopped()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = signal.signal(signal.SIGTERM, stopped.terminate)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGTERM, before)
