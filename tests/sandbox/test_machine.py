"""The machine's moves: what is legal when, and what the caller is told otherwise."""

import pytest

from sandbox import Finished, Limits, Machine, Misuse, Problem, Reject, Resolve, Start
from sandbox.exchange import MOVES, State

START = Start(source="await tools.a.b(1)", tools=("a.b",))
SETTLE = Resolve(1, None)


def ready(state: str) -> Machine:
    machine = Machine()
    if state != "new":
        machine.send(START)
    if state == "ended":
        machine.send(SETTLE)
    return machine


def test_legal_moves_are_the_table() -> None:
    for state in ("new", "waiting", "ended"):
        for command in (START, SETTLE, Reject(1, Problem("x", "y"))):
            legal = (State(state), type(command).__name__) in MOVES
            machine = ready(state)
            if legal:
                machine.send(command)
            else:
                with pytest.raises(Misuse):
                    machine.send(command)


MISUSES = [
    ((), "send at least one command"),
    ((START, SETTLE), "Start stands alone: settle calls after it has answered"),
    ((Resolve(9, None),), "call 9 is not open: it was never made, or is settled already"),
]


@pytest.mark.parametrize(("commands", "text"), MISUSES)
def test_misuse_raises_and_says_what_is_wrong(commands: tuple[object, ...], text: str) -> None:
    with pytest.raises(Misuse) as caught:
        Machine().send(*commands)  # type: ignore[arg-type]
    assert str(caught.value) == text


def test_misuse_leaves_the_script_as_it_was() -> None:
    machine = ready("waiting")
    with pytest.raises(Misuse):
        machine.send(Resolve(1, "a"), Resolve(2, "b"))
    assert machine.send(Resolve(1, "a")) == [Finished("a")]


def test_a_call_is_settled_once() -> None:
    machine = Machine()
    machine.send(Start(source="await tools.a.b(1); await tools.a.b(2)", tools=("a.b",)))
    machine.send(Resolve(1, None))
    with pytest.raises(Misuse):
        machine.send(Resolve(1, None))


def test_a_call_twice_in_one_batch_is_misuse() -> None:
    with pytest.raises(Misuse):
        ready("waiting").send(Resolve(1, 1), Resolve(1, 2))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "3", True, None, 2**60])
def test_a_limit_must_be_a_number_above_zero(bad: object) -> None:
    with pytest.raises(ValueError, match="limit calls must be"):
        Limits(calls=bad)  # type: ignore[arg-type]


def test_scripts_share_nothing() -> None:
    first, second = Machine(), Machine()
    first.send(Start(source="globalThis.x = 1; Array.prototype.y = 2; store('k', 1)"))
    assert second.send(Start(source="[typeof x, [].y, load('k')]"))[-1] == Finished(["undefined", None, None])


def test_facts_that_are_no_json_are_misuse_and_the_machine_can_start_again() -> None:
    machine = Machine()
    with pytest.raises(Misuse, match="context and stored values must be JSON"):
        machine.send(Start(source="1", context={"a": object()}))
    assert machine.send(Start(source="1")) == [Finished(1)]
