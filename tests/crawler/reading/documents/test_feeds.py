from __future__ import annotations

import time
from contextlib import suppress

import pytest

from crawler.reading.content.content_text import markdown
from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.feeds import read_feed

RSS = """<?xml version="1.0" encoding="{}"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Harbour news</title><link>http://a.test/</link><description>Café &amp; quay</description>
<language>en-gb</language><lastBuildDate>Fri, 31 May 2024 12:00:00 GMT</lastBuildDate>
<item><title>Ferry late</title><link>http://a.test/1</link>
<description>short</description>
<content:encoded><![CDATA[<p>The ferry is <b>late</b>.</p><p>Again.]]>
</content:encoded></item>
<item><title>Tea</title><link>/2</link><description>&lt;p&gt;Warm&lt;/p&gt;</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>News</title>
<updated>2024-05-31T12:00:00Z</updated><author><name>A. Writer</name></author>
<link rel="self" href="http://a.test/feed"/><entry><title>One</title>
<link href="http://a.test/one"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">
<p>First</p><p>Second</p></div></content></entry>
<entry><title type="text">Two</title><link rel="alternate" href="http://a.test/two"/>
<summary type="text">a &lt; b</summary></entry></feed>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_entries_of_rss_are_read(encoding: str) -> None:
    found = read_feed(RSS.format(encoding).encode(encoding), "application/rss+xml")
    assert found.text.split("\n") == [
        "Harbour news",
        "Café & quay",
        "Ferry late",
        "The ferry is late.",
        "Again.",
        "Tea",
        "Warm",
    ]
    assert found.metadata[:4] == ("Harbour news", None, "2024-05-31", "en-gb")
    assert dict(found.metadata.sources) == {
        "title": "feed:title",
        "date": "feed:lastBuildDate",
        "language": "feed:language",
    }
    assert found.links == ["http://a.test/", "http://a.test/1", "/2"]


def test_the_entries_of_atom_are_read() -> None:
    found = read_feed(ATOM.encode(), None)
    assert found.text.split("\n") == ["News", "One", "First", "Second", "Two", "a < b"]
    assert found.metadata[:4] == ("News", "A. Writer", "2024-05-31", "de")
    assert found.links == ["http://a.test/one", "http://a.test/two"]


ENTRIES = """<rss xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title>
<item><title>One</title><link>http://a.test/1</link><author>ann@a.test (Ann Example)</author>
<pubDate>Fri, 31 May 2024 12:00:00 GMT</pubDate><description>First</description></item>
<item><title>Two</title><link>/2</link><dc:creator>Ann Example</dc:creator>
<dc:date>2024-06-02T08:00:00Z</dc:date></item>
<item><link>/3</link><dc:creator>Ann Example</dc:creator><description>Third</description></item>
<item><link>/4</link><description>Fourth</description></item></channel></rss>"""


def test_entries_have_their_authors_days_and_links() -> None:
    found = read_feed(ENTRIES.encode(), "application/rss+xml")
    assert found.text.split("\n") == [
        "News",
        *("One", "Ann Example · 2024-05-31", "First"),
        *("Two", "Ann Example · 2024-06-02"),
        *("Ann Example", "Third"),
        "Fourth",
    ]
    shown = markdown(found.body()).split("\n\n")
    assert shown[1:3] == ["## [One](http://a.test/1)", "Ann Example · 2024-05-31"]
    assert shown[4:6] == ["## [Two](/2)", "Ann Example · 2024-06-02"]
    assert shown[6:] == ["[Ann Example](/3)", "Third", "[Fourth](/4)"]
    assert found.metadata[:3] == ("News", None, "2024-06-02")
    assert dict(found.metadata.sources) == {
        "title": "feed:title",
        "date": "feed:entries",
    }


def test_elements_of_modules_stand_back_behind_those_of_the_feed() -> None:
    body = (
        '<rss xmlns:m="http://search.yahoo.com/mrss/" xmlns:s="urn:s" xml:base="http://a.test/b/">'
        "<channel><title>News</title><item><m:title>no</m:title><title>One</title>"
        "<m:description>no</m:description><description>First</description><s:link>5</s:link>"
        "<link>c</link></item><item><title>Two</title><guid>http://a.test/2</guid></item>"
        "<item><title>Three</title><guid isPermaLink='false'>http://a.test/3</guid></item>"
        "</channel></rss>"
    )
    found = read_feed(body.encode(), "application/rss+xml")
    assert found.text.split("\n") == ["News", "One", "First", "Two", "Three"]
    assert found.links == ["http://a.test/b/c", "http://a.test/2"]


@pytest.mark.parametrize(
    ("first", "second", "author"), [("Ann", "Ann", "Ann"), ("Ann", "Bob", None), ("Ann", "", None)]
)
def test_the_only_author_of_all_entries_is_that_of_the_feed(
    first: str, second: str, author: str | None
) -> None:
    entries = "".join(
        f"<item><title>x</title><author>{name}</author></item>" for name in (first, second)
    )
    found = read_feed(f"<rss><channel>{entries}</channel></rss>".encode(), None)
    assert found.metadata.author == author


def test_only_what_says_so_is_marked_up_in_atom() -> None:
    feed = """<feed xmlns="http://www.w3.org/2005/Atom"><title>a &lt;b&gt; c</title>
    <subtitle>&lt;i&gt;</subtitle><entry><title type="html">&lt;b&gt;Tea&lt;/b&gt; &amp;amp; bread
    </title><summary>1 &lt;p&gt; 2</summary></entry><entry><title type="HTML">Two</title>
    <content type="HTML">&lt;p&gt;One&lt;/p&gt;</content></entry></feed>"""
    found = read_feed(feed.encode(), "application/atom+xml")
    said = ["a <b> c", "<i>", "Tea & bread", "1 <p> 2", "Two", "One"]
    assert found.text.split("\n") == said
    assert found.metadata.title == "a <b> c"


def test_a_feed_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    found = read_feed(RSS.format("utf-8").encode()[:-150], None)
    assert "Ferry late" in found.text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("AT&T", "AT&T"),
        ("&eacute; &apos; &hellip;", "é ' …"),
        ("a &none; b &#xZ;", "a &none; b &#xZ;"),
        ("<![CDATA[R&D &amp; <b>tea</b>]]>", "R&D & tea"),
        ("\x0b&#0; one", "one"),
        ("&#1114112; one", "\ufffd one"),
    ],
)
def test_a_fault_of_the_xml_takes_nothing_from_what_follows(written: str, read: str) -> None:
    after = "&lt;p&gt;Tea &amp;amp; bread&lt;/p&gt;&lt;p&gt;5 &amp;lt; 6&lt;/p&gt;"
    feed = f"<rss><channel><item><description>{written}</description></item>"
    feed += f"<item><description>{after}</description></item></channel></rss>"
    found = read_feed(feed.encode(), "application/rss+xml").text.split("\n")
    assert found == [read, "Tea & bread", "5 < 6"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<![CDATA[ Tea &amp; bread ]]>", "Tea & bread"),
        ("Tea &amp;amp; <![CDATA[<i>bread</i>]]>", "Tea & bread"),
        ("The &lt;p&gt; of 5 &lt; 6", "The <p> of 5 < 6"),
    ],
)
def test_titles_of_rss_are_html_though_none_says_so(written: str, read: str) -> None:
    feed = f"<rss><channel><title>{written}</title><item><title>{written}</title></item>"
    found = read_feed(f"{feed}</channel></rss>".encode(), "application/rss+xml")
    assert found.text.split("\n") == [read, read]
    assert found.metadata.title == read


@pytest.mark.parametrize("piece", ["&", "&a", "<![CDATA[", "<!--", "&#"])
def test_a_feed_of_marks_alone_takes_linear_time(piece: str) -> None:
    feed = "<rss><channel><title>News" + piece * (1_000_000 // len(piece))
    started = time.process_time()
    with suppress(UnreadableError):
        read_feed(feed.encode(), None)
    assert time.process_time() - started < 5


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    feed = (
        f'<!DOCTYPE rss [<!ENTITY l0 "lol">{laughs}]><rss><channel><title>News &l9;</title>'
        "</channel></rss>"
    )
    try:
        text = read_feed(feed.encode(), None).text
    except UnreadableError:
        return
    assert "lol" not in text


def test_a_feed_nested_ten_thousand_deep_is_read_or_refused() -> None:
    try:
        found = read_feed(b"<rss><channel><title>News</title>" + b"<a>" * 10_000, None)
    except UnreadableError:
        return
    assert found.text == "News"


def test_a_namespace_with_a_bracket_is_one_of_a_module() -> None:
    feed = (
        '<rss xmlns:x="http://x.example/}"><channel><title>News</title>'
        "<item><x:title>Other</x:title><title>Ferry</title></item></channel></rss>"
    )
    assert read_feed(feed.encode(), None).text == "News\nFerry"
