"""Approval through a session: rules by tool and arguments, people who answer, answer late, wrongly, twice or never."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from catalog import tool
from harness import Answer, Policy, Request, Rule, Setup
from harness.approval import Decision, allowing
from harness.guards.approval import verdict_on
from harness.limits import TurnLimits
from harness.turn_clock import TurnClock
from tests.harness.guards.rig import Clock, caught, made, talking, together

pytestmark = pytest.mark.anyio

DENIED = "it had no effect; go on without it, or say what you wanted to do and why"


class Shop:
    """Tools that ask, and what they have done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def tools(self) -> list[Any]:
        @tool(effect="external", reads=["shop:{item}"], approval=True)
        async def buy(item: str, key: str = "") -> str:
            self.done.append(f"buy {item}")
            return f"bought {item}"

        @tool(effect="external", writes=["shop:{item}"], approval=True)
        async def sell(item: str) -> str:
            self.done.append(f"sell {item}")
            return f"sold {item}"

        @tool(reads=["shop:{item}"])
        async def look(item: str) -> str:
            self.done.append(f"look {item}")
            return f"saw {item}"

        @tool(effect="external", approval=lambda given: "rm" in str(given["command"]))
        async def run(command: str | list[str], *, env: dict[str, str] | None = None, cwd: str = ".") -> str:
            self.done.append(f"run {command}")
            return "ran"

        return [buy, sell, look, run]


class People:
    """An approver that answers by a function of the request, and notes what it was shown together."""

    def __init__(self, answer: Callable[[Request], Answer | Iterable[Answer] | None]) -> None:
        self._answer = answer
        self.batches: list[list[Request]] = []

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        self.batches.append(list(requests))
        await anyio.lowlevel.checkpoint()
        told: list[Answer] = []
        for one in requests:
            answer = self._answer(one)
            told += [] if answer is None else [answer] if isinstance(answer, Answer) else answer
        return told


def yes(request: Request) -> Answer:
    return Answer(request=request.id, verdict="allow")


def no(request: Request) -> Answer:
    return Answer(request=request.id, verdict="deny", reason="too dear")


async def test_a_person_says_yes_and_the_call_runs() -> None:
    shop, people = Shop(), People(yes)
    async with talking(*shop.tools(), approver=people) as session:
        outcome = await session.run("return await tools.x.buy('lamp')")
    assert outcome.value == "bought lamp"
    (request,) = people.batches[0]
    assert (request.session, request.call, request.tool, request.line) == ("s", "T1 call 1", "x.buy", 1)
    assert (request.shown, dict(request.arguments), request.writes) == ({"item": "lamp"}, {"item": "lamp", "key": ""}, ())
    assert request.why == "the tool asks before this"
    (decision,) = outcome.decisions
    assert (decision.request, decision.verdict, decision.by) == (request.id, "allow", "person")


async def test_a_person_says_no_which_a_script_can_catch() -> None:
    shop = Shop()
    async with talking(*shop.tools(), approver=People(no)) as session:
        outcome = await session.run(caught("tools.x.buy('lamp')"))
    assert outcome.value == ["denied", "x.buy needs a person's approval, and it was not given: too dear", DENIED]
    assert shop.done == [] and outcome.ledger.calls == {"denied": 1} and outcome.ledger.refused == {"approval": 1}


async def test_calls_that_wait_are_shown_together_in_the_order_of_the_script() -> None:
    shop, people = Shop(), People(yes)
    items = [f"item{n}" for n in range(12)]
    async with talking(*shop.tools(), approver=people) as session:
        outcome = await session.run(together(*(f"tools.x.buy('{item}')" for item in items)))
    assert outcome.value == [f"bought {item}" for item in items]
    assert [[request.shown["item"] for request in batch] for batch in people.batches] == [items]
    assert len({request.id for request in people.batches[0]}) == 12


async def test_others_go_on_while_a_person_thinks_but_not_on_the_same_resource() -> None:
    shop = Shop()
    others_done = anyio.Event()

    class Slow:
        async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
            while "look b" not in shop.done:
                await anyio.sleep(0.001)
            assert "look a" not in shop.done
            others_done.set()
            return [yes(one) for one in requests]

    async with talking(*shop.tools(), approver=Slow()) as session:
        outcome = await session.run(together("tools.x.sell('a')", "tools.x.look('a')", "tools.x.look('b')"))
    assert outcome.value == ["sold a", "saw a", "saw b"] and others_done.is_set()
    assert shop.done == ["look b", "sell a", "look a"]


async def test_waiting_for_a_person_takes_no_place_among_the_calls_that_run() -> None:
    shop = Shop()

    class Slow:
        async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
            while "look z" not in shop.done:
                await anyio.sleep(0.001)
            return [yes(one) for one in requests]

    async with talking(*shop.tools(), approver=Slow(), setup=Setup(turn=TurnLimits(calls_at_once=1))) as session:
        outcome = await session.run(together("tools.x.buy('a')", "tools.x.buy('b')", "tools.x.look('z')"))
    assert outcome.value == ["bought a", "bought b", "saw z"]


async def test_an_approver_that_raises_gives_no_answer() -> None:
    class Broken:
        async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
            raise RuntimeError("no terminal")

    async with talking(*Shop().tools(), approver=Broken()) as session:
        outcome = await session.run(caught("tools.x.buy('lamp')"))
        assert outcome.value[1] == "x.buy needs a person's approval, and it was not given: nobody answered"
        assert (await session.run("return await tools.x.look('a')")).value == "saw a"


class Hanging:
    def __init__(self, *, stubborn: bool) -> None:
        self._stubborn = stubborn
        self.freed = anyio.Event()

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        with anyio.CancelScope(shield=self._stubborn):
            await self.freed.wait()
        return [yes(one) for one in requests]


@pytest.mark.parametrize("stubborn", [False, True], ids=["stops", "ignores that it is over"])
async def test_no_answer_in_time_denies_and_the_turn_goes_on(stubborn: bool) -> None:
    shop, approver = Shop(), Hanging(stubborn=stubborn)
    setup = Setup(turn=TurnLimits(approval_seconds=0.05, grace_seconds=0.05))
    async with talking(*shop.tools(), approver=approver, setup=setup) as session:
        outcome = await session.run(caught("tools.x.buy('lamp')"))
        approver.freed.set()
        assert outcome.value == ["denied", "x.buy needs a person's approval, and it was not given within 0.05 seconds", DENIED]
        assert [(one.verdict, one.by) for one in outcome.decisions] == [("deny", "timeout")]
        assert ("the approver did not stop" in outcome.text) == stubborn
        assert (await session.run("return await tools.x.look('a')")).value == "saw a"
    assert shop.done == ["look a"]


async def test_the_clock_of_the_turn_stands_while_a_person_is_asked() -> None:
    class Slow:
        async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
            await anyio.sleep(0.6)
            return [yes(one) for one in requests]

    async with talking(*Shop().tools(), approver=Slow(), setup=Setup(turn=TurnLimits(turn_seconds=0.5))) as session:
        outcome = await session.run("await Promise.all([tools.x.buy('a'), tools.x.buy('b')]); return budget.seconds > 0")
    assert outcome.value is True and outcome.ledger.person_seconds >= 0.6


async def test_a_clock_that_several_stop_goes_on_with_the_last_where_it_was() -> None:
    now = Clock()
    clock = TurnClock(300.0, now=now)
    now.now += 100
    with clock.paused():
        now.now += 1_000
        with clock.paused():
            now.now += 10
        assert (clock.left_seconds(), clock.spent_seconds(), clock.scope.deadline) == (200.0, 100.0, float("inf"))
    assert (clock.left_seconds(), clock.spent_seconds(), clock.waited_seconds) == (200.0, 100.0, 1_010.0)
    assert clock.scope.deadline == now.now + 200
    now.now += 50
    assert (clock.left_seconds(), clock.spent_seconds()) == (150.0, 150.0)


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: Answer(request="another", verdict="allow"),
        lambda request: Answer(request="", verdict="allow", remember="tool"),
        lambda request: Answer(request=request.id, verdict="yes"),
        lambda request: [no(request), yes(request)],
        lambda request: None,
    ],
    ids=["to another request", "to none", "of another kind", "first no, then yes", "none"],
)
async def test_only_a_clear_yes_to_this_request_lets_it_run(answer: Any) -> None:
    shop = Shop()
    async with talking(*shop.tools(), approver=People(answer)) as session:
        for _ in range(2):
            assert (await session.run(caught("tools.x.buy('lamp')"))).value[0] == "denied"
    assert shop.done == []


async def test_an_answer_serves_once() -> None:
    """The same call again is another request, and an old answer does not fit it."""
    old: list[Answer] = []

    def answer(request: Request) -> Iterable[Answer]:
        told = list(old)
        old.append(yes(request))
        return told or [old[0]]

    people = People(answer)
    async with talking(*Shop().tools(), approver=people) as session:
        assert (await session.run("return await tools.x.buy('lamp')")).value == "bought lamp"
        assert (await session.run(caught("tools.x.buy('lamp')"))).value[0] == "denied"
    assert people.batches[0][0].id != people.batches[1][0].id


async def test_two_sessions_that_make_the_same_call_have_different_requests() -> None:
    people = People(yes)
    for id in ("one", "two"):
        async with talking(*Shop().tools(), approver=people, id=id) as session:
            await session.run("return await tools.x.buy('lamp')")
    assert people.batches[0][0].id != people.batches[1][0].id


@pytest.mark.parametrize(("verdict", "got"), [("allow", "bought lamp"), ("deny", "denied")])
async def test_what_is_remembered_for_the_arguments_is_not_asked_again(verdict: Any, got: str) -> None:
    people = People(lambda request: Answer(request=request.id, verdict=verdict, remember="arguments"))
    async with talking(*Shop().tools(), approver=people) as session:
        assert (await session.run(together("tools.x.buy('lamp')"))).value == [got]
        again = await session.run(together("tools.x.buy({ item: 'lamp' })"))
        assert again.value == [got] and [one.by for one in again.decisions] == ["remembered"]
        await session.run(together("tools.x.buy('desk')"))
    assert [[request.shown for request in batch] for batch in people.batches] == [[{"item": "lamp"}], [{"item": "desk"}]]


async def test_what_is_remembered_for_the_tool_holds_for_calls_that_wait_already() -> None:
    shop = Shop()

    asked: list[list[str]] = []

    class Person:
        async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
            asked.append([request.call for request in requests])
            await anyio.sleep(0.05)  # the second call comes meanwhile
            return [Answer(request=one.id, verdict="allow", remember="tool") for one in requests]

    async with talking(*shop.tools(), approver=Person()) as session:
        outcome = await session.run(
            "const first = tools.x.buy('a'); await tools.x.look('b'); return await Promise.all([first, tools.x.buy('c')])"
        )
    assert outcome.value == ["bought a", "bought c"] and asked == [["T1 call 1"]]
    assert [one.by for one in outcome.decisions] == ["person", "remembered"]


async def test_a_remembered_no_says_so() -> None:
    people = People(lambda request: Answer(request=request.id, verdict="deny", remember="tool"))
    async with talking(*Shop().tools(), approver=people) as session:
        await session.run(caught("tools.x.buy('lamp')"))
        outcome = await session.run(caught("tools.x.buy('desk')"))
    assert outcome.value[1] == "x.buy needs a person's approval, and it was not given: a person said no to it for this session"
    assert len(people.batches) == 1


async def test_an_odd_word_to_remember_remembers_nothing() -> None:
    people = People(lambda request: Answer(request=request.id, verdict="allow", remember="for ever"))  # type: ignore[arg-type]
    async with talking(*Shop().tools(), approver=people) as session:
        await session.run(together("tools.x.buy('a')"))
        await session.run(together("tools.x.buy('b')"))
    assert len(people.batches) == 2


async def test_a_person_sees_no_secrets_and_bounded_texts() -> None:
    people = People(no)
    setup = Setup(secrets={"SHOP_KEY": "s3cr3t-value-of-the-shop"})
    async with talking(*Shop().tools(), approver=people, setup=setup) as session:
        await session.run(caught("tools.x.buy({ item: 'x'.repeat(5000), key: 's3cr3t-value-of-the-shop' })"))
    (request,) = people.batches[0]
    assert "s3cr3t" not in str(request.shown) and len(str(request.shown)) < 1_000
    assert request.arguments["key"] == "s3cr3t-value-of-the-shop" and "s3cr3t" not in repr(request)


async def test_what_goes_on_record_has_no_arguments() -> None:
    async with talking(*Shop().tools(), approver=People(yes), clock=Clock()) as session:
        outcome = await session.run("return await tools.x.buy('lamp')")
    (decision,) = outcome.decisions
    assert decision == Decision(request=decision.request, call="T1 call 1", tool="x.buy", verdict="allow", by="person")


# ------------------------------------------------------------ rules


def rule(then: Any, tool: str = "x.run", **arguments: str) -> Rule:
    return Rule(tool=tool, then=then, arguments=arguments)


def verdict(given: Any, *rules: Rule) -> str:
    """What a policy of these rules says to a call of x.run."""
    named = given if isinstance(given, dict) else {"command": given}
    return verdict_on(made(Shop().tools()[3], **named), Policy(rules))[0]


async def test_a_rule_denies_in_its_own_words() -> None:
    async with talking(*Shop().tools(), setup=Setup(policy=Policy((rule("deny", "x.*", command="git push*"),)))) as session:
        outcome = await session.run(caught("tools.x.run('git push --force')"))
        assert outcome.value == [
            "forbidden",
            "x.run refused: a rule of this session denies this call (deny x.* with command: git push*)",
            "it had no effect; do it another way",
        ]
        assert [(one.verdict, one.by, one.reason) for one in outcome.decisions] == [
            ("deny", "rule", "deny x.* with command: git push*")
        ]
        assert (await session.run("return await tools.x.run('git log')")).value == "ran"


async def test_a_rule_allows_what_would_ask() -> None:
    async with talking(*Shop().tools(), setup=Setup(policy=Policy((rule("allow", command="rm build/*"),)))) as session:
        outcome = await session.run(together("tools.x.run('rm build/a')", "tools.x.run('rm build/a; rm b')"))
    assert outcome.value == ["ran", "denied"]


def test_the_first_rule_that_fits_decides() -> None:
    rules = (rule("allow", command="rm build/*"), rule("deny", command="rm *"), rule("ask"))
    assert [verdict(text, *rules) for text in ("rm build/a", "rm a", "ls")] == ["allow", "deny", "ask"]
    assert [verdict(text) for text in ("rm a", "ls")] == ["ask", "allow"]  # as the tool says


@pytest.mark.parametrize(
    "more", ["; rm /", "&& rm x", "| rm x", "\nrm x", "$(rm x)", "`rm x`", "> rm", "< rm", "& rm x", "\r\nrm x", "--x;rm", "(rm)"]
)
def test_a_star_in_a_rule_that_allows_stays_one_command(more: str) -> None:
    assert verdict("git status --short rm", rule("allow", command="git status*")) == "allow"
    assert verdict(f"git status {more}", rule("allow", command="git status*")) == "ask"
    assert verdict(["git", "status", more], rule("allow", command="git status*")) == "ask"


def test_a_star_in_a_rule_that_denies_covers_all() -> None:
    assert verdict("git push; ls", rule("deny", command="git push*")) == "deny"
    assert verdict("ls\ngit push", rule("deny", command="*git push*")) == "deny"


def test_a_list_of_words_is_judged_as_its_command_line() -> None:
    allow = rule("allow", command="rm build/?")
    assert verdict(["rm", "build/a"], allow) == "allow"
    assert verdict(["rm", "build/ab"], allow) == "ask"
    assert verdict(["rm", "-rf", "/"], rule("deny", command="rm -rf *")) == "deny"


def test_two_stars_stand_for_anything_because_somebody_wrote_so() -> None:
    assert verdict("rm a; ls", rule("allow", command="rm **")) == "allow"


def test_a_rule_by_arguments_does_not_allow_calls_that_set_others() -> None:
    """`git status` with a GIT_… variable, or in a folder with its own configuration, is another command."""
    allow = rule("allow", command="rm a")
    assert verdict({"command": "rm a", "cwd": ".", "env": None}, allow) == "allow"
    assert verdict({"command": "rm a", "env": {"LD_PRELOAD": "x.so"}}, allow) == "ask"
    assert verdict({"command": "rm a", "cwd": "evil"}, allow) == "ask"
    assert verdict({"command": "rm a", "cwd": "evil"}, rule("allow", command="rm a", cwd="**")) == "allow"
    assert verdict({"command": "rm a", "env": {"A": "b"}}, *allowing(["x.*"])) == "allow"
    assert verdict({"command": "rm a", "cwd": "evil"}, rule("deny", command="rm a")) == "deny"


async def test_a_rule_can_ask_for_what_does_not_ask_by_itself() -> None:
    people = People(yes)
    async with talking(*Shop().tools(), approver=people, setup=Setup(policy=Policy((rule("ask", "x.look"),)))) as session:
        assert (await session.run("return await tools.x.look('a')")).value == "saw a"
    assert people.batches[0][0].why == "ask x.look"


def test_patterns_see_defaults_too_and_no_rule_fits_an_argument_that_is_not_there() -> None:
    assert verdict("ls", rule("deny", cwd=".")) == "deny"
    assert verdict("ls", rule("deny", colour="*")) == "allow"


async def test_a_rule_denies_what_the_cache_could_serve() -> None:
    shop = Shop()
    deny = Policy((Rule(tool="x.look", then="deny", arguments={"item": "b"}),))
    async with talking(*shop.tools(), setup=Setup(policy=deny)) as session:
        outcome = await session.run(together("tools.x.look('a')", "tools.x.look('b')"))
    assert outcome.value == ["saw a", "forbidden"] and shop.done == ["look a"]
