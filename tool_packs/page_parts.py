"""Where things stand in a page: the main text, what is only menu and frame, the rows of a table, plain text. Pure."""

import re

from tool_packs.html_tree import Node

MAIN_CHARS_MIN = 200  # a <main> with less than this, and less than a quarter of the page, is not where the text is
COLUMNS_MAX = 60

_NOISE = frozenset({"nav", "aside", "footer", "header", "search"})
_NOISE_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar",
    "toolbar",
})  # fmt: skip
_SPACE = re.compile(r"\s+")


def main_of(root: Node) -> Node | None:
    """Where the text is: <main>, role=main, or the only <article>, when it holds a good part of the page."""
    mains: list[Node] = []
    articles: list[Node] = []
    todo: list[Node] = [root]
    while todo:
        node = todo.pop()
        if node.name == "main" or node.attributes.get("role") == "main":
            mains.append(node)
        elif node.name == "article":
            articles.append(node)
        todo.extend(child for child in node.children if isinstance(child, Node))
    found = mains[0] if mains else articles[0] if len(articles) == 1 else None
    if found is None:
        return None
    chars = len(plain(found).strip())
    return found if chars >= MAIN_CHARS_MIN or chars * 4 >= len(plain(root).strip()) else None


def heading_of(root: Node) -> str:
    todo: list[Node] = [root]
    while todo:
        node = todo.pop()
        if node.name == "h1":
            return _SPACE.sub(" ", plain(node)).strip()[:300]
        todo.extend(reversed([child for child in node.children if isinstance(child, Node)]))
    return ""


def is_noise(node: Node) -> bool:
    return node.name in _NOISE or node.attributes.get("role", "").strip().lower() in _NOISE_ROLES


def rows_of(table: Node) -> tuple[Node | None, list[list[Node | None]]]:
    """The rows wherever they stand in the table: in its sections, or in a form that somebody put around them."""
    caption: Node | None = None
    rows: list[list[Node | None]] = []
    todo: list[Node] = [table]
    while todo:
        node = todo.pop()
        if node.name == "tr":
            rows.append(_cells(node))
        elif node.name == "caption":
            caption = node
        else:
            todo.extend(child for child in reversed(node.children) if isinstance(child, Node))
    return caption, rows


def _cells(row: Node) -> list[Node | None]:
    """One for each column: a wide cell is followed by None."""
    cells: list[Node | None] = []
    for child in row.children:
        if not isinstance(child, Node) or child.name not in ("td", "th"):
            continue
        cells.append(child)
        span = child.attributes.get("colspan", "1")
        if span.isascii() and span.isdigit() and len(span) < 4:
            cells += [None] * (min(int(span), COLUMNS_MAX - len(cells)) - 1)
    return cells


def plain(node: Node) -> str:
    """The text of an element as it stands."""
    parts: list[str] = []
    todo: list[Node | str] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            parts.append(one)
        elif one.name == "br":
            parts.append("\n")
        else:
            todo.extend(reversed(one.children))
    return "".join(parts)
