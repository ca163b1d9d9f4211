"""From the bytes of an answer to text: which characters they are, what kind of text, and how it is laid out for reading. Pure."""

import codecs
import re
from dataclasses import dataclass

import orjson

from catalog import ToolProblem
from tool_packs.markdown import to_markdown

META_BYTES = 4_096  # how far into a page its own word on characters is looked for; browsers look at 1,024

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset({
    "application/xml", "application/javascript", "application/ecmascript", "application/x-javascript", "application/yaml",
    "application/x-yaml", "application/toml", "application/sql", "application/graphql", "application/x-sh",
    "application/x-ndjson", "application/jsonl", "application/json-seq", "application/x-httpd-php", "application/rtf",
    "application/x-tex", "application/csv",
})  # fmt: skip
# Only these: Python also decodes by names such as idna, punycode or unicode_escape, some in quadratic time.
_CODECS = frozenset({
    "utf-8", "ascii", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8",
    "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp866", "cp874", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic",
    "gbk", "gb18030", "big5", "big5hkscs", "euc_jp", "shift_jis", "cp932", "iso2022_jp", "euc_kr", "cp949", "utf-16",
    "utf-16-le", "utf-16-be", "utf-32",
})  # fmt: skip
_SAME = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gbk",
    "tis-620": "cp874",
}  # as browsers read them
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_META = re.compile(rb"""<meta[^>]{0,500}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s{0,100}<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([A-Za-z0-9_.:-]{1,40})""")
_LOOKS_HTML = re.compile(
    rb"\s{0,1000}(?:<!--.{0,1000}?-->\s{0,1000})?<(?:!doctype html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL
)
_JSON_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')


@dataclass(frozen=True, slots=True)
class PageText:
    media_type: str
    title: str
    source: str  # the answer itself, as text
    text: str  # for reading: markdown, indented JSON, or the source


def page_text(body: bytes, content_type: str, url: str) -> PageText:
    """ToolProblem `media_type` for what is no text."""
    media_type = content_type.partition(";")[0].strip().lower() or _sniffed(body)
    html, json = media_type in _HTML, media_type == "application/json" or media_type.endswith("+json")
    if not (html or json or media_type in _TEXT or media_type.startswith("text/") or media_type.endswith("+xml")):
        raise ToolProblem(
            "media_type",
            f"{url} is {media_type or 'of no known kind'} ({len(body):,} bytes), which is not text",
            hint="fetch a page, a text or JSON; this tool reads nothing else",
            data={"media_type": media_type, "bytes": len(body)},
        )
    source = decoded(body, content_type, markup=html or media_type.endswith("xml"))
    if html:
        made = to_markdown(source, url)
        return PageText(media_type, made.title, source, made.text)
    return PageText(media_type, "", source, indented(source) if json else source)


def decoded(body: bytes, content_type: str, *, markup: bool) -> str:
    """By the mark at the beginning, the header, the page's own word, UTF-8 if it fits, and else windows-1252."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body.decode(codec, "replace").removeprefix("\ufeff")
    told = _CHARSET.search(content_type)
    codec = _codec(told[1]) if told else ""
    if not codec and markup:
        found = _XML.match(body) or _META.search(body[:META_BYTES])
        codec = _codec(found[1].decode("ascii")) if found else ""
        codec = "utf-8" if codec.startswith("utf-") else codec  # a page that can be read so far is not UTF-16
    if codec:
        return body.decode(codec, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def indented(source: str) -> str:
    """JSON with line breaks and two spaces a level, token by token: numbers and repeated keys stay as they are.

    What is no JSON stays as it is, and so does what would grow beyond four times its size (deep nesting can).
    """
    try:
        orjson.loads(source)
    except orjson.JSONDecodeError:
        return source
    parts: list[str] = []
    depth, size, most, last = 0, 0, 4 * len(source) + 1_000, ""
    for token in _JSON_TOKEN.findall(source):
        if token in "}]":
            depth -= 1
        if last and (last in "{[," or token in "}]") and not (last in "{[" and token in "}]"):
            parts.append("\n" + "  " * depth)
            size += 1 + 2 * depth
        parts.append(": " if token == ":" else token)
        size += len(token)
        if size > most:
            return source
        if token in "{[":
            depth += 1
        last = token
    return "".join(parts)


def _codec(label: str) -> str:
    """The codec for a label, empty when it is none that pages use."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return ""
    name = _SAME.get(name, name)
    return name if name in _CODECS else ""


def _sniffed(body: bytes) -> str:
    """For answers that do not say what they are."""
    if _LOOKS_HTML.match(body):
        return "text/html"
    head = body[:META_BYTES]
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "application/octet-stream"
    return "text/plain"
