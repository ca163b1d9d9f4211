"""The texts in which a known value can appear: raw, base64 at each alignment, URL, JSON, shell, HTML and hex.

A form is what must be found; `loose` ends share a base64 character with a neighbour and take that character along. Pure.
"""

import html
import json
import re
import shlex
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from harness.redaction.looks import looks_random

VALUE_LENGTH = 6  # a shorter value would be found everywhere
_CORE_LENGTH = 7  # of base64: what is left of six bytes at the worst alignment
_PIECE = 16  # of a long random value, when its head or tail is all that is left
_SAFE = ("", "/", "!'()*", ";,/?:@&=+$-_.!~*'()#")  # Python's two, encodeURIComponent, encodeURI
_TOKEN = re.compile(r"[A-Za-z0-9+/_=.~-]{20,}")
_PUBLIC_HEAD = re.compile(r"eyJ[\w-]*\.|(?:[A-Za-z]+[0-9]{0,2}[-_.])+")
_SHELL_SPECIAL = re.compile(r"([^A-Za-z0-9_@%+=:,./\n-])")


@dataclass(frozen=True, slots=True)
class Form:
    text: str
    loose_left: bool = False
    loose_right: bool = False
    whole: str = ""  # of which `text` is the head or the tail: as much of it as is there goes along


def forms_of(value: str) -> Iterator[Form]:
    """Of the value, and of each long random token in it: a key file holds more than the key, and its lines are shown alone."""
    if len(value) < VALUE_LENGTH:
        return
    parts = dict.fromkeys([value, value.strip(), *filter(looks_random, _TOKEN.findall(value))])
    for part in parts:
        if len(part) >= VALUE_LENGTH:
            yield from _written(part)
            yield from _encoded(part.encode("utf-8", "surrogatepass"))


def _written(value: str) -> Iterator[Form]:
    texts = [value, html.escape(value), html.escape(value, quote=False)]
    texts += [shlex.quote(value).removeprefix("'").removesuffix("'"), value.replace("'", "'\\''")]
    texts += [_SHELL_SPECIAL.sub(r"\\\1", value), re.sub(r'([$`"\\])', r"\\\1", value)]
    for safe in _SAFE:
        escaped = quote(value, safe=safe, errors="surrogatepass")
        lowered = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), escaped)
        texts += [escaped, lowered, escaped.replace("%20", "+"), lowered.replace("%20", "+")]
    for text in texts:
        once, raw = json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
        twice = json.dumps(once)[1:-1]  # JSON in JSON, as in a transcript of a transcript
        yield from map(Form, (text, once, raw, twice, json.dumps(raw, ensure_ascii=False)[1:-1], json.dumps(twice)[1:-1]))
    if looks_random(value):
        yield from (Form(piece, whole=value) for piece in _pieces(value))


def _pieces(value: str) -> Iterator[str]:
    """Head and tail, for a value that was cut. The head goes on behind the part that all values of its kind share."""
    shared = _PUBLIC_HEAD.match(value)
    head = value[: (shared.end() if shared else 0) + _PIECE]
    if len(value) >= len(head) + 8:
        yield head
        yield value[-_PIECE:]


def _encoded(data: bytes) -> Iterator[Form]:
    digits = data.hex()
    yield Form(digits)
    yield Form(digits.upper())
    for before in range(3):
        core = _core(data, before)
        if len(core) < _CORE_LENGTH:
            continue
        left, right = before > 0, (before + len(data)) % 3 > 0
        url = core.replace("+", "-").replace("/", "_")
        escaped = core.replace("+", "%2B").replace("/", "%2F")
        for text in (core, url, escaped, escaped.replace("%2B", "%2b").replace("%2F", "%2f"), core.replace("/", "\\/")):
            yield Form(text, left, right)


def _core(data: bytes, before: int) -> str:
    """The base64 characters that depend on `data` alone, when `before` bytes stand in front of it in its group of three."""
    text = b64encode(b"\0" * before + data).decode()
    return text[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
