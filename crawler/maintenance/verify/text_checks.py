"""Check that every stored text is readable, and that its digests and fingerprint are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import reading_anew
from crawler.maintenance.verify.finding import Culprits, Finding
from crawler.pages.page_row import to_unsigned
from crawler.pages.stored_texts import unpack_judged
from crawler.storage import meta_names
from neardup import analyse
from neardup.fingerprints.digest import words_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch
    from neardup import Parameters

READABLE = "text-readable"
NEAR_READABLE = "near-text-readable"
NEAR_DIGEST = "near-text-right"
HTML = "html-readable"
DIGEST = "digest-right"
FINGERPRINT = "fingerprint-right"
FEATURES = "features-known"

TEXTS = """
SELECT id, url, words, is_main, text_digest, visible_digest, fingerprint, text, words_digest,
       last_text_digest, latest = 1 AND is_main = 1 AND payload_digest IS NOT NULL
FROM pages WHERE text IS NOT NULL ORDER BY id
"""
_NEAR_TEXTS = """
SELECT page, url, words, is_main, text_digest, visible_digest, fingerprint, near_texts.text,
       words_digest, last_text_digest, 0
FROM near_texts JOIN pages ON pages.id = page ORDER BY page
"""
_HTML = "SELECT id, url, html FROM pages WHERE html IS NOT NULL ORDER BY id"
_RECOMPUTED = "computes it from the stored text"


class StoredText(NamedTuple):
    """A row of ``TEXTS``."""

    id: int
    url: str
    words: int | None
    is_main: int | None
    text_digest: bytes | None
    visible_digest: bytes | None
    fingerprint: int | None
    text: bytes
    words_digest: bytes | None
    last_text_digest: bytes | None
    is_own: int


class StoredSaid(NamedTuple):
    """The right columns of a stored text."""

    words: int
    text_digest: bytes
    fingerprint: int | None
    digest: bytes
    words_digest: bytes

    def is_answer_of(self, row: StoredText) -> bool:
        """Return whether the columns of a page's own answer fit its text."""
        if not row.is_own:
            return True
        digests = {self.digest, row.visible_digest}
        is_last = row.last_text_digest is None or row.last_text_digest in digests
        return is_last and row.words_digest in {None, self.words_digest}


def right(row: StoredText, parameters: Parameters) -> StoredSaid:
    """Compute the right columns of a stored text.

    A page without a fingerprint is judged by all visible text, but only the digest of that is
    stored; that digest is believed then.

    Raises:
        ValueError: The text cannot be decompressed, or is no UTF-8.
    """
    try:
        text = unpack_judged(row.text)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    document = analyse(text, parameters)
    judged, fingerprint = document.digest, None
    if row.fingerprint is not None and document.fingerprint is not None:
        fingerprint = document.fingerprint
    elif not row.is_main or row.text_digest != document.digest:
        judged = row.visible_digest or document.digest
    # Else it reached min_words once, and no longer does.
    return StoredSaid(document.words, judged, fingerprint, document.digest, words_digest(text))


def find_misread(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Decompress every text, and compute its digest and its fingerprint.

    Complexity: O(size of the texts); memory for one of them.
    """
    parameters = directory.parameters
    if parameters is None:
        yield _unknown_features(directory)
        return
    unreadable, digests, fingerprints = Culprits(), Culprits(), Culprits()
    watch.begin("texts", directory.count("SELECT count(*) FROM pages WHERE text IS NOT NULL"))
    for values in directory.connection.execute(TEXTS):
        row = StoredText(*values)
        try:
            said = right(row, parameters)
        except ValueError as error:
            unreadable.add(row.id, f"{row.url} ({error})")
        else:
            if to_unsigned(row.fingerprint) != said.fingerprint:
                fingerprints.add(row.id, row.url)
            is_right = (row.words, row.text_digest) == (said.words, said.text_digest)
            if not is_right or not said.is_answer_of(row):
                digests.add(row.id, row.url)
        watch.advance()
    yield from _misread_near_texts(directory, parameters)
    yield from _unreadable_html(directory)
    if unreadable.ids:
        what = "stored texts that cannot be decompressed"
        yield unreadable.finding(READABLE, what, *reading_anew(directory))
    if digests.ids:
        what = "texts with another digest, or number of words, than is stored"
        yield digests.finding(DIGEST, what, _RECOMPUTED)
    if fingerprints.ids:
        what = "texts with another fingerprint than is stored"
        yield fingerprints.finding(FINGERPRINT, what, _RECOMPUTED)


def _misread_near_texts(directory: CrawlDirectory, parameters: Parameters) -> Iterator[Finding]:
    unreadable, others = Culprits(), Culprits()
    for values in directory.connection.execute(_NEAR_TEXTS):
        row = StoredText(*values)
        try:
            said = right(row, parameters)
        except ValueError as error:
            unreadable.add(row.id, f"{row.url} ({error})")
        else:
            # A page that must be read again has no digest.
            if row.text_digest is not None and said.text_digest != row.text_digest:
                others.add(row.id, row.url)
    if unreadable.ids:
        what = "texts of near-duplicates that cannot be decompressed"
        yield unreadable.finding(NEAR_READABLE, what, "takes them away: they are duplicates")
    if others.ids:
        what = "texts of near-duplicates with another digest than is stored"
        yield others.finding(NEAR_DIGEST, what, "takes them away: they are duplicates")


def _unreadable_html(directory: CrawlDirectory) -> Iterator[Finding]:
    unreadable = Culprits()
    for page_id, url, packed in directory.connection.execute(_HTML):
        try:
            zstandard.decompress(packed)
        except (zstandard.ZstdError, TypeError) as error:
            unreadable.add(page_id, f"{url} ({error})")
    if unreadable.ids:
        what = "stored HTML that cannot be decompressed"
        yield unreadable.finding(HTML, what, "takes it away: the texts stay")


def _unknown_features(directory: CrawlDirectory) -> Finding:
    named = directory.meta.get(meta_names.FEATURES, "none")
    return Finding(
        FEATURES,
        f"the fingerprints were made of features that this version cannot compute: {named}",
        advice="verify it with the version that made it",
    )
