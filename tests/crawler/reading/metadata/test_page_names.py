"""The first heading of a page, and the identifiers of the thing that it is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html_parsing import parse
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.page_names import MAX_IDENTIFIER_CHARACTERS, MAX_IDENTIFIERS
from crawler.reading.page_elements import collect
from neardup.names import MAX_NAME_CHARACTERS, difference, unpacked

if TYPE_CHECKING:
    from crawler.reading.metadata.metadata_record import Metadata

BASE = "http://shop.example/lamps/1?sid=7"


def said(body: str) -> Metadata:
    return read_metadata(collect(parse(body.encode("utf-8", "replace"))), BASE)


def json_ld(*values: object) -> str:
    return "".join(
        f"<script type='application/ld+json'>{json.dumps(value)}</script>" for value in values
    )


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("<h1>Lamp <b>One</b></h1><p>text", "Lamp One"),
        ("<h1>First</h1><h1>Second</h1>", "First"),
        ("<h1> </h1><h1>Second</h1>", "Second"),
        ("<h1 hidden>Menu</h1><h1>Lamp</h1>", "Lamp"),
        ("<h1>Lamp<script>var t = 1</script><style>b {}</style><!-- 2 --></h1>", "Lamp"),
        (
            "<h1>Red <b hidden>3 <i>of</i> 4</b> lamp <template>5</template> here</h1>",
            "Red lamp here",
        ),
        ("<h1>Lamp <b style='display: none'>6</b><noscript>7</noscript></h1>", "Lamp"),
        ("<h1><b>Lamp</b>s</h1>of the site", "Lamp s"),
        ("<div style='display: none'><h1>Menu</h1></div><h1>Lamp</h1>", "Lamp"),
        ("<noscript><h1>Switch scripts on</h1></noscript><h1>Lamp</h1>", "Lamp"),
        ("<h2>Shop</h2><p>text<h1>Lamp</h1>", "Lamp"),
        ("<h2>Lamp</h2><p>text<h2>Others</h2><p>text", "Lamp"),
        ("<h2>Shop</h2><h2>Lamp</h2><p>text", None),
        ("<p>text<h2>Others</h2>", None),
        ("<p> <h2>Lamp</h2><p>text", "Lamp"),
        (f"<h1>{'x' * 5000}</h1>", "x" * 1000),
        ("<p>text", None),
    ],
)
def test_headings(body: str, heading: str | None) -> None:
    assert said(body).heading == heading


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<p>text<h2>Sec. 1</h2><p>text", "Sec. 1"),
        ("<h1>Act</h1><h2>Sec. 1</h2><p>text<h2>Others</h2>", "Sec. 1"),
        ("<h1>Act</h1><h2>Part</h2><h4>Sec. <b>1</b></h4><h2>Others</h2>", "Part / Sec. 1"),
        ("<h1>Act</h1><h2>Part</h2><p>text<h3>Others</h3>", "Part"),
        ("<h1>Act</h1><h2>Part</h2><p><h3>Sec. 1</h3>", "Part / Sec. 1"),
        ("<h2>A</h2><h3>B</h3><h4>C</h4><h5>D</h5>", "B / C / D"),
        ("<header><h3>Site</h3></header><nav><h3>Menu</h3></nav><h5>Sec. 1</h5>", "Sec. 1"),
        ("<div role=banner><h3>Site</h3></div><h5>Sec. 1</h5>", "Sec. 1"),
        ("<article><header><h2>Act</h2></header></article><h3>Sec. 1</h3>", "Sec. 1"),
        ("<article><header><h4>Sec. 1</h4></header></article>", "Sec. 1"),
        ("<article><aside><h4>Other</h4></aside><h4>Sec. 1</h4></article>", "Sec. 1"),
        ("<h2>Shop</h2><p>text<main><h3>Sec. 1</h3></main><h4>Others</h4>", "Sec. 1"),
        ("<h1>Act</h1><h2 hidden>Menu</h2><h2> </h2><h2>Sec. 1</h2>", "Sec. 1"),
        ("<h1>Act</h1><h2><a href=#s>Sec. 1</a></h2>", "Sec. 1"),
        ("<h1>Act</h1><h2>Sec. 1 <a href=/up>up</a></h2>", "Sec. 1 up"),
        ("<h1>Act</h1><h2><a href=/other>Another page</a></h2><h2>Sec. 1</h2>", None),
        ("<h1>Act</h1><a href=/other><h2>Another page</h2></a>", None),
        ("<h1>Act</h1><p>text", None),
        ("<main>text</main>", None),
    ],
)
def test_subheadings(body: str, found: str | None) -> None:
    assert said(body).subheading == found


PRODUCT = {"@type": "Product", "name": "Lamp", "sku": " A-1 ", "gtin13": "0 4006381 333931"}
RELATED = {"@type": "Product", "sku": "B-2"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (json_ld(PRODUCT), ("gtin:4006381333931", "sku:a-1")),
        (json_ld({**PRODUCT, "isRelatedTo": [RELATED]}), ("gtin:4006381333931", "sku:a-1")),
        (json_ld({"@graph": [{"@type": "WebPage", "identifier": 9}, RELATED]}), ("sku:b-2",)),
        (json_ld({"@type": "WebPage", "mainEntity": RELATED}), ("sku:b-2",)),
        (json_ld([PRODUCT, RELATED]), ()),
        (json_ld(PRODUCT, RELATED), ()),
        (json_ld(RELATED, RELATED), ("sku:b-2",)),
        (json_ld({"@type": "ItemList", "itemListElement": [PRODUCT, RELATED]}), ()),
        (json_ld({"@type": "Book", "isbn": "978-3-16-148410-0"}), ("isbn:9783161484100",)),
        (json_ld({"productID": {"@type": "PropertyValue", "value": 12}}), ("productid:12",)),
        (json_ld({"sku": True, "mpn": None, "isbn": "-", "identifier": {"a": 1}}), ()),
        (json_ld({"sku": "x" * (MAX_IDENTIFIER_CHARACTERS + 1)}), ()),
        ("<meta property='product:retailer_item_id' content='A-1'>", ("sku:a-1",)),
        ("<meta property=book:isbn content=3161484100>", ("isbn:3161484100",)),
        ("<meta name=citation_doi content='https://doi.org/10.1/ABC'>", ("doi:10.1/abc",)),
        ("<meta name=citation_doi content='doi:10.1/abc'>", ("doi:10.1/abc",)),
        ("<meta name=DC.Identifier content=urn:1>", ("identifier:urn:1",)),
        ("<link rel=canonical href=/lamps/1>", ("canonical:http://shop.example/lamps/1",)),
        (f"<link rel=canonical href=/{'x' * MAX_IDENTIFIER_CHARACTERS}>", ()),
    ],
)
def test_identifiers(body: str, found: tuple[str, ...]) -> None:
    assert said(body).identifiers == found


def thing(kind: str, sku: str, inner: str = "") -> str:
    scope = f"itemscope itemtype='https://schema.org/{kind}'"
    return f"<div {scope}><span itemprop=sku>{sku}</span>{inner}</div>"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (thing("Product", "A-1"), ("sku:a-1",)),
        (thing("Product", "A-1", thing("Product", "B-2")), ("sku:a-1",)),
        (thing("Product", "A-1", thing("Offer", "A-1 red")), ("sku:a-1", "sku:a-1 red")),
        (thing("WebPage", "W", thing("Book", "A-1")), ("sku:a-1",)),
        (thing("Product", "A-1") + thing("Product", "B-2"), ()),
        (thing("Product", "A-1", "<h1>Lamp</h1>") + thing("Product", "B-2"), ("sku:a-1",)),
        (thing("Person", "A-1"), ()),
        (thing("Product", "", "<meta itemprop='sku mpn' content=7>"), ("mpn:7", "sku:7")),
    ],
)
def test_identifiers_of_microdata(body: str, found: tuple[str, ...]) -> None:
    assert said(body).identifiers == found


def test_a_page_with_a_heading_has_no_opening() -> None:
    text = "The first words of a text.\nMore."
    assert said("<title>Lamp</title><p>x").name(text).opening == text
    assert said("<h1>Lamp</h1><p>x").name(text).opening == ""
    assert said("<p>x").name(text).opening == text
    assert said("<title>Lamp</title><h1>One</h1>").name().title == "Lamp"


def test_a_list_without_a_name_is_what_stands_in_it() -> None:
    """Such are the lists of what classes inherit in the manual of Free Pascal."""
    members = [f"Member {number} (TObject)" for number in range(200)]
    lists = ["\n".join(members), "\n".join([*members[:150], "Create (TBuffer)", *members[150:]])]
    bare, titled = said("<p>x"), said("<title>Lamp</title><p>x")
    assert difference(*map(bare.name, lists)) == "identifier"
    assert difference(*map(titled.name, lists)) == ""
    prose = [f"{one}\nA line of a poem has rather more words." for one in lists]
    assert difference(*map(bare.name, prose)) == ""


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["@type", "@graph", "mainEntity", "sku", "gtin", "isbn", "identifier", "value"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
_PIECES = st.lists(
    st.sampled_from(
        [
            "<h1>", "</h1>", "<h2>", "</h2>", "<h3>", "<p>", "<main>", "<nav>", "<a href=/>",
            "<svg>", "<title>", "<div hidden>", "</div>", "text",
            "<div itemscope itemtype='http://schema.org/Product'>", "<b itemprop='sku'>",
            "<meta itemprop=isbn content='\U0001f600'>", "<link rel=canonical href=", ">",
            "<meta name=dc.identifier content='&#xD800;&#0;'>", "\ud800", "<script>", "<!--",
            "<template>", "<b itemprop>", "<div itemtype>",
        ]
    )
)  # fmt: skip


class TestPageNamesProperties:
    @given(_VALUES, _PIECES)
    def test_whatever_a_page_says_its_name_is_bounded_and_can_be_stored(
        self, value: object, pieces: list[str]
    ) -> None:
        metadata = said(json_ld(value) + "".join(pieces))
        assert len(metadata.identifiers) <= MAX_IDENTIFIERS
        assert list(metadata.identifiers) == sorted(set(metadata.identifiers))
        name = metadata.name("text")
        assert max(map(len, (name.title, name.heading, name.subheading, *name.identifiers))) <= (
            MAX_NAME_CHARACTERS
        )
        assert unpacked(name.packed()) == name
        name.packed().encode()

    @given(st.integers(1, 300))
    def test_things_within_things_are_read_in_little_time(self, depth: int) -> None:
        scope = "<div itemscope itemtype='http://schema.org/Product' itemprop='sku isbn'>"
        assert len(said(scope * depth + "<h1>Lamp</h1>").identifiers) <= 2
