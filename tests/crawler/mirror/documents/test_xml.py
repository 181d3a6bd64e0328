from __future__ import annotations

import pytest

from crawler.mirror.documents.edits import undo
from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import LinkKind

PAGE = "http://host.example/a/feed.xml"
PAGES, NEEDED = LinkKind.PAGE, LinkKind.REQUISITE
FEED, OTHER = LinkKind.FEED, LinkKind.OTHER
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
    ],
)  # fmt: skip
def test_addresses_of_xml_are_found(
    body: str, content_type: str, found: list[tuple[str, LinkKind]]
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
