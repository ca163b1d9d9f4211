"""What is told of a call whose promise is lost, or is taken for the value it will give. Words only; fates come from the text."""

from dataclasses import dataclass

from catalog.sketches import Use

_WANT_VALUES = frozenset({
    "show", "store", "JSON.stringify", "JSON.parse", "String", "Number", "Boolean", "parseInt", "parseFloat", "Object.keys",
    "Object.values", "Object.entries", "Array.from", "Array.isArray", "structuredClone",
})  # fmt: skip
_AWAIT = "write await before it"
_JOIN = "write await Promise.all(list.map(…))"
_EACH = "write for (const item of list) { await … }, or await Promise.all(list.map(async (item) => …))"


@dataclass(frozen=True, slots=True)
class Told:
    message: str
    hint: str
    is_certain: bool


def of_promise(use: Use, call: str, where: str) -> Told | None:
    """`call`: the call in words; `where`: the line of the slip when it is another one. None when all is well."""
    match use.fate:
        case "dropped":
            return _certain(
                f"{call} is not awaited: the script may end before it is done, and its failure goes unseen", f"write await {call}"
            )
        case "member":
            plain = use.detail.isidentifier()
            what = use.detail if plain else "a member"
            hint = f"write (await {call}).{use.detail}, or await the call where it is made" if plain else _AWAIT
            return _certain(f"{call} gives a promise, and {what} is read off the promise itself{where}", hint)
        case "iterated":
            return _certain(f"{call} gives a promise, and a promise is no list{where}", _AWAIT)
        case "text":
            return _certain(f"{call} gives a promise, which as text is [object Promise]{where}", _AWAIT)
        case "compared":
            return _certain(f"{call} gives a promise, and a promise is compared, not its value{where}", _AWAIT)
        case "tested":
            return _certain(f"{call} gives a promise, and a promise always counts as true{where}", _AWAIT)
        case "unjoined":
            return _certain(f"{use.detail} gives an array of promises of {call}, and await does not wait for those{where}", _JOIN)
        case "passed" if use.detail in _WANT_VALUES or use.detail.startswith("console."):
            return _certain(f"{use.detail} gets the promise of {call}, not its value", _AWAIT)
        case "unused":
            return _doubtful(f"{call} is not awaited: its promise is kept in {use.detail}, which is never read", _AWAIT)
        case "chained":
            return _doubtful(f"{call}.then(…) is not awaited: the script may end before it is done", _AWAIT)
        case "lost":
            return _lost(use, call, where)
        case _:
            return None


def _lost(use: Use, call: str, where: str) -> Told:
    match use.detail:
        case "forEach":
            return _doubtful(f"{call} may be cut off: forEach does not wait for its callback{where}", _EACH)
        case "map" | "flatMap":
            return _doubtful(f"{call} may be cut off: nobody awaits the promises that {use.detail} makes{where}", _JOIN)
        case "filter" | "some" | "every" | "find" | "findIndex" | "findLast" | "sort":
            first = "await the values first, then use " + use.detail
            return _doubtful(f"{use.detail} gets a promise of {call}, and a promise always counts as true{where}", first)
        case "":
            return _doubtful(f"{call} may be cut off: the function around it is called and not awaited{where}", _AWAIT)
        case name:
            return _doubtful(f"{call} may be cut off: {name}(…) is called and not awaited{where}", f"write await {name}(…)")


def _certain(message: str, hint: str) -> Told:
    return Told(message, hint, is_certain=True)


def _doubtful(message: str, hint: str) -> Told:
    return Told(message, hint, is_certain=False)
