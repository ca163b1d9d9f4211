"""Which values of the host are secrets: by the name they stand under, and by their look where the name says nothing.

What would be found everywhere is never one: short and plain words, numbers, switches, paths. Pure: the environment is handed in.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from harness.redaction.looks import looks_random, words_of
from harness.redaction.patterns import token_kind

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_STRONG = frozenset({
    "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token",
    "tokens", "apikey", "apitoken", "authtoken", "accesstoken", "pat", "jwt", "dsn",
})  # fmt: skip
_WEAK = frozenset({
    "key", "keys", "auth", "oauth", "credential", "credentials", "cred", "creds", "cookie", "cookies", "session",
    "webhook", "signature", "salt", "bearer",
})  # fmt: skip
_NEVER = frozenset({
    "PATH", "HOME", "LANG", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "TERM", "HOSTNAME", "TMPDIR", "EDITOR",
    "PAGER", "DISPLAY", "SSH_AUTH_SOCK",
})  # fmt: skip
_PLAIN = frozenset({
    "true", "false", "yes", "no", "none", "null", "on", "off", "dev", "development", "prod", "production", "test",
    "testing", "staging", "local", "default", "enabled", "disabled", "password", "passwd", "secret", "token",
    "changeme", "postgres", "postgresql", "mysql", "mariadb", "redis", "rabbitmq", "mongodb", "root", "admin",
    "administrator", "user", "username", "guest", "public", "private", "required", "optional", "oauth", "oauth2",
    "basic", "bearer", "github", "gitlab", "google", "localhost", "example", "string", "anonymous", "keyring",
    "keychain",
})  # fmt: skip
_PATH = re.compile(r"(?:~|\.{0,2})/[^\s]*|[A-Za-z]:\\.*|file:.*")
_NUMBER = re.compile(r"[+-]?[0-9][0-9_.,:]*[A-Za-z%]{0,2}")
_USERINFO = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:]*:([^\s/]+)@")
_DSN_PASSWORD = re.compile(r"(?:^|[;\s])(?:password|pwd)\s*=\s*('[^']*'|[^;\s]+)", re.IGNORECASE)
STRONG_LENGTH = 6
WEAK_LENGTH = 12


def secrets_of(environment: Mapping[str, str], settings: Mapping[str, Any] = _NOTHING) -> dict[str, str]:
    """Name -> value. Settings are named by their path: `packs.web.api_key`. Of an address only the password is a secret."""
    found: dict[str, str] = {}
    for name, value in (*environment.items(), *_flattened(settings, "")):
        for part, secret in _secrets_in(name, value):
            found[part] = secret
    return found


def _secrets_in(name: str, value: str) -> Iterator[tuple[str, str]]:
    if name in _NEVER or _is_trivial(value):
        return
    passwords = [*_USERINFO.findall(value), *(text.strip("'") for text in _DSN_PASSWORD.findall(value))]
    for number, password in enumerate(dict.fromkeys(passwords), start=1):
        if not _is_trivial(password):
            yield (name if number == 1 else f"{name}.{number}"), password
            if unquote(password) != password:
                yield f"{name}.plain", unquote(password)
    if not passwords and (_is_named(name, value) or token_kind(value)):
        yield name, value


def _is_named(name: str, value: str) -> bool:
    if _PATH.fullmatch(value) and not looks_random(value):
        return False
    words = {word.rstrip("0123456789") for word in words_of(name)}
    if words & _STRONG:
        return True
    return bool(words & _WEAK) and len(value) >= WEAK_LENGTH and (looks_random(value) or "PRIVATE KEY" in value)


def _is_trivial(value: str) -> bool:
    text = value.strip()
    return len(text) < STRONG_LENGTH or text.lower() in _PLAIN or _NUMBER.fullmatch(text) is not None or len(set(text)) < 4


def _flattened(settings: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, Any]] = [(prefix, settings)]
    while waiting:
        path, value = waiting.pop()
        match value:
            case str():
                yield path, value
            case Mapping():
                waiting += [(f"{path}.{name}" if path else str(name), member) for name, member in value.items()]
            case list() | tuple():
                waiting += [(f"{path}.{index}", item) for index, item in enumerate(value)]
