"""What is read beside title, author and date, where it was found, and how much of it is taken."""

from __future__ import annotations

import json
import marshal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html_parsing import parse
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.page_elements import collect

TWICE = "<h1>Aa</h1><meta property=og:title content=Aa>"
BASE = "http://host.example/folder/page.html"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "@type @graph author name url image publisher keywords articleSection headline "
                "datePublished dateModified inLanguage description mainEntity sku".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def said(body: str) -> Metadata:
    return read_metadata(collect(parse(body.encode("utf-8", "replace"))), BASE)


def json_ld(described: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps(described)}</script>"


@pytest.mark.parametrize(
    ("body", "name", "value", "source"),
    [
        ("<title>A</title>", "title", "A", "title"),
        ("<meta property=og:title content=A>", "title", "A", "og:title"),
        ("<h1>A</h1>", "title", "A", "h1"),
        (f"<title>Bb</title>{TWICE}", "title", "Aa", "h1"),
        (f"<title>Bb</title>{TWICE}", "full_title", "Bb", "title"),
        ("<meta name=author content=Ada>", "author", "Ada", "meta:author"),
        ("<a rel=author>Ada</a>", "author", "Ada", "rel:author"),
        ("<i rel=author>Ada</i><b itemprop=author>Bob</b>", "author", "Ada", "rel:author"),
        ("<b itemprop=author>Bob</b><i rel=author>Ada</i>", "author", "Bob", "itemprop:author"),
        ("<b itemprop=author>Ada</b>", "author", "Ada", "itemprop:author"),
        (
            "<div itemprop=author><b itemprop=name>Ada</b> 17 badges</div>",
            *("author", "Ada", "itemprop:author"),
        ),
        (json_ld({"author": "Ada"}), "author", "Ada", "json-ld:author"),
        (json_ld({"dateCreated": "2024-05-31"}), "date", "2024-05-31", "json-ld:dateCreated"),
        ("<time datetime=2024-05-31>", "date", "2024-05-31", "time"),
        (
            "<time datetime=2020-01-01></time><time class=published datetime=2024-05-31>",
            *("date", "2024-05-31", "time:published"),
        ),
        ("<time class=updated datetime=2024-05-31>", "modified", "2024-05-31", "time:modified"),
        (json_ld({"dateModified": "2024-05-31"}), "modified", "2024-05-31", "json-ld:dateModified"),
        (
            "<meta name=last-modified content=2024-05-31>",
            "date",
            "2024-05-31",
            "meta:last-modified",
        ),
        ("<html lang=en>", "language", "en", "html:lang"),
        (json_ld({"@type": "Article", "inLanguage": "de"}), "language", "de", "json-ld:inLanguage"),
        ("<meta property=og:site_name content=Acme>", "sitename", "Acme", "og:site_name"),
        (json_ld({"@type": "WebSite", "name": "Acme"}), "sitename", "Acme", "json-ld:WebSite"),
        ("<meta name=application-name content=Acme>", "sitename", "Acme", "meta:application-name"),
        ("<meta name=description content='A  b'>", "description", "A b", "meta:description"),
        (
            "<meta property=og:image content=/a.png>",
            *("image", "http://host.example/a.png", "og:image"),
        ),
        (
            json_ld({"@type": "Product", "image": [{"url": "http://x.example/a.png"}]}),
            *("image", "http://x.example/a.png", "json-ld:image"),
        ),
        (
            "<link rel=image_src href=a.png>",
            *("image", "http://host.example/folder/a.png", "link:image_src"),
        ),
        ("<meta name=keywords content='a, b,,a'>", "tags", ("a", "b"), "meta:keywords"),
        (
            "<meta property=article:tag content=a><meta property=article:tag content='b, c'>",
            *("tags", ("a", "b, c"), "article:tag"),
        ),
        (
            "<meta property=og:image content='http://[::1]/a.png'>",
            *("image", "http://[::1]/a.png", "og:image"),
        ),
        (json_ld({"keywords": ["a", 1, "b"]}), "tags", ("a", "b"), "json-ld:keywords"),
        (
            "<meta property=article:section content=News>",
            "categories",
            ("News",),
            "article:section",
        ),
        ("<meta property=og:type content=article>", "declared_type", "article", "og:type"),
        (
            json_ld([{"@type": "WebPage"}, {"@type": ["http://schema.org/NewsArticle", "X"]}]),
            *("schema_type", "NewsArticle", "json-ld:@type"),
        ),
        (
            json_ld([{"@type": "Organization"}, {"@type": "WebPage"}]),
            *("schema_type", "WebPage", "json-ld:@type"),
        ),
        (
            "<link rel=alternate hreflang=de href=/de>"
            "<link rel=alternate hreflang=x-default href=/>",
            "alternates",
            (("de", "http://host.example/de"), ("x-default", "http://host.example/")),
            "link:alternate",
        ),
    ],
)
def test_values_and_where_they_were_found(body: str, name: str, value: object, source: str) -> None:
    metadata = said(body)
    assert getattr(metadata, name) == value
    assert dict(metadata.sources)[name] == source


@pytest.mark.parametrize(
    "body",
    [
        "<link rel=alternate type=application/rss+xml href=/feed>",
        "<link rel=alternate hreflang='no language' href=/de>",
        "<link rel=alternate hreflang=de href='javascript:x'>",
        f"<link rel=alternate hreflang=de href='/{'x' * 3000}'>",
        f"<meta property=og:image content='/{'x' * 3000}'>",
        "<meta property=og:image content='http://[bad'>",
        "<meta property=og:image content='http://bad]/a.png'>",
        "<link rel=alternate hreflang=de href='http://[bad'>",
        "<meta property=og:image content='data:image/png;base64,AAAA'>",
        "<meta property=og:type content=' '>",
        json_ld({"@type": 5, "keywords": {"a": 1}, "image": 7, "headline": ["x"]}),
        json_ld({"@type": "x" * 1000}),
    ],
)
def test_what_is_no_value_is_left_out(body: str) -> None:
    assert said(body).sources == ()


def test_lists_and_their_words_are_bounded() -> None:
    links = "".join(f"<link rel=alternate hreflang=de href=/{n}>" for n in range(500))
    tags = "".join(f"<meta property=article:tag content='{n} {'x' * 500}'>" for n in range(500))
    metadata = said(links + tags + f"<meta name=description content='{'y' * 5000}'>")
    assert len(metadata.alternates) == len(metadata.tags) == 50
    assert max(map(len, metadata.tags)) == 100
    assert len(metadata.description or "") == 1000
    words = ",".join(map(str, range(10_000)))
    assert len(said(f"<meta name=keywords content='{words}'>").tags) == 50


@pytest.mark.parametrize(
    "script",
    [
        '{"author":' * 10_000 + "1" + "}" * 10_000,
        '{"@graph":[' * 10_000 + "]}" * 10_000,
        json.dumps([{"@type": "Article", "keywords": ["x" * 50] * 100}] * 60),
        json.dumps({"@graph": [{"@type": "Person", "name": "x"}] * 4000}),
    ],
)
def test_large_and_deep_json_ld_costs_little(script: str) -> None:
    started = time.process_time()
    metadata = said(f"<title>A</title><script type=application/ld+json>{script}</script>")
    assert metadata.title == "A"
    assert time.process_time() - started < 1


def test_an_author_is_found_among_very_many_other_properties() -> None:
    # A minute, where time grew with the square of the number.
    others = "<a rel=x itemprop=y></a>" * 250_000
    assert said(f"{others}<b itemprop=author>Ada</b><i rel=author>Bob</i>").author == "Ada"


class TestMetadataProperties:
    @given(JSON)
    def test_any_json_ld_gives_values_that_can_be_stored(self, described: object) -> None:
        metadata = said(json_ld(described))
        assert marshal.loads(marshal.dumps(tuple(metadata))) == tuple(metadata)
        json.dumps(metadata, ensure_ascii=False).encode()

    @given(st.text(max_size=200))
    def test_any_body_is_read(self, body: str) -> None:
        metadata = said(f"<meta property=og:image content='{body}'><title>{body}</title>{body}")
        names = {name for name, _ in metadata.sources}
        assert names <= {*Metadata._fields, "h1", "declared_url"}
