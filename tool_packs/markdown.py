"""A page to markdown for reading: headings, lists, tables, code and absolute links stay; menus and decoration go.

Pure, and linear in the page: text goes straight to one list of lines under a stack of prefixes, and prefixes are capped.
Markdown characters in the page's own text are not escaped: a reader wants `read_file`, not `read\\_file`.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

from tool_packs.html_tree import BLOCKS, HEADINGS, NODES_MAX, Node, parse_html
from tool_packs.page_parts import COLUMNS_MAX, heading_of, is_noise, main_of, plain, rows_of

PREFIXES_MAX = 8  # quotes and lists inside each other; deeper ones are not indented further
MARKS_MAX = 6  # bold in italics in a link…; deeper ones are plain

_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|sourceCode\s+)([A-Za-z0-9+#_-]{1,30})")
_ANCHORS = frozenset({"", "#", "¶", "§", "🔗"})
_SPACES = re.compile(r"[^\S\n]+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Converted:
    title: str
    text: str


def to_markdown(html: str, url: str) -> Converted:
    """`url` is where the page came from: links are made absolute by it, or by the page's own <base>."""
    tree = parse_html(html)
    base = _joined(url, tree.base) or url
    main = main_of(tree.root)
    page = _Writing(base, noise=main is None)
    page.node(main or tree.root)
    page.flush()
    text = "\n".join(page.lines).strip("\n")
    if not text and main is None:  # a page of menus alone: better these than nothing
        page = _Writing(base, noise=False)
        page.node(tree.root)
        page.flush()
        text = "\n".join(page.lines).strip("\n")
    if tree.cut:
        text += f"\n\n[the page is cut here: it has more than {NODES_MAX:,} elements]"
    return Converted(tree.title or heading_of(tree.root), text)


@dataclass(slots=True)
class _Mark:
    """An open inline element: what goes around its text when it closes, or when a block inside it ends."""

    sign: str = ""
    href: str = ""
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Prefix:
    first: str
    rest: str
    used: bool = False


class _Writing:
    def __init__(self, base: str, *, noise: bool) -> None:
        self.base = base
        self.noise = noise  # leave out menus and the like
        self.lines: list[str] = []
        self.marks: list[_Mark] = [_Mark()]
        self.prefixes: list[_Prefix] = []
        self.gap = False  # an empty line is due before the next block
        self.opens = True  # …even before a first prefix; not between the items of a list

    def node(self, node: Node) -> None:
        for child in node.children:
            if isinstance(child, str):
                self.marks[-1].parts.append(_SPACE.sub(" ", child))
            elif not (self.noise and is_noise(child)):
                self.element(child)

    def element(self, node: Node) -> None:
        name = node.name
        if name == "pre":
            self.pre(node)
        elif name in HEADINGS:
            self.heading(node)
        elif name == "table" and not node.layout and node.attributes.get("role") not in ("presentation", "none"):
            self.table(node)
        elif name in ("ul", "ol", "menu", "dir"):
            self.list_(node)
        elif name == "blockquote":
            self.prefixed(node, "> ", "> ", gap=True)
        elif name == "dd":
            self.prefixed(node, ": ", "  ", gap=False)
        elif name == "hr":
            self.block()
            self.emit("---")
        elif name in BLOCKS or name in ("tr", "caption"):
            self.block()
            self.node(node)
            self.block()
        else:
            self.inline(node)

    def inline(self, node: Node) -> None:
        name, parts = node.name, self.marks[-1].parts
        if name == "br":
            parts.append("\n")
        elif name == "img":
            parts.append(self.image(node))
        elif name in _CODE:
            parts.append(_code(_SPACE.sub(" ", plain(node)).strip()))
        elif name == "q":
            parts.append('"')
            self.node(node)
            self.marks[-1].parts.append('"')
        elif (name in _MARKS or name == "a") and len(self.marks) <= MARKS_MAX:
            href = self.link(node) if name == "a" else ""
            self.marks.append(_Mark(_MARKS.get(name, ""), href))
            self.node(node)
            mark = self.marks.pop()
            if not (name == "a" and not href and "".join(mark.parts).strip() in _ANCHORS):
                self.marks[-1].parts.append(_folded(mark))
        else:
            self.node(node)
            if name in ("td", "th"):
                self.marks[-1].parts.append(" ")

    def link(self, node: Node) -> str:
        href = node.attributes.get("href", "").strip()
        return "" if href.startswith("#") else _joined(self.base, href)

    def image(self, node: Node) -> str:
        """Only with words: an image without them is decoration to a reader of text."""
        alt = _SPACE.sub(" ", node.attributes.get("alt", "")).strip()
        src = _joined(self.base, node.attributes.get("src", "").strip())
        return f"![{alt}]({src})" if alt and src else alt

    def block(self) -> None:
        self.flush()
        self.gap = True

    def flush(self) -> None:
        """What was gathered inline becomes a paragraph; open marks stay open for what follows."""
        for outer, inner in zip(reversed(self.marks[:-1]), reversed(self.marks[1:]), strict=True):
            if inner.parts:
                outer.parts.append(_folded(inner))
                if outer.parts[-1].strip():
                    inner.href = ""  # a link around several blocks is written once
                inner.parts = []
        text = "".join(self.marks[0].parts)
        self.marks[0].parts = []
        rows = [_SPACES.sub(" ", row).strip() for row in text.split("\n")]
        if any(rows):
            self.emit(*[row for row in rows if row])

    def emit(self, *rows: str) -> None:
        """Write one block, after an empty line when something stood before."""
        starts = [prefix for prefix in self.prefixes if not prefix.used]
        if self.gap and self.lines and not (starts and not self.opens):
            self.lines.append("".join(prefix.rest for prefix in self.prefixes if prefix.used).rstrip())
        self.gap = False
        for row in rows:
            head = "".join(prefix.rest if prefix.used else prefix.first for prefix in self.prefixes)
            for prefix in starts:
                prefix.used = True
            self.lines.append((head + row).rstrip())

    def prefixed(self, node: Node, first: str, rest: str, *, gap: bool) -> None:
        self.flush()
        deep = len(self.prefixes) >= PREFIXES_MAX
        if not deep:
            self.prefixes.append(_Prefix(first, rest))
        self.opens = gap or (self.opens and self.gap and first != ": ")
        self.gap = self.gap or gap
        self.node(node)
        self.flush()
        if not deep:
            self.prefixes.pop()
        self.gap = self.gap or gap

    def list_(self, node: Node) -> None:
        self.flush()
        nested = any(prefix.first != "> " for prefix in self.prefixes)
        if not nested:
            self.gap = True
        start = node.attributes.get("start", "1")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 1
        first = not nested
        for child in node.children:
            if isinstance(child, str):
                self.marks[-1].parts.append(_SPACE.sub(" ", child))
                continue
            if child.name != "li":
                self.element(child)
                continue
            self.flush()
            marker = f"{number}. " if node.name == "ol" else "- "
            self.opens, self.gap = first, first and self.gap
            self.item(child, marker)
            number, first = number + 1, False
        self.flush()
        self.gap = not nested

    def item(self, node: Node, marker: str) -> None:
        deep = len(self.prefixes) >= PREFIXES_MAX
        if not deep:
            self.prefixes.append(_Prefix(marker, " " * len(marker)))
        self.node(node)
        self.flush()
        if not deep:
            self.prefixes.pop()

    def heading(self, node: Node) -> None:
        self.block()
        text = self.line(node)
        around = next((mark for mark in self.marks if mark.href), None)
        if text and around is not None:
            text, around.href = f"[{text}]({around.href})", ""
        if text:
            self.emit("#" * int(node.name[1]) + " " + text)
        self.gap = True

    def pre(self, node: Node) -> None:
        self.block()
        text = plain(node).expandtabs(4).strip("\n")
        if text.strip():
            fence = _fence(text, 3)
            self.emit(fence + _language(node), *[row.rstrip() for row in text.split("\n")], fence)
        self.gap = True

    def table(self, node: Node) -> None:
        self.block()
        caption, rows = rows_of(node)
        if caption is not None:
            self.element(caption)
        made = [([self.cell(cell) for cell in row], all(cell is None or cell.name == "th" for cell in row)) for row in rows]
        made = [(cells, head) for cells, head in made if any(cells)]
        if made:
            width = min(COLUMNS_MAX, max(len(cells) for cells, _ in made))
            top = made.pop(0)[0] if made[0][1] or len(made) == 1 else [""] * width
            top += [""] * (width - len(top))
            lines = [top[:width], ["---"] * width, *(cells[:width] for cells, _ in made)]
            self.emit(*["| " + " | ".join(cells) + " |" for cells in lines])
        self.gap = True

    def cell(self, node: Node | None) -> str:
        return "" if node is None else self.line(node).replace("|", "\\|")

    def line(self, node: Node) -> str:
        """All of an element on one line."""
        inner = _Writing(self.base, noise=False)
        inner.node(node)
        inner.flush()
        return " ".join(row for row in inner.lines if row).strip()


def _folded(mark: _Mark) -> str:
    """The text with its signs around it and its outer spaces outside of them."""
    text = "".join(mark.parts)
    inner = text.strip()
    if not inner or not (mark.sign or mark.href):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if mark.href:
        inner = _SPACE.sub(" ", inner)
        return f"{before}<{mark.href}>{after}" if inner == mark.href else f"{before}[{inner}]({mark.href}){after}"
    return f"{before}{mark.sign}{inner}{mark.sign}{after}"


def _code(text: str) -> str:
    if not text:
        return ""
    fence = _fence(text, 1)
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(least, longest + 1 if longest >= least else least)


def _language(node: Node) -> str:
    inner = next((child for child in node.children if isinstance(child, Node) and child.name == "code"), None)
    for one in (inner, node):
        found = _LANGUAGE.search(one.attributes.get("class", "")) if one is not None else None
        if found:
            return found[1].lower()
    return ""


def _joined(base: str, href: str) -> str:
    """Absolute; empty for what leads nowhere a reader could go (javascript:, data:, broken)."""
    try:
        joined = urljoin(base, href) if href else ""
    except ValueError:
        return ""
    if not joined.startswith(("http://", "https://", "mailto:")):
        return ""
    return _SPACE.sub("%20", joined).replace("(", "%28").replace(")", "%29")
