"""Who may not enter: each request is refused with its reason, and the server serves the next one."""

from urllib.parse import urlsplit

import httpx
import pytest

from harness.adapters.mcp_gate import _bare
from harness.adapters.mcp_http import Address, check_settings, is_loopback, serve_http
from harness.adapters.mcp_server import McpServer
from harness.interfaces import ServeSettings
from harness.setup import BadConfig
from tests.harness.adapters.mcp_rig import Desk
from tests.harness.adapters.mcp_wire import answer_to, calling, head, initializing, posted
from tests.harness.adapters.test_mcp_http import served

anyio_only = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def works(address: Address) -> None:
    """The server still serves."""
    hello = await posted(address, initializing())
    answer = await posted(address, calling("return 1 + 1"), session=hello.headers["mcp-session-id"])
    assert (answer.status_code, '"text":"2"' in answer.text) == (200, True)


def told(answer: httpx.Response) -> str:
    message: str = answer.json()["error"]["message"]
    return message


STRANGERS: list[tuple[dict[str, str], int, str]] = [
    ({"authorization": ""}, 401, "a token is needed; send the header Authorization: Bearer TOKEN"),
    ({"authorization": "Bearer wrong"}, 401, "the token is not this server's"),
    ({"authorization": "Bearer"}, 401, "a token is needed"),
    ({"authorization": "Basic s3cret-token"}, 401, "the token is not this server's"),
    ({"origin": "https://evil.example"}, 403, "pages of https://evil.example may not connect"),
    ({"origin": "null"}, 403, "pages of null may not connect"),
    ({"host": "evil.example"}, 421, "this server is not reached as evil.example; use its address"),
    ({"host": "evil.example:8765"}, 421, "this server is not reached as evil.example:8765"),
    ({"host": "127.0.0.1.evil.example"}, 421, "this server is not reached as 127.0.0.1.evil.example"),
]


@pytest.mark.anyio
@anyio_only
async def test_who_is_not_known_stays_outside() -> None:
    async with served(Desk(), token="s3cret-token") as address:
        for headers, status, said in STRANGERS:
            answer = await posted(address, initializing(), **headers)
            assert (answer.status_code, said in told(answer)) == (status, True), answer.text
            assert "s3cret" not in answer.text
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_the_address_localhost_and_names_that_are_set_are_this_servers() -> None:
    async with served(Desk(), hosts=("tools.example",)) as address:
        for host in ("localhost", "LOCALHOST:1", "tools.example", "127.0.0.1:99", "[::1]:8765"):
            assert (await posted(address, initializing(), host=host)).status_code == 200, host
        elsewhere = address.url.replace("/mcp", "/other")
        assert (await posted(address, initializing(), url=elsewhere)).status_code == 404


@pytest.mark.anyio
@anyio_only
async def test_a_page_that_is_named_may_connect() -> None:
    page = "https://app.example"
    async with served(Desk(), origins=(page,)) as address:
        answer = await posted(address, initializing(), origin=page)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, page)
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
        asks = {"origin": page, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
        async with httpx.AsyncClient() as http:
            assert (await http.options(address.url, headers=asks)).status_code == 200
            assert (await http.options(address.url, headers={**asks, "origin": "https://evil.example"})).status_code == 403
        assert (await posted(address, initializing(), origin=page, authorization="")).status_code == 401


@pytest.mark.anyio
@anyio_only
async def test_a_body_that_is_too_large_is_refused_by_its_length_or_by_what_came() -> None:
    async with served(Desk(), body_bytes=1_000) as address:
        answer = await posted(address, b" " * 1_001)
        assert (answer.status_code, told(answer)) == (
            413,
            "the body has more than 1,000 bytes; send less, or raise serve.body_bytes",
        )
        lies = await answer_to(address, head(address, "content-length: 99999999999999999999"))
        chunk = b"400\r\n" + b" " * 1_024 + b"\r\n"
        chunked = await answer_to(address, head(address, "transfer-encoding: chunked"), chunk)
        assert [one.split(b" ")[1] for one in (lies, chunked)] == [b"413", b"413"]
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_a_slow_body_and_slow_headers_are_not_waited_for() -> None:
    async with served(Desk(), body_seconds=0.1) as address:
        body = await answer_to(address, head(address, "content-length: 10"), b"{")
        assert b" 408 " in body and b"the body did not come within 0.1 seconds" in body
        for part in (b"", b"POST /mcp HT", head(address)[:-4]):
            assert (await answer_to(address, *([part] if part else []))).startswith(b"HTTP/1.1 408 ")
        second = head(address, "content-length: 2") + b"{}" + b"POST /m"  # the start of another request behind a whole one
        assert b" 400 " in await answer_to(address, second)
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_more_clients_than_places_are_told_when_to_come_again() -> None:
    async with served(Desk(), sessions_max=1) as address:
        first = await posted(address, initializing())
        full = await posted(address, initializing())
        assert (full.status_code, full.headers["retry-after"]) == (503, "5")
        assert told(full) == "all places for clients are taken; try again in 5 seconds"
        session = first.headers["mcp-session-id"]
        assert (await posted(address, calling("return 1"), session=session)).status_code == 200
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {address.token}", "mcp-session-id": session}) as http:
            assert (await http.delete(address.url)).status_code == 200
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_a_body_that_is_no_message_is_an_error_and_leaves_no_session() -> None:
    unknown = b'{"jsonrpc": "2.0", "id": 1, "method": "x"}'
    desk = Desk()
    async with served(desk, sessions_max=1) as address:
        for body in (b"", b"nonsense", b"[]", b"[" * 50_000, b'{"jsonrpc": "2.0", "id": {}}', b"\xff\xfe", unknown):
            assert (await posted(address, body)).status_code in (400, 500), body[:40]
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_bytes_that_are_no_http_are_closed() -> None:
    async with served(Desk(), body_seconds=0.5) as address:
        assert b"400" in await answer_to(address, b"\x16\x03\x01\x00\xff\xff\r\n\r\n")
        huge = await answer_to(address, b"GET /mcp HTTP/1.1\r\nx: " + b"y" * 100_000)
        assert b"200" not in huge.split(b"\r\n")[0]
        upgrade = head(address, "connection: upgrade, close", "upgrade: websocket", "sec-websocket-version: 13", method="GET")
        assert b" 101 " not in await answer_to(address, upgrade)
        await works(address)


@pytest.mark.anyio
@anyio_only
async def test_a_token_is_made_where_none_is_set_and_another_one_each_time() -> None:
    tokens = []
    for _ in range(2):
        async with served(Desk()) as address:
            tokens.append(address.token)
            assert (address.made, len(address.token) >= 40, address.token in repr(address)) == (True, True, False)
    assert tokens[0] != tokens[1]


@pytest.mark.anyio
@anyio_only
async def test_a_port_that_is_taken_is_a_line_with_the_next_step() -> None:
    async with served(Desk()) as address, Desk().harness() as other:
        taken = ServeSettings(port=urlsplit(address.url).port or 0)
        with pytest.raises(BadConfig, match=r"cannot serve on 127\.0\.0\.1 port \d+: Address already in use; choose others with"):
            await serve_http(McpServer(other), taken)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ServeSettings(host="0.0.0.0"), "others can reach this address, so it needs a token of your own"),
        (ServeSettings(host="example.org"), "others can reach this address"),
        (ServeSettings(host="::"), "others can reach this address"),
        (ServeSettings(body_seconds=0), "serve.body_seconds: 0 is not above 0"),
        (ServeSettings(token="naïve"), "printable ASCII"),
        (ServeSettings(port=70_000), "70000 is no port"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: ServeSettings, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        check_settings(settings)


def test_addresses_are_compared_without_port_brackets_and_capitals() -> None:
    assert [_bare(host) for host in ("A.b:1", "[::1]:1", "::1", "")] == ["a.b", "::1", "::1", ""]
    assert [is_loopback(host) for host in ("127.0.0.9", "::1", "localhost", "10.0.0.1", "localhost.evil")] == [True] * 3 + [
        False
    ] * 2
