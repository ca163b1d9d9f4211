"""What a script's author is told when it fails: name, message, place with a caret, frames, the next step.

Pure: from what the engine said and the author's own text to a `ScriptError`. Texts for limits live here too.
"""

from typing import Any

from sandbox import advice
from sandbox.errors import Frame, ScriptError
from sandbox.positions import Positions
from sandbox.values import encode

_ABSENT = {
    "require": "there are no modules here; use tools.<pack>.<tool>(…), and help() for the list",
    "module": "there are no modules here; end the script with return <value>",
    "exports": "there are no modules here; end the script with return <value>",
    "process": "there is no process here; facts about the run are in context",
    "fetch": "there is no network here; use a tool such as tools.web, if help() lists one",
    "XMLHttpRequest": "there is no network here; use a tool such as tools.web, if help() lists one",
    "window": "this is not a browser; globals are on globalThis",
    "document": "this is not a browser; there is no page",
    "Deno": "this is not Deno; use tools.<pack>.<tool>(…), and help() for the list",
    "Bun": "this is not Bun; use tools.<pack>.<tool>(…), and help() for the list",
    "fs": "files are reached by tools; help() lists them",
    "Buffer": "use Uint8Array, TextEncoder, btoa and atob",
    "print": "use console.log(…) or show(value)",
    "text": "use show(value)",
    "setImmediate": "use setTimeout(f, 0), queueMicrotask(f) or await sleep(0)",
    "SharedArrayBuffer": "threads and shared memory are off in this sandbox",
    "Atomics": "threads and shared memory are off in this sandbox",
    "WebAssembly": "WebAssembly is off in this sandbox",
    "WeakRef": "WeakRef is off in this sandbox, so that a script does the same on every run",
    "FinalizationRegistry": "FinalizationRegistry is off in this sandbox, so that a script does the same on every run",
    "Intl": "Intl is not in this engine; format by hand",
}

_CAUSES_MAX = 5
_DATA_BYTES = 64 * 1024
_TEXT_MAX = {"name": 230, "hint": 1_030, "thrown": 20, "stack": 8_100}
_NO_FUNCTION, _OVERFLOW = "not a function", "Maximum call stack size exceeded"  # the engine's words

_REFUSED = {
    "import": (
        "import and export are off in this sandbox",
        "there is nothing to import; use tools.<pack>.<tool>(…), and help() for the list; end with return <value>",
    ),
    "comment": ("HTML-like comments are off in this sandbox", "write // or /* … */"),
    "decorator": (
        "decorators are not there at run time: this engine does not know them",
        "call the function yourself, such as const read = logged(plainRead)",
    ),
    "enum": (
        "enum is not there at run time: of TypeScript only the types are taken out",
        'write an object instead: const Color = { Red: "red", Green: "green" }',
    ),
    "namespace": (
        "a namespace with values is not there at run time: of TypeScript only the types are taken out",
        "write an object instead: const Names = { parse(text) { … } }",
    ),
    "property": (
        "a parameter of the constructor cannot declare a property: of TypeScript only the types are taken out",
        "declare the field and assign it: class A { name; constructor(name) { this.name = name } }",
    ),
    "cast": ("a type in front of a value must stand on one line", "write the type behind the value: value as Type"),
}

_LIMITS = {
    "engine_seconds": (
        "the script computed for more than {allowed:g} s",
        "look for a loop that does not end, or do less in one script; waiting for tools does not count",
    ),
    "jobs": (
        "the script ran more than {allowed:,.0f} promise jobs without waiting for the host",
        "look for a promise chain that restarts itself; await sleep(ms) in a polling loop",
    ),
    "heap_bytes": (
        "the script needed more than {allowed:,.0f} bytes of memory",
        "keep less at once: filter early, work in parts, let go of what is done",
    ),
    "source_bytes": (
        "the script is longer than {allowed:,.0f} bytes",
        "split it into several scripts; store(key, value) keeps values between them",
    ),
}


class Explain:
    def __init__(self, positions: Positions) -> None:
        self.positions = positions

    def thrown(self, told: dict[str, Any], frames_max: int, depth: int = 0) -> ScriptError:
        """An uncaught value of any kind, as rare.js described it."""
        name, message = _text(told, "name"), _text(told, "message")
        stack = _text(told, "stack")
        if "thrown" in told:
            return self._thrown_value(_text(told, "thrown"), message)
        if name == "SyntaxError" and self.positions.beyond_end(stack):
            return self._ends_too_early()
        frames = self._frames(stack, message, frames_max)
        while len(frames) > 1 and frames[0].function == name:  # the constructor of the error itself
            frames = frames[1:]
        if message == _NO_FUNCTION and frames:
            message = self._name_the_callee(stack, message)
        cause = told.get("cause")
        errors = [one for one in told.get("errors", ()) if isinstance(one, dict)] if depth < _CAUSES_MAX else []
        others = tuple(self.thrown(one, 1, depth + 1) for one in errors[:3])
        if others:
            total = told.get("errors_total")
            message = f"{message} ({total if type(total) is int and 0 < total < 2**53 else len(others)} errors)".lstrip()
        error = self._placed(name or "Error", self._say_what_is_missing(message, frames), frames)
        return ScriptError(
            error.name, error.message, error.line, error.column, error.excerpt, error.frames,
            _text(told, "hint") or self._hint_for(name, message, frames), _small(told.get("data")),
            self.thrown(cause, frames_max, depth + 1) if isinstance(cause, dict) and depth < _CAUSES_MAX else None, others,
        )  # fmt: skip

    def _ends_too_early(self) -> ScriptError:
        error = self._placed("SyntaxError", "the script ends too early", (Frame("", *self.positions.end()),))
        hint = "a bracket, brace, quote or backtick is still open; close it, and escape it inside text"
        return ScriptError(error.name, error.message, error.line, error.column, error.excerpt, error.frames, hint)

    def _thrown_value(self, kind: str, shape: str) -> ScriptError:
        places = [self.positions.locate(at) for at in self.positions.throws(shape)]
        message = f"the script threw {kind}" if kind in ("null", "undefined") else f"the script threw {_article(kind)}: {shape}"
        hint = "throw new Error(message) carries the place and can say more"
        if len(places) > 1:
            message += f" (at line {' or line '.join(str(line) for line, _ in places[:5])})"
        line, column = places[0] if len(places) == 1 else (0, 0)
        frames = (Frame("", line, column),) if line else ()
        return ScriptError("Thrown", message, line, column, self.positions.excerpt(line, column), frames, hint)

    def deadlock(self, offsets: list[int]) -> ScriptError:
        places = [self.positions.locate(at) for at in sorted(offsets)]
        lines = sorted({line for line, _ in places})
        message = "the script waits for a promise that nothing will settle"
        if lines:
            message += f" (line {', line '.join(map(str, lines))})"
        hint = "no tool call and no timer is open; resolve the promise yourself, or await a call or sleep(ms)"
        line, column = places[0] if places else (0, 0)
        excerpt = "\n".join(self.positions.excerpt(*place) for place in places[:5])
        return ScriptError("Deadlock", message, line, column, excerpt, tuple(Frame("", *place) for place in places[:1]), hint)

    def exceeded(self, limit: str, allowed: float, stack: str, frames_max: int) -> ScriptError:
        message, hint = _LIMITS[limit]
        error = self._placed("LimitExceeded", message.format(allowed=allowed), self._frames(stack, "", frames_max))
        return ScriptError(
            error.name, error.message, error.line, error.column, error.excerpt, error.frames, hint, {"limit": limit}
        )

    def refused(self, what: str, offset: int) -> ScriptError:
        """What a script may not hold, found before it ran."""
        line, column = self.positions.locate(offset)
        message, hint = _REFUSED.get(what, _REFUSED["import"])
        return ScriptError("SyntaxError", message, line, column, self.positions.excerpt(line, column), (), hint)

    def nul(self, offset: int) -> ScriptError:
        line, column = self.positions.locate(offset)
        return ScriptError("SyntaxError", "the script holds a NUL character", line, column, self.positions.excerpt(line, column))

    def engine(self, text: str, frames_max: int) -> ScriptError:
        """The engine gave up in a way no script can catch."""
        head, _, stack = text[:4_000].partition("\n")
        message = head.removeprefix("InternalError: ")[:500]
        return self._placed("InternalError", message or "the engine failed", self._frames(stack, "", frames_max))

    def lost(self, reason: str) -> ScriptError:
        hint = "what the script had already called may have had effects: look before you run it again"
        return ScriptError("WorkerLost", f"the sandbox worker was lost: {reason}", hint=hint)

    # ------------------------------------------------------------ places

    def _frames(self, stack: str, message: str, most: int) -> tuple[Frame, ...]:
        """A frame that called something stands at that call; the innermost stands where the engine says, unless it called."""
        found = []
        for index, (function, at, callee) in enumerate(self.positions.frames(stack, most)):
            start, called = self.positions.call_at(at, callee)
            a_call = index > 0 or callee or message in (_NO_FUNCTION, _OVERFLOW) or called[:1].isupper()
            found.append(Frame(function, *self.positions.locate(start if a_call else at)))
        return tuple(found)

    def _placed(self, name: str, message: str, frames: tuple[Frame, ...]) -> ScriptError:
        if not frames:
            return ScriptError(name, message)
        line, column = frames[0].line, frames[0].column
        return ScriptError(name, message, line, column, self.positions.excerpt(line, column), frames)

    def _say_what_is_missing(self, message: str, frames: tuple[Frame, ...]) -> str:
        missing = advice.nothing_there(message, self.positions.line_at(*_place(frames))[1]) if frames else ""
        return f"{message}: {missing}" if missing else message

    def _hint_for(self, name: str, message: str, frames: tuple[Frame, ...]) -> str:
        if name == "ReferenceError" and message.endswith(" is not defined"):
            absent = message.removesuffix(" is not defined")
            return _ABSENT.get(absent) or advice.nearest_name(absent, self.positions.source)
        if name == "SyntaxError" and frames:
            return advice.syntax(message, self.positions.line_at(*_place(frames))[0])
        if message == _OVERFLOW:
            return "look for a recursion that does not end, or use a loop"
        return ""

    def _name_the_callee(self, stack: str, message: str) -> str:
        _, at, _ = self.positions.frames(stack, 1)[0]
        called = self.positions.call_at(at)[1]
        return f"{called} is not a function" if called and len(called) <= 80 and "\n" not in called else message


def _place(frames: tuple[Frame, ...]) -> tuple[int, int]:
    return frames[0].line, frames[0].column


def _small(data: Any) -> Any:
    return data if data is None or len(encode(data, 128)) <= _DATA_BYTES else None


def _article(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


def _text(told: dict[str, Any], key: str) -> str:
    """A text from the other side, with the caps that rare.js keeps, kept here too."""
    value = told.get(key, "")
    return value[: _TEXT_MAX.get(key, 4_100)] if isinstance(value, str) else ""
