"""Pages that scripts fill, and short pages with scripts that none fills."""

from __future__ import annotations

import pytest

from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible
from crawler.reading.wall_signs import MAX_SHELL_WORDS, is_app_shell, may_be_filled

SCRIPT = "<script src=/app.js></script>"
PIXEL = "<noscript><iframe src=/count></iframe><img src=/count.gif></noscript>"


def is_shell(body: str) -> bool:
    root = parse(f"<html><head><title>App</title></head><body>{body}</body></html>".encode())
    return is_app_shell(root, read_visible(flatten(root)))


@pytest.mark.parametrize(
    "body",
    [
        SCRIPT,
        f"<div id=root></div>{SCRIPT}",
        f"<div id=app><div class=turning></div></div>{SCRIPT}{PIXEL}",
        f"<main id=content>\n</main><footer>Acme and Sons</footer>{SCRIPT}",
        f"<app-root>Welcome</app-root>{SCRIPT}",
        f"<div id=app>Loading, please wait...</div>{SCRIPT}",
        f"<p>Wird geladen</p>{SCRIPT}",
        f"<nav><a href=/>Home</a> <a href=/news>All the news</a></nav><img src=/logo.png>"
        f"<form action=/find><input name=q></form><div id=App></div><p>Acme, 2026</p>{SCRIPT}",
        f"<p>データを読み込み中</p>{SCRIPT}",
        f"<noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}",
    ],
)
def test_shells(body: str) -> None:
    assert is_shell(body)


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div>",
        f"<p>A short note.</p>{SCRIPT}",
        f"<div id=root></div><p>{'word ' * (MAX_SHELL_WORDS + 1)}</p>{SCRIPT}",
        f"<div id=comments></div><a href=/next>On</a>{SCRIPT}",
        f"<div id=main><img src=/photo.jpg></div><a href=/next>On</a>{SCRIPT}",
        f"<nav><a href=/>Home</a></nav><div id=app></div><p>{'word ' * 9}</p>{SCRIPT}",
        f"<div id=comments></div><img src=/photo.jpg>{SCRIPT}",
        f"<div id=result></div><form><input name=q></form>{SCRIPT}",
        f"<iframe src=/game></iframe>{SCRIPT}",
        f"<noscript>{'a text for who has no scripts ' * 10}</noscript><div id=x></div>{SCRIPT}",
        f"{SCRIPT}<frameset><frame src=/a></frameset>",
    ],
)
def test_pages(body: str) -> None:
    assert not is_shell(body)


@pytest.mark.parametrize(
    "body",
    [
        "<div id=comments></div>",
        "<ul id='list' class=wide>\n<!-- items --></ul>",
        "<table><thead><tr><th>Name</thead><tbody>\n</tbody></table>",
        "<my-card></my-card>",
        "<my-card data='7'>Seven</my-card>",
        "<div x-data=\"{ text: '' }\">More</div>",
        "<p class=a x-text='text'>-</p>",
        "<li v-for='one in all'>-</li>",
        "<div ng-app='shop'>Shop</div>",
        "<p data-bind='text: text'>-</p>",
        "<h2>\n{{ title }}\n</h2>",
        "<div hx-get='/part' hx-trigger=load>more</div>",
        "<ul><li>Items</ul><template id=row><li></li></template>",
        "<nav><a href='#/news'>News</a></nav>",
        "<div aria-busy=true>Prices</div>",
        "<p class='box is-loading'>Prices</p>",
        "<div id=loading-spinner><img src=/turning.gif></div>",
        "<span id='page_loading'>Just a moment</span>",
        "<div><i class=icon></i> Loading data</div>",
        "<p>Loading articles</p>",
        "<h3>Loading comments...</h3>",
        "<a href=/more>Loading\u2026</a>",
    ],
)
def test_what_may_be_filled(body: str) -> None:
    assert may_be_filled(f"<h1>A page</h1><p>Its words.</p>{body}{SCRIPT}".encode())
    assert not may_be_filled(body.encode()), "there is no script"


@pytest.mark.parametrize(
    "body",
    [
        "<p>Its words.</p><div id=box>more</div>",
        "<h1 id='loading_extensions'><span>12. </span>Loading Extensions</h1>",
        "<ol><li><a href='#loading'>Loading Extensions</a></ol>",
        "<h1 id=loading><span>3. </span>Loading</h1>",
        "<section id='loading-shared-libraries'>\n<h3>Loading shared libraries</h3></section>",
        "<span id='loading'></span><h2>Loading</h2>",
        "<div class=section id='loading-x'>\n<h2>Loading x</h2></div>",
        "<dl><dt>Loading</dt><dd>is what comes first</dd></dl>",
        "<p>a constraint of the form <pre></p><language-id> = 5</pre>",
        "<p>Of {{ braces }} and of the x-axis, see <code>a {{name}}</code></p>",
    ],
)
def test_what_only_speaks_of_it(body: str) -> None:
    assert not may_be_filled(f"{body}{SCRIPT}".encode())


def test_a_long_page_is_not_searched() -> None:
    assert not is_shell(f"<div id=root></div>{SCRIPT}<p>{'x' * 20_000}</p>")
