"""Check that every duplicate is near its original."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import zstandard

from crawler.maintenance.verify.capture_checks import find_originals
from crawler.maintenance.verify.finding import Rule, Stage, writing
from crawler.pages.live_parameters import from_json
from crawler.pages.page_row import to_unsigned
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import (
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    NEW,
    TEXT_DUPLICATE,
    TOO_SHORT,
)
from crawler.storage import meta_names
from neardup import NearDupError, hamming
from neardup.verification import JaccardVerifier
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer
    from neardup import Parameters

R = TypeVar("R", bound="_JudgedRow")
M = TypeVar("M")


class _JudgedRow(Protocol):
    @property
    def url(self) -> str: ...

    @property
    def parameters(self) -> int | None: ...


CLOSE = 1e-6
_MEASURED = frozenset({EXACT_DUPLICATE, TEXT_DUPLICATE, NEAR_DUPLICATE})
_DUPLICATES = """
SELECT pages.id, pages.url, pages.verdict, pages.distance, pages.similarity, pages.fingerprint,
       kept.fingerprint, pages.text_digest, pages.parameters, near_texts.text,
       CASE WHEN near_texts.text IS NOT NULL THEN kept.text END,
       pages.text_digest IS kept.text_digest OR pages.visible_digest IS kept.visible_digest
FROM pages JOIN pages AS kept ON kept.id = pages.duplicate_of
LEFT JOIN near_texts ON near_texts.page = pages.id
WHERE pages.latest = 1 AND kept.latest = 1 AND kept.text IS NOT NULL ORDER BY pages.id
"""
# A text of at least min_words, from its parameters, is new or changed.
_WRONG_KINDS = f"""
SELECT pages.id, pages.url FROM pages JOIN parameters ON parameters.id = pages.parameters
WHERE latest = 1 AND duplicate_of IS NULL AND verdict IN ('{NEW}', '{TOO_SHORT}')
  AND json_valid(chosen)
  AND (verdict = '{NEW}') <> (words > 0 AND words >= json_extract(chosen, '$.min_words'))
"""
_SAY_THE_SAME = """
UPDATE pages SET text_digest = kept.text_digest FROM pages AS kept
WHERE pages.id = ? AND kept.id = pages.duplicate_of
  AND pages.verdict = 'exact_duplicate' AND kept.payload_digest = pages.payload_digest
"""


class _Measured(NamedTuple):
    """A duplicate with its right measures; None if it does not repeat its original."""

    id: int
    verdict: str | None
    distance: int | None
    similarity: float | None


class JudgedPair(NamedTuple):
    """A page with what it was measured against, and whether both have the same text."""

    id: int
    url: str
    verdict: str
    distance: int | None
    similarity: float | None
    fingerprint: int | None
    other_fingerprint: int | None
    text_digest: bytes | None
    parameters: int | None
    text: bytes | None
    other_text: bytes | None
    is_equal: int


def find_repeats(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find duplicates with a wrong distance or similarity, and verdicts with a wrong name.

    Complexity: O(pages), and one comparison of texts for each near-duplicate.
    """
    read = directory.connection.execute
    parameters = readable_parameters(read).items()
    broken = [number for number, found in parameters if found is None]
    yield from CHOSEN.found((number, f"parameters {number}") for number in broken)
    watch.begin("duplicates", 1)
    yield from MEASURES.found((measured.id, url) for measured, url in _mismeasured(read))
    yield from KIND.found(read(_WRONG_KINDS))
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


def similarity_of(parameters: Parameters, first: bytes, second: bytes) -> float:
    """Return the similarity of the part of two texts that is less similar, as a crawl judges."""
    verifier = JaccardVerifier(parameters.verify_shingle_size)
    one, other = (split_whole(unpack_judged(packed)) for packed in (first, second))
    pairs = dict.fromkeys(zip(one, other, strict=True))
    return min(verifier.compared_with(mine)(theirs) for mine, theirs in pairs)


def mismeasured(
    read: Read, rows: Iterable[R], measure: Callable[[R, Parameters | None], M | None]
) -> Iterator[tuple[M, str]]:
    """Yield what a measure finds wrong in rows, and their URLs.

    Args:
        read: Function that runs a query.
        rows: Rows of pages.
        measure: Returns what is wrong in a row that was judged by some parameters, or None. Rows
            whose texts it cannot read are left to another check.
    """
    chosen = readable_parameters(read)
    for row in rows:
        try:
            found = measure(row, chosen.get(row.parameters or -1))
        except (zstandard.ZstdError, ValueError):
            continue
        if found is not None:
            yield found, row.url


def _mismeasured(read: Read) -> Iterator[tuple[_Measured, str]]:
    """Yield the duplicates with a wrong distance, similarity or original, and their URLs.

    If the text of a near-duplicate is not stored, its similarity is believed.
    """
    return mismeasured(read, starmap(JudgedPair, read(_DUPLICATES)), _measured)


def _measured(row: JudgedPair, parameters: Parameters | None) -> _Measured | None:
    """Return the right values of a duplicate, or None if they are right."""
    if row.text_digest is None or row.verdict not in _MEASURED:  # the page must be read again
        return None
    if row.verdict != NEAR_DUPLICATE:
        if not row.is_equal:
            return _Measured(row.id, None, None, None)
        is_right = row.distance == 0 and row.similarity == 1.0
        return None if is_right else _Measured(row.id, row.verdict, 0, 1.0)
    has_distance, has_similarity = row.distance is not None, row.similarity is not None
    found = near_measures(row, parameters, has_distance=has_distance, has_similarity=has_similarity)
    if found is None:
        return _Measured(row.id, None, None, None)
    if found[0] == row.distance and is_close(found[1], row.similarity):
        return None
    return _Measured(row.id, NEAR_DUPLICATE, *found)


def near_measures(
    row: JudgedPair, parameters: Parameters | None, *, has_distance: bool, has_similarity: bool
) -> tuple[int | None, float | None] | None:
    """Return distance and similarity of two texts as they are, or None if they are not near.

    What cannot be computed is believed, and what a pair is not to have is left as it is.
    """
    distance, similarity = row.distance, row.similarity
    one, other = to_unsigned(row.fingerprint), to_unsigned(row.other_fingerprint)
    if has_distance and one is not None and other is not None:
        distance = hamming(one, other)
    if parameters is None or row.text is None or row.other_text is None:
        return distance, similarity
    if has_similarity:
        similarity = similarity_of(parameters, row.text, row.other_text)
    is_far = distance is not None and not parameters.verify and distance > parameters.max_distance
    is_other = similarity is not None and similarity < parameters.min_similarity
    return None if is_far or is_other else (distance, similarity)


def is_close(one: float | None, other: float | None) -> bool:
    """Return whether two similarities are one, computed in another order perhaps."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < CLOSE


def _forget_parameters(repairer: Repairer, finding: Finding) -> str:
    repairer.write_each("DELETE FROM parameters WHERE id = ?", finding.ids)
    repairer.write_each("UPDATE pages SET parameters = NULL WHERE parameters = ?", finding.ids)
    # The next crawl takes them from its settings again if no others hold.
    sql = "DELETE FROM meta WHERE name = ?"
    repairer.database.write(sql, (meta_names.SETTINGS_PARAMETERS,))
    return f"parameters forgotten: {finding.count:,}"


def _measure(repairer: Repairer, finding: Finding) -> str:
    """Correct the measures of duplicates, and find other originals for wrong ones."""
    read, write = repairer.database.read, repairer.database.write
    found = [measured for measured, _ in _mismeasured(read)]
    for page in found:
        if page.verdict is None:
            # With the same bytes it has the same text, whatever its row says.
            write(_SAY_THE_SAME, (page.id,))
        else:
            sql = "UPDATE pages SET distance = ?, similarity = ? WHERE id = ?"
            write(sql, (page.distance, page.similarity, page.id))
    wrong = [page.id for page, _ in _mismeasured(read)]
    repairer.write_each("UPDATE pages SET duplicate_of = NULL WHERE id = ?", wrong)
    said = f"duplicates measured: {len(found):,}"
    return f"{said}; {find_originals(repairer) or 'all have originals'}"


CHOSEN = Rule(
    "parameters-readable",
    "parameters of verdicts that cannot be read",
    "forgets them; crawl-once tune chooses others",
    _forget_parameters,
    Stage.VALUES,
)
MEASURES = Rule(
    "duplicate-measured",
    "duplicates with wrong measures, or with another text than their originals",
    "measures them, and finds originals for the others",
    _measure,
    Stage.MEASURES,
    changes_texts=True,
)
KIND = Rule(
    "verdict-right",
    "kept pages wrongly called too short, or wrongly not",
    "corrects their verdicts",
    writing(
        f"UPDATE pages SET verdict = iif(verdict = '{NEW}', '{TOO_SHORT}', '{NEW}') WHERE id = ?",
        "kept pages whose verdict too_short was corrected",
    ),
    Stage.MEASURES,
    changes_texts=True,
)
