"""Which blocks of a page are chosen: tables and lists whole or not at all, and no menus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.choosing import (
    block_units,
    choose_blocks,
    with_headings,
    without_company,
)
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.reading.content.blocks import PageBlocks

PROSE = "The directive sets what the server does with a request, and where it is looked for. " * 3
DIRECTIVE = f"""<h1>A module</h1><p>{PROSE}</p><section><h2>Listen</h2>
<table><tr><th><a href=#d>Description:</a></th><td>Ports that the server listens to</td></tr>
<tr><th><a href=#s>Syntax:</a></th><td>Listen port</td></tr>
<tr><th><a href=#c>Context:</a></th><td>server config</td></tr></table><p>{PROSE}</p></section>"""


def blocks_of(html: str) -> tuple[PageBlocks, PageFeatures]:
    root = parse(html.encode())
    blocks = cut_blocks(flatten(root))
    return blocks, PageFeatures(blocks, root)


def chosen_of(html: str, odds: Mapping[str, float]) -> list[str]:
    """Return the chosen texts; prose is likely, other texts are as likely as ``odds`` says."""
    blocks, features = blocks_of(html)
    likely = [0.95 if text == PROSE.strip() else odds.get(text, 0.02) for text in blocks.texts]
    chosen = choose_blocks(blocks, features, np.array(likely, np.float32))
    return [text for text, is_chosen in zip(blocks.texts, chosen, strict=True) if is_chosen]


def units_of(html: str) -> list[str]:
    """Return the tag of the unit of each block, or nothing where it is in none."""
    blocks, _ = blocks_of(html)
    return [blocks.tags[unit] if unit else "" for unit in block_units(blocks).tolist()]


def test_a_table_with_cells_that_are_unlikely_is_whole() -> None:
    cells = ["Ports that the server listens to", "Listen port", "server config"]
    found = chosen_of(DIRECTIVE, {**dict.fromkeys(cells, 0.9), "Syntax:": 0.01, "Listen": 0.9})
    names = ["Description:", "Syntax:", "Context:"]
    assert [text for text in found if text in {*cells, *names}] == [
        text for pair in zip(names, cells, strict=True) for text in pair
    ]


def test_a_table_that_is_unlikely_is_absent_though_one_cell_is_likely() -> None:
    assert "server config" not in chosen_of(DIRECTIVE, {"server config": 0.9})


@pytest.mark.parametrize(
    ("html", "units"),
    [
        ("<ul><li>a<li>b<ul><li>c</ul></ul>d", ["ul"] * 3 + [""]),
        ("<table><tr><td>a<td>b<tr><td>c<td><ul><li>d</ul></table>", ["table"] * 4),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", ["dl"] * 4),
        (f"<table>{'<tr><th>a<td>b<td>c<tr><th>d<td colspan=2>e' * 2}</table>", ["table"] * 10),
        # Layout: headings, forms, tables in tables, one cell in each row.
        ("<ul><li><h2>a</h2><li>b</ul>", ["", ""]),
        ("<table><tr><td>a<td><form>b</form></table>", ["", ""]),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>", ["", "table", "table"]),
        ("<table><tr><td>a<tr><td>b</table>", ["", ""]),
        # Records: more blocks than items, and rows of several kinds.
        ("<ul>" + "<li><div>a</div><div>b</div><div>c</div>" * 3 + "</ul>", [""] * 9),
        ("<table>" + "<tr><td>1<td>a<td>b<tr><td>c<td>d" * 2 + "</table>", [""] * 10),
    ],
)
def test_units_are_tables_and_lists_but_for_layout_and_records(html: str, units: list[str]) -> None:
    assert units_of(html) == units


def test_headings_of_chosen_text_are_chosen_unless_they_are_unlikely() -> None:
    odds = np.array([0.3, 0.3, 0.9, 0.1, 0.9, 0.3, 0.1])
    headings = np.array([True, True, False, True, False, True, False])
    found = with_headings(odds > 0.5, odds, headings, np.zeros(len(odds), bool))
    assert found.tolist() == [True, True, True, False, True, False, False]


SHED = {"The north shed": 0.15}


@pytest.mark.parametrize(
    ("html", "unlikely", "found"),
    [
        (f"<h1>a</h1><div>b</div><i>c</i><p>{PROSE}</p>", {"a": 0.3}, ["a"]),
        (f"<h2>a</h2><div>b</div><p>{PROSE}</p>", {"a": 0.3}, []),
        (f"<title>The north shed</title><h2>The north shed</h2>b<p>{PROSE}</p>", SHED, [*SHED]),
        (
            f"<p>{PROSE}</p><figure><figcaption>a</figcaption></figure><p>{PROSE}</p>",
            {"a": 0.3},
            ["a"],
        ),
        (
            f"<blockquote><p>{PROSE}</p><footer>a</footer></blockquote><p>{PROSE}</p>",
            {"a": 0.3},
            ["a"],
        ),
        (
            f"<p>{PROSE}<figure><img><figcaption>a</figcaption></figure><figure><blockquote>b"
            f"</blockquote><figcaption>c</figcaption></figure><p>{PROSE}",
            {"b": 0.3},
            ["a", "b", "c"],
        ),
        (
            f"<p>{PROSE}<table><tr><td rowspan=2>a<td>b<tr><td>c</table><p>{PROSE}",
            {},
            ["a", "b", "c"],
        ),
        (
            f"<p>{PROSE}<dl><dt>a<dd><table><tr><td>b<td>c</table></dl><p>{PROSE}",
            {},
            ["a", "b", "c"],
        ),
        (f"<p>{PROSE}<table><tr><td><h1>a</h1><td>b</table><p>{PROSE}", {}, []),
        (
            f"<p>{PROSE}<table><tr><td>a<td><a href=b>bbbb</a><tr><td>c</table><p>{PROSE}",
            {},
            [],
        ),
        (f"<p>{PROSE}</p><pre>a</pre><p>b</p><p>c</p><pre>d</pre><p>e</p>", {}, [*"abcd"]),
        (f"<p>{PROSE}</p><p>a</p><p>b</p><p>c</p><pre>d</pre>", {}, []),
        (f"<dl><dt>a<dd>{4 * f'<p>{PROSE}'}</dl>", {"a": 0.3}, ["a"]),
        (f"<p>{PROSE}</p><dl><dt>a<dd>b</dl><ul><li><a href=c>c</a></ul>", {}, ["a", "b"]),
        (f"<p>{PROSE}</p><dl><dt>a<dd><a href=b>b</a></dl><div>c</div>", {}, []),
        (f"<p>{PROSE}</p><ul><li>a</ul><div>c</div>", {}, []),
        (f"<p>{PROSE}<figure>a</figure><div>b</div><p>{PROSE}", {"a": 0.3, "b": 0.3}, []),
        (f"<p>{PROSE}</p>a<p>{PROSE}</p>", {"a": 0.45}, ["a"]),
        (f"<p>{PROSE}</p>a<p>{PROSE}</p>", {"a": 0.3}, []),
        (f"<title>The north shed</title><p>{PROSE}</p>The north shed<p>{PROSE}</p>", {}, [*SHED]),
    ],
)
def test_what_belongs_to_chosen_text_is_chosen_though_it_is_less_likely(
    html: str, unlikely: dict[str, float], found: list[str]
) -> None:
    chosen = chosen_of(html, unlikely)
    assert [text for text in chosen if text != PROSE.strip()] == found


TEXT = "The directive sets what the server does with each request that it gets"


@pytest.mark.parametrize(
    ("html", "kind", "left_out"),
    [
        ("<div class=sd-sharing><h3>Share this:</h3>t</div>", "article", True),
        ("<div class=comments><p>t</div>", "article", True),
        ("<div class=comments><p>t</div>", "forum", False),
        ("<div class=jp-relatedposts><p>t</div>", None, True),
        ("<h3>About the author</h3><p>t", "article", True),
        ("<h3>About the author</h3><p>t", "service", False),
        ("<h3>Of authors</h3><p>t", "article", False),
        ("<div class=note><p>t</div>", "article", False),
    ],
)
def test_what_stands_beside_an_article_is_no_part_of_it(
    html: str, kind: str | None, left_out: bool
) -> None:
    for text, is_article in ((f"<p>{TEXT}" * 6, True), ("<p>Short.", False)):
        blocks, features = blocks_of(f"<h1>A module</h1>{text}<div>{html}</div>")
        odds = np.array([0.6 + 0.35 * (text == TEXT) for text in blocks.texts], np.float32)
        found = without_company(odds, features, kind)[blocks.texts.index("t")]
        assert (found == 0) == (left_out and is_article)


def test_instructions_below_a_mail_are_left_out() -> None:
    html = "<pre>Dear all</pre><pre>Reply instructions:\n\nYou may reply publicly</pre>"
    blocks, features = blocks_of(html)
    odds = without_company(np.full(2, 0.9, np.float32), features, None)
    assert choose_blocks(blocks, features, odds).tolist() == [True, False]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        (f"<aside><p>a</p></aside><main><p>{PROSE}</p></main><p>b</p>", ["b"]),
        (f"<aside><p>{PROSE}</p></aside><main><p>a</p></main>", ["a"]),
        (f"<nav><p>{'<p>b'.join(' ' * 2000)}</nav><main><p>{PROSE}</p></main>", []),
    ],
)
def test_sidebars_beside_most_of_the_content_are_left_out(html: str, found: list[str]) -> None:
    chosen = chosen_of(html, {"a": 0.9, "b": 0.9})
    assert [text for text in chosen if text != PROSE.strip()] == found


@pytest.mark.parametrize(
    ("html", "times"),
    [
        (f"<div><p>{PROSE}</p></div><div><p>{PROSE}</p></div><div><p>{PROSE}</p></div>", 1),
        (f"<p>{PROSE}</p><p><a href=/a>{PROSE}</a></p><p><a href=/b>{PROSE}</a></p>", 3),
        (f"<pre>{PROSE}</pre><p>Again:</p><pre>{PROSE}</pre>", 2),
        (f"<ul><li>{PROSE}</li><li>{PROSE}</li></ul>", 2),
        (f"<table><tr><td>{PROSE}<td>1<tr><td>{PROSE}<td>2</table>", 2),
    ],
)
def test_a_long_text_is_content_once_but_in_code_tables_lists_and_links(
    html: str, times: int
) -> None:
    assert chosen_of(html, {}).count(PROSE.strip()) == times


def test_short_texts_are_content_as_often_as_they_stand_there() -> None:
    likely = {"Returns a number.": 0.9}
    assert chosen_of("<p>Returns a number.</p>" * 3, likely) == ["Returns a number."] * 3


_TAGS = "p div ul ol li dl dt dd table tr td th h2 section a".split()
_NODES = st.recursive(
    st.sampled_from(["light", "harbour lights", "Pilots wait at the outer buoy."]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(_TAGS),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


class TestChoosingProperties:
    @given(_NODES, st.randoms(use_true_random=False))
    def test_each_table_or_list_is_whole_or_absent(self, html: str, random: Any) -> None:
        blocks, features = blocks_of(f"<p>before</p>{html}<p>after</p>")
        odds = np.array([random.random() for _ in blocks.texts], np.float32)
        chosen = choose_blocks(blocks, features, odds)
        units = block_units(blocks)
        for unit in set(units.tolist()) - {0}:
            assert len(set(chosen[units == unit].tolist())) == 1

    @given(_NODES, st.randoms(use_true_random=False))
    def test_something_is_chosen_of_a_page_with_words(self, html: str, random: Any) -> None:
        blocks, features = blocks_of(html)
        odds = np.array([random.random() for _ in blocks.texts], np.float32)
        assert choose_blocks(blocks, features, odds).any() == bool(blocks.texts)
