"""What would make judging a value endless, or exponential, is cut out of definitions: the part accepts anything there.

Schemas may refer in circles, and a tree of nodes does so for good reason: it stays. A circle that never leaves the value it
judges has no end. One that passes through a choice, and choices of choices, can double the work with every step: those are cut.
"""

from collections.abc import Iterator, Mapping

from tool_packs.openapi_schema import Edge, Made

_WORK_MAX = 1_024  # ways through the choices of one definition
_IN_PLACE_MAX = 24  # definitions that judge the same value one through the other; each takes some of Python's stack


def cut_loops(definitions: Mapping[str, Made]) -> None:
    work: dict[str, int] = {}
    height: dict[str, int] = {}
    for circle in _circles(definitions):
        for name in circle:
            _cut_inside(definitions[name], circle)
        for name in circle:
            _cut_in_place(name, definitions, circle)
        for name in circle:
            _cut_costly(name, definitions[name], work, height)


def _alive(made: Made) -> list[Edge]:
    return [edge for edge in made.edges if "$ref" in edge.holder]


def _cut(edge: Edge) -> None:
    edge.holder.clear()


def _cut_inside(made: Made, circle: frozenset[str]) -> None:
    """Of the references back into the circle, those below a choice; below allOf all but the first."""
    inside = [edge for edge in _alive(made) if edge.target in circle]
    kept_one = False
    for edge in inside:
        if edge.under == "any" or (edge.under == "all" and kept_one) or (edge.under == "" and edge.in_place):
            _cut(edge)
        kept_one = kept_one or edge.under == "all"


def _cut_in_place(name: str, definitions: Mapping[str, Made], circle: frozenset[str]) -> None:
    """At most one reference of each definition is left that stays in the circle and with the value: a line to walk along."""
    at, seen = name, {name}
    while edge := next((one for one in _alive(definitions[at]) if one.in_place and one.target in circle), None):
        if edge.target in seen:
            _cut(edge)
            return
        at = edge.target
        seen.add(at)


def _cut_costly(name: str, made: Made, work: dict[str, int], height: dict[str, int]) -> None:
    """References into the circle, which are not counted yet, count one."""
    composed, plain, high = 0, 1, 0
    for edge in _alive(made):
        if edge.in_place and height.get(edge.target, 0) + 1 > _IN_PLACE_MAX:
            _cut(edge)
            continue
        cost = work.get(edge.target, 1)
        if edge.under and composed + cost > _WORK_MAX:
            _cut(edge)
            continue
        composed, plain = (composed + cost, plain) if edge.under else (composed, max(plain, cost))
        high = max(high, height.get(edge.target, 0) + 1 if edge.in_place else 0)
    work[name], height[name] = max(composed, plain), high


def _circles(definitions: Mapping[str, Made]) -> Iterator[frozenset[str]]:
    """Definitions that refer to each other, by Tarjan's way, without recursion; what is referred to comes first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    for start in definitions:
        if start in index:
            continue
        road: list[tuple[str, Iterator[str]]] = [(start, _targets(definitions, start))]
        index[start] = low[start] = len(index)
        open_.append(start)
        is_open.add(start)
        while road:
            name, targets = road[-1]
            target = next(targets, None)
            if target is None:
                road.pop()
                if road:
                    low[road[-1][0]] = min(low[road[-1][0]], low[name])
                if low[name] == index[name]:
                    at = open_.index(name)
                    circle = frozenset(open_[at:])
                    del open_[at:]
                    is_open -= circle
                    yield circle
            elif target not in index:
                index[target] = low[target] = len(index)
                open_.append(target)
                is_open.add(target)
                road.append((target, _targets(definitions, target)))
            elif target in is_open:
                low[name] = min(low[name], index[target])


def _targets(definitions: Mapping[str, Made], name: str) -> Iterator[str]:
    return iter([edge.target for edge in definitions[name].edges])
