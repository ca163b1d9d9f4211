"""HTML text to a small tree, in time that grows with its length and with nothing else, whatever the page holds.

The parser of the standard library takes minutes for 256 KiB of `<a <a <a`; pages come from strangers. Here every search that
fails ends the page, nesting and nodes are capped, and only what a reader sees is kept: scripts, styles and hidden parts go.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

DEPTH_MAX = 100  # deeper elements become part of the last one
NODES_MAX = 150_000  # about 30 MB and some seconds at worst; a page of 5 MB has 100,000
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCKS = HEADINGS | frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "li", "main", "menu", "nav",
    "ol", "p", "pre", "search", "section", "summary", "table", "ul",
})  # fmt: skip

_UNSEEN = frozenset({
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas", "audio", "video", "map",
    "button", "select", "textarea", "datalist", "dialog", "noembed", "noframes", "applet",
})  # fmt: skip
# Elements whose text reaches to their own end tag, whatever stands in it.
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "iframe", "noembed", "noframes", "xmp", "textarea", "title")
}
_KEPT = frozenset({
    "href", "src", "alt", "class", "role", "hidden", "aria-hidden", "style", "colspan", "start", "name", "property",
    "content",
})  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)")
_ATTRIBUTE = re.compile(
    r"""[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^\s>"'][^\s>]*+)?))?"""
)
_TAG_END = re.compile(r"[\s/=]*+>")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BIG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")
_SCOPE = frozenset({"table", "td", "th", "caption", "html", "body"})
_TABLE_PARTS = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"})
# What a start tag closes, and where the search for it ends.
_CLOSES = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"}) | _SCOPE),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _SCOPE),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _SCOPE),
    "tr": (frozenset({"tr", "caption"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "th": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "thead": (frozenset({"thead", "tbody", "tfoot", "caption"}), frozenset({"table"})),
    "tbody": (frozenset({"thead", "tbody", "tfoot", "caption"}), frozenset({"table"})),
    "tfoot": (frozenset({"thead", "tbody", "tfoot", "caption"}), frozenset({"table"})),
    "a": (frozenset({"a"}), _SCOPE),
} | {heading: (HEADINGS, _SCOPE | {"section", "div", "article"}) for heading in HEADINGS}


@dataclass(slots=True)
class Node:
    name: str
    attributes: dict[str, str]
    children: list["Node | str"] = field(default_factory=list)
    layout: bool = False  # of a table: its cells hold blocks, so it is no table of data


@dataclass(slots=True)
class Tree:
    root: Node
    title: str = ""
    base: str = ""
    cut: bool = False  # the page had more than NODES_MAX


def parse_html(text: str) -> Tree:
    growing = _Growing()
    for kind, name, attributes in _tokens(text):
        if growing.count >= NODES_MAX:
            growing.tree.cut = True
            break
        if kind == "text":
            growing.text(name)
        elif kind == "end":
            growing.end(name)
        else:
            growing.start(name, attributes)
    return growing.tree


def _tokens(text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """("start", name, attributes), ("end", name, {}), ("text", text, {}). What never ends is dropped, as browsers do."""
    at = 0
    while at < len(text):
        begin = text.find("<", at)
        if begin != at:
            yield "text", _unescaped(text[at:] if begin < 0 else text[at:begin]), {}
        if begin < 0:
            return
        tag = _TAG.match(text, begin)
        if tag is None:
            at = _after_declaration(text, begin)
            if at == begin + 1:
                yield "text", "<", {}
            continue
        name, at = tag[2].lower(), tag.end()
        if tag[1]:
            at = text.find(">", at) + 1 or len(text)
            yield "end", name, {}
            continue
        attributes: dict[str, str] = {}
        while (end := _TAG_END.match(text, at)) is None:
            one = _ATTRIBUTE.match(text, at)
            if one is None:
                return
            at = one.end()
            key = one[1].lower()
            if key in _KEPT:
                attributes.setdefault(key, _unescaped(one[2] or one[3] or one[4] or ""))
        at = end.end()
        yield "start", name, attributes
        if name in _RAW:
            close = _RAW[name].search(text, at)
            begin, at = at, close.start() if close else len(text)
            yield "text", _unescaped(text[begin:at]), {}


def _after_declaration(text: str, begin: int) -> int:
    """Past a comment, a doctype or the like; one character on when `<` is only a character."""
    following = text[begin + 1 : begin + 2]
    if text.startswith("<!--", begin):
        end = text.find("-->", begin + 2)
        return end + 3 if end >= 0 else len(text)
    if following and following in "!?/":
        return text.find(">", begin) + 1 or len(text)
    return begin + 1


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return unescape(_BIG_NUMBER.sub("\ufffd", text))  # int() refuses thousands of digits


class _Growing:
    """The tree and its open elements. `open_names` spares the search for what is not open."""

    def __init__(self) -> None:
        self.tree = Tree(Node("html", {}))
        self.stack: list[Node] = [self.tree.root]
        self.open_names: Counter[str] = Counter()
        self.too_deep = 0
        self.unseen = 0  # how many open elements are not shown, from the outermost on
        self.count = 0

    def text(self, text: str) -> None:
        if self.unseen:
            return
        if self.stack[-1].name == "title":
            self.tree.title = self.tree.title or " ".join(text.split())[:300]
        else:
            self.count += 1
            self.stack[-1].children.append(text)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if name in ("html", "body", "head"):
            return
        self._close_implied(name)
        if name == "base":
            self.tree.base = self.tree.base or attributes.get("href", "")
        hidden = name in _UNSEEN or _is_hidden(attributes)
        if len(self.stack) >= DEPTH_MAX + (50 if self.unseen or hidden else 0):  # room to leave out what is hidden, even here
            self.too_deep += name not in VOID
            return
        node = Node(name, attributes)
        if not self.unseen and not hidden:
            self.stack[-1].children.append(node)
            self._mark_layout(name)
        if name in VOID:
            return
        self.stack.append(node)
        self.open_names[name] += 1
        if self.unseen or hidden:
            self.unseen += 1

    def end(self, name: str) -> None:
        if self.too_deep and not (self.unseen and self.stack[-1].name == name):
            self.too_deep -= 1
            return
        if not self.open_names[name]:
            return
        for index in range(len(self.stack) - 1, 0, -1):
            if self.stack[index].name == name:
                self._pop_to(index)
                return
            if self.stack[index].name in _SCOPE and name not in _TABLE_PARTS:
                return

    def _close_implied(self, name: str) -> None:
        if name in BLOCKS and self.open_names["p"]:
            self._close(frozenset({"p"}), _SCOPE)
        if name in _CLOSES:
            self._close(*_CLOSES[name])

    def _close(self, names: frozenset[str], until: frozenset[str]) -> None:
        if not any(self.open_names[name] for name in names):
            return
        for index in range(len(self.stack) - 1, 0, -1):
            if self.stack[index].name in names:
                self._pop_to(index)
                return
            if self.stack[index].name in until:
                return

    def _pop_to(self, index: int) -> None:
        for node in self.stack[index:]:
            self.open_names[node.name] -= 1
        self.unseen = max(0, self.unseen - (len(self.stack) - index))
        del self.stack[index:]

    def _mark_layout(self, name: str) -> None:
        """A table with tables, lists, headings or code in its cells is there for the layout."""
        if self.open_names["table"] and (name in HEADINGS or name in ("table", "ul", "ol", "dl", "pre", "blockquote", "hr")):
            for node in reversed(self.stack):
                if node.name == "table":
                    node.layout = True
                    return


def _is_hidden(attributes: dict[str, str]) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden", "").strip().lower() == "true":
        return True
    return "style" in attributes and _HIDING.search(attributes["style"]) is not None
