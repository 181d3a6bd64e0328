"""Check that every stored text is readable, and that its digests and fingerprint are right."""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import DROPPED_BESIDE, FETCHED
from crawler.maintenance.verify.file_checks import remove_fingerprints
from crawler.maintenance.verify.finding import Mend, Rule, writing
from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import unpack_judged
from crawler.reading.content.content_xml import (
    FROM_LINES,
    ContentError,
    StoredText,
    decompress,
    unpack_content,
)
from crawler.storage import meta_names
from crawler.storage.checksums import CHECKED
from neardup import analyse
from neardup.fingerprints.digest import words_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer
    from neardup import Parameters

    _Right = tuple[int, bytes, int | None, bytes | None, bytes | None, int]

_TEXTS = """
SELECT id, url, words, is_main, text_digest, visible_digest, fingerprint, text, words_digest,
       last_text_digest, latest = 1 AND is_main = 1 AND payload_digest IS NOT NULL
FROM pages WHERE text IS NOT NULL ORDER BY id
"""
_NEAR_TEXTS = """
SELECT page, url, words, is_main, text_digest, visible_digest, fingerprint, near_texts.text,
       words_digest, last_text_digest, 0
FROM near_texts JOIN pages ON pages.id = page ORDER BY page
"""
_CORRECT = """
UPDATE pages SET words = ?, text_digest = ?, fingerprint = ?, words_digest = ?, last_text_digest = ?
WHERE id = ?
"""
_HTML = "SELECT id, url, html FROM pages WHERE html IS NOT NULL ORDER BY id"


class _StoredText(NamedTuple):
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


class _StoredSaid(NamedTuple):
    """The right columns of a stored text."""

    words: int
    text_digest: bytes
    fingerprint: int | None
    digest: bytes
    words_digest: bytes

    def is_answer_of(self, row: _StoredText) -> bool:
        """Return whether the columns of a page's own answer fit its text."""
        if not row.is_own:
            return True
        digests = {self.digest, row.visible_digest}
        is_last = row.last_text_digest is None or row.last_text_digest in digests
        return is_last and row.words_digest in {None, self.words_digest}

    def columns_of(self, row: _StoredText) -> _Right:
        """Return what the row of the text is to hold, with its id, in the order of ``_CORRECT``."""
        of_answer = row.words_digest, row.last_text_digest
        if not self.is_answer_of(row):
            of_answer = self.words_digest, self.digest
        return self.words, self.text_digest, to_signed(self.fingerprint), *of_answer, row.id


def _right(row: _StoredText, parameters: Parameters) -> _StoredSaid:
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
    return _StoredSaid(document.words, judged, fingerprint, document.digest, words_digest(text))


def find_misread(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Decompress every text, and compute its digest and its fingerprint.

    Complexity: O(size of the texts); memory for one of them.
    """
    parameters = directory.parameters
    if parameters is None:
        named = directory.meta.get(meta_names.FEATURES, "none")
        yield FEATURES.finding(f"{FEATURES.what}: {named}")
        return
    unreadable, near = list[tuple[int, str]](), list[tuple[int, str]]()
    digests: list[tuple[_Right, str]] = []
    fingerprints: list[tuple[_Right, str]] = []
    watch.begin("texts", directory.count("SELECT count(*) FROM pages WHERE text IS NOT NULL"))
    read = directory.connection.execute
    for row, said in _computed(read(_TEXTS), parameters, unreadable):
        if to_unsigned(row.fingerprint) != said.fingerprint:
            fingerprints.append((said.columns_of(row), row.url))
        is_right = (row.words, row.text_digest) == (said.words, said.text_digest)
        if not is_right or not said.is_answer_of(row):
            digests.append((said.columns_of(row), row.url))
        watch.advance()
    for row, said in _computed(read(_NEAR_TEXTS), parameters, near):
        # A page that must be read again has no digest.
        if row.text_digest is not None and said.text_digest != row.text_digest:
            near.append((row.id, row.url))
    yield from NEAR_TEXT.found(near)
    yield from HTML.found(_unreadable_html(directory))
    yield from READABLE.found(unreadable)
    yield from DIGEST.found(digests)
    yield from FINGERPRINT.found(fingerprints)


def _computed(
    rows: Iterable[Sequence[Any]], parameters: Parameters, unreadable: list[tuple[int, str]]
) -> Iterator[tuple[_StoredText, _StoredSaid]]:
    """Yield stored texts with their right columns, and collect those that cannot be read."""
    for row in starmap(_StoredText, rows):
        try:
            said = _right(row, parameters)
        except ValueError as error:
            unreadable.append((row.id, f"{row.url} ({error})"))
        else:
            yield row, said


def _unreadable_html(directory: CrawlDirectory) -> Iterator[tuple[int, str]]:
    for page_id, url, packed in directory.connection.execute(_HTML):
        try:
            decompress(packed)
        except (zstandard.ZstdError, TypeError) as error:
            yield page_id, f"{url} ({error})"


def _correct(repairer: Repairer, finding: Finding) -> None:
    # Before the commit: a wrong index might be used.
    remove_fingerprints(repairer.directory.index)
    repairer.write_each(_CORRECT, finding.ids)


_COMPUTED = Mend("computes it from the stored text", _correct)

FEATURES = Rule(
    "features-known",
    "the fingerprints were made of features that this version cannot compute",
    advice="verify it with the version that made it",
)
READABLE = Rule("text-readable", "stored texts that cannot be decompressed", FETCHED)
NEAR_TEXT = Rule(
    "near-text-right",
    "texts of near-duplicates that cannot be read, or have another digest than is stored",
    replace(DROPPED_BESIDE, remedy="deletes them: they are of duplicates"),
)
HTML = Rule(
    "html-readable",
    "stored HTML that cannot be decompressed",
    writing("deletes it: the texts stay", "UPDATE pages SET html = NULL WHERE id = ?"),
)
DIGEST = Rule(
    "digest-right", "texts with another digest, or number of words, than is stored", _COMPUTED
)
FINGERPRINT = Rule("fingerprint-right", "texts with another fingerprint than is stored", _COMPUTED)


_CONTENTS = """
SELECT 'pages', id, url, content FROM pages WHERE text IS NOT NULL
UNION ALL
SELECT 'near_texts', page, url, near_texts.content FROM near_texts JOIN pages ON pages.id = page
"""
_LEFT_OVER = "SELECT id, url FROM pages WHERE text IS NULL AND content IS NOT NULL ORDER BY id"


def find_misshown(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Decompress and parse every content. Complexity: O(size); memory for one of them."""
    watch.begin("contents", directory.count("SELECT count(*) FROM pages WHERE text IS NOT NULL"))
    unreadable = []
    for table, page_id, url, packed in directory.connection.execute(_CONTENTS):
        try:
            unpack_content(packed or b"")
        except ContentError as error:
            unreadable.append(((table, page_id), f"{url} ({error})"))
        watch.advance(int(table == "pages"))
    yield from CONTENT.found(unreadable)
    yield from LEFT_OVER.found(directory.connection.execute(_LEFT_OVER))


def _make_of_lines(repairer: Repairer, finding: Finding) -> None:
    read, write = repairer.database.read, repairer.database.write
    for table, page_id in finding.ids:
        where = f"WHERE {CHECKED[table]} = ?"
        sql = f"SELECT text FROM {table} {where} AND text IS NOT NULL"
        for (text,) in read(sql, (page_id,)).fetchall():
            content = StoredText.of(text, None).content
            write(f"UPDATE {table} SET content = ? {where}", (content, page_id))
            if table == "pages":
                sql = f"UPDATE pages SET page_type = NULL, content_source = '{FROM_LINES}' {where}"
                write(sql, (page_id,))


CONTENT = Rule(
    "content-readable",
    "texts whose content is missing, or cannot be read",
    Mend("makes it of the lines of the text", _make_of_lines),
)
LEFT_OVER = Rule(
    "content-owned",
    "contents of pages whose text is not stored",
    writing("deletes them", "UPDATE pages SET content = NULL WHERE id = ?"),
)
