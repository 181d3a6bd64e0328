"""Check the verdicts: no kept page repeats another, and pages are as near as stored to those named.

The kept pages are judged in their order, each by the parameters of its verdict, with the candidates
and the comparisons of a crawl (``neardup.evidence``). Equal texts are the matter of another check,
and a page that resembles one is believed where boilerplate may have told the two apart.

Where one of two texts is not stored, what only it could tell is believed. A page whose text changed
may name one that it resembles, while its measures are to its own last version. Pages of a fleet
name in their ``reason`` the URL of one that another crawl keeps. Boilerplate may have lowered a
containment when the page came, so one is right that is as large as the texts allow, or less, and
large enough for a part.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import JUDGED
from crawler.maintenance.verify.finding import Mend, Rule
from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.live_parameters import from_json
from crawler.pages.page_row import columns_of, to_unsigned
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import StoredDocuments, unpack_judged
from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    EXACT_DUPLICATE,
    KEPT,
    NEAR_DUPLICATE,
    NEW,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    TOO_SHORT,
    listed,
)
from crawler.pages.volatile import VolatileSlots
from crawler.pages.wall_clusters import host_of
from crawler.storage import meta_names
from neardup import Document, HammingIndex, NearDupError, hamming
from neardup.cascade import decide
from neardup.document import signed
from neardup.evidence import EvidenceSource
from neardup.fingerprints.minhash import unpacked_signature
from neardup.parts import MIN_CONTAINMENT
from neardup.storage.signatures import memory_signatures
from neardup.verification import JaccardVerifier, containment
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer
    from neardup import Parameters

CLOSE = 1e-6
_EQUAL = frozenset({EXACT_DUPLICATE, TEXT_DUPLICATE})
_KEPT = f"verdict IN ({listed(KEPT)})"
_PAIRS = """
SELECT pages.id, pages.url, pages.verdict, pages.distance, pages.similarity, pages.containment,
       pages.fingerprint, other.fingerprint, pages.text_digest, pages.parameters,
       coalesce(pages.text, near_texts.text),
       CASE WHEN coalesce(pages.text, near_texts.text) IS NOT NULL THEN other.text END,
       pages.text_digest IS other.text_digest OR pages.visible_digest IS other.visible_digest
FROM pages LEFT JOIN near_texts ON near_texts.page = pages.id
JOIN pages AS other ON other.id = {}
WHERE pages.latest = 1 AND {} ORDER BY pages.id
"""
_REPEATING = _PAIRS.format(
    "pages.duplicate_of",
    f"pages.verdict IN ({listed(_EQUAL | {NEAR_DUPLICATE})})"
    " AND pages.text_digest IS NOT NULL"  # else the page must be read again
    " AND other.latest = 1 AND other.text IS NOT NULL",
)
_RESEMBLING = _PAIRS.format("pages.resembles", f"pages.verdict IN ('{SAME_TEMPLATE}', '{CHANGED}')")
_PARTS = _PAIRS.format(
    "coalesce(pages.part_of, pages.duplicate_of)",
    f"(pages.part_of IS NOT NULL OR pages.verdict = '{CONTAINED}')",
)

# A text of at least min_words, from its parameters, is new or changed.
_WRONG_KINDS = f"""
SELECT pages.id, pages.url FROM pages JOIN parameters ON parameters.id = pages.parameters
WHERE latest = 1 AND duplicate_of IS NULL AND verdict IN ('{NEW}', '{TOO_SHORT}')
  AND json_valid(chosen)
  AND (verdict = '{NEW}') <> (words > 0 AND words >= json_extract(chosen, '$.min_words'))
"""
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
_UNNAMED_PARTS = f"""
SELECT pages.id, pages.url FROM pages LEFT JOIN pages AS whole
  ON whole.id = pages.part_of AND whole.key <> pages.key AND whole.{_KEPT}
WHERE pages.part_of IS NOT NULL AND (NOT pages.{_KEPT} OR pages.containment IS NULL
      OR pages.latest = 1 AND whole.id IS NULL)
   OR pages.part_of IS NULL AND pages.containment IS NOT NULL AND pages.verdict <> '{CONTAINED}'
"""


class _Pair(NamedTuple):
    """A page with the one that it names, and whether both have the same text."""

    id: int
    url: str
    verdict: str
    distance: int | None
    similarity: float | None
    containment: float | None
    fingerprint: int | None
    other_fingerprint: int | None
    text_digest: bytes | None
    parameters: int | None
    text: bytes | None
    other_text: bytes | None
    is_equal: int


def find_misjudged(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find verdicts with a wrong name, pages that name none, and those with wrong measures.

    Complexity: O(pages), and one comparison of texts for each page that names another one.
    """
    read = directory.connection.execute
    parameters = readable_parameters(read).items()
    broken = [number for number, found in parameters if found is None]
    yield from CHOSEN.found((number, f"parameters {number}") for number in broken)
    watch.begin("verdicts", len(_NAMES) + len(_MEASURES))
    for rule, sql in _NAMES.items():
        yield from rule.found(read(sql))
        watch.advance()
    for rule, (sql, is_right) in _MEASURES.items():
        yield from rule.found(_mismeasured(read, sql, is_right))
        watch.advance()


def readable_parameters(read: Read) -> dict[int, Parameters | None]:
    """Return the parameters by their ids; None for those that cannot be read."""
    found: dict[int, Parameters | None] = {}
    for number, chosen in read("SELECT id, chosen FROM parameters"):
        try:
            found[number] = from_json(chosen)
        except (AttributeError, KeyError, TypeError, ValueError, NearDupError):
            found[number] = None
    return found


def _mismeasured(
    read: Read, sql: str, is_right: Callable[[_Pair, Parameters | None], bool]
) -> Iterator[tuple[int, str]]:
    """Yield id and URL of the pages of a query whose measures are wrong.

    Pages whose texts cannot be read are left to another check.
    """
    chosen = readable_parameters(read)
    for pair in starmap(_Pair, read(sql)):
        try:
            if not is_right(pair, chosen.get(pair.parameters or -1)):
                yield pair.id, pair.url
        except (zstandard.ZstdError, ValueError):
            continue


def _repeats(pair: _Pair, parameters: Parameters | None) -> bool:
    """Return whether a duplicate repeats its original as far as it says."""
    if pair.verdict in _EQUAL:
        return bool(pair.is_equal) and pair.distance == 0 and pair.similarity == 1.0
    has_distance, has_similarity = pair.distance is not None, pair.similarity is not None
    return _is_near(pair, parameters, has_distance=has_distance, has_similarity=has_similarity)


def _resembles(pair: _Pair, parameters: Parameters | None) -> bool:
    """Return whether a kept page is as near that of another name as it says."""
    verifies = parameters is not None and parameters.verify
    return _is_near(pair, parameters, has_distance=True, has_similarity=verifies)


def _is_near(
    pair: _Pair, parameters: Parameters | None, *, has_distance: bool, has_similarity: bool
) -> bool:
    """Return whether two texts are near, and by the measures that are stored.

    What cannot be computed is believed, and what a pair is not to have is left as it is.
    """
    distance, similarity = pair.distance, pair.similarity
    one, other = to_unsigned(pair.fingerprint), to_unsigned(pair.other_fingerprint)
    if has_distance and one is not None and other is not None:
        distance = hamming(one, other)
    if parameters is not None and pair.text is not None and pair.other_text is not None:
        if has_similarity:
            measure = JaccardVerifier(parameters.verify_shingle_size).compared_with
            similarity = min(measure(mine)(theirs) for mine, theirs in _sides(pair))
        is_far = (
            distance is not None and not parameters.verify and distance > parameters.max_distance
        )
        if is_far or (similarity is not None and similarity < parameters.min_similarity):
            return False
    # A changed page has the measures to its own last version.
    return pair.verdict == CHANGED or (
        distance == pair.distance and _is_close(similarity, pair.similarity)
    )


def _is_part(pair: _Pair, parameters: Parameters | None) -> bool:
    """Return whether a page is a part of the one that it names, as far as it says."""
    if parameters is None or pair.text is None or pair.other_text is None:
        return True
    size = parameters.verify_shingle_size
    found = min(containment(part, whole, shingle_size=size) for part, whole in _sides(pair))
    return pair.containment is not None and MIN_CONTAINMENT <= pair.containment <= found + CLOSE


def _sides(pair: _Pair) -> dict[tuple[str, str], None]:
    """Return the parts of both texts that a crawl compares with each other."""
    sides = (split_whole(unpack_judged(packed or b"")) for packed in (pair.text, pair.other_text))
    return dict.fromkeys(zip(*sides, strict=True))


def _is_close(one: float | None, other: float | None) -> bool:
    """Return whether two similarities are one, computed in another order perhaps."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < CLOSE


def _forget_parameters(repairer: Repairer, finding: Finding) -> None:
    """Forget them; another check finds the verdicts that were made with them."""
    repairer.write_each("DELETE FROM parameters WHERE id = ?", finding.ids)
    # The next crawl takes them from its settings again if no others hold.
    sql = "DELETE FROM meta WHERE name = ?"
    repairer.database.write(sql, (meta_names.SETTINGS_PARAMETERS,))


_FINGERPRINTED = "latest = 1 AND text IS NOT NULL AND fingerprint IS NOT NULL"
_IN_ORDER = f"SELECT id, coalesce(parameters, -1) FROM pages WHERE {_FINGERPRINTED} ORDER BY id"
_PAGE = f"""
SELECT url, text, text_digest, fingerprint, coalesce(name, ''),
       resembles IS NOT NULL OR verdict = '{SAME_TEMPLATE}'
FROM pages WHERE id = ?
"""


class _KeptPages(StoredDocuments):
    """The kept pages, but for equal texts.

    Attributes:
        url: URL of the page that is judged; pages of one URL are parts of one page.
    """

    def __init__(self, read: Read) -> None:
        super().__init__(read, VolatileSlots(read, read), f"pages WHERE {_FINGERPRINTED}")
        self.url = ""

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return None

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return None

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        url, text = columns_of(self._read, id, "url, text") or ("", b"")
        try:
            return None if url == self.url else unpack_judged(text)
        except (zstandard.ZstdError, ValueError):  # another check says so
            return None


def find_near(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find kept pages that repeat an earlier one.

    Complexity: O(size of the texts), and one comparison of texts for each candidate that may
    repeat a page; 350 bytes of memory a kept page.
    """
    yield from NEAR_KEPT.found(_near_pages(directory.connection.execute, watch))


def _near_pages(read: Read, watch: CheckWatch) -> Iterator[tuple[int, str]]:
    """Yield id and URL of kept pages that repeat an earlier one.

    Such a page is no original of a later one.
    """
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
            if verdict.is_duplicate and verdict.distance is not None and not is_believed:
                yield page_id, kept.url
                continue
            index.add(document.fingerprint or 0, page_id)
            if document.signature is not None:
                signatures.add(unpacked_signature(document.signature), page_id)


CHOSEN = Rule(
    "parameters-readable",
    "parameters of verdicts that cannot be read",
    Mend("forgets them; crawl-once tune chooses others", _forget_parameters),
)
NEAR_KEPT = Rule(
    "kept-apart", "pages kept although an earlier kept page has nearly the same text", JUDGED
)

_NAMES = {
    Rule(
        "verdict-right", "kept pages wrongly called too short, or wrongly not", JUDGED
    ): _WRONG_KINDS,
    Rule(
        "resembled-named",
        "pages of the verdict same_template that name no kept page, or others that name one",
        JUDGED,
    ): _RESEMBLING_NONE,
    Rule("part-named", "pages called parts of a page that is not kept", JUDGED): _UNNAMED_PARTS,
}
"""Queries for id and URL of the rows that break each rule."""

_MEASURES = {
    Rule(
        "duplicate-measured",
        "duplicates with wrong measures, or with another text than their originals",
        JUDGED,
    ): (_REPEATING, _repeats),
    Rule("resembled-measured", "pages of the verdict same_template with wrong measures", JUDGED): (
        _RESEMBLING,
        _resembles,
    ),
    Rule("part-measured", "pages called parts of others with a wrong containment", JUDGED): (
        _PARTS,
        _is_part,
    ),
}
"""Queries for pairs of pages, and the functions that tell whether their measures are right."""
