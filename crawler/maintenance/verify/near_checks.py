"""Check that no kept page says nearly what an earlier kept page says.

The kept pages are judged in their order, each by the parameters of its verdict, with the candidates
and the comparisons of a crawl (``neardup.evidence``). Equal texts are the matter of another check,
and a page that resembles one is believed where boilerplate may have told the two apart.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import find_originals
from crawler.maintenance.verify.finding import Culprits, NoWatch, Rule, Stage
from crawler.maintenance.verify.repeat_checks import readable_parameters
from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.page_row import to_unsigned
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import SAME_TEMPLATE
from crawler.pages.wall_clusters import host_of
from neardup import Document, HammingIndex
from neardup.cascade import decide
from neardup.document import signed
from neardup.evidence import EvidenceSource
from neardup.fingerprints.minhash import unpacked_signature
from neardup.kept_facts import StoredFacts
from neardup.storage.signatures import memory_signatures
from neardup.verification import JaccardVerifier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer

_FINGERPRINTED = "latest = 1 AND text IS NOT NULL AND fingerprint IS NOT NULL"
_KEPT = f"SELECT id, coalesce(parameters, -1) FROM pages WHERE {_FINGERPRINTED} ORDER BY id"
_PAGE = f"""
SELECT url, text, text_digest, fingerprint, coalesce(name, ''),
       resembles IS NOT NULL OR verdict = '{SAME_TEMPLATE}'
FROM pages WHERE id = ?
"""
_FACTS = f"""
SELECT id, fingerprint, coalesce(name, '') FROM pages
WHERE {_FINGERPRINTED} AND id IN (SELECT value FROM json_each(?))
"""


class _NearPage(NamedTuple):
    id: int
    original: int
    distance: int
    similarity: float | None


class _KeptPages:
    """Implements neardup's ``Documents`` with the kept pages, but for equal texts.

    Attributes:
        url: URL of the page that is judged; pages of one URL are parts of one page.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self.url = ""

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return None

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return None

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        url, text = self._read("SELECT url, text FROM pages WHERE id = ?", (id,)).fetchone()
        try:
            return None if url == self.url else unpack_judged(text)
        except (zstandard.ZstdError, ValueError):  # another check says so
            return None

    def name(self, id: int) -> str:  # noqa: A002  # neardup's name for it
        sql = "SELECT coalesce(name, '') FROM pages WHERE id = ?"
        return str(self._read(sql, (id,)).fetchone()[0])

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        rows = self._read(_FACTS, (json.dumps(list(ids)),))
        return [StoredFacts(number, to_unsigned(found) or 0, name) for number, found, name in rows]

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the pages are stored."""


def find_near(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find kept pages that repeat an earlier one.

    Complexity: O(size of the texts), and one comparison of texts for each candidate that may
    repeat a page; 350 bytes of memory a kept page.
    """
    read = directory.connection.execute
    near = Culprits(NEAR_KEPT)
    for page in _near_pages(read, watch):
        near.add(page.id, str(read(_PAGE, (page.id,)).fetchone()[0]))
    yield from near.found()


def _near_pages(read: Read, watch: CheckWatch) -> Iterator[_NearPage]:
    """Yield kept pages that repeat an earlier one; a yielded page is no original of a later one."""
    chosen = {number: one for number, one in readable_parameters(read).items() if one is not None}
    pages = read(_KEPT).fetchall()
    watch.begin("kept pages", len(pages))
    if not chosen:
        return
    first, kept = next(iter(chosen.values())), _KeptPages(read)
    size = first.verify_shingle_size
    index = HammingIndex(radius=max(one.max_distance for one in chosen.values()))
    with index, closing(memory_signatures(size)) as signatures:
        boilerplate = HostBoilerplate(read)
        source = EvidenceSource(
            first, kept, index, signatures, JaccardVerifier(size), boilerplate=boilerplate
        )
        for page_id, number in pages:
            watch.advance()
            parameters = chosen.get(number)
            if parameters is None:
                continue
            row = read(_PAGE, (page_id,)).fetchone()
            kept.url, text, digest, fingerprint, name, is_other = row
            try:
                words, said = parameters.min_words, unpack_judged(text)
                found = Document(words, digest, to_unsigned(fingerprint), said, name=name)
                document = replace(signed(found, first), group=host_of(kept.url))
                verifier = JaccardVerifier(parameters.verify_shingle_size)
                asked = replace(source, parameters=parameters, verifier=verifier)
                verdict = decide(words, asked.find(document, {page_id}), parameters)
            except (zstandard.ZstdError, ValueError):  # another check says so
                continue
            # What was boilerplate when the page came is not stored.
            is_believed = is_other and parameters.ignore_boilerplate
            original = None if is_believed else verdict.duplicate_of
            if original is not None and verdict.distance is not None:
                yield _NearPage(page_id, original, verdict.distance, verdict.similarity)
                continue
            index.add(document.fingerprint or 0, page_id)
            if document.signature is not None:
                signatures.add(unpacked_signature(document.signature), page_id)


def _drop_near_pages(repairer: Repairer, finding: Finding) -> str:
    """Make kept pages duplicates of near ones, with their own duplicates of the same text."""
    found = list(_near_pages(repairer.database.read, NoWatch()))
    write = repairer.database.write
    for page in found:
        measures = page.original, page.distance, page.similarity
        write(
            "UPDATE pages SET verdict = 'near_duplicate', duplicate_of = ?, distance = ?,"
            " similarity = ?, resembles = NULL, part_of = NULL, containment = NULL"
            " WHERE latest = 1 AND (id = ? OR duplicate_of = ?"
            " AND text_digest = (SELECT text_digest FROM pages WHERE id = ?))",
            (*measures, page.id, page.id, page.id),
        )
        write(
            "INSERT OR REPLACE INTO near_texts SELECT id, text, content FROM pages WHERE id = ?",
            (page.id,),
        )
        write("UPDATE pages SET text = NULL, content = NULL WHERE id = ?", (page.id,))
    said = f"pages made duplicates of one with nearly the same text: {len(found):,}"
    return f"{said}; {find_originals(repairer) or 'no duplicate lost its original'}"


NEAR_KEPT = Rule(
    "kept-apart",
    "pages kept although an earlier kept page has nearly the same text",
    "makes them duplicates of it",
    _drop_near_pages,
    Stage.MEASURES,
    changes_texts=True,
)
