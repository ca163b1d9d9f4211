"""The kit that authors test with: it passes a sound pack and names each fault of an unsound one."""

import time

import anyio
import pytest

from catalog import Pack, ToolProblem, pack, tool
from catalog.kit import PackKit, faults

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def double(n: int) -> int:
    """Double a number.

    Args:
        n: the number
    """
    if n > 100:
        raise ToolProblem("too_big", f"{n} is above 100", hint="give a smaller one")
    return n * 2


@tool(effect="external")
async def wait() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


@tool(effect="external")
async def stubborn() -> None:
    """Wait and do not listen."""
    await anyio.sleep(0.01)
    with anyio.CancelScope(shield=True):
        await anyio.sleep(0.6)


@tool(effect="pure")
async def liar() -> int:
    """Say one thing and give another."""
    return "seven"  # type: ignore[return-value]


@tool(effect="pure")
async def shouting() -> int:
    """Fail with an odd code."""
    raise ToolProblem("TooLoud", "loud")


SOUND = pack("numbers", [double, wait, stubborn, liar, shouting], doc="Numbers.")


async def test_a_sound_pack_passes() -> None:
    async with PackKit(SOUND) as kit:
        kit.assert_sound()
        assert await kit.call("double", 4) == await kit.call("double", n=4) == 8
        problem = await kit.problem("double", n=101)
        assert (problem.code, problem.hint) == ("too_big", "give a smaller one")
        assert (await kit.problem("double", n="x")).code == "bad_arguments"
        await kit.assert_cancels("wait")
        assert kit.effects("double", 4).effect == "pure"


async def test_a_call_that_ignores_cancellation_fails_the_test() -> None:
    async with PackKit(SOUND) as kit:
        began = time.monotonic()
        with pytest.raises(BaseExceptionGroup) as caught:
            await kit.assert_cancels("stubborn")
        assert caught.group_contains(AssertionError, match="numbers.stubborn went on for 0.25 s after it was cancelled")
        assert time.monotonic() - began < 30


async def test_a_result_that_its_type_does_not_say_fails_the_test() -> None:
    async with PackKit(SOUND) as kit:
        with pytest.raises(Exception, match=r"Expected `int`|gave what its type does not say"):
            await kit.call("liar")
        with pytest.raises(AssertionError, match="code 'TooLoud': write it like_this"):
            await kit.problem("shouting")
        with pytest.raises(AssertionError, match=r"numbers.double gave 2, and a problem was expected"):
            await kit.problem("double", 1)


@tool(reads=["file:{pth}"])
async def careless(path: str):  # type: ignore[no-untyped-def]
    """Read a file, and go on about it in a first sentence that is so long that no list of tools could ever show it whole."""


async def silent(path: str) -> str:
    return path


def test_each_fault_is_one_line_with_what_to_write() -> None:
    unsound: Pack = pack("x", [careless, silent])
    assert faults(unsound) == [
        "x: no docstring; the module's first sentence is what a model is told",
        "x.careless: the first sentence has 115 characters; keep it under 100",
        "x.careless: argument path has no words; add it under Args: in the docstring",
        "x.careless: effect 'file:{pth}' uses {pth}, which is no argument; there are: path",
        "x.careless: the result has no type; write -> and what it gives, so that a model knows the fields",
        "x.silent: no docstring; a model chooses by its first sentence",
        "x.silent: argument path has no words; add it under Args: in the docstring",
        'x.silent: effects are not declared; write reads=[…], writes=[…] or effect="pure" (or "external")',
    ]
