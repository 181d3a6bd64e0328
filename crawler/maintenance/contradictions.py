"""Find pages whose ``rel=canonical`` or ``hreflang`` contradicts what a crawl found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.fault import Fault, FaultExample, FaultExamples
from crawler.pages.page_metadata import alternates_of
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import IS_AWAY, OF_TEXTS, WITHOUT_PAGE, listed
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from crawler.urls.canonical import Canonicalizer

_BATCH = 200
_PAGES = f"""
SELECT id, key, url, declared_url, metadata, duplicate_of, resembles FROM pages
WHERE id > ? AND latest = 1 AND verdict IN ({listed(OF_TEXTS)})
AND (declared_url IS NOT NULL OR instr(metadata, '"alternates":'))
AND NOT {IS_AWAY} ORDER BY id LIMIT ?
"""
_NAMED = f"""
SELECT id, pages.key, url, declared_url, metadata, duplicate_of, resembles, verdict,
       verdict IN ({listed(WITHOUT_PAGE)}) OR {IS_AWAY} AS is_away,
       coalesce((SELECT reason FROM known WHERE known.key = pages.key), reason) AS why
FROM pages WHERE pages.key = ? AND latest = 1
"""


class _Page(NamedTuple):
    id: int
    key: bytes
    url: str
    declared_url: str | None
    metadata: str | None
    duplicate_of: int | None
    resembles: int | None

    @property
    def kept(self) -> int:
        """Id of the kept page that has its text."""
        return self.duplicate_of or self.id


def contradictions(
    connection: sqlite3.Connection,
    canonicalizer: Canonicalizer,
    redirects: Mapping[bytes, bytes],
    most: int,
) -> tuple[Fault, Fault]:
    """Return the canonical URLs and the translations that contradict.

    What the crawl does not know is not looked at: a URL of another site may be right.

    Args:
        connection: Connection from ``open_for_reading``.
        canonicalizer: Makes the keys of URLs, as in the crawl.
        redirects: Key of where each URL that redirects leads in the end.
        most: Describe at most this many examples.

    Complexity: O(pages and the URLs that they name).
    """
    canonicals, translations = (
        FaultExamples("canonicals", most),
        FaultExamples("translations", most),
    )
    known = _Known(connection, canonicalizer, redirects)
    last = 0
    while rows := connection.execute(_PAGES, (last, _BATCH)).fetchall():
        last = rows[-1][0]
        for row in rows:
            page = _Page(*row)
            if (said := known.against_canonical(page)) is not None:
                canonicals.add(FaultExample(page.url, said))
            for said in known.against_translations(page):
                translations.add(FaultExample(page.url, said))
    return canonicals.fault(), translations.fault()


class _Known:
    """Compares what pages name with what the crawl found there."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        canonicalizer: Canonicalizer,
        redirects: Mapping[bytes, bytes],
    ) -> None:
        self._connection = connection
        self._canonicalizer = canonicalizer
        self._redirects = redirects

    def against_canonical(self, page: _Page) -> str | None:
        """Return what is wrong with the canonical URL of a page; None: nothing that is known."""
        declared = page.declared_url
        key = self._key(declared)
        if declared is None or key is None or key == page.key:
            return None
        if (wrong := self._is_no_page(key)) is not None:
            return f"names {declared}, which {wrong}"
        named = self._page(key)
        if named is None:
            return None
        further = self._key(named.declared_url)
        if further not in {None, named.key}:
            return f"names {declared}, which names {named.declared_url}"
        if named.kept not in {page.kept, page.resembles} and page.kept != named.resembles:
            return f"names {declared}, whose text is another one"
        return None

    def against_translations(self, page: _Page) -> Iterator[str]:
        """Yield what is wrong with each translation of a page."""
        alternates = alternates_of(page.metadata)
        languages = Counter(
            language for language, _ in {(one.lower(), self._key(url)) for one, url in alternates}
        )
        for language, times in languages.items():
            if times > 1:
                yield f"names {times} URLs for {language}"
        for language, url in alternates:
            key = self._key(url)
            if key is None or key == page.key:
                continue
            if (wrong := self._is_no_page(key)) is not None:
                yield f"names {url} for {language}, which {wrong}"
            elif (named := self._page(key)) is not None:
                back = {self._key(one) for _, one in alternates_of(named.metadata)}
                if page.key not in back:
                    yield f"names {url} for {language}, which does not name it back"

    def _is_no_page(self, key: bytes) -> str | None:
        """Return why a URL is no page, None where it is one or is not known."""
        if key in self._redirects:
            end = self._connection.execute(_NAMED, (self._redirects[key],)).fetchone()
            return "redirects" if end is None else f"redirects to {end['url']}"
        row = self._connection.execute(_NAMED, (key,)).fetchone()
        if row is None or not row["is_away"]:
            return None
        return f"is no page ({in_words(row['why']) or 'no answer'})"

    def _page(self, key: bytes) -> _Page | None:
        row = self._connection.execute(_NAMED, (key,)).fetchone()
        return None if row is None or row["verdict"] not in OF_TEXTS else _Page(*row[:7])

    def _key(self, url: str | None) -> bytes | None:
        try:
            return None if url is None else self._canonicalizer.key(url)
        except MalformedUrl:
            return None
