"""Pages that people wrote and programs made: nothing lost, and the links that reading finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import LinkRole, undo
from crawler.reading.decoding import decode
from crawler.reading.html_parsing import parse
from crawler.reading.link_extraction import LinkReader, base_url
from crawler.reading.link_kinds import CANONICAL, REFRESH
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.page_elements import collect
from crawler.urls.canonical import Canonicalizer
from tests.sites.packages import PACKAGES, SiteUnavailableError, html_folder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

_EVERY = 12  # one page of so many: whole sites take minutes
_ENDINGS = (".html", ".htm", ".css", ".svg")
_ALL_LINKS = 10**6


@pytest.fixture(scope="module", params=sorted(PACKAGES))
def files(request: pytest.FixtureRequest) -> list[Path]:
    try:
        folder = html_folder(PACKAGES[request.param])
    except SiteUnavailableError as error:
        pytest.skip(str(error))
    # Some link to what another package brings.
    found = sorted(
        path for path in folder.rglob("*") if path.name.endswith(_ENDINGS) and path.is_file()
    )
    pages = [path for path in found if path.suffix.startswith(".htm")]
    return pages[::_EVERY] + [path for path in found if path not in set(pages)]


def test_rewriting_can_be_undone(files: list[Path]) -> None:
    assert files
    for path in files:
        body = path.read_bytes()
        document = read_document(body, f"http://host.example/{path.name}", _type(path))
        assert document is not None
        rewritten = document.rewrite(lambda link: f"x/{link.kind.value}.html#{len(link.written)}")
        assert undo(rewritten.body, rewritten.patch) == body
        again = read_document(rewritten.body, f"http://host.example/{path.name}", _type(path))
        assert again is not None
        assert [link.kind for link in again.links] == [link.kind for link in document.links]


def test_links_of_pages_are_those_that_reading_finds(files: list[Path]) -> None:
    canonicalizer = Canonicalizer()
    reader = LinkReader(canonicalizer, _ALL_LINKS)
    for path in files:
        if not path.suffix.startswith(".htm"):
            continue
        body, url = path.read_bytes(), f"http://host.example/folder/{path.name}"
        decoded = decode(body, "text/html")
        page = collect(parse(decoded.utf8))
        base = base_url(page.base, url)
        refresh = read_metadata(page, base).refresh_url
        more = {refresh: REFRESH} if refresh else {}
        found = reader.read(page, base, decoded.encoding, more)
        document = read_document(body, url, "text/html")
        assert document is not None
        ours = {
            canonicalizer.key(link.url)
            for link in document.links
            if link.url and link.kind in {LinkRole.PAGE, LinkRole.FRAME}
        }
        # The canonical URL of a page stays what it is in a mirror.
        theirs = {link.key for link in found.links if link.kind != CANONICAL}
        assert ours == theirs, path


def _type(path: Path) -> str:
    return {".css": "text/css", ".svg": "image/svg+xml"}.get(path.suffix, "text/html")
