"""Which URLs are refused, and how the rest are spelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import ToolProblem
from tool_packs.addresses import Address, Reach, is_ip, kind_of, parse, read_patterns, redirected

# Everything here must be refused although any public host may be reached.
HOSTILE = [
    "http://127.0.0.1/", "http://127.0.0.1:80/", "http://127.1.2.3/", "http://127.255.255.254/", "http://0.0.0.0/", "http://0.1.2.3/",
    "http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/", "http://169.254.170.2/v2/credentials", "http://169.254.1.1/",
    "http://100.100.100.200/latest/", "http://168.63.129.16/metadata", "http://192.0.0.192/opc/v2/", "http://[fd00:ec2::254]/",
    "http://224.0.0.1/", "http://239.255.255.250/", "http://255.255.255.255/", "http://240.0.0.1/", "http://192.0.2.1/",
    "http://198.18.0.1/", "http://198.51.100.7/", "http://203.0.113.9/", "http://192.88.99.1/", "http://192.0.0.8/",
    "http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
    "http://[::ffff:10.0.0.1]/", "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[fc00::1]/", "http://[fd12:3456::1]/",
    "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[fec0::1]/", "http://[ff02::1]/",
    "http://[::ffff:0:127.0.0.1]/", "http://[100::1]/", "http://[5f00::1]/",
    "http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.1/",
    "http://127.0.1/", "http://0/", "http://0x/", "http://127.0.0.1./", "http://127.0.0.01/", "http://127.0.0.0x1/", "http://1.2.3.4.5/",
    "http://256.256.256.256/", "http://999999999999/", "http://127.0.0.1.0x0/", "http://①②⑦.⓪.⓪.①/", "http://１２７.0.0.1/",
    "http://127。0。0。1/", "http://127．0．0．1/", "http://ⓛocalhost/", "http://ｅxample.com/", "http://exam\u00adple.com/", "http://ex\u200bample.com/",
    "http://user@example.com/", "http://user:secret@example.com/", "http://example.com@127.0.0.1/", "http://127.0.0.1@example.com/",
    "http://example.com%40127.0.0.1/", "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\.example.com/", "http://exa%6dple.com/",
    "http://127.0.0.1%2f.example.com/", "http://example.com%00.evil.org/", "http://exam ple.com/", "http://exa\tmple.com/",
    "http://example.com\r\nHost: evil/", "http://example.com/\r\nX: y", "http://example.com/\x00", "http://.example.com/",
    "http://example..com/", "http://example.com../", "http://-example.com/", "http://example-.com/", "http://exa$mple.com/",
    "http://" + "a" * 64 + ".com/", "http://" + "a." * 130 + "com/", "http:///path", "http://", "http:", "http:example.com",
    "http:/example.com/", "//example.com/", "/etc/passwd", "example.com", "", "   ", "http://[::1/", "http://[::1]x/", "http://[]/",
    "http://[127.0.0.1]/", "http://[::g]/", "http://::1/", "http://example.com:0/", "http://example.com:65536/", "http://example.com:8 0/",
    "http://example.com:-1/", "http://example.com:٨٠/", "http://example.com:80:80/", "http://example.com:99999999999/",
    "file:///etc/passwd", "ftp://example.com/", "gopher://example.com:70/_x", "dict://example.com:11211/", "javascript:alert(1)",
    "data:text/html,x", "ldap://example.com/", "jar:http://example.com!/", "view-source:http://example.com/", "ws://example.com/",
    "unix:/run/docker.sock", "http+unix://%2frun%2fdocker.sock/", "http://example.com:22/", "http://example.com:6379/", "https://example.com:8443/",
    "http://example.com/" + "a" * 9_000,
]  # fmt: skip


def refused(url: str, reach: Reach) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        address = parse(url)
        reach.check(address.host, address.port)
        if is_ip(address.host):
            reach.check_ip(address.host, address.port, address.host)
    return caught.value


ANY = Reach(read_patterns(["*"]))


def test_the_table_of_hostile_urls_is_long() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 60


@pytest.mark.parametrize("url", HOSTILE)
def test_a_hostile_url_is_refused_even_where_any_public_host_is_allowed(url: str) -> None:
    problem = refused(url, ANY)
    assert problem.code in ("bad_url", "address_refused", "host_not_allowed")
    assert problem.hint
    assert "secret" not in problem.message
    assert len(problem.message) < 500


RESOLVED = [
    "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1%eth0", "fd00::1", "0.0.0.0", "64:ff9b::7f00:1",
    "100.64.1.1", "2002:a00:1::", "224.0.0.251", "192.168.0.1", "::", "::ffff:169.254.169.254",
]  # fmt: skip


@pytest.mark.parametrize("ip", RESOLVED)
def test_a_public_name_that_resolves_to_a_private_address_is_refused(ip: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        ANY.check_ip("innocent.example", 443, ip)
    assert caught.value.code == "address_refused"
    assert caught.value.message.startswith(f"innocent.example resolves to {ip}, a ")


@pytest.mark.parametrize(
    "ip", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_public_addresses_are_public(ip: str) -> None:
    assert kind_of(ip) is None


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_no_address_that_python_calls_private_is_public_here(ip: object) -> None:
    if getattr(ip, "is_private", False) or getattr(ip, "is_multicast", False) or getattr(ip, "is_link_local", False):
        assert kind_of(str(ip)) is not None


def test_allow_private_opens_private_addresses_but_no_metadata_service() -> None:
    reach = Reach(read_patterns(["*"]), allow_private=True)
    for ip in ("127.0.0.1", "10.0.0.1", "::1", "fd12::1", "100.64.0.1"):
        reach.check_ip("intranet.example", 80, ip)
    for ip in (
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "0.0.0.0",
        "224.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
    ):
        with pytest.raises(ToolProblem):
            reach.check_ip("intranet.example", 80, ip)


def test_an_ip_that_is_listed_itself_is_meant_but_a_name_that_resolves_to_it_is_not() -> None:
    reach = Reach(read_patterns(["127.0.0.1:8080", "evil.example:8080", "localhost:9000"]))
    reach.check_ip("127.0.0.1", 8080, "127.0.0.1")
    reach.check_ip("localhost", 9000, "::1")
    for host, port, ip in (("evil.example", 8080, "127.0.0.1"), ("127.0.0.1", 80, "127.0.0.1"), ("localhost", 9000, "10.0.0.1")):
        with pytest.raises(ToolProblem):
            reach.check_ip(host, port, ip)


def test_a_host_that_is_not_allowed_is_told_with_the_setting_to_add() -> None:
    problem = refused("https://evil.example/x", Reach(read_patterns(["docs.example", "*.python.org"])))
    assert problem.code == "host_not_allowed"
    assert problem.message == "evil.example is not among the hosts that may be reached (allowed: docs.example, *.python.org)"
    assert problem.hint == 'use an allowed host, or ask a person to set [packs.web] allow = ["evil.example"] in turnscript.toml'
    assert problem.data == {"host": "evil.example", "setting": '[packs.web] allow = ["evil.example"]'}


def test_nothing_is_allowed_by_default() -> None:
    assert refused("https://example.com:8443/", Reach()).message == (
        "example.com:8443 is not among the hosts that may be reached (none is allowed)"
    )


PATTERNS = [
    ("example.com", "https://example.com/", True),
    ("example.com", "http://EXAMPLE.com./", True),
    ("example.com", "https://www.example.com/", False),
    ("example.com", "https://example.com.evil.org/", False),
    ("example.com", "https://notexample.com/", False),
    ("example.com", "https://example.com:8443/", False),
    ("example.com:8443", "https://example.com:8443/", True),
    ("example.com:8443", "https://example.com/", False),
    ("*.example.com", "https://a.example.com/", True),
    ("*.example.com", "https://a.b.example.com/", True),
    ("*.example.com", "https://example.com/", False),
    ("*.example.com", "https://aexample.com/", False),
    ("*.example.com:81", "http://a.example.com:81/", True),
    ("EXAMPLE.com.", "https://example.com/", True),
    ("bücher.example", "https://xn--bcher-kva.example/", True),
    ("example.com", "https://еxample.com/", False),  # a Cyrillic е
    ("[2606:4700::1]:8080", "http://[2606:4700:0::1]:8080/", True),
    ("2606:4700::1", "http://[2606:4700::1]/", True),
    ("*", "https://anything.example/", True),
    ("*:8080", "http://anything.example:8080/", True),
]


@pytest.mark.parametrize(("pattern", "url", "covered"), PATTERNS)
def test_patterns_cover_the_hosts_they_name(pattern: str, url: str, covered: bool) -> None:
    address = parse(url)
    assert any(one.covers(address.host, address.port) for one in read_patterns([pattern])) is covered


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "*.",
        "https://example.com",
        "exa mple.com",
        "a*.example.com",
        "*.10.0.0.1",
        "0x7f.1",
        "example.com:0",
        "example.com:x",
        "*example.com",
        "a/b",
    ],
)
def test_a_pattern_that_is_none_is_told(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no pattern for hosts; write a host"):
        read_patterns([pattern])


SPELT = [
    ("HTTP://Example.COM", "http://example.com/"),
    ("https://example.com:443/a/./b/../c", "https://example.com/a/c"),
    ("http://example.com:80/../../x", "http://example.com/x"),
    ("http://example.com/a/..", "http://example.com/"),
    ("https://example.com/a b?q=ü&x=%c3#frag", "https://example.com/a%20b?q=%C3%BC&x=%C3"),
    ("https://example.com/100%", "https://example.com/100%25"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ("https://[2606:4700:0:0::1]:8443/x", "https://[2606:4700::1]:8443/x"),
    ("  https://example.com/x\n", "https://example.com/x"),
    ("https://example.com?q=1", "https://example.com/?q=1"),
    ("https://example.com/a\\b", "https://example.com/a%5Cb"),
    ("https://example.com/?", "https://example.com/"),
    ("https://under_score.example.com/", "https://under_score.example.com/"),
]


@pytest.mark.parametrize(("url", "spelt"), SPELT)
def test_a_url_has_one_spelling(url: str, spelt: str) -> None:
    assert parse(url).url == spelt
    assert parse(spelt).url == spelt


@given(st.text(max_size=60))
def test_whatever_stands_after_the_scheme_is_refused_or_has_one_spelling(text: str) -> None:
    try:
        address = parse("http://" + text)
    except ToolProblem:
        return
    assert parse(address.url) == address
    assert address.host.isascii()
    assert not set(address.url) & set(" \r\n\t\\@" if "@" not in address.target else " \r\n\t\\")


def test_a_redirect_is_followed_within_its_scheme_and_up() -> None:
    here = parse("https://example.com/a/b")
    assert redirected(here, "../c") == Address("https", "example.com", 443, "/c")
    assert redirected(here, "//other.example/x").url == "https://other.example/x"
    assert redirected(parse("http://example.com/"), "https://example.com/").url == "https://example.com/"


def test_a_redirect_from_https_to_http_is_refused() -> None:
    with pytest.raises(ToolProblem) as caught:
        redirected(parse("https://example.com/"), "http://example.com/login")
    assert caught.value.code == "redirect_refused"
    assert caught.value.message == "https://example.com/ redirects from https to http://example.com/login, which is not encrypted"


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "javascript:1", "http://u:p@example.com/", "http://[::1/", "http://0x7f.1/"]
)
def test_a_redirect_to_what_is_no_good_url_is_refused(location: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        redirected(parse("http://example.com/"), location)
    assert caught.value.code == "bad_url"
