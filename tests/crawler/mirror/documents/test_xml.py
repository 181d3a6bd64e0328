from __future__ import annotations

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import LinkRole, undo

PAGE = "http://host.example/a/feed.xml"
PAGES, NEEDED = LinkRole.PAGE, LinkRole.REQUISITE
FEED, OTHER = LinkRole.FEED, LinkRole.OTHER
SVG, RSS, ATOM = "image/svg+xml", "application/rss+xml", "application/atom+xml"
XHTML = "application/xhtml+xml"


@pytest.mark.parametrize(
    ("body", "content_type", "found"),
    [
        ("<svg><image xlink:href='x'/><a href='y'/></svg>", SVG, [("x", NEEDED), ("y", PAGES)]),
        ("<s:svg><s:image href='x'/><s:use href='#no'/></s:svg>", SVG, [("x", NEEDED)]),
        ("<svg><style>a{b:url(&quot;x&quot;)}</style></svg>", SVG, [("x", NEEDED)]),
        ("<svg><style><![CDATA[a{b:url('x')}]]></style></svg>", SVG, [("x", NEEDED)]),
        ("<svg><style/><p style='a:url(x)'/></svg>", SVG, [("x", NEEDED)]),
        ("<?xml-stylesheet href='x.css'?><svg/>", SVG, [("x.css", NEEDED)]),
        ("<!DOCTYPE a [<!ENTITY b '<a href=\"no\">'> <!-- ' -->]><svg><image href='x'/></svg>",
         SVG, [("x", NEEDED)]),
        ("<svg><!-- <image href='no'/> --><![CDATA[<image href='no'/>]]></svg>", SVG, []),
        ("<rss><link> x </link><item><link>y?a&amp;b</link></item></rss>",
         RSS, [("x", PAGES), ("y?a&b", PAGES)]),
        ("<rss><link><![CDATA[ x?a&b ]]></link><comments>y</comments><link/></rss>",
         RSS, [("x?a&b", PAGES), ("y", PAGES)]),
        ("<rss><enclosure url='x'/><media:thumbnail url='y'/><itunes:image href='z'/></rss>",
         RSS, [("x", PAGES), ("y", NEEDED), ("z", NEEDED)]),
        ("<rss><atom:link rel='self' href='x'/><image><url>y</url></image></rss>",
         RSS, [("x", OTHER), ("y", NEEDED)]),
        ("<feed><link href='x'/><link rel='alternate' type='application/atom+xml' href='y'/>"
         "<logo>z</logo><content type='html'>&lt;a href=no&gt;</content></feed>",
         ATOM, [("x", PAGES), ("y", FEED), ("z", NEEDED)]),
        ("<html><script src='x'/><a href='y'/><img src='z'/></html>",
         XHTML, [("x", NEEDED), ("y", PAGES), ("z", NEEDED)]),
        ("<html><style><![CDATA[a{b:url(x)}]]></style><title><a href='y'/></title></html>",
         XHTML, [("x", NEEDED), ("y", PAGES)]),
        ("<feed><link href='x'/></feed>", "text/plain", [("x", PAGES)]),
        ("<xsl:stylesheet><xsl:include href='x'/><a href='{@no}'><p style='a:url({@no})'/></a>"
         "<a href='y'/></xsl:stylesheet>", "text/xsl", [("x", NEEDED), ("y", PAGES)]),
        ("<svg><a href='{x}'/></svg>", SVG, [("{x}", PAGES)]),
        # Elements count by their namespace, wherever and by whatever prefix it is declared.
        ("<rss xmlns:slash='http://purl.org/rss/1.0/modules/slash/'><item><comments>x</comments>"
         "<slash:comments>0</slash:comments></item></rss>", RSS, [("x", PAGES)]),
        ("<rss><item><c:comments xmlns:c='http://purl.org/rss/1.0/modules/slash/'>0</c:comments>"
         "<comments>x</comments><d:link xmlns:d='urn:x'>no</d:link><link>y</link></item></rss>",
         RSS, [("x", PAGES), ("y", PAGES)]),
        ("<rss xmlns:thr='urn:t'><thr:comments>7</thr:comments><thr:image><url>no</url></thr:image>"
         "<image><url>x</url></image><item><url>no</url></item></rss>", RSS, [("x", NEEDED)]),
        ("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
         " xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'><item>"
         "<link>x</link><dc:source>no</dc:source><dc:link>no</dc:link></item></rdf:RDF>",
         "application/rdf+xml", [("x", PAGES)]),
        ("<rss xmlns='http://backend.userland.com/rss2'><channel><link>x</link></channel></rss>",
         RSS, [("x", PAGES)]),
        ("<r:rss xmlns:r='http://blogs.law.harvard.edu/tech/rss'><r:link>x</r:link></r:rss>",
         RSS, [("x", PAGES)]),
        ("<rss xmlns:m='http://search.yahoo.com/mrss/' xmlns:media='urn:no'><m:content url='x'/>"
         "<media:content url='no'/><m:link>no</m:link></rss>", RSS, [("x", PAGES)]),
        ("<rss xmlns:g='http://www.georss.org/georss'><g:link>no</g:link></rss>", RSS, []),
        ("<a:feed xmlns:a='http://www.w3.org/2005/Atom' xmlns:b='urn:b'><a:entry>"
         "<b:link href='no'/><a:link href='x'/></a:entry></a:feed>", ATOM, [("x", PAGES)]),
        ("<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'>"
         "<div xmlns='http://www.w3.org/1999/xhtml'><a href='x'/><img src='y'/><base href='no'/>"
         "</div></content><link href='z'/></entry></feed>",
         ATOM, [("x", PAGES), ("y", NEEDED), ("z", PAGES)]),
        ("<svg xmlns='http://www.w3.org/2000/svg' xmlns:l='http://www.w3.org/1999/xlink'"
         " xmlns:d='urn:d'><image l:href='x'/><d:thing href='no'/><foreignObject><p"
         " xmlns='http://www.w3.org/1999/xhtml'><img src='y'/></p></foreignObject>"
         "<image href='z'/></svg>", SVG, [("x", NEEDED), ("y", NEEDED), ("z", NEEDED)]),
        # What names an entry is its page, if it is a URL and nothing else leads there.
        ("<rss><item><guid>http://a/x</guid></item><item><guid isPermaLink='true'>https://a/y</guid>"
         "</item></rss>", RSS, [("http://a/x", PAGES), ("https://a/y", PAGES)]),
        ("<rss><item><atom:link rel='enclosure' href='x'/><guid>http://a/y</guid></item></rss>",
         RSS, [("x", PAGES), ("http://a/y", PAGES)]),
        ("<rss><item><guid isPermaLink='false'>http://a/no</guid></item><item><guid>tag:a,1:b</guid>"
         "</item><item><guid>http://a/no</guid><link>x</link></item><item><guid>12</guid></item>"
         "</rss>", RSS, [("x", PAGES)]),
    ],
)  # fmt: skip
def test_addresses_of_xml_are_found(
    body: str, content_type: str, found: list[tuple[str, LinkRole]]
) -> None:
    document = read_document(body.encode(), PAGE, content_type)
    assert document is not None
    assert [(link.written, link.kind) for link in document.links] == found
    new, patch = document.rewrite(lambda link: f"{link.written}?1&2")
    assert undo(new, patch) == body.encode()
    again = read_document(new, PAGE, content_type)
    assert again is not None
    assert [link.written for link in again.links] == [f"{written}?1&2" for written, _ in found]


def test_xml_base_of_the_root_counts_and_goes() -> None:
    body = b"<feed xml:base='http://other.example/b/'><link href='x'/></feed>"
    document = read_document(body, PAGE, ATOM)
    assert document is not None
    assert [link.url for link in document.links] == ["http://other.example/b/x"]
    assert document.rewrite(lambda _: "y").body == (
        b"<feed data-base='http://other.example/b/'><link href='y'/></feed>"
    )


def test_xml_base_holds_where_it_stands() -> None:
    body = (
        b"<feed xml:base='/b/'><entry xml:base='c/'><link href='x'/><link href='http://a/y'/>"
        b"<content><d xmlns='http://www.w3.org/1999/xhtml' xml:base='d/'><a href='z'/></d>"
        b"</content></entry><link href='v'/></feed>"
    )
    document = read_document(body, PAGE, ATOM)
    assert document is not None
    assert [link.url for link in document.links] == [
        "http://host.example/b/c/x",
        "http://a/y",
        "http://host.example/b/c/d/z",
        "http://host.example/b/v",
    ]
    new, patch = document.rewrite(lambda link: "w" if link.written.endswith("x") else None)
    assert undo(new, patch) == body
    again = read_document(new, "http://elsewhere.example/", ATOM)
    assert again is not None
    assert [link.written for link in again.links] == [
        "w", *(link.url for link in document.links[1:])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "url", "content_type"),
    [
        (b"\x89PNG\r\n", "http://h.example/a.png", "image/png"),
        (b"fetch('x')", "http://h.example/a.js", "text/javascript"),
        (b"{}", "http://h.example/a.json", "application/json"),
        (b"url(x)", "http://h.example/a.txt", "text/plain"),
        (b"%PDF-1.4 <a href=x>", "http://h.example/a.pdf", "text/html"),
    ],
)
def test_what_holds_no_links_is_no_document(body: bytes, url: str, content_type: str) -> None:
    assert read_document(body, url, content_type) is None


def test_a_style_sheet_of_no_type_is_known_by_its_name() -> None:
    document = read_document(b"a{b:url(x)}", "http://h.example/A.CSS?v=1", None)
    assert document is not None
    assert [link.url for link in document.links] == ["http://h.example/x"]
