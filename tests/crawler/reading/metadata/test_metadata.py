from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html_parsing import parse
from crawler.reading.metadata.dates import iso_date
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.metadata_record import NO_METADATA, Metadata, directives, robots_words
from crawler.reading.page_elements import collect

BASE = "http://host.example/folder/page.html"


def said(body: str) -> Metadata:
    return read_metadata(collect(parse(body.encode())), BASE)


def test_a_page_that_says_nothing() -> None:
    assert said("<p>text") == NO_METADATA
    assert said("") == NO_METADATA


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title>A\n  title </title>", "A title"),
        ("<title></title><meta property=og:title content='Shared'>", "Shared"),
        ("<title> </title><h1>A <b>heading</b></h1>", "A heading"),
        ("<svg><title>Drawing</title></svg><h1>H</h1>", "H"),
        ("<title>First</title><title>Second</title>", "First"),
        (f"<title>{'x' * 5000}</title>", "x" * 1000),
    ],
)
def test_titles(body: str, title: str) -> None:
    assert said(body).title == title


@pytest.mark.parametrize(
    ("body", "author"),
    [
        ("<meta name=author content='Ada Byron'>", "Ada Byron"),
        ("<meta name=Author content=' Ada \n Byron '>", "Ada Byron"),
        ("<meta property=article:author content='https://x.example/ada'>", None),
        ("<meta name=dc.creator content=Ada>", "Ada"),
        ("<a rel=author href=/ada>Ada</a>", "Ada"),
        ("<span itemprop=author>Ada <b>Byron</b></span>", "Ada Byron"),
        ("<meta name=author content=''><p>x", None),
    ],
)
def test_authors(body: str, author: str | None) -> None:
    assert said(body).author == author


@pytest.mark.parametrize(
    ("described", "author", "date"),
    [
        ({"author": {"name": "Ada"}, "datePublished": "2024-05-31T10:00:00Z"}, "Ada", "2024-05-31"),
        ({"@graph": [{"author": ["Ada", {"name": "Bob"}]}]}, "Ada, Bob", None),
        ([{"x": 1}, {"creator": "Ada", "dateModified": "2020-01-02"}], "Ada", "2020-01-02"),
        ({"author": "https://x.example/ada"}, None, None),
        ({"author": {"name": {"x": 1}}, "datePublished": 5}, None, None),
        ({"mainEntity": {"author": "Ada"}}, "Ada", None),
        ({"author": "Ada \ud800"}, "Ada ?", None),
        ("a text", None, None),
        (None, None, None),
    ],
)
def test_json_ld(described: object, author: str | None, date: str | None) -> None:
    metadata = said(f"<script type='application/ld+json'>{json.dumps(described)}</script>")
    assert (metadata.author, metadata.date) == (author, date)


@pytest.mark.parametrize("broken", ["{", "[" * 100_000, '{"author": ', "", "nonsense"])
def test_broken_json_ld_is_skipped(broken: str) -> None:
    good = '{"author": "Ada"}'
    scripts = "".join(
        f"<script type=application/ld+json>{text}</script>" for text in (broken, good)
    )
    assert said(scripts).author == "Ada"


@pytest.mark.parametrize(
    ("body", "date"),
    [
        (
            "<meta property=article:published_time content='2024-05-31T10:00:00+02:00'>",
            "2024-05-31",
        ),
        ("<meta name=date content=20240531>", "2024-05-31"),
        ("<meta itemprop=datePublished content='31 May 2024'>", "2024-05-31"),
        ("<time datetime=2024-05-31>yesterday</time>", "2024-05-31"),
        ("<time>2024-05-31</time>", "2024-05-31"),
        ("<time>yesterday</time>", None),
        ("<meta name=last-modified content=2023-01-01><time datetime=2024-05-31>", "2024-05-31"),
        ("<meta name=last-modified content=2023-01-01>", "2023-01-01"),
        ("<meta name=date content=soon><time datetime=2024-05-31>", "2024-05-31"),
    ],
)
def test_dates_of_pages(body: str, date: str | None) -> None:
    assert said(body).date == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-31", "2024-05-31"),
        ("2024-05-31 10:00", "2024-05-31"),
        ("2024/05/31", "2024-05-31"),
        ("20240531", "2024-05-31"),
        ("Fri, 31 May 2024 10:00:00 GMT", "2024-05-31"),
        ("31 May 2024", "2024-05-31"),
        ("31st of May", None),
        ("May 31, 2024", "2024-05-31"),
        ("May 31st, 2024", "2024-05-31"),
        ("Sept. 3, 2024", "2024-09-03"),
        ("2024-02-30", None),
        ("0000-00-00", None),
        ("1970-01-01", None),
        ("9999-12-31", None),
        ("03/04/2024", None),
        ("202405311", None),
        ("now", None),
        ("", None),
        (None, None),
        ("x" * 1000, None),
        ("Fri, 99999999999999999999 May 2024 10:00:00 GMT", None),
        ("Fri, 31 May 99999999999999999999 10:00:00 GMT", None),
    ],
)
def test_dates(text: str | None, date: str | None) -> None:
    assert iso_date(text) == date


@pytest.mark.parametrize(
    ("body", "language"),
    [
        ("<html lang=en>", "en"),
        ("<html lang=PT-br>", "pt-BR"),
        ("<html lang=zh_hant_tw>", "zh-Hant-TW"),
        ("<html xml:lang=de>", "de"),
        ("<html lang=''><meta http-equiv=content-language content='fr, en'>", "fr"),
        ("<meta property=og:locale content=en_GB>", "en-GB"),
        ("<html lang='not a language'>", None),
        ("<html lang='-'>", None),
    ],
)
def test_languages(body: str, language: str | None) -> None:
    assert said(body + "<p>x").language == language


@pytest.mark.parametrize(
    ("body", "url"),
    [
        ("<link rel=canonical href=other.html>", "http://host.example/folder/other.html"),
        ("<link rel='CANONICAL nofollow' href=/x>", "http://host.example/x"),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonical href='http://[broken'>", None),
        ("<link rel=canonical href='javascript:x'>", None),
        ("<link rel=stylesheet href=x>", None),
    ],
)
def test_canonical_urls(body: str, url: str | None) -> None:
    assert said(body).canonical_url == url


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("noindex", ("noindex",)),
        ("NoIndex, NoFollow", ("nofollow", "noindex")),
        ("noindex nofollow", ("nofollow", "noindex")),
        ("none", ("nofollow", "noindex")),
        ("index,follow", ("follow", "index")),
        ("max-snippet:-1", ("max-snippet:-1",)),
        (" , ", ()),
        ("", ()),
    ],
)
def test_robots(content: str, words: tuple[str, ...]) -> None:
    assert directives(content) == words
    assert said(f"<meta name=ROBOTS content='{content}'>").robots == words


def test_robots_metas_add_up() -> None:
    body = "<meta name=robots content=noindex><meta name=robots content=nofollow>"
    assert said(body).robots == ("nofollow", "noindex")
    assert said("<meta name=viewport content=noindex>").robots == ()


@pytest.mark.parametrize(
    ("content", "secs", "url"),
    [
        ("0; url=next.html", 0.0, "http://host.example/folder/next.html"),
        ("5;URL='/x y'", 5.0, "http://host.example/x y"),
        ("1.5, url = //other.example/", 1.5, "http://other.example/"),
        ("0; http://other.example/", 0.0, "http://other.example/"),
        (" .5 \t, 'x' y", 0.5, "http://host.example/folder/x"),
        ("0 next.html", 0.0, "http://host.example/folder/next.html"),
        ("0; urgent.html", 0.0, "http://host.example/folder/urgent.html"),
        ("0; URL/x", 0.0, "http://host.example/folder/URL/x"),
        ("url=/x", None, None),
        ("never", None, None),
        ("-1", None, None),
        ("-1; url=/x", None, None),
        ("5x; url=/x", None, None),
        ("0", None, None),
        ("30", None, None),
        ("0; url=", None, None),
        ("0; url=javascript:x", None, None),
        ("soon; url=/x", None, None),
    ],
)
def test_refreshes(content: str, secs: float | None, url: str | None) -> None:
    metadata = said(f'<meta http-equiv=Refresh content="{content}">')
    assert (metadata.refresh_secs, metadata.refresh_url) == (secs, url)


def test_a_refresh_for_browsers_without_scripts_is_none() -> None:
    body = "<noscript><meta http-equiv=refresh content='0; url=/x'></noscript>"
    assert said(body).refresh_url is None


class TestDateProperties:
    @given(st.dates())
    def test_iso_dates_are_read_back(self, date: object) -> None:
        written = str(date)
        expected = written if 1980 <= int(written[:4]) <= 2100 else None
        assert iso_date(written) == expected

    @given(st.text(max_size=120))
    def test_any_text_gives_a_date_or_none(self, text: str) -> None:
        found = iso_date(text)
        assert found is None or len(found) == 10


@pytest.mark.parametrize("depth", [1, 2, 900, 9000])
def test_lists_of_lists_of_authors_name_nobody_and_take_nothing_away(depth: int) -> None:
    author = "[" * depth + '"Ada"' + "]" * depth
    script = f'<script type="application/ld+json">{{"author": {author}}}</script>'
    metadata = said(f"<title>Lamps</title>{script}")
    assert metadata.title == "Lamps"
    assert metadata.author == ("Ada" if depth == 1 else None)


def test_addresses_that_are_too_long_are_none() -> None:
    long = "/" + "x" * 9000
    refresh = f'<meta http-equiv=refresh content="0; url={long}">'
    assert said(f'<link rel=canonical href="{long}">{refresh}<p>x') == NO_METADATA


AGENT = "crawl-once/0.1"
BROWSER_LIKE = "Mozilla/5.0 (compatible; crawl-once/0.1; +https://example.org/about)"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ([], set()),
        ([""], set()),
        ([" , ,"], set()),
        (["noindex"], {"noindex"}),
        (["NoIndex,  NOFOLLOW "], {"noindex", "nofollow"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["otherbot: noindex"], set()),
        (["otherbot: none, nofollow"], set()),
        (["otherbot: noindex", "nofollow"], {"nofollow"}),
        (["nofollow, otherbot: noindex"], {"nofollow"}),
        (["otherbot: noindex, crawl-once: nofollow, noarchive"], {"nofollow", "noarchive"}),
        (["crawl-once: noindex"], {"noindex"}),
        (["Crawl-Once : noindex"], {"noindex"}),
        (["crawl-once: noindex, otherbot: nofollow"], {"noindex"}),
        (["*: noindex"], {"noindex"}),
        # A part of our name, or of nobody's, is not our name.
        (["crawl: noindex"], set()),
        (["o: noindex"], set()),
        (["bot: noindex"], set()),
        (["example: noindex"], set()),
        # A colon in a directive's own value names no robot.
        (["max-snippet: -1, noindex"], {"max-snippet: -1", "noindex"}),
        (["otherbot: max-snippet: 20, nofollow"], set()),
        (
            ["unavailable_after: Friday, 25-Jun-2027 15:00:00 GMT, nofollow"],
            {"unavailable_after: friday", "25-jun-2027 15:00:00 gmt", "nofollow"},
        ),
        (["otherbot: unavailable_after: 25 Jun 2027 15:00:00 GMT, noindex"], set()),
    ],
)
@pytest.mark.parametrize("agent", [AGENT, BROWSER_LIKE])
def test_only_what_is_meant_for_us_binds(headers: list[str], words: set[str], agent: str) -> None:
    assert robots_words(headers, agent) == words


ARTICLE = '{"@type": "Article", "description": "Tea; and //rum, ]", "author": {"name": "Ann"}}'


@pytest.mark.parametrize(
    "script",
    [
        f"//<![CDATA[\n{ARTICLE}\n//]]>",
        f"/*<![CDATA[*/ {ARTICLE}; /*]]>*/",
        f"<!-- {ARTICLE} -->",
        f"<!--//--><![CDATA[//><!--\n{ARTICLE}\n//--><!]]>",
        f"<!-- of the shop -->\ufeff{ARTICLE}<!-- end -->",
        f"{ARTICLE};",
        ARTICLE.replace("}}", "},}"),
        f"[{ARTICLE},]",
        f"{ARTICLE},",
        f'{{"@type": "WebSite"}} {ARTICLE}',
        ARTICLE.replace('"description"', '"sdo:description"'),
        '{"@type": "schema:Article", "schema:description": {"@value": "Tea; and //rum, ]"},'
        '"https://schema.org/author": {"schema:name": {"@value": "Ann", "@language": "en"}}}',
    ],
)
def test_json_ld_is_read_as_pages_have_it(script: str) -> None:
    metadata = said(f"<title>A</title><script type=application/ld+json>{script}</script>")
    assert (metadata.author, metadata.schema_type) == ("Ann", "Article")
    assert metadata.description == "Tea; and //rum, ]"


def test_json_ld_that_is_cut_off_within_a_string_is_looked_at_once() -> None:
    script = '{"name": "' + '\\"' * 90_000
    began = time.process_time()
    metadata = said(f"<title>A</title><script type=application/ld+json>{script}</script>")
    assert metadata.title == "A"
    assert time.process_time() - began < 5
