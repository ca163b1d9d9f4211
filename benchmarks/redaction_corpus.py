"""Made-up secrets of every kind, the forms they are written in and the texts around them; and the strings of real sessions."""

from __future__ import annotations

import html
import json
import random
import shlex
import string
import textwrap
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER32 = string.ascii_uppercase + "234567"
URL_SAFE = LETTERS + "-_"


def draw(random_: random.Random, alphabet: str, length: int) -> str:
    return "".join(random_.choices(alphabet, k=length))


def _pem(random_: random.Random) -> str:
    body = b64encode(random_.randbytes(610)).decode()
    return "-----BEGIN PRIVATE KEY-----\n" + "\n".join(textwrap.wrap(body, 64)) + "\n-----END PRIVATE KEY-----\n"


def _jwt(random_: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": str(random_.randrange(10**9)), "iat": random_.randrange(10**9)})
    head = ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{draw(random_, URL_SAFE, 43)}"


def _account(random_: random.Random) -> str:
    return json.dumps({"type": "service_account", "private_key_id": draw(random_, HEX, 40), "private_key": _pem(random_)})


# What a host can hold, whatever it looks like.
KNOWN: dict[str, Callable[[random.Random], str]] = {
    "8 characters": lambda r: draw(r, LETTERS, 8),
    "password with symbols": lambda r: draw(r, LETTERS, 6) + "&'\"$ %\\/+" + draw(r, LETTERS, 6),
    "passphrase": lambda r: " ".join(draw(r, string.ascii_lowercase, 6) for _ in range(4)),
    "not ASCII": lambda r: "pässwörd-" + draw(r, LETTERS, 8) + "-ключ",
    "hex 32": lambda r: draw(r, HEX, 32),
    "base64 40, as of AWS": lambda r: draw(r, LETTERS + "+/", 40),
    "URL-safe 43": lambda r: draw(r, URL_SAFE, 43),
    "JWT": _jwt,
    "PEM": _pem,
    "service account JSON": _account,
}

# What only its look gives away. The text between ⟦ and ⟧ is the secret.
LOOKS: dict[str, Callable[[random.Random], str]] = {
    "anthropic_key": lambda r: f"⟦sk-ant-api03-{draw(r, URL_SAFE, 93)}AA⟧",
    "openai_key": lambda r: f"⟦sk-proj-{draw(r, URL_SAFE, 74)}⟧",
    "api_key": lambda r: f"⟦sk-{draw(r, LETTERS, 48)}⟧",
    "stripe_key": lambda r: f"⟦sk_live_{draw(r, LETTERS, 24)}⟧",
    "github_token": lambda r: f"⟦ghp_{draw(r, LETTERS, 36)}⟧",
    "github fine-grained": lambda r: f"⟦github_pat_{draw(r, LETTERS, 22)}_{draw(r, LETTERS, 59)}⟧",
    "gitlab_token": lambda r: f"⟦glpat-{draw(r, URL_SAFE, 20)}⟧",
    "slack_token": lambda r: f"⟦xoxb-{draw(r, string.digits, 12)}-{draw(r, string.digits, 12)}-{draw(r, LETTERS, 24)}⟧",
    "slack_webhook": lambda r: (
        f"https://hooks.slack.com/services/⟦T{draw(r, UPPER32, 8)}/B{draw(r, UPPER32, 8)}/{draw(r, LETTERS, 24)}⟧"
    ),
    "aws_access_key": lambda r: f"⟦AKIA{draw(r, UPPER32, 16)}⟧",
    "google_key": lambda r: f"⟦AIza{draw(r, URL_SAFE, 35)}⟧",
    "google_secret": lambda r: f"⟦GOCSPX-{draw(r, URL_SAFE, 28)}⟧",
    "google_token": lambda r: f"⟦ya29.{draw(r, URL_SAFE, 120)}⟧",
    "npm_token": lambda r: f"⟦npm_{draw(r, LETTERS, 36)}⟧",
    "pypi_token": lambda r: f"⟦pypi-AgEIcHlwaS5vcmc{draw(r, URL_SAFE, 120)}⟧",
    "huggingface_token": lambda r: f"⟦hf_{draw(r, LETTERS, 34)}⟧",
    "sendgrid_key": lambda r: f"⟦SG.{draw(r, URL_SAFE, 22)}.{draw(r, URL_SAFE, 43)}⟧",
    "digitalocean_token": lambda r: f"⟦dop_v1_{draw(r, HEX, 64)}⟧",
    "shopify_token": lambda r: f"⟦shpat_{draw(r, HEX, 32)}⟧",
    "databricks_token": lambda r: f"⟦dapi{draw(r, HEX, 32)}⟧",
    "groq_key": lambda r: f"⟦gsk_{draw(r, LETTERS, 52)}⟧",
    "vault_token": lambda r: f"⟦hvs.{draw(r, URL_SAFE, 90)}⟧",
    "telegram_token": lambda r: f"{draw(r, '123456789', 10)}:⟦AA{draw(r, URL_SAFE, 33)}⟧",
    "jwt": lambda r: f"⟦{_jwt(r)}⟧",
    "private_key": lambda r: _pem(r).replace("KEY-----\n", "KEY-----\n⟦", 1).replace("\n-----END", "⟧\n-----END"),
    "url_password": lambda r: f"postgres://app:⟦{draw(r, LETTERS, 14)}⟧@db.internal:5432/app",
    "azure_key": lambda r: f"AccountName=x;AccountKey=⟦{b64encode(r.randbytes(64)).decode()}⟧;EndpointSuffix=core",
    "authorization bearer": lambda r: f"Authorization: Bearer ⟦{draw(r, URL_SAFE, 40)}⟧",
    "authorization basic": lambda r: f"authorization: Basic ⟦{b64encode(f'svc:{draw(r, LETTERS, 20)}'.encode()).decode()}⟧",
    "assigned, env": lambda r: f"DEPLOY_TOKEN=⟦{draw(r, LETTERS, 32)}⟧",
    "assigned, JSON": lambda r: f'"client_secret": "⟦{draw(r, LETTERS, 40)}⟧"',
    "assigned, YAML": lambda r: f"password: ⟦{draw(r, LETTERS, 16)}⟧",
    "assigned, hex": lambda r: f"api_key = '⟦{draw(r, HEX, 32)}⟧'",
    "flag": lambda r: f"deploy --auth-token ⟦{draw(r, LETTERS, 32)}⟧ --now",
}


def _wrap(text: str, columns: int, *, offset: int) -> str:
    return "\n".join(textwrap.wrap("Q" * offset + text, columns))


def _in_base64(value: str, before: int) -> str:
    return b64encode(b"user:passwd"[:before] + value.encode() + b":x").decode()


FORMS: dict[str, Callable[[str], str]] = {
    "raw": lambda v: v,
    "base64": lambda v: b64encode(v.encode()).decode(),
    "base64, unpadded": lambda v: b64encode(v.encode()).decode().rstrip("="),
    "base64url": lambda v: urlsafe_b64encode(v.encode()).decode(),
    "base64 +1": lambda v: _in_base64(v, 1),
    "base64 +2": lambda v: _in_base64(v, 2),
    "base64 +9": lambda v: _in_base64(v, 9),
    "base64, 64 columns": lambda v: _wrap(_in_base64(v, 2), 64, offset=60 - len(v) % 40 // 4 * 4),
    "base64, 76 columns": lambda v: _wrap(_in_base64(v, 1), 76, offset=72 - len(v) % 40 // 4 * 4),
    "base64, then URL": lambda v: quote(b64encode(v.encode()).decode(), safe=""),
    "URL": lambda v: quote(v, safe=""),
    "URL, small hex": lambda v: "".join(c if c.isalnum() or c in "-_.~" else "".join(f"%{b:02x}" for b in c.encode()) for c in v),
    "form": quote_plus,
    "JSON": lambda v: json.dumps(v),
    "JSON, UTF-8": lambda v: json.dumps(v, ensure_ascii=False),
    "JSON in JSON": lambda v: json.dumps(json.dumps({"value": v})),
    "shell": shlex.quote,
    "HTML": html.escape,
    "hex": lambda v: v.encode().hex(),
    "HEX": lambda v: v.encode().hex().upper(),
    "first 24 characters": lambda v: v[:24],
    "last 24 characters": lambda v: v[-24:],
    "reversed": lambda v: v[::-1],
    "hex dump": lambda v: v.encode().hex(" ", 2),
}


def _lines(prefix: str) -> Callable[[str], str]:
    return lambda text: "\n".join(f"{prefix}{line}" for line in text.split("\n"))


CONTEXTS: dict[str, Callable[[str], str]] = {
    "log line": lambda text: f"2026-11-18 09:00:01 INFO client sent {text} and got 200\n",
    "JSON string": lambda text: json.dumps({"level": "info", "message": f"sent {text}", "n": 3}),
    "URL": lambda text: f"GET https://api.internal/v1/items?q={text}&page=2 HTTP/1.1",
    "diff": lambda text: "@@ -1,2 +1,3 @@\n context\n" + _lines("+")(text) + "\n-old",
    "code": lambda text: f"def main():\n    send({text})\n    return 0\n",
    "numbered listing": lambda text: "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(text.split("\n"), start=98)),
    "environment": lambda text: f"LANG=C\nVALUE={text}\nHOME=/root\n",
    "coloured": lambda text: f"\x1b[32m{text}\x1b[0m done",
    "indented YAML": lambda text: "data: |\n" + _lines("    ")(text) + "\nkind: Secret\n",
}


def session_strings(folder: Path, *, least: int = 80) -> Iterator[str]:
    """Every distinct string of the sessions: tool outputs, messages, arguments, and the copies of them that agents keep."""
    seen: set[str] = set()
    for path in sorted(folder.glob("sessions/*/*")):
        for record in _records(path.read_text()):
            for text in _strings(record):
                if len(text) >= least and text not in seen:
                    seen.add(text)
                    yield text


def _records(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        record, at = decoder.raw_decode(text, at)
        yield record


def _strings(record: Any) -> Iterator[str]:
    waiting = [record]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as members:
                waiting.extend(member for name, member in members.items() if name not in ("encrypted_content", "signature"))
            case list() as items:
                waiting.extend(items)
