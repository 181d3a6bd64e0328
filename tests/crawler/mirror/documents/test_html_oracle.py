from __future__ import annotations

import re

from hypothesis import assume, example, given, settings

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import LinkRole, undo
from tests.crawler.mirror.documents.soup import (
    ADDRESSES,
    addresses_of,
    drawings,
    letters,
    soups,
    tokens_of,
)

PAGE = "http://host.example/folder/page.html"
HTML = "text/html; charset=utf-8"
INTEGRATION = re.compile("<(foreignObject|desc|title|mi)>")


def _written(page: str) -> list[str]:
    document = read_document(page.encode(), PAGE, HTML)
    assert document is not None
    # What a script only names is read from its text, which html5lib does not look into.
    return [link.written for link in document.links if link.kind is not LinkRole.NAMED]


class TestScannerProperties:
    @settings(max_examples=400)
    @given(soups)
    @example("<script><!--<script></script><a href=hidden></script><a href=seen>")
    @example("<!--><a href=seen>--><a href=too>")
    @example("<a ='\"' href=seen>")
    @example('<a href=="x>y">')
    @example('<script href=x>src="j.png"/></script><a href=seen>')
    @example("<title><a href=no></title><a href=yes>")
    def test_addresses_of_tag_soup_are_those_that_html5lib_finds(self, soup: str) -> None:
        assert _written(soup) == addresses_of(soup)

    @settings(max_examples=400)
    @given(letters)
    def test_addresses_of_random_markup_are_those_that_html5lib_finds(self, soup: str) -> None:
        assert _written(soup) == addresses_of(soup)

    @settings(max_examples=200)
    @given(drawings)
    def test_addresses_among_drawings_are_those_that_html5lib_finds(self, soup: str) -> None:
        # CDATA among HTML within a drawing: only the tree tells what it is.
        assume("<![CDATA[" not in soup or not INTEGRATION.search(soup))
        assert _written(soup) == addresses_of(soup)

    @settings(max_examples=200)
    @given(soups)
    @example('<script href=x>src="j.png"/>')
    def test_rewriting_changes_the_addresses_and_no_other_token(self, soup: str) -> None:
        body = soup.encode()
        document = read_document(body, PAGE, None if body.isascii() else HTML)
        if document is None:
            return
        changed = [link for link in document.links if link.url is not None]
        new = [f"new{number}.html?a=1&copy=2'\"" for number in range(len(changed))]
        waiting = iter(new)
        body_now, patch = document.rewrite(lambda _: next(waiting))
        assert undo(body_now, patch) == body
        assert _without(body_now.decode()) == _without(soup)
        again = read_document(body_now, PAGE, "text/html")
        assert again is not None
        expected = [
            link.written if link.kind is LinkRole.NAMED else address
            for link, address in zip(changed, new, strict=True)
        ]
        assert [link.written for link in again.links if link.url is not None] == expected
        assert {link.kind for link in again.links} <= set(LinkRole)


def _without(page: str) -> list[object]:
    """The tokens of a page, its addresses left out."""
    kept: list[object] = []
    for kind, name, data in tokens_of(page):
        pairs = data if isinstance(data, tuple) else ()
        bare = [(key, "" if (name, key) in ADDRESSES else value) for key, value in pairs]
        kept.append((kind, name, bare or data))
    return kept
