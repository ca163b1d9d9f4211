"""Which addresses may be reached: a URL to one canonical `Address`, and the rules for hosts and IPs. Pure: nothing is resolved.

Deny by default: a host is reached when a pattern names it, and an IP when it is public or explicitly allowed. Spellings
that two parsers could read in two ways (0x7f.1, full-width letters, user@host, back-slashes) are refused, not repaired.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote, urljoin

from catalog import ToolProblem
from tool_packs.web_extra import idna

URL_CHARS_MAX = 8_192  # longer than any server takes; keeps keys and messages small
PORTS = {"http": 80, "https": 443}
OPENED_BY_ALLOW_PRIVATE = frozenset({"loopback", "private", "shared"})

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SPLIT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?)?", re.DOTALL)
_KINDS = [
    (ip_network(network), kind)
    for kind, networks in {
        # The last four are metadata services that stand outside 169.254.0.0/16: Alibaba, Azure, Oracle, AWS over IPv6.
        "metadata": "169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::/32",
        "unspecified": "0.0.0.0/8 ::/128",
        "loopback": "127.0.0.0/8 ::1/128",
        "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
        "shared": "100.64.0.0/10",
        "link-local": "169.254.0.0/16 fe80::/10",
        "multicast": "224.0.0.0/4 ff00::/8",
        "IPv4-mapped": "::ffff:0:0/96",
        "NAT64": "64:ff9b::/96 64:ff9b:1::/48",
        "6to4": "2002::/16 192.88.99.0/24",
        "Teredo": "2001::/32",
        "reserved": "192.0.0.0/24 192.0.2.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 "
        "2001::/23 2001:db8::/32 3fff::/20",
    }.items()
    for network in networks.split()
]
_GLOBAL_6 = ip_network("2000::/3")  # IPv6 outside it has never been handed out as public


@dataclass(frozen=True, slots=True)
class Address:
    """One canonical http(s) URL: lower-case host without its dot, explicit port, path and query percent-encoded."""

    scheme: str
    host: str  # IPv6 without brackets
    port: int
    target: str

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """`example.com`, `*.example.com` (below it, not itself), `*` (any), each with `:port` or on 80 and 443."""

    host: str
    port: int | None

    def covers(self, host: str, port: int) -> bool:
        if port not in ((80, 443) if self.port is None else (self.port,)):
            return False
        if self.host.startswith("*"):
            return host.endswith(self.host[1:]) and (self.host == "*" or not is_ip(host))
        return host == self.host


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be reached. `check` before a name is resolved, `check_ip` for each IP it resolved to."""

    allow: tuple[Pattern, ...] = ()
    allow_private: bool = False

    def check(self, host: str, port: int) -> None:
        if any(pattern.covers(host, port) for pattern in self.allow):
            return
        shown = f"[{host}]" if ":" in host else host
        named = shown if port in (80, 443) else f"{shown}:{port}"
        raise ToolProblem(
            "host_not_allowed",
            f"{named} is not among the hosts that may be reached ({self._allowed()})",
            hint=f'use an allowed host, or ask a person to set [packs.web] allow = ["{named}"] in turnscript.toml',
            data={"host": named, "setting": f'[packs.web] allow = ["{named}"]'},
        )

    def check_ip(self, host: str, port: int, ip: str) -> None:
        kind = kind_of(ip)
        if kind is None or (self.allow_private and kind in OPENED_BY_ALLOW_PRIVATE) or self._named(host, port, kind):
            return
        what = f"{host} is a {kind} address" if is_ip(host) else f"{host} resolves to {ip}, a {kind} address"
        hint = (
            "fetch a public address, or ask a person to set [packs.web] allow_private = true in turnscript.toml"
            if kind in OPENED_BY_ALLOW_PRIVATE
            else "fetch a public address; addresses of this kind are reached only when their IP itself is listed in allow"
        )
        raise ToolProblem("address_refused", f"{what}, which may not be reached", hint=hint, data={"host": host, "kind": kind})

    def _named(self, host: str, port: int, kind: str) -> bool:
        """Listing an IP, or localhost, by its own name is explicit: the person meant that very address."""
        if not (is_ip(host) or (host == "localhost" and kind == "loopback")):
            return False
        return any(pattern.host == host and pattern.covers(host, port) for pattern in self.allow)

    def _allowed(self) -> str:
        if not self.allow:
            return "none is allowed"
        names = [pattern.host if pattern.port is None else f"{pattern.host}:{pattern.port}" for pattern in self.allow]
        return "allowed: " + ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def read_patterns(told: Iterable[str]) -> tuple[Pattern, ...]:
    """ValueError names the pattern and what would be right."""
    return tuple(_pattern(text.strip()) for text in told)


def parse(url: str) -> Address:
    """ToolProblem `bad_url` says what is wrong with it and how to write it."""
    text = url.strip(" \t\r\n")
    if len(text) > URL_CHARS_MAX:
        raise _bad(text[:80] + "…", f"is {len(text):,} characters long; at most {URL_CHARS_MAX:,} are taken")
    if any((ord(char) < 33 and char != " ") or char == "\x7f" for char in text):
        raise _bad(text, "holds control characters or line breaks", "remove them")
    split = _SPLIT.fullmatch(text)
    if split is None:
        raise _bad(text, "is not an absolute URL", "begin with https://, such as https://example.com/page")
    scheme = split[1].lower()
    if scheme not in PORTS:
        raise ToolProblem(
            "bad_url", f"{_cut(text)}: {scheme}: is not fetched; only http and https are", hint="give an http or https URL"
        )
    if split[2] is None:
        raise _bad(text, f"lacks // after {scheme}:", f"write {scheme}://host/path")
    host, port = _authority(text, split[2], scheme)
    return Address(scheme, host, port, _target(split[3], split[4] or ""))


def redirected(address: Address, location: str) -> Address:
    """Where a redirect leads; from https never back to http."""
    try:
        joined = urljoin(address.url, location.strip(" \t\r\n"))
    except ValueError:
        raise _bad(location, f"is where {address.host} redirects to, and it is not a URL", "fetch another address") from None
    there = parse(joined)
    if address.scheme == "https" and there.scheme == "http":
        raise ToolProblem(
            "redirect_refused",
            f"{address.url} redirects from https to {there.url}, which is not encrypted",
            hint="fetch the http address itself if that is what you want",
            data={"location": there.url},
        )
    return there


def is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def kind_of(ip: str) -> str | None:
    """None for a public address; otherwise what it is. A scope (`fe80::1%eth0`) is always link-local."""
    address = ip_address(ip.partition("%")[0])
    for network, kind in _KINDS:
        if address.version == network.version and address in network:
            return kind
    if isinstance(address, IPv6Address) and address not in _GLOBAL_6:
        return "reserved"
    return None


def _authority(url: str, authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        shown = url.replace(authority, "…@" + authority.rpartition("@")[2], 1)
        raise _bad(shown, "carries a user name or password before @", "give the address without them")
    if "\\" in authority or "%" in authority or " " in authority:
        raise _bad(
            url, f"has the host {_cut(authority, 80)}, which two programs could read in two ways", "write the host plainly"
        )
    host, port = authority, ""
    if authority.startswith("["):
        inner, closed, rest = authority[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise _bad(url, f"has the host {_cut(authority, 80)}, which is no IPv6 address", "write it as [2001:db8::1]")
        host, port = f"[{inner}]", rest[1:]
    elif ":" in authority:
        host, _, port = authority.partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65_536 and len(port) <= 5):
        raise _bad(url, f"has the port {_cut(port, 20)}", "a port is a number from 1 to 65535")
    try:
        return _host(host), int(port) if port else PORTS[scheme]
    except ValueError as error:
        raise _bad(url, f"has the host {_cut(host, 80)}: {error}", "write the host plainly, such as example.com") from None


def _host(host: str) -> str:
    """The one spelling of a host. ValueError says why it has none."""
    if host.startswith("["):
        try:
            return str(IPv6Address(host[1:-1]))
        except AddressValueError:
            raise ValueError("no IPv6 address stands between the brackets") from None
    name = host.lower() if host.isascii() else _ascii(host)
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("that is no host name")
    return name


def _ipv4(name: str) -> str:
    """Four decimal numbers. 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 mean 127.0.0.1 to some programs, and to others not."""
    try:
        return str(IPv4Address(name))
    except AddressValueError:
        raise ValueError("an IP address is written as four decimal numbers, such as 93.184.216.34") from None


def _ascii(host: str) -> str:
    """The xn-- form. Characters that only look like plain letters (ｅ, ⓔ, ．) are refused rather than mapped."""
    try:
        encoded = idna.encode(host.lower(), strict=False).decode()
    except UnicodeError:  # idna.IDNAError is one
        raise ValueError("that is no host name; some of its characters are not allowed in one") from None
    if "xn--" not in encoded:
        raise ValueError("it only looks like plain letters and dots")
    return encoded


def _target(path: str, query: str) -> str:
    return _dotless(_encoded(path or "/")) + (_encoded(query) if query != "?" else "")


def _encoded(part: str) -> str:
    """Percent-encode what must be; keep what is encoded, with upper-case digits."""
    made = quote(part, safe="/?:@!$&'()*+,;=-._~%", encoding="utf-8", errors="replace")
    made = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", made)
    return re.sub(r"%[0-9a-f][0-9A-Fa-f]|%[0-9A-F][a-f]", lambda found: found[0].upper(), made)


def _dotless(path: str) -> str:
    """`/a/./b/../c` is `/a/c`."""
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step == "..":
            del kept[-1:]
        elif step != ".":
            kept.append(step)
    return "/" + "/".join(kept) + ("/" if steps[-1] in (".", "..") and kept else "")


def _pattern(text: str) -> Pattern:
    right = 'write a host ("example.com", "*.example.com", "127.0.0.1:8080"), "*" for any public host'
    host, _, port = (
        text.rpartition(":") if re.search(r":(\d+)$", text) and (text[0] == "[" or text.count(":") == 1) else (text, "", "")
    )
    try:
        if port and not 0 < int(port[:6]) < 65_536:
            raise ValueError
        if host == "*":
            return Pattern("*", int(port) if port else None)
        stem = host.removeprefix("*.")
        bare = _host(f"[{stem}]" if stem.count(":") > 1 and not stem.startswith("[") else stem)
        if stem != host and is_ip(bare):
            raise ValueError
    except ValueError:
        raise ValueError(f"{text!r} is no pattern for hosts; {right}") from None
    return Pattern(("*." if stem != host else "") + bare, int(port) if port else None)


def _bad(url: str, what: str, hint: str = "give a plain http or https URL") -> ToolProblem:
    return ToolProblem("bad_url", f"{_cut(url)} {what}", hint=hint)


def _cut(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")
