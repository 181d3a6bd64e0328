"""Check that every duplicate is near its original, and no kept page near another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from crawler.maintenance.verify.capture_checks import find_originals
from crawler.maintenance.verify.finding import Culprits, NoWatch, Rule, Stage
from crawler.pages.live_parameters import from_json
from crawler.pages.page_row import to_unsigned
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import EXACT_DUPLICATE, NEAR_DUPLICATE, NEW, TEXT_DUPLICATE, TOO_SHORT
from crawler.storage import meta_names
from neardup import HammingIndex, NearDupError, hamming
from neardup.candidates import MAX_CANDIDATES, Bitmaps, Candidates
from neardup.cascade import Evidence, decide
from neardup.verification import JaccardVerifier
from neardup.whole import split_whole

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer
    from neardup import Parameters
    from neardup.indexes.arrays import Match

    Read = Callable[..., sqlite3.Cursor]

_CLOSE = 1e-6
_KEPT = """
SELECT id, fingerprint, coalesce(parameters, -1) FROM pages
WHERE latest = 1 AND text IS NOT NULL AND fingerprint IS NOT NULL ORDER BY id
"""
_PAGE = "SELECT url, text FROM pages WHERE id = ?"
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


class _NearPage(NamedTuple):
    id: int
    original: int
    distance: int
    similarity: float | None


class _Measured(NamedTuple):
    """A duplicate with its right measures; None if it does not repeat its original."""

    id: int
    verdict: str | None
    distance: int | None
    similarity: float | None


class _Duplicate(NamedTuple):
    id: int
    url: str
    verdict: str
    distance: int | None
    similarity: float | None
    fingerprint: int | None
    kept_fingerprint: int | None
    text_digest: bytes | None
    parameters: int | None
    text: bytes | None
    kept_text: bytes | None
    is_equal: int


def find_repeats(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find kept pages that repeat one, and duplicates with a wrong distance or similarity.

    Complexity: O(kept pages * log), and one comparison of texts for each near pair; 40 bytes of
    memory a kept page.
    """
    read = directory.connection.execute
    parameters = _parameters(read).items()
    broken = [number for number, found in parameters if found is None]
    yield from CHOSEN.found((number, f"parameters {number}") for number in broken)
    near = Culprits(NEAR_KEPT)
    for page in _near_pages(read, watch):
        near.add(page.id, str(read(_PAGE, (page.id,)).fetchone()[0]))
    yield from near.found()
    yield from MEASURES.found((measured.id, url) for measured, url in _mismeasured(read))
    yield from KIND.found(read(_WRONG_KINDS))


def _parameters(read: Read) -> dict[int, Parameters | None]:
    found: dict[int, Parameters | None] = {}
    for number, chosen in read("SELECT id, chosen FROM parameters"):
        try:
            found[number] = from_json(chosen)
        except (AttributeError, KeyError, TypeError, ValueError, NearDupError):
            found[number] = None
    return found


def _near_pages(read: Read, watch: CheckWatch) -> Iterator[_NearPage]:
    """Yield kept pages that repeat an earlier one by the parameters of their verdicts.

    A yielded page is no original of a later one. Pages of one URL are parts of one page. The number
    of compared candidates is that of a judgement.
    """
    chosen = {number: found for number, found in _parameters(read).items() if found is not None}
    rows = np.array(read(_KEPT).fetchall(), np.int64).reshape(-1, 3)
    watch.begin("kept pages", len(rows))
    if not len(rows) or not chosen:
        return
    ids, fingerprints = rows[:, 0], rows[:, 1].astype(np.uint64)
    dropped: set[int] = set()
    bitmaps = Bitmaps()
    with HammingIndex(radius=max(one.radius for one in chosen.values())) as index:
        index.add_many(fingerprints, ids)
        for page_id, fingerprint, number in zip(
            ids.tolist(), fingerprints.tolist(), rows[:, 2].tolist(), strict=True
        ):
            watch.advance()
            parameters = chosen.get(number)
            if parameters is None:
                continue
            matches = [
                match
                for match in index.query(fingerprint, limit=MAX_CANDIDATES)
                if match.id < page_id
                and match.id not in dropped
                and match.distance <= parameters.radius
            ]
            found = _repeated(read, page_id, matches, parameters, bitmaps) if matches else None
            if found is not None:
                dropped.add(page_id)
                yield found


def _repeated(
    read: Read, page_id: int, matches: list[Match], parameters: Parameters, bitmaps: Bitmaps
) -> _NearPage | None:
    """Return the first of some near pages that a page repeats, or None."""
    url, text = read(_PAGE, (page_id,)).fetchone()
    try:
        verifier = JaccardVerifier(parameters.verify_shingle_size)
        candidates = Candidates(unpack_judged(text), matches, parameters, verifier, bitmaps)
        while unread := candidates.unread():
            for match in unread:
                other_url, other = read(_PAGE, (match.id,)).fetchone()
                if url != other_url:
                    candidates.compare(match, unpack_judged(other))
    except (zstandard.ZstdError, ValueError):  # another check says so
        return None
    verdict = decide(parameters.min_words, Evidence(near=candidates.near), parameters)
    if verdict.duplicate_of is None or verdict.distance is None:
        return None
    return _NearPage(page_id, verdict.duplicate_of, verdict.distance, verdict.similarity)


def _similarity(parameters: Parameters, first: bytes, second: bytes) -> float:
    """Return the similarity of the part of two texts that is less similar, as a crawl judges."""
    verifier = JaccardVerifier(parameters.verify_shingle_size)
    one, other = (split_whole(unpack_judged(packed)) for packed in (first, second))
    pairs = dict.fromkeys(zip(one, other, strict=True))
    return min(verifier.compared_with(mine)(theirs) for mine, theirs in pairs)


def _mismeasured(read: Read) -> Iterator[tuple[_Measured, str]]:
    """Yield the duplicates with a wrong distance, similarity or original, and their URLs.

    If the text of a near-duplicate is not stored, its similarity is believed.
    """
    chosen = _parameters(read)
    for values in read(_DUPLICATES):
        row = _Duplicate(*values)
        try:
            found = _measured(row, chosen.get(row.parameters or -1))
        except (zstandard.ZstdError, ValueError):  # another check says so
            continue
        if found is not None:
            yield found, row.url


def _measured(row: _Duplicate, parameters: Parameters | None) -> _Measured | None:
    """Return the right values of a duplicate, or None if they are right."""
    if row.text_digest is None:  # the page must be read again
        return None
    if row.verdict in {EXACT_DUPLICATE, TEXT_DUPLICATE}:
        if not row.is_equal:
            return _Measured(row.id, None, None, None)
        is_right = row.distance == 0 and row.similarity == 1.0
        return None if is_right else _Measured(row.id, row.verdict, 0, 1.0)
    if row.verdict != NEAR_DUPLICATE:
        return None
    return _measured_near(row, parameters)


def _measured_near(row: _Duplicate, parameters: Parameters | None) -> _Measured | None:
    distance, similarity = row.distance, row.similarity
    one, other = to_unsigned(row.fingerprint), to_unsigned(row.kept_fingerprint)
    if distance is not None and one is not None and other is not None:
        distance = hamming(one, other)
    if parameters is not None and row.text is not None and row.kept_text is not None:
        if similarity is not None:
            similarity = _similarity(parameters, row.text, row.kept_text)
        is_far = distance is not None and distance > parameters.radius
        is_other = similarity is not None and similarity < parameters.min_similarity
        if is_far or is_other:
            return _Measured(row.id, None, None, None)
    is_close = similarity == row.similarity or (
        None not in {similarity, row.similarity}
        and abs((similarity or 0.0) - (row.similarity or 0.0)) < _CLOSE
    )
    if distance == row.distance and is_close:
        return None
    return _Measured(row.id, NEAR_DUPLICATE, distance, similarity)


def _forget_parameters(repairer: Repairer, finding: Finding) -> str:
    repairer.write_each("DELETE FROM parameters WHERE id = ?", finding.ids)
    repairer.write_each("UPDATE pages SET parameters = NULL WHERE parameters = ?", finding.ids)
    # The next crawl takes them from its settings again if no others hold.
    sql = "DELETE FROM meta WHERE name = ?"
    repairer.database.write(sql, (meta_names.SETTINGS_PARAMETERS,))
    return f"parameters forgotten: {finding.count:,}"


def _drop_near_pages(repairer: Repairer, finding: Finding) -> str:
    """Make kept pages duplicates of near ones, with their own duplicates of the same text."""
    found = list(_near_pages(repairer.database.read, NoWatch()))
    write = repairer.database.write
    for page in found:
        measures = page.original, page.distance, page.similarity
        write(
            "UPDATE pages SET verdict = 'near_duplicate', duplicate_of = ?, distance = ?,"
            " similarity = ? WHERE latest = 1 AND (id = ? OR duplicate_of = ? AND text_digest ="
            " (SELECT text_digest FROM pages WHERE id = ?))",
            (*measures, page.id, page.id, page.id),
        )
        write(
            "INSERT OR REPLACE INTO near_texts SELECT id, text FROM pages WHERE id = ?",
            (page.id,),
        )
        write("UPDATE pages SET text = NULL WHERE id = ?", (page.id,))
    said = f"pages made duplicates of one that says nearly the same: {len(found):,}"
    return f"{said}; {find_originals(repairer) or 'no duplicate lost its original'}"


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


def _name_kinds(repairer: Repairer, finding: Finding) -> str:
    other = f"CASE verdict WHEN '{NEW}' THEN '{TOO_SHORT}' ELSE '{NEW}' END"
    repairer.write_each(f"UPDATE pages SET verdict = {other} WHERE id = ?", finding.ids)
    return f"kept pages called too short, or long enough: {finding.count:,}"


CHOSEN = Rule(
    "parameters-readable",
    "parameters of verdicts that cannot be read",
    "forgets them; scrapy tune chooses others",
    _forget_parameters,
    Stage.VALUES,
)
NEAR_KEPT = Rule(
    "kept-apart",
    "pages kept although an earlier kept page says nearly the same",
    "makes them duplicates of it",
    _drop_near_pages,
    Stage.MEASURES,
    changes_texts=True,
)
MEASURES = Rule(
    "duplicate-measured",
    "duplicates with other measures, or of another text, than their originals",
    "measures them, and finds originals for the others",
    _measure,
    Stage.MEASURES,
    changes_texts=True,
)
KIND = Rule(
    "verdict-right",
    "kept pages that are called too short and are not, or the other way",
    "calls them what they are",
    _name_kinds,
    Stage.MEASURES,
    changes_texts=True,
)
