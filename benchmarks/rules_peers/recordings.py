"""A crawl as a file: what each page said and where it led, to be crawled again without a network.

A file of JSON lines, compressed by gzip. The first line names the format, the site and the seeds;
each other one is a page, in the order in which the pages came::

    {"format": "recorded crawl 1", "site": "made", "seeds": ["http://127.0.0.1:8000/"]}
    {"url": "http://127.0.0.1:8000/", "redirected": [], "digest": "5f...", "links": ["http://..."]}
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.link_kinds import Follow, followed_kinds
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import ReadingTask
from crawler.urls.canonical import Canonicalizer
from rules_peers import simulated_site
from rules_peers.texts import text_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.urls.scope import Scope
    from rules_peers.recorder import Answer

FORMAT = "recorded crawl 1"
ENDING = ".jsonl.gz"


class RecordedPage(NamedTuple):
    """A page of a recording.

    Attributes:
        redirected: The URLs that led to it by redirects, from the first one on.
        digest: Digest of all visible text, in hexadecimal digits.
        links: The URLs of its links within the scope of the crawl, in order.
    """

    url: str
    digest: str
    links: Sequence[str]
    redirected: Sequence[str] = ()


@dataclass
class Recording:
    """A recorded crawl, which is a simulated site too.

    A URL that was not fetched has no page, and no link leads there: nobody knows what it says.
    """

    site: str
    seeds: Sequence[str]
    pages: Sequence[RecordedPage]
    truth: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._canonical = Canonicalizer()
        self._by_url: dict[str, RecordedPage] = {}
        self._by_key: dict[bytes, RecordedPage] = {}
        for page in self.pages:
            for url in (page.url, *page.redirected):
                self._by_url.setdefault(url, page)
                self._by_key.setdefault(self._canonical.key(url), page)
        self.truth = frozenset(page.digest for page in self.pages)

    def answer(self, url: str) -> simulated_site.Answer | None:
        """Return the page that came for a URL as it was requested, else for its canonical form."""
        page = self._page(url)
        if page is None:
            return None
        links = [link for link in page.links if self._page(link) is not None]
        return simulated_site.Answer(page.digest, links)

    def _page(self, url: str) -> RecordedPage | None:
        return self._by_url.get(url) or self._by_key.get(self._canonical.key(url))


def recorded_pages(answers: Sequence[Answer], scope: Scope) -> list[RecordedPage]:
    """Read the text and the links of answers, as a crawl reads them."""
    reader = PageReader(ReadingOptions())
    kinds = followed_kinds("")
    pages = []
    for answer, digest in zip(answers, text_names(answers), strict=True):
        parsed = reader.parse(ReadingTask(answer.url, answer.body, answer.content_type))
        links = [
            url
            for link in parsed.links
            if kinds[link.kind] is Follow.PAGE
            for url in (link.url, *link.others)
            if scope.allows(url)
        ]
        pages.append(RecordedPage(answer.url, digest or "", links, answer.redirected))
    return pages


def write_recording(file: Path, recording: Recording) -> None:
    """Write a recording; the same one is written as the same bytes."""
    head = {"format": FORMAT, "site": recording.site, "seeds": list(recording.seeds)}
    lines = [head, *(page._asdict() for page in recording.pages)]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    file.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))


def read_recording(file: Path) -> Recording:
    """Read a recording.

    Raises:
        ValueError: The file has another format.
    """
    text = gzip.decompress(file.read_bytes()).decode("utf-8", "surrogatepass")
    head, *lines = map(json.loads, text.splitlines())
    if head.get("format") != FORMAT:
        raise ValueError(f"{file}: format {FORMAT!r} expected, got {head.get('format')!r}")
    return Recording(head["site"], head["seeds"], [RecordedPage(**line) for line in lines])
