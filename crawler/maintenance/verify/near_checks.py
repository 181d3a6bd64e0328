"""Check that no kept page says nearly what an earlier one says, and the names of near pages.

The kept pages are judged in their order, each by the parameters of its verdict, with the candidates
and the comparisons of a crawl (``neardup.evidence``). Equal texts are the matter of another check,
and a page that resembles one is believed where boilerplate may have told the two apart.

Pages that resemble others, or are parts of them, name these. A page whose text changed may name one
that it resembles too, while its measures are to its own last version. Pages of a fleet name in
their ``reason`` the URL of one that another crawl keeps. Boilerplate may have lowered a containment
when the page came, so one is right that is as large as the texts allow, or less, and large enough
for a part.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import find_originals
from crawler.maintenance.verify.finding import Culprits, NoWatch, Rule, Stage, writing
from crawler.maintenance.verify.repeat_checks import (
    CLOSE,
    JudgedPair,
    is_close,
    mismeasured,
    near_measures,
    readable_parameters,
)
from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.page_row import to_unsigned
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    KEPT,
    PART_OF_NOTHING,
    RESEMBLE_NOTHING,
    SAME_TEMPLATE,
    listed,
)
from crawler.pages.wall_clusters import host_of
from neardup import Document, HammingIndex
from neardup.cascade import decide
from neardup.document import signed
from neardup.evidence import EvidenceSource
from neardup.fingerprints.minhash import unpacked_signature
from neardup.kept_facts import StoredFacts
from neardup.parts import MIN_CONTAINMENT
from neardup.storage.signatures import memory_signatures
from neardup.verification import JaccardVerifier, containment
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer
    from neardup import Parameters


_FINGERPRINTED = "latest = 1 AND text IS NOT NULL AND fingerprint IS NOT NULL"
_IN_ORDER = f"SELECT id, coalesce(parameters, -1) FROM pages WHERE {_FINGERPRINTED} ORDER BY id"
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
    pages = read(_IN_ORDER).fetchall()
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
            "INSERT OR REPLACE INTO near_texts SELECT id, text, content, NULL FROM pages"
            " WHERE id = ?",
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


_NAMED_ELSEWHERE = (
    f"instr(char(10) || coalesce(pages.reason, ''), char(10) || '{Reason.RESEMBLES} ')"
)
_RESEMBLING_NONE = f"""
SELECT pages.id, pages.url FROM pages LEFT JOIN pages AS other
  ON other.id = pages.resembles AND other.key <> pages.key AND other.verdict IN ({listed(KEPT)})
WHERE pages.resembles IS NOT NULL AND (pages.verdict NOT IN ('{SAME_TEMPLATE}', '{CHANGED}')
       OR pages.latest = 1 AND other.id IS NULL)
   OR pages.resembles IS NULL AND pages.verdict = '{SAME_TEMPLATE}' AND pages.latest = 1
      AND NOT {_NAMED_ELSEWHERE}
"""
_RESEMBLING = f"""
SELECT pages.id, pages.url, pages.verdict, pages.distance, pages.similarity, pages.fingerprint,
       other.fingerprint, pages.text_digest, pages.parameters, pages.text, other.text, 0
FROM pages JOIN pages AS other ON other.id = pages.resembles
WHERE pages.latest = 1 AND pages.verdict IN ('{SAME_TEMPLATE}', '{CHANGED}') ORDER BY pages.id
"""
_RESEMBLE_NOTHING = f"{RESEMBLE_NOTHING} WHERE id = ?"
_KEPT = f"verdict IN ({listed(KEPT)})"
_UNNAMED_PARTS = f"""
SELECT pages.id, pages.url FROM pages LEFT JOIN pages AS whole
  ON whole.id = pages.part_of AND whole.key <> pages.key AND whole.{_KEPT}
WHERE pages.part_of IS NOT NULL AND (NOT pages.{_KEPT} OR pages.containment IS NULL
      OR pages.latest = 1 AND whole.id IS NULL)
   OR pages.part_of IS NULL AND pages.containment IS NOT NULL AND pages.verdict <> '{CONTAINED}'
"""
_PARTS = f"""
SELECT pages.id, pages.url, pages.verdict, pages.containment, pages.parameters,
       coalesce(pages.text, near_texts.text), whole.text
FROM pages JOIN pages AS whole ON whole.id = coalesce(pages.part_of, pages.duplicate_of)
LEFT JOIN near_texts ON near_texts.page = pages.id
WHERE pages.latest = 1 AND (pages.part_of IS NOT NULL OR pages.verdict = '{CONTAINED}')
ORDER BY pages.id
"""


class _PartPage(NamedTuple):
    id: int
    url: str
    verdict: str
    containment: float | None
    parameters: int | None
    text: bytes | None
    whole: bytes | None


class _Measured(NamedTuple):
    """A page with its right measures; None where it is not near the page that it names."""

    id: int
    measures: tuple[int | None, float | None] | None


class _MeasuredPart(NamedTuple):
    """A part with its right containment; None where it is no part of the page that it names."""

    id: int
    verdict: str
    containment: float | None


def find_resemblances(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find pages that resemble none, and those with a wrong distance or similarity.

    Complexity: O(pages), and one comparison of texts for each page that resembles one.
    """
    read = directory.connection.execute
    watch.begin("pages that resemble one of another name", 1)
    yield from RESEMBLED.found(read(_RESEMBLING_NONE))
    yield from MEASURES.found((measured.id, url) for measured, url in _mismeasured(read))
    watch.advance()


def find_parts(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find parts of no page, and those with a wrong containment.

    Complexity: O(pages), and one comparison of texts for each part.
    """
    read = directory.connection.execute
    watch.begin("pages that are parts of others", 1)
    yield from PART_NAMED.found(read(_UNNAMED_PARTS))
    yield from PART_MEASURES.found((measured.id, url) for measured, url in _mismeasured_parts(read))
    watch.advance()


def _mismeasured(read: Read) -> Iterator[tuple[_Measured, str]]:
    return mismeasured(read, starmap(JudgedPair, read(_RESEMBLING)), _measured)


def _mismeasured_parts(read: Read) -> Iterator[tuple[_MeasuredPart, str]]:
    return mismeasured(read, starmap(_PartPage, read(_PARTS)), _measured_part)


def _measured(row: JudgedPair, parameters: Parameters | None) -> _Measured | None:
    """Return the right measures of a page, or None if they are right.

    Where the text of the resembled page is not stored any more, the similarity is believed.
    """
    verifies = parameters is not None and parameters.verify
    found = near_measures(row, parameters, has_distance=True, has_similarity=verifies)
    if found is not None and (
        row.verdict == CHANGED or (found[0] == row.distance and is_close(found[1], row.similarity))
    ):
        return None
    return _Measured(row.id, found)


def _measured_part(row: _PartPage, parameters: Parameters | None) -> _MeasuredPart | None:
    """Return the right containment of a part, or None if it is right.

    Where one of the texts is not stored any more, it is believed.
    """
    if parameters is None or row.text is None or row.whole is None:
        return None
    size = parameters.verify_shingle_size
    sides = (split_whole(unpack_judged(packed)) for packed in (row.text, row.whole))
    pairs = dict.fromkeys(zip(*sides, strict=True))
    found = min(containment(part, whole, shingle_size=size) for part, whole in pairs)
    if found < MIN_CONTAINMENT:
        return _MeasuredPart(row.id, row.verdict, None)
    is_right = row.containment is not None and MIN_CONTAINMENT <= row.containment <= found + CLOSE
    return None if is_right else _MeasuredPart(row.id, row.verdict, found)


def _measure(repairer: Repairer, finding: Finding) -> str:
    measured = [page for page, _ in _mismeasured(repairer.database.read)]
    for page in measured:
        if page.measures is None:
            repairer.database.write(_RESEMBLE_NOTHING, (page.id,))
        else:
            sql = "UPDATE pages SET distance = ?, similarity = ? WHERE id = ?"
            repairer.database.write(sql, (*page.measures, page.id))
    return f"pages measured that resemble one of another name: {len(measured):,}"


def _measure_parts(repairer: Repairer, finding: Finding) -> str:
    """Correct the containment of parts, and keep dropped pages that are no parts."""
    measured = [page for page, _ in _mismeasured_parts(repairer.database.read)]
    write = repairer.database.write
    for page in measured:
        if page.containment is not None:
            write("UPDATE pages SET containment = ? WHERE id = ?", (page.containment, page.id))
        elif page.verdict == CONTAINED:
            write("UPDATE pages SET duplicate_of = NULL WHERE id = ?", (page.id,))
        else:
            write(f"{PART_OF_NOTHING} WHERE id = ?", (page.id,))
    said = f"parts of other pages measured: {len(measured):,}"
    return f"{said}; {find_originals(repairer) or 'no duplicate lost its original'}"


RESEMBLED = Rule(
    "resembled-named",
    "pages of the verdict same_template that name no kept page, or others that name one",
    "calls the former new, and removes the names from the others",
    writing(_RESEMBLE_NOTHING, "pages kept that resemble none"),
    Stage.MEASURES,
)
MEASURES = Rule(
    "resembled-measured",
    "pages of the verdict same_template with wrong measures",
    "measures them, and calls new those that are not near",
    _measure,
    Stage.MEASURES,
)
PART_NAMED = Rule(
    "part-named",
    "pages called parts of a page that is not kept",
    "removes the names",
    writing(f"{PART_OF_NOTHING} WHERE id = ?", "pages no longer called parts of others"),
    Stage.MEASURES,
)
PART_MEASURES = Rule(
    "part-measured",
    "pages called parts of others with a wrong containment",
    "measures it, and keeps the pages that are no parts",
    _measure_parts,
    Stage.MEASURES,
    changes_texts=True,
)
