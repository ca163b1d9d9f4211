"""Packs through the public door: run_script with modules, names and functions; approval; time; failures; help and recall."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Host, ToolProblem, choose, open_toolbox, pack, tool
from harness import Policy, Setup, allowing, run_script
from harness.offers import ToolSettings, offer_from

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def now(city: str, *, fahrenheit: bool = False) -> dict[str, Any]:
    """Say how warm it is.

    Args:
        city: where
        fahrenheit: in which degrees
    """
    if city == "Atlantis":
        raise ToolProblem("unknown_city", f"no weather for {city}", hint="known: Oslo", data={"city": city})
    return {"city": city, "degrees": 39 if fahrenheit else 4}


@tool(effect="external", approval=lambda given: given["amount"] > 10)
async def pay(amount: int) -> str:
    """Pay an amount.

    Args:
        amount: in euros
    """
    return f"paid {amount}"


@tool(effect="external", timeout_seconds=0.05)
async def hang() -> None:
    """Hang."""
    await anyio.sleep_forever()


@tool(effect="external")
async def together() -> None:
    """Fail inside a task group."""

    async def fail() -> None:
        raise ToolProblem("inner", "from inside")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fail)


@tool(effect="pure")
async def liar() -> int:
    """Give text for a number."""
    return "seven"  # type: ignore[return-value]


WEATHER = pack("weather", [now, pay, hang, together, liar], doc="Weather and money.")


async def problem(call: str, **options: Any) -> tuple[str, str, str]:
    source = f"let e; try {{ await {call}; e = {{}} }} catch (x) {{ e = x }}\n[e.name, e.message, e.hint]"
    outcome = await run_script(source, packs=[WEATHER], **options)
    assert outcome.ok, outcome.error
    return tuple(outcome.value)


async def test_a_pack_is_called_by_name_and_in_order() -> None:
    source = "[await tools.weather.now({ city: 'Oslo' }), await tools.weather.now('Oslo', { fahrenheit: true })]"
    outcome = await run_script(source, packs=[WEATHER])
    assert outcome.value == [{"city": "Oslo", "degrees": 4}, {"city": "Oslo", "degrees": 39}]


async def test_packs_functions_and_names_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")

    async def shout(text: str) -> str:
        return text.upper()

    source = "await tools.my.shout((await tools.files.read({ path: 'a.txt' })).text)"
    outcome = await run_script(source, packs=["files", WEATHER], tools={"my.shout": shout}, root=tmp_path)
    assert outcome.value.strip() == "HELLO"


async def test_a_problem_arrives_with_its_name_message_hint_and_data() -> None:
    outcome = await run_script("try { await tools.weather.now('Atlantis') } catch (e) { return e.data }", packs=[WEATHER])
    assert await problem("tools.weather.now('Atlantis')") == ("unknown_city", "no weather for Atlantis", "known: Oslo")
    assert outcome.value == {"city": "Atlantis"}


async def test_computed_arguments_are_checked_at_the_call() -> None:
    name, message, hint = await problem("tools.weather.now({ city: [1].map(x => x)[0] })")
    assert (name, message) == ("bad_arguments", "weather.now: city must be text, not the number 1")
    assert hint.startswith("write tools.weather.now({ city: string, fahrenheit?: boolean")


async def test_a_tool_that_asks_is_denied_without_an_approver() -> None:
    assert await problem("tools.weather.pay(11)") == (
        "denied",
        "weather.pay needs a person's approval, and it was not given: nobody answered",
        "it had no effect; go on without it, or say what you wanted to do and why",
    )
    assert (await run_script("await tools.weather.pay(10)", packs=[WEATHER])).value == "paid 10"


async def test_an_approver_sees_the_tool_and_its_arguments() -> None:
    seen: list[tuple[str, dict[str, Any]]] = []

    async def approve(name: str, arguments: Any) -> bool:
        seen.append((name, dict(arguments)))
        return True

    assert (await run_script("await tools.weather.pay(99)", packs=[WEATHER], approve=approve)).value == "paid 99"
    assert seen == [("weather.pay", {"amount": 99})]
    outcome = await run_script(
        "await tools.weather.pay(99)", packs=[WEATHER], setup=Setup(policy=Policy(allowing(["weather.*"])))
    )
    assert outcome.value == "paid 99"


async def test_a_tool_that_hangs_is_cancelled_after_its_own_time() -> None:
    name, message, _ = await problem("tools.weather.hang()")
    assert (name, message) == ("tool_timeout", "weather.hang took more than 0.05 seconds and was cancelled")


async def test_a_problem_out_of_a_task_group_is_the_problem_itself() -> None:
    assert (await problem("tools.weather.together()"))[:2] == ("inner", "from inside")


async def test_a_result_that_is_not_of_its_type_is_told_not_sent() -> None:
    name, message, _ = await problem("tools.weather.liar()")
    assert name == "tool_failed" and message.startswith("weather.liar failed: PydanticSerializationError")


async def test_help_answers_from_what_is_on_offer() -> None:
    outcome = await run_script("[await help(), await help('weather.now'), await help('how warm')]", packs=[WEATHER])
    overview, one, found = (str(text) for text in outcome.value)
    assert "weather" in overview and "fahrenheit" in one and "weather.now" in found


async def test_recall_gives_what_a_tool_kept(tmp_path: Path) -> None:
    host = Host(root=tmp_path)
    handle = host.results.keep({"rows": [1, 2]})
    async with open_toolbox(choose([WEATHER]), host=host) as toolbox:
        outcome = await run_script(f"(await recall('{handle}')).rows", toolbox=toolbox)
        assert outcome.value == [1, 2]
        outcome = await run_script("await recall('r7')", toolbox=toolbox)
    assert outcome.error is not None and outcome.error.name == "unknown_handle"


async def test_a_name_without_a_pack_is_refused() -> None:
    with pytest.raises(BadPack, match=r"a tool's name is <pack>\.<tool>"):
        await run_script("1", tools={"now": now})


def test_an_unknown_profile_is_told_with_the_place_where_it_was_set() -> None:
    with pytest.raises(BadPack) as caught:
        offer_from(ToolSettings(profile="readonly", profile_from="turnscript.toml: profile"))
    assert str(caught.value) == "turnscript.toml: profile: there is no profile 'readonly'; did you mean read-only?"
