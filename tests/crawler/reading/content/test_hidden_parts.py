"""What a page hides is no content unless something on it opens it."""

from __future__ import annotations

import numpy as np
import pytest
from lxml.etree import fromstring

from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.content_body import build_body
from crawler.reading.content.content_text import plain_text
from crawler.reading.content.main_content import pruned, read_article
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible
from tests.crawler.reading.content.test_content import PROSE, text_of

HIDDEN = 'style="display: none"'


def shown(html: str) -> str:
    """All blocks of a page with much other text, without that."""
    root = parse(f"<body><p>{PROSE}</p>{html}<p>{PROSE}</p></body>".encode())
    blocks = cut_blocks(flatten(root))
    body = fromstring(build_body(blocks, range(len(blocks.texts))))
    return " ".join(plain_text(body).replace(PROSE.strip(), "").split())


@pytest.mark.parametrize(
    "html",
    [
        f"a<p {HIDDEN}>b</p>",
        "a<p hidden>b</p>",
        'a<div style="visibility:hidden"><ul><li>b</ul><div>c</div></div>',
        f"<p>a<span {HIDDEN}><span>b</span><b>c</b></span></p>",
        f'a<div class="alone" {HIDDEN}><a href="/c">c</a></div>',
        f'a<p class="x"></p><p class="y" {HIDDEN}>c</p>',
        "a<p hidden>b</p><details><summary></summary></details>",
    ],
)
def test_what_is_hidden_for_good_is_left_out(html: str) -> None:
    assert shown(html) == "a"


@pytest.mark.parametrize(
    "html",
    [
        f"<details><summary>a</summary><div {HIDDEN}>b</div></details>",
        f"<button>a</button><div {HIDDEN}>b</div>",
        f'<div>a</div><div class="accordion-body" {HIDDEN}>b</div>',
        f'<div class="x">a</div><div class="x" {HIDDEN}>b</div>',
        f'<div class="x" {HIDDEN}>a</div><div class="x">b</div>',
        f'<i>a</i><div id="rest" {HIDDEN}>b</div>',
        f'<a href="#rest">a</a><div id="rest" {HIDDEN}><p {HIDDEN}>b</p></div>',
        '<p>a</p><div hidden="until-found">b</div>',
        '<p>a <span aria-hidden="true">b</span></p>',
        f'<h3>a</h3><i><b class="x" {HIDDEN}>b</b></i><i><b class="x" {HIDDEN}> </b></i>',
        f'<div class="faq"><h3>a</h3><i></i><i></i><i></i><div {HIDDEN}>b</div></div>',
        f"a<ul><li {HIDDEN}>b</ul>",
    ],
)
def test_what_may_be_opened_stays(html: str) -> None:
    assert shown(html) in {"a b", "a - b"}


def test_a_page_that_is_hidden_until_a_script_shows_it_stays() -> None:
    root = parse(f'<div id="all" {HIDDEN}><h1>a</h1><p>{PROSE}</p></div>'.encode())
    assert cut_blocks(flatten(root)).texts == ["a", PROSE.strip()]


def test_hidden_parts_count_among_all_that_is_visible() -> None:
    """Pages that differ in them alone are no duplicates: a script may show them."""
    page = parse(f"<p>a</p><p {HIDDEN}>b</p>".encode())
    assert "b" in read_visible(flatten(page)).text


def test_trafilatura_is_shown_no_hidden_part() -> None:
    root = parse(f"<body><p>{PROSE}</p><div hidden><p>b</p></div><p>c</p></body>".encode())
    blocks = cut_blocks(flatten(root))
    copy = pruned(root, blocks, np.ones(len(blocks.texts), np.float32))
    assert text_of(copy) == f"{PROSE}c"


@pytest.mark.parametrize("tag", ["time", "label", "output", "math", "legend", "q"])
def test_trafilatura_keeps_each_word_of_a_sentence(tag: str) -> None:
    said = f"<p>It began at <{tag}>noon</{tag}>, they said. {PROSE}</p>"
    root = parse(f"<body><article><p>{PROSE}</p>{said}<p>{PROSE}</p></article></body>".encode())
    blocks = cut_blocks(flatten(root))
    article = read_article(root, blocks, np.ones(len(blocks.texts), np.float32))
    assert "It began at noon, they said." in text_of(article)
