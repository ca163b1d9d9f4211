"""Tokens known by their look: a pattern has anchors, literal texts that one scan finds, and an expression tried there only.

Every expression is bounded or ends with its repetition: an attempt that fails is short, one that succeeds is not tried again.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.redaction.looks import is_stand_in, looks_random


def _real(value: str) -> bool:
    return not is_stand_in(value)


def _random(value: str) -> bool:
    return looks_random(value) and not is_stand_in(value)


@dataclass(frozen=True, slots=True)
class Pattern:
    """`expression` is matched at an anchor; its group `value`, or all of it, is the secret if `judge` says so."""

    kind: str
    anchors: tuple[str, ...]
    expression: re.Pattern[str]
    judge: Callable[[str], bool] = _real
    at_word: bool = True  # the anchor begins a word
    rest: re.Pattern[str] | None = None  # what also goes when a bounded expression was not enough

    def span(self, text: str, start: int) -> tuple[int, int] | None:
        if self.at_word and not _begins_word(text, start):
            return None
        found = self.expression.match(text, start)
        if found is None:
            return None
        return self._judged(text, found)

    def _judged(self, text: str, found: re.Match[str]) -> tuple[int, int] | None:
        group = "value" if "value" in found.re.groupindex else 0
        if not self.judge(found[group]):
            return None
        rest = self.rest and self.rest.match(text, found.end(group))
        return found.start(group), rest.end() if rest else found.end(group)


def _begins_word(text: str, at: int) -> bool:
    """Also behind `\\n` written out, `%3D` and the colour codes of terminals, whose last character is a letter."""
    before = text[max(0, at - 9) : at]
    if not before or not (before[-1].isalnum() or before[-1] in "_-"):
        return True
    return _ESCAPE_END.search(before) is not None


_ESCAPE_END = re.compile(r"\\[nrt]\Z|%[0-9A-Fa-f]{2}\Z|\x1b\[[0-9;]{0,5}m\Z|\\u[0-9a-f]{4}\Z")


_WORD_REST = re.compile(r"[\w-]*+", re.ASCII)
_VALUE_REST = re.compile(r"[A-Za-z0-9!@#%^*_+/.~=:?-]*+")


def _token(kind: str, *anchors: str, body: str, judge: Callable[[str], bool] = _real) -> Pattern:
    heads = "|".join(map(re.escape, anchors))
    return Pattern(kind, anchors, re.compile(f"(?:{heads}){body}", re.ASCII), judge, rest=_WORD_REST)


_PLAIN_PASSWORDS = frozenset(
    {"pass", "password", "passwd", "pwd", "secret", "postgres", "mysql", "root", "admin", "user", "test", "guest", "token"}
)
# The body as it stands in a file, a diff, a JSON string or a numbered listing; a program that only names the first line stays.
_PEM = re.compile(
    r"""-----BEGIN\ (?:[A-Z0-9]{1,12}\ ){0,3}PRIVATE\ KEY(?:\ BLOCK)?-----
        (?P<value>(?:(?:[\s"'+|>-]|\\[nr]){1,16}+[A-Z][A-Za-z-]{2,20}:\ [^\n\\]{0,80}+){0,4}+
        (?:(?:[\s"'+,|>\#*:→-]|\\[nr\\]|[0-9]{1,6}(?=[:|→\t-])){1,32}+[A-Za-z0-9+/=]{16,}+)++
        (?:(?:[\s"'+,|>\#*:→]|\\[nr\\]){1,32}+[A-Za-z0-9+/=]{1,15}+(?![A-Za-z0-9 ]))?+)""",
    re.VERBOSE,
)
_TOKENS = (
    _token("anthropic_key", "sk-ant-", body=r"[\w-]{20,}"),
    _token("openai_key", "sk-proj-", "sk-svcacct-", "sk-admin-", body=r"[\w-]{20,}"),
    _token("api_key", "sk-", body=r"[\w-]{20,256}", judge=_random),
    _token("stripe_key", "sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_", body=r"[A-Za-z0-9+/]{16,}"),
    _token("github_token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", body=r"[A-Za-z0-9]{36,}"),
    _token("github_token", "github_pat_", body=r"\w{40,}"),
    _token("gitlab_token", "glpat-", "gldt-", "glrt-", "glcbt-", body=r"[\w-]{20,}"),
    _token("slack_token", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xoxp-", "xapp-", body=r"[\w-]{16,}"),
    _token("slack_webhook", "hooks.slack.com/services/", body=r"(?P<value>T\w{6,}/B\w{6,}/\w{16,})"),
    _token(
        "discord_webhook", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", body=r"\d{15,22}/(?P<value>[\w-]{40,})"
    ),
    _token("aws_access_key", "AKIA", "ASIA", body=r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _token("google_key", "AIza", body=r"[\w-]{35}"),
    _token("google_secret", "GOCSPX-", body=r"[\w-]{24,}"),
    _token("google_token", "ya29.", body=r"[\w-]{30,}"),
    _token("npm_token", "npm_", body=r"[A-Za-z0-9]{36,}"),
    _token("pypi_token", "pypi-AgE", body=r"[\w-]{50,}"),
    _token("huggingface_token", "hf_", "api_org_", body=r"[A-Za-z0-9]{34,}"),
    _token("sendgrid_key", "SG.", body=r"[\w-]{16,64}\.[\w-]{32,}"),
    _token("digitalocean_token", "dop_v1_", "doo_v1_", "dor_v1_", body=r"[0-9a-f]{64}"),
    _token("shopify_token", "shpat_", "shpca_", "shppa_", "shpss_", body=r"[0-9a-fA-F]{32}"),
    _token("databricks_token", "dapi", body=r"[0-9a-f]{32}"),
    _token("linear_key", "lin_api_", body=r"[A-Za-z0-9]{32,}"),
    _token("notion_token", "ntn_", "secret_", body=r"[A-Za-z0-9]{40,50}(?!\w)"),
    _token("groq_key", "gsk_", body=r"[A-Za-z0-9]{40,}"),
    _token("xai_key", "xai-", body=r"[A-Za-z0-9]{60,}"),
    _token("replicate_token", "r8_", body=r"[A-Za-z0-9]{37,}"),
    _token("perplexity_key", "pplx-", body=r"[A-Za-z0-9]{40,}"),
    _token("vault_token", "hvs.", "hvb.", body=r"[\w-]{24,}"),
    _token("age_key", "AGE-SECRET-KEY-1", body=r"[0-9A-Z]{58}"),
    _token("postman_key", "PMAK-", body=r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("newrelic_key", "NRAK-", body=r"[A-Z0-9]{27}"),
    _token("docker_token", "dckr_pat_", body=r"[\w-]{24,}"),
    _token("tailscale_key", "tskey-", body=r"[a-z]{2,10}-\w{8,32}-\w{20,}"),
    _token("atlassian_token", "ATATT3", body=r"[\w=-]{100,}"),
    _token("sourcegraph_token", "sgp_", body=r"\w{40,}"),
    _token("rubygems_key", "rubygems_", body=r"[0-9a-f]{48}"),
    _token("supabase_key", "sbp_", "sb_secret_", body=r"[\w-]{30,}"),
    _token("jwt", "eyJ", body=r"[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{16,}"),
    Pattern("telegram_token", (":AA",), re.compile(r"(?<=[0-9]{8}):(?P<value>AA[\w-]{33})(?![\w-])", re.ASCII), at_word=False),
    Pattern("private_key", ("-----BEGIN ",), _PEM, judge=lambda body: True, at_word=False),
    Pattern(
        "url_password",
        ("://",),
        re.compile(r"://[^\s/@:\"'<>\[\]{}]{0,64}:(?P<value>[^\s/@:\"'<>\[\]{}$]{4,256})@[A-Za-z0-9\[]"),
        judge=lambda value: _real(value) and value.lower() not in _PLAIN_PASSWORDS,
        at_word=False,
    ),
    Pattern(
        "azure_key",
        ("AccountKey=", "SharedAccessKey=", "&sig=", "?sig="),
        re.compile(r"(?:AccountKey=|SharedAccessKey=|[&?]sig=)(?P<value>[A-Za-z0-9+/%]{32,256}={0,2})"),
        at_word=False,
    ),
    Pattern(
        "authorization",
        ("earer ", "asic ", "BEARER ", "BASIC "),
        re.compile(r"(?:earer|asic|BEARER|BASIC) {1,4}(?P<value>[A-Za-z0-9._~+/-]{12,1024}={0,2})"),
        judge=_random,
        at_word=False,
        rest=_VALUE_REST,
    ),
)
_NAMES = (
    "password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "sessionid", "api_key",
    "apikey", "api-key", "access_key", "accesskey", "access-key", "private_key", "privatekey", "auth_key", "authkey",
    "encryption_key", "signing_key", "account_key", "master_key", "service_key",
)  # fmt: skip
_CAMELS = (
    "apiKey", "accessKey", "privateKey", "authKey", "encryptionKey", "signingKey", "ApiKey", "AccessKey",
    "PrivateKey", "Api-Key", "API-Key",
)  # fmt: skip
_NOT_SECRET = re.compile(  # the next page needs its token; AWS::IAM::AccessKey is a type, an ARN a name
    r"(?:page|next|continuation|cursor|sync|resume|pagination|start|cancellation|public[_-]?key)[_-]?\Z|::\w*\Z|[0-9]:\Z",
    re.IGNORECASE,
)
_OTHER_NAME = re.compile(
    r"tokens|tokeni[sz]|tokenstream|secretar|secretsmanager|passwordless|credentials?[_-]?(?:type|provider|helper)", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"""(?P<name>[A-Za-z0-9_-]{5,48})(?:\\{0,3}["'`])?\]?[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}(?:\\{0,3}["'`])?
        (?:(?:Bearer|Basic|Token|token|Key)[ ])?
        (?P<value>[A-Za-z0-9!@\#%^*_+/.~=:?-]{8,512}+)(?![(\[{<$])""",
    re.VERBOSE,
)
_FLAGGED = re.compile(r"""(?P<name>[A-Za-z-]{5,24})[ \t]{1,4}["']?(?P<value>[A-Za-z0-9!@#%^*_+/.~=:-]{8,512}+)(?![(\[{<$])""")


def _name_anchors() -> Iterator[str]:
    for name in _NAMES:
        yield from (name, name.capitalize(), name.upper())
    yield from _CAMELS


@dataclass(frozen=True, slots=True)
class Assignment(Pattern):
    """`API_TOKEN=…`, `"password": "…"`, `--token …` with a value that looks random; `pageToken` is needed for the next page."""

    def span(self, text: str, start: int) -> tuple[int, int] | None:
        before = text[max(0, start - 24) : start]
        if _NOT_SECRET.search(before):
            return None
        found = self.expression.match(text, start)
        if found is None and re.search(r"--[a-z-]{0,20}\Z", before):
            found = _FLAGGED.match(text, start)
        if found is None or _OTHER_NAME.match(found["name"]):
            return None
        return self._judged(text, found)


ASSIGNMENT = Assignment(
    "assigned_secret", tuple(dict.fromkeys(_name_anchors())), _ASSIGNED, _random, at_word=False, rest=_VALUE_REST
)
PATTERNS: tuple[Pattern, ...] = (*_TOKENS, ASSIGNMENT)
KINDS = frozenset(pattern.kind for pattern in PATTERNS)


def token_kind(value: str) -> str | None:
    """The kind of token that `value` is from end to end, if any."""
    for pattern in _TOKENS:
        for anchor in pattern.anchors:
            if value.startswith(anchor) and pattern.span(value, 0) == (0, len(value)):
                return pattern.kind
    return None
