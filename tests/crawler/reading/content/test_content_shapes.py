"""Lists, tables and code of a page keep their shape; what belongs together is chosen together."""

from __future__ import annotations

import pytest
from lxml.etree import fromstring

from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.content_body import build_body
from crawler.reading.content.content_shapes import write_code
from crawler.reading.content.content_text import markdown
from crawler.reading.content.main_content import read_content
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from tests.crawler.reading.content.test_content import PROSE, text_of


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<ol><li><h3>One</h3><p>a</p></li><li>Two</li></ol>", "1. ### One\n\n   a\n2. Two"),
        ("<ol><li>a<form><button>Go</button></form></li><li>b</li></ol>", "1. a\n\n   Go\n2. b"),
        (
            "<ol><li>a<table><tr><td>b<td>c</table></li><li>d</li></ol>",
            "1. a\n\n   |  |  |\n   |---|---|\n   | b | c |\n2. d",
        ),
        (
            "<table><tr><td><h4>a</h4><td>b<tr><td>c<td><table><tr><td>d<td>e</table></table>",
            "|  |  |\n|---|---|\n| a | b |\n| c | d e |",
        ),
        ("<table><tr><td>a<td><h1>b</h1><tr><td>c<td>d</table>", "a\n\n# b\n\nc\n\nd"),
        (f"<ul><li><h3>a</h3><p>{PROSE * 4}</ul>", f"### a\n\n{PROSE * 4}".strip()),
        (
            "<table><thead><tr><td>a<td>b</thead><tr><td rowspan=2>c<td>d<tr><td>e</table>",
            "| a | b |\n|---|---|\n| c | d |\n|  | e |",
        ),
        (
            "<table><tr><td colspan=2 rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e<td>f</table>",
            "|  |  |  |\n|---|---|---|\n| a |  | b |\n|  |  | c |\n| d | e | f |",
        ),
        ("<pre class='brush: js'>a = 1</pre>", "```js\na = 1\n```"),
        ("<pre><code class='x language-c++'>a = 1</code></pre>", "```c++\na = 1\n```"),
        ("<div class=highlight-python><div><pre>a</pre></div></div>", "```python\na\n```"),
        ("<pre data-lang='a b'>a</pre>", "```\na\n```"),
        (
            "<pre class='sourceCode numberSource c'><code class='sourceCode c'>a</pre>",
            "```c\na\n```",
        ),
        ("<pre><code class='hljs language-js'>a</pre>", "```js\na\n```"),
        ("<div class='highlight-text-html-basic'><pre>a</pre></div>", "```html\na\n```"),
        ("<div class='highlight-default'><pre>a</pre></div>", "```\na\n```"),
        (
            "<figure class='highlight js'><table><tr><td class=gutter><pre>1</pre>"
            "<td><pre>a</pre></table></figure>",
            "```js\na\n```",
        ),
        ("<div class=language-js><span>js</span><pre>a</pre></div>", "```js\na\n```"),
        (
            "<pre><b style='-webkit-user-select:none'>1</b>a:\n<b style='user-select: none'>2\n</b>"
            "  b</pre>",
            "```\na:\n  b\n```",
        ),
        ('<h2>a<span class="mw-editsection">[<a href=/e>edit</a>]</span></h2>', "## a"),
        (
            "<table><tr><td class=linenos><pre>1\n2</pre><td><pre>a:\n  b</pre></table>",
            "```\na:\n  b\n```",
        ),
        (
            "<table><tr><td><div><pre><a>9</a>\n<a>10</a>\n<a>11</a>\n</pre></div>"
            "<td><pre><code>a:\n\n  b</code></pre></table>",
            "```\na:\n\n  b\n```",
        ),
        (
            "<table><tr><td><pre>1 2</pre><td><pre>3</pre></table>",
            "```\n1 2\n```\n\n```\n3\n```",
        ),
        (
            "<table><tr><td><pre>1\n3</pre><td><pre>a:\n  b</pre></table>",
            "```\n1\n3\n```\n\n```\na:\n  b\n```",
        ),
        (
            "<pre><span class=lineno>1</span>a:\n<span class=lineno>2</span>  b</pre>",
            "```\na:\n  b\n```",
        ),
        ("<pre><span class=mi>1</span> a\n<span class=mi>2</span> b</pre>", "```\n1 a\n2 b\n```"),
        ("<p>Bus <b class=line-number>42</b> goes", "Bus **42** goes"),
        ("<pre>0\n1\n2</pre>", "```\n0\n1\n2\n```"),
        ("<pre>a <b class=gutter>1984 <i>x</i></b></pre>", "```\na 1984 x\n```"),
        (
            "<table class='t no-gutter'><tr class=gutter><td>a<td>37<tr><td>b<td>12</table>",
            "|  |  |\n|---|---|\n| a | 37 |\n| b | 12 |",
        ),
        (
            "<table><thead><tr><th rowspan=9>a<th>b</thead>"
            "<tr><td rowspan=0>c<td>d<tr><td>e</table>",
            "| a | b |\n|---|---|\n| c | d |\n|  | e |",
        ),
        ("<p><img src=/a.png data-lazy=true data-original=640x480> b", "![](/a.png) b"),
        ("<p><img src=/wait.gif data-src=/a.png alt=A> b", "![A](/a.png) b"),
        (
            "<p><img src=/w.gif data-original-src=/a.png data-lazy-srcset='/b.png 2x'> b",
            "![](/a.png) b",
        ),
        ("<p><picture><source srcset='/a.webp 1x'><img src=''></picture> b", "![](/a.webp) b"),
        (
            "<div><img src=/w.gif alt=A><noscript><img src=/a.png alt=A></noscript></div><p>b",
            "![A](/a.png)\n\nb",
        ),
        ("<p><img src='data:image/gif;base64,x' srcset='/a.png 1x, /b.png 2x'> b", "![](/a.png) b"),
    ],
)
def test_lists_tables_and_code_stay_whole(html: str, written: str) -> None:
    blocks = cut_blocks(flatten(parse(html.encode())))
    assert markdown(fromstring(build_body(blocks, range(len(blocks.texts))))) == written


@pytest.mark.parametrize(
    ("html", "chosen", "shown"),
    [
        ("<table><tr><td>aaa<td>b<tr><td>ccc<td>d</table>", [0, 2], "aaa b ccc d"),
        ("<table><tr><td>aaa<td>b<tr><td>ccc<td>d</table>", [1], "b"),
        ("<dl><dt>a<dd>bb<dt>c<dd>dd</dl>", [1], "a bb c dd"),
        ("<ul><li>aaaaaa<li>b</ul><p>c", [0], "aaaaaa b"),
    ],
)
def test_rows_and_items_are_chosen_together(html: str, chosen: list[int], shown: str) -> None:
    blocks = cut_blocks(flatten(parse(html.encode())))
    assert text_of(fromstring(build_body(blocks, chosen))) == shown


LINES = ("def f():", "    x = 1", "", "    return x")
CELLS = "".join(
    f'<tr><td id="L{at}" class="blob-num" data-line-number="{at}"></td>\n'
    f'<td id="LC{at}" class="blob-code">{line}</td></tr>\n'
    for at, line in enumerate(LINES, 1)
)
NUMBERED = "".join(
    f"<tr><td class=lines-num>{at}</td><td class=lines-code><code>{line}\n</code></td></tr>"
    for at, line in enumerate(LINES, 1)
)
DIVS = "".join(f"<div class=line>{line or '<br>'}</div>" for line in LINES)
NUMBERS = "".join(f"<div class='line number{at}'>{at}</div>" for at in range(1, 5))
DIFF = "<div class=head>diff --git a/b b/b<br>--- a/b</div><div>@@ -1,2 +1,2 @@</div>"
CHANGES = "<div class=del>-    x = 1</div><div class=add>+    x = 2</div>"
MARKED = (
    "<tr><td class=blob-num data-line-number=1><td class=blob-code>\n"
    "<span data-code-marker='{}'>{}</span>\n</td></tr>"
)


@pytest.mark.parametrize(
    ("html", "code"),
    [
        (f"<table class=highlight>{CELLS}</table>", "\n".join(LINES)),
        (f"<table>{NUMBERED}</table>", "\n".join(LINES)),
        (f"<pre><code><table class=hljs-ln>{CELLS}</table></code></pre>", "\n".join(LINES)),
        (f"<div class=fragment>{DIVS}</div>", "\n".join(LINES)),
        (
            f"<table class=syntaxhighlighter><tr><td class=gutter>{NUMBERS}<td class=code>"
            f"<div class=container>{DIVS.replace('    ', '&nbsp;' * 4)}</div></table>",
            "\n".join(LINES),
        ),
        ("<pre><ol><li>a:</li>\n<li>  b</li></ol></pre>", "a:\n  b"),
        (
            f"<table class=diff><tr><td>{DIFF}{CHANGES}</table>",
            "diff --git a/b b/b\n--- a/b\n@@ -1,2 +1,2 @@\n-    x = 1\n+    x = 2",
        ),
        (
            f"<table>{MARKED.format(' ', 'a:')}{MARKED.format('+', '    42')}</table>",
            " a:\n+    42",
        ),
        # Verses, rows of data, and lines with something else between them.
        ("<div class=line-block><div class=line>a</div><div class=line>b</div></div>", None),
        ("<table class=code><tr><td>49<td>Germany<tr><td>33<td>France</table>", None),
        ("<div class=code><div class=line>a</div>b<div class=line>c</div></div>", None),
        ("<table><tr><td class=line-number>1<td>a<td>b</table>", None),
    ],
)
def test_code_with_an_element_for_each_line_keeps_its_lines(html: str, code: str | None) -> None:
    root = parse(f"<p>{PROSE}</p>{html}<p>{PROSE}</p>".encode())
    write_code(root, cut_blocks(flatten(root)))
    found = ["".join(one.itertext()) for one in root.iter("pre")]
    assert found == ([] if code is None else [code])


def test_lines_of_code_are_content() -> None:
    root = parse(f"<h1>A</h1><p>{PROSE}</p><table>{CELLS}</table><p>{PROSE}</p>".encode())
    shown = markdown(fromstring(read_content(root, flatten(root)).xml))
    assert "```\ndef f():\n    x = 1\n\n    return x\n```" in shown
