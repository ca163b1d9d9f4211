"""Pages fetched from real servers on loopback, with everything that servers do wrong; nothing leaves the machine."""

import gzip
import json
import socket
import ssl
import subprocess
import sys
import textwrap
import zlib
from dataclasses import asdict, replace
from pathlib import Path

import anyio
import httpcore
import pytest

from catalog import BadPack, Host, ToolProblem, pack
from tests.tool_packs.servers import Asked, Server, answer, pages, serving
from tool_packs import web
from tool_packs.connect import Resolve, dial
from tool_packs.web import Settings, Web, fetch, search
from tool_packs.web_cache import FolderCache, Kept, MemoryCache
from tool_packs.web_fetch import Unpacked

pytestmark = pytest.mark.anyio

PAGE = answer(body=b"<title>Hello</title><h1>Hi</h1><p>Some <b>text</b>.")


def made(tmp_path: Path, *servers: Server, host: Host | None = None, **told: object) -> Web:
    settings = Settings.model_validate({"allow": [server.place for server in servers], "timeout_seconds": 5, **told})
    return Web(settings, host or Host(root=tmp_path))


async def problem_of(resource: Web, url: str) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await fetch(resource, url)
    await resource.aclose()
    return caught.value


async def test_a_page_is_fetched_as_markdown_with_all_its_facts(tmp_path: Path) -> None:
    with serving(pages({"/a": PAGE})) as server:
        resource = made(tmp_path, server, host=Host(root=tmp_path, clock=lambda: 1_700_000_000.0))
        fetched = await fetch(resource, f"{server.url}/a#part")
        await resource.aclose()
    assert fetched.model_dump() == {
        "pages": [
            {
                "url": f"{server.url}/a#part",
                "final_url": f"{server.url}/a",
                "status": 200,
                "title": "Hello",
                "text": "# Hi\n\nSome **text**.",
                "media_type": "text/html",
                "bytes": 51,
                "fetched_at": "2023-11-14T22:13:20Z",
                "cached": False,
                "truncated": False,
                "handle": None,
                "total_chars": 20,
                "tokens": 5,
            }
        ],
        "failed": [],
    }
    assert server.asked[0].headers == {
        "host": server.place,
        "user-agent": "turnscript",
        "accept": "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.8,*/*;q=0.1",
        "accept-encoding": "gzip, deflate",
    }


async def test_in_a_list_one_failure_does_not_lose_the_others(tmp_path: Path) -> None:
    with serving(pages({"/a": PAGE, "/b": answer(body=b"<p>two")})) as server:
        resource = made(tmp_path, server)
        wanted = [
            f"{server.url}/a",
            "http://evil.example/",
            f"{server.url}/gone",
            f"{server.url}/b",
            "ftp://x/",
            f"{server.url}/a",
        ]
        fetched = await fetch(resource, wanted)
        await resource.aclose()
    assert [page.text for page in fetched.pages] == ["# Hi\n\nSome **text**.", "two"]
    assert [(one.what, one.code) for one in fetched.failed] == [
        ("http://evil.example/", "host_not_allowed"),
        (f"{server.url}/gone", "bad_status"),
        ("ftp://x/", "bad_url"),
    ]
    assert [asked.target for asked in server.asked].count("/a") == 1


async def test_pages_of_a_list_are_fetched_at_once(tmp_path: Path) -> None:
    """Each answer waits until all three requests have come."""

    def together(asked: Asked, wire: socket.socket, server: Server) -> None:
        while len(server.asked) < 3 and not server.closing.wait(0.01):
            pass
        wire.sendall(PAGE)

    with serving(together) as server:
        resource = made(tmp_path, server)
        fetched = await fetch(resource, [f"{server.url}/{number}" for number in range(3)])
        await resource.aclose()
    assert len(fetched.pages) == 3


async def test_a_long_page_is_cut_at_a_line_and_kept_whole_under_a_handle(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(1000))
    with serving(pages({"/t": answer(body=text.encode(), content_type="text/plain")})) as server:
        resource = made(tmp_path, server)
        (page,) = (await fetch(resource, f"{server.url}/t", max_chars=100)).pages
        await resource.aclose()
    assert page.truncated
    assert page.text == "\n".join(f"line {number}" for number in range(13))
    assert (page.total_chars, page.tokens) == (len(text), 24)
    assert page.handle is not None
    assert resource.host.results.get(page.handle) == text


async def test_the_source_of_a_page_is_given_when_asked_for(tmp_path: Path) -> None:
    with serving(pages({"/a": PAGE})) as server:
        resource = made(tmp_path, server)
        (page,) = (await fetch(resource, f"{server.url}/a", raw=True)).pages
        await resource.aclose()
    assert page.text == "<title>Hello</title><h1>Hi</h1><p>Some <b>text</b>."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"urls": []}, "urls has 0 items"),
        ({"urls": ["http://a/"] * 21}, "urls has 21 items"),
        ({"urls": "http://a/", "max_chars": 0}, "max_chars is 0"),
    ],
)
async def test_arguments_that_make_no_sense_are_told(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        await fetch(made(tmp_path), **arguments)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.message) == ("bad_argument", message)


# Guards


async def test_an_address_on_loopback_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with serving(pages({"/": PAGE})) as server:
        problem = await problem_of(made(tmp_path, allow=["*", f"*:{server.port}"]), f"{server.url}/")
    assert problem.code == "address_refused"
    assert problem.message == "127.0.0.1 is a loopback address, which may not be reached"
    assert server.asked == []


async def test_a_redirect_to_a_host_that_is_not_allowed_is_not_followed(tmp_path: Path) -> None:
    with serving(pages({"/": PAGE})) as inside, serving(pages({"/": answer(302, Location=f"{inside.url}/")})) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/")
    assert problem.code == "host_not_allowed"
    assert inside.asked == []


@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/", "file:///etc/passwd", "http://[::1]/", "//0x7f000001/"])
async def test_a_redirect_to_a_private_address_is_not_followed(tmp_path: Path, location: str) -> None:
    with serving(pages({"/": answer(307, Location=location)})) as server:
        problem = await problem_of(made(tmp_path, allow=[server.place, "*"]), f"{server.url}/")
    assert problem.code in ("address_refused", "bad_url")


async def test_redirects_are_followed_and_the_page_says_where_they_led(tmp_path: Path) -> None:
    routes = {"/1": answer(301, Location="/2"), "/2": answer(303, Location="3?x=ü"), "/3": PAGE}
    with serving(pages(routes)) as server:
        resource = made(tmp_path, server)
        (page,) = (await fetch(resource, f"{server.url}/1")).pages
        await resource.aclose()
    assert page.final_url == f"{server.url}/3?x=%C3%BC"


async def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with serving(pages({"/1": answer(302, Location="/2"), "/2": answer(302, Location="/1")})) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/1")
    assert problem.code == "redirect_loop"
    assert problem.message == f"{server.url}/1 redirects in a circle: {server.url}/1 → {server.url}/2 → {server.url}/1"


async def test_endless_redirects_end(tmp_path: Path) -> None:
    def further(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(answer(302, Location=f"/{int(asked.target[1:]) + 1}"))

    with serving(further) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/0")
    assert problem.code == "too_many_redirects"
    assert problem.message == f"{server.url}/0 redirects more than 5 times; the last was to {server.url}/6"
    assert len(server.asked) == 6


def answers_in_turn(*answers: list[str]) -> tuple[list[str], Resolve]:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return asked, resolve


async def test_the_address_that_was_checked_is_the_address_that_is_connected_to(tmp_path: Path) -> None:
    """The name resolves to a public address once, and to loopback ever after."""
    asked, resolve = answers_in_turn(["93.184.216.34"], ["127.0.0.1"])
    dialled: list[tuple[str, int]] = []
    with serving(pages({"/": PAGE})) as server:

        async def to_server(ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:
            dialled.append((ip, port))
            return await dial("127.0.0.1", server.port, timeout)

        resource = Web(Settings(allow=["rebind.example"]), Host(root=tmp_path), resolve=resolve, dial=to_server)
        await fetch(resource, "http://rebind.example/")
        assert (asked, dialled) == (["rebind.example"], [("93.184.216.34", 80)])
        problem = await problem_of(resource, "http://rebind.example/again")
    assert problem.message == "rebind.example resolves to 127.0.0.1, a loopback address, which may not be reached"
    assert dialled == [("93.184.216.34", 80)]
    assert [one.headers["host"] for one in server.asked] == ["rebind.example"]


async def test_a_redirect_back_to_the_same_name_is_checked_anew(tmp_path: Path) -> None:
    _, resolve = answers_in_turn(["93.184.216.34"], ["169.254.169.254"])
    dialled: list[str] = []
    with serving(pages({"/": answer(302, Location="/secret"), "/secret": PAGE})) as server:

        async def to_server(ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:
            dialled.append(ip)
            return await dial("127.0.0.1", server.port, timeout)

        resource = Web(Settings(allow=["rebind.example"]), Host(root=tmp_path), resolve=resolve, dial=to_server)
        problem = await problem_of(resource, "http://rebind.example/")
    assert problem.message == "rebind.example resolves to 169.254.169.254, a metadata address, which may not be reached"
    assert dialled == ["93.184.216.34"]


async def test_one_private_address_among_public_ones_refuses_the_host(tmp_path: Path) -> None:
    _, resolve = answers_in_turn(["93.184.216.34", "10.0.0.1"])

    async def never(ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:
        raise AssertionError(ip)

    resource = Web(Settings(allow=["mixed.example"]), Host(root=tmp_path), resolve=resolve, dial=never)
    assert (await problem_of(resource, "http://mixed.example/")).code == "address_refused"


async def test_the_next_address_of_a_host_is_tried_when_the_first_is_dead(tmp_path: Path) -> None:
    with serving(pages({"/": PAGE})) as server:
        _, resolve = answers_in_turn(["127.0.0.77", "127.0.0.1"])
        settings = Settings(allow=[f"two.example:{server.port}"], allow_private=True)
        resource = Web(settings, Host(root=tmp_path), resolve=resolve)
        assert (await fetch(resource, f"http://two.example:{server.port}/")).pages[0].title == "Hello"
        await resource.aclose()


async def test_an_ipv6_address_is_reached_and_named_in_brackets(tmp_path: Path) -> None:
    try:
        with serving(pages({"/": PAGE}), ip="::1") as server:
            resource = made(tmp_path, allow=[f"[::1]:{server.port}"])
            assert (await fetch(resource, f"http://[::1]:{server.port}/")).pages[0].title == "Hello"
            await resource.aclose()
    except OSError:
        pytest.skip("needs IPv6 on loopback")
    assert server.asked[0].headers["host"] == f"[::1]:{server.port}"


async def test_a_name_that_does_not_exist_is_told(tmp_path: Path) -> None:
    _, resolve = answers_in_turn([])
    resource = Web(Settings(allow=["nowhere.example"]), Host(root=tmp_path), resolve=resolve)
    problem = await problem_of(resource, "http://nowhere.example/")
    assert (problem.code, problem.message) == ("unknown_host", "nowhere.example could not be resolved: the name has no address")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=secure.example -addext subjectAltName=DNS:secure.example"
    )
    try:
        subprocess.run(
            [*command.split(), "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("needs openssl to make a certificate")
    return folder


@pytest.mark.parametrize(("name", "code"), [("secure.example", None), ("other.example", "not_reached")])
async def test_tls_is_verified_by_name_although_an_ip_is_dialled(
    tmp_path: Path, certificate: Path, name: str, code: str | None
) -> None:
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(pages({"/": PAGE}), tls=inside) as server:
        _, resolve = answers_in_turn(["127.0.0.1"])
        resource = Web(
            Settings(allow=[f"{name}:{server.port}"], allow_private=True),
            Host(root=tmp_path),
            resolve=resolve,
            make_tls=lambda: ssl.create_default_context(cafile=str(certificate / "cert.pem")),
        )
        url = f"https://{name}:{server.port}/"
        if code is None:
            assert (await fetch(resource, url)).pages[0].title == "Hello"
            await resource.aclose()
            assert server.asked[0].server_name == name
        else:
            problem = await problem_of(resource, url)
            assert problem.code == code
            assert "certificate verify failed" in problem.message


# Bounds


async def test_a_body_larger_than_allowed_is_refused_by_its_length_alone(tmp_path: Path) -> None:
    def lies(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99999999999\r\n\r\n")
        server.closing.wait()

    with serving(lies) as server:
        problem = await problem_of(made(tmp_path, server, max_bytes=1000), f"{server.url}/")
    assert problem.code == "too_large"
    assert problem.message == f"{server.url}/ is larger than 1,000 bytes, the most that is fetched"
    assert problem.data == {"max_bytes": 1000, "content_length": "99999999999"}


async def test_a_body_without_a_length_is_read_no_further_than_allowed(tmp_path: Path) -> None:
    sent = 0

    def endless(asked: Asked, wire: socket.socket, server: Server) -> None:
        nonlocal sent
        wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            wire.sendall(b"x" * 65_536)
            sent += 65_536

    with serving(endless) as server:
        problem = await problem_of(made(tmp_path, server, max_bytes=100_000), f"{server.url}/")
    assert problem.code == "too_large"
    assert sent < 50_000_000


BOMBS = [
    ("gzip", gzip.compress(bytes(50_000_000), 1)),
    ("deflate", zlib.compress(bytes(50_000_000), 1)),
    ("gzip", b"".join([gzip.compress(bytes(100_000), 1)] * 200)),
]


@pytest.mark.parametrize(("encoding", "bomb"), BOMBS, ids=["gzip", "deflate", "many members"])
async def test_a_bomb_is_not_unpacked_beyond_what_is_allowed(tmp_path: Path, encoding: str, bomb: bytes) -> None:
    with serving(pages({"/": answer(body=bomb, content_type="text/plain", Content_Encoding=encoding)})) as server:
        problem = await problem_of(made(tmp_path, server, max_bytes=1_000_000), f"{server.url}/")
    assert problem.code == "too_large"


@pytest.mark.parametrize(("encoding", "bomb"), BOMBS, ids=["gzip", "deflate", "many members"])
def test_a_bomb_takes_no_more_memory_than_is_allowed(encoding: str, bomb: bytes) -> None:
    into = Unpacked(encoding, 1_000)
    into.feed(bomb)
    assert (len(into.body), into.full) == (1_001, True)


RAW_DEFLATE = zlib.compressobj(wbits=-15)
PACKED = [
    ("gzip", gzip.compress(b"packed text")),
    ("x-gzip", gzip.compress(b"packed ") + gzip.compress(b"text")),
    ("deflate", zlib.compress(b"packed text")),
    ("deflate", RAW_DEFLATE.compress(b"packed text") + RAW_DEFLATE.flush()),
    ("identity", b"packed text"),
]


@pytest.mark.parametrize(("encoding", "body"), PACKED)
async def test_packed_bodies_are_unpacked(tmp_path: Path, encoding: str, body: bytes) -> None:
    with serving(pages({"/": answer(body=body, content_type="text/plain", Content_Encoding=encoding)})) as server:
        resource = made(tmp_path, server)
        assert (await fetch(resource, f"{server.url}/")).pages[0].text == "packed text"
        await resource.aclose()


BROKEN = {
    "cut gzip": answer(body=gzip.compress(b"text" * 1000)[:-12], content_type="text/plain", Content_Encoding="gzip"),
    "no gzip": answer(body=b"not packed at all", content_type="text/plain", Content_Encoding="gzip"),
    "other packing": answer(body=b"x", content_type="text/plain", Content_Encoding="br"),
    "packed twice": answer(body=b"x", content_type="text/plain", Content_Encoding="gzip, gzip"),
    "shorter than its length": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort",
    "no http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing": b"",
    "bad chunk": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "endless header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000,
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_answer_that_is_broken_is_told(tmp_path: Path, name: str) -> None:
    with serving(pages({"/": BROKEN[name]})) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/")
    assert problem.code in ("bad_answer", "not_reached")
    assert problem.hint


async def test_a_server_that_drips_is_left_when_the_time_is_over(tmp_path: Path) -> None:
    def drip(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n")
        while not server.closing.wait(0.02):
            wire.sendall(b"x")

    with serving(drip) as server:
        problem = await problem_of(made(tmp_path, server, timeout_seconds=0.4), f"{server.url}/")
    assert (problem.code, problem.message) == ("timed_out", f"{server.url}/ was not answered in full within 0.4 s")


async def test_a_server_that_says_nothing_is_left_when_the_time_is_over(tmp_path: Path) -> None:
    with serving(lambda asked, wire, server: server.closing.wait() and None) as server:
        problem = await problem_of(made(tmp_path, server, timeout_seconds=0.3), f"{server.url}/")
    assert problem.code == "timed_out"


async def test_slow_redirects_share_one_time(tmp_path: Path) -> None:
    def slowly(asked: Asked, wire: socket.socket, server: Server) -> None:
        server.closing.wait(0.15)
        wire.sendall(answer(302, Location=f"/{int(asked.target[1:]) + 1}"))

    with serving(slowly) as server:
        problem = await problem_of(made(tmp_path, server, timeout_seconds=0.4), f"{server.url}/0")
    assert problem.code == "timed_out"


async def test_a_cancelled_fetch_closes_its_connection(tmp_path: Path) -> None:
    """The server reads until the connection is closed, and leaving `serving` waits for that."""
    closed: list[bytes] = []
    with serving(lambda asked, wire, server: closed.append(wire.recv(1))) as server:
        resource = made(tmp_path, server, timeout_seconds=60)
        async with anyio.create_task_group() as group:
            group.start_soon(fetch, resource, f"{server.url}/")
            with anyio.fail_after(5):
                while not server.asked:
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        await resource.aclose()
    assert closed == [b""]


STATUS = [
    (404, "404 Not Found", "check the path, or search for the page"),
    (429, "429 Too Many Requests", "the server asks for fewer requests; wait before the next one (it says: after 7 s)"),
    (503, "503 Service Unavailable", "the server failed; try again later (it says: after 7 s)"),
    (299 + 300, "599 no standard status", "the server failed; try again later (it says: after 7 s)"),
    (304, "304 Not Modified", "fetch another address (it says: after 7 s)"),
]


@pytest.mark.parametrize(("status", "words", "hint"), STATUS)
async def test_a_status_that_is_no_success_is_told(tmp_path: Path, status: int, words: str, hint: str) -> None:
    told = {} if status == 404 else {"Retry_After": "7"}
    body = b"" if status == 304 else b"because"
    with serving(pages({"/": answer(status, body, **told)})) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/")
    assert (problem.code, problem.message, problem.hint) == ("bad_status", f"{server.url}/ answered {words}", hint)
    assert problem.data == {"status": status, "text": body.decode()}


async def test_a_dead_server_is_told(tmp_path: Path) -> None:
    with serving(pages({})) as server:
        pass
    problem = await problem_of(made(tmp_path, server), f"{server.url}/")
    assert problem.code == "not_reached"
    assert problem.message.startswith(f"{server.url} could not be reached: ")


async def test_no_cookie_is_kept(tmp_path: Path) -> None:
    with serving(pages({"/": answer(body=b"x", Set_Cookie="a=b"), "/2": PAGE})) as server:
        resource = made(tmp_path, server)
        await fetch(resource, f"{server.url}/")
        await fetch(resource, f"{server.url}/2")
        await resource.aclose()
    assert all("cookie" not in asked.headers for asked in server.asked)


# Text

TEXTS = [
    ("text/html; charset=iso-8859-1", "<p>caf\xe9 \x80".encode("cp1252", "replace").replace(b"?", b"\x80"), "café €"),
    ("text/html", '<meta charset="windows-1251"><p>Привет'.encode("cp1251"), "Привет"),
    ("text/html", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>日本'.encode("shift_jis"), "日本"),
    ("text/html; charset=utf-8", '<meta charset="windows-1251"><p>é'.encode(), "é"),
    ("text/html; charset=latin1", b"\xef\xbb\xbf<p>" + "é".encode(), "é"),
    ("text/plain", "é".encode("utf-16"), "é"),
    ("text/html", "<p>naïve".encode(), "naïve"),
    ("text/plain", "na\xefve".encode("latin-1"), "naïve"),
    ("text/plain; charset=unicode_escape", rb"\x41", r"\x41"),
    ("text/plain; charset=idna", b"xn--a", "xn--a"),
    ("text/plain; charset=nonsense", "é".encode(), "é"),
    ("text/html", '<meta charset="utf-16"><p>é'.encode(), "é"),
    ("application/xml", '<?xml version="1.0" encoding="iso-8859-2"?><a>ł</a>'.encode("iso-8859-2"), '<?xml version="1.0" encoding="iso-8859-2"?><a>ł</a>'),
    ("text/plain; charset=gb2312", "漢".encode("gbk"), "漢"),
    ("application/json", b'{"b":[1,{"c":12345678901234567890123}],"e":[],"b":1.10}', '{\n  "b": [\n    1,\n    {\n      "c": 12345678901234567890123\n    }\n  ],\n  "e": [],\n  "b": 1.10\n}'),
    ("application/ld+json", b"not json", "not json"),
    ("text/csv", b"a,b\r\n1,2", "a,b\r\n1,2"),
    ("", b"<!DOCTYPE html><p>sniffed <b>page", "sniffed **page**"),
    ("", b"plain words", "plain words"),
    ("image/svg+xml", b"<svg/>", "<svg/>"),
]  # fmt: skip


@pytest.mark.parametrize(("content_type", "body", "text"), TEXTS)
async def test_bytes_become_the_text_that_was_meant(tmp_path: Path, content_type: str, body: bytes, text: str) -> None:
    with serving(pages({"/": answer(body=body, content_type=content_type)})) as server:
        resource = made(tmp_path, server)
        (page,) = (await fetch(resource, f"{server.url}/")).pages
        await resource.aclose()
    assert page.text == text


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "application/octet-stream", "video/mp4", ""])
async def test_what_is_no_text_is_refused_with_its_media_type(tmp_path: Path, content_type: str) -> None:
    with serving(pages({"/": answer(body=b"\x89PNG\0\0", content_type=content_type)})) as server:
        problem = await problem_of(made(tmp_path, server), f"{server.url}/")
    kind = content_type or "application/octet-stream"
    assert (problem.code, problem.message) == ("media_type", f"{server.url}/ is {kind} (6 bytes), which is not text")


async def test_json_that_would_grow_without_bound_stays_as_it_is(tmp_path: Path) -> None:
    body = b"[" * 200 + b",".join([b"1"] * 20_000) + b"]" * 200
    with serving(pages({"/": answer(body=body, content_type="application/json")})) as server:
        resource = made(tmp_path, server)
        (page,) = (await fetch(resource, f"{server.url}/", max_chars=1_000_000)).pages
        await resource.aclose()
    assert page.text == body.decode()


# Cache


@pytest.mark.parametrize("folder", [False, True], ids=["memory", "folder"])
async def test_a_page_is_kept_for_a_day(tmp_path: Path, folder: bool) -> None:
    now = [1000.0]
    host = Host(root=tmp_path, clock=lambda: now[0], cache=tmp_path / "cache" if folder else None)
    with serving(pages({"/a": PAGE})) as server:
        resource = made(tmp_path, server, host=host)

        async def cached(url: str, **told: bool) -> tuple[bool, str]:
            (page,) = (await fetch(resource, url, **told)).pages  # type: ignore[arg-type]
            return page.cached, page.fetched_at

        assert await cached(f"{server.url}/a") == (False, "1970-01-01T00:16:40Z")
        now[0] += 24 * 3600 - 1
        assert await cached(f"{server.url}/x/../a#other") == (True, "1970-01-01T00:16:40Z")
        assert (await cached(f"{server.url}/a", fresh=True))[0] is False
        now[0] += 24 * 3600
        assert (await cached(f"{server.url}/a"))[0] is False
        now[0] -= 10  # a clock that was set back: a page from the future is not trusted
        assert (await cached(f"{server.url}/a"))[0] is False
        await resource.aclose()
    assert len(server.asked) == 4


async def test_failures_and_no_store_are_not_kept(tmp_path: Path) -> None:
    with serving(pages({"/n": answer(body=b"x", Cache_Control="private, No-Store")})) as server:
        resource = made(tmp_path, server)
        for _ in range(2):
            await fetch(resource, [f"{server.url}/n", f"{server.url}/gone"])
        await resource.aclose()
    assert len(server.asked) == 4


async def test_a_kept_page_of_a_host_that_is_no_longer_allowed_is_not_given(tmp_path: Path) -> None:
    host = Host(root=tmp_path, cache=tmp_path / "cache")
    with serving(pages({"/": PAGE})) as other, serving(pages({"/": answer(302, Location=f"{other.url}/")})) as server:
        both = made(tmp_path, server, other, host=host)
        await fetch(both, f"{server.url}/")
        await both.aclose()
        assert (await problem_of(made(tmp_path, other, host=host), f"{server.url}/")).code == "host_not_allowed"
        assert (await problem_of(made(tmp_path, server, host=host), f"{server.url}/")).code == "host_not_allowed"


KEPT = Kept("http://a/", "http://a/", 200, "text/html", "t", "<p>x", "x", 4, 1.0)


ANOTHER = json.dumps(asdict(replace(KEPT, text="not what was fetched"))).encode()


@pytest.mark.parametrize("harm", [b"", b"{}", b"\xff\xfe", b'{"url": 1}', ANOTHER])
async def test_a_damaged_file_is_a_miss_and_is_mended_by_the_next_fetch(tmp_path: Path, harm: bytes) -> None:
    cache = FolderCache(tmp_path)
    await cache.put("k", KEPT)
    for kind in ("bodies", "urls"):
        (path,) = (tmp_path / kind).iterdir()
        path.write_bytes(harm)
        assert await cache.get("k") is None
        await cache.put("k", KEPT)
        assert await cache.get("k") == KEPT


async def test_a_name_that_points_elsewhere_is_a_miss(tmp_path: Path) -> None:
    cache = FolderCache(tmp_path / "cache")
    await cache.put("k", KEPT)
    (path,) = (tmp_path / "cache" / "urls").iterdir()
    (tmp_path / "secret").write_text("s")
    path.write_text("../../secret")
    assert await cache.get("k") is None


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def test_the_folder_stays_within_its_bound_and_keeps_the_newest(tmp_path: Path) -> None:
    cache = FolderCache(tmp_path, bytes_max=100_000)
    for number in range(40):
        await cache.put(f"k{number}", replace(KEPT, source="x" * 5_000, url=f"http://a/{number}"))
    assert size_of(tmp_path) <= 100_000
    assert await cache.get("k39") is not None
    assert await cache.get("k0") is None


async def test_memory_stays_within_its_bound_and_keeps_the_last_used() -> None:
    cache = MemoryCache(bytes_max=5_000)
    for number in range(4):
        await cache.put(f"k{number}", replace(KEPT, source="x" * 1_000))
        await cache.get("k0")
    await cache.put("big", replace(KEPT, source="x" * 10_000))
    assert await cache.get("big") is None
    await cache.put("k0", KEPT)
    assert await cache.get("k0") == KEPT


async def test_a_folder_that_cannot_be_written_does_not_fail_a_fetch(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = FolderCache(tmp_path / "file")
    await cache.put("k", KEPT)
    assert await cache.get("k") is None


def test_several_processes_share_the_folder_without_a_torn_page(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys, anyio
        from dataclasses import replace
        from pathlib import Path
        from tests.tool_packs.test_web import KEPT
        from tool_packs.web_cache import FolderCache
        async def main():
            cache = FolderCache(Path(sys.argv[1]), bytes_max=60_000)
            for turn in range(60):
                key = f"k{turn % 7}"
                await cache.put(key, replace(KEPT, source=sys.argv[2] * 3_000))
                page = await cache.get(key)
                assert page is None or set(page.source) <= set("ab") and len(page.source) == 3_000
        anyio.run(main)
    """)
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), letter], cwd=Path(__file__).parents[2]) for letter in "ab"
    ]
    assert [one.wait() for one in running] == [0, 0]
    assert not list(tmp_path.rglob("aside-*"))


# Search


def found(*rows: dict[str, object]) -> bytes:
    return answer(body=json.dumps({"results": rows}).encode(), content_type="application/json")


async def test_search_gives_hits_by_rank_each_page_once(tmp_path: Path) -> None:
    def answering(asked: Asked, wire: socket.socket, server: Server) -> None:
        if "q=one" in asked.target:
            wire.sendall(found(
                {"url": "https://a.example/x?utm_source=s#top", "title": " A  page ", "content": "about\na", "score": 3},
                {"url": "https://b.example/very/long", "title": ""}, {"url": "javascript:1"}, "junk",
            ))  # fmt: skip
        else:
            wire.sendall(found({"url": "https://c.example/"}, {"url": "https://A.example/x/?gclid=1"}))

    with serving(answering) as server:
        resource = made(tmp_path, search_url=f"{server.url}/search?language=en")
        result = await search(resource, ["one", "two & three"])
        single = await search(resource, "one", max_results=1)
        await resource.aclose()
    assert result.model_dump() == {
        "results": [
            {"url": "https://a.example/x?utm_source=s#top", "title": "A page", "snippet": "about a", "score": 3.0},
            {"url": "https://c.example/", "title": "c.example/", "snippet": "", "score": 1.0},
            {"url": "https://b.example/very/long", "title": "b.example/very/long", "snippet": "", "score": 0.5},
        ],
        "failed": [],
    }
    assert len(single.results) == 1
    assert {asked.target for asked in server.asked} == {
        "/search?language=en&q=one&format=json",
        "/search?language=en&q=two+%26+three&format=json",
    }


async def test_search_that_is_not_configured_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ToolProblem) as caught:
        await search(made(tmp_path), "x")
    assert (caught.value.code, caught.value.message) == ("not_configured", "no search endpoint is set")
    assert 'set [packs.web] search_url = "https://…/search" in turnscript.toml' in caught.value.hint


async def test_the_search_key_is_sent_and_never_told(tmp_path: Path) -> None:
    def refuses(asked: Asked, wire: socket.socket, server: Server) -> None:
        wire.sendall(answer(403, f"bad key {asked.headers['authorization']} {asked.target}".encode()))

    with serving(refuses) as server:
        host = Host(root=tmp_path, environment={"SEARCH_KEY": "s3cr3t"})
        resource = made(tmp_path, host=host, search_url=f"{server.url}/?token=t0k3n", search_key_variable="SEARCH_KEY")
        with pytest.raises(ToolProblem) as caught:
            await search(resource, "x")
        result = await search(resource, ["x", "y"])
        await resource.aclose()
    assert server.asked[0].headers["authorization"] == "Bearer s3cr3t"
    assert caught.value.message == "the search at 127.0.0.1 failed: it answered 403"
    assert [one.code for one in result.failed] == ["search_failed", "search_failed"]
    told = repr(caught.value) + repr(caught.value.data) + repr(result)
    assert "s3cr3t" not in told
    assert "t0k3n" not in told


async def test_the_search_endpoint_leads_nowhere_else(tmp_path: Path) -> None:
    with serving(pages({"/": PAGE})) as other, serving(pages({"/": answer(302, Location=f"{other.url}/")})) as server:
        resource = made(tmp_path, search_url=f"{server.url}/")
        with pytest.raises(ToolProblem) as caught:
            await search(resource, "x")
        await resource.aclose()
    assert other.asked == []
    assert caught.value.code == "search_failed"


async def test_an_endpoint_that_answers_with_a_page_is_told_what_it_needs(tmp_path: Path) -> None:
    with serving(pages({"/": PAGE})) as server:
        resource = made(tmp_path, search_url=f"{server.url}/")
        with pytest.raises(ToolProblem) as caught:
            await search(resource, "x")
        await resource.aclose()
    assert caught.value.hint.endswith("SearXNG needs json among search.formats in its settings")


@pytest.mark.parametrize(
    ("query", "most"), [("", 10), (" ", 10), ("x" * 1001, 10), ("x", 0), ("x", 26), ([], 10), (["x"] * 11, 10)]
)
async def test_searches_that_make_no_sense_are_told(tmp_path: Path, query: str | list[str], most: int) -> None:
    with pytest.raises(ToolProblem) as caught:
        await search(made(tmp_path), query, max_results=most)
    assert caught.value.code == "bad_argument"


# The pack


async def test_the_pack_opens_from_its_settings_and_closes(tmp_path: Path) -> None:
    made_pack = pack(web)
    assert [(tool.full_name, tool.order) for tool in made_pack.tools] == [
        ("web.fetch", ("urls", "max_chars", "raw", "fresh")),
        ("web.search", ("query", "max_results")),
    ]
    assert made_pack.tools[0].effects({"urls": ["http://a/", "http://b/"]}).reads == ("url:http://a/", "url:http://b/")
    with serving(pages({"/": PAGE})) as server:
        async with made_pack.opened({"allow": [server.place]}, Host(root=tmp_path)) as resource:
            assert (await fetch(resource, f"{server.url}/")).pages[0].status == 200


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"allow": ["https://a/"]}, "pack web: allow: Value error, 'https://a/' is no pattern for hosts"),
        ({"search_url": "ftp://x"}, "pack web: search_url: Value error, 'ftp://x': ftp: is not fetched"),
        ({"alow": []}, "pack web: alow: Extra inputs are not permitted"),
    ],
)
def test_settings_that_are_wrong_are_told(told: dict[str, object], words: str) -> None:
    with pytest.raises(BadPack) as caught:
        pack(web).read_settings(told)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("name", ["web", "agents"])
def test_a_missing_extra_is_told_with_the_command_that_installs_it(name: str) -> None:
    script = f"""
import sys
sys.modules["httpx"] = None
from catalog import BadPack
try:
    import tool_packs.{name}
except BadPack as problem:
    print(problem)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "the packs web and agents need httpx, which is not installed; run: pip install 'turnscript[web]'\n"
