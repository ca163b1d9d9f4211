"""What an MCP client is asked: a person's approval by elicitation, and the folder to work in by roots."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import types

from harness.adapters.mcp_roots import first_folder
from harness.interfaces import SurfaceSettings
from harness.limits import TurnLimits
from harness.watching import Happened, TurnEnded
from tests.harness.adapters.mcp_rig import ERASES, ERASES_OR_SAYS, Desk, Person, client_of, ran, roots_at, talking, texts

pytestmark = pytest.mark.anyio
TWO = "return await Promise.all(['a', 'b'].map(name => tools.desk.erase({ name }).catch(error => error.message)))"


# ------------------------------------------------------------ approval


async def test_a_person_who_allows_lets_the_call_run() -> None:
    desk, person = Desk(), Person("allow")
    async with talking(desk, elicitation_callback=person) as client:
        assert await ran(client, ERASES) == ("erased old", False)
    assert desk.ran == ["erase old"]
    assert person.read == [
        'A script wants to call desk.erase (line 1, writes file:old; the tool asks before this):\n{\n  "name": "old"\n}'
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("deny", "it was not given"),
        ("decline", "it was not given: the person declined"),
        ("cancel", "it was not given: nobody answered"),
        ("error", "it was not given: nobody answered"),
        ("perhaps", "it was not given: nobody answered"),
    ],
)
async def test_anything_but_a_yes_denies(said: str, told: str) -> None:
    desk = Desk()
    async with talking(desk, elicitation_callback=Person(said)) as client:
        text, is_error = await ran(client, ERASES_OR_SAYS)
    assert (text, is_error) == (f"desk.erase needs a person's approval, and {told}", False)
    assert desk.ran == []


async def test_a_client_that_cannot_ask_denies_and_says_why() -> None:
    desk = Desk()
    async with talking(desk) as client:
        text, _ = await ran(client, ERASES_OR_SAYS)
        again, _ = await ran(client, "return 1")
    said, notice = text.split("\n")
    assert said == "desk.erase needs a person's approval, and it was not given: nobody answered"
    assert notice.startswith("notice: this client cannot be asked (it declares no elicitation)")
    assert (desk.ran, again) == ([], "1")


async def test_calls_that_wait_together_are_asked_one_after_the_other() -> None:
    desk, person = Desk(), Person("deny", "allow")
    async with talking(desk, elicitation_callback=person) as client:
        text, _ = await ran(client, TWO)
    assert (len(person.read), desk.ran) == (2, ["erase b"])
    assert "it was not given" in text


async def test_who_closes_the_form_is_not_asked_for_the_rest() -> None:
    desk, person = Desk(), Person("cancel")
    async with talking(desk, elicitation_callback=person) as client:
        await ran(client, TWO)
    assert (len(person.read), desk.ran) == (1, [])


async def test_what_is_allowed_always_for_a_tool_is_not_asked_again() -> None:
    desk, person = Desk(), Person("allow always for this tool")
    async with talking(desk, elicitation_callback=person) as client:
        await ran(client, TWO)
        await ran(client, ERASES)
    assert (len(person.read), set(desk.ran)) == (1, {"erase a", "erase b", "erase old"})


async def test_what_is_allowed_always_with_arguments_is_asked_for_others() -> None:
    desk, person = Desk(), Person("allow always with these arguments", "deny")
    async with talking(desk, elicitation_callback=person) as client:
        await ran(client, TWO)
        await ran(client, "return await tools.desk.erase({ name: 'a' })")
    assert (len(person.read), desk.ran) == (2, ["erase a", "erase a"])


async def test_a_script_that_goes_on_by_itself_asks_too() -> None:
    desk, person = Desk(), Person("allow")
    surface = SurfaceSettings(yield_seconds=0.01)
    async with talking(desk, surface=surface, elicitation_callback=person) as client:
        begun = await client.call_tool("run_script", {"script": f"await tools.desk.gate(); {ERASES}"})
        assert "still runs" in texts(begun)[0]
        desk.gate.set()
        ended = await client.call_tool("wait_script", {"seconds": 20})
    assert (texts(ended), desk.ran) == (["erased old"], ["erase old"])


async def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    desk, over = Desk(turn=TurnLimits(approval_seconds=0.05)), anyio.Event()

    async def late(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        await over.wait()
        return types.ElicitResult(action="accept", content={"choice": "allow"})

    def watch(happened: Happened) -> None:
        if isinstance(happened, TurnEnded):
            over.set()

    async with talking(desk, elicitation_callback=late, watch=watch) as client:
        text, _ = await ran(client, ERASES_OR_SAYS)
        assert text == "desk.erase needs a person's approval, and it was not given within 0.05 seconds"
        assert await ran(client, "return 1") == ("1", False)
    assert desk.ran == []


# ------------------------------------------------------------ roots


async def test_a_clients_root_below_the_harness_root_is_where_its_session_works(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    below = tmp_path / "a b"
    below.mkdir()
    async with talking(desk, list_roots_callback=roots_at(below.as_uri(), "file:///etc")) as client:
        assert await ran(client, "return context.root") == (str(below), False)
    assert desk.opened().facts.root == str(below)


async def test_a_root_outside_is_followed_only_when_the_server_says_so(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (inside / "link").symlink_to(outside)
    async with Desk(inside).harness() as harness:
        for uri in (outside.as_uri(), (inside / "link").as_uri(), (inside / ".." / "out").as_uri()):
            async with client_of(harness, list_roots_callback=roots_at(uri)) as client:
                text, _ = await ran(client, "return context.root")
                assert text.startswith(f"{inside}\nnotice: the client's root "), text
                assert f"lies outside, so tools work in {inside}; start the server with --client-roots" in text
                assert await ran(client, "return 1") == ("1", False)
        async with client_of(harness, client_roots=True, list_roots_callback=roots_at(outside.as_uri())) as client:
            assert await ran(client, "return context.root") == (str(outside), False)


async def test_a_root_that_is_not_here_is_told(tmp_path: Path) -> None:
    async with talking(Desk(tmp_path), list_roots_callback=roots_at((tmp_path / "gone").as_uri())) as client:
        text, _ = await ran(client, "return context.root")
    assert text == f"{tmp_path}\nnotice: the client's root {tmp_path / 'gone'} is no folder here, so tools work in {tmp_path}"


async def test_without_a_folder_among_the_roots_the_harness_root_holds(tmp_path: Path) -> None:
    async with talking(Desk(tmp_path), list_roots_callback=roots_at()) as client:
        assert await ran(client, "return context.root") == (str(tmp_path), False)


def test_the_first_folder_of_this_machine_counts() -> None:
    assert first_folder(["https://example.org/x", "file://fileserver/share", "file:///a%20b", "file:///c"]) == Path("/a b")
    assert first_folder(["file://fileserver/share", "nonsense"]) is None
