"""One QuickJS runtime with the prelude in it: text in, text out. The only file that imports QuickJS.

No Python callable is registered in the engine; one JS function (`bridge` in prelude.js) is called with text and
answers with text, so no value of a script is ever converted by the binding. The engine's own time limit counts
CPU time and restarts at every call, so the account of a script's time is kept here, and a verdict comes from that
account, never from an error's text. Light imports only: a zygote loads this before it forks.
"""

from collections.abc import Callable
from os.path import dirname, join
from time import localtime, monotonic

import _quickjs

from sandbox import source as sources
from sandbox.literals import json_text

_SPARE_HEAP_BYTES = 8 * 1024 * 1024  # to write down what happened when the script has used up its own
_REPORT_SECONDS = 1.0
_REMEMBER_BYTES = 4 * 1024 * 1024  # of what was delivered, so that a deadlock can be looked into
_LEAST_SECONDS = 0.000_001  # zero or less would mean no limit at all
_RENEW_SECONDS = 0.02  # how stale the engine's limit may get while promise jobs run


_REHEARSAL = (
    '{"limits":{"source_bytes":1000,"args_bytes":1000,"depth":8,"calls":8,"waits":8,"console_lines":8,"console_bytes":999,'
    '"shown_values":8,"stored_values":8,"stored_bytes":999,"outbox_bytes":9999,"frames":10},"now":0,"seed":1,"budget":null,"stored":{},'
    '"tools":["warm.up"],"context":{}}'
)


def _text(name: str) -> str:
    with open(join(dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


_PRELUDE = _text("prelude.js")
_LAZY = {name: _text(f"{name}.js") for name in ("mail", "rare", "inspect", "web")}

try:
    from resource import RUSAGE_SELF, getrusage
except ImportError:  # Windows has no getrusage; a heap verdict then rests on the engine's own error

    def peak_bytes() -> int:
        return 0
else:

    def peak_bytes() -> int:
        return getrusage(RUSAGE_SELF).ru_maxrss * 1024


class EngineMissing(ImportError):
    """The installed engine is not the one we have measured."""


def check_engine() -> None:
    """Refuse the engine of 2021 that the old distribution installs under the same module name."""
    if _quickjs.Context().eval("typeof Iterator + typeof RegExp.escape") != "functionfunction":
        raise EngineMissing(
            "the module _quickjs is not the engine quickjs-ng 0.17 or newer (the old package quickjs installs the same "
            "name and is not safe); type: pip uninstall -y quickjs; pip install --force-reinstall 'quickjs-ng>=0.17.0.2'"
        )


class Engine:
    """Runs one script. Build a new one for the next."""

    def __init__(self) -> None:
        self._context = _quickjs.Context()
        self._bridge = self._context.eval(_PRELUDE)
        for name, text in _LAZY.items():
            self._bridge(name, text)
        self._seconds = self._spent = 0.0
        self._heap = self._stack = self._jobs = self._peak = 0
        self._source = self._facts = ""
        self._read: tuple[str, list[sources.Prepared]] = ("", [])  # what was outlined
        self._delivered: list[tuple[str, int]] = []
        self._remembered_bytes = 0
        self._peak_told = ""
        self.ended = False

    @property
    def seconds_spent(self) -> float:
        return self._spent

    @property
    def seconds_left(self) -> float:
        return self._seconds - self._spent

    def load(self) -> None:
        """Compile the lazy parts now, where it is paid once for many forks."""
        self._bridge("load", "")

    def load_mail(self) -> None:
        """Compile the mailbox now: off the path of a script that will need it."""
        self._bridge("load mail", "")

    def rehearse(self) -> None:
        """Touch what a start touches: after a fork the first touch of each page costs a copy, better now than then."""
        self._bridge("rehearse", _REHEARSAL)
        readings = sources.prepare("const { a } = tools; await a.b({ c: [1] })")
        json_text(sources.outlined(readings))
        self._bridge("compile", readings[0].texts[0])
        self._pump()

    def outline(self, source: str) -> str:
        """The uses of tools in this text, as JSON. The time is the script's, and `start` need not read the text again."""
        began = monotonic()
        self._read = (source, sources.prepare(source))
        found = json_text(sources.outlined(self._read[1]))
        self._spent += monotonic() - began
        return found

    def start(self, source: str, facts: str, *, seconds: float, heap: int, stack: int, jobs: int) -> str:
        """Compile and run until the script ends or waits; gives its events as the text of a JSON list."""
        self._seconds, self._heap, self._stack, self._jobs = seconds, heap, stack, jobs
        self._context.set_memory_limit(heap)
        self._context.set_max_stack_size(stack)
        self._peak = peak_bytes()
        self._source, self._facts = source, facts
        return self._visit(self._begin)

    def deliver(self, settlements: str, count: int) -> str:
        """Settle calls one after the other, each with all its promise jobs, so that batches change nothing."""
        self._remember(settlements, count)
        return self._visit(lambda: self._settle(settlements, count))

    # ------------------------------------------------------------ inside a visit

    def _visit(self, work: Callable[[], None]) -> str:
        self._visit_began = self._limit_set = monotonic()
        self._context.set_time_limit(max(self.seconds_left, _LEAST_SECONDS))
        self._said = ""
        try:
            work()
            drained: str = self._bridge("drain", "")
        except _quickjs.JSException as error:
            return self._cut_short(self._verdict(error))
        except _Stop as stop:
            return self._cut_short(stop.verdict)
        self._spent += monotonic() - self._visit_began
        state, events = drained[0], drained[2:-1]
        self.ended = state != "W" or self.seconds_left <= 0
        if not self.ended or state == "F":
            return _listed(self._said, events)
        if state == "X":
            return _listed(self._said, self._evidence(), events)
        verdict = self._deadlock() if state == "S" else _TIME_IS_UP  # in slices, with the engine's own limit never hit
        return _listed(self._said, self._evidence(), events, verdict)

    def _begin(self) -> None:
        self._bridge("begin", self._facts)
        readings = self._read[1] if self._read[0] == self._source else []
        self._read = ("", [])
        readings = readings or sources.prepare(self._source)
        for reading in readings:
            if reading.refused is not None:
                what, at = reading.refused
                raise _Stop(f'["refused","{what}",{at}]')
            compiled = self._compile(reading)
            if compiled >= 0 and reading.may_run:
                self._run(reading, compiled)
                return
            if compiled >= 0:
                self._compile(readings[0])  # its error is the one to tell after all
        self._bridge("run", "")

    def _compile(self, reading: sources.Prepared) -> int:
        """Which of its texts is compiled now; -1 when none is."""
        if reading.check is not None and self._bridge("compile", reading.check) != "yes":
            return -1
        return next((number for number, text in enumerate(reading.texts) if self._bridge("compile", text) == "yes"), -1)

    def _run(self, reading: sources.Prepared, compiled: int) -> None:
        self._source = reading.source  # a look into a deadlock runs the same
        inserted = reading.inserted if compiled == 0 else -1
        if inserted >= 0:
            self._bridge("shift", str(reading.shift))
        if inserted >= 0 or reading.outline or reading.throws:
            self._said = f'["placed",{inserted},{reading.outline},{reading.throws}]'
        self._bridge("run", "")
        self._pump()

    def _settle(self, settlements: str, count: int) -> None:
        self._bridge("settle", settlements)
        self._pump()
        for _ in range(count - 1):
            self._bridge("next", "")
            self._pump()

    # ------------------------------------------------------------ a script that waits for nothing

    def _remember(self, settlements: str, count: int) -> None:
        """Keep what was delivered while it is small: with it the script can be run once more, to the letter."""
        self._remembered_bytes += len(settlements)
        if self._remembered_bytes <= _REMEMBER_BYTES:
            self._delivered.append((settlements, count))
        else:
            self._delivered.clear()

    def _deadlock(self) -> str:
        """Which lines wait? The engine cannot tell, so a twin runs the same commands with every await marked."""
        offsets = "[]"
        if self._remembered_bytes <= _REMEMBER_BYTES and self.seconds_left > 0:
            self._evidence()
            del self._bridge, self._context  # two heaps at once would not fit
            try:
                offsets = Engine()._run_marked(self)
            except (_quickjs.JSException, _Stop):
                pass  # the lines stay unnamed; the deadlock itself is certain
        return f'["deadlock",{offsets}]'

    def _run_marked(self, other: "Engine") -> str:
        self._seconds, self._jobs = other.seconds_left, other._jobs
        self._context.set_memory_limit(other._heap)
        self._context.set_max_stack_size(other._stack)
        self._context.set_time_limit(self._seconds)
        self._visit_began = self._limit_set = monotonic()
        self._bridge("begin", other._facts)
        self._bridge("watch", "")
        self._bridge("compile", sources.mark_awaits(other._source))
        self._bridge("run", "")
        self._pump()
        for settlements, count in other._delivered:
            self._settle(settlements, count)
        self._bridge("probe", "")
        self._pump()
        waits: str = self._bridge("waits", "")
        return waits

    def _pump(self) -> None:
        run_one = self._context.execute_pending_job
        left = self._jobs
        while run_one():
            left -= 1
            if left <= 0:
                raise _Stop('["exceeded","jobs",""]')
            now = monotonic()
            if now - self._limit_set > _RENEW_SECONDS:
                rest = self.seconds_left - (now - self._visit_began)
                self._limit_set = now
                self._context.set_time_limit(max(rest, _LEAST_SECONDS))

    def _verdict(self, error: Exception) -> str:
        if monotonic() - self._visit_began >= self.seconds_left:
            return f'["exceeded","engine_seconds",{_quoted(str(error))}]'
        return f'["broken",{_quoted(str(error))}]'

    def _cut_short(self, verdict: str) -> str:
        """The visit did not come to its end. What was said before still counts; a little heap and time are left for that."""
        self.ended = True
        self._spent += monotonic() - self._visit_began
        evidence = self._evidence()
        self._context.set_time_limit(_REPORT_SECONDS)
        self._context.set_memory_limit(self._heap + _SPARE_HEAP_BYTES)
        try:
            events = self._bridge("drain", "cut")[2:-1]
        except _quickjs.JSException:  # even the report did not fit: the verdict stands without it
            events = ""
        return _listed(self._said, evidence, events, verdict)

    def _evidence(self) -> str:
        """How much memory was in play, for telling out of memory from what a script may pretend."""
        if not self._peak_told:
            held: int = self._context.memory()["malloc_size"]  # held now; the peak is what was touched
            self._peak_told = f'["peak",{max(peak_bytes() - self._peak, held)}]'
        return self._peak_told


_TIME_IS_UP = '["exceeded","engine_seconds",""]'


class _Stop(Exception):
    """Ends the visit with this verdict."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict


def exercise() -> None:
    """Run what is not JavaScript once, so that no worker meets a first use: the parser's queries, a job, the time zone."""
    localtime()
    Engine().start("if (0) throw f(1); await 1", _REHEARSAL, seconds=5.0, heap=1 << 26, stack=1 << 20, jobs=1000)


def _listed(*parts: str) -> str:
    return "[" + ",".join(part for part in parts if part) + "]"


def _quoted(text: str) -> str:
    """JSON string of the engine's own text, cut; json is not imported here to keep the zygote small."""
    safe = text[:2000].encode("ascii", "backslashreplace").decode()
    return '"' + "".join(c if c >= " " and c not in '"\\' else f"\\u{ord(c):04x}" for c in safe) + '"'
