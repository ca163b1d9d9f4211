"""Pages to markdown, compared whole; and pages that were made to hang or bloat a parser."""

import sys

import pytest

from tool_packs.html_tree import DEPTH_MAX, NODES_MAX
from tool_packs.markdown import to_markdown

URL = "https://example.org/docs/page"

PAGES = [
    ("<h1>One <em>two</em></h1><h3>Three</h3>", "# One *two*\n\n### Three"),
    ("<p>a<p>b", "a\n\nb"),
    ("<p>one\n  two <b> bold </b>x<i></i><br>next", "one two **bold** x\nnext"),
    ('<a href="x y.html">l</a> <a href="/r">r</a> <a href="//h.example/">h</a> <a href="#f">f</a>', "[l](https://example.org/docs/x%20y.html) [r](https://example.org/r) [h](https://h.example/) f"),
    ('<a href="javascript:x">js</a> <a href="data:x">d</a> <a href="http://[bad">b</a> <a>n</a>', "js d b n"),
    ('<base href="https://cdn.example/b/"><a href="c">t</a>', "[t](https://cdn.example/b/c)"),
    ('<a href="https://e.example/">https://e.example/</a>', "<https://e.example/>"),
    ('<a href="wiki/A_(b)">A</a>', "[A](https://example.org/docs/wiki/A_%28b%29)"),
    ('<h2>Part <a class="headerlink" href="#part">¶</a></h2>', "## Part"),
    ('<img src="i.png" alt="A  cat"> <img src="d.png"> <img alt="x" src="data:image/png;base64,AA">', "![A cat](https://example.org/docs/i.png) x"),
    ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>after", "- a\n- b\n  - c\n- d\n\nafter"),
    ("<ol start=9><li>a<li><p>b<p>c<li>d</ol>", "9. a\n10. b\n\n    c\n11. d"),
    ("<ol start=x><li>a</ol>", "1. a"),
    ("<ul><li><pre>x\n y</pre></ul>", "- ```\n  x\n   y\n  ```"),
    ("<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>d", "> a\n>\n> b\n>\n> > c\n\nd"),
    ("<pre><code class='hljs language-py'>def f():\n\treturn &lt;1&gt;\n</code></pre>", "```py\ndef f():\n    return <1>\n```"),
    ("<div class='highlight-source-js'><pre>a<br>b</pre></div>", "```\na\nb\n```"),
    ("<pre>```\ncode\n```</pre>", "````\n```\ncode\n```\n````"),
    ("use <code>a_b</code> and <code>`</code> <kbd>Ctrl</kbd>", "use `a_b` and `` ` `` `Ctrl`"),
    ("<table><tr><th>A<th>B<tr><td>1|2<td><b>x</b><br>y</table>", "| A | B |\n| --- | --- |\n| 1\\|2 | **x** y |"),
    ("<table><tr><td>1<td>2<tr><td>3</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 |"),
    ("<table><caption>C</caption><thead><tr><th colspan=2>H</thead><tbody><tr><td>1<td>2</table>", "C\n\n| H |  |\n| --- | --- |\n| 1 | 2 |"),
    ("<table><form><tr><td>a</tr></form></table>", "| a |\n| --- |"),
    ("<table><tr><td><ul><li>menu</ul><td>cell</table>", "- menu\n\ncell"),
    ("<table><tr><td>o<table><tr><td>i</table></table>", "o\n\n| i |\n| --- |"),
    ("<dl><dt>t<dd>d<dd>e<dt>u<dd>f</dl>", "t\n: d\n: e\n\nu\n: f"),
    ('<a href="/c"><h3>Card</h3><p>text</p></a>', "### [Card](https://example.org/c)\n\ntext"),
    ('<b><p>one<p>two</b>', "**one**\n\n**two**"),
    ("<script>if (a < b) {'</p>'}</script><style>p{}</style><noscript>js!</noscript><p>x<!-- c --><svg><title>icon</title></svg>y", "xy"),
    ("<nav>menu</nav><header>top</header><p>text</p><aside>ad</aside><footer>end</footer><div role=navigation>n</div>", "text"),
    ("<nav><a href='/a'>only a menu</a></nav>", "[only a menu](https://example.org/a)"),
    ("<div>shell</div><main><header><h1>T</h1></header>" + "<p>word</p>" * 60 + "</main>", "# T\n\n" + "\n\n".join(["word"] * 60)),
    ("<p hidden>a</p><p aria-hidden=true>b</p><p style='display: none'>c</p><p>d</p>", "d"),
    ("a < b & c &lt;i&gt; &copy; &#8364; &#x20AC; &#99999999999; &bogus;", "a < b & c <i> © € € � &bogus;"),
    ("<p>snake_case * 2</p><hr><p>x", "snake_case * 2\n\n---\n\nx"),
    ("text <button>Buy</button><select><option>1</select> <q>said</q> <del>no</del>", 'text "said" ~~no~~'),
    ("<textarea><p>not a p</textarea>x", "x"),
    ("<p title='a>b' class=\"x\" data-y>z", "z"),
    ("<p>un<b>closed", "un**closed**"),
    ("</p></div>stray</b>", "stray"),
    ("<!DOCTYPE html><?php x ?><![CDATA[x]]>y", "y"),
    ("<p>cut <a href='x", "cut"),
    ("<!-->shown<!--->too", "showntoo"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("html", "text"), PAGES)
def test_a_page_becomes_markdown(html: str, text: str) -> None:
    assert to_markdown(html, URL).text == text


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<head><title> A &amp;\n B </title>", "A & B"),
        ("<svg><title>icon</title></svg><title>Page</title>", "Page"),
        ("<div><h1>From <b>the</b> heading</h1>", "From the heading"),
        ("<p>none", ""),
        (f"<title>{'x' * 1000}</title>", "x" * 300),
    ],
)
def test_a_page_has_a_title(html: str, title: str) -> None:
    assert to_markdown(html, URL).title == title


SIZE = 100_000
HOSTILE = {
    "open tags": "<a " * (SIZE // 3),
    "tags in tags": "<a" * (SIZE // 2),
    "less-than": "<" * SIZE,
    "comments that never end": "<!--" * (SIZE // 4),
    "declarations": "<!" * (SIZE // 2),
    "instructions": "<?" * (SIZE // 2),
    "end tags that never end": "</" * (SIZE // 2),
    "attributes": "<a " + "a=" * (SIZE // 2),
    "quotes": "<a " + "x=' y=\" " * (SIZE // 8),
    "equals": "<a " + "=" * SIZE,
    "scripts": "<script>" * (SIZE // 8),
    "script ends": "<script>" + "</" * (SIZE // 2),
    "ampersands": "&#x" * (SIZE // 3),
    "a number": "&#" + "1" * SIZE + ";",
    "a hexadecimal number": "&#x" + "f" * SIZE + ";",
    "nested divs": "<div>" * (SIZE // 5) + "x",
    "nested quotes": "<blockquote>" * 90 + "<p>x" * (SIZE // 4),
    "nested lists": "<ul><li>" * (SIZE // 8) + "x",
    "nested marks": "<b><i>" * 45 + "<p>x" * (SIZE // 4),
    "nested tables": "<table><tr><td>" * (SIZE // 15),
    "wide cells": "<table>" + "<tr><td colspan=999>x" * (SIZE // 21),
    "spaces": "<p>" + " " * SIZE + "x",
    "spaces in code": "<pre>x" + " " * SIZE + "x",
    "crossed ends": "<b><i>" * (SIZE // 20) + "</b></i>" * (SIZE // 20),
    "deep scripts": "<div>" * 200 + "<script>hidden</script>" * 100 + "shown",
    "ordered": "<ol>" + "<li>a" * (SIZE // 5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_costs_no_more_than_its_size(name: str) -> None:
    """Counted in lines of Python that run, so that it does not depend on the machine: at most some for each character."""
    steps = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        text = to_markdown(HOSTILE[name], URL).text
    finally:
        sys.settrace(before)
    assert steps < 60 * SIZE
    assert len(text) < 20 * SIZE
    assert "hidden" not in text


def test_a_page_with_too_many_elements_is_cut_and_says_so() -> None:
    text = to_markdown("<br>x" * NODES_MAX, URL).text
    assert text.endswith(f"\n\n[the page is cut here: it has more than {NODES_MAX:,} elements]")


def test_nesting_deeper_than_is_kept_loses_no_text() -> None:
    html = "".join(f"<div>{level} " for level in range(DEPTH_MAX * 2)) + "</div>" * DEPTH_MAX * 2 + "<p>after"
    words = to_markdown(html, URL).text.split()
    assert words == [*map(str, range(DEPTH_MAX * 2)), "after"]
